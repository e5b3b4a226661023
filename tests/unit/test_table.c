/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions and its report: flat and cum, recursion, trimming,
 * order, and the text that scripts read.
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
#include "view/graph.h"
#include "view/table.h"

#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* Rows as "name flat/cum", the total in front. */
static void show_table(struct buf *out, const struct table *table,
		       const struct frames *frames)
{
	size_t i;

	buf_reset(out);
	buf_i64(out, table->total);
	for (i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];

		buf_byte(out, ' ');
		buf_str(out, frame_name(frames, row->row));
		if (row->inlined)
			buf_str(out, row->called ? "~+" : "~");
		buf_byte(out, '=');
		buf_i64(out, row->flat);
		buf_byte(out, '/');
		buf_i64(out, row->cum);
	}
}

static const struct {
	const char *name, *folded, *expected;
	double min_fraction;
	bool by_cum;
} tables[] = {
	{ "flat, then names", "a;b 3\na;c 3\na 1\n",
	  "7 b=3/3 c=3/3 a=1/7", 0, false },
	{ "cum, then names", "a;b 3\na;c 3\na 1\n",
	  "7 a=1/7 b=3/3 c=3/3", 0, true },
	{ "recursion counts once", "f;f;f 2\nf;g;f 3\nf 1\n",
	  "6 f=6/6 g=0/3", 0, false },
	{ "recursion in two branches", "m;f;g;f 1\nm;h;f 2\n",
	  "3 f=3/3 g=0/1 h=0/2 m=0/3", 0, false },
	{ "negative: total of sizes, order by size", "a;b 100\na;c -140\n",
	  "240 c=-140/-140 b=100/100 a=0/-40", 0, false },
	{ "trimmed by cum", "a;b 96\na;c 4\nd 1\n", "101 b=96/96 a=0/100",
	  0.05, false },
	{ "the cut is a whole number", "a 99\nb 1\n", "100 a=99/99 b=1/1",
	  0.019, false },
	{ "nothing", "a 0\n", "0", 0.5, false }
};

static void test_tables(void **state)
{
	struct frames_opts opts = { .granularity = PPROF_BY_FUNCTION };
	struct pprof_profile *p;
	struct frames frames;
	struct table table;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 20);
	for (i = 0; i < NR_OF(tables); i++) {
		p = folded_profile(tables[i].folded);
		assert_int_equal(frames_init(&frames, p, &opts, NULL),
				 PPROF_OK);
		assert_int_equal(table_init(&table, &frames, p, 0, NULL),
				 PPROF_OK);
		table_trim(&table, tables[i].min_fraction);
		table_sort(&table, tables[i].by_cum);
		show_table(&out, &table, &frames);
		assert_string_equal(buf_cstr(&out), tables[i].expected);
		table_fini(&table);
		frames_fini(&frames);
		pprof_profile_free(p);
	}
	buf_fini(&out);
}

static void test_inlined(void **state)
{
	struct frames_opts opts = { .granularity = PPROF_BY_FUNCTION };
	struct pprof_profile *p = heap_profile();
	struct frames frames;
	struct table table;
	struct buf out;

	(void)state;
	buf_init(&out, 1 << 20);
	assert_int_equal(frames_init(&frames, p, &opts, NULL), PPROF_OK);
	assert_int_equal(table_init(&table, &frames, p, 0, NULL), PPROF_OK);
	table_sort(&table, false);
	assert_int_equal(graph_mark_inlined(&table, &frames, p, NULL),
			 PPROF_OK);
	show_table(&out, &table, &frames);
	assert_string_equal(buf_cstr(&out),
			    "31 [no stack]=16/16 [server]+0x1500=8/8 "
			    "[libx.so]+0x1123=4/4 malloc=3/3 main=0/7 "
			    "ns::grow(int)~+=0/3 ns::push(int)=0/1");
	table_fini(&table);
	frames_fini(&frames);
	pprof_profile_free(p);
	buf_fini(&out);
}

/* The report of `p`; free it. */
static char *report(const struct pprof_profile *p,
		    const struct pprof_top_opts *opts)
{
	struct pprof_sink *sink;
	struct pprof_error err;
	const void *data;
	char *text;
	size_t nr;

	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_report_top(p, opts, sink, &err), PPROF_OK);
	data = pprof_sink_memory(sink, &nr);
	text = mem_strndup(data, nr);
	assert_non_null(text);
	pprof_sink_close(sink);
	return text;
}

static void expect_report(const struct pprof_profile *p,
			  const struct pprof_top_opts *opts,
			  const char *expected)
{
	char *text = report(p, opts);

	assert_string_equal(text, expected);
	mem_free(text);
}

static void test_report(void **state)
{
	struct pprof_profile *p = heap_profile();
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;

	(void)state;
	expect_report(p, NULL,
		      "File: server\n"
		      "Type: inuse_space\n"
		      "Showing nodes accounting for 3100B, "
		      "100% of 3100B total\n"
		      "      flat  flat%   sum%        cum   cum%\n"
		      "     1600B 51.61% 51.61%      1600B 51.61%  "
		      "[no stack]\n"
		      "      800B 25.81% 77.42%       800B 25.81%  "
		      "[server]\n"
		      "      400B 12.90% 90.32%       400B 12.90%  "
		      "[libx.so]\n"
		      "      300B  9.68%   100%       300B  9.68%  malloc\n"
		      "         0     0%   100%       700B 22.58%  main\n"
		      "         0     0%   100%       300B  9.68%  "
		      "ns::grow(int) (partial-inline)\n"
		      "         0     0%   100%       100B  3.23%  "
		      "ns::push(int)\n");
	opts.sample_type = 0;
	opts.by_cum = true;
	opts.limit = 2;
	opts.min_fraction = 0.1;
	expect_report(p, &opts,
		      "File: server\n"
		      "Type: inuse_objects\n"
		      "Showing nodes accounting for 24, 77.42% of 31 total\n"
		      "Dropped 1 node (cum <= 3)\n"
		      "Showing top 2 nodes out of 6\n"
		      "      flat  flat%   sum%        cum   cum%\n"
		      "        16 51.61% 51.61%         16 51.61%  "
		      "[no stack]\n"
		      "         8 25.81% 77.42%          8 25.81%  "
		      "[server]\n");
	pprof_profile_free(p);
}

/* A name keeps its end in a narrow terminal, and drives none. */
static void test_report_names(void **state)
{
	struct pprof_profile *p;
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;
	char *text;

	(void)state;
	p = folded_profile("a::very::deeply::nested::scope::function(int) 1\n"
			   "plain_and_much_too_long_for_the_column 2\n"
			   "esc\x1b[31m\xe2\x80\xae 3\n");
	opts.width = 64;
	text = report(p, &opts);
	assert_non_null(strstr(text, "  scope::function\n"));
	assert_non_null(strstr(text, "  \xe2\x80\xa6"
				     "long_for_the_column\n"));
	assert_non_null(strstr(text, "  esc\\x1b[31m\\u202e\n"));
	mem_free(text);
	pprof_profile_free(p);
}

static void test_report_header(void **state)
{
	struct pprof_profile *p = heap_profile();
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;
	str_id comments[2];
	char *text;

	(void)state;
	comments[0] = strtab_add(&p->strings, "hello", 5);
	comments[1] = strtab_add(&p->strings, "#hidden", 7);
	p->comments = comments;
	p->nr_comments = 2;
	p->time_ns = 1700000000000000000;
	p->duration_ns = 30000000000;
	opts.unit = PPROF_UNIT_EXACT;
	text = report(p, &opts);
	assert_ptr_equal(strstr(text,
				"File: server\n"
				"hello\n"
				"Type: inuse_space\n"
				"Time: 2023-11-14 22:13:20 UTC\n"
				"Duration: 30s, Total samples = 3100B \n"
				"Showing"), text);
	mem_free(text);
	p->time_ns = -1;
	text = report(p, &opts);
	assert_non_null(strstr(text, "Time: 1969-12-31 23:59:59 UTC\n"));
	mem_free(text);
	p->time_ns = 951782400000000000;
	text = report(p, &opts);
	assert_non_null(strstr(text, "Time: 2000-02-29 00:00:00 UTC\n"));
	mem_free(text);
	p->comments = NULL;
	p->nr_comments = 0;
	pprof_profile_free(p);
}

/* Unknown options and types are refused, an old caller's are understood. */
static void test_opts(void **state)
{
	struct {
		struct pprof_top_opts known;
		int64_t later;
	} newer = { { .size = sizeof(newer), .sample_type = -1 }, 0 };
	struct pprof_profile *p = heap_profile();
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;
	struct pprof_sink *sink;
	struct pprof_error err;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_report_top(p, &newer.known, sink, &err),
			 PPROF_OK);
	newer.later = 1;
	assert_int_equal(pprof_report_top(p, &newer.known, sink, &err),
			 PPROF_USAGE);
	opts.size = offsetof(struct pprof_top_opts, granularity);
	opts.granularity = 99;
	assert_int_equal(pprof_report_top(p, &opts, sink, &err), PPROF_OK);
	opts.size = sizeof(opts);
	assert_int_equal(pprof_report_top(p, &opts, sink, &err), PPROF_USAGE);
	opts.granularity = PPROF_BY_FUNCTION;
	opts.sample_type = 2;
	assert_int_equal(pprof_report_top(p, &opts, sink, &err), PPROF_USAGE);
	pprof_sink_close(sink);
	pprof_profile_free(p);
}

static void test_out_of_memory(void **state)
{
	struct pprof_profile *p = heap_profile();
	enum pprof_status status = PPROF_NOMEM;
	struct pprof_sink *sink;
	uint64_t n;

	(void)state;
	for (n = 1; status == PPROF_NOMEM; n++) {
		assert_int_equal(pprof_sink_open_memory(&sink, NULL),
				 PPROF_OK);
		mem_fail_nth(n, true);
		status = pprof_report_top(p, NULL, sink, NULL);
		mem_fail_nth(0, false);
		pprof_sink_close(sink);
		assert_true(n < 1000);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 10);
	pprof_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_report_names),
		cmocka_unit_test(test_report_header),
		cmocka_unit_test(test_opts),
		cmocka_unit_test(test_out_of_memory)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
