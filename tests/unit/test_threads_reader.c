/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread dumps: exact leaves, return addresses, repeats, names.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "threads"

#define MAIN "--- Thread 7f79 (name: main/14748) stack: ---\n"

static const struct reader_row rows[] = {
	{ "names, a creator, the same again", TEXT("--- threadz 1 ---\n\n"
	  MAIN "  PC:  0x00bc8f1c: helper(arg *)\n  0x0040be31: main\n"
	  "      creator: 0xa45b96\n"
	  "--- Thread 7f7a (name: t/2/14759) stack: ---\n"
	  "  [same as previous thread]\n"
	  "--- Memory map: ---\n  00400000-00fcb000: /srv/app\n"),
	  ROW_SNIFF, 0, "thread/count\n2 | bc8f1c[/srv/app] helper(arg *); "
	  "40be30[/srv/app] main; a45b95[/srv/app]\n" },
	{ "threads apart", TEXT(MAIN " PC: 0x10 0x20\n"
	  "--- Thread 8 (name: t/2/5) stack: ---\n [same as previous "
	  "thread]\n"), ROW_THREADS | ROW_SNIFF, 0, "thread/count\n"
	  "1 | 10; 1f thread=main thread_id=14748\n"
	  "1 | 10; 1f thread=t/2 thread_id=5\n" },
	{ "the leaf twice", TEXT(MAIN " PC: 0x10 0x10 0x20\n"), 0, 0,
	  "thread/count\n1 | 10; 1f\n" },
	{ "a thread without a stack", TEXT(MAIN MAIN " PC: 0x10\n"), 0, 1,
	  "thread/count\n1 | 10\n" },
	{ "the first one like none before", TEXT(MAIN
	  "[same as previous thread]\n"), 0, 1, "thread/count\n" },
	{ "no dump", TEXT("hello\n"), ROW_BAD, 0, "--- threadz" },
	{ "lines of no thread", TEXT("--- threadz 1 ---\nhello\n" MAIN
	  "0x10\n"), 0, 1, "thread/count\n1 | 10\n" },
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
