/* SPDX-License-Identifier: Apache-2.0
 *
 * Heap numbers; the formulas are derived in docs/ARCHITECTURE.md. jemalloc
 * draws geometric gaps of mean R bytes, so a block of z bytes is seen with
 * probability 1 - e^(-z/R) (jemalloc src/prof.c, bin/jeprof.in
 * AdjustSamples).
 */
#include <config.h>

#include "profile/stats.h"

#include <math.h>

void stats_unsample(double *count, double *bytes, double rate)
{
	double factor;

	if (rate <= 1 || *count <= 0 || *bytes <= 0)
		return;
	/* expm1 keeps the digits that 1 - exp(-x) loses for small x. */
	factor = -expm1(-(*bytes / *count) / rate);
	*count /= factor;
	*bytes /= factor;
}

double stats_variance_per_byte(double mean_bytes, double rate)
{
	double x;

	if (rate <= 1 || mean_bytes <= 0)
		return 0;
	x = mean_bytes / rate;
	return mean_bytes / expm1(x);
}

struct stats_interval stats_score_interval(double sum, double g, double z)
{
	double centre = sum + z * z * g / 2;
	double half = z * sqrt(sum * g + z * z * g * g / 4);
	double high = centre + half;
	/* The product of the two is sum^2; the difference would lose digits. */
	struct stats_interval interval = {
		high > 0 ? sum * (sum / high) : 0, high
	};

	return interval;
}

double stats_growth_z(double a, double ga, double b, double gb)
{
	double variance = a * ga + b * gb;

	return variance > 0 ? (b - a) / sqrt(variance) : 0;
}

int64_t stats_round(double value, int *saturated)
{
	/* 2^63 is exact as a double, INT64_MAX is not. */
	if (value >= 0x1p63) {
		*saturated = 1;
		return INT64_MAX;
	}
	if (value < -0x1p63) {
		*saturated = 1;
		return INT64_MIN;
	}
	return llround(value);
}
