/* SPDX-License-Identifier: Apache-2.0
 *
 * Interned stacks as a tree grown from the root, path-compressed: a node is
 * (parent node, run of locations), so a stack that shares nothing costs one
 * node and one hash, and shared upper frames are held once. Node 0 is the
 * empty stack. A node's end never moves: a later split puts a new node above
 * it and keeps its id.
 */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t loc_id;
typedef uint32_t stack_id;

#define STACK_NONE UINT32_MAX

struct stack_node {
	stack_id parent;  /* nearer the root; 0 for the first frames */
	uint32_t nr_locs; /* length of the run, at least 1 (node 0: 0) */
	uint32_t run;     /* index into stacks.locs: root-most first */
	loc_id first;     /* locs[run], here to save a miss in look-ups */
};

/*
 * Slot of the open-addressing index. The tag tells most wrong nodes apart
 * without touching their rows, which are scattered in memory.
 */
struct stack_slot {
	uint32_t tag;
	stack_id node; /* 0: free */
};

/* A node on the path of the stack added last. */
struct stack_step {
	stack_id node;
	uint32_t end; /* locations from the root to the node's end */
};

struct stacks {
	struct stack_node *nodes; /* [nr] */
	size_t nr;
	size_t cap;
	loc_id *locs;             /* [nr_locs], runs of all nodes */
	size_t nr_locs;
	size_t cap_locs;
	struct stack_slot *slots; /* by (parent, first location of the run) */
	size_t mask;              /* number of slots - 1 */
	/* Path of the stack added last, to start the next one from. */
	loc_id *last;             /* its locations, root first */
	size_t nr_last;
	size_t cap_last;
	struct stack_step *path;  /* nodes on the way down */
	size_t nr_path;
	size_t cap_path;
};

__attribute__((warn_unused_result))
bool stacks_init(struct stacks *stacks);
void stacks_fini(struct stacks *stacks);

/*
 * Id of the stack of `nr` locations, root first, added when new;
 * STACK_NONE when out of memory. nr 0 is stack 0.
 */
__attribute__((warn_unused_result))
stack_id stacks_add(struct stacks *stacks, const loc_id *root_first,
		    size_t nr);

/* Frames among many in one array, locs[first .. first + nr), root first. */
struct stack_span {
	size_t first;
	size_t nr;
	stack_id below; /* the stack that they go on from; 0: a whole stack */
};

/* Most stacks that one stacks_add_batch() call takes. */
#define STACKS_BATCH 16

/*
 * Add up to STACKS_BATCH stacks in lockstep, so that their cache misses
 * overlap; ret_ids[nr]. False when out of memory: some may be added.
 */
__attribute__((warn_unused_result))
bool stacks_add_batch(struct stacks *stacks, const loc_id *locs,
		      const struct stack_span *spans, size_t nr,
		      stack_id *ret_ids);

/* Drop the index and the path once no stack will be added any more. */
void stacks_freeze(struct stacks *stacks);

/* Number of locations in the whole stack. */
size_t stacks_depth(const struct stacks *stacks, stack_id id);

/* Write the whole stack's locations, leaf first, to out[depth]. */
void stacks_leaf_first(const struct stacks *stacks, stack_id id, loc_id *out);

/*
 * Children of each node as lists sorted by rank[first location of run]
 * (NULL: by id, as they lie in memory): the children of node n are
 * ret_children[ret_start[n] .. ret_start[n + 1]). Free both with mem_free().
 * False when out of memory.
 */
__attribute__((warn_unused_result))
bool stacks_children(const struct stacks *stacks, const uint32_t *rank,
		     size_t nr_ranks, uint32_t **ret_start,
		     stack_id **ret_children);

#endif
