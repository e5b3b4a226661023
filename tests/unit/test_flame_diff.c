/* SPDX-License-Identifier: Apache-2.0
 *
 * Differential flame graphs: what widths, tints and words say of a change.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flame_picture.h"

static char *draw_diff(const char *base, const char *now,
		       const struct pprof_flame_opts *opts)
{
	struct pprof_profile *a = folded_profile(base);
	struct pprof_profile *b = folded_profile(now);
	struct pprof_sink *sink;
	const void *data;
	char *text;
	size_t nr;

	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_flame_diff_write(a, b, opts, sink, NULL),
			 PPROF_OK);
	data = pprof_sink_memory(sink, &nr);
	text = mem_strndup(data, nr);
	assert_non_null(text);
	pprof_sink_close(sink);
	pprof_profile_free(a);
	pprof_profile_free(b);
	return text;
}

/* Differences: what the picture says and how wide it is. */
static const struct {
	const char *base, *now, *says[3];
	enum pprof_diff_widths widths;
	enum pprof_normalize normalize;
	bool reverse;
} diffs[] = {
	/* Parents have the change of what is below them. */
	{ "parent;first 100\nparent;second 100\nparent2 3000\n",
	  "parent;first 900\nparent;second 1300\nparent2 3000\n",
	  { "<title>parent\nB 2,200 samples (42.31%)\nA 200 samples (6.25%)\n"
	    "+2,000 samples (+1000% of A; +36.06 points)</title>",
	    "class=\"p8\"", "class=\"e\"" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_NONE, false },
	/* What is gone stands beside, what is new has the word. */
	{ "m;gone 1000\nm;kept 1000\n", "m;kept 1000\nm;new 500\n",
	  { "only in A (gone): 1,000 samples, 50% of A",
	    "<rect class=\"gone\" x=\"0\" width=\"999365\"",
	    "+500 samples (new; +33.33 points)" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_NONE, false },
	{ "m;gone 1000\nm;kept 1000\n", "m;kept 1000\nm;new 500\n",
	  { "A 1,000 samples (50%), all self\nB 0 samples (0%)\n"
	    "-1,000 samples (gone; -50 points)",
	    "<rect class=\"gone\" x=\"0\" width=\"499577\"",
	    "widths show A" },
	  PPROF_WIDTHS_BASE, PPROF_NORMALIZE_NONE, false },
	{ "m;gone 1000\nm;kept 1000\n", "m;kept 1000\nm;new 500\n",
	  { "x=\"400000\" width=\"399577\"", "data-widths",
	    "the larger of A and B" },
	  PPROF_WIDTHS_UNION, PPROF_NORMALIZE_NONE, false },
	{ "m;gone 1000\nm;kept 1000\n", "m;kept 1000\nm;new 500\n",
	  { "x=\"666667\" width=\"332910\"", "growth plus shrinkage",
	    "3 of 4 frames drawn" },
	  PPROF_WIDTHS_DELTA, PPROF_NORMALIZE_NONE, false },
	/* A tenth of the rate is no change, and fractions are kept. */
	{ "w;x 900\nw;y 97\nw;z 3\n", "w;x 90\nw;y 10\n",
	  { "A scaled \xc3\x97" "0.1<", "only in A (gone): 0.3 samples",
	    "<title>x\nB 90 samples (90%), all self\nA 90 samples (90%), "
	    "all self\nno change</title>" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_TOTAL, false },
	/* Reversed: the change is at the function that changed. */
	{ "m;x;leaf 1000\nm;y;leaf 1000\n", "m;x;leaf 3000\nm;y;leaf 200\n",
	  { "<title>leaf\nB 3,200 samples (100%)\nA 2,000 samples (100%)\n"
	    "+1,200 samples", "<title>x\nB 3,000 samples",
	    "<title>y\nB 200 samples (6.25%)\nA 1,000 samples (50%)\n-800" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_NONE, true },
	/* A sample or two are noise; against nothing all is new. */
	{ "a 1\nb 2\n", "a 2\nb 1\n",
	  { "within noise: +1 sample (+100% of A; +33.33 points)",
	    "class=\"e\"", "class=\"e\"" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_NONE, false },
	{ "a 0\n", "a;b 1\n",
	  { "<rect class=\"new\"", "+1 sample (new; +100 points)",
	    "a  \xe2\x96\xb2 " "new</text>" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_AUTO, false },
	{ "a;b 1\n", "a 0\n",
	  { ">No samples in B: every value", "only in A (gone): 1 sample",
	    "<rect class=\"gone\"" },
	  PPROF_WIDTHS_NEW, PPROF_NORMALIZE_AUTO, false }
};

static void test_diff(void **state)
{
	size_t i, j;
	char *svg;

	(void)state;
	for (i = 0; i < NR_OF(diffs); i++) {
		struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;

		opts.widths = diffs[i].widths;
		opts.normalize = diffs[i].normalize;
		opts.reverse = diffs[i].reverse;
		svg = draw_diff(diffs[i].base, diffs[i].now, &opts);
		for (j = 0; j < 3; j++)
			assert_says(svg, diffs[i].says[j]);
		assert_null(strstr(svg, "nan"));
		assert_null(strstr(svg, "inf;"));
		mem_free(svg);
	}
}

/* The widths of B alone are those of B's own picture. */
static void test_diff_widths(void **state)
{
	static const char now[] = "a;b 30\na;c 50\nd 20\ne;f;g 7\n";
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *alone = draw_folded(now, &opts);
	char *diff = draw_diff("a;c 10\nz;y 9\ne;f 3\n", now, &opts);
	const char *box = strstr(alone, "<g class=\"rows\"");
	const char *other = strstr(diff, "<g class=\"rows\"");
	size_t nr = 0;

	(void)state;
	while ((box = strstr(box + 1, "<rect class")) &&
	       box < strstr(alone, "<g class=\"labels\"")) {
		other = strstr(other + 1, "<rect class");
		assert_non_null(other);
		assert_int_equal(attribute(box, " x=\""),
				 attribute(other, " x=\""));
		assert_int_equal(attribute(box, " width=\""),
				 attribute(other, " width=\""));
		nr++;
	}
	assert_int_equal(nr, 8);
	mem_free(alone);
	mem_free(diff);
}

/* One profile that holds both sides: by label, or by sign. */
static void test_split(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *svg;

	(void)state;
	opts.split = true;
	opts.normalize = PPROF_NORMALIZE_NONE;
	svg = draw_folded("a;b 1000\na;c -4000\na;d 3000\na;b -500\n",
			  &opts);
	assert_says(svg, "B against A");
	assert_says(svg, "only in A (gone): 4,000 samples");
	mem_free(svg);
}

static void test_mismatch(void **state)
{
	struct pprof_profile *a = folded_profile("a 1\n");
	struct pprof_profile *b = heap_profile();
	struct pprof_sink *sink;
	struct pprof_error err;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_flame_diff_write(a, b, NULL, sink, &err),
			 PPROF_MISMATCH);
	assert_non_null(strstr(err.message, "inuse_space"));
	pprof_sink_close(sink);
	pprof_profile_free(a);
	pprof_profile_free(b);
}

static void test_diff_out_of_memory(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct pprof_profile *a = folded_profile("a;b 10\na;c 7\nd 9\n");
	struct pprof_profile *b = folded_profile("a;b 30\ne;f 7\nd 2\n");
	enum pprof_status status = PPROF_NOMEM;
	struct pprof_sink *sink;
	uint64_t n;

	(void)state;
	opts.by_value = true;
	for (n = 1; status == PPROF_NOMEM; n++) {
		assert_int_equal(pprof_sink_open_memory(&sink, NULL),
				 PPROF_OK);
		mem_fail_nth(n, true);
		status = pprof_flame_diff_write(a, b, &opts, sink, NULL);
		mem_fail_nth(0, false);
		pprof_sink_close(sink);
		assert_true(n < 1000);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 40);
	pprof_profile_free(a);
	pprof_profile_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_widths),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_mismatch),
		cmocka_unit_test(test_diff_out_of_memory)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
