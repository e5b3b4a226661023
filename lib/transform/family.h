/* SPDX-License-Identifier: Apache-2.0
 *
 * Which units can be converted into each other: memory, time, GCU. Sizes
 * only; how reports print values is the view's.
 */
#ifndef TRANSFORM_FAMILY_H
#define TRANSFORM_FAMILY_H

#include "base/buf.h"

/* Units that measure the same. */
enum family {
	FAMILY_NONE = 0, /* equal only to itself */
	FAMILY_MEMORY,   /* factors in bytes */
	FAMILY_TIME,     /* in nanoseconds */
	FAMILY_GCU       /* in nanoGCU */
};

struct unit_size {
	enum family family;
	double factor; /* 1 for FAMILY_NONE */
};

/* Look up a unit by any of its names; case and a plural s do not count. */
struct unit_size unit_size_of(const char *name, size_t len);

/*
 * True when a value in unit `a` can be given in unit `b`: both of one family,
 * or equal but for a plural s.
 */
bool units_fit(const char *a, const char *b);

/*
 * Append a number in the largest unit of its family that it fills, with at
 * most two decimals: "1.50kB".
 */
void unit_format(struct buf *out, int64_t value, const char *unit);

#endif
