/* SPDX-License-Identifier: Apache-2.0
 *
 * The string interner: equal bytes are one id, whatever bytes they are.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strtab.h"

#define MANY 50000

static void test_equal_bytes(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		str_id id;
	} rows[] = {
		{ "", 0, 0 },
		{ "a", 1, 1 },
		{ "b", 1, 2 },
		{ "a", 1, 1 },
		{ "ab", 2, 3 },
		{ "a\0", 2, 4 },     /* not "a" */
		{ "a\0b", 3, 5 },
		{ "a\0", 2, 4 },
		{ "\0", 1, 6 },      /* not "" */
		{ "\xff\xfe", 2, 7 },
		{ "abc", 2, 3 },     /* the length counts */
		{ "xyz", 0, 0 },
	};
	struct strtab strtab;
	size_t i;

	(void)state;
	assert_true(strtab_init(&strtab, 1000));
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		str_id id = strtab_add(&strtab, rows[i].text, rows[i].len);

		if (id != rows[i].id)
			fail_msg("row %zu: id %u", i, id);
		assert_int_equal(strtab_len(&strtab, id), rows[i].len);
		assert_memory_equal(strtab_text(&strtab, id), rows[i].text,
				    rows[i].len);
		assert_int_equal(strtab_text(&strtab, id)[rows[i].len], 0);
		assert_int_equal(strtab_find(&strtab, rows[i].text,
					     rows[i].len), id);
	}
	assert_int_equal(strtab_find(&strtab, "never", 5), STR_NONE);
	assert_int_equal(strtab.nr, 8);
	strtab_fini(&strtab);
}

static void test_many(void **state)
{
	struct strtab strtab;
	const char *first;
	char text[32];
	int pass, i, len;

	(void)state;
	assert_true(strtab_init(&strtab, UINT64_MAX));
	first = strtab_text(&strtab, strtab_add(&strtab, "name 0", 6));
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < MANY; i++) {
			len = snprintf(text, sizeof(text), "name %d", i);
			assert_int_equal(strtab_add(&strtab, text,
						    (size_t)len), i + 1);
		}
	}
	assert_int_equal(strtab.nr, MANY + 1);
	assert_ptr_equal(strtab_text(&strtab, 1), first);
	assert_string_equal(strtab_text(&strtab, MANY), "name 49999");
	strtab_fini(&strtab);
}

static void test_compare(void **state)
{
	static const char *const order[] = {
		"", "A", "a", "a\x01", "aa", "ab", "b", "\x7f", "\x80", "\xff"
	};
	str_id ids[sizeof(order) / sizeof(*order)];
	struct strtab strtab;
	size_t nr = sizeof(order) / sizeof(*order), i, j;

	(void)state;
	assert_true(strtab_init(&strtab, 1000));
	for (i = nr; i--;)
		ids[i] = strtab_add(&strtab, order[i], strlen(order[i]));
	for (i = 0; i < nr; i++) {
		for (j = 0; j < nr; j++) {
			int got = strtab_compare(&strtab, ids[i], ids[j]);

			assert_int_equal((got > 0) - (got < 0),
					 (i > j) - (i < j));
		}
	}
	strtab_fini(&strtab);
}

static void test_bound(void **state)
{
	struct strtab strtab;
	str_id id;

	(void)state;
	assert_true(strtab_init(&strtab, 10));
	id = strtab_add(&strtab, "12345", 5);
	assert_int_not_equal(id, STR_NONE);
	assert_int_equal(strtab_add(&strtab, "abcd", 4), STR_NONE);
	assert_int_equal(strtab_find(&strtab, "abcd", 4), STR_NONE);
	assert_int_equal(strtab_add(&strtab, "12345", 5), id);
	assert_int_not_equal(strtab_add(&strtab, "abc", 3), STR_NONE);
	assert_int_equal(strtab.nr, 3);
	strtab_fini(&strtab);
}

/* Whichever allocation fails, what was there stays and can be found. */
static void test_no_memory(void **state)
{
	struct strtab strtab;
	char text[32];
	uint64_t n;
	int i, len;

	(void)state;
	for (n = 1; n <= 2; n++) {
		mem_fail_nth(n, false);
		assert_false(strtab_init(&strtab, 1000));
	}
	mem_fail_nth(0, false);
	assert_true(strtab_init(&strtab, UINT64_MAX));
	for (i = 0; i < 3000; i++) {
		str_id id;

		len = snprintf(text, sizeof(text), "%d", i);
		mem_fail_nth(1, true);
		id = strtab_add(&strtab, text, (size_t)len);
		mem_fail_nth(0, false);
		if (id == STR_NONE)
			id = strtab_add(&strtab, text, (size_t)len);
		assert_int_equal(id, i + 1);
	}
	for (i = 0; i < 3000; i++) {
		len = snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(strtab_find(&strtab, text, (size_t)len),
				 i + 1);
	}
	strtab_fini(&strtab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_bytes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("strtab", tests, NULL, NULL);
}
