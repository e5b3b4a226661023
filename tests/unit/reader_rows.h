/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of inputs for tests of readers: what each text becomes, shown as
 * text, and what no cut and no lack of memory may do.
 */
#ifndef TESTS_READER_ROWS_H
#define TESTS_READER_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "input/reader.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* Text and length of a string literal. */
#define TEXT(text) (text), sizeof(text) - 1

enum row_flags {
	ROW_THREADS = 1,
	ROW_RAW_COUNTS = 2,
	ROW_ROOT_FIRST = 4,
	ROW_SNIFF = 8, /* by content, not by name */
	ROW_BAD = 16   /* `expected` is part of the message */
};

struct reader_row {
	const char *name;
	const char *text;
	size_t nr;
	unsigned flags;
	uint64_t nr_diags;
	const char *expected;
};

struct reader_notes {
	uint64_t nr;
	char text[2000];
};

static inline void note_diag(void *ctx, const struct pprof_diag *diag)
{
	struct reader_notes *notes = ctx;
	size_t used = strlen(notes->text);

	notes->nr += diag->nr;
	snprintf(notes->text + used, sizeof(notes->text) - used, "%s\n",
		 diag->message);
}

static inline void show_frame(const struct pprof_profile *p, loc_id id,
			      struct buf *out)
{
	const struct location *loc = &p->locations[id];
	uint32_t i;

	buf_hex(out, loc->address);
	if (loc->mapping)
		buf_printf(out, "[%s]", profile_str(p, p->mappings[
			loc->mapping].file));
	for (i = 0; i < loc->nr_lines; i++) {
		const struct line *line = &p->lines[loc->lines + i];
		const struct function *func = &p->functions[line->func];

		buf_printf(out, "%s%s", i ? "<" : " ",
			   profile_str(p, func->name));
		if (func->file)
			buf_printf(out, "(%s:%lld)", profile_str(p,
				   func->file), (long long)line->line);
	}
}

static inline void show_labels(const struct pprof_profile *p, size_t sample,
			       struct buf *out)
{
	const struct lset *lset;
	uint32_t i;

	if (!p->sample_lset)
		return;
	lset = &p->lsets[p->sample_lset[sample]];
	for (i = 0; i < lset->nr; i++) {
		const struct label *label = &p->labels[lset->labels + i];

		buf_printf(out, " %s=", profile_str(p, label->key));
		if (label->is_num)
			buf_i64(out, label->num);
		else
			buf_str(out, profile_str(p, label->str));
	}
}

/*
 * "type/unit ...\nvalue ... | frame; frame label=value\n": a line a sample in
 * the order of the input, leaf first.
 */
static inline void show_profile(const struct pprof_profile *p,
				struct buf *out)
{
	loc_id frames[64];
	size_t i, k, t;

	for (t = 0; t < p->nr_types; t++)
		buf_printf(out, "%s%s/%s", t ? " " : "",
			   profile_str(p, p->types[t].type),
			   profile_str(p, p->types[t].unit));
	buf_byte(out, '\n');
	for (i = 0; i < p->nr_samples; i++) {
		for (t = 0; t < p->nr_types; t++)
			buf_printf(out, "%s%lld", t ? " " : "",
				   (long long)p->values[t][i]);
		buf_str(out, " |");
		k = stacks_depth(&p->stacks, p->sample_stack[i]);
		assert_in_range(k, 0, NR_OF(frames));
		stacks_leaf_first(&p->stacks, p->sample_stack[i], frames);
		for (t = 0; t < k; t++) {
			buf_str(out, t ? "; " : " ");
			show_frame(p, frames[t], out);
		}
		show_labels(p, i, out);
		buf_byte(out, '\n');
	}
}

static inline enum pprof_status read_row(const char *format,
					 const struct reader_row *row,
					 size_t nr,
					 struct reader_notes *notes,
					 struct pprof_profile **ret,
					 struct pprof_error *err)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	memset(notes, 0, sizeof(*notes));
	memset(err, 0, sizeof(*err));
	if (!(row->flags & ROW_SNIFF))
		opts.format = format;
	opts.threads = row->flags & ROW_THREADS;
	opts.raw_counts = row->flags & ROW_RAW_COUNTS;
	opts.root_first = row->flags & ROW_ROOT_FIRST;
	opts.diag = note_diag;
	opts.diag_ctx = notes;
	return pprof_profile_read_memory(row->text, nr, "test", &opts, ret,
					 err);
}

/* What the row becomes is what it should. */
static inline void check_row(const char *format, const struct reader_row *row)
{
	struct pprof_profile *profile = NULL;
	struct reader_notes notes;
	struct pprof_error err;
	enum pprof_status status;
	struct buf text;

	print_message("# %s\n", row->name);
	status = read_row(format, row, row->nr, &notes, &profile, &err);
	if (row->flags & ROW_BAD) {
		assert_int_not_equal(status, PPROF_OK);
		assert_non_null(strstr(err.message, row->expected));
		return;
	}
	assert_string_equal(err.message, "");
	assert_int_equal(status, PPROF_OK);
	buf_init(&text, SIZE_MAX);
	show_profile(profile, &text);
	assert_string_equal(buf_cstr(&text), row->expected);
	if (notes.nr != row->nr_diags)
		print_message("# told: %s\n", notes.text);
	assert_int_equal(notes.nr, row->nr_diags);
	buf_fini(&text);
	pprof_profile_free(profile);
}

static inline void check_rows(const char *format,
			      const struct reader_row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		check_row(format, &rows[i]);
}

/* Cut at every byte: a profile or a sentence, never more samples. */
static inline void check_cuts(const char *format,
			      const struct reader_row *rows, size_t nr_rows)
{
	struct reader_notes notes;
	struct pprof_profile *profile;
	struct pprof_error err;
	size_t i, nr;

	for (i = 0; i < nr_rows; i++) {
		for (nr = 0; nr <= rows[i].nr; nr++) {
			profile = NULL;
			if (!read_row(format, &rows[i], nr, &notes, &profile,
				      &err)) {
				assert_non_null(profile);
				pprof_profile_free(profile);
				continue;
			}
			assert_null(profile);
			assert_true(err.message[0]);
		}
	}
}

/* Each allocation fails in its turn: out of memory is all that is told. */
static inline void check_no_memory(const char *format,
				   const struct reader_row *row)
{
	struct pprof_profile *profile = NULL;
	enum pprof_status status = PPROF_NOMEM;
	struct reader_notes notes;
	struct pprof_error err;
	uint64_t n;

	for (n = 1; n < 1000 && status; n++) {
		mem_fail_nth(n, true);
		status = read_row(format, row, row->nr, &notes, &profile,
				  &err);
		mem_fail_nth(0, false);
		if (status)
			assert_int_equal(status, PPROF_NOMEM);
	}
	assert_in_range(n, 10, 999);
	pprof_profile_free(profile);
}

#endif
