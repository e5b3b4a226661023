/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of merging and subtracting: neither order nor grouping shows in
 * the bytes, in memory or through files; nothing is lost; a profile less
 * itself is nothing; what a filter keeps and what it leaves out add up.
 *
 * The inputs are made of one small world: programs under address space
 * randomization with and without build IDs, symbols here and there, types
 * under other names, in other orders and units.
 */
#include <config.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "gen.h"
#include "profile/builder.h"

#define NR_WORLDS 250
#define NR_ORDERS 4
#define INPUTS_MAX 6
#define NR_IMAGES 4
#define NR_PLACES 12

static uint64_t seed;

/* Images: two with build IDs, one without, memory without a file. */
static const struct {
	const char *file, *build_id;
	uint64_t base, offset;
} images[NR_IMAGES] = {
	{ "/opt/app/server", "aabbccdd", 0x555500000000, 0x1000 },
	{ "/usr/lib/libx.so", "11223344", 0x7f0000000000, 0x2000 },
	{ "/usr/lib/liby.so", "", 0x7e0000000000, 0x1000 },
	{ "", "", 0x7d0000000000, 0 }
};

/* `name` with a number behind it. */
static str_id text(struct builder *b, const char *name, uint64_t number)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%s%llu", name,
		 (unsigned long long)number);
	return builder_cstr(b, buf);
}

static func_id function(struct builder *b, uint32_t image, uint32_t place,
			uint32_t flavour)
{
	struct function func = { 0 };

	func.name = text(b, "f", image * 100 + place + flavour * 1000);
	func.system_name = text(b, "_Zf", image * 100 + place);
	if (flavour != 2)
		func.file = text(b, "/src/%llu.c", place % 5);
	return builder_function(b, &func);
}

/*
 * The lines of a place: none, poor, full, or in images with a build ID those
 * of another symbolizer.
 */
static uint32_t fill_lines(struct builder *b, struct gen_random *random,
			   uint32_t image, uint32_t place, struct line *lines)
{
	uint32_t flavour = 0, nr = 1 + (place % 3 == 0), i;

	if (gen_below(random, 3) == 0)
		return 0;
	if (*images[image].build_id && image)
		flavour = gen_below(random, 3);
	if (flavour == 2)
		nr = 1;
	for (i = 0; i < nr; i++) {
		lines[i].func = function(b, image, place + i * 50, flavour);
		lines[i].line = flavour == 2 ? 0 : 10 + place;
		lines[i].column = 0;
	}
	return nr;
}

/* A mapping of the image where this process has it. */
static map_id map_image(struct builder *b, struct gen_random *random,
			uint32_t image)
{
	struct mapping map = { 0 };

	map.start = images[image].base;
	if (image != 3)
		map.start += (uint64_t)gen_below(random, 16) << 20;
	map.limit = map.start + 0x10000;
	map.offset = images[image].offset;
	map.file = builder_cstr(b, images[image].file);
	/* The program's build ID is not always told. */
	if (image || gen_below(random, 3))
		map.build_id = builder_cstr(b, images[image].build_id);
	map.flags = image ? 0 : MAP_MAIN;
	return builder_mapping(b, &map);
}

static void add_types(struct builder *b, struct gen_random *random,
		      int64_t *ret_objects, int64_t *ret_space,
		      int64_t *ret_unit)
{
	static const char *const names[2][2] = {
		{ "inuse_objects", "inuse_space" }, { "objects", "space" }
	};
	uint32_t old = gen_below(random, 2), swapped = gen_below(random, 2);
	bool kilobytes = gen_below(random, 4) == 0, more = gen_below(random, 2);
	uint32_t i;

	*ret_unit = kilobytes ? 1024 : 1;
	if (more)
		builder_type(b, builder_cstr(b, "alloc_space"),
			     builder_cstr(b, "bytes"));
	for (i = 0; i < 2; i++) {
		uint32_t which = i ^ swapped;

		*(which ? ret_space : ret_objects) = i + more;
		builder_type(b, builder_cstr(b, names[old][which]),
			     builder_cstr(b, !which ? "count" :
					  kilobytes ? "kilobytes" : "bytes"));
	}
	if (gen_below(random, 2))
		b->profile->default_type = builder_cstr(b, names[old][1]);
}

static lset_id random_lset(struct builder *b, struct gen_random *random)
{
	struct label labels[2] = { { 0 }, { 0 } };
	uint32_t nr = gen_below(random, 3);

	labels[0].key = builder_cstr(b, "thread");
	labels[0].str = text(b, "t", gen_below(random, 3));
	labels[1].key = builder_cstr(b, "bytes");
	labels[1].num = 16 << gen_below(random, 3);
	labels[1].is_num = 1;
	labels[1].unit = builder_cstr(b, "bytes");
	return builder_lset(b, labels, nr);
}

static void add_header(struct builder *b, struct gen_random *random)
{
	struct pprof_profile *p = b->profile;

	p->period_type.type = builder_cstr(b, "space");
	p->period_type.unit = builder_cstr(b, "bytes");
	p->period = 1 << (10 + gen_below(random, 10));
	if (gen_below(random, 2)) {
		p->period_type.unit = builder_cstr(b, "kilobytes");
		p->period >>= 9;
	}
	p->time_ns = gen_below(random, 3) ? 1000 + gen_below(random, 1000) : 0;
	p->duration_ns = gen_below(random, 1000);
	if (gen_below(random, 2))
		p->drop_frames = text(b, "drop", gen_below(random, 3));
	if (gen_below(random, 2))
		builder_comment(b, text(b, "comment ",
					gen_below(random, 4)));
}

/* One input of the world; *ret_bytes adds up what it holds in use. */
static struct pprof_profile *make_input(struct gen_random *random,
					int64_t *ret_bytes)
{
	struct pprof_profile *profile = NULL;
	loc_id locs[NR_IMAGES][NR_PLACES], frames[8];
	int64_t objects = 0, space = 0, unit = 1, values[3];
	struct pprof_limits limits;
	struct pprof_error err;
	struct diags diags;
	struct builder b;
	uint32_t i, j, nr;

	pprof_limits_init(&limits);
	diags_init(&diags, "input");
	assert_true(builder_init(&b, &limits, &diags));
	add_types(&b, random, &objects, &space, &unit);
	add_header(&b, random);
	for (i = 0; i < NR_IMAGES; i++) {
		map_id map = map_image(&b, random, i);

		for (j = 0; j < NR_PLACES; j++) {
			struct line lines[2];

			nr = fill_lines(&b, random, i, j, lines);
			locs[i][j] = builder_location(
				&b, b.profile->mappings[map].start + 16 + j *
				64, map, false, lines, nr);
		}
	}
	nr = gen_below(random, 30);
	for (i = 0; i < nr; i++) {
		uint32_t depth = gen_below(random, 8);

		for (j = 0; j < depth; j++)
			frames[j] = locs[gen_below(random, NR_IMAGES)]
					[gen_below(random, NR_PLACES)];
		values[0] = 1 + gen_below(random, 100);
		values[objects] = 1 + gen_below(random, 100);
		values[space] = 1 + gen_below(random, 100);
		*ret_bytes += values[space] * unit;
		builder_sample(&b, builder_stack_root_first(&b, frames, depth),
			       random_lset(&b, random), values,
			       PPROF_UNIT_NONE, 0);
	}
	assert_int_equal(builder_finish(&b, "input", &profile, &err),
			 PPROF_OK);
	builder_fini(&b);
	return profile;
}

static struct pprof_profile *
merge(const struct pprof_profile *const *profiles, size_t nr)
{
	static const char *const names[INPUTS_MAX] = { "a", "b", "c", "d",
						       "e", "f" };
	struct pprof_profile *merged = NULL;
	struct pprof_error err;

	if (pprof_profile_merge(profiles, names, nr, NULL, &merged, &err))
		fail_msg("merge: %s", err.message);
	return merged;
}

/* Through a file and back. */
static struct pprof_profile *reread(struct pprof_profile *profile)
{
	struct pprof_profile *again = NULL;
	struct pprof_error err;
	struct buf bytes;

	buf_init(&bytes, 1 << 24);
	gen_write(profile, "pprof", -1, &bytes);
	pprof_profile_free(profile);
	if (pprof_profile_read_memory(bytes.data, bytes.len, "merged", NULL,
				      &again, &err))
		fail_msg("a merge cannot be read: %s", err.message);
	buf_fini(&bytes);
	return again;
}

/* Merge in the order given, in random groups, each maybe through a file. */
static struct pprof_profile *merge_groups(struct gen_random *random,
					  struct pprof_profile *const *inputs,
					  const uint32_t *order, uint32_t nr,
					  bool files)
{
	struct pprof_profile *groups[INPUTS_MAX], *result;
	const struct pprof_profile *members[INPUTS_MAX];
	uint32_t nr_groups = 0, at = 0, size, i;

	while (at < nr) {
		size = 1 + gen_below(random, nr - at);
		for (i = 0; i < size; i++)
			members[i] = inputs[order[at + i]];
		groups[nr_groups] = merge(members, size);
		if (files)
			groups[nr_groups] = reread(groups[nr_groups]);
		nr_groups++;
		at += size;
	}
	for (i = 0; i < nr_groups; i++)
		members[i] = groups[i];
	result = merge(members, nr_groups);
	for (i = 0; i < nr_groups; i++)
		pprof_profile_free(groups[i]);
	return result;
}

static void expect_same(const struct buf *a, const struct pprof_profile *p,
			const char *what, uint64_t world)
{
	struct buf b;

	buf_init(&b, 1 << 24);
	gen_write(p, "pprof", -1, &b);
	if (a->len != b.len || memcmp(a->data, b.data, b.len) != 0)
		fail_msg("%s of world %" PRIu64 " differs: %zu and %zu bytes",
			 what, world, a->len, b.len);
	buf_fini(&b);
}

static void check_world(uint64_t world)
{
	struct gen_random random = { seed + world };
	uint32_t nr = 2 + gen_below(&random, INPUTS_MAX - 1), i;
	uint32_t order[INPUTS_MAX];
	struct pprof_profile *inputs[INPUTS_MAX], *merged;
	const struct pprof_profile *members[INPUTS_MAX];
	int64_t bytes = 0;
	struct buf first;
	size_t type;

	buf_init(&first, 1 << 24);
	for (i = 0; i < nr; i++) {
		inputs[i] = make_input(&random, &bytes);
		members[i] = inputs[i];
	}
	merged = merge(members, nr);
	gen_write(merged, "pprof", -1, &first);
	assert_int_equal(pprof_profile_find_sample_type(merged, "space", &type,
							NULL), PPROF_OK);
	if (strcmp(profile_str(merged, merged->types[type].unit),
		   "kilobytes") == 0)
		assert_int_equal(pprof_profile_total(merged, type) * 1024,
				 bytes);
	else
		assert_int_equal(pprof_profile_total(merged, type), bytes);
	merged = reread(merged);
	expect_same(&first, merged, "merge, read and written", world);
	pprof_profile_free(merged);
	for (i = 0; i < NR_ORDERS; i++) {
		gen_shuffle(&random, order, nr);
		merged = merge_groups(&random, inputs, order, nr, i % 2);
		expect_same(&first, merged, i % 2 ? "merge of files"
						  : "merge of merges", world);
		pprof_profile_free(merged);
	}
	for (i = 0; i < nr; i++)
		pprof_profile_free(inputs[i]);
	buf_fini(&first);
}

static void test_order_and_grouping(void **state)
{
	uint64_t world;

	(void)state;
	for (world = 0; world < NR_WORLDS; world++)
		check_world(world);
}

/* A profile less itself has no sample; labelled halves add up to 0. */
static void test_diff_with_itself(void **state)
{
	static const char *const names[2] = { "base", "new" };
	struct pprof_diff_opts opts = PPROF_DIFF_OPTS_INIT;
	struct pprof_profile *profile, *diff;
	struct gen_random random;
	int64_t bytes = 0;
	uint64_t world;
	size_t type;

	(void)state;
	for (world = 0; world < NR_WORLDS; world++) {
		random.state = seed + world;
		profile = make_input(&random, &bytes);
		opts.mode = PPROF_DIFF_CANCELLED;
		assert_int_equal(pprof_profile_diff(profile, profile, names,
						    &opts, &diff, NULL),
				 PPROF_OK);
		assert_int_equal(pprof_profile_nr_samples(diff), 0);
		pprof_profile_free(diff);
		opts.mode = PPROF_DIFF_LABELLED;
		assert_int_equal(pprof_profile_diff(profile, profile, names,
						    &opts, &diff, NULL),
				 PPROF_OK);
		for (type = 0; type < diff->nr_types; type++)
			assert_int_equal(pprof_profile_total(diff, type), 0);
		assert_true(pprof_profile_nr_samples(diff) >=
			    2 * (pprof_profile_nr_samples(profile) != 0));
		pprof_profile_free(diff);
		pprof_profile_free(profile);
	}
}

static int64_t filtered_total(uint64_t world, size_t type,
			      const struct pprof_filter_opts *opts)
{
	struct gen_random random = { seed + world };
	struct pprof_profile *profile;
	int64_t bytes = 0, total;

	profile = make_input(&random, &bytes);
	assert_int_equal(pprof_profile_filter(profile, opts, NULL, NULL),
			 PPROF_OK);
	total = pprof_profile_total(profile, type);
	pprof_profile_free(profile);
	return total;
}

static void test_filters_partition(void **state)
{
	struct pprof_filter_opts none = PPROF_FILTER_OPTS_INIT, opts;
	int64_t whole, kept;
	uint64_t world;

	(void)state;
	for (world = 0; world < NR_WORLDS; world++) {
		whole = filtered_total(world, 1, &none);
		opts = none;
		opts.focus = "f1|libx";
		kept = filtered_total(world, 1, &opts);

		opts = none;
		opts.ignore = "f1|libx";
		assert_int_equal(kept + filtered_total(world, 1, &opts),
				 whole);
		opts = none;
		opts.tagfocus = "thread=t1";
		kept = filtered_total(world, 1, &opts);
		opts = none;
		opts.tagignore = "thread=t1";
		assert_int_equal(kept + filtered_total(world, 1, &opts),
				 whole);
		opts = none;
		opts.hide = "f.|lib";
		opts.collapse_recursion = true;
		assert_int_equal(filtered_total(world, 1, &opts), whole);
		opts = none;
		opts.show = "f2";
		opts.prune_from = "f20.";
		assert_int_equal(filtered_total(world, 1, &opts), whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_grouping),
		cmocka_unit_test(test_diff_with_itself),
		cmocka_unit_test(test_filters_partition)
	};

	seed = gen_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
