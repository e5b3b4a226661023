/* SPDX-License-Identifier: Apache-2.0
 *
 * Bump allocation: alignment, stable addresses, the bound, resetting.
 */
#include <config.h>

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/mem.h"

#define NR 2000

static void test_objects(void **state)
{
	struct arena arena;
	uint8_t *objects[NR];
	char *texts[NR];
	size_t i, j;

	(void)state;
	arena_init(&arena, UINT64_MAX);
	for (i = 0; i < NR; i++) {
		objects[i] = arena_alloc(&arena, i % 50, 1 + i % 3);
		assert_non_null(objects[i]);
		assert_int_equal((uintptr_t)objects[i] % alignof(max_align_t),
				 0);
		memset(objects[i], (int)(i % 251), i % 50 * (1 + i % 3));
		texts[i] = arena_strndup(&arena, "0123456789", i % 11);
		assert_non_null(texts[i]);
	}
	for (i = 0; i < NR; i++) {
		for (j = 0; j < i % 50 * (1 + i % 3); j++)
			assert_int_equal(objects[i][j], i % 251);
		assert_memory_equal(texts[i], "0123456789", i % 11);
		assert_int_equal(texts[i][i % 11], 0);
	}
	arena_fini(&arena);
}

static void test_large_object(void **state)
{
	struct arena arena;
	char *small, *large, *after;

	(void)state;
	arena_init(&arena, UINT64_MAX);
	small = arena_strndup(&arena, "small", 5);
	large = arena_alloc(&arena, (size_t)3 << 20, 1);
	after = arena_strndup(&arena, "after", 5);
	assert_non_null(small);
	assert_non_null(large);
	assert_non_null(after);
	memset(large, 'x', (size_t)3 << 20);
	assert_string_equal(small, "small");
	assert_string_equal(after, "after");
	arena_fini(&arena);
}

static void test_bound(void **state)
{
	struct arena arena;
	size_t i;

	(void)state;
	arena_init(&arena, 1000);
	assert_null(arena_alloc(&arena, 1001, 1));
	assert_null(arena_strndup(&arena, "", SIZE_MAX));
	assert_null(arena_strndup(&arena, "", 1000)); /* and the NUL */
	for (i = 0; i < 10; i++)
		assert_non_null(arena_strndup(&arena, "123456789"
					      "123456789123456789123456789"
					      "123456789123456789123456789"
					      "123456789123456789123456789"
					      "123456789", 99));
	assert_int_equal(arena.used_bytes, 1000);
	assert_null(arena_strndup(&arena, "", 0));
	arena_reset(&arena);
	assert_int_equal(arena.used_bytes, 0);
	assert_non_null(arena_alloc(&arena, 1000, 1));
	assert_null(arena_alloc(&arena, 1, 1));
	arena_fini(&arena);
}

static void test_overflow(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, UINT64_MAX);
	assert_null(arena_alloc(&arena, SIZE_MAX / 2 + 1, 2));
	assert_null(arena_alloc(&arena, SIZE_MAX, 1));
	assert_null(arena_alloc(&arena, PTRDIFF_MAX, 1));
	assert_int_equal(arena.used_bytes, 0);
	assert_non_null(arena_alloc(&arena, 8, 1));
	arena_fini(&arena);
}

/* Resetting again and again takes no new memory. */
static void test_reset_reuses(void **state)
{
	struct arena arena;
	size_t i;

	(void)state;
	arena_init(&arena, UINT64_MAX);
	for (i = 0; i < 100; i++)
		assert_non_null(arena_alloc(&arena, 1000, 1));
	arena_reset(&arena);
	mem_fail_nth(1, true);
	for (i = 0; i < 1000; i++) {
		void *object = arena_alloc(&arena, 1000, 1);

		assert_non_null(object);
		memset(object, (int)i, 1000);
		arena_reset(&arena);
	}
	mem_fail_nth(0, false);
	arena_fini(&arena);
}

static void test_no_memory(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, UINT64_MAX);
	mem_fail_nth(1, true);
	assert_null(arena_alloc(&arena, 8, 1));
	assert_null(arena_strndup(&arena, "x", 1));
	mem_fail_nth(0, false);
	assert_int_equal(arena.used_bytes, 0);
	assert_non_null(arena_alloc(&arena, 8, 1));
	arena_fini(&arena);
	arena_init(&arena, 10);
	arena_reset(&arena); /* of an unused one */
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_large_object),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_reset_reuses),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
