/* SPDX-License-Identifier: Apache-2.0
 *
 * What filters by name make of each location, once: which of its lines stay
 * and what it means for the stacks that hold it. Semantics and order are
 * those of google/pprof, profile/filter.go and profile/prune.go.
 */
#ifndef TRANSFORM_FRAME_RULES_H
#define TRANSFORM_FRAME_RULES_H

#include "transform/adder.h"
#include "transform/pattern.h"

enum frame_mark {
	FRAME_FOCUSED = 1 << 0,   /* its stacks are wanted */
	FRAME_IGNORED = 1 << 1,   /* its stacks are not */
	FRAME_HIDDEN = 1 << 2,    /* leaves its stacks */
	FRAME_STARTS = 1 << 3,    /* --show-from: callers go */
	FRAME_ENDS = 1 << 4,      /* --prune-from: callees go */
	FRAME_DROPS = 1 << 5,     /* drop_frames: it and its callees go */
	FRAME_DROPS_REST = 1 << 6 /* drop_frames: its callees go */
};

struct frame_rules {
	struct pprof_profile *profile; /* gets locations with fewer lines */
	struct adder adder;
	struct matcher focus, ignore, hide, show, show_from, prune_from;
	struct pattern drop, keep;     /* drop_frames and keep_frames */
	uint8_t *marks;  /* [nr] of the locations that there were */
	loc_id *becomes; /* [nr] location with the lines that stay */
	size_t nr;
	struct line *lines; /* scratch */
	size_t cap_lines;
};

/* Expressions for frames; NULL or "" is none. */
struct frame_opts {
	const char *focus, *ignore, *hide, *show, *show_from, *prune_from;
};

/* OK, NOMEM, USAGE, LIMIT; frame_rules_fini() after either. */
enum pprof_status frame_rules_init(struct frame_rules *rules,
				   struct pprof_profile *profile,
				   const struct frame_opts *opts,
				   struct pprof_error *err);

/* The other set of rules: the profile's own drop_frames and keep_frames. */
enum pprof_status frame_rules_init_drop(struct frame_rules *rules,
					struct pprof_profile *profile,
					struct pprof_error *err);
void frame_rules_fini(struct frame_rules *rules);

/*
 * Apply the rules to a stack of *nr locations, root first, in place. False
 * when its samples are to go.
 */
bool frame_rules_apply(const struct frame_rules *rules, loc_id *root_first,
		       size_t *nr);

#endif
