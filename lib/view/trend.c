/* SPDX-License-Identifier: Apache-2.0
 *
 * Theil-Sen slope and Mann-Kendall test: P. K. Sen, "Estimates of the
 * regression coefficient based on Kendall's tau", 1968; M. G. Kendall, "Rank
 * correlation methods", 1975.
 */
#include <config.h>

#include "base/mem.h"
#include "view/trend.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Up to here the distribution of the test is taken exactly. */
#define EXACT_MAX 12

void trend_scratch_fini(struct trend_scratch *scratch)
{
	mem_free(scratch->slopes);
	mem_free(scratch->ways);
	scratch->slopes = NULL;
	scratch->ways = NULL;
}

double trend_p_of_z(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What the pairs of a series say. */
struct pairs {
	size_t nr;
	int64_t score;  /* rising pairs less falling ones */
	bool has_ties;
};

static void add_pair(struct pairs *pairs, double *slopes, double dx,
		     double dy)
{
	slopes[pairs->nr++] = dy / dx;
	pairs->score += (dy > 0) - (dy < 0);
	pairs->has_ties |= !(dy > 0) && !(dy < 0);
}

static struct pairs take_pairs(double *slopes, const double *x,
			       const double *y, size_t nr)
{
	struct pairs pairs = { 0, 0, false };
	size_t half = nr / 2, i, j;

	if (nr > TREND_PAIRS_MAX) {
		for (i = 0; i + half < nr && i < half; i++)
			add_pair(&pairs, slopes, x[i + half] - x[i],
				 y[i + half] - y[i]);
		return pairs;
	}
	for (i = 0; i < nr; i++)
		for (j = i + 1; j < nr; j++)
			add_pair(&pairs, slopes, x[j] - x[i], y[j] - y[i]);
	return pairs;
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_doubles);
	return nr % 2 ? values[nr / 2]
		      : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

/*
 * ways[k]: orders of nr different values that have k falling pairs, over all
 * orders (the Mahonian numbers, by adding one value at a time).
 */
static bool count_ways(struct trend_scratch *s, size_t nr)
{
	size_t max = nr * (nr - 1) / 2, i, k, d;
	double *next;

	if (s->nr_ways == nr)
		return true;
	if (!mem_grow(s->ways, s->cap_ways, 2 * (max + 1), SIZE_MAX / 16))
		return false;
	next = s->ways + max + 1;
	for (k = 0; k <= max; k++)
		s->ways[k] = k == 0;
	for (i = 2; i <= nr; i++) {
		for (k = 0; k <= max; k++) {
			next[k] = 0;
			for (d = 0; d < i && d <= k; d++)
				next[k] += s->ways[k - d] / (double)i;
		}
		for (k = 0; k <= max; k++)
			s->ways[k] = next[k];
	}
	s->nr_ways = nr;
	return true;
}

/* Both tails at or beyond |score|, for a series without ties. */
static double exact_p(const struct trend_scratch *s, size_t nr,
		      int64_t score)
{
	size_t max = nr * (nr - 1) / 2, k;
	double sum = 0;

	for (k = 0; k <= max; k++) {
		int64_t at = (int64_t)max - 2 * (int64_t)k;

		if (llabs(at) >= llabs(score))
			sum += s->ways[k];
	}
	return sum < 1 ? sum : 1;
}

/* Variance of the score for y[nr] with ties; sorts the copy in `sorted`. */
static double score_variance(double *sorted, const double *y, size_t nr)
{
	double n = (double)nr, variance, t;
	size_t i, j;

	for (i = 0; i < nr; i++)
		sorted[i] = y[i];
	qsort(sorted, nr, sizeof(*sorted), compare_doubles);
	variance = n * (n - 1) * (2 * n + 5);
	for (i = 0; i < nr; i = j) {
		for (j = i + 1; j < nr && !(sorted[j] > sorted[i]); j++)
			;
		t = (double)(j - i);
		variance -= t * (t - 1) * (2 * t + 5);
	}
	return variance / 18;
}

/* p of a score by the normal distribution, with the step of 1 taken off. */
static double normal_p(int64_t score, double variance)
{
	double size = (double)llabs(score) - 1;

	if (!score || !(variance > 0))
		return 1;
	return trend_p_of_z(size / sqrt(variance));
}

bool trend_fit(struct trend_scratch *s, const double *x, const double *y,
	       size_t nr, struct trend *ret_trend)
{
	size_t need = nr > TREND_PAIRS_MAX ? nr : nr * (nr - 1) / 2 + nr;
	struct pairs pairs;

	if (!mem_grow(s->slopes, s->cap, need, SIZE_MAX / 16))
		return false;
	pairs = take_pairs(s->slopes, x, y, nr);
	ret_trend->slope = median(s->slopes, pairs.nr);
	if (nr > TREND_PAIRS_MAX) {
		/* Signs of independent pairs: a binomial score. */
		ret_trend->p = normal_p(pairs.score, (double)pairs.nr);
		return true;
	}
	if (nr > EXACT_MAX || pairs.has_ties) {
		ret_trend->p = normal_p(pairs.score,
					score_variance(s->slopes, y, nr));
		return true;
	}
	if (!count_ways(s, nr))
		return false;
	ret_trend->p = exact_p(s, nr, pairs.score);
	return true;
}
