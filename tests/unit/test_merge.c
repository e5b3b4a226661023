/* SPDX-License-Identifier: Apache-2.0
 *
 * Merging: what is one stack in two profiles, what becomes of types, units
 * and headers, and what is refused.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

#include "small_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define HEAP "inuse_objects/count inuse_space/bytes"
#define HEAP_4 "alloc_objects/count alloc_space/bytes " HEAP

static enum pprof_status merge(const struct small *inputs, size_t nr,
			       const struct pprof_merge_opts *opts,
			       struct pprof_profile **ret_profile,
			       struct pprof_error *err)
{
	static const char *const names[] = { "one", "two", "three" };
	struct pprof_profile *profiles[3];
	const struct pprof_profile *members[3] = { NULL };
	enum pprof_status status;
	size_t i;

	for (i = 0; i < nr; i++) {
		profiles[i] = small_profile(&inputs[i]);
		members[i] = profiles[i];
	}
	status = pprof_profile_merge(members, names, nr, opts, ret_profile,
				     err);
	for (i = 0; i < nr; i++)
		pprof_profile_free(profiles[i]);
	return status;
}

static const struct {
	const char *name;
	struct small inputs[3];
	size_t nr;
	const char *expected;
} rows[] = {
	{ "equal stacks add up",
	  { { .values = { 3 } }, { .values = { 4 } } }, 2,
	  "inuse_space/bytes | @400200;@400100 7" },
	{ "address space randomization, by path",
	  { { .values = { 3 }, .start = 0x7f0000 },
	    { .values = { 4 }, .start = 0x7e0000 } }, 2,
	  "inuse_space/bytes | @7e0200;@7e0100 7" },
	{ "address space randomization, by build ID, under two paths",
	  { { .values = { 3 }, .start = 0x7f0000, .build_id = "ab" },
	    { .values = { 4 }, .start = 0x7e0000, .build_id = "ab",
	      .file = "/other" } }, 2,
	  "inuse_space/bytes | @7e0200;@7e0100 7" },
	{ "two builds under one path stay apart",
	  { { .values = { 3 }, .build_id = "ab" },
	    { .values = { 4 }, .build_id = "cd" } }, 2,
	  "inuse_space/bytes | @400200;@400100 3, @400200;@400100 4" },
	{ "no build ID joins the one build of its path",
	  { { .values = { 3 } }, { .values = { 4 }, .build_id = "ab",
				   .start = 0x7e0000 } }, 2,
	  "inuse_space/bytes | @400200;@400100 7" },
	{ "no build ID stays apart from two builds",
	  { { .values = { 1 } }, { .values = { 2 }, .build_id = "ab" },
	    { .values = { 3 }, .build_id = "cd" } }, 3,
	  "inuse_space/bytes | @400200;@400100 1, @400200;@400100 2, "
	  "@400200;@400100 3" },
	{ "ranges of one file at two offsets are two",
	  { { .values = { 3 }, .build_id = "ab", .offset = 0x1000 },
	    { .values = { 4 }, .build_id = "ab", .offset = 0x9000,
	      .start = 0x500000 } }, 2,
	  "inuse_space/bytes | @400200;@400100 3, @500200;@500100 4" },
	{ "symbols come from the side that has them, build ID",
	  { { .values = { 3 }, .build_id = "ab" },
	    { .values = { 4 }, .build_id = "ab", .symbols = "" } }, 2,
	  "inuse_space/bytes | root@400200;leaf@400100 7" },
	{ "symbols come from the side that has them, path",
	  { { .values = { 3 }, .start = 0x7f0000, .symbols = "" },
	    { .values = { 4 } } }, 2,
	  "inuse_space/bytes | root@400200;leaf@400100 7" },
	{ "of two symbolizers the smaller name, build ID",
	  { { .values = { 3 }, .build_id = "ab", .symbols = "z" },
	    { .values = { 4 }, .build_id = "ab", .symbols = "a" } }, 2,
	  "inuse_space/bytes | aroot@400200;aleaf@400100 7" },
	{ "without build ID other names are other code",
	  { { .values = { 3 }, .symbols = "z" },
	    { .values = { 4 }, .symbols = "a" } }, 2,
	  "inuse_space/bytes | zroot@400200;zleaf@400100 3, "
	  "aroot@400200;aleaf@400100 4" },
	{ "without mapping by lines, columns too",
	  { { .values = { 3 }, .unmapped = true, .symbols = "",
	      .column = 5 },
	    { .values = { 4 }, .unmapped = true, .symbols = "",
	      .column = 9 },
	    { .values = { 5 }, .unmapped = true, .symbols = "",
	      .column = 5 } }, 3,
	  "inuse_space/bytes | root;leaf 8, root;leaf 4" },
	{ "labels keep samples apart",
	  { { .values = { 3 }, .label = "t1" },
	    { .values = { 4 }, .label = "t2" },
	    { .values = { 5 }, .label = "t1" } }, 3,
	  "inuse_space/bytes | @400200;@400100 thread=t1 8, "
	  "@400200;@400100 thread=t2 4" },
	{ "objects and space are inuse_objects and inuse_space",
	  { { .types = "objects/count space/bytes", .values = { 1, 10 } },
	    { .types = HEAP_4, .values = { 5, 50, 2, 20 } } }, 2,
	  HEAP " | @400200;@400100 3 30" },
	{ "types in another order",
	  { { .types = HEAP_4, .values = { 1, 2, 3, 4 } },
	    { .types = "inuse_space/bytes alloc_objects/count",
	      .values = { 40, 10 } } }, 2,
	  "alloc_objects/count inuse_space/bytes | @400200;@400100 11 44" },
	{ "units of one family: the finer",
	  { { .types = "inuse_space/kilobytes", .values = { 2 } },
	    { .values = { 1 } } }, 2,
	  "inuse_space/bytes | @400200;@400100 2049" },
	{ "the finer unit first",
	  { { .values = { 1 } },
	    { .types = "inuse_space/MB", .values = { 2 } } }, 2,
	  "inuse_space/bytes | @400200;@400100 2097153" },
	{ "counts before what is measured",
	  { { .types = "cpu/nanoseconds samples/count",
	      .values = { 100, 1 } } }, 1,
	  "samples/count cpu/nanoseconds | @400200;@400100 1 100" },
	{ "nothing but types first", /* google/pprof, issue 242 */
	  { { .is_empty = true, .unmapped = true }, { .values = { 4 } } }, 2,
	  "inuse_space/bytes | @400200;@400100 4" },
	{ "nothing but types last",
	  { { .values = { 4 } }, { .is_empty = true, .unmapped = true } }, 2,
	  "inuse_space/bytes | @400200;@400100 4" },
	{ "samples of nothing go",
	  { { .values = { 0 } }, { .values = { 0 }, .label = "t" } }, 2,
	  "inuse_space/bytes" },
	{ "samples that cancel go",
	  { { .values = { 5 } }, { .values = { -5 } } }, 2,
	  "inuse_space/bytes" },
	{ "samples of a type that is dropped go",
	  { { .types = "alloc_space/bytes inuse_space/bytes",
	      .values = { 5, 0 } }, { .values = { 3 }, .label = "t" } }, 2,
	  "inuse_space/bytes | @400200;@400100 thread=t 3" },
	{ "sums stay at the limit",
	  { { .values = { INT64_MAX } }, { .values = { 1 } } }, 2,
	  "inuse_space/bytes | @400200;@400100 9223372036854775807" }
};

static void test_rows(void **state)
{
	struct pprof_profile *merged;
	struct pprof_error err;
	struct buf words;
	size_t i;

	(void)state;
	buf_init(&words, 1 << 16);
	for (i = 0; i < NR_OF(rows); i++) {
		if (merge(rows[i].inputs, rows[i].nr, NULL, &merged, &err))
			fail_msg("%s: %s", rows[i].name, err.message);
		if (strcmp(small_words(&words, merged), rows[i].expected) != 0)
			fail_msg("%s:\n got %s\nwant %s", rows[i].name,
				 buf_cstr(&words), rows[i].expected);
		pprof_profile_free(merged);
	}
	buf_fini(&words);
}

static const struct {
	const char *name;
	struct small inputs[2];
	struct pprof_merge_opts opts;
	const char *expected;
} modes[] = {
	{ "average, rounded half away from 0",
	  { { .values = { 3 } }, { .values = { 4 } } },
	  { .size = sizeof(struct pprof_merge_opts),
	    .mode = PPROF_MERGE_AVG },
	  "inuse_space/bytes | @400200;@400100 4" },
	{ "average with a stack that one lacks",
	  { { .values = { -3 } }, { .values = { 4 }, .label = "t" } },
	  { .size = sizeof(struct pprof_merge_opts),
	    .mode = PPROF_MERGE_AVG },
	  "inuse_space/bytes | @400200;@400100 -2, "
	  "@400200;@400100 thread=t 2" },
	{ "largest",
	  { { .values = { 3 } }, { .values = { 4 } } },
	  { .size = sizeof(struct pprof_merge_opts),
	    .mode = PPROF_MERGE_MAX },
	  "inuse_space/bytes | @400200;@400100 4" },
	{ "a label an input",
	  { { .values = { 3 } }, { .values = { 4 }, .label = "t" } },
	  { .size = sizeof(struct pprof_merge_opts), .label_key = "host" },
	  "inuse_space/bytes | @400200;@400100 host=one 3, "
	  "@400200;@400100 host=two thread=t 4" },
	{ "base names",
	  { { .values = { 3 }, .file = "/a/lib.so" },
	    { .values = { 4 }, .file = "/b/lib.so" } },
	  { .size = sizeof(struct pprof_merge_opts),
	    .match_base_names = true },
	  "inuse_space/bytes | @400200;@400100 7" },
	{ "base names, one of them with a build ID",
	  { { .values = { 3 }, .file = "/a/lib.so", .build_id = "ab" },
	    { .values = { 4 }, .file = "/b/lib.so" } },
	  { .size = sizeof(struct pprof_merge_opts),
	    .match_base_names = true },
	  "inuse_space/bytes | @400200;@400100 7" },
	{ "unrelated programs when asked for",
	  { { .values = { 3 } }, { .values = { 4 }, .file = "/b" } },
	  { .size = sizeof(struct pprof_merge_opts),
	    .allow_unrelated = true },
	  "inuse_space/bytes | @400200;@400100 3, @400200;@400100 4" }
};

static void test_modes(void **state)
{
	struct pprof_profile *merged;
	struct pprof_error err;
	struct buf words;
	size_t i;

	(void)state;
	buf_init(&words, 1 << 16);
	for (i = 0; i < NR_OF(modes); i++) {
		if (merge(modes[i].inputs, 2, &modes[i].opts, &merged, &err))
			fail_msg("%s: %s", modes[i].name, err.message);
		if (strcmp(small_words(&words, merged), modes[i].expected) !=
		    0)
			fail_msg("%s:\n got %s\nwant %s", modes[i].name,
				 buf_cstr(&words), modes[i].expected);
		pprof_profile_free(merged);
	}
	buf_fini(&words);
}

static const struct {
	const char *name;
	struct small inputs[3];
	size_t nr;
	const char *source, *message;
} refused[] = {
	{ "no type in common",
	  { { .values = { 1 } },
	    { .types = "cpu/nanoseconds", .values = { 1 } } }, 2,
	  "two", "no sample type in common: it has cpu/nanoseconds; the "
	  "others, as one, inuse_space/bytes" },
	{ "one name, two kinds of unit",
	  { { .values = { 1 } },
	    { .types = "inuse_space/seconds", .values = { 1 } } }, 2,
	  "two", "no sample type in common: it has inuse_space/seconds; the "
	  "others, as one, inuse_space/bytes" },
	{ "two programs",
	  { { .values = { 1 } }, { .values = { 1 }, .file = "/b" } }, 2,
	  "one", "it has no mapped file in common with two: profiles of "
	  "different programs" }
};

static void test_refused(void **state)
{
	struct pprof_profile *merged = NULL;
	struct pprof_error err;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(refused); i++) {
		assert_int_equal(merge(refused[i].inputs, refused[i].nr, NULL,
				       &merged, &err), PPROF_MISMATCH);
		assert_null(merged);
		assert_string_equal(err.source, refused[i].source);
		assert_string_equal(err.message, refused[i].message);
	}
}

/* Headers, both ways round. */
static void test_header(void **state)
{
	static const struct small inputs[2][2] = {
		{ { .values = { 1 }, .time_ns = 0, .period = 512,
		    .comment = "b", .drop_frames = "x",
		    .default_type = "inuse_space" },
		  { .values = { 1 }, .time_ns = 7, .period = 1,
		    .period_unit = "kilobytes", .comment = "a",
		    .drop_frames = "longer" } },
		{ { .values = { 1 }, .time_ns = 7, .period = 1,
		    .period_unit = "kilobytes", .comment = "a",
		    .drop_frames = "longer" },
		  { .values = { 1 }, .time_ns = 9, .period = 512,
		    .comment = "b", .drop_frames = "x" } }
	};
	struct pprof_profile *p;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_int_equal(merge(inputs[i], 2, NULL, &p, NULL),
				 PPROF_OK);
		assert_int_equal(p->time_ns, 7);
		assert_int_equal(p->period, 1024);
		assert_string_equal(profile_str(p, p->period_type.unit),
				    "bytes");
		assert_int_equal(p->nr_comments, 2);
		assert_string_equal(pprof_profile_comment(p, 0), "a");
		assert_string_equal(pprof_profile_comment(p, 1), "b");
		assert_string_equal(profile_str(p, p->drop_frames), "longer");
		assert_int_equal(p->default_type, 0);
		pprof_profile_free(p);
	}
}

/* The default that all agree on stays, even where it is not the last. */
static void test_default_type(void **state)
{
	static const struct small agree[2] = {
		{ .types = HEAP, .values = { 1, 1 },
		  .default_type = "inuse_objects" },
		{ .types = "space/bytes objects/count", .values = { 1, 1 } }
	};
	static const struct small differ[2] = {
		{ .types = HEAP, .values = { 1, 1 },
		  .default_type = "inuse_objects" },
		{ .types = HEAP, .values = { 1, 1 } }
	};
	struct pprof_profile *p;

	(void)state;
	assert_int_equal(merge(agree, 2, NULL, &p, NULL), PPROF_OK);
	assert_string_equal(profile_str(p, p->default_type), "inuse_objects");
	pprof_profile_free(p);
	assert_int_equal(merge(differ, 2, NULL, &p, NULL), PPROF_OK);
	assert_int_equal(pprof_profile_default_sample_type(p), 1);
	pprof_profile_free(p);
}

static uint32_t flags_of(const struct small *inputs, size_t nr)
{
	struct pprof_profile *p;
	uint32_t flags;

	assert_int_equal(merge(inputs, nr, NULL, &p, NULL), PPROF_OK);
	flags = p->mappings[1].flags;
	pprof_profile_free(p);
	return flags;
}

/* A mapping says that it has names only when all its addresses do. */
static void test_flags(void **state)
{
	static const struct small named[1] = {
		{ .values = { 1 }, .build_id = "ab", .symbols = "" }
	};
	static const struct small part[2] = {
		{ .values = { 1 }, .build_id = "ab", .symbols = "" },
		{ .values = { 1 }, .build_id = "ab", .offset = 0 }
	};
	uint32_t all = MAP_HAS_FUNCTIONS | MAP_HAS_FILENAMES |
		       MAP_HAS_LINE_NUMBERS;

	(void)state;
	assert_int_equal(flags_of(named, 1), all | MAP_MAIN);
	assert_int_equal(flags_of(part, 2), all | MAP_MAIN);
	assert_int_equal(flags_of(part + 1, 1), MAP_MAIN);
}

/* A mismatch leaves the merge usable; finishing twice is a mistake. */
static void test_going_on(void **state)
{
	static const struct small good = { .values = { 1 } };
	static const struct small bad = { .types = "cpu/nanoseconds",
					  .values = { 1 } };
	struct pprof_profile *a = small_profile(&good), *merged = NULL;
	struct pprof_profile *b = small_profile(&bad);
	struct pprof_merger *merger;

	(void)state;
	assert_int_equal(pprof_merger_new(NULL, &merger, NULL), PPROF_OK);
	assert_int_equal(pprof_merger_add(merger, a, "a", NULL), PPROF_OK);
	assert_int_equal(pprof_merger_add(merger, b, "b", NULL),
			 PPROF_MISMATCH);
	assert_int_equal(pprof_merger_add(merger, a, "a", NULL), PPROF_OK);
	assert_int_equal(pprof_merger_finish(merger, &merged, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_profile_total(merged, 0), 2);
	pprof_profile_free(merged);
	assert_int_equal(pprof_merger_finish(merger, &merged, NULL),
			 PPROF_USAGE);
	pprof_merger_free(merger);
	pprof_profile_free(a);
	pprof_profile_free(b);
}

static enum pprof_status merge_all(struct pprof_profile *const *profiles,
				   size_t nr)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct pprof_profile *merged = NULL;
	const struct pprof_profile *members[4] = { NULL };
	struct pprof_merge_opts opts = PPROF_MERGE_OPTS_INIT;
	enum pprof_status status;
	size_t i;

	for (i = 0; i < nr; i++)
		members[i] = profiles[i];
	opts.mode = PPROF_MERGE_MAX;
	opts.label_key = "input";
	status = pprof_profile_merge(members, names, nr, &opts, &merged, NULL);
	pprof_profile_free(merged);
	return status;
}

/* Each allocation in turn fails: a status, no crash, no leak. */
static void test_memory(void **state)
{
	static const struct small inputs[4] = {
		{ .types = HEAP_4, .values = { 1, 2, 3, 4 }, .label = "t",
		  .comment = "x" },
		{ .types = HEAP, .values = { 1, 2 }, .build_id = "ab",
		  .symbols = "a" },
		{ .types = HEAP, .values = { 1, 0 }, .symbols = "b",
		  .start = 0x7f0000 },
		{ .types = "space/kb objects/count", .values = { 1, 2 } }
	};
	struct pprof_profile *profiles[4];
	enum pprof_status status = PPROF_NOMEM;
	uint64_t n;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		profiles[i] = small_profile(&inputs[i]);
	for (n = 1; status == PPROF_NOMEM; n++) {
		mem_fail_nth(n, true);
		status = merge_all(profiles, 4);
		mem_fail_nth(0, false);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 30);
	for (i = 0; i < 4; i++)
		pprof_profile_free(profiles[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_default_type),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_going_on),
		cmocka_unit_test(test_memory)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
