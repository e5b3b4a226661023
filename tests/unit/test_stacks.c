/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree of stacks against the plainest model there is: a list of arrays.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/stacks.h"

#define DEPTH_MAX 12
#define NR 4000

/* Stacks as they were added, root first. */
struct model {
	loc_id locs[NR][DEPTH_MAX];
	size_t depth[NR];
	stack_id ids[NR];
};

static uint32_t seed;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

static void expect_stack(const struct stacks *stacks, stack_id id,
			 const loc_id *root_first, size_t nr)
{
	loc_id got[DEPTH_MAX];
	size_t i;

	assert_int_equal(stacks_depth(stacks, id), nr);
	stacks_leaf_first(stacks, id, got);
	for (i = 0; i < nr; i++)
		assert_int_equal(got[nr - 1 - i], root_first[i]);
}

static void test_splits(void **state)
{
	static const struct {
		const char *name;
		loc_id locs[6];
		size_t nr;
		size_t nr_nodes; /* afterwards, node 0 included */
	} rows[] = {
		{ "one run", { 1, 2, 3, 4 }, 4, 2 },
		{ "the same", { 1, 2, 3, 4 }, 4, 2 },
		{ "cut in the middle", { 1, 2, 9 }, 3, 4 },
		{ "the upper part itself", { 1, 2 }, 2, 4 },
		{ "cut once more", { 1 }, 1, 5 },
		{ "goes on below a leaf", { 1, 2, 3, 4, 5 }, 5, 6 },
		{ "another root", { 2, 1 }, 2, 7 },
		{ "recursion", { 7, 7, 7, 7, 7 }, 5, 8 },
		{ "less recursion", { 7, 7 }, 2, 9 },
		{ "empty", { 0 }, 0, 9 },
	};
	const size_t nr_rows = sizeof(rows) / sizeof(*rows);
	stack_id ids[sizeof(rows) / sizeof(*rows)];
	struct stacks stacks;
	size_t i, j;

	(void)state;
	assert_true(stacks_init(&stacks));
	for (i = 0; i < nr_rows; i++) {
		ids[i] = stacks_add(&stacks, rows[i].locs, rows[i].nr);
		if (stacks.nr != rows[i].nr_nodes)
			fail_msg("%s: %zu nodes", rows[i].name, stacks.nr);
		/* Ids given before still mean what they meant. */
		for (j = 0; j <= i; j++)
			expect_stack(&stacks, ids[j], rows[j].locs,
				     rows[j].nr);
	}
	assert_int_equal(ids[0], ids[1]);
	assert_int_equal(ids[nr_rows - 1], 0);
	stacks_freeze(&stacks);
	for (j = 0; j < nr_rows; j++)
		expect_stack(&stacks, ids[j], rows[j].locs, rows[j].nr);
	stacks_fini(&stacks);
}

/* Stacks like those of programs: each a variation of the one before. */
static void fill_model(struct model *model)
{
	loc_id now[DEPTH_MAX];
	size_t depth = 0, i;

	for (i = 0; i < NR; i++) {
		size_t keep = depth ? next_random((uint32_t)depth + 1) : 0;
		size_t more = next_random(DEPTH_MAX + 1 - (uint32_t)keep);

		for (depth = keep; depth < keep + more; depth++)
			now[depth] = 1 + next_random(5);
		memcpy(model->locs[i], now, sizeof(now));
		model->depth[i] = depth;
	}
}

static bool is_same(const struct model *model, size_t a, size_t b)
{
	return model->depth[a] == model->depth[b] &&
	       !memcmp(model->locs[a], model->locs[b],
		       model->depth[a] * sizeof(loc_id));
}

static void check_tree(const struct stacks *stacks)
{
	size_t i;

	for (i = 1; i < stacks->nr; i++) {
		const struct stack_node *node = &stacks->nodes[i];

		assert_true(node->nr_locs >= 1);
		assert_int_equal(node->first, stacks->locs[node->run]);
		assert_true(node->run + node->nr_locs <= stacks->nr_locs);
		assert_true(node->parent < stacks->nr && node->parent != i);
	}
}

static void test_model(void **state)
{
	static struct model model;
	struct stacks stacks;
	size_t i, j;

	(void)state;
	seed = 7;
	fill_model(&model);
	assert_true(stacks_init(&stacks));
	for (i = 0; i < NR; i++)
		model.ids[i] = stacks_add(&stacks, model.locs[i],
					  model.depth[i]);
	check_tree(&stacks);
	for (i = 0; i < NR; i++) {
		expect_stack(&stacks, model.ids[i], model.locs[i],
			     model.depth[i]);
		for (j = i + 1; j < NR; j += 97)
			assert_int_equal(model.ids[i] == model.ids[j],
					 is_same(&model, i, j));
	}
	/* Shared upper frames are held once. */
	assert_true(stacks.nr_locs < NR * (size_t)DEPTH_MAX / 4);
	stacks_fini(&stacks);
}

/* Every node but 0 is the child of its parent once, in order of rank. */
static void test_children(void **state)
{
	static const uint32_t rank[] = { 0, 5, 3, 4, 1, 2 };
	static struct model model;
	struct stacks stacks;
	uint32_t *start;
	stack_id *children;
	size_t i, j, nr = 0;

	(void)state;
	seed = 11;
	fill_model(&model);
	assert_true(stacks_init(&stacks));
	for (i = 0; i < NR; i++)
		assert_int_not_equal(stacks_add(&stacks, model.locs[i],
						model.depth[i]), STACK_NONE);
	assert_true(stacks_children(&stacks, rank, 6, &start, &children));
	for (i = 0; i < stacks.nr; i++) {
		for (j = start[i]; j < start[i + 1]; j++, nr++) {
			assert_int_equal(stacks.nodes[children[j]].parent, i);
			assert_true(j == start[i] ||
				    rank[stacks.nodes[children[j - 1]].first] <
				    rank[stacks.nodes[children[j]].first]);
		}
	}
	assert_int_equal(nr, stacks.nr - 1);
	mem_free(start);
	mem_free(children);
	assert_true(stacks_children(&stacks, NULL, 0, &start, &children));
	assert_int_equal(start[stacks.nr], stacks.nr - 1);
	for (i = 1; i < start[1]; i++)
		assert_true(children[i - 1] < children[i]);
	mem_free(start);
	mem_free(children);
	stacks_fini(&stacks);
}

/* Any allocation may fail; the tree stays whole and the add can be redone. */
static void test_no_memory(void **state)
{
	static struct model model;
	struct stacks stacks;
	uint64_t n;
	size_t i;

	(void)state;
	seed = 13;
	fill_model(&model);
	mem_fail_nth(1, true);
	assert_false(stacks_init(&stacks));
	mem_fail_nth(0, false);
	assert_true(stacks_init(&stacks));
	for (i = 0; i < 600; i++) {
		for (n = 1;; n++) {
			mem_fail_nth(n, true);
			model.ids[i] = stacks_add(&stacks, model.locs[i],
						  model.depth[i]);
			mem_fail_nth(0, false);
			if (model.ids[i] != STACK_NONE)
				break;
			assert_true(n < 20);
		}
	}
	check_tree(&stacks);
	for (i = 0; i < 600; i++)
		expect_stack(&stacks, model.ids[i], model.locs[i],
			     model.depth[i]);
	stacks_fini(&stacks);
}

/* Add model stacks [from, from + nr) at once; false when out of memory. */
static bool add_some(struct stacks *stacks, struct model *model, size_t from,
		     size_t nr)
{
	struct stack_span spans[STACKS_BATCH];
	size_t i;

	for (i = 0; i < nr; i++) {
		spans[i].first = (from + i) * DEPTH_MAX;
		spans[i].nr = model->depth[from + i];
		spans[i].below = 0;
	}
	return stacks_add_batch(stacks, &model->locs[0][0], spans, nr,
				&model->ids[from]);
}

/*
 * Stacks added together, of which many split what another one of them stands
 * on, make the tree that they make one by one.
 */
static void test_batches(void **state)
{
	static struct model model;
	struct stacks stacks, single;
	size_t i, nr, plain;
	stack_id id;

	(void)state;
	seed = 17;
	fill_model(&model);
	assert_true(stacks_init(&stacks));
	assert_true(stacks_init(&single));
	for (i = 0; i < NR; i += nr) {
		nr = 1 + next_random(STACKS_BATCH);
		if (nr > NR - i)
			nr = NR - i;
		assert_true(add_some(&stacks, &model, i, nr));
		/* The single adder goes on from what a batch left. */
		id = stacks_add(&stacks, model.locs[i], model.depth[i]);
		assert_int_equal(id, model.ids[i]);
	}
	check_tree(&stacks);
	for (i = 0; i < NR; i++) {
		plain = stacks_add(&single, model.locs[i], model.depth[i]);
		assert_int_not_equal(plain, STACK_NONE);
		expect_stack(&stacks, model.ids[i], model.locs[i],
			     model.depth[i]);
	}
	assert_int_equal(stacks.nr, single.nr);
	assert_int_equal(stacks.nr_locs, single.nr_locs);
	stacks_fini(&stacks);
	stacks_fini(&single);
}

/* A stack in two parts, the second one below where the first has come to. */
static void test_below(void **state)
{
	static struct model model;
	struct stack_span span;
	struct stacks stacks;
	stack_id upper, id;
	size_t i;

	(void)state;
	seed = 23;
	fill_model(&model);
	assert_true(stacks_init(&stacks));
	for (i = 0; i < NR; i++) {
		span.first = i * DEPTH_MAX;
		span.nr = next_random((uint32_t)model.depth[i] + 1);
		span.below = 0;
		assert_true(stacks_add_batch(&stacks, &model.locs[0][0],
					     &span, 1, &upper));
		span.first += span.nr;
		span.nr = model.depth[i] - span.nr;
		span.below = upper;
		assert_true(stacks_add_batch(&stacks, &model.locs[0][0],
					     &span, 1, &model.ids[i]));
		id = stacks_add(&stacks, model.locs[i], model.depth[i]);
		assert_int_equal(id, model.ids[i]);
	}
	check_tree(&stacks);
	for (i = 0; i < NR; i++)
		expect_stack(&stacks, model.ids[i], model.locs[i],
			     model.depth[i]);
	stacks_fini(&stacks);
}

/* A batch that fails half-way may be added again. */
static void test_batch_no_memory(void **state)
{
	static struct model model;
	struct stacks stacks;
	uint64_t n;
	size_t i;

	(void)state;
	seed = 19;
	fill_model(&model);
	assert_true(stacks_init(&stacks));
	for (i = 0; i < 640; i += STACKS_BATCH) {
		for (n = 1;; n++) {
			bool ok;

			mem_fail_nth(n, true);
			ok = add_some(&stacks, &model, i, STACKS_BATCH);
			mem_fail_nth(0, false);
			if (ok)
				break;
			assert_true(n < 40);
			check_tree(&stacks);
		}
	}
	for (i = 0; i < 640; i++)
		expect_stack(&stacks, model.ids[i], model.locs[i],
			     model.depth[i]);
	stacks_fini(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_batch_no_memory),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
