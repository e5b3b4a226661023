/* SPDX-License-Identifier: Apache-2.0
 *
 * Escaping into XML and into JSON within XML.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/xml.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *text, *xml, *json;
} rows[] = {
	{ "", "", "\"\"" },
	{ "plain", "plain", "\"plain\"" },
	{ "a&b<c>d\"e'f", "a&amp;b&lt;c&gt;d&quot;e&#39;f",
	  "\"a&amp;b&lt;c&gt;d\\&quot;e&#39;f\"" },
	{ "</script>]]>", "&lt;/script&gt;]]&gt;",
	  "\"&lt;/script&gt;]]&gt;\"" },
	{ "\x1b\n", "\\x1b\\x0a", "\"\\\\x1b\\\\x0a\"" },
	{ "back\\slash", "back\\slash", "\"back\\\\slash\"" },
	{ "\xe2\x80\xae", "\\u202e", "\"\\\\u202e\"" },
	{ "\xff<", "\\xff&lt;", "\"\\\\xff&lt;\"" },
	{ "\xc3\xa9&", "\xc3\xa9&amp;", "\"\xc3\xa9&amp;\"" },
	{ "&amp;", "&amp;amp;", "\"&amp;amp;\"" }
};

static void test_rows(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(rows); i++) {
		buf_reset(&buf);
		xml_str(&buf, rows[i].text);
		assert_string_equal(buf_cstr(&buf), rows[i].xml);
		buf_reset(&buf);
		xml_json(&buf, rows[i].text);
		assert_string_equal(buf_cstr(&buf), rows[i].json);
	}
	buf_fini(&buf);
}

/* No byte, in any neighbourhood, gives a character that XML forbids. */
static void test_every_pair(void **state)
{
	unsigned char pair[2];
	struct buf buf;
	size_t i, j;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < 65536; i++) {
		pair[0] = (unsigned char)(i >> 8);
		pair[1] = (unsigned char)i;
		buf_reset(&buf);
		xml_text(&buf, (const char *)pair, 2);
		for (j = 0; j < buf.len; j++) {
			assert_true((unsigned char)buf.data[j] >= 0x20);
			assert_true(buf.data[j] != 0x7f);
			assert_null(strchr("<>\"'", buf.data[j]));
		}
	}
	buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_every_pair)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
