/* SPDX-License-Identifier: Apache-2.0
 *
 * Error objects and counted diagnostics: positions, masking of bytes that
 * could drive a terminal, and that nothing is lost when kinds run out.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void test_set(void **state)
{
	struct pprof_error err;

	(void)state;
	assert_int_equal(error_set(&err, PPROF_FORMAT, "dir/file",
				   PPROF_UNIT_LINE, 42, "expected %s", "x"),
			 PPROF_FORMAT);
	assert_int_equal(err.status, PPROF_FORMAT);
	assert_int_equal(err.unit, PPROF_UNIT_LINE);
	assert_int_equal(err.where, 42);
	assert_string_equal(err.source, "dir/file");
	assert_string_equal(err.message, "expected x");
	assert_int_equal(error_plain(&err, PPROF_IO, NULL, "no %d", 3),
			 PPROF_IO);
	assert_int_equal(err.unit, PPROF_UNIT_NONE);
	assert_string_equal(err.source, "");
	assert_string_equal(err.message, "no 3");
	assert_int_equal(error_nomem(&err), PPROF_NOMEM);
	assert_string_equal(err.message, "out of memory");
	/* No place for it is allowed. */
	assert_int_equal(error_nomem(NULL), PPROF_NOMEM);
	assert_int_equal(error_set(NULL, PPROF_LIMIT, "x", PPROF_UNIT_BYTE, 1,
				   "y"), PPROF_LIMIT);
}

static void test_long_source(void **state)
{
	char name[400];
	struct pprof_error err;

	(void)state;
	memset(name, 'd', sizeof(name));
	memcpy(name + sizeof(name) - 11, "/tail.heap", 11);
	error_plain(&err, PPROF_IO, name, "x");
	assert_true(strlen(err.source) < sizeof(err.source));
	assert_true(strlen(err.source) > 100);
	assert_string_equal(err.source + strlen(err.source) - 10,
			    "/tail.heap");
}

static void test_masking(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "plain text ~", "plain text ~" },
		{ "tab\tlf\ncr\r", "tab\\x09lf\\x0acr\\x0d" },
		{ "\033[31mred", "\\x1b[31mred" },
		{ "del\177", "del\\x7f" },
		{ "gr\303\266\303\237e", "gr\303\266\303\237e" },
		{ "\342\202\254 \360\237\224\245",
		  "\342\202\254 \360\237\224\245" },
		{ "\302\233csi", "\\xc2\\x9bcsi" }, /* C1 control */
		{ "\377\376", "\\xff\\xfe" },
		{ "cut \303", "cut \\xc3" },
		{ "overlong \300\257", "overlong \\xc0\\xaf" },
		{ "overlong \340\200\257", "overlong \\xe0\\x80\\xaf" },
		{ "surrogate \355\240\200", "surrogate \\xed\\xa0\\x80" },
		{ "too far \364\220\200\200",
		  "too far \\xf4\\x90\\x80\\x80" },
		{ "back\\slash", "back\\slash" },
	};
	char shown[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		format_masked(shown, sizeof(shown), "%s", rows[i].text);
		assert_string_equal(shown, rows[i].shown);
	}
}

/* Cut between characters, never inside one or inside an escape. */
static void test_cut(void **state)
{
	static const struct {
		size_t size;
		const char *shown;
	} rows[] = {
		{ 1, "" }, { 2, "a" }, { 3, "a" }, { 4, "a\303\266" },
		{ 7, "a\303\266" }, { 8, "a\303\266\\x0a" },
		{ 9, "a\303\266\\x0ab" }, { 99, "a\303\266\\x0ab" },
	};
	char shown[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memset(shown, '#', sizeof(shown));
		format_masked(shown, rows[i].size, "%s", "a\303\266\nb");
		assert_string_equal(shown, rows[i].shown);
		assert_int_equal(shown[rows[i].size], '#');
	}
}

#define TOLD_MAX 64

struct told {
	size_t nr;
	uint64_t sum;
	struct pprof_diag diags[TOLD_MAX];
	char messages[TOLD_MAX][200];
};

static void note(void *ctx, const struct pprof_diag *diag)
{
	struct told *told = ctx;

	assert_true(told->nr < TOLD_MAX);
	told->diags[told->nr] = *diag;
	strncpy(told->messages[told->nr], diag->message,
		sizeof(told->messages[0]) - 1);
	told->sum += diag->nr;
	told->nr++;
}

static void test_counting(void **state)
{
	static struct told told;
	struct diags diags;

	(void)state;
	diags_init(&diags, "file");
	diag_count(&diags, PPROF_UNIT_LINE, 3, "odd line: %d", 1);
	diag_count(&diags, PPROF_UNIT_LINE, 4, "odd line: %d", 2);
	diag_count_nr(&diags, PPROF_UNIT_BYTE, 9, 5, "odd byte");
	diag_count_nr(&diags, PPROF_UNIT_BYTE, 9, 0, "none of these");
	diag_count(&diags, PPROF_UNIT_LINE, 5, "odd line: %d", 3);
	diag_count(NULL, PPROF_UNIT_LINE, 5, "nobody counts");
	diags_flush(&diags, note, &told);
	assert_int_equal(told.nr, 2);
	assert_string_equal(told.messages[0], "odd line: 1");
	assert_string_equal(told.diags[0].source, "file");
	assert_int_equal(told.diags[0].nr, 3);
	assert_int_equal(told.diags[0].where, 3);
	assert_int_equal(told.diags[0].unit, PPROF_UNIT_LINE);
	assert_int_equal(told.diags[1].nr, 5);
	assert_int_equal(told.diags[1].where, 9);
	/* Forgotten once told. */
	diags_flush(&diags, note, &told);
	assert_int_equal(told.nr, 2);
	diag_count(&diags, PPROF_UNIT_NONE, 0, "x");
	diags_flush(&diags, NULL, NULL);
	diags_flush(&diags, note, &told);
	assert_int_equal(told.nr, 2);
}

static void test_too_many_kinds(void **state)
{
	/* Distinct strings, so distinct kinds. */
	static char kinds[DIAGS_MAX + 10][16];
	static struct told told;
	struct diags diags;
	size_t i;

	(void)state;
	memset(&told, 0, sizeof(told));
	diags_init(&diags, NULL);
	for (i = 0; i < DIAGS_MAX + 10; i++) {
		memcpy(kinds[i], "kind X", 7);
		kinds[i][5] = (char)('0' + i);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
		diag_count(&diags, PPROF_UNIT_NONE, i, kinds[i]);
#pragma GCC diagnostic pop
	}
	diags_flush(&diags, note, &told);
	assert_int_equal(told.nr, DIAGS_MAX);
	assert_int_equal(told.sum, DIAGS_MAX + 10);
	assert_string_equal(told.diags[0].source, "");
}

static void test_strict(void **state)
{
	struct pprof_error err = { .status = PPROF_OK };
	struct diags diags;

	(void)state;
	diags_init(&diags, "file");
	assert_false(diags_as_error(&diags, &err));
	assert_int_equal(err.status, PPROF_OK);
	diag_count(&diags, PPROF_UNIT_LINE, 7, "odd");
	diag_count(&diags, PPROF_UNIT_LINE, 8, "odder");
	assert_true(diags_as_error(&diags, &err));
	assert_int_equal(err.status, PPROF_FORMAT);
	assert_int_equal(err.where, 7);
	assert_string_equal(err.source, "file");
	assert_true(!strncmp(err.message, "odd ", 4));
	assert_non_null(strstr(err.message, "strict"));
}

static void test_status_text(void **state)
{
	int i, j;

	(void)state;
	for (i = PPROF_OK; i <= PPROF_USAGE + 1; i++) {
		const char *text = pprof_status_text((enum pprof_status)i);

		assert_non_null(text);
		assert_true(strlen(text) > 1);
		for (j = PPROF_OK; j < i; j++)
			assert_string_not_equal(text, pprof_status_text(
				(enum pprof_status)j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_long_source),
		cmocka_unit_test(test_masking),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_counting),
		cmocka_unit_test(test_too_many_kinds),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_status_text),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
