/* SPDX-License-Identifier: Apache-2.0
 *
 * Unsampling and the sampling error, against numbers worked out elsewhere
 * and the properties that the formulas must have.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "profile/stats.h"

static void expect_near(const char *name, double got, double expected,
			double relative)
{
	if (!(fabs(got - expected) <= relative * fabs(expected)))
		fail_msg("%s: %.17g, expected %.17g", name, got, expected);
}

static void test_unsample(void **state)
{
	static const struct {
		const char *name;
		double count, bytes, rate;
		double ret_count, ret_bytes;
	} rows[] = {
		/* By jeprof 5.3.0 on such dumps. */
		{ "mixed sizes, unbiased", 14881, 2399544864, 4096,
		  14881, 2399544864 },
		{ "8 bytes and 1 MiB in one stack", 3, 88, 524288,
		  53621.8636504, 1572908.0004 },
		{ "one of 32 bytes", 1, 32, 1048576, 32768.5000025,
		  1048592.00008 },
		{ "about the rate", 1, 524288, 524288, 1.5819767068693265,
		  829411.40369 },
		{ "much larger than the rate", 3, 3e9, 4096, 3, 3e9 },
		{ "every allocation", 7, 56, 1, 7, 56 },
		{ "rate 0", 7, 56, 0, 7, 56 },
		{ "count without bytes", 5, 0, 4096, 5, 0 },
		{ "bytes without count", 0, 5000, 4096, 0, 5000 },
		{ "nothing", 0, 0, 4096, 0, 0 },
		{ "negative", -2, -16, 4096, -2, -16 },
		{ "rate 2^56", 1, 8, 0x1p56, 0x1p53, 0x1p56 },
		{ "rate 2^63", 1, 8, 0x1p63, 0x1p60, 0x1p63 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double count = rows[i].count, bytes = rows[i].bytes;

		stats_unsample(&count, &bytes, rows[i].rate);
		expect_near(rows[i].name, count, rows[i].ret_count, 1e-9);
		expect_near(rows[i].name, bytes, rows[i].ret_bytes, 1e-9);
	}
}

/* The mean size stays, the figures never shrink. */
static void test_unsample_properties(void **state)
{
	double size, rate;

	(void)state;
	for (rate = 2; rate < 1e10; rate *= 3) {
		for (size = 1; size < 1e12; size *= 7) {
			double count = 5, bytes = 5 * size;

			stats_unsample(&count, &bytes, rate);
			expect_near("mean", bytes / count, size, 1e-12);
			assert_true(count >= 5 && isfinite(count));
			assert_true(bytes >= 5 * size);
			/* At least one per rate bytes. */
			assert_true(bytes >= 5 * rate * (1 - 1e-12));
		}
	}
}

static void test_variance(void **state)
{
	static const struct {
		double mean, rate, g;
	} rows[] = {
		{ 1e-9, 4096, 4096 },
		{ 8, 524288, 524284.0000101 },
		{ 4096, 4096, 2383.7765913 },
		{ 1048576, 524288, 164120.64376 },
		{ 1e9, 4096, 0 },
		{ 0, 4096, 0 },
		{ 100, 1, 0 },
		{ 100, 0, 0 },
		{ -5, 4096, 0 },
	};
	double mean, last = 4096;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double g = stats_variance_per_byte(rows[i].mean,
						   rows[i].rate);

		assert_true(isfinite(g));
		assert_true(fabs(g - rows[i].g) <= 1e-5 * rows[i].g + 1e-9);
	}
	for (mean = 1; mean < 1e6; mean *= 2) {
		double g = stats_variance_per_byte(mean, 4096);

		assert_true(g >= 0 && g < last);
		last = g;
	}
}

/* Both ends solve (sum - T)^2 = z^2 T g. */
static void test_interval(void **state)
{
	double sum, g, z;

	(void)state;
	for (sum = 1; sum < 1e15; sum *= 31) {
		for (g = 0.5; g < 1e7; g *= 17) {
			for (z = 0.5; z < 4; z += 0.7) {
				struct stats_interval in =
					stats_score_interval(sum, g, z);

				assert_true(in.low < sum && sum < in.high);
				assert_true(in.low >= 0);
				expect_near("high", (in.high - sum) *
					    (in.high - sum),
					    z * z * in.high * g, 1e-3);
				expect_near("product", in.low * in.high,
					    sum * sum, 1e-3);
			}
		}
	}
	expect_near("exact", stats_score_interval(500, 0, 1.96).low, 500, 0);
	expect_near("exact", stats_score_interval(500, 0, 1.96).high, 500, 0);
	expect_near("nothing seen", stats_score_interval(0, 100, 2).high, 400,
		    1e-12);
	assert_true(stats_score_interval(0, 100, 2).low == 0);
}

static void test_growth(void **state)
{
	double n;

	(void)state;
	/* n new samples of small blocks: n R bytes at g = R give sqrt(n). */
	for (n = 1; n < 100; n++)
		expect_near("new", stats_growth_z(0, 0, n * 4096, 4096),
			    sqrt(n), 1e-12);
	expect_near("gone", stats_growth_z(9 * 4096, 4096, 0, 0), -3, 1e-12);
	expect_near("both", stats_growth_z(4 * 100, 100, 12 * 100, 100), 2,
		    1e-12);
	assert_true(stats_growth_z(1, 0, 1000, 0) == 0);
	assert_true(stats_growth_z(0, 0, 0, 0) == 0);
	assert_true(stats_growth_z(5e5, 9, 5e5, 9) == 0);
}

static void test_round(void **state)
{
	static const struct {
		double value;
		int64_t rounded;
		int saturated;
	} rows[] = {
		{ 0, 0, 0 }, { 0.4, 0, 0 }, { 0.5, 1, 0 }, { -0.5, -1, 0 },
		{ 1.5, 2, 0 }, { 2.5, 3, 0 },
		{ 4503599627370497.0, 4503599627370497, 0 },
		{ 0x1p62, INT64_C(1) << 62, 0 },
		{ 9223372036854774784.0, INT64_C(9223372036854774784), 0 },
		{ 0x1p63, INT64_MAX, 1 }, { 1e300, INT64_MAX, 1 },
		{ -0x1p63, INT64_MIN, 0 }, { -1e300, INT64_MIN, 1 },
	};
	size_t i;
	int saturated;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		saturated = 0;
		assert_int_equal(stats_round(rows[i].value, &saturated),
				 rows[i].rounded);
		assert_int_equal(saturated, rows[i].saturated);
	}
	saturated = 1;
	stats_round(1, &saturated);
	assert_int_equal(saturated, 1); /* never cleared */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsample),
		cmocka_unit_test(test_unsample_properties),
		cmocka_unit_test(test_variance),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_round),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
