/* SPDX-License-Identifier: Apache-2.0
 *
 * The builder: equal rows are one, samples add up, sums saturate loudly, each
 * limit is named, and failure is sticky.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/builder.h"

static struct pprof_limits limits;
static struct diags diags;

static void start(struct builder *b)
{
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(b, &limits, &diags));
}

static struct pprof_profile *finish(struct builder *b)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;

	if (builder_finish(b, "test", &profile, &err))
		fail_msg("%s", err.message);
	builder_fini(b);
	return profile;
}

static void test_rows(void **state)
{
	struct function f = { .start_line = 3 };
	struct line lines[2] = { { .line = 7 }, { .line = 8 } };
	struct builder b;
	func_id one, two;
	loc_id loc;

	(void)state;
	start(&b);
	f.name = builder_cstr(&b, "f");
	one = builder_function(&b, &f);
	assert_int_equal(builder_function(&b, &f), one);
	f.start_line = 4;
	two = builder_function(&b, &f);
	assert_int_not_equal(two, one);
	assert_int_equal(one, 1); /* 0 is none */

	lines[0].func = one;
	lines[1].func = two;
	loc = builder_location(&b, 0x10, 0, false, lines, 2);
	assert_int_equal(loc, 1);
	assert_int_equal(builder_location(&b, 0x10, 0, false, lines, 2), loc);
	assert_int_not_equal(builder_location(&b, 0x11, 0, false, lines, 2),
			     loc);
	assert_int_not_equal(builder_location(&b, 0x10, 0, true, lines, 2),
			     loc);
	assert_int_not_equal(builder_location(&b, 0x10, 0, false, lines, 1),
			     loc);
	lines[1].column = 1;
	assert_int_not_equal(builder_location(&b, 0x10, 0, false, lines, 2),
			     loc);
	assert_int_equal(b.profile->nr_locations, 6);
	builder_fini(&b);
}

static struct label text_label(struct builder *b, const char *key,
			       const char *text)
{
	struct label label = { .key = builder_cstr(b, key),
			       .str = builder_cstr(b, text) };

	return label;
}

static void test_label_sets(void **state)
{
	struct label ab[2], ba[2], num = { .num = 5, .is_num = 1 };
	struct builder b;
	lset_id set;

	(void)state;
	start(&b);
	ab[0] = ba[1] = text_label(&b, "a", "1");
	ab[1] = ba[0] = text_label(&b, "b", "2");
	num.key = ab[0].key;
	assert_int_equal(builder_lset(&b, NULL, 0), 0);
	set = builder_lset(&b, ab, 2);
	assert_int_not_equal(set, 0);
	assert_int_equal(builder_lset(&b, ba, 2), set);
	assert_int_not_equal(builder_lset(&b, ab, 1), set);
	assert_int_not_equal(builder_lset(&b, &num, 1),
			     builder_lset(&b, ab, 1));
	assert_int_equal(b.profile->nr_lsets, 4);
	builder_fini(&b);
}

/* Two stacks of two types for the tests below. */
static void add_types(struct builder *b, stack_id stacks[2])
{
	loc_id locs[3];
	size_t i;

	builder_type(b, builder_cstr(b, "objects"), builder_cstr(b, "count"));
	builder_type(b, builder_cstr(b, "space"), builder_cstr(b, "bytes"));
	for (i = 0; i < 3; i++)
		locs[i] = builder_location(b, 0x100 + i, 0, false, NULL, 0);
	stacks[0] = builder_stack(b, locs, 3);
	stacks[1] = builder_stack_root_first(b, locs, 2);
}

static void test_stack_order(void **state)
{
	struct builder b;
	loc_id a, c, leaf_first[2], root_first[2];

	(void)state;
	start(&b);
	a = builder_location(&b, 1, 0, false, NULL, 0);
	c = builder_location(&b, 2, 0, false, NULL, 0);
	leaf_first[0] = root_first[1] = a;
	leaf_first[1] = root_first[0] = c;
	assert_int_equal(builder_stack(&b, leaf_first, 2),
			 builder_stack_root_first(&b, root_first, 2));
	assert_int_not_equal(builder_stack(&b, leaf_first, 2),
			     builder_stack(&b, root_first, 2));
	assert_int_equal(builder_stack(&b, NULL, 0), 0);
	builder_fini(&b);
}

static void test_samples(void **state)
{
	static const int64_t v1[] = { 1, 100 }, v2[] = { 2, -30 },
			     v3[] = { 3, 7 };
	struct pprof_profile *profile;
	struct builder b;
	stack_id stacks[2];
	struct label label;
	lset_id set;

	(void)state;
	start(&b);
	add_types(&b, stacks);
	label = text_label(&b, "k", "v");
	builder_sample(&b, stacks[0], 0, v1, PPROF_UNIT_NONE, 0);
	builder_sample(&b, stacks[1], 0, v1, PPROF_UNIT_NONE, 0);
	builder_sample(&b, stacks[0], 0, v2, PPROF_UNIT_NONE, 0);
	set = builder_lset(&b, &label, 1);
	builder_sample(&b, stacks[0], set, v3, PPROF_UNIT_NONE, 0);
	builder_sample(&b, 0, 0, v3, PPROF_UNIT_NONE, 0);
	builder_sample(&b, stacks[0], set, v1, PPROF_UNIT_NONE, 0);
	builder_sample(&b, stacks[0], 0, v3, PPROF_UNIT_NONE, 0);
	profile = finish(&b);
	assert_int_equal(profile->nr_samples, 4);
	assert_int_equal(profile->values[0][0], 6);
	assert_int_equal(profile->values[1][0], 77);
	assert_int_equal(profile->values[0][2], 4);
	assert_int_equal(profile->values[1][2], 107);
	assert_int_equal(pprof_profile_total(profile, 0), 14);
	assert_int_equal(pprof_profile_total(profile, 1), 291);
	assert_int_equal(profile->sample_lset[0], 0);
	assert_int_equal(profile->sample_lset[2], set);
	pprof_profile_free(profile);
}

/* Many label sets on one stack: each is found again. */
static void test_many_sets(void **state)
{
	static const int64_t one[] = { 1, 1 };
	struct pprof_profile *profile;
	struct builder b;
	stack_id stacks[2];
	struct label label;
	int64_t i;

	(void)state;
	start(&b);
	add_types(&b, stacks);
	memset(&label, 0, sizeof(label));
	label.key = builder_cstr(&b, "thread_id");
	label.is_num = 1;
	for (i = 0; i < 3000; i++) {
		label.num = i % 500;
		builder_sample(&b, stacks[i % 2], builder_lset(&b, &label, 1),
			       one, PPROF_UNIT_NONE, 0);
	}
	profile = finish(&b);
	assert_int_equal(profile->nr_samples, 500);
	for (i = 0; i < 500; i++)
		assert_int_equal(profile->values[0][i], 6);
	pprof_profile_free(profile);
}

static void test_saturation(void **state)
{
	static const int64_t most[] = { INT64_MAX, INT64_MIN },
			     one[] = { 1, -1 };
	struct pprof_profile *profile;
	struct builder b;
	stack_id stacks[2];

	(void)state;
	start(&b);
	add_types(&b, stacks);
	builder_sample(&b, stacks[0], 0, most, PPROF_UNIT_LINE, 5);
	assert_int_equal(diags.nr_rows, 0);
	builder_sample(&b, stacks[0], 0, one, PPROF_UNIT_LINE, 6);
	profile = finish(&b);
	assert_int_equal(profile->values[0][0], INT64_MAX);
	assert_int_equal(profile->values[1][0], INT64_MIN);
	assert_int_equal(diags.nr_rows, 1);
	assert_int_equal(diags.rows[0].nr, 2);
	assert_int_equal(diags.rows[0].where, 6);
	pprof_profile_free(profile);
}

/* What each limit bounds, twice: once within it, once beyond. */
static void use_limit(struct builder *b, const char *name, size_t nr)
{
	static const int64_t values[] = { 1, 1 };
	struct mapping map = { .start = 1 };
	loc_id locs[8];
	struct label labels[8];
	stack_id stacks[2];
	size_t i;

	add_types(b, stacks);
	memset(labels, 0, sizeof(labels));
	for (i = 0; i < nr; i++) {
		labels[i].num = (int64_t)i;
		locs[i] = 1;
		if (!strcmp(name, "mappings"))
			builder_mapping(b, &map);
		if (!strcmp(name, "locations") && i > 2)
			builder_location(b, 0x900 + i, 0, false, NULL, 0);
		if (!strcmp(name, "samples"))
			builder_sample(b, builder_stack(b, locs, i + 1), 0,
				       values, PPROF_UNIT_NONE, 0);
	}
	if (!strcmp(name, "frames"))
		builder_stack(b, locs, nr);
	if (!strcmp(name, "labels"))
		builder_lset(b, labels, nr);
	if (!strcmp(name, "string_bytes"))
		builder_str(b, "12345678901234567890", nr + 10);
	if (!strcmp(name, "strings_bytes"))
		builder_str(b, "1234567890123456789012345678901234567890",
			    nr + 30);
}

static void test_limits(void **state)
{
	static const char *const names[] = {
		"mappings", "locations", "samples", "frames", "labels",
		"string_bytes", "strings_bytes",
	};
	struct pprof_profile *profile;
	struct pprof_error err;
	struct builder b;
	size_t i, nr;

	(void)state;
	for (i = 0; i < 2 * sizeof(names) / sizeof(*names); i++) {
		const char *name = names[i / 2];

		nr = i % 2 ? 6 : 5;
		start(&b);
		limits.mappings = 5;
		limits.locations = 5;
		limits.samples = 5;
		limits.frames = !strcmp(name, "frames") ? 5 : 100;
		limits.labels = 5;
		limits.string_bytes = !strcmp(name, "strings_bytes") ? 99 : 15;
		/* The types take 22 bytes and 4 NULs. */
		if (!strcmp(name, "strings_bytes"))
			b.profile->strings.arena.max_bytes = 26 + 36;
		use_limit(&b, name, nr);
		profile = NULL;
		if (builder_finish(&b, "src", &profile, &err) !=
		    (i % 2 ? PPROF_LIMIT : PPROF_OK))
			fail_msg("%s with %zu", name, nr);
		if (i % 2 && !strstr(err.message, name))
			fail_msg("%s: %s", name, err.message);
		pprof_profile_free(profile);
		builder_fini(&b);
	}
}

static void test_too_many_types(void **state)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	struct builder b;
	size_t i;

	(void)state;
	start(&b);
	for (i = 0; i <= SAMPLE_TYPES_MAX; i++)
		builder_type(&b, 0, 0);
	/* Everything after a failure is harmless. */
	assert_int_equal(builder_cstr(&b, "x"), ID_FAILED);
	assert_int_equal(builder_stack(&b, NULL, 0), ID_FAILED);
	assert_int_equal(builder_lset(&b, NULL, 0), ID_FAILED);
	builder_comment(&b, ID_FAILED);
	builder_sample(&b, ID_FAILED, ID_FAILED, NULL, PPROF_UNIT_NONE, 0);
	assert_int_equal(builder_finish(&b, "src", &profile, &err),
			 PPROF_LIMIT);
	assert_null(profile);
	assert_string_equal(err.source, "src");
	builder_fini(&b);
}

/* A whole profile with the n-th allocation failing, for every n. */
static void test_no_memory(void **state)
{
	static const int64_t values[] = { 1, 2 };
	enum pprof_status status = PPROF_NOMEM;
	struct function f = { .start_line = 1 };
	struct pprof_profile *profile;
	struct line line = { .line = 1 };
	struct mapping map = { .start = 1 };
	struct pprof_error err;
	struct label label;
	struct builder b;
	stack_id stacks[2];
	uint64_t n;

	(void)state;
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	for (n = 1; status == PPROF_NOMEM; n++) {
		assert_true(n < 200);
		mem_fail_nth(n, true);
		if (!builder_init(&b, &limits, &diags))
			continue;
		add_types(&b, stacks);
		f.name = builder_cstr(&b, "f");
		line.func = builder_function(&b, &f);
		builder_location(&b, 1, builder_mapping(&b, &map), false,
				 &line, 1);
		label = text_label(&b, "k", "v");
		builder_sample(&b, stacks[0], 0, values, PPROF_UNIT_NONE, 0);
		builder_sample(&b, stacks[0], builder_lset(&b, &label, 1),
			       values, PPROF_UNIT_NONE, 0);
		builder_comment(&b, f.name);
		status = builder_finish(&b, "src", &profile, &err);
		builder_fini(&b);
	}
	mem_fail_nth(0, false);
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 20);
	assert_int_equal(profile->nr_samples, 2);
	pprof_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_label_sets),
		cmocka_unit_test(test_stack_order),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_many_sets),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_too_many_types),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
