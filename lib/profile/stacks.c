/* SPDX-License-Identifier: Apache-2.0
 *
 * Path-compressed tree of interned stacks; see stacks.h for the layout.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/stacks.h"

#include <string.h>

/* Ids and run indexes are 32 bits wide; the last value means "none". */
#define MAX_NODES ((size_t)UINT32_MAX - 1)
#define MAX_LOCS ((size_t)UINT32_MAX - 1)

#define FIRST_SLOTS 64

/* A step down adds a leaf at most, or the upper part of a node and a leaf. */
#define NODES_A_STEP 2

static uint64_t hash_child(stack_id parent, loc_id first)
{
	uint64_t hash = ((uint64_t)parent << 32 | first) *
			UINT64_C(0x9e3779b97f4a7c15);

	/* The high half is mixed well (Fibonacci hashing), the low is not. */
	return hash ^ hash >> 29;
}

/* Where the probing for a hash starts. */
static size_t home_slot(uint64_t hash, size_t mask)
{
	return (size_t)(hash >> 20) & mask;
}

/* Put a node into the first free slot from its home on. */
static void put_slot(struct stack_slot *slots, size_t mask, stack_id id,
		     const struct stack_node *node)
{
	uint64_t hash = hash_child(node->parent, node->first);
	size_t i = home_slot(hash, mask);

	while (slots[i].node)
		i = (i + 1) & mask;
	slots[i].tag = (uint32_t)hash;
	slots[i].node = id;
}

/* Keep at least a quarter of the slots free when `more` nodes come. */
static bool reserve_slots(struct stacks *stacks, size_t more)
{
	size_t nr = stacks->slots ? stacks->mask + 1 : 0;
	size_t wanted = nr ? nr * 2 : FIRST_SLOTS, i;
	struct stack_slot *slots;

	if (stacks->nr + more <= nr / 4 * 3)
		return true;
	slots = mem_zalloc(wanted, sizeof(*slots));
	if (!slots)
		return false;
	for (i = 1; i < stacks->nr; i++)
		put_slot(slots, wanted - 1, (stack_id)i, &stacks->nodes[i]);
	mem_free(stacks->slots);
	stacks->slots = slots;
	stacks->mask = wanted - 1;
	return true;
}

bool stacks_init(struct stacks *stacks)
{
	memset(stacks, 0, sizeof(*stacks));
	if (!mem_grow(stacks->nodes, stacks->cap, 1, MAX_NODES))
		return false;
	memset(stacks->nodes, 0, sizeof(*stacks->nodes));
	stacks->nr = 1;
	return true;
}

void stacks_fini(struct stacks *stacks)
{
	stacks_freeze(stacks);
	mem_free(stacks->nodes);
	mem_free(stacks->locs);
	memset(stacks, 0, sizeof(*stacks));
}

void stacks_freeze(struct stacks *stacks)
{
	mem_free(stacks->slots);
	stacks->slots = NULL;
	stacks->mask = 0;
	mem_free(stacks->last);
	mem_free(stacks->path);
	stacks->last = NULL;
	stacks->path = NULL;
	stacks->nr_last = 0;
	stacks->cap_last = 0;
	stacks->nr_path = 0;
	stacks->cap_path = 0;
}

/* Slot of parent's child that starts with `first`, or the free slot. */
static struct stack_slot *find_child(const struct stacks *stacks,
				     stack_id parent, loc_id first)
{
	uint64_t hash = hash_child(parent, first);
	size_t i = home_slot(hash, stacks->mask);
	struct stack_slot *slot;
	const struct stack_node *node;

	for (;; i = (i + 1) & stacks->mask) {
		slot = &stacks->slots[i];
		if (!slot->node)
			return slot;
		if (slot->tag != (uint32_t)hash)
			continue;
		node = &stacks->nodes[slot->node];
		if (node->parent == parent && node->first == first)
			return slot;
	}
}

static bool push_step(struct stacks *stacks, stack_id node, size_t end)
{
	if (!mem_grow(stacks->path, stacks->cap_path, stacks->nr_path + 1,
		      MAX_LOCS))
		return false;
	stacks->path[stacks->nr_path].node = node;
	stacks->path[stacks->nr_path++].end = (uint32_t)end;
	return true;
}

/* A node with all of `run`, put into the free `slot`. */
static stack_id add_leaf(struct stacks *stacks, struct stack_slot *slot,
			 stack_id parent, const loc_id *run, size_t nr)
{
	struct stack_node *node;

	if (!mem_grow(stacks->nodes, stacks->cap, stacks->nr + 1, MAX_NODES) ||
	    !mem_grow(stacks->locs, stacks->cap_locs, stacks->nr_locs + nr,
		      MAX_LOCS))
		return STACK_NONE;
	node = &stacks->nodes[stacks->nr];
	node->parent = parent;
	node->nr_locs = (uint32_t)nr;
	node->run = (uint32_t)stacks->nr_locs;
	node->first = run[0];
	memcpy(stacks->locs + stacks->nr_locs, run, nr * sizeof(*run));
	stacks->nr_locs += nr;
	slot->tag = (uint32_t)hash_child(parent, run[0]);
	slot->node = (stack_id)stacks->nr;
	return (stack_id)stacks->nr++;
}

/*
 * Cut the child in `slot` after `at` locations: a new node takes its place
 * and the upper part of its run. Returns the new node.
 */
static stack_id split_child(struct stacks *stacks, struct stack_slot *slot,
			    size_t at)
{
	stack_id child = slot->node, upper;
	struct stack_node *node, *tail;

	if (!mem_grow(stacks->nodes, stacks->cap, stacks->nr + 1, MAX_NODES))
		return STACK_NONE;
	upper = (stack_id)stacks->nr++;
	node = &stacks->nodes[upper];
	tail = &stacks->nodes[child];
	*node = *tail;
	node->nr_locs = (uint32_t)at;
	tail->parent = upper;
	tail->run += (uint32_t)at;
	tail->nr_locs -= (uint32_t)at;
	tail->first = stacks->locs[tail->run];
	slot->node = upper; /* same parent and first, so the same tag */
	put_slot(stacks->slots, stacks->mask, child, tail);
	return upper;
}

/* Number of equal leading elements. */
static size_t common_prefix(const loc_id *a, const loc_id *b, size_t nr)
{
	size_t i = 0;

	while (i < nr && a[i] == b[i])
		i++;
	return i;
}

/* Go one node down from `parent` along locs[nr]; *ret_taken of them. */
static stack_id step_down(struct stacks *stacks, stack_id parent,
			  const loc_id *locs, size_t nr, size_t *ret_taken)
{
	const struct stack_node *node;
	struct stack_slot *slot;
	size_t taken = 1, max;

	if (!reserve_slots(stacks, NODES_A_STEP))
		return STACK_NONE;
	slot = find_child(stacks, parent, locs[0]);
	if (!slot->node) {
		*ret_taken = nr;
		return add_leaf(stacks, slot, parent, locs, nr);
	}
	node = &stacks->nodes[slot->node];
	max = node->nr_locs < nr ? node->nr_locs : nr;
	if (max > 1)
		taken += common_prefix(stacks->locs + node->run + 1, locs + 1,
				       max - 1);
	*ret_taken = taken;
	if (taken == node->nr_locs)
		return slot->node;
	return split_child(stacks, slot, taken);
}

/* Keep the path of the last stack as far as the new one shares it. */
static void rewind_path(struct stacks *stacks, const loc_id *locs, size_t nr)
{
	size_t max = nr < stacks->nr_last ? nr : stacks->nr_last;
	size_t shared = common_prefix(stacks->last, locs, max);

	while (stacks->nr_path &&
	       stacks->path[stacks->nr_path - 1].end > shared)
		stacks->nr_path--;
}

stack_id stacks_add(struct stacks *stacks, const loc_id *root_first,
		    size_t nr)
{
	stack_id node = 0;
	size_t done = 0, taken;

	if (!nr)
		return 0;
	if (nr > MAX_LOCS ||
	    !mem_grow(stacks->last, stacks->cap_last, nr, MAX_LOCS))
		return STACK_NONE;
	rewind_path(stacks, root_first, nr);
	stacks->nr_last = 0;
	if (stacks->nr_path) {
		node = stacks->path[stacks->nr_path - 1].node;
		done = stacks->path[stacks->nr_path - 1].end;
	}
	while (done < nr) {
		node = step_down(stacks, node, root_first + done, nr - done,
				 &taken);
		if (node == STACK_NONE ||
		    !push_step(stacks, node, done + taken))
			return STACK_NONE;
		done += taken;
	}
	memcpy(stacks->last, root_first, nr * sizeof(*root_first));
	stacks->nr_last = nr;
	return node;
}

/* What one stack of a batch waits for. */
enum batch_phase {
	AT_SLOT, /* its slot is on the way */
	AT_ROW,  /* the row of the node in the slot is */
	AT_RUN   /* the locations of that node are */
};

/* How far one stack of a batch has come. */
struct batch_state {
	const loc_id *locs; /* what is left of the stack, root first */
	size_t nr;          /* 0: done */
	stack_id node;      /* what it has come to */
	uint32_t tag;
	size_t slot;        /* of the child that goes on with locs[0] */
	enum batch_phase phase;
};

static void seek_child(const struct stacks *stacks, struct batch_state *state)
{
	uint64_t hash = hash_child(state->node, state->locs[0]);

	state->tag = (uint32_t)hash;
	state->slot = home_slot(hash, stacks->mask);
	state->phase = AT_SLOT;
	__builtin_prefetch(&stacks->slots[state->slot]);
}

static void seek_next_slot(const struct stacks *stacks,
			   struct batch_state *state)
{
	state->slot = (state->slot + 1) & stacks->mask;
	state->phase = AT_SLOT;
}

static void enter_child(const struct stacks *stacks, struct batch_state *state,
			stack_id child, size_t taken)
{
	state->node = child;
	state->locs += taken;
	state->nr -= taken;
	if (state->nr)
		seek_child(stacks, state);
}

/* False when out of memory. */
static bool take_slot(struct stacks *stacks, struct batch_state *state)
{
	struct stack_slot *slot = &stacks->slots[state->slot];
	stack_id leaf;

	if (!slot->node) {
		leaf = add_leaf(stacks, slot, state->node, state->locs,
				state->nr);
		if (leaf == STACK_NONE)
			return false;
		enter_child(stacks, state, leaf, state->nr);
	} else if (slot->tag == state->tag) {
		__builtin_prefetch(&stacks->nodes[slot->node]);
		state->phase = AT_ROW;
	} else {
		seek_next_slot(stacks, state);
	}
	return true;
}

/*
 * The slot is read again: another stack of the batch may have split its node
 * meanwhile. Its row is at hand then, for it was just written.
 */
static void take_row(const struct stacks *stacks, struct batch_state *state)
{
	stack_id child = stacks->slots[state->slot].node;
	const struct stack_node *node = &stacks->nodes[child];

	if (node->parent != state->node || node->first != state->locs[0]) {
		seek_next_slot(stacks, state);
	} else if (node->nr_locs == 1) {
		enter_child(stacks, state, child, 1);
	} else {
		__builtin_prefetch(&stacks->locs[node->run + 1]);
		state->phase = AT_RUN;
	}
}

/* False when out of memory. */
static bool take_run(struct stacks *stacks, struct batch_state *state)
{
	struct stack_slot *slot = &stacks->slots[state->slot];
	const struct stack_node *node = &stacks->nodes[slot->node];
	size_t max = node->nr_locs < state->nr ? node->nr_locs : state->nr;
	size_t taken = 1 + common_prefix(stacks->locs + node->run + 1,
					 state->locs + 1, max - 1);
	stack_id child = slot->node;

	if (taken < node->nr_locs)
		child = split_child(stacks, slot, taken);
	if (child == STACK_NONE)
		return false;
	enter_child(stacks, state, child, taken);
	return true;
}

static bool take_step(struct stacks *stacks, struct batch_state *state)
{
	switch (state->phase) {
	case AT_SLOT:
		return take_slot(stacks, state);
	case AT_ROW:
		take_row(stacks, state);
		return true;
	case AT_RUN:
		return take_run(stacks, state);
	}
	return true;
}

bool stacks_add_batch(struct stacks *stacks, const loc_id *locs,
		      const struct stack_span *spans, size_t nr,
		      stack_id *ret_ids)
{
	struct batch_state states[STACKS_BATCH];
	size_t i, active = nr;

	/* The path of the last stack is not kept up. */
	stacks->nr_last = 0;
	stacks->nr_path = 0;
	/* Slots must stay where they are, so room is made for all before. */
	if (!reserve_slots(stacks, nr * NODES_A_STEP))
		return false;
	for (i = 0; i < nr; i++) {
		states[i].locs = locs + spans[i].first;
		states[i].nr = spans[i].nr;
		states[i].node = spans[i].below;
		if (spans[i].nr)
			seek_child(stacks, &states[i]);
	}
	while (active) {
		active = 0;
		for (i = 0; i < nr; i++) {
			if (!states[i].nr)
				continue;
			if (!take_step(stacks, &states[i]))
				return false;
			active++;
		}
	}
	for (i = 0; i < nr; i++)
		ret_ids[i] = states[i].node;
	return true;
}

size_t stacks_depth(const struct stacks *stacks, stack_id id)
{
	size_t depth = 0;

	for (; id; id = stacks->nodes[id].parent)
		depth += stacks->nodes[id].nr_locs;
	return depth;
}

void stacks_leaf_first(const struct stacks *stacks, stack_id id, loc_id *out)
{
	const struct stack_node *node;
	uint32_t i;

	for (; id; id = node->parent) {
		node = &stacks->nodes[id];
		for (i = node->nr_locs; i; i--)
			*out++ = stacks->locs[node->run + i - 1];
	}
}

/* Turn counts in start[1..nr] into first indexes in start[0..nr]. */
static void counts_to_starts(uint32_t *start, size_t nr)
{
	size_t i;

	start[0] = 0;
	for (i = 1; i <= nr; i++)
		start[i] += start[i - 1];
}

/* All nodes but 0, by rank of their first location; NULL: by id. */
static bool order_by_rank(const struct stacks *stacks, const uint32_t *rank,
			  size_t nr_ranks, stack_id *order)
{
	uint32_t *start;
	size_t i;

	if (!rank) {
		for (i = 1; i < stacks->nr; i++)
			order[i - 1] = (stack_id)i;
		return true;
	}
	start = mem_zalloc(nr_ranks + 2, sizeof(*start));
	if (!start)
		return false;
	for (i = 1; i < stacks->nr; i++)
		start[rank[stacks->nodes[i].first] + 1]++;
	counts_to_starts(start, nr_ranks + 1);
	for (i = 1; i < stacks->nr; i++)
		order[start[rank[stacks->nodes[i].first]]++] = (stack_id)i;
	mem_free(start);
	return true;
}

/* How many rows ahead of their use are fetched into the cache. */
#define PREFETCH_AHEAD 32

bool stacks_children(const struct stacks *stacks, const uint32_t *rank,
		     size_t nr_ranks, uint32_t **ret_start,
		     stack_id **ret_children)
{
	uint32_t *start = mem_zalloc(stacks->nr + 2, sizeof(*start));
	stack_id *order = mem_alloc(stacks->nr, sizeof(*order));
	stack_id *children = mem_alloc(stacks->nr, sizeof(*children));
	size_t i, nr = stacks->nr - 1;

	if (!start || !order || !children ||
	    !order_by_rank(stacks, rank, nr_ranks, order)) {
		mem_free(start);
		mem_free(order);
		mem_free(children);
		return false;
	}
	/* Shifted by one more, so that filling leaves the starts behind. */
	for (i = 1; i < stacks->nr; i++) {
		if (i + PREFETCH_AHEAD < stacks->nr)
			__builtin_prefetch(&start[stacks->nodes
					   [i + PREFETCH_AHEAD].parent + 2]);
		start[(size_t)stacks->nodes[i].parent + 2]++;
	}
	counts_to_starts(start, stacks->nr + 1);
	for (i = 0; i < nr; i++) {
		if (i + PREFETCH_AHEAD < nr)
			__builtin_prefetch(&stacks->nodes
					   [order[i + PREFETCH_AHEAD]]);
		if (i + PREFETCH_AHEAD / 2 < nr)
			__builtin_prefetch(&start[stacks->nodes
					   [order[i + PREFETCH_AHEAD / 2]]
					   .parent + 1]);
		children[start[stacks->nodes[order[i]].parent + 1]++] =
			order[i];
	}
	mem_free(order);
	*ret_start = start;
	*ret_children = children;
	return true;
}
