/* SPDX-License-Identifier: Apache-2.0
 *
 * What each stack of a profile is worth: the net value of one sample type
 * over its label sets, and which parts of the tree of stacks hold any.
 */
#ifndef VIEW_STACK_VALUES_H
#define VIEW_STACK_VALUES_H

#include "profile/profile.h"

/* Sums are kept in 128 bits and clamped where they are stored. */
static inline int64_t clamp_i64(__int128 value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static inline uint64_t magnitude_i64(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Which samples count. Base ones are labelled so or below zero. */
enum walk_side {
	WALK_ALL = 0,
	WALK_BASE, /* by their magnitude */
	WALK_NEW
};

/* Label that go tool pprof puts on the samples that were subtracted. */
#define BASE_LABEL "pprof::base"

/* Some sample carries BASE_LABEL. */
bool walk_has_base(const struct pprof_profile *profile);

struct stack_values_opts {
	size_t sample_type;
	bool with_noise;      /* fill `vars` */
	enum walk_side side;
};

struct stack_values {
	int64_t *values; /* [stacks.nr] net value of each stack; clamped */
	double *vars;    /* [stacks.nr] their variances, or NULL */
	uint8_t *live;   /* [stacks.nr] 1: it or one below has a value */
	uint64_t nr_negative; /* stacks below zero */
	unsigned shift;  /* weights are |value| >> shift: sum < 2^63 */
	uint64_t weight; /* no less than the sum of all weights */
};

/* False when out of memory; stack_values_fini() after either. */
bool stack_values_init(struct stack_values *worth,
		       const struct pprof_profile *profile,
		       const struct stack_values_opts *opts);
void stack_values_fini(struct stack_values *worth);

#endif
