/* SPDX-License-Identifier: Apache-2.0
 *
 * Pre-order walk over the merged call tree. A cursor is a place in the tree
 * of stacks; the cursors on one frame under one parent are a node, and their
 * successors, sorted by frame, are its children.
 */
#include <config.h>

#include "base/mem.h"
#include "view/walk.h"

#include <stdlib.h>
#include <string.h>

/* Most cursors open at a time. */
#define MAX_CURSORS ((size_t)UINT32_MAX)

/* Cursors that are sorted by insertion. */
#define SMALL_SORT 24

struct walk_cursor {
	uint32_t row;    /* of the frame it stands on */
	uint32_t depth;
	stack_id node;   /* STACK_NONE: the empty stack's frame */
	uint32_t pos;    /* location within the node's run */
	uint32_t step;   /* index into frames.loc_steps */
	stack_id origin; /* reverse only: the stack that is walked up */
};

static loc_id cursor_location(const struct walk *walk,
			      const struct walk_cursor *cursor)
{
	const struct stacks *stacks = &walk->profile->stacks;

	return stacks->locs[stacks->nodes[cursor->node].run + cursor->pos];
}

/* Put the cursor on the first or last frame of its location and open it. */
static void open_at_location(struct walk *walk, struct walk_cursor cursor)
{
	const struct frames *f = walk->frames;
	loc_id loc = cursor_location(walk, &cursor);

	cursor.step = walk->opts.reverse ? f->loc_start[loc + 1] - 1
					 : f->loc_start[loc];
	cursor.row = STEP_ROW(f->loc_steps[cursor.step]);
	walk->open[walk->nr_open++] = cursor;
}

static bool reserve_open(struct walk *walk, size_t nr)
{
	if (mem_grow(walk->open, walk->cap_open, walk->nr_open + nr,
		     MAX_CURSORS))
		return true;
	walk->failed = true;
	return false;
}

/* Children whose rows are fetched ahead: more are not reached in time. */
#define PREFETCH_CHILDREN 8

/* Siblings lie anywhere in memory: have their rows on the way together. */
__attribute__((always_inline))
static inline void prefetch_children(const struct walk *walk, uint32_t start,
				     uint32_t end)
{
	const struct stacks *stacks = &walk->profile->stacks;
	uint32_t i;

	if (end - start > PREFETCH_CHILDREN)
		start = end - PREFETCH_CHILDREN;
	for (i = start; i < end; i++) {
		__builtin_prefetch(&stacks->nodes[walk->children[i]]);
		__builtin_prefetch(&walk->worth.live[walk->children[i]]);
		__builtin_prefetch(&walk->child_start[walk->children[i]]);
	}
	for (i = start; i < end; i++)
		__builtin_prefetch(&stacks->locs
				   [stacks->nodes[walk->children[i]].run]);
}

/* Open the children of a stack, last one first. */
static bool open_children(struct walk *walk, stack_id node, uint32_t depth)
{
	struct walk_cursor child = { .depth = depth };
	uint32_t start = walk->child_start[node];
	uint32_t i = walk->child_start[node + 1];

	if (!reserve_open(walk, i - start))
		return false;
	prefetch_children(walk, start, i);
	while (i-- > start) {
		child.node = walk->children[i];
		if (walk->worth.live[child.node])
			open_at_location(walk, child);
	}
	return true;
}

/* The empty stack shows as a frame of its own. */
static bool open_no_stack(struct walk *walk)
{
	struct walk_cursor cursor = { .node = STACK_NONE, .depth = 1 };

	if (!walk->worth.values[0])
		return true;
	if (!reserve_open(walk, 1))
		return false;
	cursor.row = walk->frames->no_stack;
	walk->open[walk->nr_open++] = cursor;
	return true;
}

/* One cursor at the leaf of every stack with a value. */
static bool open_leaves(struct walk *walk)
{
	const struct stacks *stacks = &walk->profile->stacks;
	struct walk_cursor cursor = { .depth = 1 };
	size_t nr = 0, i;

	for (i = 1; i < stacks->nr; i++)
		nr += walk->worth.values[i] != 0;
	if (!reserve_open(walk, nr))
		return false;
	for (i = 1; i < stacks->nr; i++) {
		if (!walk->worth.values[i])
			continue;
		cursor.node = (stack_id)i;
		cursor.origin = (stack_id)i;
		cursor.pos = stacks->nodes[i].nr_locs - 1;
		open_at_location(walk, cursor);
	}
	return true;
}

static int compare_cursors(const void *a, const void *b)
{
	const struct walk_cursor *ca = a, *cb = b;

	return (ca->row < cb->row) - (ca->row > cb->row);
}

/* Order open[from..] so that the least row comes last. */
static void sort_open(struct walk *walk, size_t from)
{
	size_t nr = walk->nr_open - from, i, j;
	struct walk_cursor *c, move;

	if (nr < 2)
		return;
	c = walk->open + from;
	for (i = 1; i < nr && c[i - 1].row >= c[i].row; i++)
		;
	if (i >= nr)
		return;
	if (nr > SMALL_SORT) {
		qsort(c, nr, sizeof(*c), compare_cursors);
		return;
	}
	for (; i < nr; i++) {
		move = c[i];
		for (j = i; j && c[j - 1].row < move.row; j--)
			c[j] = c[j - 1];
		c[j] = move;
	}
}

/* What ends at a node. */
struct walk_sum {
	__int128 self;
	double var;
};

static void add_stack(const struct walk *walk, stack_id stack,
		      struct walk_sum *sum)
{
	sum->self += walk->worth.values[stack];
	if (walk->worth.vars)
		sum->var += walk->worth.vars[stack];
}

/*
 * Along a run it is known what comes next: have the rows of the coming
 * frames on the way, one step of the chain of look-ups a frame. Always
 * inline: gcc takes a function that only prefetches for one without effect.
 */
__attribute__((always_inline))
static inline void prefetch_run(const struct walk *walk,
				const struct walk_cursor *cursor)
{
	const struct stacks *stacks = &walk->profile->stacks;
	const struct stack_node *node = &stacks->nodes[cursor->node];
	const loc_id *loc = stacks->locs + node->run + cursor->pos;
	uint32_t left = node->nr_locs - cursor->pos;
	const struct frames *f = walk->frames;

	if (left > 10)
		__builtin_prefetch(&f->loc_start[loc[10]]);
	if (left > 8)
		__builtin_prefetch(&f->loc_steps[f->loc_start[loc[8]]]);
	if (left > 6)
		__builtin_prefetch(&f->rows[STEP_ROW(
			f->loc_steps[f->loc_start[loc[6]]])]);
	if (left > 4)
		frame_prefetch_name(f, STEP_ROW(
			f->loc_steps[f->loc_start[loc[4]]]));
	if (left > 2)
		__builtin_prefetch(frame_name(f, STEP_ROW(
			f->loc_steps[f->loc_start[loc[2]]])));
}

/* Open what comes below the cursor; adds to *sum where a stack ends. */
static bool advance_forward(struct walk *walk, struct walk_cursor cursor,
			    struct walk_sum *sum)
{
	const struct frames *f = walk->frames;
	loc_id loc = cursor_location(walk, &cursor);

	cursor.depth++;
	if (cursor.step + 1 < f->loc_start[loc + 1]) {
		if (!reserve_open(walk, 1))
			return false;
		cursor.row = STEP_ROW(f->loc_steps[++cursor.step]);
		walk->open[walk->nr_open++] = cursor;
		return true;
	}
	if (cursor.pos + 1 < walk->profile->stacks.nodes[cursor.node].nr_locs) {
		if (!reserve_open(walk, 1))
			return false;
		cursor.pos++;
		prefetch_run(walk, &cursor);
		open_at_location(walk, cursor);
		return true;
	}
	add_stack(walk, cursor.node, sum);
	return open_children(walk, cursor.node, cursor.depth);
}

static bool advance_reverse(struct walk *walk, struct walk_cursor cursor,
			    struct walk_sum *sum)
{
	const struct stack_node *nodes = walk->profile->stacks.nodes;
	const struct frames *f = walk->frames;
	loc_id loc = cursor_location(walk, &cursor);

	if (!reserve_open(walk, 1))
		return false;
	cursor.depth++;
	if (cursor.step > f->loc_start[loc]) {
		cursor.row = STEP_ROW(f->loc_steps[--cursor.step]);
		walk->open[walk->nr_open++] = cursor;
		return true;
	}
	if (!cursor.pos) {
		cursor.node = nodes[cursor.node].parent;
		if (!cursor.node) {
			add_stack(walk, cursor.origin, sum);
			return true;
		}
		cursor.pos = nodes[cursor.node].nr_locs;
	}
	cursor.pos--;
	open_at_location(walk, cursor);
	return true;
}

static bool advance(struct walk *walk, const struct walk_cursor *cursor,
		    struct walk_sum *sum)
{
	if (cursor->node == STACK_NONE) {
		add_stack(walk, 0, sum);
		return true;
	}
	return walk->opts.reverse ? advance_reverse(walk, *cursor, sum)
				  : advance_forward(walk, *cursor, sum);
}

static bool add_to_group(struct walk *walk, const struct walk_cursor *cursor)
{
	if (!mem_grow(walk->group, walk->cap_group, walk->nr_group + 1,
		      MAX_CURSORS)) {
		walk->failed = true;
		return false;
	}
	walk->group[walk->nr_group++] = *cursor;
	return true;
}

/* Move the cursors that make the next node from `open` to `group`. */
static bool take_group(struct walk *walk)
{
	const struct walk_cursor *top = &walk->open[walk->nr_open - 1];
	uint32_t row = top->row, depth = top->depth;

	walk->nr_group = 0;
	while (top->row == row && top->depth == depth) {
		if (!add_to_group(walk, top))
			return false;
		if (!--walk->nr_open)
			break;
		top--;
	}
	return true;
}

/* Take back opened cursors that stand on the node's own frame. */
static bool join_repeats(struct walk *walk, size_t from, uint32_t row,
			 uint32_t depth)
{
	size_t i;

	for (i = from; i < walk->nr_open; i++) {
		if (walk->open[i].row != row)
			continue;
		if (!add_to_group(walk, &walk->open[i]))
			return false;
		walk->group[walk->nr_group - 1].depth = depth;
		walk->open[i--] = walk->open[--walk->nr_open];
	}
	return true;
}

static void count_inlined(const struct walk *walk,
			  const struct walk_cursor *cursor,
			  struct walk_node *node)
{
	if (cursor->node != STACK_NONE &&
	    STEP_INLINED(walk->frames->loc_steps[cursor->step]))
		node->inlined = true;
	else
		node->called = true;
}

/* The next node is a single cursor's, which walks down its own stack. */
static bool next_is_alone(const struct walk *walk)
{
	const struct walk_cursor *top = &walk->open[walk->nr_open - 1];

	return !walk->opts.reverse && !walk->opts.join_repeats &&
	       top->node != STACK_NONE &&
	       (walk->nr_open == 1 || top[-1].row != top->row ||
		top[-1].depth != top->depth);
}

/*
 * The next node is one cursor's alone, and its stack goes on with one frame:
 * most of a profile that shares little. Moves that cursor in place. False,
 * nothing changed, when it is not so.
 */
static bool step_along_run(struct walk *walk, struct walk_node *node)
{
	const struct stacks *stacks = &walk->profile->stacks;
	struct walk_cursor *top = &walk->open[walk->nr_open - 1];
	const struct frames *f = walk->frames;
	const struct stack_node *run;
	loc_id loc;

	if (!next_is_alone(walk))
		return false;
	run = &stacks->nodes[top->node];
	if (top->pos + 1 >= run->nr_locs)
		return false;
	loc = stacks->locs[run->run + top->pos];
	if (top->step + 1 != f->loc_start[loc + 1])
		return false;
	memset(node, 0, sizeof(*node));
	node->row = top->row;
	node->depth = top->depth;
	node->inlined = STEP_INLINED(f->loc_steps[top->step]);
	node->called = !node->inlined;
	top->depth++;
	top->pos++;
	prefetch_run(walk, top);
	loc = stacks->locs[run->run + top->pos];
	top->step = f->loc_start[loc];
	top->row = STEP_ROW(f->loc_steps[top->step]);
	return true;
}

size_t walk_run(const struct walk *walk, const loc_id **ret_locs,
		uint32_t *ret_depth)
{
	const struct stacks *stacks = &walk->profile->stacks;
	const struct walk_cursor *top;
	const struct stack_node *run;
	const loc_id *locs;

	if (walk->failed || !walk->nr_open || !next_is_alone(walk))
		return 0;
	top = &walk->open[walk->nr_open - 1];
	run = &stacks->nodes[top->node];
	locs = stacks->locs + run->run + top->pos;
	if (top->step != walk->frames->loc_start[*locs])
		return 0;
	*ret_locs = locs;
	*ret_depth = top->depth;
	/* The run's last location may have a value and branches below it. */
	return run->nr_locs - 1 - top->pos;
}

void walk_pass_run(struct walk *walk, size_t nr, uint32_t depth)
{
	struct walk_cursor *top = &walk->open[walk->nr_open - 1];

	top->pos += (uint32_t)nr;
	top->depth = depth;
	top->step = walk->frames->loc_start[cursor_location(walk, top)];
	top->row = STEP_ROW(walk->frames->loc_steps[top->step]);
}

/* Give the subtree at hand as one node if it is light; false if not. */
static bool pass_subtree(struct walk *walk, struct walk_node *node)
{
	const struct walk_cursor *top = &walk->open[walk->nr_open - 1];
	const struct walk_below *below;

	/* All of a run weighs the same: its first frame decides. */
	if (top->pos || top->node == STACK_NONE)
		return false;
	below = &walk->below[top->node];
	if (below->weight >= walk->min_weight)
		return false;
	memset(node, 0, sizeof(*node));
	node->row = top->row;
	node->depth = top->depth;
	node->called = true;
	node->self = (int64_t)below->weight;
	node->weight = below->weight;
	node->nr_below = below->nr_frames - 1;
	node->deepest = top->depth + below->height - 1;
	walk->nr_open--;
	return true;
}

bool walk_next(struct walk *walk, struct walk_node *node)
{
	struct walk_sum sum = { 0, 0 };
	size_t from, i;
	__int128 self;

	if (walk->failed || !walk->nr_open)
		return false;
	if (walk->below && pass_subtree(walk, node))
		return true;
	if (step_along_run(walk, node))
		return true;
	if (!take_group(walk))
		return false;
	memset(node, 0, sizeof(*node));
	node->row = walk->group[0].row;
	node->depth = walk->group[0].depth;
	from = walk->nr_open;
	for (i = 0; i < walk->nr_group; i++) {
		count_inlined(walk, &walk->group[i], node);
		if (!advance(walk, &walk->group[i], &sum))
			return false;
		if (walk->opts.join_repeats &&
		    !join_repeats(walk, from, node->row, node->depth))
			return false;
	}
	sort_open(walk, from);
	self = sum.self;
	node->var = sum.var;
	node->self = clamp_i64(self);
	node->clamped = self != node->self;
	node->weight = (uint64_t)((self < 0 ? -self : self) >>
				  walk->worth.shift);
	return true;
}

static bool start(struct walk *walk)
{
	struct stack_values_opts opts = {
		.sample_type = walk->opts.sample_type,
		.with_noise = walk->opts.with_noise,
		.side = walk->opts.side
	};

	if (!stack_values_init(&walk->worth, walk->profile, &opts))
		return false;
	if (walk->opts.reverse ? !open_leaves(walk)
			       : !open_children(walk, 0, 1))
		return false;
	if (!open_no_stack(walk))
		return false;
	sort_open(walk, 0);
	return true;
}

/* Each location is one frame that no other location is. */
static bool is_one_to_one(const struct walk *walk)
{
	const struct frames *f = walk->frames;
	size_t nr = walk->profile->nr_locations, i;
	uint8_t *seen = mem_zalloc(f->nr, 1);
	bool ok = seen;

	for (i = 1; i < nr && ok; i++) {
		uint32_t row = STEP_ROW(f->loc_steps[f->loc_start[i]]);

		ok = f->loc_start[i + 1] == f->loc_start[i] + 1 && !seen[row];
		seen[row] = 1;
	}
	mem_free(seen);
	return ok;
}

/* Add what is below a node to what is below its parent. */
static void add_below(struct walk_below *parent,
		      const struct walk_below *below)
{
	parent->weight += below->weight;
	parent->nr_frames += below->nr_frames;
	if (below->height > parent->height)
		parent->height = below->height;
}

/*
 * Sum up from the leaves: a node is complete when the last of its `left`
 * children was added to it. Ids are in no order of depth.
 */
static void sum_below(struct walk *walk, uint32_t *left)
{
	const struct stacks *stacks = &walk->profile->stacks;
	const struct stack_node *node;
	size_t i;
	stack_id id;

	for (i = 1; i < stacks->nr; i++) {
		walk->below[i].weight = (uint64_t)walk->worth.values[i];
		left[i] = walk->child_start[i + 1] - walk->child_start[i];
	}
	left[0] = UINT32_MAX;
	for (i = 1; i < stacks->nr; i++) {
		if (walk->child_start[i + 1] != walk->child_start[i])
			continue;
		for (id = (stack_id)i; !left[id]; id = node->parent) {
			node = &stacks->nodes[id];
			if (walk->worth.live[id]) {
				walk->below[id].nr_frames += node->nr_locs;
				walk->below[id].height += node->nr_locs;
				add_below(&walk->below[node->parent],
					  &walk->below[id]);
			}
			left[node->parent]--;
		}
	}
}

bool walk_pass_light(struct walk *walk, uint64_t min_weight, bool *ret_passes)
{
	const struct walk_opts *opts = &walk->opts;
	size_t nr = walk->profile->stacks.nr;
	uint32_t *left;

	*ret_passes = walk->one_to_one && !opts->reverse &&
		      !opts->join_repeats && !opts->with_noise &&
		      !walk->worth.nr_negative && !walk->worth.shift;
	if (!*ret_passes)
		return true;
	walk->min_weight = min_weight;
	walk->below = mem_zalloc(nr, sizeof(*walk->below));
	left = mem_alloc(nr, sizeof(*left));
	if (walk->below && left)
		sum_below(walk, left);
	else
		walk->failed = true;
	mem_free(left);
	return !walk->failed;
}

void walk_sum_selfs(const struct walk *walk, int64_t *selfs)
{
	const struct stacks *stacks = &walk->profile->stacks;
	const struct frames *f = walk->frames;
	const struct stack_node *node;
	loc_id leaf;
	size_t i;

	selfs[f->no_stack] += walk->worth.values[0];
	for (i = 1; i < stacks->nr; i++) {
		if (!walk->worth.values[i])
			continue;
		node = &stacks->nodes[i];
		leaf = stacks->locs[node->run + node->nr_locs - 1];
		selfs[STEP_ROW(f->loc_steps[f->loc_start[leaf]])] +=
			walk->worth.values[i];
	}
}

/* Rank of each location: the row of its outermost frame. */
static bool list_children(struct walk *walk)
{
	const struct frames *f = walk->frames;
	size_t nr = walk->profile->nr_locations, i;
	uint32_t *rank = mem_alloc(nr, sizeof(*rank));
	bool ok;

	if (!rank)
		return false;
	for (i = 1; i < nr; i++)
		rank[i] = STEP_ROW(f->loc_steps[f->loc_start[i]]);
	ok = stacks_children(&walk->profile->stacks, rank, f->nr,
			     &walk->child_start, &walk->children);
	mem_free(rank);
	walk->one_to_one = is_one_to_one(walk);
	return ok;
}

enum pprof_status walk_init(struct walk *walk, const struct frames *frames,
			    const struct pprof_profile *profile,
			    const struct walk_opts *opts,
			    struct pprof_error *err)
{
	memset(walk, 0, sizeof(*walk));
	walk->frames = frames;
	walk->profile = profile;
	walk->opts = *opts;
	if ((opts->reverse || list_children(walk)) && start(walk))
		return PPROF_OK;
	walk_fini(walk);
	return error_nomem(err);
}

void walk_fini(struct walk *walk)
{
	stack_values_fini(&walk->worth);
	mem_free(walk->child_start);
	mem_free(walk->children);
	mem_free(walk->open);
	mem_free(walk->group);
	mem_free(walk->below);
	memset(walk, 0, sizeof(*walk));
}
