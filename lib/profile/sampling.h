/* SPDX-License-Identifier: Apache-2.0
 *
 * How the values of a profile came about, and what that means for how
 * certain they are: the variance of each sample's value.
 */
#ifndef PROFILE_SAMPLING_H
#define PROFILE_SAMPLING_H

#include "profile/profile.h"

enum sampling_kind {
	SAMPLING_EXACT = 0,  /* every event was counted, or nothing is known */
	SAMPLING_HEAP_BYTES, /* bytes of blocks drawn once in `rate` bytes */
	SAMPLING_HEAP_COUNT, /* the number of such blocks */
	SAMPLING_TICKS       /* a whole number of equal steps of `rate` */
};

/* Variances are in the square of the type's own unit. */
struct sampling {
	enum sampling_kind kind;
	size_t type;
	double rate;    /* bytes between samples, or size of a step */
	size_t partner; /* bytes for counts, counts for bytes */
	double scale;   /* bytes a unit of the column that holds bytes */
};

/* Find out from the header. */
struct sampling sampling_of(const struct pprof_profile *profile, size_t type);

/* Variance of the value of one sample; 0 when exact. */
double sampling_variance(const struct sampling *sampling,
			 const struct pprof_profile *profile, size_t sample);

#endif
