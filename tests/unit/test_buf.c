/* SPDX-License-Identifier: Apache-2.0
 *
 * The byte buffer: appenders, numbers at the edge, the maximum, sticky
 * failure.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static void test_numbers(void **state)
{
	static const struct {
		uint64_t value;
		const char *decimal, *is_signed, *hex;
	} rows[] = {
		{ 0, "0", "0", "0" },
		{ 9, "9", "9", "9" },
		{ 10, "10", "10", "a" },
		{ 255, "255", "255", "ff" },
		{ 1000000, "1000000", "1000000", "f4240" },
		{ INT64_MAX, "9223372036854775807", "9223372036854775807",
		  "7fffffffffffffff" },
		{ (uint64_t)INT64_MAX + 1, "9223372036854775808",
		  "-9223372036854775808", "8000000000000000" },
		{ UINT64_MAX, "18446744073709551615", "-1",
		  "ffffffffffffffff" },
	};
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 1000);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		buf_reset(&buf);
		buf_u64(&buf, rows[i].value);
		assert_string_equal(buf_cstr(&buf), rows[i].decimal);
		buf_reset(&buf);
		buf_i64(&buf, (int64_t)rows[i].value);
		assert_string_equal(buf_cstr(&buf), rows[i].is_signed);
		buf_reset(&buf);
		buf_hex(&buf, rows[i].value);
		assert_string_equal(buf_cstr(&buf), rows[i].hex);
	}
	buf_fini(&buf);
}

static void test_appending(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 100000);
	buf_add(&buf, "ab\0c", 4);
	buf_add(&buf, NULL, 0);
	buf_byte(&buf, 'd');
	buf_str(&buf, "");
	buf_str(&buf, "ef");
	buf_printf(&buf, "%s-%d", "x", 7);
	assert_int_equal(buf.len, 10);
	assert_memory_equal(buf.data, "ab\0cdefx-7", 10);
	assert_int_equal(strlen(buf_cstr(&buf) + 3), 7);
	assert_int_equal(buf.len, 10); /* the NUL is not counted */
	for (i = 0; i < 5000; i++)
		buf_printf(&buf, "%05zu", i);
	assert_int_equal(buf.len, 25010);
	assert_memory_equal(buf.data + 25000, "0499804999", 10);
	assert_true(buf_ok(&buf));
	buf_fini(&buf);
}

static void test_maximum(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 8);
	buf_str(&buf, "12345678");
	assert_true(buf_ok(&buf));
	buf_byte(&buf, '9');
	assert_false(buf_ok(&buf));
	assert_int_equal(buf.len, 8);
	buf_add(&buf, "", 0);
	buf_str(&buf, "x");
	assert_int_equal(buf.len, 8);
	assert_string_equal(buf_cstr(&buf), "12345678");
	buf_reset(&buf);
	assert_true(buf_ok(&buf));
	buf_str(&buf, "1234");
	buf_str(&buf, "56789"); /* not even in part */
	assert_false(buf_ok(&buf));
	assert_int_equal(buf.len, 4);
	assert_memory_equal(buf.data, "1234", 4);
	buf_reset(&buf);
	buf_printf(&buf, "%s", "1234567");
	assert_string_equal(buf_cstr(&buf), "1234567");
	buf_reset(&buf);
	buf_printf(&buf, "%s", "123456789");
	assert_false(buf_ok(&buf));
	assert_int_equal(buf.len, 0);
	buf_fini(&buf);
}

static void test_no_memory(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, SIZE_MAX);
	mem_fail_nth(1, false);
	buf_str(&buf, "lost");
	assert_false(buf_ok(&buf));
	buf_str(&buf, "lost too");
	assert_int_equal(buf.len, 0);
	buf_reset(&buf);
	buf_str(&buf, "kept");
	assert_string_equal(buf_cstr(&buf), "kept");
	assert_false(buf_reserve(&buf, SIZE_MAX - 2));
	assert_false(buf_ok(&buf));
	buf_fini(&buf);
	assert_int_equal(buf.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_appending),
		cmocka_unit_test(test_maximum),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
