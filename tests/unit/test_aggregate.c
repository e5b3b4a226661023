/* SPDX-License-Identifier: Apache-2.0
 *
 * Aggregation: what each granularity keeps of a frame, and that stacks which
 * become equal add up.
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
#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* Two calls of one inlined function, from two lines of one caller. */
static struct pprof_profile *two_calls(void)
{
	struct pprof_profile *profile = NULL;
	struct pprof_limits limits;
	struct diags diags;
	struct builder b;
	struct line lines[2] = { { 0 }, { 0 } };
	map_id map;
	uint32_t i;

	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	builder_type(&b, builder_cstr(&b, "space"), builder_cstr(&b, "bytes"));
	map = mapped(&b, "/bin/x", 0x1000, MAP_MAIN);
	lines[0].func = named(&b, "inl", "i.h");
	lines[1].func = named(&b, "out", "o.c");
	for (i = 0; i < 3; i++) {
		int64_t value = 1 << i;
		loc_id loc;

		/* The last has no names. */
		lines[1].line = 10 + i;
		loc = builder_location(&b, 0x1100 + i, map, false, lines,
				       i < 2 ? 2 : 0);
		builder_sample(&b, builder_stack(&b, &loc, 1), 0, &value,
			       PPROF_UNIT_NONE, 0);
	}
	assert_int_equal(builder_finish(&b, "test", &profile, NULL),
			 PPROF_OK);
	builder_fini(&b);
	return profile;
}

static const struct {
	const char *name;
	enum pprof_granularity by;
	bool no_inlines;
	const char *expected;
} rows[] = {
	{ "address keeps all", PPROF_BY_ADDRESS, false,
	  "space/bytes | @1102 4, out>inl@1100 1, out>inl@1101 2" },
	{ "address without inlines", PPROF_BY_ADDRESS, true,
	  "space/bytes | @1102 4, out@1100 1, out@1101 2" },
	{ "line", PPROF_BY_LINE, false,
	  "space/bytes | @1102 4, out>inl 1, out>inl 2" },
	{ "function", PPROF_BY_FUNCTION, false,
	  "space/bytes | @1102 4, out>inl 3" },
	{ "function and file", PPROF_BY_FILEFUNCTION, true,
	  "space/bytes | @1102 4, out 3" },
	{ "file", PPROF_BY_FILE, false, "space/bytes | > 3, @1102 4" },
	{ "module", PPROF_BY_MODULE, false, "space/bytes |  7" }
};

static void test_rows(void **state)
{
	struct pprof_profile *profile;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	for (i = 0; i < NR_OF(rows); i++) {
		profile = two_calls();
		assert_int_equal(pprof_profile_aggregate(profile, rows[i].by,
							 rows[i].no_inlines,
							 NULL), PPROF_OK);
		if (strcmp(small_sorted_words(&out, profile),
			   rows[i].expected) != 0)
			fail_msg("%s:\n got %s\nwant %s", rows[i].name,
				 buf_cstr(&out), rows[i].expected);
		assert_int_equal(pprof_profile_total(profile, 0), 7);
		pprof_profile_free(profile);
	}
	buf_fini(&out);
}

/* What is kept is kept as it was: files, and lines where they count. */
static void test_fields(void **state)
{
	static const struct {
		enum pprof_granularity by;
		const char *name, *file;
		bool has_line;
	} fields[] = {
		{ PPROF_BY_FUNCTION, "out", "", false },
		{ PPROF_BY_FILEFUNCTION, "out", "o.c", false },
		{ PPROF_BY_FILE, "", "o.c", false },
		{ PPROF_BY_LINE, "out", "o.c", true }
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < NR_OF(fields); i++) {
		struct pprof_profile *p = two_calls();
		size_t met = 0;

		assert_int_equal(pprof_profile_aggregate(p, fields[i].by,
							 true, NULL),
				 PPROF_OK);
		for (j = 0; j < p->stacks.nr_locs; j++) {
			const struct location *loc =
				&p->locations[p->stacks.locs[j]];
			const struct line *line = &p->lines[loc->lines];
			const struct function *func;

			if (!loc->nr_lines)
				continue;
			func = &p->functions[line->func];
			assert_string_equal(profile_str(p, func->name),
					    fields[i].name);
			assert_string_equal(profile_str(p, func->file),
					    fields[i].file);
			assert_int_equal(line->line != 0,
					 fields[i].has_line);
			met++;
		}
		assert_true(met > 0);
		pprof_profile_free(p);
	}
}

static void test_mistakes(void **state)
{
	struct pprof_profile *profile = two_calls();
	enum pprof_status status = PPROF_NOMEM;
	uint64_t n;

	(void)state;
	assert_int_equal(pprof_profile_aggregate(profile,
						 (enum pprof_granularity)99,
						 false, NULL), PPROF_USAGE);
	pprof_profile_free(profile);
	for (n = 1; status == PPROF_NOMEM; n++) {
		profile = two_calls();
		mem_fail_nth(n, true);
		status = pprof_profile_aggregate(profile, PPROF_BY_FUNCTION,
						 false, NULL);
		mem_fail_nth(0, false);
		assert_int_equal(pprof_profile_total(profile, 0), 7);
		pprof_profile_free(profile);
	}
	assert_int_equal(status, PPROF_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_mistakes)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
