/* SPDX-License-Identifier: Apache-2.0
 *
 * The call tree of a profile, node by node in pre-order, without storing it:
 * equal frames under one parent are one node, siblings come in the order of
 * their rows. Memory is that of the open branches, not of the tree.
 */
#ifndef VIEW_WALK_H
#define VIEW_WALK_H

#include "view/frames.h"
#include "view/stack_values.h"

/* One node, valid until the next step. */
struct walk_node {
	uint32_t row;      /* of the frames */
	uint32_t depth;    /* 1: directly under the root */
	int64_t self;      /* of stacks that end here; clamped */
	uint64_t weight;   /* |self| as drawn, see stack_values.shift */
	bool inlined;      /* some of it was inlined code */
	bool called;       /* some of it was not */
	bool clamped;      /* self hit an int64 limit */
	double var;        /* variance of self, with_noise */
	/* Of a subtree that was passed over as one node, 0 of others: */
	uint32_t nr_below; /* its frames below this one */
	uint32_t deepest;  /* depth of the deepest; self is its total */
	/* Of differences only, see difftree.h: the other side. */
	int64_t base_self;
	double base_var;
};

struct walk_opts {
	size_t sample_type;
	bool reverse;       /* from the leaf towards the root */
	bool join_repeats;  /* a frame under its own like is the same frame */
	bool with_noise;    /* fill walk_node.var */
	enum walk_side side;
};

/* A stack, or part of one, on the way down. */
struct walk_cursor;

/* All below a node of the tree of stacks, its own run included. */
struct walk_below {
	uint64_t weight;
	uint32_t nr_frames;
	uint32_t height; /* frames of the longest branch */
};

struct walk {
	const struct frames *frames;
	const struct pprof_profile *profile;
	struct walk_opts opts;
	struct stack_values worth;
	uint32_t *child_start; /* forward only */
	stack_id *children;
	struct walk_cursor *open; /* branches not yet taken; next one last */
	size_t nr_open, cap_open;
	struct walk_cursor *group; /* those that make the present node */
	size_t nr_group, cap_group;
	struct walk_below *below; /* [stacks.nr] with walk_pass_light() */
	uint64_t min_weight;   /* likewise */
	bool one_to_one;       /* each location is one frame, each its own */
	bool failed;           /* out of memory: the walk ended early */
};

/* OK or NOMEM; walk_fini() after either. `frames` and `profile` borrowed. */
enum pprof_status walk_init(struct walk *walk, const struct frames *frames,
			    const struct pprof_profile *profile,
			    const struct walk_opts *opts,
			    struct pprof_error *err);
void walk_fini(struct walk *walk);

/* The next node; false at the end, or early with walk.failed. */
bool walk_next(struct walk *walk, struct walk_node *node);

/*
 * From now on give subtrees that weigh less than `min_weight` as one node
 * each, where that can be told ahead: on a forward walk over stacks of which
 * each location is a frame of its own and no value is below 0. *ret_passes
 * tells. False when out of memory.
 */
__attribute__((warn_unused_result))
bool walk_pass_light(struct walk *walk, uint64_t min_weight,
		     bool *ret_passes);

/* After that: add what ends at each frame to selfs[frames.nr]. */
void walk_sum_selfs(const struct walk *walk, int64_t *selfs);

/*
 * The nodes ahead that are one stack's alone, for a forward walk without
 * join_repeats: the frames of *ret_locs[nr], each the only child of the one
 * before, the first at *ret_depth, none with a value. Returns nr, or 0 when
 * it is for walk_next().
 */
size_t walk_run(const struct walk *walk, const loc_id **ret_locs,
		uint32_t *ret_depth);

/* Go on after the `nr` locations that walk_run() told, at `depth`. */
void walk_pass_run(struct walk *walk, size_t nr, uint32_t depth);

#endif
