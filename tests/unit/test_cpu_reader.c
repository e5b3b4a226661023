/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU profiles: word sizes and orders, records, the end, signal frames.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "cpu"

/* A word of n < 256 in each layout. */
#define L4(n) n "\0\0\0"
#define L8(n) n "\0\0\0\0\0\0\0"
#define B4(n) "\0\0\0" n
#define B8(n) "\0\0\0\0\0\0\0" n

/* Header with a period of 16 us, two samples, trailer. */
#define PROFILE(W) W("\x00") W("\x03") W("\x00") W("\x10") W("\x00") \
	W("\x02") W("\x03") W("\x50") W("\x60") W("\x70") W("\x01") W("\x01") \
	W("\x50") W("\x00") W("\x01") W("\x00")
#define SAMPLES "samples/count cpu/nanoseconds\n2 32000 | 50; 5f; 6f\n" \
	"1 16000 | 50\n"

#define HEADER L4("\x00") L4("\x03") L4("\x00") L4("\x10") L4("\x00")
#define END L4("\x00") L4("\x01") L4("\x00")

static const struct reader_row rows[] = {
	{ "64 bits", TEXT(PROFILE(L8)), ROW_SNIFF, 0, SAMPLES },
	{ "64 bits, big-endian", TEXT(PROFILE(B8)), ROW_SNIFF, 0, SAMPLES },
	{ "32 bits", TEXT(PROFILE(L4)), ROW_SNIFF, 0, SAMPLES },
	{ "32 bits, big-endian", TEXT(PROFILE(B4)), ROW_SNIFF, 0, SAMPLES },
	{ "maps", TEXT(PROFILE(L4) "00000000-00001000 r-xp 0 08:01 7 "
	  "/srv/app\n"), 0, 0, "samples/count cpu/nanoseconds\n"
	  "2 32000 | 50[/srv/app]; 5f[/srv/app]; 6f[/srv/app]\n"
	  "1 16000 | 50[/srv/app]\n" },
	{ "equal stacks add up, the leaf is met twice, a null frame",
	  TEXT(HEADER L4("\x01") L4("\x02") L4("\x50") L4("\x50") L4("\x04")
	  L4("\x02") L4("\x50") L4("\x00") END),
	  0, 1, "samples/count cpu/nanoseconds\n5 80000 | 50\n" },
	{ "no trailer", TEXT(HEADER L4("\x01") L4("\x01") L4("\x50")), 0, 1,
	  "samples/count cpu/nanoseconds\n1 16000 | 50\n" },
	{ "no trailer before maps", TEXT(HEADER L4("\x01") L4("\x01") L4("\x50")
	  "00000000-00001000 r-xp 0 08:01 7 /srv/app\n"), 0, 1,
	  "samples/count cpu/nanoseconds\n1 16000 | 50[/srv/app]\n" },
	{ "cut in the second sample", TEXT(HEADER L4("\x01") L4("\x01")
	  L4("\x50") L4("\x01")
	  L4("\x09") L4("\x50")), 0, 1, "samples/count cpu/nanoseconds\n"
	  "1 16000 | 50\n" },
	{ "a count beyond 63 bits", TEXT(L8("\x00") L8("\x03") L8("\x00")
	  L8("\x01") L8("\x00")
	  "\xff\xff\xff\xff\xff\xff\xff\xff" L8("\x01") L8("\x50") L8("\x00")
	  L8("\x01") L8("\x00")),
	  0, 2, "samples/count cpu/nanoseconds\n"
	  "9223372036854775807 9223372036854775807 | 50\n" },
	{ "the signal frame of all stacks", TEXT(HEADER
	  L4("\x01") L4("\x03") L4("\x50") L4("\x90") L4("\x70") L4("\x02")
	  L4("\x03") L4("\x51") L4("\x90") L4("\x71")
	  END "00000000-00000080 r-xp 0 08:01 7 /srv/app\n"
	  "00000080-00000100 r-xp 0 08:01 8 /lib/libc.so.6\n"), 0, 0,
	  "samples/count cpu/nanoseconds\n1 16000 | 50[/srv/app]; "
	  "6f[/srv/app]\n2 32000 | 51[/srv/app]; 70[/srv/app]\n" },
	{ "a second frame of all stacks that may be a call", TEXT(HEADER
	  L4("\x01") L4("\x03") L4("\x50") L4("\x91") L4("\x70") L4("\x02")
	  L4("\x03") L4("\x51") L4("\x91") L4("\x71")
	  END "00000080-00000100 r-xp 0 08:01 8 /lib/libc.so.6\n"), 0, 0,
	  "samples/count cpu/nanoseconds\n"
	  "1 16000 | 50; 90[/lib/libc.so.6]; 6f\n"
	  "2 32000 | 51; 90[/lib/libc.so.6]; 70\n" },
	{ "Java", TEXT(L4("\x00") L4("\x03") L4("\x01") L4("\x10") L4("\x00")
	  L4("\x01") L4("\x02") L4("\x03") L4("\x04")
	  END " 0x3 a.b (f.java:7)\n 0x4 GC\nhello\n"), ROW_SNIFF, 1,
	  "samples/count cpu/nanoseconds\n1 16000 | 0 a.b(f.java:7); 0 GC\n" },
	{ "the first sample is cut", TEXT(HEADER L4("\x01") L4("\x02")
	  L4("\x50")), ROW_BAD,
	  0, "a sample of 2 frames, found the end" },
	{ "a depth beyond reason", TEXT(HEADER
	  L4("\x01") "\0\0\0\x7f" L4("\x50")),
	  ROW_BAD, 0, "limit frames" },
	{ "no header", TEXT(L8("\x00") L8("\x03") L8("\x02") L8("\x01")
	  L8("\x00")), ROW_BAD, 0,
	  "0, 3, 0, period, 0" },
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
