/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTML report: that its packed tree, unpacked here by the rules that
 * page_data.c states, has the frames and values of the input, and that
 * nothing of the input is markup.
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
#include "output/page.h"

#include "flame_picture.h"

/* Of the small inputs here. */
#define MOST_NAMES 64

/* Lines of the data, in the order of page_data(). */
enum data_line { NAMES, MODULES, FILES, FRAMES, NODES, INLINED, COLUMNS };

static char *write_page(const struct pprof_page_input *inputs, size_t nr,
			const struct pprof_page_opts *opts)
{
	struct pprof_sink *sink;
	struct pprof_error err;
	const void *data;
	char *text;
	size_t len;

	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_page_write(inputs, nr, opts, sink, &err),
			 PPROF_OK);
	data = pprof_sink_memory(sink, &len);
	text = mem_strndup(data, len);
	assert_non_null(text);
	pprof_sink_close(sink);
	return text;
}

/* The report of up to two folded texts; free it. */
static char *report(const char *first, const char *second,
		    const struct pprof_flame_opts *looks)
{
	struct pprof_page_opts opts = PPROF_PAGE_OPTS_INIT;
	struct pprof_page_input inputs[2];
	char *text;
	size_t nr = 0;

	opts.flame = looks;
	inputs[nr].profile = folded_profile(first);
	inputs[nr++].name = "first";
	if (second) {
		inputs[nr].profile = folded_profile(second);
		inputs[nr++].name = "second";
	}
	text = write_page(inputs, nr, &opts);
	while (nr--)
		pprof_profile_free((struct pprof_profile *)(uintptr_t)
				   inputs[nr].profile);
	return text;
}

static const char *line_of(const char *page, size_t line)
{
	const char *at = strstr(page, "id=\"data\">\n");

	assert_non_null(at);
	at = strchr(at, '\n') + 1;
	while (line--)
		at = strchr(at, '\n') + 1;
	return at;
}

static uint64_t take_number(const char **at)
{
	uint64_t value = 0;
	unsigned shift = 0;
	int c;

	do {
		c = *(*at)++ - '?';
		assert_in_range(c, 0, 63);
		value |= (uint64_t)(c & 31) << shift;
		shift += 5;
	} while (c & 32);
	return value;
}

/* Names of the first line, as they stand there but for the shared part. */
static size_t take_names(const char *page, char names[MOST_NAMES][64])
{
	const char *at = line_of(page, NAMES);
	size_t nr = 0, len;

	assert_int_equal(*at++, '[');
	while (*at == '"') {
		len = nr ? (size_t)(at[1] - '?') : 0;
		memcpy(names[nr], nr ? names[nr - 1] : "", len);
		for (at += 2; *at != '"'; at++)
			names[nr][len++] = *at;
		names[nr++][len] = '\0';
		at += 1 + (at[1] == ',');
	}
	return nr;
}

static void put_value(struct buf *out, const char **values, bool is_signed)
{
	uint64_t self = take_number(values);

	buf_byte(out, '=');
	if (is_signed && self & 1)
		buf_byte(out, '-');
	buf_u64(out, is_signed ? self >> 1 : self);
}

/* "depth:name=value ..." of all nodes, values of column `column`. */
static void list_nodes(const char *page, size_t column, bool is_signed,
		       struct buf *out)
{
	char names[MOST_NAMES][64];
	const char *nodes = line_of(page, NODES);
	const char *values = line_of(page, COLUMNS + column);
	uint64_t depth = 0, v;

	take_names(page, names);
	buf_byte(out, '0');
	/* Of the root there is only whether it has a value. */
	if (take_number(&nodes))
		put_value(out, &values, is_signed);
	while (*nodes != '\n') {
		v = take_number(&nodes);
		depth += 1 - (v >> 1);
		buf_printf(out, " %d:%s", (int)depth,
			   names[take_number(&nodes)]);
		if (v & 1)
			put_value(out, &values, is_signed);
	}
	assert_int_equal(*values, '\n');
}

static void check_nodes(const char *page, size_t column, bool is_signed,
			const char *expected)
{
	struct buf out;

	buf_init(&out, 1 << 16);
	list_nodes(page, column, is_signed, &out);
	assert_string_equal(buf_cstr(&out), expected);
	buf_fini(&out);
}

static void test_one(void **state)
{
	char *page = report("main;a;b 10\nmain;a 5\nmain;c;b 7\nx 1\n", NULL,
			    NULL);

	(void)state;
	check_nodes(page, 0, false,
		    "0 1:main 2:a=5 3:b=10 2:c 3:b=7 1:x=1");
	assert_says(page, "\"nodes\":7,\"frames\":6,\"deepest\":3");
	assert_says(page, "\"total\":\"23\"");
	mem_free(page);
}

static void test_order_of_names(void **state)
{
	/* Equal names are one node, whatever stands between them as text. */
	char *page = report("foo 1\nfoo(int) 100\nfoo;bar 100\n", NULL, NULL);

	(void)state;
	check_nodes(page, 0, false, "0 1:foo=1 2:bar=100 1:foo(int)=100");
	mem_free(page);
}

static void test_two(void **state)
{
	char *page = report("m;gone 100\nm;kept 10\n",
			    "m;kept 30\nn;new 20\nm;kept;deep 4\n", NULL);

	(void)state;
	check_nodes(page, 0, false,
		    "0 1:m 2:gone=10 2:kept=1 3:deep=0 1:n 2:new=0");
	assert_says(page, "{\"total\":\"110\",\"unit\":\"10\"");
	check_nodes(page, 1, false,
		    "0 1:m 2:gone=0 2:kept=15 3:deep=2 1:n 2:new=10");
	assert_says(page, "{\"total\":\"54\",\"unit\":\"2\"");
	mem_free(page);
}

static void test_signs_and_sizes(void **state)
{
	char *page = report("a;b 7\na;c -4\n", NULL, NULL);

	(void)state;
	check_nodes(page, 0, true, "0 1:a 2:b=7 2:c=-4");
	assert_says(page, "\"total\":\"3\",\"unit\":\"1\",\"shift\":0,"
			  "\"signed\":true");
	assert_says(page, "\"negative\":1");
	mem_free(page);
	/* 2^63 - 1 twice: 11 bits more than doubles add up exactly. */
	page = report("a;b 9223372036854775807\na;c 9223372036854775807\n",
		      NULL, NULL);
	assert_says(page, "\"total\":\"18,446,744,073,709,551,614\","
			  "\"unit\":\"2,048\",\"shift\":11");
	check_nodes(page, 0, false, "0 1:a 2:b=4503599627370496 "
				    "2:c=4503599627370496");
	mem_free(page);
}

static void test_empty(void **state)
{
	char *page = report("a;b 0\n", NULL, NULL);

	(void)state;
	assert_says(page, "\"nodes\":1,");
	assert_says(page, "\"total\":\"0\"");
	mem_free(page);
}

static void test_nothing_is_markup(void **state)
{
	const char *names = "m;</script><script>alert(1)</script> 3\n"
			    "m;<!-- 2\nm;\x01\x1b\x7f\xff\xe2\x80\xae 1\n";
	struct pprof_flame_opts looks = PPROF_FLAME_OPTS_INIT;
	const char *notes[] = { "<b>\x02" };
	const char *at;
	char *page;
	size_t nr = 0;

	(void)state;
	looks.title = "</title><script>";
	looks.subtitle = "<img src=x>";
	looks.notes = notes;
	looks.nr_notes = 1;
	page = report(names, NULL, &looks);
	for (at = page; (at = strstr(at, "<script")); at++)
		nr++;
	assert_int_equal(nr, 3);
	assert_null(strstr(page, "<!--"));
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "<b>"));
	for (at = page; *at; at++)
		assert_true((unsigned char)*at >= ' ' || *at == '\n');
	/* JSON in an element that is not run, and text. */
	assert_says(page, "/script>\\u003cscript>alert(1)");
	assert_says(page, "&lt;/script&gt;&lt;script&gt;alert(1)");
	assert_says(page, "\\\\x01\\\\x1b\\\\x7f\\\\xff\\\\u202e");
	mem_free(page);
}

static void test_same_bytes(void **state)
{
	const char *text = "main;a;b 10\nmain;c 5\n";
	char *one = report(text, text, NULL), *two = report(text, text, NULL);

	(void)state;
	assert_string_equal(one, two);
	mem_free(one);
	mem_free(two);
}

static void check_refused(struct pprof_page_opts *opts, const char *words)
{
	struct pprof_page_input input = { folded_profile("a 1\n"), "a" };
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_sink *sink;

	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_page_write(&input, 1, opts, sink, &err),
			 PPROF_USAGE);
	assert_non_null(strstr(err.message, words));
	pprof_sink_close(sink);
	pprof_profile_free((struct pprof_profile *)(uintptr_t)input.profile);
}

static void test_source_urls(void **state)
{
	static const char *const refused[] = {
		"javascript:alert({file})", "data:text/html,{file}",
		"https://{file}", "{file}", "vbscript:{file}",
		" https://x/{file}",
		"https://example.org/"
	};
	struct pprof_page_opts opts = PPROF_PAGE_OPTS_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(refused); i++) {
		opts.source_url = refused[i];
		check_refused(&opts, "source URL");
	}
}

static void test_units_apart(void **state)
{
	struct pprof_page_input inputs[2] = {
		{ folded_profile("# unit: bytes\na 1\n"), "bytes" },
		{ folded_profile("# unit: count\na 1\n"), "count" }
	};
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_sink *sink;
	size_t i;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_page_write(inputs, 2, NULL, sink, &err),
			 PPROF_MISMATCH);
	assert_non_null(strstr(err.message, "not every profile has"));
	assert_int_equal(pprof_page_write(inputs, 0, NULL, sink, &err),
			 PPROF_USAGE);
	pprof_sink_close(sink);
	for (i = 0; i < 2; i++)
		pprof_profile_free((struct pprof_profile *)(uintptr_t)
				   inputs[i].profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_order_of_names),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_signs_and_sizes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_nothing_is_markup),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_source_urls),
		cmocka_unit_test(test_units_apart)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
