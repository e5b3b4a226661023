/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences: the profile, the table with its errors, and series with their
 * trends.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "profile/sampling.h"
#include "view/trend.h"

#include "small_profile.h"
#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define HEAP "inuse_objects/count inuse_space/bytes"

static void keep_message(void *ctx, const struct pprof_diag *diag)
{
	buf_printf(ctx, "%s\n", diag->message);
}

static const struct {
	const char *name;
	struct small base, profile;
	struct pprof_diff_opts opts;
	const char *expected;
} rows[] = {
	{ "both halves",
	  { .values = { 3 } }, { .values = { 5 } },
	  PPROF_DIFF_OPTS_INIT,
	  "inuse_space/bytes | @400200;@400100 pprof::base=true -3, "
	  "@400200;@400100 5" },
	{ "cancelled",
	  { .values = { 3 } }, { .values = { 5 }, .start = 0x500000 },
	  { .size = sizeof(struct pprof_diff_opts),
	    .mode = PPROF_DIFF_CANCELLED },
	  "inuse_space/bytes | @400200;@400100 2" },
	{ "cancelled to nothing",
	  { .values = { 3 } }, { .values = { 3 } },
	  { .size = sizeof(struct pprof_diff_opts),
	    .mode = PPROF_DIFF_CANCELLED },
	  "inuse_space/bytes" },
	{ "normalized: the new profile takes the base's total",
	  { .types = HEAP, .values = { 3, 100 } },
	  { .types = HEAP, .values = { 6, 50 } },
	  { .size = sizeof(struct pprof_diff_opts), .normalize = true },
	  HEAP " | @400200;@400100 pprof::base=true -3 -100, "
	  "@400200;@400100 3 100" },
	/* A ratio of exactly 1 keeps what else would be nothing. */
	{ "normalized with a ratio of 1",
	  { .types = HEAP, .values = { 0, 50 } },
	  { .types = HEAP, .values = { 0, 50 } },
	  { .size = sizeof(struct pprof_diff_opts), .normalize = true },
	  HEAP " | @400200;@400100 pprof::base=true 0 -50, "
	  "@400200;@400100 0 50" },
	{ "other units",
	  { .types = "space/kilobytes", .values = { 1 } },
	  { .values = { 1000 } },
	  { .size = sizeof(struct pprof_diff_opts),
	    .mode = PPROF_DIFF_CANCELLED },
	  "inuse_space/bytes | @400200;@400100 -24" },
	{ "another build is matched by names",
	  { .values = { 3 }, .build_id = "ab", .symbols = "" },
	  { .values = { 5 }, .build_id = "cd", .symbols = "",
	    .start = 0x500000, .column = 4 },
	  { .size = sizeof(struct pprof_diff_opts),
	    .mode = PPROF_DIFF_CANCELLED },
	  "inuse_space/bytes | root;leaf 2" }
};

static void test_rows(void **state)
{
	static const char *const names[2] = { "base", "new" };
	struct pprof_profile *base, *profile, *diff;
	struct pprof_diff_opts opts;
	struct pprof_error err;
	struct buf out, messages;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	buf_init(&messages, 1 << 16);
	for (i = 0; i < NR_OF(rows); i++) {
		base = small_profile(&rows[i].base);
		profile = small_profile(&rows[i].profile);
		opts = rows[i].opts;
		opts.diag = keep_message;
		opts.diag_ctx = &messages;
		if (pprof_profile_diff(base, profile, names, &opts, &diff,
				       &err))
			fail_msg("%s: %s", rows[i].name, err.message);
		if (strcmp(small_words(&out, diff), rows[i].expected) != 0)
			fail_msg("%s:\n got %s\nwant %s", rows[i].name,
				 buf_cstr(&out), rows[i].expected);
		pprof_profile_free(base);
		pprof_profile_free(profile);
		pprof_profile_free(diff);
	}
	assert_string_equal(buf_cstr(&messages),
			    "/opt/app is another build in each: its frames "
			    "are matched by function and file\n");
	buf_fini(&out);
	buf_fini(&messages);
}

/* ------------------------------------------------------------------ tables */

static const char *compare(struct buf *out, const char *const *folded_texts,
			   size_t nr,
			   const struct pprof_comparison_opts *opts)
{
	struct pprof_comparison *comparison = NULL;
	struct pprof_sink *sink = NULL;
	struct pprof_profile *profile;
	char name[24];
	const void *data;
	size_t len, i;

	assert_int_equal(pprof_comparison_new(opts, &comparison, NULL),
			 PPROF_OK);
	for (i = 0; i < nr; i++) {
		profile = folded_profile(folded_texts[i]);
		profile->time_ns = 0;
		snprintf(name, sizeof(name), "p%zu", i);
		assert_int_equal(pprof_comparison_add(comparison, profile,
						      name, (int64_t)i,
						      NULL), PPROF_OK);
		pprof_profile_free(profile);
	}
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_comparison_write(comparison, sink, NULL),
			 PPROF_OK);
	data = pprof_sink_memory(sink, &len);
	buf_reset(out);
	buf_add(out, data, len);
	pprof_sink_close(sink);
	pprof_comparison_free(comparison);
	return buf_cstr(out);
}

/* The last line of text. */
static const char *rows_of(const char *text)
{
	const char *head = strstr(text, "  function\n");

	assert_non_null(head);
	return head + strlen("  function\n");
}

#define COMPARE(...) { .size = sizeof(struct pprof_comparison_opts), \
		       .unit = PPROF_UNIT_AUTO, __VA_ARGS__ }

static const struct {
	const char *name;
	const char *texts[2];
	struct pprof_comparison_opts opts;
	const char *expected;
} tables[] = {
	{ "new, gone, grown and the same",
	  { "m;a 10\nm;b 20\nm;c 30\n", "m;a 15\nm;c 30\nm;d 7\n" },
	  COMPARE(.limit = 0),
	  "        20          0        -20     gone  b\n"
	  "         0          7         +7      new  d\n"
	  "        10         15         +5     +50%  a\n" },
	{ "growth only, by name",
	  { "a 1\nb 1\nc 9\n", "b 2\na 3\nc 1\n" },
	  COMPARE(.only = PPROF_CHANGES_GROWTH, .sort = PPROF_SORT_NAME),
	  "         1          3         +2    +200%  a\n"
	  "         1          2         +1    +100%  b\n" },
	{ "shrink only", { "a 1\nc 9\n", "a 3\nc 1\n" },
	  COMPARE(.only = PPROF_CHANGES_SHRINK),
	  "         9          1         -8   -88.9%  c\n" },
	{ "with callees", { "m;a 1\n", "m;a 2\n" },
	  COMPARE(.by_cum = true, .limit = 1),
	  "         1          2         +1    +100%  a\n" },
	{ "normalized", { "a 10\nb 10\n", "a 30\nb 10\n" },
	  COMPARE(.normalize = true),
	  "        10         15         +5     +50%  a\n"
	  "        10          5         -5     -50%  b\n" }
};

static void test_tables(void **state)
{
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	for (i = 0; i < NR_OF(tables); i++) {
		const char *got = rows_of(compare(&out, tables[i].texts, 2,
						  &tables[i].opts));

		if (strcmp(got, tables[i].expected) != 0)
			fail_msg("%s:\n%s", tables[i].name, got);
	}
	buf_fini(&out);
}

/* A steady leak comes before churn, whatever the last difference is. */
static void test_series(void **state)
{
	static const char *const texts[] = {
		"leak 10\nchurn 50\nflat 5\n", "leak 12\nchurn 10\nflat 5\n",
		"leak 14\nchurn 90\nflat 5\n", "leak 16\nchurn 20\nflat 5\n",
		"leak 18\nchurn 70\nflat 5\n", "leak 20\nchurn 99\nflat 5\n"
	};
	struct pprof_comparison_opts opts = COMPARE(.limit = 0);
	struct buf out;
	const char *text;

	(void)state;
	buf_init(&out, 1 << 16);
	text = compare(&out, texts, 6, &opts);
	assert_non_null(strstr(text, "1 did not change"));
	assert_string_equal(rows_of(text),
			    "        10         20        +10    +100%"
			    "         +2   0.003  leak\n"
			    "        50         99        +49     +98%"
			    "        +10   0.272  churn\n");
	opts.json = true;
	text = compare(&out, texts, 6, &opts);
	assert_non_null(strstr(text, "\"values\":[10,12,14,16,18,20]"));
	assert_non_null(strstr(text, "\"slope\":2.00000000e+00"));
	assert_non_null(strstr(text, "\"slope_per\":\"profile\""));
	opts.json = false;
	opts.sparkline = true;
	text = compare(&out, texts, 6, &opts);
	assert_non_null(strstr(text, "\xe2\x96\x81\xe2\x96\x82"));
	buf_fini(&out);
}

static const struct {
	const char *name;
	double y[6];
	size_t nr;
	double slope, p;
} trends[] = {
	/* All 24 orders of four values: 1 rises all the way, 1 falls. */
	{ "rising", { 1, 2, 3, 4 }, 4, 1, 2.0 / 24 },
	{ "falling", { 4, 3, 2, 1 }, 4, -1, 2.0 / 24 },
	{ "two values", { 1, 2 }, 2, 1, 1 },
	{ "an outlier does not move the slope", { 1, 2, 3, 100, 5 }, 5, 1,
	  2.0 * 5 / 120 },
	{ "level", { 5, 5, 5, 5 }, 4, 0, 1 }
};

static void test_trends(void **state)
{
	static const double x[] = { 0, 1, 2, 3, 4, 5 };
	struct trend_scratch scratch = { 0 };
	struct trend trend;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(trends); i++) {
		assert_true(trend_fit(&scratch, x, trends[i].y, trends[i].nr,
				      &trend));
		if (fabs(trend.slope - trends[i].slope) > 1e-9 ||
		    fabs(trend.p - trends[i].p) > 1e-9)
			fail_msg("%s: slope %g, p %g", trends[i].name,
				 trend.slope, trend.p);
	}
	trend_scratch_fini(&scratch);
}

/* A long series: every pair half the series apart. */
static void test_long_trend(void **state)
{
	struct trend_scratch scratch = { 0 };
	double x[1000], y[1000];
	struct trend trend;
	size_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		x[i] = (double)i;
		y[i] = 3 * x[i] + (double)(i * 7919 % 101);
	}
	assert_true(trend_fit(&scratch, x, y, 1000, &trend));
	assert_true(fabs(trend.slope - 3) < 0.05);
	assert_true(trend.p < 1e-9);
	trend_scratch_fini(&scratch);
}

/* ------------------------------------------------------------------- errors */

/* e^0.001 - 1 and e^(1/1024) - 1; clang takes no call for a constant. */
#define EXPM1_OF_THOUSANDTH 0.0010005001667083418
#define EXPM1_OF_1024TH 0.0009770394924165351

static const struct {
	const char *name;
	struct small profile;
	size_t type;
	enum sampling_kind kind;
	double variance;
} errors[] = {
	/* n samples of small blocks stand for n * R bytes: variance n R^2. */
	{ "small blocks", { .types = HEAP, .values = { 4000, 4000 },
			    .period = 1000 }, 1, SAMPLING_HEAP_BYTES,
	  4000.0 / EXPM1_OF_THOUSANDTH },
	{ "their count", { .types = HEAP, .values = { 4000, 4000 },
			   .period = 1000 }, 0, SAMPLING_HEAP_COUNT,
	  4000.0 / EXPM1_OF_THOUSANDTH },
	{ "large blocks are always seen",
	  { .types = HEAP, .values = { 2, 2000000 }, .period = 1000 }, 1,
	  SAMPLING_HEAP_BYTES, 0 },
	{ "kilobytes", { .types = "objects/count space/kilobytes",
			 .values = { 1024, 1 }, .period = 1024 }, 1,
	  SAMPLING_HEAP_BYTES, 1 / EXPM1_OF_1024TH / 1024 },
	{ "all was counted", { .types = HEAP, .values = { 4, 4000 },
			       .period = 1 }, 1, SAMPLING_EXACT, 0 },
	{ "no period", { .types = HEAP, .values = { 4, 4000 } }, 1,
	  SAMPLING_EXACT, 0 },
	{ "not scaled up", { .types = HEAP, .values = { 4, 4000 },
			     .period = 1000, .comment = "raw counts: x" }, 1,
	  SAMPLING_EXACT, 0 }
};

static void test_errors(void **state)
{
	struct pprof_profile *profile;
	struct sampling sampling;
	double variance;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(errors); i++) {
		profile = small_profile(&errors[i].profile);
		sampling = sampling_of(profile, errors[i].type);
		variance = sampling_variance(&sampling, profile, 0);
		if (sampling.kind != errors[i].kind ||
		    fabs(variance - errors[i].variance) >
			    1e-9 * (1 + errors[i].variance))
			fail_msg("%s: kind %d, variance %g, expected %g",
				 errors[i].name, (int)sampling.kind, variance,
				 errors[i].variance);
		pprof_profile_free(profile);
	}
}

/* Nine new samples are z = 3. */
static void test_z(void **state)
{
	static const struct small base = { .types = HEAP, .is_empty = true,
					   .period = 1000000 };
	static const struct small after = { .types = HEAP,
					    .values = { 9000000, 9000000 },
					    .period = 1000000,
					    .symbols = "" };
	struct pprof_comparison_opts opts = COMPARE(.limit = 0);
	struct pprof_profile *profiles[2];
	struct pprof_comparison *comparison = NULL;
	struct pprof_sink *sink = NULL;
	const char *text;
	size_t len, i;

	(void)state;
	assert_int_equal(pprof_comparison_new(&opts, &comparison, NULL),
			 PPROF_OK);
	profiles[0] = small_profile(&base);
	profiles[1] = small_profile(&after);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pprof_comparison_add(comparison, profiles[i],
						      "x", -1, NULL),
				 PPROF_OK);
		pprof_profile_free(profiles[i]);
	}
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_comparison_write(comparison, sink, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_sink_write(sink, "", 1, NULL), PPROF_OK);
	text = pprof_sink_memory(sink, &len);
	assert_string_equal(rows_of(text),
			    "         0     8.58MB    +8.58MB      new"
			    "      +3   0.003  leaf\n");
	pprof_sink_close(sink);
	pprof_comparison_free(comparison);
}

static void test_refused(void **state)
{
	static const struct small bytes = { .values = { 1 } };
	static const struct small seconds = { .types = "inuse_space/seconds",
					      .values = { 1 } };
	struct pprof_comparison_opts opts = COMPARE(.limit = 0);
	struct pprof_profile *a = small_profile(&bytes);
	struct pprof_profile *b = small_profile(&seconds);
	struct pprof_comparison *comparison = NULL;
	struct pprof_sink *sink = NULL;

	(void)state;
	assert_int_equal(pprof_comparison_new(&opts, &comparison, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_comparison_add(comparison, a, "a", -1, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_comparison_add(comparison, b, "b", -1, NULL),
			 PPROF_MISMATCH);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_comparison_write(comparison, sink, NULL),
			 PPROF_USAGE);
	pprof_sink_close(sink);
	pprof_comparison_free(comparison);
	opts.sort = (enum pprof_change_sort)9;
	assert_int_equal(pprof_comparison_new(&opts, &comparison, NULL),
			 PPROF_USAGE);
	pprof_profile_free(a);
	pprof_profile_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_trends),
		cmocka_unit_test(test_long_trend),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_z),
		cmocka_unit_test(test_refused)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
