/* SPDX-License-Identifier: Apache-2.0
 *
 * Sample types that several profiles have in common: what is one type under
 * two names or units, and in which order they are written.
 */
#ifndef TRANSFORM_TYPES_H
#define TRANSFORM_TYPES_H

#include "profile/profile.h"
#include "transform/family.h"

/* No column. */
#define TYPE_NONE SIZE_MAX

/*
 * Name by which column i is known to others: "inuse_space" is "space" and
 * "inuse_objects" is "objects", unless the profile has both.
 */
const char *type_stem(const struct pprof_profile *profile, size_t i);

/* Column of `profile` with this stem and a unit that fits, or TYPE_NONE. */
size_t type_find(const struct pprof_profile *profile, const char *stem,
		 const char *unit);

/*
 * Order in which types are written, as producers have it: alloc_ before
 * inuse_, what is counted before what is measured, then by name.
 */
int type_compare(const char *name_a, const char *unit_a, const char *name_b,
		 const char *unit_b);

/* The spelling to keep of one unit: the longer, then the smaller. */
bool unit_is_better(const char *a, const char *b);

/* value * factor, at the int64 limits when it does not fit. */
int64_t multiply_saturated(int64_t value, int64_t factor, bool *saturated);

#endif
