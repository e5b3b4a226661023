/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and shares as text: pprof's rules in tables, words in pictures, in
 * any locale.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/units.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* Assert on the buffer's content and empty it. */
static void expect_text(struct buf *buf, const char *expected)
{
	assert_string_equal(buf_cstr(buf), expected);
	buf_reset(buf);
}

static const struct {
	int64_t value;
	const char *from, *to, *expected;
} values[] = {
	{ 0, "bytes", UNIT_AUTO, "0" },
	{ 1, "bytes", UNIT_AUTO, "1B" },
	{ 1023, "bytes", UNIT_AUTO, "1023B" },
	{ 1024, "bytes", UNIT_AUTO, "1kB" },
	{ 1536, "bytes", UNIT_AUTO, "1.50kB" },
	{ 4209216, "bytes", UNIT_AUTO, "4.01MB" },
	{ 4209216, "bytes", "kB", "4110.56kB" },
	{ 1, "bytes", "MB", "0" },
	{ -1824, "bytes", "B", "-1824B" },
	{ -1, "bytes", "MB", "0" },
	{ 1, "Bytes", UNIT_AUTO, "1B" },
	{ 3, "kilobytes", "bytes", "3072B" },
	{ 5, "mb", "furlong", "5242880B" },
	{ INT64_MAX, "bytes", UNIT_AUTO, "8192PB" },
	{ INT64_MIN, "bytes", UNIT_AUTO, "-8192PB" },
	{ 1500, "nanoseconds", UNIT_AUTO, "1.50us" },
	{ 16515000000000, "nanoseconds", UNIT_AUTO, "4.59hrs" },
	{ 30000000000, "ns", UNIT_AUTO, "30s" },
	{ 59999, "ms", UNIT_AUTO, "60s" },
	{ 1500, "milligcu", UNIT_AUTO, "1.50GCU" },
	{ 7, "count", UNIT_AUTO, "7" },
	{ 7, "samples", "count", "7" },
	{ 7, "parsecs", "parsecs", "7parsecs" },
	{ 7, "parsecs", UNIT_MINIMUM, "7" },
	{ 7, "", UNIT_AUTO, "7" }
};

static void test_values(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(values); i++) {
		units_value(&buf, values[i].value, values[i].from,
			    values[i].to);
		expect_text(&buf, values[i].expected);
	}
	buf_fini(&buf);
}

static const struct {
	int64_t value, total;
	const char *expected;
} percents[] = {
	{ 0, 0, "    0%" },
	{ 5, 0, "    0%" },
	{ 0, 7, "    0%" },
	{ 1, 1, "  100%" },
	{ 9996, 10000, "  100%" },
	{ 9994, 10000, "99.94%" },
	{ 10005, 10000, "  100%" },
	{ 28, 10000, " 0.28%" },
	{ 38, 100000, "0.038%" },
	{ 53, 1000000, "0.0053%" },
	{ 53, 1000000000, "5.3e-06%" },
	{ -1824, 7968, "22.89%" },
	{ 113599, 1000, "11359.90%" },
	{ INT64_MIN, INT64_MAX, "  100%" }
};

static void test_percents(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(percents); i++) {
		units_percent(&buf, percents[i].value, percents[i].total);
		expect_text(&buf, percents[i].expected);
	}
	buf_fini(&buf);
}

/* The unit of a whole table, as -unit=minimum picks it. */
static const struct {
	int64_t least, total;
	const char *from, *expected;
} minimums[] = {
	{ 11840, 4209216, "bytes", "MB" }, /* 0.01 of it */
	{ 1600, 4209216, "bytes", "kB" },
	{ 224, 7968, "bytes", "B" },
	{ 0, 4194304, "bytes", "MB" },
	{ 0, 0, "bytes", "B" },
	{ 5, 1000, "count", "count" },
	{ 5, 1000, "parsecs", "parsecs" },
	{ 10000000, 27000000000, "nanoseconds", "s" },
	{ INT64_MAX, INT64_MAX, "bytes", "PB" }
};

static void test_minimums(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(minimums); i++)
		assert_string_equal(units_minimum(minimums[i].least,
						  minimums[i].total,
						  minimums[i].from),
				    minimums[i].expected);
}

static const struct {
	int64_t value;
	const char *type, *unit, *words, *brief;
} words[] = {
	{ 1290384, "inuse_space", "bytes", "1.23 MiB (1,290,384 bytes)",
	  "1.23 MiB" },
	{ 1, "space", "bytes", "1 byte", "1 byte" },
	{ 1000, "space", "bytes", "1,000 bytes", "1,000 bytes" },
	{ -2048, "space", "bytes", "-2 KiB (-2,048 bytes)", "-2 KiB" },
	{ 1234, "inuse_objects", "count", "1,234 objects", "1,234 objects" },
	{ 1, "samples", "count", "1 sample", "1 sample" },
	{ -1, "alloc_objects", "count", "-1 object", "-1 object" },
	{ 0, "samples", "", "0 samples", "0 samples" },
	{ 1234500, "samples", "count/1000", "1,234.5 samples",
	  "1,234.5 samples" },
	{ -5, "cost", "usd/100", "-0.05 usd", "-0.05 usd" },
	{ 7, "x", "bytes/second", "7 bytes/second", "7 bytes/second" },
	{ 7, "cpu", "cycles", "7 cycles", "7 cycles" },
	{ 1500000000, "cpu", "nanoseconds",
	  "1.50 s (1,500,000,000 nanoseconds)", "1.50 s" },
	{ INT64_MIN, "x", "count", "-9,223,372,036,854,775,808 x",
	  "-9,223,372,036,854,775,808 x" },
	{ 5, "", "", "5", "5" }
};

static void test_words(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(words); i++) {
		units_words(&buf, words[i].value, words[i].type,
			    words[i].unit);
		expect_text(&buf, words[i].words);
		units_brief(&buf, words[i].value, words[i].type,
			    words[i].unit);
		expect_text(&buf, words[i].brief);
	}
	buf_fini(&buf);
}

static const struct {
	int64_t value;
	unsigned decimals;
	const char *expected;
} fixed[] = {
	{ 0, 0, "0" },       { 0, 3, "0" },      { 1180, 6, "0.00118" },
	{ 1200, 3, "1.2" },  { -5, 1, "-0.5" },  { 305, 1, "30.5" },
	{ 300, 1, "30" },    { INT64_MIN, 2, "-92233720368547758.08" }
};

static void test_fixed(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(fixed); i++) {
		units_fixed(&buf, fixed[i].value, fixed[i].decimals);
		expect_text(&buf, fixed[i].expected);
	}
	units_share(&buf, 1, 3);
	expect_text(&buf, "33.33%");
	units_share(&buf, UINT64_MAX, UINT64_MAX);
	expect_text(&buf, "100%");
	units_share(&buf, 1, 0);
	expect_text(&buf, "0%");
	units_grouped(&buf, (unsigned __int128)INT64_MAX * 2);
	expect_text(&buf, "18,446,744,073,709,551,614");
	units_grouped(&buf, ~(unsigned __int128)0);
	expect_text(&buf,
		    "340,282,366,920,938,463,463,374,607,431,768,211,455");
	buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_percents),
		cmocka_unit_test(test_minimums),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_fixed)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
