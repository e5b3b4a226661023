/* SPDX-License-Identifier: Apache-2.0
 *
 * The gate to the heap: sizes that overflow, growth, and the hook that makes
 * allocations fail.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_products(void **state)
{
	static const struct {
		const char *name;
		size_t nr, size;
		bool fits;
	} rows[] = {
		{ "nothing is still a block", 0, 0, true },
		{ "no element", 0, 8, true },
		{ "elements of no bytes", 8, 0, true },
		{ "small", 3, 8, true },
		{ "product wraps to 0", SIZE_MAX / 2 + 1, 2, false },
		{ "product wraps to small", SIZE_MAX / 8 + 2, 8, false },
		{ "both largest", SIZE_MAX, SIZE_MAX, false },
		{ "more than a pointer can span", (size_t)PTRDIFF_MAX + 1, 1,
		  false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		void *plain = mem_alloc(rows[i].nr, rows[i].size);
		void *zeroed = mem_zalloc(rows[i].nr, rows[i].size);
		void *resized = mem_realloc(NULL, rows[i].nr, rows[i].size);

		if (!plain != !rows[i].fits || !zeroed != !rows[i].fits ||
		    !resized != !rows[i].fits)
			fail_msg("%s", rows[i].name);
		mem_free(plain);
		mem_free(zeroed);
		mem_free(resized);
	}
}

static void test_contents(void **state)
{
	static const char zeros[1000];
	char *text, *bytes = mem_zalloc(10, 100);

	(void)state;
	assert_non_null(bytes);
	assert_memory_equal(bytes, zeros, sizeof(zeros));
	memset(bytes, 7, 1000);
	bytes = mem_realloc(bytes, 2000, 1);
	assert_non_null(bytes);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(bytes[999], 7);
	mem_free(bytes);
	mem_free(NULL);

	text = mem_strndup("abcdef", 3);
	assert_non_null(text);
	assert_string_equal(text, "abc");
	mem_free(text);
	text = mem_strndup("a\0b", 3);
	assert_non_null(text);
	assert_memory_equal(text, "a\0b", 4);
	mem_free(text);
	assert_null(mem_strndup("x", SIZE_MAX));
}

static void test_grow(void **state)
{
	static const struct {
		const char *name;
		size_t need, max;
		bool fits;
		size_t cap; /* afterwards */
	} rows[] = {
		{ "nothing wanted", 0, 1000, true, 0 },
		{ "first elements", 1, 1000, true, 16 },
		{ "fits already", 16, 1000, true, 16 },
		{ "by half", 17, 1000, true, 24 },
		{ "more than by half", 100, 1000, true, 100 },
		{ "bounded by the maximum", 101, 120, true, 120 },
		{ "above the maximum", 121, 120, false, 120 },
		{ "fits although above the maximum", 120, 10, true, 120 },
		{ "product overflows", SIZE_MAX, SIZE_MAX, false, 120 },
		{ "still usable", 121, 200, true, 180 },
	};
	uint64_t *array = NULL;
	size_t cap = 0, i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (mem_grow(array, cap, rows[i].need, rows[i].max) !=
		    rows[i].fits)
			fail_msg("%s", rows[i].name);
		if (cap != rows[i].cap)
			fail_msg("%s: capacity %zu", rows[i].name, cap);
		if (cap) {
			array[0] = 42;
			array[cap - 1] = 43;
		}
	}
	mem_free(array);
}

/* An array whose growth fails stays as it was. */
static void test_grow_failure(void **state)
{
	uint32_t *array = NULL;
	size_t cap = 0;

	(void)state;
	assert_true(mem_grow(array, cap, 4, 100));
	array[3] = 99;
	mem_fail_nth(1, false);
	assert_false(mem_grow(array, cap, 17, 100));
	assert_int_equal(cap, 16);
	assert_int_equal(array[3], 99);
	assert_true(mem_grow(array, cap, 17, 100));
	assert_int_equal(array[3], 99);
	mem_free(array);
}

/* Number of the 8 next allocations that succeed, as bits from the lowest. */
static unsigned successes(void)
{
	unsigned bits = 0, i;

	for (i = 0; i < 8; i++) {
		void *ptr = i % 4 == 0 ? mem_alloc(1, 1) :
			    i % 4 == 1 ? mem_zalloc(1, 1) :
			    i % 4 == 2 ? mem_realloc(NULL, 1, 1) :
			    (void *)mem_strndup("x", 1);

		bits |= (unsigned)(ptr != NULL) << i;
		mem_free(ptr);
	}
	return bits;
}

static void test_fail_nth(void **state)
{
	static const struct {
		uint64_t n;
		bool sticky;
		unsigned bits;
	} rows[] = {
		{ 0, false, 0xff }, { 1, false, 0xfe }, { 2, false, 0xfd },
		{ 3, false, 0xfb }, { 4, false, 0xf7 }, { 8, false, 0x7f },
		{ 9, false, 0xff }, { 1, true, 0x00 },  { 4, true, 0x07 },
		{ 8, true, 0x7f },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		mem_fail_nth(rows[i].n, rows[i].sticky);
		assert_int_equal(successes(), rows[i].bits);
		mem_fail_nth(0, false);
		assert_int_equal(successes(), 0xff);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_grow_failure),
		cmocka_unit_test(test_fail_nth),
	};

	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
