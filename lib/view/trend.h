/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a series of values going somewhere: a slope that outliers do not move,
 * and how likely its signs are chance.
 */
#ifndef VIEW_TREND_H
#define VIEW_TREND_H

#include <stdbool.h>
#include <stddef.h>

struct trend {
	double slope; /* median of the slopes of pairs (Theil and Sen) */
	double p;     /* two-sided, of its signs (Mann and Kendall) */
};

/* Scratch for series of at most `nr` values, reused from one to the next. */
struct trend_scratch {
	double *slopes;
	size_t cap;
	double *ways; /* see trend.c; made for nr_ways values */
	size_t nr_ways, cap_ways;
};

void trend_scratch_fini(struct trend_scratch *scratch);

/*
 * Trend of y[nr] at x[nr], x rising, nr >= 2. False: out of memory. All pairs
 * count up to TREND_PAIRS_MAX values; beyond, each value and the one half the
 * series later.
 */
#define TREND_PAIRS_MAX 128
__attribute__((warn_unused_result))
bool trend_fit(struct trend_scratch *scratch, const double *x,
	       const double *y, size_t nr, struct trend *ret_trend);

/* Two-sided probability of a normal variable beyond z. */
double trend_p_of_z(double z);

#endif
