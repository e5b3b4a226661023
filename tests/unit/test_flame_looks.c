/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graphs by option: script, palettes, order, parts, terminals, fonts.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flame_picture.h"

/* One script, the same in every picture, and none where it is not wanted. */
static void test_script(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *a = draw_folded("a;b 1\n", &opts);
	char *b = draw_folded("x;</script>;]]> 7\n", &opts);
	const char *script_a = strstr(a, "<script>");
	const char *script_b = strstr(b, "<script>");
	char *policy;
	size_t len;

	(void)state;
	assert_non_null(script_a);
	assert_non_null(script_b);
	assert_string_equal(script_a, script_b);
	assert_null(strstr(script_a + 1, "<script"));
	len = (size_t)(strstr(script_a, "]]>") - script_a);
	assert_string_equal(script_a + len, "]]></script>\n</svg>\n");
	assert_true(len < 11 << 10);
	assert_says(a, "class=\"hint\"");
	mem_free(b);
	opts.no_script = true;
	b = draw_folded("a;b 1\n", &opts);
	assert_null(strstr(b, "<script"));
	assert_null(strstr(b, "hint\""));
	mem_free(b);
	opts.no_script = false;
	opts.csp = true;
	policy = draw_folded("a;b 1\n", &opts);
	assert_says(policy, "Content-Security-Policy: script-src 'sha256-");
	assert_says(policy, "; style-src 'sha256-");
	b = draw_folded("x;y 7\n", &opts);
	assert_memory_equal(policy, b, (size_t)(strstr(policy, "; ") - policy));
	mem_free(policy);
	mem_free(b);
	mem_free(a);
}

/* What colours go by, and what is said about them. */
static const struct {
	enum pprof_colors colors;
	const char *folded, *says[3];
} schemes[] = {
	{ PPROF_COLORS_PACKAGE,
	  "github.com/acme/app/http.(*Server).Serve;runtime.mallocgc;"
	  "std::vec::Vec<T>::push;java.util.List.add;f.cold 9\n",
	  { ">github.com/acme/app/http</text>", ">std::vec</text>",
	    ">java.util</text>" } },
	{ PPROF_COLORS_PACKAGE, "<&core::cell::T as a::b>::fmt;"
	  "int ns::f<x>(y);main.main 1\n",
	  { ">ns</text>", ">main</text>", ">core::cell</text>" } },
	{ PPROF_COLORS_KIND, "main;std::sort;do_read_[k];jitted_[j] 5\n",
	  { ">kernel</text>", ">runtime</text>", ">jit</text>" } },
	{ PPROF_COLORS_CVD, "a::b;c::d 5\n",
	  { ">a</text>", ">c</text>", "<rect class=\"h" } },
	{ PPROF_COLORS_SELF, "a;b 50\na 50\nc 100\n",
	  { "<rect class=\"h7\" x=\"0\"", "<rect class=\"h15\" x=\"500000\"",
	    "<rect class=\"h15\" x=\"0\"" } },
	{ PPROF_COLORS_DEPTH, "a;b;c 1\n",
	  { "<rect class=\"h1\" x=\"0\"", "<rect class=\"h0\" x=\"0\"", "h1" } }
};

static void test_schemes(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	size_t i, j;
	char *svg;

	(void)state;
	for (i = 0; i < NR_OF(schemes); i++) {
		opts.colors = schemes[i].colors;
		svg = draw_folded(schemes[i].folded, &opts);
		for (j = 0; j < 3; j++)
			assert_says(svg, schemes[i].says[j]);
		mem_free(svg);
	}
}

static void test_files(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct pprof_profile *p = heap_profile();
	char *svg;

	(void)state;
	opts.colors = PPROF_COLORS_FILE;
	svg = draw(p, &opts);
	assert_says(svg, ">.</text>");
	mem_free(svg);
	pprof_profile_free(p);
}

/* The widest sibling comes first; folded ones are one at the end. */
static void test_by_value(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *svg;

	(void)state;
	opts.by_value = true;
	svg = draw_folded("a 2\nb 500\nc;x 30\nc;y 9000\nd 2\n", &opts);
	assert_true(strstr(svg, "<title>c") < strstr(svg, "<title>b"));
	assert_true(strstr(svg, "<title>y") < strstr(svg, "<title>x"));
	assert_says(svg, "<title>2 smaller frames\n");
	assert_true(strstr(svg, "<title>b") <
		    strstr(svg, "<title>2 smaller"));
	mem_free(svg);
}

static void test_parts(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	struct pprof_profile *p = folded_profile("a;b 1\n");
	const struct pprof_flame_part parts[] = { { NULL, p, &opts },
						  { NULL, p, NULL } };
	struct pprof_sink *sink;
	const void *data;
	char *svg;
	size_t nr;

	(void)state;
	opts.width = 640;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_flame_parts_write(parts, 2, sink, NULL),
			 PPROF_OK);
	data = pprof_sink_memory(sink, &nr);
	svg = mem_strndup(data, nr);
	assert_says(svg, "width=\"640\" height=\"282\"");
	assert_says(svg, " class=\"fg\" y=\"141\" width=\"640\"");
	assert_null(strstr(svg + 10, "<?xml"));
	mem_free(svg);
	opts.columns = 80;
	assert_int_equal(pprof_flame_parts_write(parts, 2, sink, NULL),
			 PPROF_USAGE);
	pprof_sink_close(sink);
	pprof_profile_free(p);
}

static void test_terminal(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *text;

	(void)state;
	opts.columns = 40;
	opts.title = "T\x1b";
	text = draw_folded("main;a 30\nmain;b::c(int) 10\n", &opts);
	assert_string_equal(text, "T\\x1b\n"
				  "|all  40 samples\n"
				  "|main  100%\n"
				  "|a  75%                       |b::c(int)\n");
	mem_free(text);
	opts.ansi = true;
	text = draw_folded("main 1\n", &opts);
	assert_says(text, "\033[38;5;16;48;5;");
	assert_says(text, "main");
	mem_free(text);
	opts.ansi = false;
	text = draw_folded("a 0\n", &opts);
	assert_says(text, "No samples: ");
	mem_free(text);
}

/* flamegraph.pl's words for looks. */
static void test_looks(void **state)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;
	char *svg;

	(void)state;
	opts.font = "Verdana";
	opts.background = "#fffbe6";
	opts.row_height = 20;
	opts.count_name = "bytes (live)";
	opts.name_type = "Frame: ";
	svg = draw_folded("main;parse;lex 40\n", &opts);
	assert_says(svg, "{font-family:\"Verdana\",Verdana,\"DejaVu Sans\"");
	assert_says(svg, " .bg{fill:#fffbe6}");
	assert_says(svg, "height=\"19\"");
	assert_says(svg, "<title>parse\n40 bytes (live), 100%</title>");
	assert_says(svg, "data-name=\"Frame: \">");
	mem_free(svg);
}

/* Options that are refused: font, background. */
static const struct {
	const char *font, *background;
} bad_looks[] = {
	{ "", NULL }, { "a\"b", NULL }, { "x;}", NULL }, { NULL, "red" },
	{ NULL, "#12345" }, { NULL, "#1234567" }, { NULL, "#102030" },
	{ NULL, "url(x)" }
};

static void test_bad_looks(void **state)
{
	struct pprof_profile *p = folded_profile("a 1\n");
	struct pprof_sink *sink;
	size_t i;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	for (i = 0; i < NR_OF(bad_looks); i++) {
		struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;

		opts.font = bad_looks[i].font;
		opts.background = bad_looks[i].background;
		assert_int_equal(pprof_flame_write(p, &opts, sink, NULL),
				 PPROF_USAGE);
	}
	pprof_sink_close(sink);
	pprof_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_schemes),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_by_value),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_bad_looks)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
