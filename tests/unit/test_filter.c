/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters: what go tool pprof's rules make of small profiles, as folded
 * text; conditions on labels; expressions that are wrong or too costly.
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

#define OPTS(...) { .size = sizeof(struct pprof_filter_opts), \
		    .sample_type = -1, __VA_ARGS__ }

/* Folded text of a profile. */
static const char *folded(struct buf *out, const struct pprof_profile *p)
{
	struct pprof_sink *sink = NULL;
	const void *data;
	size_t len;

	buf_reset(out);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_profile_write(p, "folded", NULL, sink, NULL),
			 PPROF_OK);
	data = pprof_sink_memory(sink, &len);
	buf_add(out, data, len);
	pprof_sink_close(sink);
	return buf_cstr(out);
}

#define CHAIN "main;parse;grow;malloc 1\nmain;parse;malloc 2\n" \
	"main;worker;parse;grow;malloc 4\nstart;worker 8\n"

static const struct {
	const char *name, *input;
	struct pprof_filter_opts opts;
	const char *expected;
} rows[] = {
	{ "nothing asked for", CHAIN, OPTS(.focus = NULL), CHAIN },
	{ "empty expressions are none", CHAIN, OPTS(.focus = "", .hide = ""),
	  CHAIN },
	{ "focus", CHAIN, OPTS(.focus = "gro"),
	  "main;parse;grow;malloc 1\nmain;worker;parse;grow;malloc 4\n" },
	{ "focus is not anchored but can be", CHAIN, OPTS(.focus = "^row"),
	  "" },
	{ "alternatives", CHAIN, OPTS(.focus = "^grow$|start"),
	  "main;parse;grow;malloc 1\nmain;worker;parse;grow;malloc 4\n"
	  "start;worker 8\n" },
	{ "case can be ignored", CHAIN, OPTS(.focus = "(?i)START"),
	  "start;worker 8\n" },
	{ "classes", CHAIN, OPTS(.focus = "\\bst\\w+t\\b"),
	  "start;worker 8\n" },
	{ "ignore", CHAIN, OPTS(.ignore = "grow"),
	  "main;parse;malloc 2\nstart;worker 8\n" },
	{ "ignore wins over focus", CHAIN,
	  OPTS(.focus = "parse", .ignore = "worker"),
	  "main;parse;grow;malloc 1\nmain;parse;malloc 2\n" },
	{ "ignore wins in one frame", "a;bc 1\n",
	  OPTS(.focus = "b", .ignore = "c"), "" },
	{ "hide moves values to the caller", CHAIN, OPTS(.hide = "malloc"),
	  "main;parse 2\nmain;parse;grow 1\nmain;worker;parse;grow 4\n"
	  "start;worker 8\n" },
	{ "hide joins what becomes equal", CHAIN,
	  OPTS(.hide = "grow|worker"),
	  "main;parse;malloc 7\nstart 8\n" },
	{ "bytes survive hiding", "a;b 5\nc 2\n", OPTS(.hide = "a|b"),
	  "[no stack] 5\nc 2\n" },
	{ "focus looks at what is hidden", CHAIN,
	  OPTS(.focus = "start", .hide = "start"), "worker 8\n" },
	{ "show", CHAIN, OPTS(.show = "parse|worker"),
	  "parse 3\nworker 8\nworker;parse 4\n" },
	{ "show keeps the bytes of the others", "a;b 5\nc 2\n",
	  OPTS(.show = "c"), "[no stack] 5\nc 2\n" },
	{ "show-from", "r;a;b;c;b 1\nr;d 2\n", OPTS(.show_from = "b"),
	  "b;c;b 1\n" },
	{ "show-from a root", "a;b;c;b 1\n", OPTS(.show_from = "a"),
	  "a;b;c;b 1\n" },
	{ "show-from a leaf", "a;b;c;b 1\n", OPTS(.show_from = "c"),
	  "c;b 1\n" },
	/* profile/prune.go: the match nearest to the leaf ends the stack. */
	{ "prune-from", "a;b;c;b;d 1\n", OPTS(.prune_from = "b"),
	  "a;b;c;b 1\n" },
	{ "prune-from a root", "a;b;c 1\nx 2\n", OPTS(.prune_from = "a"),
	  "a 1\nx 2\n" },
	{ "prune-from sees names without parameters", "a;f(int);g 1\n",
	  OPTS(.prune_from = "^f$"), "a;f(int) 1\n" },
	{ "prune-from leaves operator() whole", "a;x::operator()(int);g 1\n",
	  OPTS(.prune_from = "operator\\(\\)$"),
	  "a;x::operator()(int) 1\n" },
	{ "show-from, then prune-from", "a;b;c;d;e 1\n",
	  OPTS(.show_from = "b", .prune_from = "d"), "b;c;d 1\n" },
	{ "recursion collapses", "a;f;f;f;g;f 1\na;f;g;f 2\n",
	  OPTS(.collapse_recursion = true), "a;f;g;f 3\n" },
	{ "recursion across what is hidden", "a;f;h;f 1\n",
	  OPTS(.collapse_recursion = true, .hide = "h"), "a;f 1\n" },
	{ "values divided", "a 5\nb 4\n", OPTS(.divide_by = 2),
	  "a 3\nb 2\n" },
	{ "negative ones dropped", "a 5\nb -4\n",
	  OPTS(.drop_negative = true), "a 5\n" },
	{ "a label that none has, as root", "a 1\n", OPTS(.tagroot = "k"),
	  "<no k>;a 1\n" },
	{ "bytes that are not UTF-8", "a;\xff\xfe 1\nb 2\n",
	  OPTS(.focus = "a"), "a;\xff\xfe 1\n" },
	{ "a dot is one character", "a\xc3\xa9z 1\n", OPTS(.focus = "a.z"),
	  "a\xc3\xa9z 1\n" }
};

static void test_rows(void **state)
{
	struct pprof_profile *profile;
	struct pprof_error err;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	for (i = 0; i < NR_OF(rows); i++) {
		profile = folded_profile(rows[i].input);
		if (pprof_profile_filter(profile, &rows[i].opts, NULL, &err))
			fail_msg("%s: %s", rows[i].name, err.message);
		if (strcmp(folded(&out, profile), rows[i].expected) != 0)
			fail_msg("%s:\n got %swant %s", rows[i].name,
				 buf_cstr(&out), rows[i].expected);
		pprof_profile_free(profile);
	}
	buf_fini(&out);
}

/*
 * The heap of view_profile.h: main, push>grow inlined, malloc; a frame of a
 * library without names; one of the server.
 */
static const struct {
	const char *name;
	struct pprof_filter_opts opts;
	const char *expected; /* flat bytes by stack */
} heap_rows[] = {
	{ "a file of source", OPTS(.focus = "vec\\.cc"),
	  "main;main;ns::push(int);ns::grow(int);malloc 100\n" },
	{ "a mapped file", OPTS(.focus = "libx"),
	  "main;[libx.so]+0x1123 400\n" },
	{ "an inlined line is hidden, the rest stays",
	  OPTS(.focus = "push", .hide = "vec\\.h"),
	  "main;main;ns::push(int);malloc 100\n" },
	{ "only the inlined line is shown", OPTS(.focus = "push",
						 .show = "grow"),
	  "ns::grow(int) 100\n" },
	{ "a mapped file keeps its frames without names",
	  OPTS(.focus = "libx", .show = "libx"),
	  "[libx.so]+0x1123 400\n" },
	{ "show-from cuts inside a location",
	  OPTS(.show_from = "^ns::grow"),
	  "ns::grow(int);malloc 300\n" },
	{ "prune-from cuts inside a location",
	  OPTS(.focus = "push", .prune_from = "^ns::push$"),
	  "main;main;ns::push(int) 100\n" }
};

static void test_heap(void **state)
{
	struct pprof_profile *profile;
	struct pprof_error err;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	for (i = 0; i < NR_OF(heap_rows); i++) {
		profile = heap_profile();
		if (pprof_profile_filter(profile, &heap_rows[i].opts, NULL,
					 &err))
			fail_msg("%s: %s", heap_rows[i].name, err.message);
		if (strcmp(folded(&out, profile), heap_rows[i].expected) != 0)
			fail_msg("%s:\n got %swant %s", heap_rows[i].name,
				 buf_cstr(&out), heap_rows[i].expected);
		pprof_profile_free(profile);
	}
	buf_fini(&out);
}

/* --------------------------------------------------------------- labels */

static void add_labelled(struct builder *b, loc_id loc, const char *thread,
			 int64_t bytes, const char *unit, int64_t value)
{
	struct label labels[2] = { { 0 }, { 0 } };
	size_t nr = 0;

	if (thread) {
		labels[nr].key = builder_cstr(b, "thread");
		labels[nr++].str = builder_cstr(b, thread);
	}
	if (bytes) {
		labels[nr].key = builder_cstr(b, "bytes");
		labels[nr].num = bytes;
		labels[nr].is_num = 1;
		labels[nr++].unit = builder_cstr(b, unit);
	}
	builder_sample(b, builder_stack(b, &loc, 1),
		       builder_lset(b, labels, nr), &value, PPROF_UNIT_NONE,
		       0);
}

/* Values 1, 2, 4, 8, 16: which samples are left shows in their sum. */
static struct pprof_profile *labelled_profile(void)
{
	struct pprof_profile *profile = NULL;
	struct pprof_limits limits;
	struct diags diags;
	struct builder b;
	struct line line = { 0 };
	loc_id loc;

	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	builder_type(&b, builder_cstr(&b, "space"), builder_cstr(&b, "bytes"));
	line.func = named(&b, "f", "f.c");
	loc = builder_location(&b, 0, 0, false, &line, 1);
	add_labelled(&b, loc, "io", 1024, "bytes", 1);
	add_labelled(&b, loc, "io", 16, "bytes", 2);
	add_labelled(&b, loc, "main", 1 << 20, "bytes", 4);
	add_labelled(&b, loc, NULL, 3, "seconds", 8);
	add_labelled(&b, loc, "main", 0, "", 16);
	assert_int_equal(builder_finish(&b, "test", &profile, NULL),
			 PPROF_OK);
	builder_fini(&b);
	return profile;
}

static const struct {
	const char *name;
	struct pprof_filter_opts opts;
	int64_t total;
} label_rows[] = {
	{ "an expression on key:value", OPTS(.tagfocus = "io"), 3 },
	{ "with the key in it", OPTS(.tagfocus = "^thread:m"), 20 },
	{ "of several all must match", OPTS(.tagfocus = "thread,io"), 3 },
	{ "a key: only the value counts", OPTS(.tagfocus = "thread=^m"), 20 },
	{ "a key: any of several", OPTS(.tagfocus = "thread=^m,^i"), 23 },
	{ "another key", OPTS(.tagfocus = "host=io"), 0 },
	{ "equal, in another unit", OPTS(.tagfocus = "bytes=1kb"), 1 },
	{ "at least", OPTS(.tagfocus = "bytes=17b:"), 5 },
	{ "at most", OPTS(.tagfocus = "bytes=:1kb"), 3 },
	{ "from and to, both with", OPTS(.tagfocus = "bytes=16b:1kb"), 3 },
	{ "any key", OPTS(.tagfocus = "1b:2kb"), 3 },
	{ "another family", OPTS(.tagfocus = "1s:"), 8 },
	{ "a number without a unit", OPTS(.tagfocus = "bytes=16"), 2 },
	{ "ignored", OPTS(.tagignore = "thread=main"), 11 },
	{ "ignored by size", OPTS(.tagignore = "bytes=16b"), 29 },
	{ "both", OPTS(.tagfocus = "thread=io", .tagignore = "bytes=1kb"),
	  2 },
	{ "threads", OPTS(.thread = "^ma"), 20 },
	{ "labels hidden, samples stay", OPTS(.taghide = "thread|bytes"),
	  31 }
};

static void test_labels(void **state)
{
	struct pprof_profile *profile;
	struct pprof_error err;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(label_rows); i++) {
		profile = labelled_profile();
		if (pprof_profile_filter(profile, &label_rows[i].opts, NULL,
					 &err))
			fail_msg("%s: %s", label_rows[i].name, err.message);
		if (pprof_profile_total(profile, 0) != label_rows[i].total)
			fail_msg("%s: %lld left, expected %lld",
				 label_rows[i].name,
				 (long long)pprof_profile_total(profile, 0),
				 (long long)label_rows[i].total);
		pprof_profile_free(profile);
	}
}

static const struct {
	const char *name;
	struct pprof_filter_opts opts;
	const char *expected;
} tag_rows[] = {
	{ "labels that are shown join samples", OPTS(.tagshow = "thread"),
	  "space/bytes | f 8, f thread=io 3, f thread=main 20" },
	{ "labels that are hidden", OPTS(.taghide = "thread|bytes"),
	  "space/bytes | f 31" },
	{ "a label as the root", OPTS(.tagroot = "thread",
				      .taghide = "thread|bytes"),
	  "space/bytes | <no thread>;f 8, io;f 3, main;f 20" },
	{ "two at the root, one at the leaf",
	  OPTS(.tagroot = "thread,bytes", .tagleaf = "thread",
	       .tagfocus = "io", .taghide = "."),
	  "space/bytes | io;16B;f;io 2, io;1kB;f;io 1" }
};

static void test_tags(void **state)
{
	struct pprof_profile *profile;
	struct pprof_error err;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	for (i = 0; i < NR_OF(tag_rows); i++) {
		profile = labelled_profile();
		if (pprof_profile_filter(profile, &tag_rows[i].opts, NULL,
					 &err))
			fail_msg("%s: %s", tag_rows[i].name, err.message);
		if (strcmp(small_sorted_words(&out, profile),
			   tag_rows[i].expected) != 0)
			fail_msg("%s:\n got %s\nwant %s", tag_rows[i].name,
				 buf_cstr(&out), tag_rows[i].expected);
		pprof_profile_free(profile);
	}
	buf_fini(&out);
}

/* ------------------------------------------------------- dropped frames */

static const struct {
	const char *name, *drop, *keep, *input, *expected;
} drop_rows[] = {
	{ "from the first match below the user's frames",
	  "malloc|operator new", "", "main;f;operator new(long);malloc 1\n",
	  "main;f 1\n" },
	{ "the whole name must match", "mall", "", "main;malloc 1\n",
	  "main;malloc 1\n" },
	{ "not before a frame of the user's", "start|malloc", "",
	  "start;main;malloc 1\n", "start;main 1\n" },
	{ "kept after all", "m.*", "malloc", "a;malloc 1\na;mmap 2\n",
	  "a 2\na;malloc 1\n" },
	{ "an expression that is none", "(", "", "a;malloc 1\n",
	  "a;malloc 1\n" }
};

static void test_drop_frames(void **state)
{
	struct pprof_filter_opts opts = OPTS(.drop_frames = true);
	struct pprof_profile *p;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 16);
	for (i = 0; i < NR_OF(drop_rows); i++) {
		p = folded_profile(drop_rows[i].input);
		p->drop_frames = strtab_add(&p->strings, drop_rows[i].drop,
					    strlen(drop_rows[i].drop));
		p->keep_frames = strtab_add(&p->strings, drop_rows[i].keep,
					    strlen(drop_rows[i].keep));
		assert_int_equal(pprof_profile_filter(p, &opts, NULL, NULL),
				 PPROF_OK);
		if (strcmp(folded(&out, p), drop_rows[i].expected) != 0)
			fail_msg("%s: %s", drop_rows[i].name, buf_cstr(&out));
		pprof_profile_free(p);
	}
	buf_fini(&out);
}

/* ------------------------------------------------- mistakes and messages */

static const struct {
	struct pprof_filter_opts opts;
	enum pprof_status status;
	const char *message;
} bad_rows[] = {
	{ OPTS(.focus = "a("), PPROF_USAGE, "focus: mistake in the expression "
	  "after 2 characters: missing closing parenthesis" },
	{ OPTS(.show_from = "[z-a]"), PPROF_USAGE, "show-from: mistake" },
	{ OPTS(.tagfocus = "k=a,("), PPROF_USAGE, "tagfocus: mistake" },
	{ OPTS(.thread = "*"), PPROF_USAGE, "thread: mistake" },
	{ OPTS(.focus = "\\C"), PPROF_USAGE, "focus: mistake" },
	{ OPTS(.divide_by = -1), PPROF_USAGE, "divide-by" },
	{ OPTS(.focus = "^(a+)+$"), PPROF_LIMIT, "focus: the expression takes "
	  "too many steps on some name" }
};

static void test_mistakes(void **state)
{
	struct pprof_profile *profile;
	struct pprof_error err;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(bad_rows); i++) {
		profile = folded_profile("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
					 "aaaaaaaaaaaaaaaaaaaaaaaaaaab 1\n");
		memset(&err, 0, sizeof(err));
		if (pprof_profile_filter(profile, &bad_rows[i].opts, NULL,
					 &err) != bad_rows[i].status ||
		    strncmp(err.message, bad_rows[i].message,
			    strlen(bad_rows[i].message)) != 0)
			fail_msg("row %zu: %s", i, err.message);
		pprof_profile_free(profile);
	}
}

/* Long names need more room than compiled expressions have. */
static void test_long_name(void **state)
{
	struct pprof_filter_opts opts = OPTS(.focus = "^((a|ab)(b|c)?)*d$");
	struct pprof_profile *profile;
	struct buf text;
	size_t i;

	(void)state;
	buf_init(&text, 1 << 20);
	for (i = 0; i < 20000; i++)
		buf_str(&text, "ab");
	buf_str(&text, "d 7\n");
	profile = folded_profile(buf_cstr(&text));
	assert_int_equal(pprof_profile_filter(profile, &opts, NULL, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_profile_total(profile, 0), 7);
	pprof_profile_free(profile);
	buf_fini(&text);
}

static void keep_message(void *ctx, const struct pprof_diag *diag)
{
	struct buf *out = ctx;

	buf_printf(out, "%s\n", diag->message);
}

static void test_messages(void **state)
{
	struct pprof_filter_opts opts = OPTS(
		.focus = "a", .ignore = "none", .tagfocus = "1kb:");
	struct pprof_filter_result result;
	struct pprof_profile *profile = folded_profile("a 3\nb -4\n");
	struct buf out;

	(void)state;
	buf_init(&out, 1 << 16);
	opts.diag = keep_message;
	opts.diag_ctx = &out;
	assert_int_equal(pprof_profile_filter(profile, &opts, &result, NULL),
			 PPROF_OK);
	/* Before the filter, sizes added up. */
	assert_int_equal(result.totals[0], 7);
	assert_non_null(strstr(buf_cstr(&out),
			       "ignore expression matched no samples"));
	assert_non_null(strstr(buf_cstr(&out), "range of numbers"));
	assert_null(strstr(buf_cstr(&out), "focus expression matched no s"
			   "amples\nignore"));
	buf_fini(&out);
	pprof_profile_free(profile);
}

static void test_memory(void **state)
{
	struct pprof_filter_opts opts = OPTS(
		.drop_frames = true, .focus = "f|x", .hide = "g",
		.tagroot = "thread", .taghide = "bytes", .tagfocus = "io");
	enum pprof_status status = PPROF_NOMEM;
	struct pprof_profile *profile;
	uint64_t n;

	(void)state;
	for (n = 1; status == PPROF_NOMEM; n++) {
		profile = labelled_profile();
		profile->drop_frames = strtab_add(&profile->strings, "q", 1);
		mem_fail_nth(n, true);
		status = pprof_profile_filter(profile, &opts, NULL, NULL);
		mem_fail_nth(0, false);
		pprof_profile_free(profile);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_drop_frames),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_memory)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
