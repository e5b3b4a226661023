/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions as text, laid out as `go tool pprof -top` does, so
 * that scripts which read that can read this.
 */
#include <config.h>

#include "base/sink.h"
#include "output/report_rows.h"
#include "view/graph.h"
#include "view/shorten.h"
#include "view/text.h"

#include <string.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

/* Cells of a row before the name. */
#define NAME_COLUMN 44

/* Least cells that a name is shortened to. */
#define NAME_LEAST 16

/* The work of one report. */
struct top {
	struct report_rows rows;
	struct shortener shortener;
	struct buf name;  /* masked */
};

static const char *inline_mark(const struct table_row *row)
{
	if (!row->inlined)
		return "";
	return row->called ? " (partial-inline)" : " (inline)";
}

static void add_name(struct top *top, const struct table_row *row)
{
	const char *mark = inline_mark(row);
	size_t cells = SIZE_MAX, used = NAME_COLUMN + strlen(mark);

	if (top->rows.opts.width)
		cells = top->rows.opts.width > used + NAME_LEAST
				? top->rows.opts.width - used
				: NAME_LEAST;
	buf_reset(&top->name);
	text_mask(&top->name, frame_name(&top->rows.frames, row->row),
		  frame_name_len(&top->rows.frames, row->row));
	if (!buf_ok(&top->name)) {
		top->rows.out.failed = true;
		return;
	}
	shorten_fit(&top->shortener, &top->rows.out, top->name.data,
		    top->name.len, cells, SHORTEN_CUT_START);
	buf_str(&top->rows.out, mark);
}

static enum pprof_status add_rows(struct top *top, struct pprof_sink *sink,
				  struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct report_rows *rows = &top->rows;
	const struct table_row *row;
	__int128 sum = 0;
	size_t i;

	for (i = 0; !status && i < rows->table.nr; i++) {
		row = &rows->table.rows[i];
		sum += row->flat;
		report_rows_add_figures(rows, row, sum);
		buf_str(&rows->out, "  ");
		add_name(top, row);
		buf_byte(&rows->out, '\n');
		if (rows->out.len >= CHUNK_BYTES)
			status = sink_take_buf(sink, &rows->out, err);
	}
	return status;
}

static enum pprof_status run(struct top *top, struct pprof_sink *sink,
			     struct pprof_error *err)
{
	struct report_rows *rows = &top->rows;
	enum pprof_status status;

	report_rows_limit(rows);
	status = graph_mark_inlined(&rows->table, &rows->frames,
				    rows->profile, err);
	if (status)
		return status;
	report_rows_add_head(rows);
	buf_str(&rows->out, REPORT_FIGURES "\n");
	status = add_rows(top, sink, err);
	return status ? status : sink_take_buf(sink, &rows->out, err);
}

enum pprof_status pprof_report_top(const struct pprof_profile *profile,
				   const struct pprof_top_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	struct top top;
	enum pprof_status status = report_rows_init(&top.rows, profile, opts,
						    err);

	shortener_init(&top.shortener);
	buf_init(&top.name, PTRDIFF_MAX);
	if (!status)
		status = run(&top, sink, err);
	shortener_fini(&top.shortener);
	buf_fini(&top.name);
	report_rows_fini(&top.rows);
	return status;
}
