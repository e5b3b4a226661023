/* SPDX-License-Identifier: Apache-2.0
 *
 * Count profiles of Go: rows, labels, names, totals.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "counts"

#define HEAD "goroutine profile: total 4\n"

static const struct reader_row rows[] = {
	{ "labels and names", TEXT(HEAD
	  "3 @ 0x1010 0x1020\n# labels: {\"a\":\"b c\", \"k\":\"\\\"v\\\"\"}\n"
	  "#\t0x100f\tmain.f+0x1\t\t/srv/a.go:3\n\n1 @ 0x1010\n"), ROW_SNIFF,
	  0, "goroutine/count\n3 | 100f main.f(/srv/a.go:3); 101f a=b c "
	  "k=\"v\"\n1 | 100f main.f(/srv/a.go:3)\n" },
	{ "old names of return addresses", TEXT("threadcreate profile: "
	  "total 1\n1 @ 0x1010\n#\t0x1010\tmain.f+0x1\t/srv/a.go:3\n"), 0, 0,
	  "threadcreate/count\n1 | 100f main.f(/srv/a.go:3)\n" },
	{ "inlined frames at one address", TEXT("x profile: total 1\n"
	  "1 @ 0x1010\n#\t0x100f\tinner+0x1\t/a.go:3\n"
	  "#\t0x100f\touter+0x9\t/a.go:7\n"), 0, 0,
	  "x/count\n1 | 100f inner(/a.go:3)<outer(/a.go:7)\n" },
	{ "no stack at all", TEXT("threadcreate profile: total 4\n4 @\n"
	  "#\t0x0\n\n"), ROW_SNIFF, 0, "threadcreate/count\n4 |\n" },
	{ "maps", TEXT("x profile: total 1\n1 @ 0x1010\n"
	  "MAPPED_LIBRARIES:\n1000-2000 r-xp 0 08:01 7 /srv/app\n"), 0, 0,
	  "x/count\n1 | 100f[/srv/app]\n" },
	{ "another total", TEXT("x profile: total 9\n1 @ 0x10\n"), 0, 1,
	  "x/count\n1 | f\n" },
	{ "labels that are none", TEXT("x profile: total 1\n1 @ 0x10\n"
	  "# labels: {\"a\":5}\n"), 0, 1, "x/count\n1 | f\n" },
	{ "foreign line", TEXT("x profile: total 1\nhello\n1 @ 0x10\n"), 0, 1,
	  "x/count\n1 | f\n" },
	{ "no header", TEXT("1 @ 0x10\n"), ROW_BAD, 0, "expected a first" },
	{ "an address that is none", TEXT("x profile: total 1\n1 @ zz\n"),
	  ROW_BAD, 0, "expected a hexadecimal address" },
};

static void test_rows(void **state)
{
	(void)state;
	check_rows(FORMAT, rows, NR_OF(rows));
}

static void test_cuts(void **state)
{
	(void)state;
	check_cuts(FORMAT, rows, NR_OF(rows));
}

static void test_no_memory(void **state)
{
	(void)state;
	check_no_memory(FORMAT, &rows[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
