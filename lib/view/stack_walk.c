/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the stacks and the walk along it; see stack_walk.h.
 */
#include <config.h>

#include "base/mem.h"
#include "view/stack_walk.h"

#include <string.h>

/* Nodes ahead of the present one whose rows, then whose runs, are fetched. */
#define ROWS_AHEAD 16
#define RUNS_AHEAD 8

/*
 * Depth first. What is yet to be visited is at most all that is not in
 * `order` yet: both share one array, one growing from each end.
 */
static void fill_order(struct stack_walk *walk, const uint32_t *child_start,
		       const stack_id *children)
{
	size_t nr = walk->stacks->nr, open = nr, at = 0;
	stack_id node;
	uint32_t i;

	walk->order[--open] = 0;
	while (open < nr) {
		node = walk->order[open++];
		walk->order[at++] = node;
		for (i = child_start[node + 1]; i-- > child_start[node];) {
			__builtin_prefetch(&child_start[children[i]]);
			walk->order[--open] = children[i];
		}
	}
}

bool stack_walk_init(struct stack_walk *walk, const struct stacks *stacks)
{
	uint32_t *child_start;
	stack_id *children;

	memset(walk, 0, sizeof(*walk));
	walk->stacks = stacks;
	if (!stacks_children(stacks, NULL, 0, &child_start, &children))
		return false;
	walk->order = mem_alloc(stacks->nr, sizeof(*walk->order));
	if (walk->order)
		fill_order(walk, child_start, children);
	mem_free(child_start);
	mem_free(children);
	return walk->order;
}

void stack_walk_fini(struct stack_walk *walk)
{
	mem_free(walk->order);
	mem_free(walk->path);
	memset(walk, 0, sizeof(*walk));
}

void stack_walk_rewind(struct stack_walk *walk)
{
	walk->at = 0;
	walk->nr_path = 0;
}

__attribute__((always_inline))
static inline void prefetch_ahead(const struct stack_walk *walk)
{
	const struct stacks *stacks = walk->stacks;
	size_t left = stacks->nr - walk->at;

	if (left > ROWS_AHEAD)
		__builtin_prefetch(&stacks->nodes
				   [walk->order[walk->at + ROWS_AHEAD]]);
	if (left > RUNS_AHEAD)
		__builtin_prefetch(&stacks->locs[stacks->nodes
				   [walk->order[walk->at + RUNS_AHEAD]].run]);
}

enum stack_event stack_walk_next(struct stack_walk *walk, stack_id *ret_node)
{
	stack_id node, last;

	if (walk->failed || (walk->at && !walk->nr_path))
		return STACKS_END;
	last = walk->nr_path ? walk->path[walk->nr_path - 1] : 0;
	node = walk->at < walk->stacks->nr ? walk->order[walk->at] : 0;
	if (walk->at && (!node || walk->stacks->nodes[node].parent != last)) {
		*ret_node = last;
		walk->nr_path--;
		return STACK_LEAVE;
	}
	prefetch_ahead(walk);
	if (!mem_grow(walk->path, walk->cap_path, walk->nr_path + 1,
		      UINT32_MAX)) {
		walk->failed = true;
		return STACKS_END;
	}
	walk->path[walk->nr_path++] = node;
	walk->at++;
	*ret_node = node;
	return STACK_ENTER;
}
