/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortening the stacks of a profile at their leaf end: builds the tree of
 * the shorter stacks and adds up the samples that become equal. Totals stay.
 */
#ifndef PROFILE_RESTACK_H
#define PROFILE_RESTACK_H

#include "profile/profile.h"

/* What to take off one stack. */
struct restack_cut {
	size_t nr_drop; /* locations at the leaf end, fewer than there are */
	loc_id leaf;    /* takes the place of the first one kept; 0: none */
};

/* Decide on a stack of nr >= 1 locations, leaf first. *cut comes zeroed. */
typedef void (*restack_fn)(void *ctx, const loc_id *leaf_first, size_t nr,
			   struct restack_cut *cut);

/* The shorter stacks and their samples, in the order of the old ones. */
struct restacked {
	struct stacks stacks;
	stack_id *sample_stack;            /* [nr_samples] */
	lset_id *sample_lset;              /* NULL while every set is 0 */
	int64_t *values[SAMPLE_TYPES_MAX]; /* [nr_types][nr_samples] */
	size_t nr_samples;
	bool is_changed; /* at least one stack got shorter or another leaf */
};

/*
 * Ask `fn` about every stack that a sample has. The profile is not touched.
 * Sums saturate at the int64 limits, counted in `diags` (NULL allowed).
 * OK or NOMEM; restacked_fini() after OK.
 */
enum pprof_status profile_restack(const struct pprof_profile *profile,
				  restack_fn fn, void *ctx,
				  struct diags *diags,
				  struct restacked *ret_restacked,
				  struct pprof_error *err);
void restacked_fini(struct restacked *restacked);

/*
 * Give the profile the new stacks and samples; the old ones go. Cannot
 * fail; `restacked` is empty afterwards.
 */
void profile_take_restacked(struct pprof_profile *profile,
			    struct restacked *restacked);

#endif
