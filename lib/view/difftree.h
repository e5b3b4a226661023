/* SPDX-License-Identifier: Apache-2.0
 *
 * The call trees of two profiles as one: A is the base, B is what is
 * compared with it. A node is there when either has it.
 */
#ifndef VIEW_DIFFTREE_H
#define VIEW_DIFFTREE_H

#include "view/tree.h"

/* One of the two inputs; both may be parts of one profile. */
struct diff_side {
	const struct pprof_profile *profile;
	size_t sample_type;
	enum walk_side side;
};

struct diff_opts {
	struct frames_opts frames;
	struct tree_opts tree; /* of its walk the sample type is not used */
	enum pprof_diff_widths widths;
	double scale;          /* what A's values are multiplied by */
	bool gone;             /* only what B lacks, each from its top */
};

/* Both sides, ready to be walked more than once. */
struct diff {
	struct diff_side base, now;
	struct frames base_frames, now_frames;
	struct frames frames;   /* of both: names alone, no locations */
	uint32_t *base_row;     /* [base_frames.nr] in frames */
	uint32_t *now_row;
	double base_sum;        /* of |values|, before scaling */
	double now_sum;
};

/* OK, NOMEM, LIMIT; diff_fini() after any. */
enum pprof_status diff_init(struct diff *diff, const struct diff_side *base,
			    const struct diff_side *now,
			    const struct frames_opts *frames,
			    struct pprof_error *err);
void diff_fini(struct diff *diff);

/*
 * The tree of both: self and total are B's, base_self and base_total A's as
 * they are, weights what the widths ask for with A scaled. tree_fini() after
 * OK. OK, NOMEM.
 */
enum pprof_status difftree_init(struct tree *tree, const struct diff *diff,
				const struct diff_opts *opts,
				struct pprof_error *err);

#endif
