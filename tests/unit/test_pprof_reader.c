/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading profile.proto: messages spelled out byte by byte, legal oddities,
 * and every breach with its offset.
 */
#include <config.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "profile/profile.h"

/*
 * Fields as text, two hex digits a byte, blanks anywhere; 'c is the byte of
 * a character; ( ) puts the number of bytes between them in front of them.
 * String table: "" samples count f f.c m.
 */
#define STRINGS "32() 32('s'a'm'p'l'e's) 32('c'o'u'n't) 32('f) " \
		"32('f'.'c) 32('m) "
#define TYPE "0a(08 01 10 02) "
#define MAPPING "1a(08 01 10 80 20 18 80 40 28 05 38 01) "
#define LOCATION "22(08 01 10 01 18 84 20 22(08 01 10 07)) "
#define FUNCTION "2a(08 01 10 03 18 03 20 04) "
#define SAMPLE "12(0a(01) 12(40)) "
#define GOOD TYPE SAMPLE MAPPING LOCATION FUNCTION STRINGS

static unsigned hex_value(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static size_t spell(const char *text, char *out)
{
	size_t open[8], depth = 0, nr = 0;

	while (*text) {
		if (*text == ' ') {
			text++;
		} else if (*text == '(') {
			open[depth++] = nr++;
			text++;
		} else if (*text == ')') {
			depth--;
			out[open[depth]] = (char)(nr - open[depth] - 1);
			text++;
		} else if (*text == '\'') {
			out[nr++] = text[1];
			text += 2;
		} else {
			out[nr++] = (char)(hex_value(text[0]) << 4 |
					   hex_value(text[1]));
			text += 2;
		}
	}
	return nr;
}

struct outcome {
	enum pprof_status status;
	struct pprof_error err;
	struct pprof_profile *profile;
	uint64_t nr_diags;
	char diag[200];
};

static void note_diag(void *ctx, const struct pprof_diag *diag)
{
	struct outcome *out = ctx;

	out->nr_diags += diag->nr;
	snprintf(out->diag, sizeof(out->diag), "%s", diag->message);
}

static void read_spelled(const char *text, struct outcome *out)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	char bytes[1000];
	size_t nr = spell(text, bytes);

	memset(out, 0, sizeof(*out));
	opts.format = "pprof";
	opts.diag = note_diag;
	opts.diag_ctx = out;
	out->status = pprof_profile_read_memory(bytes, nr, "m", &opts,
						&out->profile, &out->err);
}

static void test_good(void **state)
{
	const struct pprof_profile *p;
	const struct location *loc;
	const char *type, *unit;
	struct outcome out;
	loc_id leaf[1];

	(void)state;
	read_spelled(GOOD, &out);
	if (out.status)
		fail_msg("%s", out.err.message);
	p = out.profile;
	assert_int_equal(p->nr_samples, 1);
	pprof_profile_sample_type(p, 0, &type, &unit);
	assert_string_equal(type, "samples");
	assert_string_equal(unit, "count");
	assert_int_equal(pprof_profile_total(p, 0), 64);
	assert_int_equal(stacks_depth(&p->stacks, p->sample_stack[0]), 1);
	stacks_leaf_first(&p->stacks, p->sample_stack[0], leaf);
	loc = &p->locations[leaf[0]];
	assert_int_equal(loc->address, 0x1004);
	assert_int_equal(p->mappings[loc->mapping].start, 0x1000);
	assert_int_equal(p->mappings[loc->mapping].limit, 0x2000);
	assert_int_equal(p->mappings[loc->mapping].flags,
			 MAP_HAS_FUNCTIONS | MAP_MAIN);
	assert_string_equal(profile_str(p, p->mappings[1].file), "m");
	assert_int_equal(loc->nr_lines, 1);
	assert_int_equal(p->lines[loc->lines].line, 7);
	assert_string_equal(profile_str(p, p->functions[1].name), "f");
	assert_string_equal(profile_str(p, p->functions[1].file), "f.c");
	assert_int_equal(out.nr_diags, 0);
	pprof_profile_free(out.profile);
}

static void test_tolerated(void **state)
{
	static const struct {
		const char *name, *text;
		size_t nr_samples;
		int64_t total;
		const char *diag;
	} rows[] = {
		{ "not packed", TYPE "12(08 01 10 40) " MAPPING LOCATION
		  FUNCTION STRINGS, 1, 64, NULL },
		{ "packed and not in one", TYPE "12(08 01 0a(01) 12(40)) "
		  MAPPING LOCATION FUNCTION STRINGS, 1, 64, NULL },
		{ "types last", SAMPLE MAPPING LOCATION FUNCTION STRINGS TYPE,
		  1, 64, NULL },
		{ "strings first", STRINGS FUNCTION LOCATION MAPPING SAMPLE
		  TYPE, 1, 64, NULL },
		{ "a sample twice adds up", GOOD SAMPLE, 1, 128, NULL },
		{ "negative", TYPE "12(0a(01) 12(c0 ff ff ff ff ff ff ff "
		  "ff 01)) " MAPPING LOCATION FUNCTION STRINGS, 1, -64,
		  NULL },
		{ "over-long number", TYPE "12(0a(01) 12(c0 80 80 00)) "
		  MAPPING LOCATION FUNCTION STRINGS, 1, 64, NULL },
		{ "no locations", TYPE "12(12(40)) " STRINGS, 1, 64,
		  NULL },
		{ "no samples", TYPE STRINGS, 0, 0, NULL },
		{ "unknown fields of every type", GOOD
		  "98 06 05  99 06 00 00 00 00 00 00 00 00  9a 06 02 01 02 "
		  "9d 06 00 00 00 00 ", 1, 64, NULL },
		{ "mapping that is missing", TYPE SAMPLE LOCATION FUNCTION
		  STRINGS, 1, 64, "mapping 1, which is not defined" },
		{ "huge ids", TYPE "12(0a(ff ff ff ff ff ff ff ff ff 01) "
		  "12(40)) 22(08 ff ff ff ff ff ff ff ff ff 01 18 84 20) "
		  STRINGS, 1, 64, NULL },
		{ "column beyond 32 bits", TYPE SAMPLE MAPPING
		  "22(08 01 10 01 18 84 20 22(08 01 10 07 18 ff ff ff ff 7f)) "
		  FUNCTION STRINGS, 1, 64, "column" },
		{ "two locations that are one", TYPE SAMPLE
		  "12(0a(02) 12(02)) " MAPPING LOCATION
		  "22(08 02 10 01 18 84 20 22(08 01 10 07)) " FUNCTION
		  STRINGS, 1, 66, NULL },
	};
	struct outcome out;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		read_spelled(rows[i].text, &out);
		if (out.status)
			fail_msg("%s: %s", rows[i].name, out.err.message);
		if (pprof_profile_nr_samples(out.profile) !=
		    rows[i].nr_samples ||
		    pprof_profile_total(out.profile, 0) != rows[i].total)
			fail_msg("%s: %zu samples, %" PRId64, rows[i].name,
				 pprof_profile_nr_samples(out.profile),
				 pprof_profile_total(out.profile, 0));
		if (rows[i].diag ? !strstr(out.diag, rows[i].diag) :
		    out.nr_diags != 0)
			fail_msg("%s: told '%s'", rows[i].name, out.diag);
		pprof_profile_free(out.profile);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *text;
		uint64_t where;
		const char *message;
	} rows[] = {
		{ "string 0 is not empty", "32('x) " TYPE, 0,
		  "string_table" },
		{ "no types", STRINGS, 29, "sample_type" },
		{ "cut in a record", TYPE "12 06 0a 01 ", 6,
		  "field sample: expected 6 bytes, found 2" },
		{ "cut in a length", TYPE "12 ", 6, "field" },
		{ "length beyond everything", TYPE
		  "12 ff ff ff ff ff ff ff ff 7f 00 ", 6, "sample" },
		{ "varint of eleven bytes", TYPE "48 ff ff ff ff ff ff ff ff "
		  "ff ff 01 ", 6, "field" },
		{ "varint beyond 64 bits", TYPE "48 ff ff ff ff ff ff ff ff "
		  "ff 02 ", 6, "field" },
		{ "wire type 3", TYPE "0b ", 6, "field" },
		{ "wire type 7", TYPE "17 ", 6, "field" },
		{ "field 0", TYPE "02 00 ", 6, "field" },
		{ "sample as a number", TYPE "10 01 ", 6, "sample" },
		{ "time as a string", TYPE "4a 01 01 ", 6, "time_nanos" },
		{ "broken sample", TYPE "12(0a 05) " STRINGS, 6, "sample" },
		{ "field one byte longer than its record",
		  TYPE "12(12(40) 0a 02 01) " STRINGS, 6,
		  "field sample is damaged" },
		{ "the same at the end", TYPE STRINGS "12(12(40) 1a 02 08) ",
		  35, "field sample is damaged" },
		{ "broken mapping", TYPE "1a(08) " STRINGS, 6, "mapping" },
		{ "broken location", TYPE "22(08) " STRINGS, 6,
		  "location" },
		{ "broken function", TYPE "2a(08) " STRINGS, 6,
		  "function" },
		{ "broken type", "0a(08) " STRINGS, 0, "sample_type" },
		{ "location 0", TYPE "12(0a(00) 12(40)) " STRINGS, 6,
		  "location 0" },
		{ "location not defined", TYPE SAMPLE STRINGS, 6,
		  "location 1, which is not defined" },
		{ "function not defined", TYPE SAMPLE MAPPING LOCATION
		  STRINGS, 28, "function 1, which is not defined" },
		{ "function 0", TYPE SAMPLE MAPPING
		  "22(08 01 10 01 22(10 07)) " STRINGS, 28,
		  "function_id is 0" },
		{ "mapping id 0", TYPE "1a(10 01) " STRINGS, 6,
		  "mapping id is 0" },
		{ "location id 0", TYPE "22(18 01) " STRINGS, 6,
		  "location id is 0" },
		{ "function id 0", TYPE "2a(10 01) " STRINGS, 6,
		  "function id is 0" },
		{ "mapping twice", GOOD MAPPING, 82,
		  "mapping id 1 is defined twice" },
		{ "location twice", GOOD LOCATION, 82,
		  "location id 1 is defined twice" },
		{ "function twice", GOOD FUNCTION, 82,
		  "function id 1 is defined twice" },
		{ "too few values", TYPE TYPE SAMPLE STRINGS, 12,
		  "1 values, expected 2" },
		{ "too many values", TYPE "12(0a(01) 12(40 41 42)) "
		  LOCATION MAPPING FUNCTION STRINGS, 84, "3 values" },
		{ "string out of range", TYPE SAMPLE MAPPING LOCATION
		  "2a(08 01 10 63) " STRINGS, 43, "string 99" },
		{ "negative string", TYPE SAMPLE MAPPING LOCATION
		  "2a(08 01 10 ff ff ff ff ff ff ff ff ff 01) " STRINGS, 43,
		  "string -1" },
		{ "type out of range", "0a(08 63) " STRINGS, 33,
		  "string 99" },
		{ "two profiles", GOOD "48 01 " "48 02 ", 84, "two profiles" },
	};
	struct outcome out;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		read_spelled(rows[i].text, &out);
		if (out.status != PPROF_FORMAT)
			fail_msg("%s: %s", rows[i].name,
				 pprof_status_text(out.status));
		assert_null(out.profile);
		if (out.err.unit != PPROF_UNIT_BYTE ||
		    out.err.where != rows[i].where ||
		    !strstr(out.err.message, rows[i].message))
			fail_msg("%s: byte %" PRIu64 ": %s", rows[i].name,
				 out.err.where, out.err.message);
	}
}

/* Labels, header, comments: every other field there is. */
static void test_rest(void **state)
{
	static const char text[] = TYPE
		/* label 3: key m, str f; label: key m, num -1, unit count */
		"12(12(05) 1a(08 05 10 03) "
		"1a(08 05 18 ff ff ff ff ff ff ff ff ff 01 20 02)) "
		"38 03 40 04 48 07 50 08 5a(08 03 10 02) 60 09 "
		"6a(03 04) 68 05 70 01 78 05 " STRINGS;
	const struct pprof_profile *p;
	const struct label *label;
	struct outcome out;

	(void)state;
	read_spelled(text, &out);
	if (out.status)
		fail_msg("%s", out.err.message);
	p = out.profile;
	assert_string_equal(profile_str(p, p->drop_frames), "f");
	assert_string_equal(profile_str(p, p->keep_frames), "f.c");
	assert_int_equal(p->time_ns, 7);
	assert_int_equal(p->duration_ns, 8);
	assert_string_equal(profile_str(p, p->period_type.type), "f");
	assert_string_equal(profile_str(p, p->period_type.unit), "count");
	assert_int_equal(p->period, 9);
	assert_int_equal(p->nr_comments, 3);
	assert_string_equal(pprof_profile_comment(p, 0), "f");
	assert_string_equal(pprof_profile_comment(p, 2), "m");
	assert_string_equal(profile_str(p, p->default_type), "samples");
	assert_string_equal(profile_str(p, p->doc_url), "m");
	assert_int_equal(p->lsets[p->sample_lset[0]].nr, 2);
	label = &p->labels[p->lsets[p->sample_lset[0]].labels];
	if (label->is_num)
		label++;
	assert_string_equal(profile_str(p, label->str), "f");
	label = label == p->labels + p->lsets[1].labels ? label + 1 :
		label - 1;
	assert_int_equal(label->is_num, 1);
	assert_int_equal(label->num, -1);
	assert_string_equal(profile_str(p, label->unit), "count");
	pprof_profile_free(out.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_tolerated),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests_name("pprof_reader", tests, NULL, NULL);
}
