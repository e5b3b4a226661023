/* SPDX-License-Identifier: Apache-2.0
 *
 * Flat and cumulative values of every frame, over all stacks.
 */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

#include "view/frames.h"
#include "view/stack_values.h"
#include "view/stack_walk.h"

struct table_row {
	int64_t flat;   /* of stacks that end in the frame; clamped */
	int64_t cum;    /* of stacks that hold it, each once; clamped */
	uint32_t row;   /* of the frames */
	/* Set by graph_mark_inlined(): */
	bool inlined;   /* some other frame has it always inlined */
	bool called;    /* some other frame has it called */
};

struct table {
	struct table_row *rows; /* [nr]: frames that the walk met */
	size_t nr;
	int64_t total; /* what 100 % is: sum of |value|, or the base's */
	bool clamped;  /* some figure hit an int64 limit */
	struct stack_values worth; /* of the sample type */
	struct stack_walk walk;    /* over the profile's stacks */
};

/* OK, NOMEM; table_fini() after either. Rows are in order of frames. */
enum pprof_status table_init(struct table *table, const struct frames *frames,
			     const struct pprof_profile *profile,
			     size_t sample_type, struct pprof_error *err);
void table_fini(struct table *table);

/*
 * Drop rows whose |cum| is below `min_fraction` of the sum of all flat
 * values, cut to a whole number as go tool pprof does. Returns how many.
 */
size_t table_trim(struct table *table, double min_fraction);

/*
 * Divide each value by that of the same row in `by`, a table of the same
 * frames as table_init() leaves it, where it is not 0; the total likewise.
 */
void table_divide(struct table *table, const struct table *by);

/* Drop rows whose flat value, or cum where flat is 0, is below 0. */
void table_drop_negative(struct table *table);

/* |flat| falling, then names rising; by_cum: |cum| instead of |flat|. */
void table_sort(struct table *table, bool by_cum);

/*
 * The next event of the walk for a node that holds a value or has one below:
 * what is not live has nothing live below it, and adds nothing.
 */
enum stack_event table_next_live(struct table *table, stack_id *ret_node);

#endif
