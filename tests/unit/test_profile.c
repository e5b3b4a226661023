/* SPDX-License-Identifier: Apache-2.0
 *
 * The finished profile: each invariant is checked, totals, sample types by
 * name.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/builder.h"
#include "profile/restack.h"

static struct pprof_limits limits;
static struct diags diags;

/* A small profile with one of everything. */
static struct pprof_profile *make_profile(void)
{
	static const int64_t values[] = { 3, 300 };
	struct pprof_profile *profile = NULL;
	struct function f = { .start_line = 1 };
	struct mapping map = { .start = 0x1000, .limit = 0x2000 };
	struct label label = { .num = 7, .is_num = 1 };
	struct line line = { .line = 5 };
	struct builder b;
	loc_id locs[2];

	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	builder_type(&b, builder_cstr(&b, "inuse_objects"),
		     builder_cstr(&b, "count"));
	builder_type(&b, builder_cstr(&b, "inuse_space"),
		     builder_cstr(&b, "bytes"));
	f.name = builder_cstr(&b, "main");
	map.file = builder_cstr(&b, "/bin/prog");
	label.key = builder_cstr(&b, "thread_id");
	line.func = builder_function(&b, &f);
	locs[0] = builder_location(&b, 0x1234,
				   builder_mapping(&b, &map), false, &line, 1);
	locs[1] = builder_location(&b, 0x99, 0, false, NULL, 0);
	builder_sample(&b, builder_stack(&b, locs, 2),
		       builder_lset(&b, &label, 1), values, PPROF_UNIT_NONE,
		       0);
	builder_sample(&b, builder_stack(&b, locs, 1), 0, values,
		       PPROF_UNIT_NONE, 0);
	builder_comment(&b, builder_cstr(&b, "first"));
	builder_comment(&b, builder_cstr(&b, "second"));
	assert_int_equal(builder_finish(&b, "test", &profile, NULL),
			 PPROF_OK);
	builder_fini(&b);
	return profile;
}

static void break_sample_stack(struct pprof_profile *p)
{
	p->sample_stack[1] = (stack_id)p->stacks.nr;
}

static void break_sample_lset(struct pprof_profile *p)
{
	p->sample_lset[0] = (lset_id)p->nr_lsets;
}

static void break_stack_location(struct pprof_profile *p)
{
	p->stacks.locs[0] = (loc_id)p->nr_locations;
}

static void break_stack_none(struct pprof_profile *p)
{
	p->stacks.locs[0] = 0;
}

static void break_location_mapping(struct pprof_profile *p)
{
	p->locations[1].mapping = (map_id)p->nr_mappings;
}

static void break_location_lines(struct pprof_profile *p)
{
	p->locations[2].lines = (uint32_t)p->nr_lines + 1;
}

static void break_location_nr_lines(struct pprof_profile *p)
{
	p->locations[1].nr_lines = UINT32_MAX;
}

static void break_line_function(struct pprof_profile *p)
{
	p->lines[0].func = 0;
}

static void break_line_function_id(struct pprof_profile *p)
{
	p->lines[0].func = (func_id)p->nr_functions;
}

static void break_function_string(struct pprof_profile *p)
{
	p->functions[1].file = (str_id)p->strings.nr;
}

static void break_mapping_string(struct pprof_profile *p)
{
	p->mappings[1].build_id = (str_id)p->strings.nr;
}

static void break_label_string(struct pprof_profile *p)
{
	p->labels[0].key = (str_id)p->strings.nr;
}

static void break_label_set(struct pprof_profile *p)
{
	p->lsets[1].nr = 2;
}

static void break_types(struct pprof_profile *p)
{
	p->nr_types = 0;
}

static void test_check(void **state)
{
	static const struct {
		void (*breach)(struct pprof_profile *p);
		const char *message;
	} rows[] = {
		{ break_sample_stack, "sample stack of row 1" },
		{ break_sample_lset, "sample label set of row 0" },
		{ break_stack_location, "stack location of row 0" },
		{ break_stack_none, "stack location of row 0" },
		{ break_location_mapping, "location mapping of row 1" },
		{ break_location_lines, "location lines of row 2" },
		{ break_location_nr_lines, "location lines of row 1" },
		{ break_line_function, "line function of row 1" },
		{ break_line_function_id, "line function of row 1" },
		{ break_function_string, "function string of row 1" },
		{ break_mapping_string, "mapping string of row 1" },
		{ break_label_string, "label string of row 0" },
		{ break_label_set, "label set of row 1" },
		{ break_types, "samples without a sample type" },
	};
	struct pprof_error err;
	size_t i, nr_types;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pprof_profile *profile = make_profile();

		assert_int_equal(profile_check(profile, "src", &err),
				 PPROF_OK);
		nr_types = profile->nr_types;
		rows[i].breach(profile);
		assert_int_equal(profile_check(profile, "src", &err),
				 PPROF_FORMAT);
		if (!strstr(err.message, rows[i].message))
			fail_msg("%s: %s", rows[i].message, err.message);
		assert_string_equal(err.source, "src");
		profile->nr_types = nr_types;
		pprof_profile_free(profile);
	}
	pprof_profile_free(NULL);
}

static void test_totals(void **state)
{
	static const struct {
		int64_t a, b, total;
		bool saturated;
	} rows[] = {
		{ 1, 2, 3, false },
		{ -5, 3, -2, false },
		{ INT64_MAX, INT64_MIN, -1, false },
		{ INT64_MAX, 0, INT64_MAX, false },
		{ INT64_MAX, 1, INT64_MAX, true },
		{ INT64_MIN, -1, INT64_MIN, true },
	};
	struct pprof_profile *profile = make_profile();
	bool saturated;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		profile->values[1][0] = rows[i].a;
		profile->values[1][1] = rows[i].b;
		assert_int_equal(profile_column_total(profile, 1, &saturated),
				 rows[i].total);
		assert_int_equal(saturated, rows[i].saturated);
		assert_int_equal(pprof_profile_total(profile, 1),
				 rows[i].total);
	}
	pprof_profile_free(profile);
}

static void test_accessors(void **state)
{
	struct pprof_profile *profile = make_profile();
	const char *type, *unit;

	(void)state;
	assert_int_equal(pprof_profile_nr_sample_types(profile), 2);
	pprof_profile_sample_type(profile, 1, &type, &unit);
	assert_string_equal(type, "inuse_space");
	assert_string_equal(unit, "bytes");
	assert_int_equal(pprof_profile_nr_samples(profile), 2);
	assert_int_equal(pprof_profile_nr_comments(profile), 2);
	assert_string_equal(pprof_profile_comment(profile, 1), "second");
	/* The last unless the profile says another. */
	assert_int_equal(pprof_profile_default_sample_type(profile), 1);
	profile->default_type = profile->types[0].type;
	assert_int_equal(pprof_profile_default_sample_type(profile), 0);
	profile->default_type = strtab_find(&profile->strings, "main", 4);
	assert_int_equal(pprof_profile_default_sample_type(profile), 1);
	pprof_profile_free(profile);
}

static void test_find_type(void **state)
{
	static const struct {
		const char *name;
		enum pprof_status status;
		size_t index;
	} rows[] = {
		{ "inuse_space", PPROF_OK, 1 },
		{ "space", PPROF_OK, 1 },
		{ "objects", PPROF_OK, 0 },
		{ "0", PPROF_OK, 0 },
		{ "1", PPROF_OK, 1 },
		{ "2", PPROF_NOTFOUND, 9 },
		{ "-1", PPROF_NOTFOUND, 9 },
		{ "1x", PPROF_NOTFOUND, 9 },
		{ "", PPROF_NOTFOUND, 9 },
		{ "alloc_space", PPROF_NOTFOUND, 9 },
		{ "INUSE_SPACE", PPROF_NOTFOUND, 9 },
	};
	struct pprof_profile *profile = make_profile();
	struct pprof_error err;
	size_t i, index;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		index = 9;
		if (pprof_profile_find_sample_type(profile, rows[i].name,
						   &index, &err) !=
		    rows[i].status)
			fail_msg("'%s'", rows[i].name);
		assert_int_equal(index, rows[i].index);
		if (rows[i].status)
			assert_non_null(strstr(err.message, "inuse_objects, "
					       "inuse_space"));
	}
	assert_int_equal(profile_pick_type(profile, -1, &index, &err),
			 PPROF_OK);
	assert_int_equal(index, 1);
	assert_int_equal(profile_pick_type(profile, 0, &index, &err),
			 PPROF_OK);
	assert_int_equal(index, 0);
	assert_int_equal(profile_pick_type(profile, 2, &index, &err),
			 PPROF_USAGE);
	pprof_profile_free(profile);
}

static void drop_leaf(void *ctx, const loc_id *leaf_first, size_t nr,
		      struct restack_cut *cut)
{
	(void)leaf_first;
	cut->nr_drop = nr > 1;
	++*(size_t *)ctx;
}

/* Shorter stacks: what becomes equal adds up, label sets stay apart. */
static void test_restack(void **state)
{
	struct pprof_profile *profile = make_profile();
	struct restacked restacked;
	size_t nr_asked = 0;

	(void)state;
	/* Leaf 1 below root 2, and leaf 1 alone. */
	assert_int_equal(profile_restack(profile, drop_leaf, &nr_asked, NULL,
					 &restacked, NULL), PPROF_OK);
	assert_true(restacked.is_changed);
	assert_int_equal(nr_asked, 2);
	profile_take_restacked(profile, &restacked);
	assert_int_equal(profile_check(profile, "x", NULL), PPROF_OK);
	assert_int_equal(profile->nr_samples, 2);
	assert_int_equal(stacks_depth(&profile->stacks,
				      profile->sample_stack[0]), 1);
	assert_int_equal(pprof_profile_total(profile, 1), 600);
	restacked_fini(&restacked);
	/* Once more: one location each, nothing to drop. */
	assert_int_equal(profile_restack(profile, drop_leaf, &nr_asked, NULL,
					 &restacked, NULL), PPROF_OK);
	assert_false(restacked.is_changed);
	restacked_fini(&restacked);
	pprof_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_accessors),
		cmocka_unit_test(test_find_type),
		cmocka_unit_test(test_restack),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
