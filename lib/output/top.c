/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions as text, laid out as `go tool pprof -top` does, so
 * that scripts which read that can read this.
 */
#include <config.h>

#include "base/sink.h"
#include "output/report_header.h"
#include "view/shorten.h"
#include "view/table.h"
#include "view/text.h"
#include "view/units.h"

#include <string.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

/* Cells of a row before the name. */
#define NAME_COLUMN 44

/* Least cells that a name is shortened to. */
#define NAME_LEAST 16

/* The work of one report. */
struct top {
	const struct pprof_profile *profile;
	const struct pprof_top_opts *opts;
	struct pprof_sink *sink;
	struct frames frames;
	struct table table;
	struct report_values values; /* `to` is one unit for the table */
	size_t nr_dropped;
	size_t nr_whole;  /* rows before the limit */
	struct shortener shortener;
	struct buf name;  /* masked */
	struct buf cell;
	struct buf out;
};

/* A value as it is printed. */
static int64_t printed(const struct top *top, int64_t value)
{
	return report_divided(value, top->opts->divide_by);
}

static void add_value(struct top *top, int64_t value)
{
	units_value(&top->out, printed(top, value), top->values.unit,
		    top->values.to);
}

static void add_value_cell(struct top *top, int64_t value)
{
	buf_reset(&top->cell);
	units_value(&top->cell, printed(top, value), top->values.unit,
		    top->values.to);
	report_add_right(&top->out, &top->cell);
}

/* A percentage without its padding. */
static void add_trimmed_percent(struct top *top, int64_t value, int64_t total)
{
	size_t skip = 0;

	buf_reset(&top->cell);
	units_percent(&top->cell, value, total);
	while (skip < top->cell.len && top->cell.data[skip] == ' ')
		skip++;
	buf_add(&top->out, top->cell.data + skip, top->cell.len - skip);
}

static int64_t sum_flat(const struct table *table)
{
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < table->nr; i++)
		sum += table->rows[i].flat;
	return clamp_i64(sum);
}

/* Size of the cut that table_trim() made, as a value. */
static int64_t cutoff(const struct top *top)
{
	double value = (double)top->table.total * top->opts->min_fraction;

	return value < 9e18 ? (int64_t)value : INT64_MAX;
}

static void add_shown(struct top *top)
{
	int64_t flat = sum_flat(&top->table);

	buf_str(&top->out, "Showing nodes accounting for ");
	add_value(top, flat);
	buf_str(&top->out, ", ");
	add_trimmed_percent(top, flat, top->table.total);
	buf_str(&top->out, " of ");
	add_value(top, top->table.total);
	buf_str(&top->out, " total\n");
	if (!top->table.total)
		return;
	if (top->nr_dropped) {
		buf_printf(&top->out, "Dropped %zu node%s (cum <= ",
			   top->nr_dropped, top->nr_dropped > 1 ? "s" : "");
		add_value(top, cutoff(top));
		buf_str(&top->out, ")\n");
	}
	if (top->table.nr && top->table.nr < top->nr_whole)
		buf_printf(&top->out, "Showing top %zu nodes out of %zu\n",
			   top->table.nr, top->nr_whole);
}

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

	if (top->opts->width)
		cells = top->opts->width > used + NAME_LEAST
				? top->opts->width - used
				: NAME_LEAST;
	buf_reset(&top->name);
	text_mask(&top->name, frame_name(&top->frames, row->row),
		  frame_name_len(&top->frames, row->row));
	if (!buf_ok(&top->name)) {
		top->out.failed = true;
		return;
	}
	shorten_fit(&top->shortener, &top->out, top->name.data, top->name.len,
		    cells, SHORTEN_CUT_START);
	buf_str(&top->out, mark);
}

static enum pprof_status add_rows(struct top *top, struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	const struct table_row *row;
	__int128 sum = 0;
	size_t i;

	for (i = 0; !status && i < top->table.nr; i++) {
		row = &top->table.rows[i];
		sum += row->flat;
		add_value_cell(top, row->flat);
		buf_byte(&top->out, ' ');
		units_percent(&top->out, row->flat, top->table.total);
		buf_byte(&top->out, ' ');
		units_percent(&top->out, clamp_i64(sum), top->table.total);
		buf_byte(&top->out, ' ');
		add_value_cell(top, row->cum);
		buf_byte(&top->out, ' ');
		units_percent(&top->out, row->cum, top->table.total);
		buf_str(&top->out, "  ");
		add_name(top, row);
		buf_byte(&top->out, '\n');
		if (top->out.len >= CHUNK_BYTES)
			status = sink_take_buf(top->sink, &top->out, err);
	}
	return status;
}

static void choose_unit(struct top *top)
{
	const struct table *table = &top->table;
	uint64_t least = 0, value;
	size_t i;

	if (top->opts->unit != PPROF_UNIT_MINIMUM || !table->nr)
		return;
	for (i = 0; i < table->nr; i++) {
		value = magnitude_i64(table->rows[i].flat
					      ? table->rows[i].flat
					      : table->rows[i].cum);
		if (value && (!least || value < least))
			least = value;
	}
	top->values.to = units_minimum(clamp_i64((__int128)least),
				       table->total, top->values.unit);
}

static enum pprof_status write_report(struct top *top,
				      struct pprof_error *err)
{
	enum pprof_status status;

	top->nr_dropped = table_trim(&top->table, top->opts->min_fraction);
	if (!top->opts->mean)
		table_sort(&top->table, top->opts->by_cum);
	top->nr_whole = top->table.nr;
	if (top->opts->limit && top->opts->limit < top->table.nr)
		top->table.nr = top->opts->limit;
	status = table_mark_inlined(&top->table, &top->frames, top->profile,
				    err);
	if (status)
		return status;
	choose_unit(top);
	report_header_add(&top->out, top->profile, top->opts, &top->values,
			  printed(top, top->table.total));
	add_shown(top);
	buf_str(&top->out, "      flat  flat%   sum%        cum   cum%\n");
	status = add_rows(top, err);
	return status ? status : sink_take_buf(top->sink, &top->out, err);
}

/*
 * Values per unit of the first sample type, as bytes an object; in the order
 * of what was divided, as go tool pprof has it.
 */
static enum pprof_status divide(struct top *top, struct pprof_error *err)
{
	struct table first;
	enum pprof_status status = table_init(&first, &top->frames,
					      top->profile, 0, err);

	if (status)
		return status;
	table_sort(&top->table, top->opts->by_cum);
	table_divide(&top->table, &first);
	table_fini(&first);
	return PPROF_OK;
}

static enum pprof_status run(struct top *top, struct pprof_error *err)
{
	struct frames_opts frames_opts = {
		.granularity = top->opts->granularity,
		.no_inlines = top->opts->no_inlines,
		.merge_unknown = true
	};
	enum pprof_status status;

	status = frames_init(&top->frames, top->profile, &frames_opts, err);
	if (status)
		return status;
	status = table_init(&top->table, &top->frames, top->profile,
			    top->values.column, err);
	if (!status && top->opts->mean)
		status = divide(top, err);
	if (!status && top->opts->total)
		top->table.total = top->opts->total;
	if (!status && top->opts->drop_negative)
		table_drop_negative(&top->table);
	if (!status)
		status = write_report(top, err);
	table_fini(&top->table);
	frames_fini(&top->frames);
	return status;
}

enum pprof_status pprof_report_top(const struct pprof_profile *profile,
				   const struct pprof_top_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	struct pprof_top_opts taken = PPROF_TOP_OPTS_INIT;
	struct top top = { .profile = profile, .opts = &taken, .sink = sink };
	enum pprof_status status = report_take(&top.values, &taken, profile,
					       opts, err);

	if (status)
		return status;
	shortener_init(&top.shortener);
	buf_init(&top.name, PTRDIFF_MAX);
	buf_init(&top.cell, PTRDIFF_MAX);
	buf_init(&top.out, PTRDIFF_MAX);
	status = run(&top, err);
	shortener_fini(&top.shortener);
	buf_fini(&top.name);
	buf_fini(&top.cell);
	buf_fini(&top.out);
	return status;
}
