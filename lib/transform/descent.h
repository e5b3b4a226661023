/* SPDX-License-Identifier: Apache-2.0
 *
 * All stacks that have samples, in an order in which neighbours share their
 * upper frames: each shared frame is met once, however many stacks have it.
 */
#ifndef TRANSFORM_DESCENT_H
#define TRANSFORM_DESCENT_H

#include "profile/profile.h"

/* A node to go down to, and how many frames are above it. */
struct descent_step {
	stack_id node;
	uint32_t nr_above;
};

struct descent {
	const struct pprof_profile *profile; /* borrowed, unchanged */
	uint32_t *child_start;  /* see stacks_children() */
	stack_id *children;
	uint32_t *sample_start; /* [stacks.nr + 1] into samples */
	uint32_t *samples;      /* [nr_samples] grouped by stack */
	struct descent_step *open;
	size_t nr_open, cap_open;
	loc_id *path;           /* the stack at hand, root first */
	size_t nr_path, cap_path;
	size_t nr_kept;         /* frames it shares with the one before */
	bool failed;            /* out of memory: it ended early */
};

/* OK or NOMEM; descent_fini() after either. */
enum pprof_status descent_init(struct descent *descent,
			       const struct pprof_profile *profile,
			       struct pprof_error *err);
void descent_fini(struct descent *descent);

/*
 * Go on to the next stack with samples: *ret_samples[*ret_nr]. False at the
 * end, or early with descent.failed.
 */
bool descent_next(struct descent *descent, const uint32_t **ret_samples,
		  size_t *ret_nr);

#endif
