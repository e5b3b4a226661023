/* SPDX-License-Identifier: Apache-2.0
 *
 * Depth-first order of the tree of stacks as it is held, frames of different
 * nodes not joined: for what needs the frames of each stack and sums below
 * them, but no merged call tree. Known ahead, so that the rows of coming
 * nodes, which lie anywhere in memory, are there when their turn comes.
 */
#ifndef VIEW_STACK_WALK_H
#define VIEW_STACK_WALK_H

#include "profile/profile.h"

struct stack_walk {
	const struct stacks *stacks; /* borrowed */
	stack_id *order; /* [stacks.nr] each node before those below it */
	size_t at;       /* the next one */
	stack_id *path;  /* nodes that are entered, root first */
	size_t nr_path, cap_path;
	bool failed;     /* out of memory: it ended early */
};

enum stack_event {
	STACKS_END = 0,
	STACK_ENTER, /* the node's run comes below its parent's */
	STACK_LEAVE  /* all below the node was entered and left */
};

/* False when out of memory; stack_walk_fini() after either. */
bool stack_walk_init(struct stack_walk *walk, const struct stacks *stacks);
void stack_walk_fini(struct stack_walk *walk);

/* The next event; node 0 comes first and is left last. */
enum stack_event stack_walk_next(struct stack_walk *walk, stack_id *ret_node);

/* From the start again. */
void stack_walk_rewind(struct stack_walk *walk);

#endif
