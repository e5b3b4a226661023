/* SPDX-License-Identifier: Apache-2.0
 *
 * The window over an input: the same bytes and lines come out however they
 * arrive; positions, bounds, sticky failure; numbers in text.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "base/mem.h"

/* A source that gives at most `step` bytes a time and may fail. */
struct feed {
	const char *data;
	size_t nr, at, step;
	bool fails; /* at the end, instead of ending */
};

static size_t pull(void *ctx, void *dst, size_t cap, struct pprof_error *err)
{
	struct feed *feed = ctx;
	size_t nr = feed->nr - feed->at;

	if (!nr && feed->fails) {
		error_plain(err, PPROF_IO, "feed", "cannot read: broken");
		return SIZE_MAX;
	}
	if (nr > cap)
		nr = cap;
	if (nr > feed->step)
		nr = feed->step;
	if (nr)
		memcpy(dst, feed->data + feed->at, nr);
	feed->at += nr;
	return nr;
}

#define LINES_MAX 8

static const struct lines_row {
	const char *name;
	const char *text;
	size_t nr;
	const char *lines[LINES_MAX];
	bool has_last_lf;
} lines_rows[] = {
	{ "empty", "", 0, { NULL }, true },
	{ "one", "abc\n", 1, { "abc" }, true },
	{ "no end of line", "abc", 1, { "abc" }, false },
	{ "empty lines", "\n\nx\n\n", 4, { "", "", "x", "" }, true },
	{ "carriage returns stay", "a\r\nb\r\n\r\n", 3,
	  { "a\r", "b\r", "\r" }, true },
	{ "last without", "one\ntwo\nthree", 3, { "one", "two", "three" },
	  false },
};

static void check_lines(struct cursor *in, const struct lines_row *row)
{
	struct cursor_line line, peeked;
	size_t i;

	for (i = 0; i < row->nr; i++) {
		assert_int_equal(in->line, i + 1);
		if (i % 2) {
			assert_true(cursor_peek_line(in, &peeked));
			assert_int_equal(peeked.number, i + 1);
			assert_true(cursor_peek_line(in, &peeked));
			assert_int_equal(peeked.len, strlen(row->lines[i]));
		}
		if (!cursor_next_line(in, &line))
			fail_msg("%s: line %zu is missing", row->name, i + 1);
		assert_int_equal(line.len, strlen(row->lines[i]));
		assert_memory_equal(line.text, row->lines[i], line.len);
		assert_int_equal(line.number, i + 1);
		assert_int_equal(line.has_lf, i + 1 < row->nr ||
				 row->has_last_lf);
	}
	assert_false(cursor_next_line(in, &line));
	assert_false(cursor_peek_line(in, &line));
	assert_int_equal(in->status, PPROF_OK);
	assert_int_equal(cursor_offset(in), strlen(row->text));
}

static void test_lines(void **state)
{
	static const size_t steps[] = { 1, 2, 3, 1000 };
	struct cursor in;
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(lines_rows) / sizeof(*lines_rows); i++) {
		const struct lines_row *row = &lines_rows[i];

		cursor_init_memory(&in, "x", row->text, strlen(row->text));
		check_lines(&in, row);
		cursor_fini(&in);
		for (j = 0; j < sizeof(steps) / sizeof(*steps); j++) {
			struct feed feed = { .data = row->text,
					     .nr = strlen(row->text),
					     .step = steps[j] };

			cursor_init_stream(&in, "x", pull, &feed, 1000);
			check_lines(&in, row);
			cursor_fini(&in);
		}
	}
}

/* Bytes of a long input come out in order with any window and step. */
static void test_bytes(void **state)
{
	static char data[700000];
	size_t i, have, at = 0;
	struct cursor in;
	struct feed feed = { .data = data, .nr = sizeof(data), .step = 77777 };

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 / 5);
	cursor_init_stream(&in, "x", pull, &feed, 1000);
	while ((have = cursor_fill(&in, 1 + at % 50000))) {
		size_t take = have < 1 + at % 9999 ? have : 1 + at % 9999;

		assert_memory_equal(in.p, data + at, take);
		assert_int_equal(cursor_offset(&in), at);
		assert_true(have > at % 50000 ||
			    at + have == sizeof(data));
		in.p += take;
		at += take;
	}
	assert_int_equal(at, sizeof(data));
	assert_int_equal(cursor_fill(&in, 1), 0);
	cursor_fini(&in);
}

/* A wish for more than there is gives what there is. */
static void test_fill_beyond(void **state)
{
	struct feed feed = { .data = "abc", .nr = 3, .step = 1 };
	struct cursor in;

	(void)state;
	cursor_init_stream(&in, "x", pull, &feed, 1000);
	assert_int_equal(cursor_fill(&in, SIZE_MAX / 2), 3);
	assert_memory_equal(in.p, "abc", 3);
	assert_true(in.window_cap < (size_t)1 << 20); /* no lie is paid for */
	cursor_fini(&in);
	cursor_init_memory(&in, "x", "abc", 3);
	assert_int_equal(cursor_fill(&in, SIZE_MAX), 3);
	cursor_fini(&in);
}

static void test_line_limit(void **state)
{
	static char data[600000];
	struct feed feed = { .data = data, .nr = sizeof(data), .step = 10000 };
	struct pprof_error err;
	struct cursor_line line;
	struct cursor in;

	(void)state;
	memset(data, 'x', sizeof(data));
	memcpy(data, "first\n", 6);
	cursor_init_stream(&in, "x", pull, &feed, 300000);
	assert_true(cursor_next_line(&in, &line));
	assert_false(cursor_next_line(&in, &line));
	assert_int_equal(cursor_status(&in, &err), PPROF_LIMIT);
	assert_int_equal(err.unit, PPROF_UNIT_LINE);
	assert_int_equal(err.where, 2);
	assert_non_null(strstr(err.message, "line_bytes"));
	cursor_fini(&in);
}

static void test_failures(void **state)
{
	struct feed feed = { .data = "one\ntwo", .nr = 7, .step = 2,
			     .fails = true };
	struct pprof_error err = { .status = PPROF_OK };
	struct cursor_line line;
	struct cursor in;

	(void)state;
	cursor_init_stream(&in, "x", pull, &feed, 1000);
	assert_int_equal(cursor_status(&in, &err), PPROF_OK);
	assert_true(cursor_next_line(&in, &line));
	assert_false(cursor_next_line(&in, &line));
	assert_int_equal(cursor_status(&in, &err), PPROF_IO);
	assert_string_equal(err.message, "cannot read: broken");
	assert_int_equal(cursor_fill(&in, 1), 0);
	/* The first failure stays. */
	assert_int_equal(cursor_fail(&in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				     "later"), PPROF_IO);
	cursor_fini(&in);

	cursor_init_memory(&in, "name", "one\ntwo\n", 8);
	assert_true(cursor_next_line(&in, &line));
	cursor_fail(&in, PPROF_FORMAT, PPROF_UNIT_LINE, "bad %d", 7);
	assert_int_equal(cursor_status(&in, &err), PPROF_FORMAT);
	assert_int_equal(err.where, 2);
	assert_string_equal(err.source, "name");
	assert_string_equal(err.message, "bad 7");
	assert_false(cursor_next_line(&in, &line));
	assert_int_equal(cursor_fill(&in, 1), 0);
	cursor_fini(&in);

	cursor_init_memory(&in, "name", "0123456789", 10);
	in.p += 4;
	cursor_fail(&in, PPROF_FORMAT, PPROF_UNIT_BYTE, "bad");
	cursor_status(&in, &err);
	assert_int_equal(err.unit, PPROF_UNIT_BYTE);
	assert_int_equal(err.where, 4);
	cursor_fini(&in);
}

static void test_no_memory(void **state)
{
	struct feed feed = { .data = "abc\n", .nr = 4, .step = 4 };
	struct cursor_line line;
	struct cursor in;

	(void)state;
	cursor_init_stream(&in, "x", pull, &feed, 1000);
	mem_fail_nth(1, false);
	assert_false(cursor_next_line(&in, &line));
	assert_int_equal(cursor_status(&in, NULL), PPROF_NOMEM);
	cursor_fini(&in);
}

/* What a cursor over memory told about bytes left behind. */
struct release {
	const uint8_t *upto;
	size_t nr;
};

static void note_release(void *ctx, const uint8_t *upto)
{
	struct release *release = ctx;

	assert_true(upto >= release->upto);
	release->upto = upto;
	release->nr++;
}

static void test_release(void **state)
{
	const size_t nr = (size_t)40 << 20, short_line = 100;
	char *data = mem_alloc(nr, 1);
	struct release release = { NULL, 0 };
	struct cursor_line line;
	struct cursor in;
	size_t at, lines = 0, last_len = 0;
	bool last_has_lf = true;

	(void)state;
	assert_non_null(data);
	memset(data, 'x', nr);
	for (at = short_line - 1; at < nr / 2; at += short_line)
		data[at] = '\n';
	/* The second half is one line. */
	cursor_init_memory(&in, "x", data, nr);
	cursor_set_release(&in, note_release, &release);
	release.upto = (const uint8_t *)data;
	while (cursor_next_line(&in, &line)) {
		assert_true((const uint8_t *)line.text >= release.upto);
		lines++;
		last_len = line.len;
		last_has_lf = line.has_lf;
	}
	assert_int_equal(lines, nr / 2 / short_line + 1);
	assert_int_equal(last_len, nr - nr / 2 / short_line * short_line);
	assert_false(last_has_lf);
	assert_int_equal(in.status, PPROF_OK);
	/* A call a slice, not one a byte. */
	assert_in_range(release.nr, 3, 100);
	cursor_fini(&in);
	mem_free(data);
}

static void test_text_u64(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
		size_t taken;
	} rows[] = {
		{ "", false, 0, 0 },
		{ "x", false, 0, 0 },
		{ "-1", false, 0, 0 },
		{ "+1", false, 0, 0 },
		{ " 1", false, 0, 0 },
		{ "0", true, 0, 1 },
		{ "007", true, 7, 3 },
		{ "12a", true, 12, 2 },
		{ "18446744073709551615", true, UINT64_MAX, 20 },
		{ "18446744073709551616", false, 0, 0 },
		{ "99999999999999999999999", false, 0, 0 },
		{ "00000000000000000000000000001", true, 1, 29 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *pos = rows[i].text;
		uint64_t value = 0;

		if (text_u64(&pos, pos + strlen(pos), &value) != rows[i].ok)
			fail_msg("'%s'", rows[i].text);
		assert_int_equal(value, rows[i].value);
		assert_int_equal(pos - rows[i].text, rows[i].taken);
	}
}

static void test_text_hex(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
		size_t taken;
	} rows[] = {
		{ "", false, 0, 0 },
		{ "g", false, 0, 0 },
		{ "0x12", true, 0, 1 }, /* the prefix is the caller's */
		{ "7fFf", true, 0x7fff, 4 },
		{ "abcdefg", true, 0xabcdef, 6 },
		{ "ffffffffffffffff", true, UINT64_MAX, 16 },
		{ "0000ffffffffffffffff", true, UINT64_MAX, 20 },
		{ "10000000000000000", false, 0, 0 },
		{ "@", false, 0, 0 },
		{ "`", false, 0, 0 },
		{ "/", false, 0, 0 },
		{ ":", false, 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *pos = rows[i].text;
		uint64_t value = 0;

		if (text_hex(&pos, pos + strlen(pos), &value) != rows[i].ok)
			fail_msg("'%s'", rows[i].text);
		assert_int_equal(value, rows[i].value);
		assert_int_equal(pos - rows[i].text, rows[i].taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_fill_beyond),
		cmocka_unit_test(test_line_limit),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_text_u64),
		cmocka_unit_test(test_text_hex),
	};

	return cmocka_run_group_tests_name("cursor", tests, NULL, NULL);
}
