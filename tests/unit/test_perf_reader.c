/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of perf script: headers, frames, inlined calls, events, maps.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "perf-script"

#define CHAIN "\t 4c46 burn+0x36 (/srv/app)\n\t 4c68 main+0x8 (/srv/app)\n\n"

static const struct reader_row rows[] = {
	{ "chains", TEXT("app 13060  2618.437791:    2000000 cpu-clock: \n"
	  CHAIN "app 13060  2618.447791:    2000000 cpu-clock: \n" CHAIN),
	  ROW_SNIFF, 0, "samples/count cpu-clock/nanoseconds\n"
	  "2 4000000 | 4c46[/srv/app] burn; 4c68[/srv/app] main\n" },
	{ "no period, threads apart, names with blanks",
	  TEXT("a b 7/8 [001] 1.5: cycles:u: \n" CHAIN), ROW_THREADS, 0,
	  "samples/count\n1 | 4c46[/srv/app] burn; 4c68[/srv/app] main "
	  "thread=a b thread_id=8\n" },
	{ "nothing but addresses", TEXT("app 1 cycles: \n\t 10\n\t 20\n"), 0,
	  0, "samples/count\n1 | 10; 20\n" },
	{ "inlined calls", TEXT("app 1 cycles: \n 10 a (inlined)\n"
	  " 10 b+0x1 (inlined)\n 10 c+0x1 (/srv/a (deleted))\n"
	  " 20 d (inlined)\n 30 e (/srv/app)\n 40 f (inlined)\n"), 0, 0,
	  "samples/count\n1 | 10[/srv/a (deleted)] a<b<c; 20 d; "
	  "30[/srv/app] e; 40 f\n" },
	{ "unknown names and files, the kernel", TEXT("app 1 cycles: \n"
	  " ffffffff81000c82 f+0x1 ([kernel.kallsyms])\n"
	  " 55b54995c1a5 [unknown] ([unknown])\n"
	  " 99 [unknown] (/srv/app)\n"), 0, 0, "samples/count\n1 | "
	  "ffffffff81000c82[[kernel.kallsyms]] f; 55b54995c1a5; "
	  "99[/srv/app]\n" },
	{ "names with parentheses, source lines", TEXT("app 1 cycles: \n"
	  " 10 f(int, (anonymous namespace)::T)+0x1 (/srv/app)\n"
	  "  app.cc:12\n 20 g (/srv/app)\n"), 0, 0, "samples/count\n1 | "
	  "10[/srv/app] f(int, (anonymous namespace)::T); 20[/srv/app] g\n" },
	{ "one frame on the line, two events", TEXT(
	  "app 1 [000] 1.1: 100 cycles:u:  401010 f+0x10 (/srv/app)\n"
	  "app 1 [000] 1.2: 7 misses:  401010 f+0x10 (/srv/app)\n"),
	  ROW_SNIFF, 0, "samples/count cycles:u/count misses/count\n"
	  "2 100 7 | 401010[/srv/app] f\n" },
	{ "two events without periods", TEXT("a 1 x: \n 10\n\na 1 x: \n 10\n"
	  "\na 1 y: \n 10\n"), 0, 0, "samples/count x/count y/count\n"
	  "3 2 1 | 10\n" },
	{ "maps: addresses of the process", TEXT("app 1 1.1: "
	  "PERF_RECORD_MMAP2 1/1: [0x7f0000401000(0x1000) @ 0x1000 08:01 7 "
	  "0]: r-xp /srv/app\napp 1 1.2: cycles: \n 7f0000401010 f "
	  "(/srv/app)\n 1010 f (/srv/app)\n"), ROW_SNIFF, 0, "samples/count\n"
	  "1 | 7f0000401010[/srv/app] f; 1010[/srv/app] f\n" },
	{ "foreign lines", TEXT("# header\nhello\n 10\napp 1 cycles: \n 10\n"
	  " zz\n"), 0, 3, "samples/count\n1 | 10\n" },
	{ "no sample", TEXT("hello\n"), ROW_BAD, 0, "expected a sample" },
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
