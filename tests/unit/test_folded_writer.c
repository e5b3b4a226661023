/* SPDX-License-Identifier: Apache-2.0
 *
 * Folded output: order, merging, what names become, and that what was
 * written reads back the same.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "output/writer.h"

#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

static uint64_t nr_told;

static void count_diag(void *ctx, const struct pprof_diag *diag)
{
	(void)ctx;
	nr_told += diag->nr;
}

/* The profile as folded text; free it. */
static char *fold(const struct pprof_profile *p, int sample_type,
		  bool no_inlines)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_sink *sink;
	struct pprof_error err;
	const void *data;
	char *text;
	size_t nr;

	opts.sample_type = sample_type;
	opts.no_inlines = no_inlines;
	opts.diag = count_diag;
	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_profile_write(p, "folded", &opts, sink, &err),
			 PPROF_OK);
	data = pprof_sink_memory(sink, &nr);
	text = mem_strndup(data, nr);
	assert_non_null(text);
	pprof_sink_close(sink);
	return text;
}

static const struct {
	const char *input, *expected;
} rows[] = {
	{ "b;x 1\na;y 2\na 3\na;y 4\n", "a 3\na;y 6\nb;x 1\n" },
	{ "foo 1\nfoo(int) 100\nfoo;bar 100\n",
	  "foo 1\nfoo;bar 100\nfoo(int) 100\n" },
	{ "a;b 100\na;c -40\n", "a;b 100\na;c -40\n" },
	{ "a;b 5\na;b -5\n", "" },
	{ "a;operator new 5 10\nb 1\n", "a;operator new 5 10\nb 1\n" },
	{ "a;tab\there 1\na;tab here 2\n", "a;tab here 3\n" },
	{ "a;\x01 1\n", "a;\\x01 1\n" },
	{ "a 9223372036854775807\n", "a 9223372036854775807\n" },
	{ "a -9223372036854775808\n", "a -9223372036854775808\n" }
};

static void test_rows(void **state)
{
	struct pprof_profile *p;
	char *text, *again;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(rows); i++) {
		p = folded_profile(rows[i].input);
		text = fold(p, -1, false);
		assert_string_equal(text, rows[i].expected);
		pprof_profile_free(p);
		if (*text) {
			p = folded_profile(text);
			again = fold(p, -1, false);
			assert_string_equal(again, text);
			mem_free(again);
			pprof_profile_free(p);
		}
		mem_free(text);
	}
	assert_int_equal(nr_told, 0);
}

static void expect_fold(const struct pprof_profile *p, int type,
			bool no_inlines, const char *expected)
{
	char *text = fold(p, type, no_inlines);

	assert_string_equal(text, expected);
	mem_free(text);
}

static void test_heap(void **state)
{
	struct pprof_profile *p = heap_profile();

	(void)state;
	expect_fold(p, -1, false,
		    "[no stack] 1600\n"
		    "[server]+0x1500 800\n"
		    "main;[libx.so]+0x1123 400\n"
		    "main;main;ns::push(int);ns::grow(int);malloc 100\n"
		    "main;ns::grow(int);malloc 200\n");
	expect_fold(p, 0, true,
		    "[no stack] 16\n"
		    "[server]+0x1500 8\n"
		    "main;[libx.so]+0x1123 4\n"
		    "main;main;ns::push(int);malloc 1\n"
		    "main;ns::grow(int);malloc 2\n");
	pprof_profile_free(p);
}

/* A frame that would start a comment, and a separator within a name. */
static void test_separators(void **state)
{
	struct pprof_limits limits;
	struct pprof_profile *p = NULL;
	struct builder b;
	struct diags diags;
	struct line line = { 0, 0, 0 };
	loc_id stack[2];
	int64_t value = 1;

	(void)state;
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	builder_type(&b, builder_cstr(&b, "samples"),
		     builder_cstr(&b, "count"));
	line.func = named(&b, "# note", "");
	stack[0] = builder_location(&b, 0, 0, false, &line, 1);
	line.func = named(&b, "closure [u8; 8]::f\r\n", "");
	stack[1] = builder_location(&b, 0, 0, false, &line, 1);
	builder_sample(&b, builder_stack_root_first(&b, stack, 2), 0, &value,
		       PPROF_UNIT_NONE, 0);
	assert_int_equal(builder_finish(&b, "test", &p, NULL), PPROF_OK);
	builder_fini(&b);
	expect_fold(p, -1, false, "\\x23 note;closure [u8: 8]::f   1\n");
	pprof_profile_free(p);
}

/* Equal names on different stacks can exceed what a line can hold. */
static void test_clamped(void **state)
{
	struct pprof_profile *p;

	(void)state;
	p = folded_profile("a;t\tx 9223372036854775807\na;t x 1\n");
	nr_told = 0;
	expect_fold(p, -1, false, "a;t x 9223372036854775807\n");
	assert_int_equal(nr_told, 1);
	pprof_profile_free(p);
}

static void test_registry(void **state)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_profile *p = folded_profile("a 1\n");
	const char *name, *description;
	struct pprof_sink *sink;
	struct pprof_error err;
	bool is_binary, seen = false;
	size_t i;

	(void)state;
	for (i = 0; pprof_writer_info(i, &name, &description, &is_binary);
	     i++) {
		assert_non_null(writer_at(i)->write);
		assert_true(*name && *description);
		if (!strcmp(name, "folded")) {
			assert_false(is_binary);
			seen = true;
		}
	}
	assert_true(seen);
	assert_null(writer_at(i));
	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_profile_write(p, "no such", &opts, sink, &err),
			 PPROF_NOTFOUND);
	opts.sample_type = 1;
	assert_int_equal(pprof_profile_write(p, "folded", &opts, sink, &err),
			 PPROF_USAGE);
	pprof_sink_close(sink);
	pprof_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_separators),
		cmocka_unit_test(test_clamped),
		cmocka_unit_test(test_registry)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
