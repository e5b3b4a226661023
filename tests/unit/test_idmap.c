/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash index: every id is found again, also when all hashes collide and
 * when growing fails.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/idmap.h"
#include "base/mem.h"

#define NR 20000

struct table {
	uint64_t keys[NR];
	size_t nr_hashes; /* distinct hashes; 0: as many as keys */
};

static uint64_t hash_row(const void *ctx, uint32_t id)
{
	const struct table *table = ctx;

	if (table->nr_hashes)
		return table->keys[id] % table->nr_hashes;
	return hash_u64(table->keys[id]);
}

static uint32_t find(const struct idmap *map, const struct table *table,
		     uint64_t key, uint64_t hash)
{
	size_t slot = idmap_first(map, hash);
	uint32_t id;

	for (; (id = map->slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(map, slot))
		if (table->keys[id] == key)
			return id;
	return IDMAP_FREE;
}

static void fill_and_check(size_t nr_rows, size_t nr_hashes)
{
	static struct table table;
	struct idmap map;
	uint32_t i;

	memset(&map, 0, sizeof(map));
	memset(&table, 0, sizeof(table));
	table.nr_hashes = nr_hashes;
	for (i = 0; i < nr_rows; i++) {
		table.keys[i] = (uint64_t)i * 4096;
		assert_true(idmap_reserve(&map, hash_row, &table));
		assert_int_equal(find(&map, &table, table.keys[i],
				      hash_row(&table, i)), IDMAP_FREE);
		idmap_put(&map, hash_row(&table, i), i);
		assert_true(map.nr <= (map.mask + 1) / 4 * 3);
	}
	for (i = 0; i < nr_rows; i++)
		assert_int_equal(find(&map, &table, table.keys[i],
				      hash_row(&table, i)), i);
	assert_int_equal(map.nr, nr_rows);
	idmap_fini(&map);
	assert_null(map.slots);
}

static void test_spread(void **state)
{
	(void)state;
	fill_and_check(NR, 0);
}

static void test_collisions(void **state)
{
	(void)state;
	fill_and_check(500, 1);
	fill_and_check(2000, 7);
}

static void test_no_memory(void **state)
{
	static struct table table;
	struct idmap map;
	uint32_t i;

	(void)state;
	memset(&map, 0, sizeof(map));
	for (i = 0; i < 1000; i++) {
		table.keys[i] = i;
		mem_fail_nth(1, true);
		if (!idmap_reserve(&map, hash_row, &table)) {
			mem_fail_nth(0, false);
			assert_true(!i || find(&map, &table, i - 1,
					       hash_row(&table, i - 1)) ==
				    i - 1);
			assert_true(idmap_reserve(&map, hash_row, &table));
		}
		mem_fail_nth(0, false);
		idmap_put(&map, hash_row(&table, i), i);
	}
	for (i = 0; i < 1000; i++)
		assert_int_equal(find(&map, &table, i, hash_row(&table, i)),
				 i);
	idmap_fini(&map);
}

/* Neighbouring keys, as addresses are, must not share slots. */
static void test_hash(void **state)
{
	unsigned char seen[1024] = { 0 };
	unsigned nr_seen = 0;
	uint64_t key;

	(void)state;
	assert_int_equal(hash_u64(0), 0);
	for (key = 1; key <= 1024; key++) {
		size_t slot = (size_t)hash_u64(key << 12) & 1023;

		nr_seen += !seen[slot];
		seen[slot] = 1;
	}
	/* 1024 balls in 1024 bins fill 1024 (1 - 1/e) = 647 on average. */
	assert_in_range(nr_seen, 580, 720);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests_name("idmap", tests, NULL, NULL);
}
