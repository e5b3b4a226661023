/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated sampling: what the unsampling and its error bars promise must
 * hold on average over many runs. And jemalloc's own correction of a dump
 * followed by ours must give back what was estimated.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "profile/stats.h"

#define RATE 524288.0
#define NR_RUNS 3000
#define Z 1.959964 /* 95 % */

static struct gen_random dice;

/* How many of `nr` blocks are seen, each with probability p: skips ahead. */
static double draw_seen(double nr, double p)
{
	double seen = 0, at = 0;

	if (p >= 1 - 1e-12)
		return nr;
	for (;;) {
		at += floor(log(gen_unit(&dice)) / log1p(-p)) + 1;
		if (at > nr)
			return seen;
		seen++;
	}
}

static double chance(double size)
{
	return -expm1(-size / RATE);
}

struct coverage {
	double interval; /* share of runs whose interval holds the truth */
	double naive;    /* the same of sum +- z sqrt(sum g) */
	double mean;     /* of the estimates, in truths */
};

/* Live: enough blocks of one size that `expected` are seen on average. */
static struct coverage simulate(double size, double expected)
{
	double p = chance(size), nr = ceil(expected / p), truth = nr * size;
	struct coverage cover = { 0, 0, 0 };
	int run;

	for (run = 0; run < NR_RUNS; run++) {
		double seen = draw_seen(nr, p), count = seen;
		double bytes = seen * size, g, naive;
		struct stats_interval in;

		stats_unsample(&count, &bytes, RATE);
		g = stats_variance_per_byte(size, RATE);
		in = stats_score_interval(bytes, g, Z);
		naive = Z * sqrt(bytes * g);
		cover.interval += in.low <= truth && truth <= in.high;
		cover.naive += fabs(bytes - truth) <= naive;
		cover.mean += bytes / truth;
	}
	cover.interval /= NR_RUNS;
	cover.naive /= NR_RUNS;
	cover.mean /= NR_RUNS;
	return cover;
}

/* 8 B to 1 MiB, 5 to 200 expected samples. */
static void test_coverage(void **state)
{
	static const double expected[] = { 5, 10, 20, 50, 200 };
	double size, worst_naive = 1;
	size_t i;

	(void)state;
	for (size = 8; size <= 1048576; size *= 8) {
		for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
			struct coverage c = simulate(size, expected[i]);
			double error = 4 / sqrt(expected[i] * NR_RUNS);

			if (c.interval < 0.925 || c.interval > 0.98)
				fail_msg("%.0f bytes, %.0f samples: an "
					 "interval of 95 %% holds in %.3f",
					 size, expected[i], c.interval);
			if (fabs(c.mean - 1) > error)
				fail_msg("%.0f bytes, %.0f samples: biased, "
					 "%.4f", size, expected[i], c.mean);
			if (c.naive < worst_naive)
				worst_naive = c.naive;
		}
	}
	/* So that the test can tell a bad interval from a good one. */
	assert_true(worst_naive < 0.90);
}

/* Two sizes in two stacks: variances add, the interval may be too wide. */
static void test_mixture(void **state)
{
	static const double sizes[] = { 64, 262144 };
	double truth = 0, cover = 0, nr[2];
	int run, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		nr[i] = ceil(20 / chance(sizes[i]));
		truth += nr[i] * sizes[i];
	}
	for (run = 0; run < NR_RUNS; run++) {
		double sum = 0, variance = 0;
		struct stats_interval in;

		for (i = 0; i < 2; i++) {
			double count = draw_seen(nr[i], chance(sizes[i]));
			double bytes = count * sizes[i];

			stats_unsample(&count, &bytes, RATE);
			sum += bytes;
			variance += bytes * stats_variance_per_byte(sizes[i],
								    RATE);
		}
		in = stats_score_interval(sum, variance / sum, Z);
		cover += in.low <= truth && truth <= in.high;
	}
	cover /= NR_RUNS;
	if (cover < 0.925 || cover > 0.995)
		fail_msg("an interval of 95 %% holds in %.3f", cover);
}

/* Without growth, z is a standard normal: |z| > 3 is rare. */
static void test_no_growth(void **state)
{
	double nr = ceil(100 / chance(1024)), beyond[2] = { 0, 0 };
	double g = stats_variance_per_byte(1024, RATE);
	int run, i;

	(void)state;
	for (run = 0; run < NR_RUNS; run++) {
		double sums[2], z;

		for (i = 0; i < 2; i++) {
			double count = draw_seen(nr, chance(1024));

			sums[i] = count * 1024;
			stats_unsample(&count, &sums[i], RATE);
		}
		z = stats_growth_z(sums[0], g, sums[1], g);
		beyond[0] += fabs(z) > 1.96;
		beyond[1] += fabs(z) > 3;
	}
	assert_true(beyond[0] / NR_RUNS > 0.03 && beyond[0] / NR_RUNS < 0.07);
	assert_true(beyond[1] / NR_RUNS < 0.01);
}

/*
 * What jemalloc prints with prof_unbias for estimates of C objects and S
 * bytes (src/prof_data.c, prof_do_unbias, 5.3.0): the pair that unsampling
 * turns back into (C, S).
 */
static void print_unbiased(double c, double s, double rate, double *ret_count,
			   double *ret_bytes)
{
	double mean = s / c;
	double bytes = s * -expm1(-mean / rate);

	*ret_bytes = round(bytes);
	*ret_count = round(bytes / mean);
}

static void test_forward_and_back(void **state)
{
	static const double rates[] = { 2, 512, 4096, 524288, 0x1p30 };
	size_t i;
	int run;

	(void)state;
	for (run = 0; run < 20000; run++) {
		double rate = rates[run % 5], c = 0, s = 0, count, bytes;
		double loss;
		uint32_t nr = 1 + gen_below(&dice, 50);

		/* Samples of any sizes, as jemalloc adds them up. */
		for (i = 0; i < nr; i++) {
			double size = 8 * floor(exp(gen_unit(&dice) * 14));
			double p = -expm1(-size / rate);

			c += 1 / p;
			s += size / p;
		}
		print_unbiased(c, s, rate, &count, &bytes);
		assert_true(count >= 1 && bytes >= 1);
		/* Rounding to whole objects and bytes is what is lost: for
		 * small blocks bytes go with the count, objects with its
		 * square. */
		loss = (1 + 0.5 / (count - 0.5)) * (1 + 0.5 / (bytes - 0.5));
		stats_unsample(&count, &bytes, rate);
		if (fabs(bytes / s - 1) > loss - 1 + 1e-9 ||
		    fabs(count / c - 1) > loss * loss - 1 + 1e-9)
			fail_msg("rate %.0f: %.2f objects, %.0f bytes became "
				 "%.2f, %.0f", rate, c, s, count, bytes);
	}
}

/* Known answer: one 8 B and one 1 MiB sample at 512 KiB. */
static void test_rounding_loss(void **state)
{
	double c = 1 / chance(8) + 1 / chance(1048576);
	double s = 8 / chance(8) + 1048576 / chance(1048576), count, bytes;

	(void)state;
	print_unbiased(c, s, RATE, &count, &bytes);
	assert_true(count == 3 && bytes == 88);
	stats_unsample(&count, &bytes, RATE);
	assert_true(fabs(count - 53622) < 1 && fabs(bytes - 1572908) < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_mixture),
		cmocka_unit_test(test_no_growth),
		cmocka_unit_test(test_forward_and_back),
		cmocka_unit_test(test_rounding_loss),
	};

	dice.state = gen_seed();
	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
