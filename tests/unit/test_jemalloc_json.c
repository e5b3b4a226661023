/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON of jemalloc: last allocations, logs, strings that break JSON.
 */
#include <config.h>

#include "reader_rows.h"

#define FORMAT "jemalloc-json"

#define RECENT "{\"sample_interval\":524288,\"recent_alloc_max\":9," \
	"\"recent_alloc\":["
#define TRACE "\"alloc_trace\":[\"0x401000\",\"0x402000\"]"
#define TYPES "alloc_objects/count alloc_space/bytes inuse_objects/count " \
	"inuse_space/bytes lifetime/nanoseconds\n"
#define LOG "{\"info\":{\"duration\":7,\"version\":\"5\"," \
	"\"lg_sample_rate\":0}," \
	"\"threads\":[{\"thr_uid\":5,\"thr_name\":\"main\"}]," \
	"\"stack_traces\":[[\"0x10\",\"0x20\"],[]],\"allocations\":["
#define ROW "{\"alloc_thread\":0,\"free_thread\":0,\"alloc_trace\":0," \
	"\"free_trace\":1,\"alloc_timestamp\":10,\"free_timestamp\":30," \
	"\"usize\":8}"

static const struct reader_row rows[] = {
	{ "last allocations, living and freed", TEXT(RECENT
	  "{\"size\":100,\"usize\":112,\"released\":false,"
	  "\"alloc_thread_uid\":1,\"alloc_thread_name\":\"w\","
	  "\"alloc_time\":100," TRACE "},"
	  "{\"size\":5000000,\"usize\":5242880,\"released\":true,"
	  "\"alloc_thread_uid\":2,\"alloc_time\":100," TRACE
	  ",\"dalloc_thread_uid\":2,\"dalloc_time\":1100,"
	  "\"dalloc_trace\":[\"0x1\"]}]}"), ROW_SNIFF | ROW_THREADS, 1, TYPES
	  "4682 524344 4682 524344 0 | 400fff; 401fff thread=w thread_id=1\n"
	  "1 5243118 0 0 1000 | 400fff; 401fff thread_id=2\n" },
	{ "raw counts", TEXT(RECENT "{\"usize\":112,\"released\":false,"
	  TRACE "}]}"), ROW_RAW_COUNTS, 1, TYPES
	  "1 112 1 112 0 | 400fff; 401fff\n" },
	{ "names that break JSON", TEXT(RECENT "{\"usize\":600000000,"
	  "\"released\":false,\"alloc_thread_uid\":1,"
	  "\"alloc_thread_name\":\"a\"b\\\"," TRACE "}]}"), ROW_THREADS, 2,
	  TYPES "1 600000000 1 600000000 0 | 400fff; 401fff thread=a\"b\\ "
	  "thread_id=1\n" },
	{ "a log", TEXT(LOG ROW "," ROW "]}"), ROW_SNIFF | ROW_THREADS, 1,
	  "alloc_objects/count alloc_space/bytes lifetime/nanoseconds\n"
	  "2 16 40 | f; 1f thread=main thread_id=5\n" },
	{ "a cut log", TEXT(LOG ROW ",{\"alloc_thr"), 0, 2,
	  "alloc_objects/count alloc_space/bytes lifetime/nanoseconds\n"
	  "1 8 20 | f; 1f\n" },
	{ "allocations that lack something", TEXT(RECENT "{\"usize\":1},{"
	  TRACE "}]}"), 0, 2, TYPES },
	{ "no interval", TEXT("{\"recent_alloc\":[{\"usize\":112,"
	  "\"released\":false," TRACE "}]}"), 0, 2, TYPES
	  "1 112 1 112 0 | 400fff; 401fff\n" },
	{ "no such trace", TEXT(LOG "{\"alloc_trace\":2,\"usize\":8}]}"),
	  ROW_BAD, 0, "index of a stack trace" },
	{ "an address that is none", TEXT(RECENT "{\"alloc_trace\":[\"x\"]}"),
	  ROW_BAD, 0, "an address" },
	{ "another key than a string", TEXT("{5:5}"), ROW_BAD, 0,
	  "expected a key" },
	{ "no object", TEXT("[]"), ROW_BAD, 0, "expected an object" },
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
