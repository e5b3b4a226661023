/* SPDX-License-Identifier: Apache-2.0
 *
 * Canonical order: the same content in the same order, whatever order it
 * was built in. Gives permutations; the profile itself is not touched.
 */
#ifndef PROFILE_CANON_H
#define PROFILE_CANON_H

#include "profile/profile.h"

/*
 * Only entities that a stack leads to take part (and the main mapping).
 * `x_order[i]` is the row at canonical place i, `x_number[row]` the place
 * plus 1, 0 for rows left out.
 */
struct canon {
	uint32_t *str_rank;   /* [strings.nr] rank in byte order */
	map_id *map_order;
	uint32_t *map_number; /* [nr_mappings] */
	size_t nr_maps;
	func_id *func_order;
	uint32_t *func_number;
	size_t nr_funcs;
	loc_id *loc_order;
	uint32_t *loc_number;
	size_t nr_locs;
	uint32_t *label_order; /* [nr_labels] labels of each set, in order */
	uint32_t *lset_rank;  /* [nr_lsets] */
	/* Tree of stacks, children in canonical order of their locations. */
	uint32_t *child_start; /* [stacks.nr + 1] */
	stack_id *children;
	/* Samples grouped by stack: sample ids of stack s, by label set. */
	uint32_t *sample_start; /* [stacks.nr + 1] */
	uint32_t *samples;
	/* Every node but the root, each before its children, in order. */
	stack_id *preorder; /* [stacks.nr - 1] */
};

/* NOMEM or OK. canon_fini() after either. */
enum pprof_status canon_init(struct canon *canon,
			     const struct pprof_profile *profile,
			     struct pprof_error *err);
void canon_fini(struct canon *canon);

#endif
