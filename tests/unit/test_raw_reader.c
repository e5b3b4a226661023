/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw addresses: every shape, mixed shapes, orders, weights, foreign lines.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "raw"

#define BARE "samples/count\n"

static const struct reader_row rows[] = {
	{ "one a line, equal ones add up", TEXT("0x1010\n0x2020\n0x1010\n"),
	  ROW_SNIFF, 1, BARE "2 | 1010\n1 | 2020\n" },
	{ "stacks: the leaf is exact", TEXT("0x1010 0x2020\t0x3030\n"),
	  ROW_SNIFF, 1, BARE "1 | 1010; 201f; 302f\n" },
	{ "commas", TEXT("0x1010, 0x2020,0x3030\n"), ROW_SNIFF, 1,
	  BARE "1 | 1010; 201f; 302f\n" },
	{ "root first", TEXT("3 0x3030 0x2020 0x1010\n"), ROW_ROOT_FIRST, 1,
	  BARE "3 | 1010; 201f; 302f\n" },
	{ "counts in front", TEXT("136 0x1010 0x2020\n1: 0x1010\n"),
	  ROW_SNIFF, 1, BARE "136 | 1010; 201f\n1 | 1010\n" },
	{ "folded: root first, count behind", TEXT("0x3030;0x2020;0x1010 7\n"
	  "0x1010 \n"), ROW_SNIFF, 1, BARE "7 | 1010; 201f; 302f\n"
	  "1 | 1010\n" },
	{ "no 0x", TEXT("0000560784a8cb2e 00007ff0d7ea71f5\n"), ROW_SNIFF, 1,
	  BARE "1 | 560784a8cb2e; 7ff0d7ea71f4\n" },
	{ "count behind @: all are return addresses", TEXT("7 @ 1010 0x2020\n"
	  "@ 0x10\n2 @\n"), ROW_SNIFF, 1,
	  BARE "7 | 100f; 201f\n1 | f\n2 |\n" },
	{ "bytes make a second column", TEXT("0x10\n2 64 @ 0x20\n"
	  "1: 8 [9: 9] @ 0x20\n"), 0, 1, "objects/count space/bytes\n"
	  "1 0 | 10\n3 72 | 1f\n" },
	{ "maps behind", TEXT("0x1010 0x2020\n--- maps\n"
	  "1000-3000 r-xp 0 08:01 7 /srv/a b\n"), ROW_SNIFF, 0,
	  BARE "1 | 1010[/srv/a b]; 201f[/srv/a b]\n" },
	{ "maps without a heading", TEXT("0x1010\n"
	  "00001000-00003000 r-xp 00000000 08:01 7 /srv/app\n"), ROW_SNIFF,
	  0, BARE "1 | 1010[/srv/app]\n" },
	{ "binary+0xoff needs no maps", TEXT("/srv/app+0x1010 app+0x2020\n"),
	  ROW_SNIFF, 0, BARE "1 | 1010[/srv/app]; 201f[app]\n" },
	{ "image.pc", TEXT("/bin/a+0x20;kernel.ffffffff81000c82;b.0x10 2\n"),
	  ROW_SNIFF, 0, BARE "2 | 10[b]; ffffffff81000c81[[kernel.kallsyms]];"
	  " 1f[/bin/a]\n" },
	{ "backtrace_symbols(3)", TEXT("./a b(+0x1139) [0x55d0c0a01139]\n"
	  "./a b(main+0x12)[0x55d0c0a01150]\n/lib/c.so() [0x7f00aa]\n\n"
	  "./a b(+0x1139) [0x55d0c0a01139]\n"), ROW_SNIFF, 1,
	  BARE "1 | 1138[./a b]; 55d0c0a0114f main; 7f00a9\n"
	  "1 | 1138[./a b]\n" },
	{ "sanitizers print what lies in the call", TEXT("==1==ERROR: x\n"
	  "    #0 0x55d0c0a01234  (/srv/app+0x1234) (BuildId: abcdef01)\n"
	  "    #1 0x55d0c0a02234 in foo(int) /src/a.cc:12:3\n"
	  "    #2 0x55d0c0a02234 in main /src/main.cc:14\n"
	  "    #3 0x7f00 in g (/lib/c.so+0x10)\n"), ROW_SNIFF, 0, BARE
	  "1 | 1234[/srv/app]; 55d0c0a02234 foo(int)(/src/a.cc:12)"
	  "<main(/src/main.cc:14); 10[/lib/c.so] g\n" },
	{ "gdb: the first is exact, others return", TEXT("Thread 1 (x):\n"
	  "#0  raise (sig=6) at raise.c:50\n"
	  "#1  0x00007ff0d7e59fb2 in f (a=\"x (y)\") at f.c:3\n"
	  "#2  0x00007ff0d7e59fc2 in abort () from /lib/libc.so.6\n"
	  "#0  0x10 in ?? ()\n"), 0, 1, BARE
	  "1 | 0 raise(raise.c:50); 7ff0d7e59fb1 f(f.c:3); "
	  "7ff0d7e59fc1 abort\n1 | 10\n" },
	{ "eu-stack", TEXT("PID 7 - core\nTID 7:\n#0  0x10 raise\n"
	  "#1  0x20 main\nTID 8:\n#0  0x10 raise\n"), ROW_SNIFF, 0,
	  BARE "1 | 10 raise; 1f main\n1 | 10 raise\n" },
	{ "glog and absl", TEXT("*** Aborted at 1 ***\n"
	  "PC: @     0x1139  crash()\n    @     0x1139  crash()\n"
	  "    @     0x1150  48 main\n    @   0x7f00aa  (unknown)\n"),
	  ROW_SNIFF, 1, BARE "1 | 1139 crash(); 114f main; 7f00a9\n" },
	{ "mixed shapes and foreign lines", TEXT("hello world\n0x10 0x20\n"
	  "/a(+0x30) [0x40]\n3 @ 0x50\n0x10 zz\n"), 0, 3,
	  BARE "1 | 10; 1f\n1 | 2f[/a]\n3 | 4f\n" },
	{ "null frames", TEXT("0x0 0x10\n"), 0, 2, BARE "1 | f\n" },
	{ "a count beyond 63 bits", TEXT("9223372036854775808 @ 0x10\n"), 0,
	  2, BARE "9223372036854775807 | f\n" },
	{ "functions with offsets are no addresses",
	  TEXT("main+0x12;foo+0x33 5\n"), ROW_BAD, 0, "no line is a stack" },
	{ "prose", TEXT("Dear reader,\n"), ROW_BAD, 0, "no line is a stack" },
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
