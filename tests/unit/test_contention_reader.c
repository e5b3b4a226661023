/* SPDX-License-Identifier: Apache-2.0
 *
 * Contention profiles: clocks, periods, Java's kinds, and what is refused.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "contention"

#define ROWS "19490304 27 @ 0xbccc97 0xc61202\n 768 1 @ 0xbccc97\n"
#define MAPS "--- Memory map: ---\n  00400000-00fcb000: /srv/app\n"
#define JAVA "--- contentionz 1 ---\nformat = java\nresolution = microseconds\n"

static const struct reader_row rows[] = {
	{ "cycles and period", TEXT("--- contentionz 1 ---\n"
	  "cycles/second = 3201000000\nsampling period = 100\n"
	  "ms since reset = 16502830\ndiscarded samples = 0\n" ROWS MAPS),
	  ROW_SNIFF, 0, "contentions/count delay/nanoseconds\n"
	  "2700 608881724 | bccc96[/srv/app]; c61201[/srv/app]\n"
	  "100 23992 | bccc96[/srv/app]\n" },
	{ "raw counts", TEXT("--- contention:\ncycles/second=1000000000\n"
	  "sampling period=100\n12 3 @ 0x10\n"), ROW_RAW_COUNTS, 0,
	  "contentions/count delay/nanoseconds\n3 12 | f\n" },
	{ "mutex of Go with names", TEXT("--- mutex:\n"
	  "cycles/second=2300030756\nsampling period=1\n"
	  "581831618 199 @ 0x4b90fe 0x4b9065 0x462461\n"
	  "#\t0x4b90fd\tsync.(*Mutex).Unlock+0xbd\t/go/mutex.go:223\n"
	  "#\t0x4b9064\tmain.main.func3+0x24\t\t/srv/main.go:78\n\n"),
	  ROW_SNIFF, 0, "contentions/count delay/nanoseconds\n199 252966885 | "
	  "4b90fd sync.(*Mutex).Unlock(/go/mutex.go:223); "
	  "4b9064 main.main.func3(/srv/main.go:78); 462460\n" },
	{ "no clock: cycles stay", TEXT("--- contention:\n7 1 @ 0x10\n"), 0, 1,
	  "contentions/count delay/cycles\n1 7 | f\n" },
	{ "the older kind without counts", TEXT("--- Stacks:\n"
	  "cycles/second = 1000000000\n7 @ 0x10\n"
	  "slow release 9 thread 3 @ 0x20\n"), 0, 1,
	  "contentions/count delay/nanoseconds\n1 7 | f\n" },
	{ "beyond 64 bits", TEXT("--- contention:\ncycles/second = 1\n"
	  "18446744073709551615 18446744073709551615 @ 0x10\n"), 0, 1,
	  "contentions/count delay/nanoseconds\n"
	  "9223372036854775807 9223372036854775807 | f\n" },
	{ "Java", TEXT(JAVA "sampling period = 100\n 14 1 @ 0x0d 0x04\n\n"
	  " 0x04 com.example.f (a.java:12)\n 0x0d GC\n"), ROW_SNIFF, 0,
	  "contentions/count delay/microseconds\n"
	  "100 1400 | 0 GC; 0 com.example.f(a.java:12)\n" },
	{ "Java heap", TEXT("--- heapz 1 ---\nformat = java\n"
	  "resolution = bytes\n 7048 1 @ 0x03\n\n 0x03 f (b.java:-1)\n"),
	  ROW_SNIFF, 0, "inuse_objects/count inuse_space/bytes\n"
	  "75 527820 | 0 f(b.java:-1:0)\n" },
	{ "foreign lines and a null frame", TEXT("--- contention:\n"
	  "cycles/second = 1000000000\nwhat = ever\n5 1 @ 0x0 0x10\nhello\n"),
	  0, 3, "contentions/count delay/nanoseconds\n1 5 | f\n" },
	{ "no profile", TEXT("hello\n"), ROW_BAD, 0, "expected a first line" },
	{ "a heap that is not Java's", TEXT("--- heapz 1 ---\n7 1 @ 0x1\n"),
	  ROW_BAD, 0, "format = java" },
	{ "an address that is none", TEXT("--- mutex:\n1 1 @ 0xq\n"), ROW_BAD,
	  0, "expected a hexadecimal address" },
	{ "a clock that is none", TEXT("--- mutex:\ncycles/second = x\n"),
	  ROW_BAD, 0, "cycles/second" },
	{ "another format", TEXT("--- contention:\nformat = perl\n"), ROW_BAD,
	  0, "format" },
	{ "two profiles", TEXT("--- mutex:\n1 1 @ 0x1\n--- mutex:\n"),
	  ROW_BAD, 0, "a second profile" },
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
