/* SPDX-License-Identifier: Apache-2.0
 *
 * The call trees of several profiles as one, with the values of every
 * profile and sample type side by side: what a report that switches between
 * them is made from. A node is there when any of them has a value at or
 * below it.
 */
#ifndef VIEW_FOREST_H
#define VIEW_FOREST_H

#include "view/frames.h"
#include "view/stack_values.h"

/* One of the profiles; two may be the sides of one. */
struct forest_side {
	const struct pprof_profile *profile; /* borrowed */
	enum walk_side side;
};

/* Values of one profile and type. */
struct forest_column {
	int64_t *self; /* [nr] of stacks that end at the node; clamped */
	double *var;   /* [nr] their variances; NULL while all are 0 */
	__int128 total;
	uint64_t nr_negative; /* nodes below zero */
	bool clamped;  /* some self hit an int64 limit */
};

enum forest_flags {
	FOREST_CALLED = 1 << 0, /* some of the node was no inlined code */
	FOREST_INLINED = 1 << 1,
	FOREST_SELF = 1 << 2    /* some column has a value at the node */
};

struct forest {
	struct frames frames; /* of all: names, no locations */
	int64_t *line;        /* [frames.nr] of the source; 0 unknown */
	/* Nodes in pre-order, siblings by row; node 0 is the root. */
	size_t nr;
	uint32_t *row;
	uint32_t *depth;      /* root: 0 */
	uint8_t *flags;       /* enum forest_flags */
	uint32_t deepest;
	struct forest_column *columns; /* [nr_sides * nr_types] by side */
	size_t nr_sides, nr_types;
};

/*
 * types[nr_sides * nr_types]: the sample type of each column. OK, NOMEM,
 * LIMIT; forest_fini() after any.
 */
enum pprof_status forest_init(struct forest *forest,
			      const struct forest_side *sides,
			      size_t nr_sides, const size_t *types,
			      size_t nr_types, const struct frames_opts *opts,
			      struct pprof_error *err);
void forest_fini(struct forest *forest);

#endif
