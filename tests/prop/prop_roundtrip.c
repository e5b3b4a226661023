/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of random profiles: writing what was read gives the same bytes,
 * the order of building does not show, and every view adds up to the same
 * totals.
 */
#include <config.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "gen.h"
#include "view/table.h"
#include "view/tree.h"

#define NR_PROFILES 300
#define NR_ORDERS 4

static uint64_t seed;

static void *read_bytes(const struct buf *bytes, const char *format,
			const char *what, uint64_t i)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile = NULL;
	struct pprof_error err;

	opts.format = format;
	if (pprof_profile_read_memory(bytes->data, bytes->len, "memory", &opts,
				      &profile, &err))
		fail_msg("%s of profile %" PRIu64 ": %s", what, i,
			 err.message);
	return profile;
}

static void expect_same(const struct buf *a, const struct buf *b,
			const char *what, uint64_t i)
{
	size_t at;

	if (a->len == b->len && !memcmp(a->data, b->data, a->len))
		return;
	for (at = 0; at < a->len && at < b->len; at++)
		if (a->data[at] != b->data[at])
			break;
	fail_msg("%s of profile %" PRIu64 " differs: %zu and %zu bytes, "
		 "first at %zu", what, i, a->len, b->len, at);
}

/* Canonical bytes of profile i in `first`, compared with other ways to it. */
static void check_orders(const struct gen_profile *gen, uint64_t i)
{
	struct pprof_profile *profile;
	struct buf first, again, message;
	uint64_t order;

	buf_init(&first, 1 << 24);
	buf_init(&again, 1 << 24);
	buf_init(&message, 1 << 24);
	profile = gen_build(gen, 0, 1);
	gen_write(profile, "pprof", -1, &first);
	pprof_profile_free(profile);
	profile = read_bytes(&first, NULL, "own bytes", i);
	gen_write(profile, "pprof", -1, &again);
	pprof_profile_free(profile);
	expect_same(&first, &again, "read and written", i);
	for (order = 1; order <= NR_ORDERS; order++) {
		profile = gen_build(gen, i * NR_ORDERS + order, 1);
		gen_write(profile, "pprof", -1, &again);
		pprof_profile_free(profile);
		expect_same(&first, &again, "another order of building", i);
		buf_reset(&message);
		gen_encode(gen, i * NR_ORDERS + order, &message);
		profile = read_bytes(&message, NULL, "encoding", i);
		gen_write(profile, "pprof", -1, &again);
		pprof_profile_free(profile);
		expect_same(&first, &again, "another encoding", i);
	}
	buf_fini(&first);
	buf_fini(&again);
	buf_fini(&message);
}

static void test_canonical(void **state)
{
	struct gen_profile gen;
	uint64_t i;

	(void)state;
	for (i = 0; i < NR_PROFILES; i++) {
		gen_profile(&gen, seed + i, i % 2);
		/* An empty message is no profile; the reader says so. */
		check_orders(&gen, i);
	}
}

/* Different profiles do not come out alike. */
static void test_distinct(void **state)
{
	struct gen_profile gen;
	struct pprof_profile *profile;
	struct buf a, b;
	uint64_t i;

	(void)state;
	buf_init(&a, 1 << 24);
	buf_init(&b, 1 << 24);
	for (i = 0; i < NR_PROFILES; i++) {
		gen_profile(&gen, seed + i, false);
		if (!gen.nr_samples)
			continue;
		profile = gen_build(&gen, 0, 1);
		gen_write(profile, "pprof", -1, &a);
		pprof_profile_free(profile);
		gen.samples[i % gen.nr_samples].values[0] += 1;
		profile = gen_build(&gen, 0, 1);
		gen_write(profile, "pprof", -1, &b);
		pprof_profile_free(profile);
		assert_true(a.len != b.len || memcmp(a.data, b.data, a.len));
	}
	buf_fini(&a);
	buf_fini(&b);
}

/* Adding a profile to itself doubles it and changes nothing else. */
static void test_twice(void **state)
{
	struct gen_profile gen;
	uint64_t i;
	uint32_t type;
	size_t j;

	(void)state;
	for (i = 0; i < NR_PROFILES; i++) {
		struct pprof_profile *once, *twice;

		gen_profile(&gen, seed + i, false);
		once = gen_build(&gen, 3, 1);
		twice = gen_build(&gen, 3, 2);
		assert_int_equal(once->nr_samples, twice->nr_samples);
		for (type = 0; type < gen.nr_types; type++) {
			assert_int_equal(pprof_profile_total(once, type),
					 gen_total(&gen, type));
			for (j = 0; j < once->nr_samples; j++)
				assert_int_equal(twice->values[type][j],
						 once->values[type][j] * 2);
		}
		pprof_profile_free(once);
		pprof_profile_free(twice);
	}
}

/* Sum of the numbers at the ends of the lines. */
static int64_t sum_lines(const struct buf *folded)
{
	const char *p = folded->data, *end = p + folded->len, *lf, *blank;
	int64_t sum = 0;

	for (; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		assert_non_null(lf);
		blank = memrchr(p, ' ', (size_t)(lf - p));
		assert_non_null(blank);
		sum += strtoll(blank + 1, NULL, 10);
	}
	return sum;
}

/* Folded stacks that are read and folded again stay the same lines. */
static void check_folded_again(const struct buf *folded, uint64_t i)
{
	struct pprof_profile *profile;
	struct buf once, twice;

	if (!folded->len)
		return;
	buf_init(&once, 1 << 24);
	buf_init(&twice, 1 << 24);
	profile = read_bytes(folded, "folded", "folded stacks", i);
	gen_write(profile, "folded", -1, &once);
	pprof_profile_free(profile);
	/* Escapes sort elsewhere once they are read; blanks before the value
	 * are no part of the last name. So the second time is what counts. */
	assert_int_equal(sum_lines(&once), sum_lines(folded));
	profile = read_bytes(&once, "folded", "folded stacks", i);
	gen_write(profile, "folded", -1, &twice);
	pprof_profile_free(profile);
	expect_same(&once, &twice, "folded, read and folded", i);
	buf_fini(&once);
	buf_fini(&twice);
}

static void test_folded(void **state)
{
	struct gen_profile gen;
	struct buf folded;
	uint64_t i;
	uint32_t type;

	(void)state;
	buf_init(&folded, 1 << 24);
	for (i = 0; i < NR_PROFILES; i++) {
		struct pprof_profile *profile;

		gen_profile(&gen, seed + i, i % 2);
		profile = gen_build(&gen, 5, 1);
		for (type = 0; type < gen.nr_types; type++) {
			gen_write(profile, "folded", (int)type, &folded);
			if (sum_lines(&folded) != gen_total(&gen, type))
				fail_msg("profile %" PRIu64 " type %u", i,
					 type);
			if (i % 2)
				check_folded_again(&folded, i);
		}
		pprof_profile_free(profile);
	}
	buf_fini(&folded);
}

static void check_views(const struct gen_profile *gen,
			const struct pprof_profile *profile, uint32_t type,
			enum pprof_granularity granularity)
{
	struct frames_opts frames_opts = { .granularity = granularity };
	struct tree_opts tree_opts = { .walk = { .sample_type = type },
				       .max_depth = UINT32_MAX };
	int64_t total = gen_total(gen, type), flat = 0, self = 0;
	struct frames frames;
	struct table table;
	struct tree tree;
	size_t i;

	assert_int_equal(frames_init(&frames, profile, &frames_opts, NULL),
			 PPROF_OK);
	assert_int_equal(table_init(&table, &frames, profile, type, NULL),
			 PPROF_OK);
	for (i = 0; i < table.nr; i++) {
		flat += table.rows[i].flat;
		/* All values are positive here. */
		assert_true(table.rows[i].cum >= table.rows[i].flat);
		assert_true(table.rows[i].cum <= total);
	}
	assert_int_equal(flat, total);
	assert_int_equal(table.total, total);
	assert_int_equal(tree_init(&tree, &frames, profile, &tree_opts, NULL),
			 PPROF_OK);
	for (i = 0; i < tree.nr; i++) {
		self += tree.nodes[i].self;
		assert_true(tree.nodes[i].total >= tree.nodes[i].self);
	}
	assert_int_equal(self, total);
	assert_int_equal(tree.nodes[0].total, total);
	assert_true(tree.total == total);
	tree_fini(&tree);
	table_fini(&table);
	frames_fini(&frames);
}

static void test_views(void **state)
{
	struct gen_profile gen;
	uint64_t i;
	uint32_t type;
	int by;

	(void)state;
	for (i = 0; i < NR_PROFILES; i += 3) {
		struct pprof_profile *profile;

		gen_profile(&gen, seed + i, true);
		profile = gen_build(&gen, i, 1);
		for (type = 0; type < gen.nr_types; type++)
			for (by = PPROF_BY_FUNCTION; by <= PPROF_BY_MODULE;
			     by++)
				check_views(&gen, profile, type,
					    (enum pprof_granularity)by);
		pprof_profile_free(profile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_views),
	};

	seed = gen_seed();
	return cmocka_run_group_tests_name("roundtrip", tests, NULL, NULL);
}
