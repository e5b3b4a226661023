/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64: the test vectors of RFC 4648, section 10, and all digits.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"

static const struct {
	const char *data, *text;
} rows[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
};

static void test_vectors(void **state)
{
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 64);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		buf_reset(&out);
		base64_add(&out, rows[i].data, strlen(rows[i].data));
		assert_string_equal(buf_cstr(&out), rows[i].text);
	}
	buf_fini(&out);
}

/* The digits 0 to 63 in turn, which are 48 bytes. */
static void test_digits(void **state)
{
	unsigned char data[48];
	struct buf out;
	unsigned i;

	(void)state;
	for (i = 0; i < 64; i += 4) {
		data[i / 4 * 3] = (unsigned char)(i << 2 | (i + 1) >> 4);
		data[i / 4 * 3 + 1] =
			(unsigned char)((i + 1) << 4 | (i + 2) >> 2);
		data[i / 4 * 3 + 2] = (unsigned char)((i + 2) << 6 | (i + 3));
	}
	buf_init(&out, 128);
	base64_add(&out, data, sizeof(data));
	assert_string_equal(buf_cstr(&out),
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
			    "uvwxyz0123456789+/");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
