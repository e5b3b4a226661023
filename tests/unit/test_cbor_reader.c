/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw dumps as CBOR: records, frames, indefinite lengths, cuts.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "cbor"

#define HEADER "\xd9\xd9\xf7\x83\x00\x69pprof-raw\x01"
#define TYPE "\x83\x02\x67samples\x65" "count"

static const struct reader_row rows[] = {
	{ "a handler appends: addresses, then an image", TEXT(HEADER TYPE
	  "\x9f\x03\x01\x9f\x19\x10\x10\x19\x10\x20\xff\x81\x05\xff"
	  "\x84\x03\x00\x81\x19\x10\x20\x81\x02"
	  "\x84\x01\x64/bin\x62" "ab\x81\x83\x19\x10\x00\x19\x20\x00\x00"),
	  ROW_SNIFF, 0, "samples/count\n5 | 1010[/bin]; 101f[/bin]\n"
	  "2 | 101f[/bin]\n" },
	{ "all exact, negative values, a null frame", TEXT(HEADER TYPE
	  "\x84\x03\x02\x83\x10\x00\x11\x81\x24"), 0, 1,
	  "samples/count\n-5 | 10; 11\n" },
	{ "addresses of a file", TEXT(HEADER TYPE "\x84\x01\x62/a\xf6\x80"
	  "\x84\x03\x01\x81\x82\x00\x18\x20\x81\x01"), 0, 0,
	  "samples/count\n1 | 20[/a]\n" },
	{ "locations with names", TEXT(HEADER TYPE
	  "\x83\x04\xf6\x81\x84\x61" "f\x60\x63" "a.c\x07"
	  "\x83\x04\x10\x82\x84\x61g\x60\x60\x00\x86\x61h\x60\x60\x00\x00\x00"
	  "\x84\x03\x02\x82\x20\x21\x81\x01"), 0, 0,
	  "samples/count\n1 | 0 f(a.c:7); 10 g<h\n" },
	{ "labels of each kind", TEXT(HEADER TYPE
	  "\x85\x03\x02\x80\x81\x01\xa3\x61" "a\x61" "b\x61" "c\x05\x61"
	  "d\x82\x06\x61x"), 0, 0, "samples/count\n1 | a=b c=5 d=6\n" },
	{ "strings in pieces and as bytes", TEXT(HEADER
	  "\x83\x02\x7f\x61" "a\x61" "b\xff\x41x"), 0, 0, "ab/x\n" },
	{ "records and members that are not known", TEXT(
	  "\xd9\xd9\xf7\x84\x00\x69pprof-raw\x01\xa1\x61z\x01" TYPE
	  "\x82\x18\x63\xf5"), 0, 2, "samples/count\n" },
	{ "cut", TEXT(HEADER TYPE "\x84\x03\x01\x81\x10\x81\x01\x84\x03\x01"),
	  0, 1, "samples/count\n1 | 10\n" },
	{ "no header", TEXT(TYPE), ROW_BAD, 0, "expected a header first" },
	{ "two headers", TEXT(HEADER HEADER), ROW_BAD, 0, "a second dump" },
	{ "another version", TEXT("\xd9\xd9\xf7\x83\x00\x69pprof-raw\x02"),
	  ROW_BAD, 0, "version 2" },
	{ "values do not fit the types", TEXT(HEADER TYPE
	  "\x84\x03\x01\x80\x80"), ROW_BAD, 0, "0 values for 1 types" },
	{ "no such location", TEXT(HEADER TYPE "\x84\x03\x01\x81\x20\x81\x01"),
	  ROW_BAD, 0, "frame 0 refers to location 0 of 0" },
	{ "no such image", TEXT(HEADER TYPE
	  "\x84\x03\x01\x81\x82\x00\x01\x81\x01"), ROW_BAD, 0,
	  "frame 0 is no address" },
	{ "a value beyond 64 bits", TEXT(HEADER TYPE
	  "\x84\x03\x01\x80\x81\x1b\xff\xff\xff\xff\xff\xff\xff\xff"),
	  ROW_BAD, 0, "value 0 is no number" },
	{ "a type too late", TEXT(HEADER TYPE "\x84\x03\x01\x80\x81\x01"
	  TYPE), ROW_BAD, 0, "after the first sample" },
	{ "a break outside", TEXT(HEADER "\xff"), ROW_BAD, 0, "a break" },
	{ "not an array", TEXT("\x01"), ROW_BAD, 0, "expected a record" },
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
