/* SPDX-License-Identifier: Apache-2.0
 *
 * Canonical order: what each kind of row is sorted by, that only what a
 * sample reaches takes part, and the order of samples.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/builder.h"
#include "profile/canon.h"

static struct pprof_limits limits;
static struct diags diags;

static void start(struct builder *b)
{
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(b, &limits, &diags));
	builder_type(b, builder_cstr(b, "samples"), builder_cstr(b, "count"));
}

static struct pprof_profile *finish(struct builder *b)
{
	struct pprof_profile *profile = NULL;

	assert_int_equal(builder_finish(b, "test", &profile, NULL), PPROF_OK);
	builder_fini(b);
	return profile;
}

static void sample(struct builder *b, const loc_id *root_first, size_t nr,
		   lset_id lset, int64_t value)
{
	builder_sample(b, builder_stack_root_first(b, root_first, nr), lset,
		       &value, PPROF_UNIT_NONE, 0);
}

/* Rows in the order wanted, built from last to first. */
static void test_rows(void **state)
{
	static const struct {
		const char *file;
		uint64_t start;
		bool is_main;
	} maps[] = {
		{ "z", 9, true }, { "a", 5, false }, { "a", 6, false },
		{ "b", 1, false }, { "ba", 0, false },
	};
	static const struct {
		const char *name, *file;
		int64_t line;
	} funcs[] = {
		{ "", "x", 0 }, { "a", "", 7 }, { "a", "x", -1 },
		{ "a", "x", 3 }, { "b", "", 0 },
	};
	const size_t nr = sizeof(maps) / sizeof(*maps);
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;
	loc_id locs[5];
	size_t i;

	(void)state;
	start(&b);
	for (i = nr; i--;) {
		struct function f = { .start_line = funcs[i].line };
		struct mapping map = { .start = maps[i].start };
		struct line line = { .line = 1 };

		map.flags = maps[i].is_main ? MAP_MAIN : 0;
		map.file = builder_cstr(&b, maps[i].file);
		f.name = builder_cstr(&b, funcs[i].name);
		f.file = builder_cstr(&b, funcs[i].file);
		line.func = builder_function(&b, &f);
		locs[i] = builder_location(&b, 1, builder_mapping(&b, &map),
					   false, &line, 1);
	}
	sample(&b, locs, nr, 0, 1);
	p = finish(&b);
	assert_int_equal(canon_init(&canon, p, NULL), PPROF_OK);
	assert_int_equal(canon.nr_maps, nr);
	assert_int_equal(canon.nr_funcs, nr);
	assert_int_equal(canon.nr_locs, nr);
	for (i = 0; i < nr; i++) {
		assert_int_equal(canon.map_order[i], nr - i);
		assert_int_equal(canon.map_number[nr - i], i + 1);
		assert_int_equal(canon.func_order[i], nr - i);
		assert_int_equal(canon.func_number[nr - i], i + 1);
		/* Locations follow their mappings. */
		assert_int_equal(canon.loc_order[i], nr - i);
	}
	canon_fini(&canon);
	pprof_profile_free(p);
}

/* Rows of one mapping: by address, then by lines, then folded or not. */
static void test_locations(void **state)
{
	struct line lines[2] = { { .line = 5 }, { .line = 5 } };
	struct function f = { .start_line = 1 };
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;
	loc_id locs[6];
	size_t i;

	(void)state;
	start(&b);
	lines[0].func = lines[1].func = builder_function(&b, &f);
	locs[5] = builder_location(&b, 9, 0, false, NULL, 0);
	locs[4] = builder_location(&b, 7, 0, false, lines, 2);
	lines[0].column = -1;
	locs[2] = builder_location(&b, 7, 0, false, lines, 1);
	locs[3] = builder_location(&b, 7, 0, true, lines, 1);
	locs[1] = builder_location(&b, 7, 0, false, NULL, 0);
	locs[0] = builder_location(&b, 1, 0, true, lines, 2);
	sample(&b, locs, 6, 0, 1);
	p = finish(&b);
	assert_int_equal(canon_init(&canon, p, NULL), PPROF_OK);
	for (i = 0; i < 6; i++)
		assert_int_equal(canon.loc_order[i], locs[i]);
	canon_fini(&canon);
	pprof_profile_free(p);
}

static void test_unreached(void **state)
{
	struct mapping map = { .start = 1 };
	struct function f = { .start_line = 1 };
	struct line line = { .line = 1 };
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;
	map_id other, used;
	func_id func;
	loc_id loc;

	(void)state;
	start(&b);
	map.flags = MAP_MAIN;
	builder_mapping(&b, &map); /* main stays, though nothing is in it */
	map.flags = 0;
	other = builder_mapping(&b, &map);
	map.start = 2;
	used = builder_mapping(&b, &map);
	builder_function(&b, &f);
	f.start_line = 2;
	func = line.func = builder_function(&b, &f);
	/* A stack that no sample has. */
	loc = builder_location(&b, 1, other, false, NULL, 0);
	builder_stack(&b, &loc, 1);
	loc = builder_location(&b, 2, used, false, &line, 1);
	sample(&b, &loc, 1, 0, 1);
	p = finish(&b);
	assert_int_equal(canon_init(&canon, p, NULL), PPROF_OK);
	assert_int_equal(canon.nr_maps, 2);
	assert_int_equal(canon.map_order[0], 1);
	assert_int_equal(canon.map_order[1], used);
	assert_int_equal(canon.map_number[other], 0);
	assert_int_equal(canon.nr_funcs, 1);
	assert_int_equal(canon.func_order[0], func);
	assert_int_equal(canon.nr_locs, 1);
	assert_int_equal(canon.loc_order[0], loc);
	assert_int_equal(canon.loc_number[1], 0);
	canon_fini(&canon);
	pprof_profile_free(p);
}

/* Samples along the tree, parents before children, sets in order. */
static void test_samples(void **state)
{
	static const struct {
		loc_id stack[3];
		size_t nr;
		const char *label; /* "" none */
	} order[] = {
		{ { 0 }, 0, "" }, { { 0 }, 0, "z" }, { { 1 }, 1, "" },
		{ { 1, 1 }, 2, "" }, { { 1, 1, 3 }, 3, "a" },
		{ { 1, 1, 3 }, 3, "b" }, { { 1, 2 }, 2, "" },
		{ { 2, 3 }, 2, "" },
	};
	const size_t nr = sizeof(order) / sizeof(*order);
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;
	size_t i, node, at = 0;
	uint32_t j;

	(void)state;
	start(&b);
	for (i = 1; i <= 3; i++)
		builder_location(&b, i, 0, false, NULL, 0);
	for (i = nr; i--;) {
		struct label label = { .key = builder_cstr(&b, "k") };

		label.str = builder_cstr(&b, order[i].label);
		sample(&b, order[i].stack, order[i].nr,
		       builder_lset(&b, &label, label.str != 0),
		       (int64_t)i);
	}
	p = finish(&b);
	assert_int_equal(canon_init(&canon, p, NULL), PPROF_OK);
	/* Node 0 comes first, then all others in preorder. */
	for (i = 0; i < p->stacks.nr; i++) {
		node = i ? canon.preorder[i - 1] : 0;
		for (j = canon.sample_start[node];
		     j < canon.sample_start[node + 1]; j++, at++)
			assert_int_equal(p->values[0][canon.samples[j]], at);
	}
	assert_int_equal(at, nr);
	canon_fini(&canon);
	pprof_profile_free(p);
}

static void test_labels(void **state)
{
	struct label labels[4];
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;
	lset_id set;
	uint32_t i;

	(void)state;
	start(&b);
	memset(labels, 0, sizeof(labels));
	/* Wanted: "a" = "x", "a" = "y", "a" = 3, "b" = -1. */
	labels[0].key = builder_cstr(&b, "b");
	labels[0].num = -1;
	labels[0].is_num = 1;
	labels[1].key = labels[2].key = labels[3].key = builder_cstr(&b, "a");
	labels[1].num = 3;
	labels[1].is_num = 1;
	labels[2].str = builder_cstr(&b, "y");
	labels[3].str = builder_cstr(&b, "x");
	set = builder_lset(&b, labels, 4);
	sample(&b, NULL, 0, set, 1);
	p = finish(&b);
	assert_int_equal(canon_init(&canon, p, NULL), PPROF_OK);
	for (i = 0; i < 4; i++) {
		const struct label *got =
			&p->labels[canon.label_order[p->lsets[set].labels +
						     i]];

		assert_memory_equal(got, &labels[3 - i], sizeof(*got));
	}
	canon_fini(&canon);
	pprof_profile_free(p);
}

static void test_empty(void **state)
{
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;

	(void)state;
	start(&b);
	p = finish(&b);
	assert_int_equal(canon_init(&canon, p, NULL), PPROF_OK);
	assert_int_equal(canon.nr_maps + canon.nr_funcs + canon.nr_locs, 0);
	canon_fini(&canon);
	pprof_profile_free(p);
}

static void test_no_memory(void **state)
{
	enum pprof_status status = PPROF_NOMEM;
	struct pprof_profile *p;
	struct canon canon;
	struct builder b;
	loc_id loc;
	uint64_t n;

	(void)state;
	start(&b);
	loc = builder_location(&b, 1, 0, false, NULL, 0);
	sample(&b, &loc, 1, 0, 1);
	p = finish(&b);
	for (n = 1; status == PPROF_NOMEM; n++) {
		assert_true(n < 100);
		mem_fail_nth(n, true);
		status = canon_init(&canon, p, NULL);
		mem_fail_nth(0, false);
		canon_fini(&canon); /* allowed after either */
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 10);
	pprof_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("canon", tests, NULL, NULL);
}
