/* SPDX-License-Identifier: Apache-2.0
 *
 * Heap dumps as text: both forms, every tolerance, and what is refused.
 * Totals here are worked out by hand or are those of jeprof.
 */
#include <config.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/profile.h"

/* What the tests look at of one reading. */
struct outcome {
	enum pprof_status status;
	struct pprof_error err;
	struct pprof_profile *profile;
	uint64_t nr_diags;
	char diags[2000]; /* messages, a line each */
};

static void note_diag(void *ctx, const struct pprof_diag *diag)
{
	struct outcome *out = ctx;
	size_t used = strlen(out->diags);

	out->nr_diags += diag->nr;
	snprintf(out->diags + used, sizeof(out->diags) - used, "%s\n",
		 diag->message);
}

static void read_text(const char *text, size_t nr,
		      const struct pprof_read_opts *opts, struct outcome *out)
{
	struct pprof_read_opts mine = PPROF_READ_OPTS_INIT;

	memset(out, 0, sizeof(*out));
	if (opts)
		mine = *opts;
	mine.diag = note_diag;
	mine.diag_ctx = out;
	out->status = pprof_profile_read_memory(text, nr, "dump", &mine,
						&out->profile, &out->err);
}

#define HEAD "heap_v2/1\n  t*: 3: 96 [0: 0]\n  t0: 3: 96 [0: 0]\n"
#define STACK1 "@ 0x1000 0x2000\n  t*: 1: 32 [0: 0]\n  t0: 1: 32 [0: 0]\n"
#define STACK2 "@ 0x1100 0x2000\n  t*: 2: 64 [0: 0]\n  t0: 2: 64 [0: 0]\n"
#define MAPS "\nMAPPED_LIBRARIES:\n00001000-00003000 r-xp 00000000 08:01 7 /p\n"
#define GOOD HEAD STACK1 STACK2 MAPS
#define ONE "heap profile: 2: 64 [3: 96] @ "

/* Totals of the last two types; of all four if alloc_objects is not 0. */
static const struct row {
	const char *name;
	const char *text;
	int64_t objects, bytes;
	size_t nr_samples;
	const char *diag; /* part of a diagnostic, NULL: none at all */
	int64_t alloc_objects, alloc_bytes;
} rows[] = {
	{ "good", GOOD, 3, 96, 2, NULL, 0, 0 },
	{ "no stack at all",
	  "heap_v2/524288\n  t*: 0: 0 [0: 0]\n  t0: 0: 0 [0: 0]\n" MAPS,
	  0, 0, 0, NULL, 0, 0 },
	{ "rate 0", "heap_v2/0\n" STACK1 STACK2 MAPS, 3, 96, 2, NULL, 0, 0 },
	{ "carriage returns",
	  "heap_v2/1\r\n  t*: 1: 32 [0: 0]\r\n@ 0x1000 0x2000\r\n"
	  "  t*: 1: 32 [0: 0]\r\n\r\nMAPPED_LIBRARIES:\r\n"
	  "00001000-00003000 r-xp 00000000 08:01 7 /p\r\n",
	  1, 32, 1, NULL, 0, 0 },
	{ "blanks at the ends and between",
	  "heap_v2/1  \n\tt*:  1:   32  [ 0: 0 ] \n \n"
	  " @  0x1000\t0x2000  \n   t*: 1: 32 [0: 0]\t\n" MAPS,
	  1, 32, 1, NULL, 0, 0 },
	{ "upper case and no 0x",
	  HEAD "@ 0x1ABC 2DEF 0X3\n  t*: 1: 32 [0: 0]\n" MAPS,
	  1, 32, 1, NULL, 0, 0 },
	{ "empty stack",
	  HEAD STACK1 "@\n  t*: 2: 64 [0: 0]\n" MAPS, 3, 96, 2, NULL, 0, 0 },
	{ "only empty stacks add up",
	  HEAD "@ \n  t*: 1: 32 [0: 0]\n@\n  t*: 2: 64 [0: 0]\n" MAPS,
	  3, 96, 1, NULL, 0, 0 },
	{ "a stack twice", HEAD STACK1 STACK1 MAPS, 2, 64, 1, NULL, 0, 0 },
	{ "accumulated counts",
	  HEAD "@ 0x1000\n  t*: 1: 32 [5: 160]\n@ 0x2000\n"
	  "  t*: 0: 0 [2: 64]\n" MAPS, 1, 32, 2, NULL, 7, 224 },
	{ "accumulated counts begin late",
	  HEAD STACK1 "@ 0x3000\n  t*: 2: 64 [5: 160]\n" STACK2 MAPS,
	  5, 160, 3, NULL, 5, 160 },
	{ "foreign lines first",
	  "<jemalloc>: Leak approximation summary: ~9 bytes\n%warn x\n" GOOD,
	  3, 96, 2, "before the header", 0, 0 },
	{ "foreign line in the body", HEAD STACK1 "what is this\n" STACK2 MAPS,
	  3, 96, 2, "not understood", 0, 0 },
	{ "no maps", HEAD STACK1 STACK2, 3, 96, 2, "MAPPED_LIBRARIES", 0, 0 },
	{ "gperftools marker",
	  HEAD STACK1 "--- Memory map: ---\n  1000-3000: /p\n",
	  1, 32, 1, NULL, 0, 0 },
	{ "cut in the addresses", HEAD STACK1 "@ 0x1100 0x20", 1, 32, 1,
	  "without a count line", 0, 0 },
	{ "cut in the counts", HEAD STACK1 "@ 0x1100 0x2000\n  t*: 12", 1, 32,
	  1, "truncated", 0, 0 },
	{ "cut in the last bracket",
	  HEAD STACK1 "@ 0x1100 0x2000\n  t*: 1: 32 [0: 0", 1, 32, 1,
	  "truncated", 0, 0 },
	{ "half lines joined",
	  HEAD "@ 0x1000 0x20  t*: 1: 32 [0: 0]\n  t*: 5: 5 [0: 0]\n" STACK1
	  MAPS, 1, 32, 1, "damaged", 0, 0 },
	{ "null frames",
	  HEAD "@ 0x1000 0x0 0x2000 0x0\n  t*: 1: 32 [0: 0]\n" MAPS,
	  1, 32, 1, "null frame", 0, 0 },
	{ "stack without counts", HEAD STACK1 "@ 0x9\n" STACK2 MAPS, 3, 96, 2,
	  "without a count line", 0, 0 },
	{ "two totals", HEAD "@ 0x9\n  t*: 1: 32 [0: 0]\n"
	  "  t*: 7: 77 [0: 0]\n" MAPS, 1, 32, 1, "second total", 0, 0 },
	{ "counts of no stack", HEAD "@ 0x1 0x20x3\n  t*: 7: 77 [0: 0]\n"
	  STACK1 MAPS, 1, 32, 1, "belongs to no stack", 0, 0 },
	{ "NUL bytes at the end", HEAD STACK1 MAPS "\0\0\0\0", 1, 32, 1, NULL,
	  0, 0 },
	{ "count beyond int64",
	  HEAD "@ 0x1\n  t*: 1: 18446744073709551615 [0: 0]\n" MAPS,
	  1, INT64_MAX, 1, "2^63-1", 0, 0 },
	{ "objects without bytes", "heap_v2/4096\n@ 0x1\n  t*: 1: 0 [0: 0]\n"
	  MAPS, 1, 0, 1, "not unsampled", 0, 0 },
	{ "bytes without objects",
	  "heap_v2/4096\n@ 0x1\n  t*: 0: 5000 [0: 0]\n" MAPS, 0, 5000, 1,
	  "not unsampled", 0, 0 },
	/* Scaled sums by jeprof's formula, rounded a stack. */
	{ "sampled", "heap_v2/1048576\n@ 0x1\n  t*: 1: 32 [0: 0]\n@ 0x2\n"
	  "  t*: 3: 88 [0: 0]\n" MAPS, 140011, 4194364, 2, NULL, 0, 0 },
	{ "mixed sizes", "heap_v2/4096\n@ 0x1\n  t*: 14881: 2399544864 "
	  "[0: 0]\n" MAPS, 14881, INT64_C(2399544864), 1, NULL, 0, 0 },
	{ "scaled beyond int64",
	  "heap_v2/9223372036854775808\n@ 0x1\n  t*: 4: 64 [0: 0]\n" MAPS,
	  INT64_C(2305843009213693952), INT64_MAX, 1, "does not fit", 0, 0 },
	{ "thread names that look like format",
	  "heap_v2/1\n  t*: 1: 32 [0: 0]\n  t0: 1: 32 [0: 0] @ 0x12\n"
	  "  t1: 0: 0 [0: 0] ] x\n  t2: 0: 0 [0: 0]  lead\n"
	  "  t3: 0: 0 [0: 0] tab\there\n  t4: 0: 0 [0: 0] \xff\xfe\n"
	  "  t5: 0: 0 [0: 0] t9: [0: 0]\n  t6: 0: 0 [0: 0] \x1b[31m\n"
	  STACK1 MAPS, 1, 32, 1, NULL, 0, 0 },
	{ "thread name with a line end",
	  "heap_v2/1\n  t*: 1: 32 [0: 0]\n  t1: 582: 64773 [0: 0] nl\n"
	  "@ 0x1 0x2\n  t2: 582: 64773 [0: 0] x\n" STACK1 MAPS,
	  1, 32, 1, "rest of a thread's name", 0, 0 },
	/* The one-line form. */
	{ "one line", ONE "heapprofile\n  2: 64 [3: 96] @ 0x1 0x2\n" MAPS,
	  2, 64, 1, NULL, 3, 96 },
	{ "one line, sampled", ONE "heap_v2/1048576\n"
	  "1: 32 [1: 32] @ 0x1 0x2\n" MAPS, 32769, 1048592, 1, NULL, 32769,
	  1048592 },
	{ "one line, version 1", ONE "heap/1048576\n"
	  "1: 100 [1: 100] @ 0x1\n" MAPS, 5243, 524338, 1, NULL, 5243,
	  524338 },
	{ "one line, lines are scaled before they add up",
	  ONE "heap_v2/4096\n1: 8 [0: 0] @ 0x1\n1: 1048576 [0: 0] @ 0x1\n"
	  MAPS, 514, 1052676, 1, NULL, 0, 0 },
	{ "one line, negative", ONE "heap_v2/4096\n-1: -8 [1: 16] @ 0x1\n"
	  MAPS, -1, -8, 1, "negative", 257, 4104 },
	{ "one line, growth", ONE "growth\n1: 100 [1: 100] @ 0x1\n" MAPS,
	  1, 100, 1, NULL, 1, 100 },
	{ "one line, Go's comments",
	  ONE "heap/2\n1: 32 [1: 32] @ 0x1\n#\t0x1\tmain.f+0x1\t/x.go:3\n\n"
	  "# runtime.MemStats\n" MAPS, 1, 32, 1, NULL, 1, 32 },
	{ "one line, no kind", "heap profile: 1: 8 [1: 8]\n"
	  "1: 8 [1: 8] @ 0x1\n" MAPS, 16385, 131076, 1, "no kind", 16385,
	  131076 },
};

static void test_read(void **state)
{
	struct outcome out;
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];

		read_text(row->text, strlen(row->text), NULL, &out);
		if (out.status)
			fail_msg("%s: %s", row->name, out.err.message);
		n = pprof_profile_nr_sample_types(out.profile);
		assert_int_equal(n, row->alloc_objects ? 4 : 2);
		if (pprof_profile_total(out.profile, n - 2) != row->objects ||
		    pprof_profile_total(out.profile, n - 1) != row->bytes)
			fail_msg("%s: %" PRId64 ": %" PRId64, row->name,
				 pprof_profile_total(out.profile, n - 2),
				 pprof_profile_total(out.profile, n - 1));
		if (n == 4) {
			assert_int_equal(pprof_profile_total(out.profile, 0),
					 row->alloc_objects);
			assert_int_equal(pprof_profile_total(out.profile, 1),
					 row->alloc_bytes);
		}
		if (pprof_profile_nr_samples(out.profile) != row->nr_samples)
			fail_msg("%s: %zu samples", row->name,
				 pprof_profile_nr_samples(out.profile));
		if (row->diag ? !strstr(out.diags, row->diag) :
		    out.nr_diags != 0)
			fail_msg("%s: told %s", row->name, out.diags);
		pprof_profile_free(out.profile);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *text;
		uint64_t line;
		const char *message;
	} bad[] = {
		{ "no rate", "heap_v2/\n" STACK1, 1, "sampling rate" },
		{ "junk after the rate", "heap_v2/1x\n" STACK1, 1, "rate" },
		{ "negative rate", "heap_v2/-1\n" STACK1, 1, "rate" },
		{ "another version", "heap_v3/1\n" STACK1, 1, "heap_v2/" },
		{ "rate beyond 64 bits", "heap_v2/99999999999999999999\n", 1,
		  "rate" },
		{ "30 digits", HEAD "@ 0x1\n  t*: 123456789012345678901234567"
		  "890: 1 [0: 0]\n", 5, "64-bit" },
		{ "decimals", HEAD "@ 0x1\n  t*: 1.5: 1 [0: 0]\n", 5,
		  "counts" },
		{ "no brackets", HEAD "@ 0x1\n  t*: 1: 1\n@ 0x2\n", 5,
		  "counts" },
		{ "no number", HEAD "@ 0x1\n  t*: : 1 [0: 0]\n", 5, "counts" },
		{ "17 digits of address",
		  HEAD "@ 0x12345678901234567\n  t*: 1: 1 [0: 0]\n", 4,
		  "16 digits" },
		{ "no hexadecimal", HEAD "@ zebra\n  t*: 1: 1 [0: 0]\n", 4,
		  "'zebra'" },
		{ "two dumps", GOOD GOOD, 13, "second" },
		{ "two dumps, one with maps", HEAD STACK1 GOOD, 7, "second" },
		{ "unknown kind", ONE "heap_v9/1\n", 1, "kind" },
		{ "half a header", "heap profile: 1: 2\n", 1, "expected" },
	};
	struct outcome out;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		read_text(bad[i].text, strlen(bad[i].text), NULL, &out);
		if (out.status != PPROF_FORMAT)
			fail_msg("%s: %s", bad[i].name,
				 pprof_status_text(out.status));
		assert_null(out.profile);
		if (out.err.unit != PPROF_UNIT_LINE ||
		    out.err.where != bad[i].line ||
		    !strstr(out.err.message, bad[i].message))
			fail_msg("%s: line %" PRIu64 ": %s", bad[i].name,
				 out.err.where, out.err.message);
	}
	/* A NUL inside text was never written by anyone. */
	read_text(HEAD STACK1 "@ 0x1\0\0\n" STACK2, sizeof(HEAD STACK1
		  "@ 0x1\0\0\n" STACK2) - 1, NULL, &out);
	assert_int_equal(out.status, PPROF_FORMAT);
}

/* Names, addresses, types and header of a plain dump. */
static void test_content(void **state)
{
	const struct pprof_profile *p;
	const char *type, *unit;
	struct outcome out;
	loc_id leaf_first[2];

	(void)state;
	read_text(GOOD, strlen(GOOD), NULL, &out);
	assert_int_equal(out.status, PPROF_OK);
	p = out.profile;
	pprof_profile_sample_type(p, 0, &type, &unit);
	assert_string_equal(type, "inuse_objects");
	assert_string_equal(unit, "count");
	pprof_profile_sample_type(p, 1, &type, &unit);
	assert_string_equal(type, "inuse_space");
	assert_string_equal(unit, "bytes");
	assert_string_equal(profile_str(p, p->default_type), "inuse_space");
	assert_string_equal(profile_str(p, p->period_type.type), "space");
	assert_string_equal(profile_str(p, p->period_type.unit), "bytes");
	assert_int_equal(p->period, 1);
	/* Return addresses: the call lies one before, leaf included. */
	assert_int_equal(stacks_depth(&p->stacks, p->sample_stack[0]), 2);
	stacks_leaf_first(&p->stacks, p->sample_stack[0], leaf_first);
	assert_int_equal(p->locations[leaf_first[0]].address, 0xfff);
	assert_int_equal(p->locations[leaf_first[1]].address, 0x1fff);
	assert_int_equal(p->locations[leaf_first[0]].mapping, 0);
	assert_int_equal(p->locations[leaf_first[1]].mapping, 1);
	assert_string_equal(profile_str(p, p->mappings[1].file), "/p");
	pprof_profile_free(out.profile);
}

/* A stack that could not be unwound has a frame that says so. */
static void test_no_stack(void **state)
{
	static const char text[] = HEAD "@\n  t*: 2: 64 [0: 0]\n@ 0x0 0x0\n"
		"  t*: 1: 32 [0: 0]\n" MAPS;
	const struct pprof_profile *p;
	const struct location *loc;
	struct outcome out;
	loc_id leaf;

	(void)state;
	read_text(text, strlen(text), NULL, &out);
	assert_int_equal(out.status, PPROF_OK);
	p = out.profile;
	assert_int_equal(p->nr_samples, 1);
	assert_int_equal(pprof_profile_total(p, 1), 96);
	assert_int_equal(stacks_depth(&p->stacks, p->sample_stack[0]), 1);
	stacks_leaf_first(&p->stacks, p->sample_stack[0], &leaf);
	loc = &p->locations[leaf];
	assert_int_equal(loc->address, 0);
	assert_int_equal(loc->mapping, 0);
	assert_string_equal(profile_str(p, p->functions[p->lines[loc->lines]
						       .func].name),
			    "[no stack]");
	pprof_profile_free(out.profile);
}

static void test_raw_counts(void **state)
{
	static const char text[] =
		"heap_v2/1048576\n@ 0x1\n  t*: 1: 32 [4: 99]\n" MAPS;
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct outcome out;

	(void)state;
	opts.raw_counts = true;
	read_text(text, strlen(text), &opts, &out);
	assert_int_equal(out.status, PPROF_OK);
	assert_int_equal(pprof_profile_total(out.profile, 0), 4);
	assert_int_equal(pprof_profile_total(out.profile, 1), 99);
	assert_int_equal(pprof_profile_total(out.profile, 2), 1);
	assert_int_equal(pprof_profile_total(out.profile, 3), 32);
	assert_int_equal(out.profile->period, 1048576);
	pprof_profile_free(out.profile);
}

/* "name=value ..." of a sample's labels in the order of the set. */
static void labels_text(const struct pprof_profile *p, size_t sample,
			char *text, size_t size)
{
	const struct lset *set = &p->lsets[p->sample_lset[sample]];
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < set->nr; i++) {
		const struct label *label = &p->labels[set->labels + i];

		if (label->is_num)
			used += (size_t)snprintf(text + used, size - used,
						 "%s=%" PRId64 " ",
						 profile_str(p, label->key),
						 label->num);
		else
			used += (size_t)snprintf(text + used, size - used,
						 "%s=%s ",
						 profile_str(p, label->key),
						 profile_str(p, label->str));
	}
}

static void test_threads(void **state)
{
	static const char text[] =
		"heap_v2/1\n  t*: 9: 90 [0: 0]\n  t0: 3: 30 [0: 0]\n"
		"  t7: 6: 60 [0: 0] a  b \n"
		"@ 0x1\n  t*: 6: 60 [0: 0]\n  t0: 2: 20 [0: 0]\n"
		"  t7: 3: 30 [0: 0]\n  t7: 1: 10 [0: 0]\n"
		"@ 0x2\n  t*: 3: 30 [0: 0]\n  t0: 1: 10 [0: 0]\n"
		"@ 0x3\n  t*: 1: 8 [0: 0]\n" MAPS;
	static const struct {
		const char *labels;
		int64_t objects;
	} expected[] = {
		{ "thread_id=0 ", 2 }, { "thread=a  b  thread_id=7 ", 4 },
		{ "thread_id=0 ", 1 }, { "", 1 },
	};
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct outcome out;
	char labels[200];
	size_t i;

	(void)state;
	opts.threads = true;
	read_text(text, strlen(text), &opts, &out);
	assert_int_equal(out.status, PPROF_OK);
	assert_int_equal(out.profile->nr_samples, 4);
	for (i = 0; i < 4; i++) {
		labels_text(out.profile, i, labels, sizeof(labels));
		assert_string_equal(labels, expected[i].labels);
		assert_int_equal(out.profile->values[0][i],
				 expected[i].objects);
	}
	pprof_profile_free(out.profile);
	/* Without being asked, stacks are whole and without labels. */
	opts.threads = false;
	read_text(text, strlen(text), &opts, &out);
	assert_int_equal(out.profile->nr_samples, 3);
	assert_null(out.profile->sample_lset);
	assert_int_equal(pprof_profile_total(out.profile, 0), 10);
	pprof_profile_free(out.profile);
}

/* jemalloc 4.0 to 5.2 cut header lines at 127 bytes and lost their ends. */
static void test_glued(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct outcome out;
	char text[1000], name[300], labels[400];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[127 - strlen("  t3: 1: 32 [0: 0] ")] = '\0';
	snprintf(text, sizeof(text), "heap_v2/1\n  t*: 2: 64 [0: 0]\n"
		 "  t3: 1: 32 [0: 0] %s  t4: 1: 32 [0: 0] four\n"
		 "@ 0x1\n  t*: 2: 64 [0: 0]\n  t3: 1: 32 [0: 0]\n"
		 "  t4: 1: 32 [0: 0]\n" MAPS, name);
	opts.threads = true;
	read_text(text, strlen(text), &opts, &out);
	assert_int_equal(out.status, PPROF_OK);
	assert_non_null(strstr(out.diags, "127 bytes"));
	assert_int_equal(out.profile->nr_samples, 2);
	labels_text(out.profile, 0, labels, sizeof(labels));
	assert_non_null(strstr(labels, name));
	labels_text(out.profile, 1, labels, sizeof(labels));
	assert_string_equal(labels, "thread=four thread_id=4 ");
	pprof_profile_free(out.profile);
}

static void test_strict(void **state)
{
	static const char text[] = HEAD STACK1 "junk\n" STACK2 MAPS;
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct outcome out;

	(void)state;
	opts.strict = true;
	read_text(text, strlen(text), &opts, &out);
	assert_int_equal(out.status, PPROF_FORMAT);
	assert_int_equal(out.err.where, 7);
	assert_null(out.profile);
	read_text(GOOD, strlen(GOOD), &opts, &out);
	assert_int_equal(out.status, PPROF_OK);
	pprof_profile_free(out.profile);
}

static void test_limits(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_limits limits;
	struct outcome out;

	(void)state;
	pprof_limits_init(&limits);
	opts.limits = &limits;
	limits.frames = 2;
	read_text(GOOD, strlen(GOOD), &opts, &out);
	assert_int_equal(out.status, PPROF_OK);
	pprof_profile_free(out.profile);
	limits.frames = 1;
	read_text(GOOD, strlen(GOOD), &opts, &out);
	assert_int_equal(out.status, PPROF_LIMIT);
	assert_non_null(strstr(out.err.message, "frames"));
	limits.frames = 9;
	limits.locations = 2;
	read_text(GOOD, strlen(GOOD), &opts, &out);
	assert_int_equal(out.status, PPROF_LIMIT);
	assert_non_null(strstr(out.err.message, "locations"));
}

/* Time: the caller's, and none when nobody knows. */
static void test_time(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct outcome out;

	(void)state;
	read_text(GOOD, strlen(GOOD), NULL, &out);
	assert_int_equal(out.profile->time_ns, 0);
	pprof_profile_free(out.profile);
	opts.time_ns = 1700000000000000000;
	read_text(GOOD, strlen(GOOD), &opts, &out);
	assert_int_equal(out.profile->time_ns, 1700000000000000000);
	pprof_profile_free(out.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_no_stack),
		cmocka_unit_test(test_raw_counts),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_glued),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests_name("jemalloc", tests, NULL, NULL);
}
