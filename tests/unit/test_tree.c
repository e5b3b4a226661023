/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames, the walk over the call tree, and the tree that pictures are made
 * of: merging, order, granularity, folding, extreme values and depths.
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
#include "view/tree.h"

#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* The walk as text: dots for the depth, name, '=' self, '~' inlined. */
static void show_walk(struct buf *out, const struct pprof_profile *p,
		      const struct frames_opts *frames_opts,
		      const struct walk_opts *opts)
{
	struct walk_node node;
	struct frames frames;
	struct walk walk;
	uint32_t i;

	assert_int_equal(frames_init(&frames, p, frames_opts, NULL), PPROF_OK);
	assert_int_equal(walk_init(&walk, &frames, p, opts, NULL), PPROF_OK);
	buf_reset(out);
	while (walk_next(&walk, &node)) {
		for (i = 1; i < node.depth; i++)
			buf_byte(out, '.');
		buf_str(out, frame_name(&frames, node.row));
		if (node.inlined)
			buf_str(out, node.called ? "~+" : "~");
		if (node.self) {
			buf_byte(out, '=');
			buf_i64(out, node.self);
		}
		buf_byte(out, ' ');
	}
	assert_false(walk.failed);
	walk_fini(&walk);
	frames_fini(&frames);
}

/* Merging and order from folded text. */
static const struct {
	const char *name, *folded, *expected;
	bool reverse;
} merges[] = {
	{ "one frame", "a 1\n", "a=1 ", false },
	{ "names that sort before a separator",
	  "foo 1\nfoo(int) 100\nfoo;bar 100\n",
	  "foo=1 .bar=100 foo(int)=100 ", false },
	{ "siblings in byte order", "r;b 1\nr;a 2\nr;C 3\nr;\xc3\xa9 4\n",
	  "r .C=3 .a=2 .b=1 .\xc3\xa9=4 ", false },
	{ "self and below", "a;b 1\na 2\na;b;c 4\n", "a=2 .b=1 ..c=4 ",
	  false },
	{ "recursion stays", "f;f;f 3\nf;f 1\n", "f .f=1 ..f=3 ", false },
	{ "sums cancel", "a;b 5\na;c 1\na;b;d 2\na;b;d -2\n",
	  "a .b=5 .c=1 ", false },
	{ "zero is no stack", "a;b 0\na;c 1\n", "a .c=1 ", false },
	{ "callers", "main;x;leaf 3\nmain;y;leaf 4\nmain;x 1\n",
	  "leaf .x ..main=3 .y ..main=4 x .main=1 ", true },
	{ "callers of recursion", "a;r;r;leaf 1\na;r;leaf 2\n",
	  "leaf .r ..a=2 ..r ...a=1 ", true },
	{ "nothing", "a 0\n", "", true }
};

static void test_merge(void **state)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct pprof_profile *p;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 20);
	for (i = 0; i < NR_OF(merges); i++) {
		struct walk_opts opts = { .reverse = merges[i].reverse };

		p = folded_profile(merges[i].folded);
		show_walk(&out, p, &frames_opts, &opts);
		assert_string_equal(buf_cstr(&out), merges[i].expected);
		pprof_profile_free(p);
	}
	buf_fini(&out);
}

static const struct {
	struct frames_opts frames;
	struct walk_opts walk;
	const char *expected;
} heaps[] = {
	{ { .granularity = PPROF_BY_FUNCTION }, { .sample_type = 0 },
	  "[no stack]=16 [server]+0x1500=8 main .[libx.so]+0x1123=4 .main "
	  "..ns::push(int) ...ns::grow(int)~ ....malloc=1 .ns::grow(int) "
	  "..malloc=2 " },
	{ { .granularity = PPROF_BY_FUNCTION, .merge_unknown = true },
	  { .sample_type = 1 },
	  "[no stack]=1600 [server]=800 main .[libx.so]=400 .main "
	  "..ns::push(int) ...ns::grow(int)~ ....malloc=100 "
	  ".ns::grow(int) ..malloc=200 " },
	{ { .granularity = PPROF_BY_FUNCTION, .no_inlines = true },
	  { .sample_type = 0 },
	  "[no stack]=16 [server]+0x1500=8 main .[libx.so]+0x1123=4 .main "
	  "..ns::push(int) ...malloc=1 .ns::grow(int) ..malloc=2 " },
	{ { .granularity = PPROF_BY_LINE }, { .sample_type = 0 },
	  "[no stack]=16 [server]+0x1500=8 main main.c:5 "
	  ".[libx.so]+0x1123=4 .main main.c:5 ..ns::push(int) vec.cc:7 "
	  "...ns::grow(int) vec.h:42~ ....malloc=1 "
	  ".ns::grow(int) vec.h:42 ..malloc=2 " },
	{ { .granularity = PPROF_BY_FILE, .merge_unknown = true },
	  { .sample_type = 0 },
	  "[no stack]=16 [server]=8 main.c .[libx.so]=4 .main.c ..vec.cc "
	  "...vec.h~ ....[server]=1 .vec.h ..[server]=2 " },
	{ { .granularity = PPROF_BY_ADDRESS }, { .sample_type = 0 },
	  "0000000000400100 main main.c:5 "
	  ".0000000000400100 main main.c:5 "
	  "..0000000000400200 ns::push(int) vec.cc:7 "
	  "...0000000000400200 ns::grow(int) vec.h:42~ "
	  "....0000000000400400 malloc=1 "
	  ".0000000000400300 ns::grow(int) vec.h:42 "
	  "..0000000000400400 malloc=2 "
	  ".00007f0000000123 [libx.so]=4 "
	  "0000000000400500 [server]=8 [no stack]=16 " },
	{ { .granularity = PPROF_BY_MODULE },
	  { .sample_type = 0, .join_repeats = true },
	  "[no stack]=16 server=11 .libx.so=4 " },
	{ { .granularity = PPROF_BY_FUNCTION },
	  { .sample_type = 0, .reverse = true },
	  "[libx.so]+0x1123 .main=4 [no stack]=16 [server]+0x1500=8 "
	  "malloc .ns::grow(int)~+ ..main=2 ..ns::push(int) ...main "
	  "....main=1 " }
};

static void test_heap(void **state)
{
	struct pprof_profile *p = heap_profile();
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 20);
	for (i = 0; i < NR_OF(heaps); i++) {
		show_walk(&out, p, &heaps[i].frames, &heaps[i].walk);
		assert_string_equal(buf_cstr(&out), heaps[i].expected);
	}
	pprof_profile_free(p);
	buf_fini(&out);
}

/* Names as folded text can hold them, and the kinds that names state. */
static void test_names(void **state)
{
	struct frames_opts opts = { .granularity = PPROF_BY_FUNCTION,
				    .folded = true };
	struct pprof_limits limits;
	struct pprof_profile *p = NULL;
	struct frames frames;
	struct builder b;
	struct diags diags;
	struct line line = { 0, 0, 0 };
	loc_id loc;
	int64_t value = 1;

	(void)state;
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	builder_type(&b, builder_cstr(&b, "samples"),
		     builder_cstr(&b, "count"));
	line.func = named(&b, "a;b\tc\nd\x01" "e\x7f_[k]", "");
	loc = builder_location(&b, 0, 0, false, &line, 1);
	builder_sample(&b, builder_stack(&b, &loc, 1), 0, &value,
		       PPROF_UNIT_NONE, 0);
	assert_int_equal(builder_finish(&b, "test", &p, NULL), PPROF_OK);
	builder_fini(&b);
	assert_int_equal(frames_init(&frames, p, &opts, NULL), PPROF_OK);
	assert_int_equal(frames.nr, 2);
	assert_string_equal(frame_name(&frames, 1),
			    "a:b c d\\x01e\\x7f_[k]");
	assert_int_equal(frames.rows[1].kind, FRAME_KERNEL);
	assert_int_equal(frame_bare_len("x_[k]", 5), 1);
	assert_int_equal(frame_bare_len("_[k]", 4), 4);
	assert_int_equal(frame_bare_len("x[k]", 4), 4);
	frames_fini(&frames);
	pprof_profile_free(p);
}

/* Rows are in byte order, also where many names start alike. */
static void test_order(void **state)
{
	struct frames_opts opts = { .granularity = PPROF_BY_FUNCTION };
	struct pprof_profile *p;
	struct frames frames;
	struct buf text;
	uint32_t seed = 7;
	size_t i;

	(void)state;
	buf_init(&text, 1 << 24);
	for (i = 0; i < 5000; i++) {
		seed = seed * 1664525 + 1013904223;
		buf_printf(&text, "[a_long_common_start]+0x%x%.*s 1\n",
			   (unsigned)(seed >> 16), (int)(seed >> 30),
			   "\xff" "Zz");
	}
	p = folded_profile(buf_cstr(&text));
	assert_int_equal(frames_init(&frames, p, &opts, NULL), PPROF_OK);
	assert_true(frames.nr > 4000);
	for (i = 1; i < frames.nr; i++)
		assert_true(strcmp(frame_name(&frames, (uint32_t)i - 1),
				   frame_name(&frames, (uint32_t)i)) < 0);
	frames_fini(&frames);
	pprof_profile_free(p);
	buf_fini(&text);
}

/* The tree as text: dots, kind, name or count, total, weight. */
static void show_tree(struct buf *out, const struct tree *tree,
		      const struct frames *frames)
{
	size_t i;
	uint32_t d;

	buf_reset(out);
	for (i = 0; i < tree->nr; i++) {
		const struct tree_node *node = &tree->nodes[i];

		for (d = 0; d < node->depth; d++)
			buf_byte(out, '.');
		if (node->kind == NODE_FRAME)
			buf_str(out, frame_name(frames, node->row));
		else if (node->kind == NODE_LIGHT)
			buf_printf(out, "<%u/%llu>", node->row,
				   (unsigned long long)node->nr_below);
		else if (node->kind == NODE_DEEP)
			buf_printf(out, "<deep %llu>",
				   (unsigned long long)node->nr_below);
		buf_byte(out, '=');
		buf_i64(out, node->total);
		buf_byte(out, ' ');
	}
}

#define PLENTY 1000

static const struct {
	const char *name, *folded, *expected;
	double min_share;
	uint32_t max_depth;
	size_t max_frames;
} trees[] = {
	{ "whole", "a;b 1\na;c 2\nd 4\n", "=7 .a=3 ..b=1 ..c=2 .d=4 ", 0,
	  PLENTY, PLENTY },
	{ "runs of light siblings join",
	  "r;a 1\nr;b;x;y 2\nr;c 90\nr;d 3\nr;e;z 4\n",
	  "=100 .r=100 ..<2/4>=3 ..c=90 ..<2/3>=7 ", 0.05, PLENTY, PLENTY },
	{ "a share exactly reached stays", "a 5\nb 95\n", "=100 .a=5 .b=95 ",
	  0.05, PLENTY, PLENTY },
	{ "too deep", "a;b;c;d 1\na;b;e 2\na;f 4\n",
	  "=7 .a=7 ..b=3 ...<deep 3>=3 ..f=4 ", 0, 2, PLENTY },
	{ "no deeper than the cap", "a;b 1\n", "=1 .a=1 ..b=1 ", 0, 2,
	  PLENTY },
	{ "frames limited to the heaviest", "a;b;c 5\na;d 3\na;e 2\nf 1\n",
	  "=11 .a=10 ..b=5 ...<1/1>=5 ..<2/2>=5 .<1/1>=1 ", 0, PLENTY, 2 },
	{ "equal ones, the deeper go first", "a;b;c;d;e 1\n",
	  "=1 .a=1 ..b=1 ...c=1 ....<1/2>=1 ", 0, PLENTY, 3 },
	{ "none of equal siblings", "a;b 1\na;c 1\na;d 1\n",
	  "=3 .a=3 ..<3/3>=3 ", 0, PLENTY, 2 },
	{ "negative by size", "a;b 100\na;c -40\n",
	  "=60 .a=60 ..b=100 ..c=-40 ", 0, PLENTY, PLENTY }
};

static void test_trees(void **state)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct pprof_profile *p;
	struct frames frames;
	struct tree_cut cut;
	struct tree tree;
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1 << 20);
	for (i = 0; i < NR_OF(trees); i++) {
		struct tree_opts opts = { .min_share = trees[i].min_share,
					  .max_depth = trees[i].max_depth };

		p = folded_profile(trees[i].folded);
		assert_int_equal(frames_init(&frames, p, &frames_opts, NULL),
				 PPROF_OK);
		assert_int_equal(tree_init(&tree, &frames, p, &opts, NULL),
				 PPROF_OK);
		assert_int_equal(tree_limit(&tree, trees[i].max_frames, &cut,
					    NULL), PPROF_OK);
		show_tree(&out, &tree, &frames);
		assert_string_equal(buf_cstr(&out), trees[i].expected);
		assert_true(tree.nr_kept <= trees[i].max_frames);
		tree_fini(&tree);
		frames_fini(&frames);
		pprof_profile_free(p);
	}
	buf_fini(&out);
}

/* Sums beyond 64 bits: weights keep their proportions. */
static void test_extremes(void **state)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct tree_opts opts = { .max_depth = PLENTY };
	struct pprof_profile *p;
	struct frames frames;
	struct tree tree;

	(void)state;
	p = folded_profile("a;b 9223372036854775807\n"
			   "a;c 9223372036854775807\n"
			   "d -9223372036854775808\n");
	assert_int_equal(frames_init(&frames, p, &frames_opts, NULL),
			 PPROF_OK);
	assert_int_equal(tree_init(&tree, &frames, p, &opts, NULL), PPROF_OK);
	assert_int_equal(tree.nr, 5);
	assert_true(tree.total == (__int128)INT64_MAX * 2 + INT64_MIN);
	assert_true(tree.shift > 0);
	assert_true(tree.nodes[1].clamped);
	assert_int_equal(tree.nodes[1].total, INT64_MAX);
	assert_int_equal(tree.nodes[2].weight, tree.nodes[3].weight);
	assert_int_equal(tree.nodes[0].weight,
			 tree.nodes[1].weight + tree.nodes[4].weight);
	assert_int_equal(tree.nr_negative, 1);
	tree_fini(&tree);
	frames_fini(&frames);
	pprof_profile_free(p);
}

/* Neither depth nor width is a matter of the C stack or of quadratic time. */
static void test_large(void **state)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct tree_opts opts = { .max_depth = UINT32_MAX - 2 };
	struct pprof_profile *p;
	struct frames frames;
	struct tree tree;
	struct buf text;
	unsigned i;

	(void)state;
	buf_init(&text, 1 << 24);
	for (i = 0; i < 50000; i++)
		buf_printf(&text, "%sf%u", i ? ";" : "", i % 1000);
	buf_str(&text, " 1\n");
	for (i = 0; i < 100000; i++)
		buf_printf(&text, "s%u 1\n", i);
	p = folded_profile(buf_cstr(&text));
	assert_int_equal(frames_init(&frames, p, &frames_opts, NULL),
			 PPROF_OK);
	for (i = 0; i < 2; i++) {
		opts.walk.reverse = i;
		assert_int_equal(tree_init(&tree, &frames, p, &opts, NULL),
				 PPROF_OK);
		assert_int_equal(tree.nr, 150001);
		assert_int_equal(tree.nr_frames, 150000);
		assert_int_equal(tree.deepest, 50000);
		assert_int_equal(tree.nodes[0].total, 100001);
		tree_fini(&tree);
	}
	frames_fini(&frames);
	pprof_profile_free(p);
	buf_fini(&text);
}

/* Every failing allocation is a status, and nothing leaks. */
static void test_out_of_memory(void **state)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct tree_opts opts = { .max_depth = PLENTY };
	struct pprof_profile *p = heap_profile();
	enum pprof_status status = PPROF_NOMEM;
	struct frames frames;
	struct tree tree;
	uint64_t n;

	(void)state;
	for (n = 1; status == PPROF_NOMEM; n++) {
		mem_fail_nth(n, true);
		status = frames_init(&frames, p, &frames_opts, NULL);
		if (!status)
			status = tree_init(&tree, &frames, p, &opts, NULL);
		mem_fail_nth(0, false);
		if (!status)
			tree_fini(&tree);
		frames_fini(&frames);
		assert_true(n < 1000);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(n > 10);
	pprof_profile_free(p);
}

static bool walk_all(void *walk, struct walk_node *node)
{
	return walk_next(walk, node);
}

/* Trees that were built with and without passing over light branches. */
static void assert_same_tree(const struct tree *a, const struct tree *b,
			     size_t nr_rows)
{
	size_t i;

	assert_int_equal(a->nr, b->nr);
	assert_int_equal(a->nr_frames, b->nr_frames);
	assert_int_equal(a->nr_kept, b->nr_kept);
	assert_int_equal(a->deepest, b->deepest);
	assert_true(a->total == b->total);
	for (i = 0; i < nr_rows; i++)
		assert_int_equal(a->row_self[i], b->row_self[i]);
	for (i = 0; i < a->nr; i++) {
		assert_int_equal(a->nodes[i].kind, b->nodes[i].kind);
		assert_int_equal(a->nodes[i].total, b->nodes[i].total);
		assert_int_equal(a->nodes[i].self, b->nodes[i].self);
		assert_int_equal(a->nodes[i].weight, b->nodes[i].weight);
		assert_int_equal(a->nodes[i].depth, b->nodes[i].depth);
		assert_int_equal(a->nodes[i].row, b->nodes[i].row);
		assert_int_equal(a->nodes[i].nr_below, b->nodes[i].nr_below);
	}
}

static void compare_trees(const struct pprof_profile *p, double share,
			  uint32_t depth)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION };
	struct tree_opts opts = { .min_share = share, .max_depth = depth };
	struct tree tree, walked;
	struct frames frames;
	struct walk walk;

	assert_int_equal(frames_init(&frames, p, &frames_opts, NULL),
			 PPROF_OK);
	assert_int_equal(walk_init(&walk, &frames, p, &opts.walk, NULL),
			 PPROF_OK);
	assert_int_equal(tree_build(&walked, &frames, walk_all, &walk,
				    walk.worth.weight, &opts, NULL),
			 PPROF_OK);
	assert_int_equal(tree_init(&tree, &frames, p, &opts, NULL), PPROF_OK);
	assert_same_tree(&tree, &walked, frames.nr);
	tree_fini(&tree);
	tree_fini(&walked);
	walk_fini(&walk);
	frames_fini(&frames);
}

/* Branches that are not walked count as if they were. */
static void test_passed_over(void **state)
{
	static const double shares[] = { 0, 0.001, 0.01, 0.1, 0.6 };
	static const uint32_t depths[] = { 1, 3, PLENTY };
	uint64_t seed = 1;
	struct pprof_profile *p;
	struct buf text;
	size_t i, j;

	(void)state;
	buf_init(&text, PTRDIFF_MAX);
	for (i = 0; i < 3000; i++) {
		buf_str(&text, "main");
		for (j = i % 9; j; j--) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			buf_printf(&text, ";f%u", (unsigned)(seed >> 61));
		}
		buf_printf(&text, " %u\n", (unsigned)(seed >> 40) % 7);
	}
	buf_str(&text, "alone 5\n");
	p = folded_profile(buf_cstr(&text));
	for (i = 0; i < NR_OF(shares); i++)
		for (j = 0; j < NR_OF(depths); j++)
			compare_trees(p, shares[i], depths[j]);
	pprof_profile_free(p);
	p = heap_profile();
	compare_trees(p, 0.1, PLENTY);
	pprof_profile_free(p);
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_passed_over),
		cmocka_unit_test(test_out_of_memory)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
