/* SPDX-License-Identifier: Apache-2.0
 *
 * Call tree as an array: what pictures are laid out from. Built in one walk;
 * what is too light or too deep to be drawn is folded into one node on the
 * way, so that memory follows the picture and not the profile.
 */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

#include "view/walk.h"

enum node_kind {
	NODE_ROOT = 0,
	NODE_FRAME,  /* one frame */
	NODE_LIGHT,  /* a run of siblings below tree_opts.min_weight */
	NODE_DEEP    /* everything below tree_opts.max_depth here */
};

/* Nodes are in pre-order: those below one follow it and are deeper. */
struct tree_node {
	int64_t self;
	int64_t total;     /* self plus what is below; clamped */
	int64_t base_self; /* the same of the other side; see difftree.h */
	int64_t base_total;
	double var;        /* variance of total, where it was asked for */
	double base_var;
	uint64_t weight;   /* sum of |self| >> tree.shift: what widths show */
	uint64_t nr_below; /* frames folded into this LIGHT or DEEP node */
	uint32_t depth;    /* root: 0 */
	uint32_t row;      /* FRAME: of the frames; LIGHT: siblings folded */
	uint8_t kind;      /* enum node_kind */
	bool inlined;      /* some of it was inlined code */
	bool called;       /* some of it was not */
	bool clamped;      /* total hit an int64 limit */
	uint8_t tint;      /* left to whoever draws it */
};

struct tree {
	struct tree_node *nodes; /* node 0 is the root */
	size_t nr, cap;
	__int128 total;          /* of the root, exact */
	__int128 base_total;
	uint64_t nr_frames;      /* frames of the whole tree, root left out */
	uint64_t nr_kept;        /* FRAME nodes */
	uint64_t nr_negative;    /* stacks below zero, drawn by magnitude */
	uint32_t deepest;        /* depth of the deepest frame */
	unsigned shift;          /* see stack_values.shift */
	int64_t *row_self;       /* [frames.nr] self of each frame; clamped */
};

struct tree_opts {
	struct walk_opts walk;
	double min_share;   /* of the whole weight that a frame must have */
	uint32_t max_depth; /* depth of the deepest frame kept */
};

/* OK, NOMEM; tree_fini() after either. Siblings are ordered by row. */
enum pprof_status tree_init(struct tree *tree, const struct frames *frames,
			    const struct pprof_profile *profile,
			    const struct tree_opts *opts,
			    struct pprof_error *err);
void tree_fini(struct tree *tree);

/* Gives the next node in pre-order; false at the end. */
typedef bool (*tree_next_fn)(void *source, struct walk_node *node);

/*
 * The same from any source of nodes whose weights sum up to at most
 * `weight`. tree->nr_negative and shift are left 0.
 */
enum pprof_status tree_build(struct tree *tree, const struct frames *frames,
			     tree_next_fn next, void *source, uint64_t weight,
			     const struct tree_opts *opts,
			     struct pprof_error *err);

/* Least weight of a frame with `share` of the whole. */
uint64_t tree_share_weight(uint64_t whole, double share);

/* Order siblings by falling weight, folded ones last. OK, NOMEM. */
enum pprof_status tree_sort(struct tree *tree, struct pprof_error *err);

/* Frames that are lighter, or as light and deeper, are cut. */
struct tree_cut {
	uint64_t weight;
	uint32_t depth;
};

/* Fold what is cut. In place, cannot fail. */
void tree_prune(struct tree *tree, struct tree_cut cut);

/*
 * Prune to at most `nr` frames, the heaviest; *ret_cut is what was cut, its
 * weight 0 when nothing was. OK, NOMEM.
 */
enum pprof_status tree_limit(struct tree *tree, size_t nr,
			     struct tree_cut *ret_cut,
			     struct pprof_error *err);

#endif
