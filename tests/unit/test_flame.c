/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graphs: that boxes tile, labels fit, colours are legible, text is
 * inert, and that the picture says what it leaves out.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/mem.h"
#include "output/flame_color.h"
#include "view/text.h"

#include "flame_picture.h"

static uint64_t nr_told;

static void count_diag(void *ctx, const struct pprof_diag *diag)
{
	(void)ctx;
	(void)diag;
	nr_told++;
}

#define MAX_BOXES 4096

/* Half a px of a graph of 1180 px. */
#define SLACK 424

struct placed {
	long x0, x1;
};

/*
 * Walk the rows: boxes go from left to right without overlap, and each lies
 * within one of the row before, which `slack` units of gap may follow.
 * Returns how many there are.
 */
static size_t check_rows(const char *svg, long slack)
{
	static struct placed boxes[2][MAX_BOXES];
	size_t nr[2] = { 0, 0 }, all = 0, i;
	const char *row = svg, *end, *box;
	unsigned depth;

	for (depth = 0; (row = strstr(row, "data-d=\"")) != NULL; depth++) {
		struct placed *up = boxes[!(depth & 1)];
		struct placed *now = boxes[depth & 1];

		assert_int_equal(strtol(row + 8, NULL, 10), depth);
		nr[depth & 1] = 0;
		end = strstr(row, "</g>");
		box = row;
		while ((box = strstr(box + 1, "<rect")) && box < end) {
			struct placed *b = &now[nr[depth & 1]++];

			assert_true(nr[depth & 1] < MAX_BOXES);
			b->x0 = attribute(box, " x=\"");
			b->x1 = b->x0 + attribute(box, " width=\"");
			assert_true(b->x1 > b->x0 && b->x1 <= 1000000);
			assert_true(b == now || b[-1].x1 <= b->x0);
			for (i = 0; depth && i < nr[!(depth & 1)]; i++)
				if (up[i].x0 <= b->x0 &&
				    b->x1 <= up[i].x1 + slack)
					break;
			assert_true(!depth || i < nr[!(depth & 1)]);
			all++;
		}
		row = end;
	}
	assert_true(depth > 0);
	return all;
}

/* Labels stay in the graph and take no more than the row to the next one. */
static void check_labels(const char *svg, unsigned width, unsigned font)
{
	const char *label = strstr(svg, "<g class=\"labels\""), *text, *end;
	double edge = -1, row = -1, x, y;

	assert_non_null(label);
	while ((label = strstr(label + 1, "<text")) != NULL) {
		if (strstr(label, "</svg>\n</svg>") == NULL ||
		    label > strstr(svg, "</svg>"))
			break;
		x = strtod(strstr(label, " x=\"") + 4, NULL);
		y = strtod(strstr(label, " y=\"") + 4, NULL);
		text = strchr(label, '>') + 1;
		end = strstr(text, "</text>");
		if (y != row)
			edge = -1;
		assert_true(x > edge);
		row = y;
		/* Escapes make this a bit more than it is. */
		edge = x + 0.602 * font * (double)text_cells(
						text, (size_t)(end - text));
		if (!memchr(text, '&', (size_t)(end - text)))
			assert_true(edge <= width - 20);
	}
}

static void test_geometry(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct buf text;
	uint32_t seed = 99;
	char *svg, *again;
	unsigned i, j;

	(void)state;
	buf_init(&text, 1 << 24);
	for (i = 0; i < 4000; i++) {
		for (j = 0; j < 3 + (seed >> 29); j++) {
			seed = seed * 1664525 + 1013904223;
			buf_printf(&text, "%sns::fn_%u(int)", j ? ";" : "",
				   (seed >> 24) * (seed >> 24) / 16000);
		}
		buf_printf(&text, " %u\n", seed >> 22);
	}
	for (i = 0; i < 8; i++) {
		opts.icicle = i & 1;
		opts.reverse = i & 2;
		opts.width = i & 4 ? 400 : 0;
		opts.font_size = i & 4 ? 9 : 0;
		svg = draw_folded(buf_cstr(&text), &opts);
		assert_true(check_rows(svg, i & 4 ? 1316 : SLACK) > 100);
		check_labels(svg, i & 4 ? 400 : 1200, i & 4 ? 9 : 12);
		assert_says(svg, i & 1 ? "data-layout=\"icicle\""
				       : "data-layout=\"flame\"");
		again = draw_folded(buf_cstr(&text), &opts);
		assert_string_equal(svg, again);
		mem_free(again);
		mem_free(svg);
	}
	buf_fini(&text);
}

static void test_heap(void **state)
{
	struct pprof_profile *p = heap_profile();
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *svg;

	(void)state;
	opts.no_script = true;
	svg = draw(p, &opts);
	assert_int_equal(check_rows(svg, SLACK), 11);
	assert_says(svg, "-t\">server: inuse_space</title>");
	assert_says(svg, "data-total=\"3100\" data-unit=\"bytes\"");
	assert_says(svg, "<title>all\n3.03 KiB (3,100 bytes), 100%</title>");
	assert_says(svg, "<title>[no stack]\n1.56 KiB (1,600 bytes), "
			 "51.61%, all self</title>");
	assert_says(svg, "<title>ns::grow(int)\n100 bytes (3.23%), inlined"
			 "</title>");
	assert_says(svg, "<title>ns::grow(int)\n200 bytes (6.45%)</title>");
	assert_says(svg, ">all  3.03 KiB</text>");
	assert_says(svg, ">[no stack]  51.6%</text>");
	assert_says(svg, "<text class=\"u\" x=");
	assert_says(svg, "<path class=\"il\" d=\"M903226 15.5h32258\"");
	assert_says(svg, "<desc ");
	assert_says(svg, "Largest by self: [no stack] 51.61%, "
			 "[server]+0x1500 25.81%");
	assert_null(strstr(svg, "sliver"));
	assert_null(strstr(svg, "<script"));
	mem_free(svg);
	pprof_profile_free(p);
}

static void test_modules(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct pprof_profile *p = heap_profile();
	char *svg;

	(void)state;
	opts.colors = PPROF_COLORS_MODULE;
	svg = draw(p, &opts);
	assert_says(svg, "<g class=\"legend foot\">");
	assert_says(svg, ">server</text>");
	assert_says(svg, ">libx.so</text>");
	mem_free(svg);
	opts.granularity = PPROF_BY_MODULE;
	svg = draw(p, &opts);
	assert_int_equal(check_rows(svg, SLACK), 4);
	mem_free(svg);
	pprof_profile_free(p);
}

/* What is said when something is not drawn as it is. */
static const struct {
	const char *folded, *note;
	size_t nr_boxes;
	double min_width;
	size_t max_frames;
	unsigned max_depth;
	int nr_told;
} notes[] = {
	{ "a;b 1\n", NULL, 3, 0.3, 0, 0, 0 },
	{ "a 1\nb 1\nc 1\nd 9997\n",
	  ">1 of 4 frames drawn; those under 0.3 px are joined into grey "
	  "slivers</text>", 3, 0.3, 0, 0, 0 },
	{ "a;x 1\nb;y 1\nc 1\nd 9997\n", "<title>3 smaller frames, 5 frames "
	  "with their callees\n3 samples (0.03%), pruned</title>",
	  3, 0.3, 0, 0, 0 },
	{ "a 1\nb 1\nc 1\nd 9997\n", NULL, 5, 0, 0, 0, 0 },
	{ "a 1\nb 4999999\nc 5000000\n", "2 of 3 frames drawn", 3, 0, 0, 0,
	  0 },
	{ "a 3\nb 1\nc 2\n", "2 of 3 frames drawn; those under 196.667 px "
	  "(limit on frames)", 4, 0.3, 2, 0, 1 },
	{ "a;b;c;d 1\na;x 1\n", ">frames below row 2 are joined; the deepest "
	  "stack has 4 frames</text>", 5, 0.3, 0, 2, 1 },
	{ "a;b;c;d 1\n", ">\xe2\x80\xa6 +2 deeper frames  100%</text>", 4,
	  0.3, 0, 2, 1 },
	{ "a;b 100\na;c -40\n", ">1 negative stack drawn by size and "
	  "hatched; the net total is 60 samples</text>", 4, 0.3, 0, 0, 1 },
	{ "a;b 100\na;c -40\n",
	  "<title>c\n-40 samples (28.57%), all self</title>", 4, 0.3, 0, 0, 1 },
	{ "a;b 9223372036854775807\na;c 9223372036854775807\n",
	  "18,446,744,073,709,551,614 samples (100%)", 4, 0.3, 0, 0, 1 },
	{ "a;b 9223372036854775807\na;c 9223372036854775807\n",
	  "<title>a\nat least 9,223,372,036,854,775,807 samples", 4, 0.3, 0,
	  0, 1 }
};

static void test_notes(void **state)
{
	size_t i;
	char *svg;

	(void)state;
	for (i = 0; i < NR_OF(notes); i++) {
		struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;

		opts.min_width = notes[i].min_width;
		opts.max_frames = notes[i].max_frames;
		opts.max_depth = notes[i].max_depth;
		opts.diag = count_diag;
		nr_told = 0;
		svg = draw_folded(notes[i].folded, &opts);
		if (notes[i].note)
			assert_says(svg, notes[i].note);
		else
			assert_null(strstr(svg, "frames drawn</text>"));
		assert_int_equal(check_rows(svg, SLACK), notes[i].nr_boxes);
		assert_int_equal(nr_told, notes[i].nr_told);
		mem_free(svg);
	}
}

static void test_nothing(void **state)
{
	struct pprof_profile *p;
	struct pprof_limits limits;
	struct builder b;
	struct diags diags;
	char *svg = draw_folded("a;b 0\n", NULL);

	(void)state;
	assert_says(svg, ">No samples: ");
	assert_null(strstr(svg, "class=\"vp\""));
	mem_free(svg);
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	assert_int_equal(builder_finish(&b, "test", &p, NULL), PPROF_OK);
	builder_fini(&b);
	svg = draw(p, NULL);
	assert_says(svg, ">No samples: the profile is empty</text>");
	assert_says(svg, "role=\"img\"");
	mem_free(svg);
	pprof_profile_free(p);
}

/* Markup, controls and direction marks are text, wherever they come from. */
static void test_inert(void **state)
{
	static const char evil[] = "</title><script>alert(1)</script>&\"'"
				   "]]>\x1b\xe2\x80\xae\xff";
	const char *const lines[] = { evil, "second" };
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct buf text;
	char *svg;
	size_t i;

	(void)state;
	buf_init(&text, 1 << 20);
	buf_printf(&text, "main;%s 1\n", evil);
	opts.no_script = true;
	opts.title = evil;
	opts.subtitle = evil;
	opts.name_type = evil;
	opts.count_name = evil;
	opts.notes = lines;
	opts.nr_notes = 2;
	svg = draw_folded(buf_cstr(&text), &opts);
	assert_null(strstr(svg, "<script"));
	assert_null(strstr(svg, "]]>"));
	for (i = 0; svg[i]; i++)
		assert_true((unsigned char)svg[i] >= 0x20 || svg[i] == '\n');
	assert_null(strstr(svg, "\xe2\x80\xae"));
	assert_null(strchr(svg, '\xff'));
	assert_says(svg, "class=\"st\"");
	assert_says(svg, "]]&gt;\\x1b\\u202e\\xff</text>");
	assert_says(svg, ">second</text>");
	mem_free(svg);
	buf_fini(&text);
}

/* Long names are cut in tooltips, many notes in the footer. */
static void test_long(void **state)
{
	static char name[20000], line[3000];
	const char *const lines[] = { "one", line, "three", "four", "five" };
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *svg;

	(void)state;
	memset(name, 'x', sizeof(name) - 3);
	memcpy(name + sizeof(name) - 3, " 1", 3);
	memset(line, 'y', sizeof(line) - 1);
	opts.no_script = true;
	opts.notes = lines;
	opts.nr_notes = NR_OF(lines);
	svg = draw_folded(name, &opts);
	assert_true(strlen(svg) < 16000);
	assert_says(svg, "x\xe2\x80\xa6\n1 sample (100%), all self</title>");
	assert_says(svg, ">one</text>");
	assert_says(svg, " more in metadata</text>");
	assert_null(strstr(svg, ">five</text>"));
	assert_says(svg, "\"five\"]}</metadata>");
	mem_free(svg);
}

static void test_themes(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *svg;

	(void)state;
	svg = draw_folded("a 1\n", &opts);
	assert_says(svg, "prefers-color-scheme:dark");
	assert_says(svg, "forced-colors:active");
	assert_says(svg, "width=\"100%\"");
	mem_free(svg);
	opts.theme = PPROF_THEME_LIGHT;
	opts.width = 640;
	svg = draw_folded("a 1\n", &opts);
	assert_null(strstr(svg, "#16181d"));
	assert_says(svg, "width=\"640\"");
	assert_says(svg, "viewBox=\"0 0 640 ");
	mem_free(svg);
	opts.theme = PPROF_THEME_DARK;
	opts.title = "";
	svg = draw_folded("a 1\n", &opts);
	assert_says(svg, ".bg{fill:#16181d}");
	assert_says(svg, "@media print{");
	assert_null(strstr(svg, "class=\"tt\""));
	mem_free(svg);
}

/* Relative luminance (WCAG 2.1). */
static double luminance(uint32_t color)
{
	static const double share[] = { 0.0722, 0.7152, 0.2126 };
	double sum = 0, part;
	int i;

	for (i = 0; i < 3; i++, color >>= 8) {
		part = (color & 0xff) / 255.0;
		part = part <= 0.03928 ? part / 12.92
				       : pow((part + 0.055) / 1.055, 2.4);
		sum += share[i] * part;
	}
	return sum;
}

static double contrast(uint32_t a, uint32_t b)
{
	double la = luminance(a), lb = luminance(b);

	return la > lb ? (la + 0.05) / (lb + 0.05)
		       : (lb + 0.05) / (la + 0.05);
}

static void test_contrast(void **state)
{
	struct pprof_profile *p = folded_profile("a 1\n");
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct tree_opts tree_opts = { .max_depth = 10 };
	struct flame_palette palette;
	struct frames frames;
	struct tree tree;
	unsigned colors, i;

	(void)state;
	assert_int_equal(frames_init(&frames, p, &frames_opts, NULL),
			 PPROF_OK);
	assert_int_equal(tree_init(&tree, &frames, p, &tree_opts, NULL),
			 PPROF_OK);
	for (colors = PPROF_COLORS_HOT; colors <= PPROF_COLORS_ORANGE + 1;
	     colors++) {
		assert_int_equal(colors > PPROF_COLORS_ORANGE
				 ? flame_palette_diff(&palette,
						      PPROF_COLORS_HOT, NULL)
				 : flame_palette_init(&palette, colors,
						      PPROF_COLORS_HOT,
						      &frames, &tree, NULL),
				 PPROF_OK);
		for (i = 0; i < FLAME_NR_CLASSES; i++) {
			assert_true(contrast(palette.light[i], FLAME_INK) >=
				    4.5);
			assert_true(contrast(palette.dark[i], FLAME_INK) >=
				    4.5);
		}
		flame_palette_fini(&palette);
	}
	tree_fini(&tree);
	frames_fini(&frames);
	pprof_profile_free(p);
}

static void test_auto_colors(void **state)
{
	(void)state;
	assert_int_equal(flame_auto_colors("inuse_space", "bytes"),
			 PPROF_COLORS_MEM);
	assert_int_equal(flame_auto_colors("alloc_objects", "count"),
			 PPROF_COLORS_MEM);
	assert_int_equal(flame_auto_colors("cpu", "nanoseconds"),
			 PPROF_COLORS_HOT);
	assert_int_equal(flame_auto_colors("delay", "nanoseconds"),
			 PPROF_COLORS_IO);
}

static void test_usage(void **state)
{
	struct pprof_profile *p = folded_profile("a 1\n");
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct pprof_sink *sink;
	struct pprof_error err;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	opts.width = 50;
	assert_int_equal(pprof_flame_write(p, &opts, sink, &err), PPROF_USAGE);
	opts.width = 0;
	opts.font_size = 1000;
	assert_int_equal(pprof_flame_write(p, &opts, sink, &err), PPROF_USAGE);
	opts.font_size = 0;
	opts.colors = 99;
	assert_int_equal(pprof_flame_write(p, &opts, sink, &err), PPROF_USAGE);
	opts.colors = PPROF_COLORS_AUTO;
	opts.sample_type = 1;
	assert_int_equal(pprof_flame_write(p, &opts, sink, &err), PPROF_USAGE);
	opts.sample_type = 0;
	opts.min_width = (double)NAN;
	assert_int_equal(pprof_flame_write(p, &opts, sink, &err), PPROF_OK);
	opts.min_width = (double)INFINITY;
	assert_int_equal(pprof_flame_write(p, &opts, sink, &err), PPROF_USAGE);
	pprof_sink_close(sink);
	pprof_profile_free(p);
}

static void test_out_of_memory(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct pprof_profile *p = heap_profile();
	enum pprof_status status = PPROF_NOMEM;
	struct pprof_sink *sink;
	uint64_t n;

	(void)state;
	opts.colors = PPROF_COLORS_MODULE;
	opts.max_frames = 5;
	for (n = 1; status == PPROF_NOMEM; n++) {
		assert_int_equal(pprof_sink_open_memory(&sink, NULL),
				 PPROF_OK);
		mem_fail_nth(n, true);
		status = pprof_flame_write(p, &opts, sink, NULL);
		mem_fail_nth(0, false);
		pprof_sink_close(sink);
		assert_true(n < 1000);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 20);
	pprof_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_geometry),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_inert),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_themes),
		cmocka_unit_test(test_contrast),
		cmocka_unit_test(test_auto_colors),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_out_of_memory)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
