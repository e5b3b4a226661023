/* SPDX-License-Identifier: Apache-2.0
 *
 * Heap numbers: unsampling of a Poisson-sampled allocation profile, and the
 * sampling error of what comes out.
 */
#ifndef PROFILE_STATS_H
#define PROFILE_STATS_H

#include <stdint.h>

/*
 * Scale one (count, bytes) pair recorded at interval `rate` bytes, in place:
 * both times 1 / (1 - e^(-(bytes/count)/rate)) (jeprof AdjustSamples, v2).
 * Unchanged when rate <= 1, count <= 0 or bytes <= 0.
 */
void stats_unsample(double *count, double *bytes, double rate);

/*
 * Variance per scaled byte at mean size x and interval R:
 * g = x / (e^(x/R) - 1), from R for small x to 0 for large ones.
 */
double stats_variance_per_byte(double mean_bytes, double rate);

/* A score interval [low, high] around a total. */
struct stats_interval {
	double low;
	double high;
};

/*
 * Score interval of scaled total `sum` bytes with variance sum * g: the T
 * with (sum - T)^2 <= z^2 T g.
 */
struct stats_interval stats_score_interval(double sum, double g, double z);

/* z of growth a -> b: (b - a) / sqrt(a ga + b gb); 0 when both are exact. */
double stats_growth_z(double a, double ga, double b, double gb);

/* Nearest int64, saturated; *saturated is set (never cleared) when so. */
int64_t stats_round(double value, int *saturated);

#endif
