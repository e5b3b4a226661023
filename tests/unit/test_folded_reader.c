/* SPDX-License-Identifier: Apache-2.0
 *
 * Folded stacks: the grammar and its corners, what values become, what is
 * counted, what is refused, what is sniffed.
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
#include "input/reader.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* Every sample as "root|...|leaf value [value]\n", in order of the input. */
static void show_samples(const struct pprof_profile *p, struct buf *text)
{
	loc_id frames[64];
	size_t i, k, t;

	for (i = 0; i < p->nr_samples; i++) {
		k = stacks_depth(&p->stacks, p->sample_stack[i]);
		assert_in_range(k, 1, NR_OF(frames));
		stacks_leaf_first(&p->stacks, p->sample_stack[i], frames);
		while (k--) {
			const struct location *loc = &p->locations[frames[k]];

			assert_int_equal(loc->nr_lines, 1);
			assert_int_equal(loc->address, 0);
			buf_str(text, profile_str(p, p->functions[
				p->lines[loc->lines].func].name));
			if (k)
				buf_byte(text, '|');
		}
		for (t = 0; t < p->nr_types; t++)
			buf_printf(text, " %lld", (long long)p->values[t][i]);
		buf_byte(text, '\n');
	}
}

static void show_types(const struct pprof_profile *p, struct buf *text)
{
	size_t t;

	for (t = 0; t < p->nr_types; t++)
		buf_printf(text, "%s%s/%s", t ? " " : "",
			   profile_str(p, p->types[t].type),
			   profile_str(p, p->types[t].unit));
}

static uint64_t nr_diags_told;

static void count_diag(void *ctx, const struct pprof_diag *diag)
{
	(void)ctx;
	nr_diags_told += diag->nr;
}

static enum pprof_status read_text(const char *text, size_t len,
				   struct pprof_profile **ret,
				   struct pprof_error *err)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	nr_diags_told = 0;
	opts.format = "folded";
	opts.diag = count_diag;
	return pprof_profile_read_memory(text, len, "test", &opts, ret, err);
}

static const struct {
	const char *name;
	const char *text;
	const char *types;
	const char *samples;
	uint64_t nr_diags;
} good[] = {
	{ "plain", "main;run;leaf 12\nmain 1\n", "samples/count",
	  "main|run|leaf 12\nmain 1\n", 0 },
	{ "no final LF", "a;b 1", "samples/count", "a|b 1\n", 0 },
	{ "blanks in names", "main;has blank in name(int, char) 3\n",
	  "samples/count", "main|has blank in name(int, char) 3\n", 0 },
	{ "equal stacks add up", "a;b 1\na 5\na;b 2\n", "samples/count",
	  "a|b 3\na 5\n", 0 },
	{ "names that start another", "foo 1\nfoo(int) 1\nfoo;bar 1\n",
	  "samples/count", "foo 1\nfoo(int) 1\nfoo|bar 1\n", 0 },
	{ "comments, blank lines, CRLF, trailing blanks, tabs",
	  "# a comment 5\r\n\r\n#\n  \t\na;b\t7 \t\r\n#x;y 2\r\n",
	  "samples/count", "a|b 7\n#x|y 2\n", 0 },
	{ "headers", "# sample-type: inuse_space\n#  unit:  bytes \r\na 4096\n",
	  "inuse_space/bytes", "a 4096\n", 0 },
	{ "a header too late", "a 1\n# unit: bytes\n", "samples/count",
	  "a 1\n", 0 },
	{ "empty frames", "a;;b 1\n;c 2\nd; 3\n", "samples/count",
	  "a|[empty]|b 1\n[empty]|c 2\nd|[empty] 3\n", 0 },
	{ "annotations stay", "do_sys_[k];inl_[i];j_[j] 1\n", "samples/count",
	  "do_sys_[k]|inl_[i]|j_[j] 1\n", 0 },
	{ "signs", "a +5\nb -7\n", "samples/count", "a 5\nb -7\n", 0 },
	{ "fractions", "a 1\nb 0.25\nc 1.5\nb 0.75\n", "samples/count/100",
	  "a 100\nb 100\nc 150\n", 0 },
	{ "a small negative fraction", "a -0.5\nb 0.1\n", "samples/count/10",
	  "a -5\nb 1\n", 0 },
	{ "fractions of nothing", "a 1.0\nb 2.00\n", "samples/count",
	  "a 1\nb 2\n", 0 },
	{ "fractions of seconds", "# unit: seconds\na 1.5\nb 0.00025\n",
	  "samples/microseconds", "a 1500000\nb 250\n", 0 },
	{ "fractions finer than any time", "# unit: nanoseconds\na 1.5\n",
	  "samples/nanoseconds/10", "a 15\n", 0 },
	{ "exponents", "a 1e3\nb 2.5E+2\nc 15e-1\nd 0e-999\n",
	  "samples/count/10", "a 10000\nb 2500\nc 15\nd 0\n", 0 },
	{ "ten decimals are rounded", "a 0.12345678949\nb 0.9999999999\n",
	  "samples/count/1000000000", "a 123456789\nb 1000000000\n", 2 },
	{ "beyond 64 bits", "a 9223372036854775807\nb 9223372036854775808\n"
	  "c -99999999999999999999\nd 1e400\n", "samples/count",
	  "a 9223372036854775807\nb 9223372036854775807\n"
	  "c -9223372036854775808\nd 9223372036854775807\n", 3 },
	{ "sums beyond 64 bits", "a 9223372036854775807\na 1\n",
	  "samples/count", "a 9223372036854775807\n", 1 },
	{ "raised beyond 64 bits", "a 9223372036854775807\nb 0.5\n",
	  "samples/count/10", "a 9223372036854775807\nb 5\n", 1 },
	{ "bad lines are counted", "a 1\nno value\nb 2\nc 1.\nd 5\n",
	  "samples/count", "a 1\nb 2\nd 5\n", 2 },
	{ "values that are none", "a 1\nb 2\nc 3\nd 4\ne 0x5\nf +\ng 1e\n 7\n",
	  "samples/count", "a 1\nb 2\nc 3\nd 4\n", 4 },
	{ "two columns", "# unit: bytes\nmain;new T 5 10\nmain 0 3\n",
	  "base/bytes new/bytes", "main|new T 5 10\nmain 0 3\n", 0 },
	{ "two columns with fractions", "a 0.5 1\nb 2 0.25\n",
	  "base/count/100 new/count/100", "a 50 100\nb 200 25\n", 0 },
	{ "two numbers, but not on each line",
	  "main;operator new 5 10\noperator new 6 1\nmain 3\nx 7 7\n",
	  "samples/count", "main|operator new 5 10\noperator new 6 1\n"
	  "main 3\nx 7 7\n", 0 },
	{ "the same, blanks kept", "a;f  1.5 \t 2\nb 1\n", "samples/count",
	  "a|f  1.5 2\nb 1\n", 0 },
	{ "a number alone before the value is the name", "5 10\n",
	  "samples/count", "5 10\n", 0 },
};

static void test_good(void **state)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	struct buf text;
	size_t i;

	(void)state;
	buf_init(&text, SIZE_MAX);
	for (i = 0; i < NR_OF(good); i++) {
		print_message("# %s\n", good[i].name);
		assert_int_equal(read_text(good[i].text, strlen(good[i].text),
					   &profile, &err), PPROF_OK);
		buf_reset(&text);
		show_types(profile, &text);
		assert_string_equal(buf_cstr(&text), good[i].types);
		buf_reset(&text);
		show_samples(profile, &text);
		assert_string_equal(buf_cstr(&text), good[i].samples);
		assert_int_equal(nr_diags_told, good[i].nr_diags);
		pprof_profile_free(profile);
	}
	buf_fini(&text);
}

static const struct {
	const char *name;
	const char *text;
	uint64_t line;
	const char *message;
} bad[] = {
	{ "no value", "main;run;leaf\n", 1, "1 of 1 lines" },
	{ "more bad than good", "# x\na 1\nb\nc\n", 3, "2 of 3 lines" },
	{ "only comments", "# a\n\n# b 5\n", 0, "no stacks" },
};

static void test_bad(void **state)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(bad); i++) {
		print_message("# %s\n", bad[i].name);
		assert_int_equal(read_text(bad[i].text, strlen(bad[i].text),
					   &profile, &err), PPROF_FORMAT);
		assert_int_equal(err.where, bad[i].line);
		assert_non_null(strstr(err.message, bad[i].message));
		assert_null(profile);
	}
}

/* A NUL and bytes that are no UTF-8 are bytes of names like others. */
static void test_bytes(void **state)
{
	static const char text[] = "a\0b;\xff\xfe 1\n";
	struct pprof_profile *profile = NULL;
	struct pprof_error err;

	(void)state;
	assert_int_equal(read_text(text, sizeof(text) - 1, &profile, &err),
			 PPROF_OK);
	assert_int_not_equal(strtab_find(&profile->strings, "a\0b", 3),
			     STR_NONE);
	assert_int_not_equal(strtab_find(&profile->strings, "\xff\xfe", 2),
			     STR_NONE);
	pprof_profile_free(profile);
}

static const struct {
	const char *name;
	const char *head;
	bool is_mine;
} heads[] = {
	{ "plain", "a;b 1\n", true },
	{ "no LF", "a;b 1", true },
	{ "single frames", "main 1\nrun 2\n", true },
	{ "comments first", "# x\n\na;b 1\n", true },
	{ "one odd line of three", "a;b 1\noops\nb;c 2\n", true },
	{ "single frames and an odd line", "a 1\noops\nb 2\n", false },
	{ "as many odd lines", "a;b 1\noops\n", false },
	{ "only comments", "# x\n", false },
	{ "no value", "a;b\n", false },
	{ "control bytes", "a;\1b 1\n", false },
	{ "jemalloc", "heap_v2/524288\n  t*: 3: 96 [0: 0]\n", false },
	{ "gperftools", "heap profile: 1: 2 [3: 4] @ heapprofile\n", false },
	{ "addresses", "12 0x5555 0x6666\n", false },
	{ "maps", "5000-6000 r-xp 0 fe:00 1 /bin/prog\n", false },
};

static void test_sniff(void **state)
{
	uint8_t head[SNIFF_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(heads); i++) {
		print_message("# %s\n", heads[i].name);
		assert_int_equal(reader_folded.sniff(
			(const uint8_t *)heads[i].head,
			strlen(heads[i].head)) > 0, heads[i].is_mine);
	}
	/* A first line longer than the head. */
	for (i = 0; i < sizeof(head); i++)
		head[i] = i % 9 == 8 ? ';' : 'f';
	assert_true(reader_folded.sniff(head, sizeof(head)) > 0);
	memset(head, 'f', sizeof(head));
	assert_int_equal(reader_folded.sniff(head, sizeof(head)), 0);
}

static const struct {
	const char *file;
	enum pprof_status status;
	size_t nr_samples;
	int64_t total; /* of the last sample type */
} fixtures[] = {
	{ "good-plain.folded", PPROF_OK, 4, 20 },
	{ "good-crlf-headers.folded", PPROF_OK, 3, 5632 },
	{ "good-fractions.folded", PPROF_OK, 4, 1252 },
	{ "good-two-columns.folded", PPROF_OK, 3, 13 },
	{ "good-number-in-name.folded", PPROF_OK, 2, 17 },
	{ "bad-no-values.folded", PPROF_FORMAT, 0, 0 },
};

/* Files through the whole line: opened, sniffed, read. */
static void test_fixtures(void **state)
{
	const char *top = getenv("top_srcdir");
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	char path[4096];
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(fixtures); i++) {
		snprintf(path, sizeof(path), "%s/tests/fixtures/%s",
			 top ? top : ".", fixtures[i].file);
		print_message("# %s\n", fixtures[i].file);
		assert_int_equal(pprof_profile_read(path, NULL, &profile,
						    &err),
				 fixtures[i].status);
		if (fixtures[i].status)
			continue;
		assert_int_equal(pprof_profile_nr_samples(profile),
				 fixtures[i].nr_samples);
		assert_int_equal(pprof_profile_total(profile, profile->nr_types
						     - 1),
				 fixtures[i].total);
		pprof_profile_free(profile);
	}
}

static void test_no_memory(void **state)
{
	static const char text[] = "a;b 1 2\nc;d 3 4.5\nmain;f 3\nx 0.5\n";
	struct pprof_profile *profile = NULL;
	enum pprof_status status;
	struct pprof_error err;
	uint64_t n;

	(void)state;
	for (n = 1; n < 200; n++) {
		mem_fail_nth(n, true);
		status = read_text(text, sizeof(text) - 1, &profile, &err);
		mem_fail_nth(0, false);
		if (!status)
			break;
		assert_int_equal(status, PPROF_NOMEM);
		assert_int_equal(err.status, PPROF_NOMEM);
	}
	assert_in_range(n, 10, 199);
	pprof_profile_free(profile);
}

/* Line i of many: names of every length, some shared with the line before. */
static void add_line(struct buf *out, size_t i, const char *separator,
		     const char *empty, int value)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
		"abcdefghijklmnopqrstuvwxyz";

	buf_printf(out, "r%s%.*s%zu%s%s%s%zu%s%s%zu %d\n", separator,
		   (int)(i % 70), letters, i / 7, separator, empty, separator,
		   i % 11, i % 3 ? "" : "x", separator, i, value);
}

/* More names than the reader keeps at hand: none is taken for another. */
static void test_many_names(void **state)
{
	enum { NR_NAMES = 100000, NR_ROUNDS = 3 };
	struct buf text, expected, shown;
	struct pprof_profile *profile;
	size_t i, round;

	(void)state;
	buf_init(&text, SIZE_MAX);
	buf_init(&expected, SIZE_MAX);
	buf_init(&shown, SIZE_MAX);
	for (round = 0; round < NR_ROUNDS; round++)
		for (i = 0; i < NR_NAMES; i++)
			add_line(&text, i, ";", "", 1);
	for (i = 0; i < NR_NAMES; i++)
		add_line(&expected, i, "|", "[empty]", NR_ROUNDS);
	assert_int_equal(read_text(text.data, text.len, &profile, NULL),
			 PPROF_OK);
	show_samples(profile, &shown);
	assert_int_equal(shown.len, expected.len);
	assert_memory_equal(shown.data, expected.data, shown.len);
	pprof_profile_free(profile);
	buf_fini(&text);
	buf_fini(&expected);
	buf_fini(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_sniff),
		cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
