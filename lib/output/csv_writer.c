/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of samples as comma- or tab-separated values: a column a sample
 * type, then labels, then the stack, root first. CSV is quoted as RFC 4180
 * has it; TSV has blanks for tabs and line ends.
 */
#include <config.h>

#include "base/sink.h"
#include "output/ordered.h"
#include "output/writer.h"
#include "view/frames.h"

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

struct table {
	const struct pprof_profile *profile;
	const struct frames *frames;
	struct pprof_sink *sink;
	struct ordered ordered;
	struct buf out;
	struct buf cell;
	char separator;
};

static enum pprof_status flush(struct table *w, size_t above,
			       struct pprof_error *err)
{
	if (!buf_ok(&w->out) || !buf_ok(&w->cell))
		return error_nomem(err);
	if (w->out.len < above)
		return PPROF_OK;
	return sink_take_buf(w->sink, &w->out, err);
}

/* w->cell as a quoted cell. */
static void put_quoted(struct table *w)
{
	size_t i;

	buf_byte(&w->out, '"');
	for (i = 0; i < w->cell.len; i++) {
		if (w->cell.data[i] == '"')
			buf_byte(&w->out, '"');
		buf_byte(&w->out, w->cell.data[i]);
	}
	buf_byte(&w->out, '"');
}

static void put_cell(struct table *w)
{
	if (w->separator == '\t')
		ordered_put_line(&w->out, buf_cstr(&w->cell));
	else if (strpbrk(buf_cstr(&w->cell), ",\"\r\n") ||
		 strlen(buf_cstr(&w->cell)) != w->cell.len)
		put_quoted(w);
	else
		buf_add(&w->out, w->cell.data, w->cell.len);
	buf_reset(&w->cell);
}

static void put_head(struct table *w)
{
	const struct pprof_profile *p = w->profile;
	size_t i;

	for (i = 0; i < p->nr_types; i++) {
		buf_printf(&w->cell, "%s (%s)",
			   profile_str(p, p->types[i].type),
			   profile_str(p, p->types[i].unit));
		put_cell(w);
		buf_byte(&w->out, w->separator);
	}
	buf_str(&w->out, "labels");
	buf_byte(&w->out, w->separator);
	buf_str(&w->out, "stack\n");
}

static void put_labels(struct table *w)
{
	const struct lset *lset = ordered_lset(&w->ordered);
	const struct label *label;
	uint32_t i;

	for (i = 0; i < lset->nr; i++) {
		label = ordered_label(&w->ordered, lset, i);
		buf_printf(&w->cell, "%s%s=", i ? ";" : "",
			   profile_str(w->profile, label->key));
		if (label->is_num)
			buf_i64(&w->cell, label->num);
		else
			buf_str(&w->cell, profile_str(w->profile,
						      label->str));
		buf_str(&w->cell, profile_str(w->profile, label->unit));
	}
	put_cell(w);
}

static void put_stack(struct table *w)
{
	const struct frames *frames = w->frames;
	size_t i;
	uint32_t k, row;

	for (i = w->ordered.nr_frames; i--;) {
		loc_id loc = w->ordered.frames[i];

		for (k = frames->loc_start[loc];
		     k < frames->loc_start[loc + 1]; k++) {
			row = STEP_ROW(frames->loc_steps[k]);
			if (w->cell.len)
				buf_byte(&w->cell, ';');
			buf_add(&w->cell, frame_name(frames, row),
				frame_name_len(frames, row));
		}
	}
	put_cell(w);
}

static enum pprof_status write_rows(struct table *w, struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	put_head(w);
	while (!status && ordered_next(&w->ordered)) {
		for (i = 0; i < w->profile->nr_types; i++) {
			buf_i64(&w->out, w->profile->values[i][
				w->ordered.sample]);
			buf_byte(&w->out, w->separator);
		}
		put_labels(w);
		buf_byte(&w->out, w->separator);
		put_stack(w);
		buf_byte(&w->out, '\n');
		status = flush(w, CHUNK_BYTES, err);
	}
	if (!status && w->ordered.failed)
		return error_nomem(err);
	return status ? status : flush(w, 0, err);
}

static enum pprof_status write_table(const struct pprof_profile *profile,
				     const struct pprof_write_opts *opts,
				     struct pprof_sink *sink, char separator,
				     struct pprof_error *err)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION,
					   .no_inlines = opts->no_inlines,
					   .folded = true };
	struct table w = { .profile = profile, .sink = sink,
			   .separator = separator };
	enum pprof_status status;
	struct frames frames;

	status = frames_init(&frames, profile, &frames_opts, err);
	if (status)
		return status;
	w.frames = &frames;
	buf_init(&w.out, PTRDIFF_MAX);
	buf_init(&w.cell, PTRDIFF_MAX);
	status = ordered_init(&w.ordered, profile, err);
	if (!status)
		status = write_rows(&w, err);
	ordered_fini(&w.ordered);
	buf_fini(&w.out);
	buf_fini(&w.cell);
	frames_fini(&frames);
	return status;
}

static enum pprof_status write_csv(const struct pprof_profile *profile,
				   const struct pprof_write_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	return write_table(profile, opts, sink, ',', err);
}

static enum pprof_status write_tsv(const struct pprof_profile *profile,
				   const struct pprof_write_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	return write_table(profile, opts, sink, '\t', err);
}

const struct writer writer_csv = {
	.name = "csv",
	.description = "table of samples, comma-separated",
	.write = write_csv,
};

const struct writer writer_tsv = {
	.name = "tsv",
	.description = "table of samples, tab-separated",
	.write = write_tsv,
};
