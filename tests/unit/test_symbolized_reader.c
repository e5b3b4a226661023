/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles with symbols: sections, inlined calls, leaves, what follows.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "symbolized"

#define SYMBOLS "--- symbol\nbinary=/srv/app\n0x0000100f outer--inner\n" \
	"0x1020 leaf\n0x2000 ??\n101f main\n---\n"
#define HEAP "heap profile: 2: 64 [0: 0] @ heapprofile\n"

static const struct reader_row rows[] = {
	{ "heap: the leaf as it is, callers less 1", TEXT(SYMBOLS
	  "--- heap\n" HEAP "2: 64 [0: 0] @ 0x1020 0x1010 0x2001\n"
	  "MAPPED_LIBRARIES:\n1000-3000 r-xp 0 08:01 7 /srv/app\n"),
	  ROW_SNIFF, 0, "inuse_objects/count inuse_space/bytes\n2 64 | "
	  "101f[/srv/app] main; 100f[/srv/app] inner<outer; "
	  "2000[/srv/app]\n" },
	{ "a leaf without another key", TEXT("--- symbol\n0x1020 leaf\n---\n"
	  "--- heap\n" HEAP "2: 64 [0: 0] @ 0x1020\nMAPPED_LIBRARIES:\n"
	  "1000-3000 r-xp 0 08:01 7 /srv/app\n"), 0, 0,
	  "inuse_objects/count inuse_space/bytes\n"
	  "2 64 | 101f[/srv/app] leaf\n" },
	{ "CPU: leaves are exact", TEXT("--- symbol\n0x50 f\n0x5f g\n---\n"
	  "--- profile\n\0\0\0\0\3\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"
	  "\1\0\0\0\2\0\0\0\x50\0\0\0\x60\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"),
	  ROW_SNIFF, 0, "samples/count cpu/nanoseconds\n"
	  "1 16000 | 50 f; 5f g\n" },
	{ "contention keeps its marker", TEXT("--- symbol\n0xf f\n---\n"
	  "--- contention:\ncycles/second = 1000000000\n5 1 @ 0x10\n"),
	  ROW_SNIFF, 0, "contentions/count delay/nanoseconds\n1 5 | f f\n" },
	{ "operator-- is one name", TEXT("--- symbol\n"
	  "0xf A::operator--(int)--B::operator----c\n---\n--- contention:\n"
	  "cycles/second = 1000000000\n5 1 @ 0x10\n"), 0, 0,
	  "contentions/count delay/nanoseconds\n"
	  "1 5 | f c<B::operator--<A::operator--(int)\n" },
	{ "a heading alone", TEXT("--- heap\n" HEAP
	  "2: 64 [0: 0] @ 0x1020\nMAPPED_LIBRARIES:\n"
	  "1000-3000 r-xp 0 08:01 7 /srv/app\n"), ROW_SNIFF, 0,
	  "inuse_objects/count inuse_space/bytes\n2 64 | 101f[/srv/app]\n" },
	{ "no symbol line", TEXT("--- symbol\nhello\n---\n--- mutex:\n"
	  "cycles/second = 1000000000\n5 1 @ 0x10\n"), 0, 1,
	  "contentions/count delay/nanoseconds\n1 5 | f\n" },
	{ "no end of the symbols", TEXT("--- symbol\n0x1 f\n"), ROW_BAD, 0,
	  "expected a line" },
	{ "nothing behind the symbols", TEXT("--- symbol\n---\nhello\n"),
	  ROW_BAD, 0, "expected a profile after the symbols" },
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
