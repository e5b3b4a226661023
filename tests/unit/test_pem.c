/* SPDX-License-Identifier: Apache-2.0
 *
 * PEM blocks out of logs: what collectors do to lines, what is recovered,
 * and what is told about the rest.
 */
#include <config.h>

#include "reader_rows.h"

#include "input/pem.h"

/* 48 bytes of "A", then 3 of "B". */
#define LINE "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"
#define LAST "QkJC"
#define BEGIN "-----BEGIN PPROF MEM-----"
#define END "-----END PPROF MEM-----"
#define CPU_BEGIN "-----BEGIN CPU-----"
#define CPU_END "-----END CPU-----"

/* Blocks as "type first-last A.. B.. foreign damage\n". */
static const struct {
	const char *name;
	const char *log;
	const char *expected;
} rows[] = {
	{ "clean", "x\n" BEGIN "\n" LINE "\n" LAST "\n" END "\ny\n",
	  "PPROF MEM 2-5 48A 3B 0 \n" },
	{ "CRLF, no final line end", BEGIN "\r\n" LINE "\r\n" LAST "\r\n" END,
	  "PPROF MEM 1-4 48A 3B 0 \n" },
	{ "indentation", "  " BEGIN "\n  " LINE "\n  " LAST "\n  " END "\n",
	  "PPROF MEM 1-4 48A 3B 0 \n" },
	{ "CRI, numbers of any length", "2024-01-01T00:00:00.1Z stderr F "
	  BEGIN "\n2024-01-01T00:00:00.123Z stderr F " LINE "\n"
	  "2024-01-01T00:00:00.12Z stderr F " LAST "\n"
	  "2024-01-01T00:00:01.1Z stderr F " END "\n",
	  "PPROF MEM 1-4 48A 3B 0 \n" },
	{ "syslog over the end of a month", "Jan 31 h app[7]: " BEGIN "\n"
	  "Feb  1 h app[7]: " LINE "\nFeb  1 h app[7]: " LAST "\n"
	  "Feb  1 h app[7]: " END "\n", "PPROF MEM 1-4 48A 3B 0 \n" },
	{ "JSON lines", "{\"t\":1,\"msg\":\"" BEGIN "\"}\n"
	  "{\"t\":22,\"msg\":\"" LINE "\"}\n{\"t\":3,\"msg\":\"" LAST
	  "\\n\"}\n{\"t\":4,\"msg\":\"" END "\"}\n",
	  "PPROF MEM 1-4 48A 3B 0 \n" },
	{ "a block in one JSON string", "{\"log\":\"" BEGIN "\\n" LINE "\\n"
	  LAST "\\n" END "\\n\"}\n", "PPROF MEM 1-1 48A 3B 0 \n" },
	{ "escaped twice", "{\"log\":\"" BEGIN "\\\\n" LINE "\\\\n" LAST
	  "\\\\n" END "\"}\n", "PPROF MEM 1-1 48A 3B 0 \n" },
	{ "foreign lines, some of them base64", BEGIN "\n17/06/09 INFO done\n"
	  "done\n" LINE "\nINFO x\ndone\n" LINE "\n" LAST "\n" END "\n",
	  "PPROF MEM 1-9 96A 3B 4 \n" },
	{ "BEGIN behind a text", "INFO dump: " BEGIN "\n" LINE "\n" LAST "\n"
	  END "\n", "PPROF MEM 1-4 48A 3B 0 \n" },
	{ "data behind BEGIN, lines joined", BEGIN LINE "\n" LINE LINE "\n"
	  LINE "17/06/09 INFO x\n" LAST END "\n",
	  "PPROF MEM 1-4 192A 3B 0 \n" },
	{ "two at once, apart by prefix", "[a] " BEGIN "\n[b] " CPU_BEGIN "\n"
	  "[a] " LINE "\n[b] " LAST "\n[a] " LAST "\n[b] " CPU_END "\n"
	  "[a] " END "\n", "CPU 2-6 0A 3B 0 \nPPROF MEM 1-7 48A 3B 0 \n" },
	{ "two at once, nothing to tell them apart", BEGIN "\n" LINE "\n"
	  CPU_BEGIN "\n" LAST "\n" CPU_END "\n" LAST "\n" END "\n",
	  "CPU 3-5 0A 3B 0 mixed with another block\n"
	  "PPROF MEM 1-7 48A 3B 0 mixed with another block\n" },
	{ "END and BEGIN joined", "p " BEGIN "\np " LINE "\np " END CPU_BEGIN
	  "\np " LINE "\np " CPU_END "\n",
	  "PPROF MEM 1-3 48A 0B 0 \nCPU 3-5 48A 0B 0 \n" },
	{ "no END", BEGIN "\n" LINE "\n", "PPROF MEM 1-2 48A 0B 0 "
	  "END is missing\n" },
	{ "END of another type", BEGIN "\n" LINE "\n" CPU_END "\n",
	  "PPROF MEM 1-3 48A 0B 0 END is of another type\n" },
	{ "an END without BEGIN", "x\n" END "\n", "" },
	{ "no data", BEGIN "\n" END "\n", "PPROF MEM 1-2 0A 0B 0 no data\n" },
	{ "base64 that is cut", BEGIN "\n" LINE "\nQkJCQ\n" END "\n",
	  "PPROF MEM 1-4 48A 3B 0 base64 is cut\n" },
	{ "a gzip that is cut", BEGIN "\nH4sIAAAAAAAAA0s=\n" END "\n",
	  "PPROF MEM 1-3 0A 0B 0 gzip: " },
	{ "no block", "----- BEGIN X -----\n-----BEGIN\n-----BEGIN X\n", "" },
};

static enum pprof_status show_block(void *ctx, const struct pprof_block *block,
				    struct pprof_error *err)
{
	size_t counts[2] = { 0, 0 }, i;
	const char *data = block->data;
	struct buf *out = ctx;

	(void)err;
	for (i = 0; i < block->nr_bytes; i++) {
		counts[0] += data[i] == 'A';
		counts[1] += data[i] == 'B';
	}
	buf_printf(out, "%s %llu-%llu %zuA %zuB %llu %s\n", block->type,
		   (unsigned long long)block->first_line,
		   (unsigned long long)block->last_line, counts[0], counts[1],
		   (unsigned long long)block->nr_foreign_lines,
		   block->damage);
	return PPROF_OK;
}

static enum pprof_status extract(const char *log, size_t nr, struct buf *out,
				 struct pprof_error *err)
{
	enum pprof_status status;
	struct pprof_limits limits;
	struct cursor in;

	buf_reset(out);
	pprof_limits_init(&limits);
	cursor_init_memory(&in, "log", log, nr);
	status = pem_extract(&in, &limits, show_block, out, err);
	cursor_fini(&in);
	return status;
}

static void test_rows(void **state)
{
	struct pprof_error err;
	struct buf out;
	size_t i, len;

	(void)state;
	buf_init(&out, SIZE_MAX);
	for (i = 0; i < NR_OF(rows); i++) {
		print_message("# %s\n", rows[i].name);
		assert_int_equal(extract(rows[i].log, strlen(rows[i].log),
					 &out, &err), PPROF_OK);
		len = strlen(rows[i].expected);
		/* What zlib says of a stream is its own. */
		if (len && rows[i].expected[len - 1] == ' ')
			assert_memory_equal(buf_cstr(&out), rows[i].expected,
					    len);
		else
			assert_string_equal(buf_cstr(&out),
					    rows[i].expected);
	}
	buf_fini(&out);
}

static void test_cuts(void **state)
{
	struct pprof_error err;
	struct buf out;
	size_t i, nr;

	(void)state;
	buf_init(&out, SIZE_MAX);
	for (i = 0; i < NR_OF(rows); i++) {
		for (nr = 0; nr < strlen(rows[i].log); nr++)
			assert_int_equal(extract(rows[i].log, nr, &out, &err),
					 PPROF_OK);
	}
	buf_fini(&out);
}

/* What follows the block is foreign: it is given up, not held for ever. */
static void test_long_log(void **state)
{
	struct pprof_error err;
	struct buf log, out;
	size_t i;

	(void)state;
	buf_init(&log, SIZE_MAX);
	buf_init(&out, SIZE_MAX);
	for (i = 0; i < 20000; i++)
		buf_printf(&log, "line %zu of a log\n", i);
	buf_str(&log, BEGIN "\n" LINE "\n");
	for (i = 0; i < 20000; i++)
		buf_printf(&log, "line %zu of a log\n", i);
	buf_str(&log, CPU_BEGIN "\n" LAST "\n" CPU_END "\n");
	assert_int_equal(extract(log.data, log.len, &out, &err), PPROF_OK);
	assert_string_equal(buf_cstr(&out), "PPROF MEM 20001-20002 48A 0B 0 "
			    "END is missing\nCPU 40003-40005 0A 3B 0 \n");
	buf_fini(&log);
	buf_fini(&out);
}

/* One block as an input of its own; several are refused. */
static void test_reader(void **state)
{
	static const struct reader_row inputs[] = {
		{ "folded", TEXT("log\n" BEGIN "\nYTtiIDMKYyA0Cg==\n" END
		  "\n"), ROW_SNIFF, 0, "samples/count\n3 | 0 b; 0 a\n"
		  "4 | 0 c\n" },
		{ "damaged", TEXT(BEGIN "\nYTtiIDMKYyA0Cg==\n"), ROW_SNIFF, 1,
		  "samples/count\n3 | 0 b; 0 a\n4 | 0 c\n" },
		{ "no profile", TEXT(BEGIN "\n" LINE "\n" END "\n"), ROW_BAD,
		  0, "holds no PEM block" },
		{ "two", TEXT(BEGIN "\nYTtiIDMKYyA0Cg==\n" END "\n" BEGIN
		  "\nYTtiIDMKYyA0Cg==\n" END "\n"), ROW_BAD, 0,
		  "holds 2 profiles" },
	};

	(void)state;
	check_rows("pem", inputs, NR_OF(inputs));
	check_no_memory("pem", &inputs[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_long_log),
		cmocka_unit_test(test_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
