/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 against the examples of FIPS 180-4 and lengths around its blocks.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

/* `nr` times `text`; its digest in hex. */
static const struct {
	const char *text;
	unsigned nr;
	const char *digest;
} rows[] = {
	{ "", 0, "e3b0c44298fc1c149afbf4c8996fb924"
	  "27ae41e4649b934ca495991b7852b855" },
	{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223"
	  "b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	  "248d6a61d20638b8e5c026930c3e6039"
	  "a33ce45964ff2167f6ecedd419db06c1" },
	{ "a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9a"
	  "e9b0a925a5258e241c9f1e910f734318" },
	{ "a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f"
	  "590ce20f1bde7090ef7970686ec6738a" },
	{ "a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209"
	  "f439851db43d0ba5997337df154668eb" },
	{ "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67"
	  "f1809a48a497200e046d39ccc7112cd0" }
};

static void test_digests(void **state)
{
	uint8_t digest[SHA256_BYTES];
	struct buf text, hex;
	size_t i;
	unsigned j;

	(void)state;
	buf_init(&text, 1 << 21);
	buf_init(&hex, 1 << 10);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		buf_reset(&text);
		buf_reset(&hex);
		for (j = 0; j < rows[i].nr; j++)
			buf_str(&text, rows[i].text);
		sha256(text.data, text.len, digest);
		for (j = 0; j < SHA256_BYTES; j++)
			buf_printf(&hex, "%02x", digest[j]);
		assert_string_equal(buf_cstr(&hex), rows[i].digest);
	}
	buf_fini(&text);
	buf_fini(&hex);
}

static void test_source(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 1 << 10);
	sha256_source(&out, "abc", 3);
	assert_string_equal(buf_cstr(&out),
			    "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/"
			    "YfIAFa0='");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digests),
		cmocka_unit_test(test_source)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
