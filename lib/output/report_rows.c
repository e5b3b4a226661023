/* SPDX-License-Identifier: Apache-2.0
 *
 * The table behind reports with rows; see report_rows.h.
 */
#include <config.h>

#include "output/report_rows.h"
#include "view/units.h"

#include <string.h>

/* A value as it is printed. */
static int64_t printed(const struct report_rows *rows, int64_t value)
{
	return report_divided(value, rows->opts.divide_by);
}

void report_rows_add_bare(struct report_rows *rows, int64_t value)
{
	units_value(&rows->out, printed(rows, value), rows->values.unit,
		    rows->values.to);
}

void report_rows_add_value(struct report_rows *rows, int64_t value)
{
	buf_reset(&rows->cell);
	units_value(&rows->cell, printed(rows, value), rows->values.unit,
		    rows->values.to);
	report_add_right(&rows->out, &rows->cell);
}

void report_rows_add_percent(struct report_rows *rows, int64_t value,
			     int64_t total)
{
	size_t skip = 0;

	buf_reset(&rows->cell);
	units_percent(&rows->cell, value, total);
	while (skip < rows->cell.len && rows->cell.data[skip] == ' ')
		skip++;
	buf_add(&rows->out, rows->cell.data + skip, rows->cell.len - skip);
}

static int64_t sum_flat(const struct table *table)
{
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < table->nr; i++)
		sum += table->rows[i].flat;
	return clamp_i64(sum);
}

/* Share of all below which calls are left out (pprof's edgefraction). */
#define LEAST_CALLS 0.001

static double calls_cutoff(const struct report_rows *rows)
{
	return (double)magnitude_i64(rows->sum_flat) * LEAST_CALLS;
}

size_t report_rows_trim_calls(const struct report_rows *rows,
			      struct graph *graph)
{
	double cutoff = calls_cutoff(rows);

	if (!(rows->opts.min_fraction > 0) || cutoff < 1)
		return 0;
	return graph_trim(graph, (uint64_t)cutoff);
}

/* Size of the cut that table_trim() made, as a value. */
static int64_t cutoff(const struct report_rows *rows)
{
	double value = (double)rows->table.total * rows->opts.min_fraction;

	return value < 9e18 ? (int64_t)value : INT64_MAX;
}

static void add_shown(struct report_rows *rows)
{
	int64_t flat = sum_flat(&rows->table);

	buf_str(&rows->out, "Showing nodes accounting for ");
	report_rows_add_bare(rows, flat);
	buf_str(&rows->out, ", ");
	report_rows_add_percent(rows, flat, rows->table.total);
	buf_str(&rows->out, " of ");
	report_rows_add_bare(rows, rows->table.total);
	buf_str(&rows->out, " total\n");
	if (!rows->table.total)
		return;
	if (rows->nr_dropped) {
		buf_printf(&rows->out, "Dropped %zu node%s (cum <= ",
			   rows->nr_dropped, rows->nr_dropped > 1 ? "s" : "");
		report_rows_add_bare(rows, cutoff(rows));
		buf_str(&rows->out, ")\n");
	}
	if (rows->nr_calls_dropped) {
		buf_printf(&rows->out, "Dropped %zu edge%s (freq <= ",
			   rows->nr_calls_dropped,
			   rows->nr_calls_dropped > 1 ? "s" : "");
		report_rows_add_bare(rows, (int64_t)((double)rows->table.total
						     * LEAST_CALLS));
		buf_str(&rows->out, ")\n");
	}
	if (rows->table.nr && rows->table.nr < rows->nr_whole)
		buf_printf(&rows->out, "Showing top %zu nodes out of %zu\n",
			   rows->table.nr, rows->nr_whole);
}

void report_rows_add_head(struct report_rows *rows)
{
	report_header_add(&rows->out, rows->profile, &rows->opts,
			  &rows->values, printed(rows, rows->table.total));
	add_shown(rows);
}

void report_rows_add_figures(struct report_rows *rows,
			     const struct table_row *row, __int128 sum)
{
	struct buf *out = &rows->out;
	int64_t total = rows->table.total;

	report_rows_add_value(rows, row->flat);
	buf_byte(out, ' ');
	units_percent(out, row->flat, total);
	buf_byte(out, ' ');
	units_percent(out, clamp_i64(sum), total);
	buf_byte(out, ' ');
	report_rows_add_value(rows, row->cum);
	buf_byte(out, ' ');
	units_percent(out, row->cum, total);
}

static void choose_unit(struct report_rows *rows)
{
	const struct table *table = &rows->table;
	uint64_t least = 0, value;
	size_t i;

	if (rows->opts.unit != PPROF_UNIT_MINIMUM || !table->nr)
		return;
	for (i = 0; i < table->nr; i++) {
		value = magnitude_i64(table->rows[i].flat
					      ? table->rows[i].flat
					      : table->rows[i].cum);
		if (value && (!least || value < least))
			least = value;
	}
	rows->values.to = units_minimum(clamp_i64((__int128)least),
				       table->total, rows->values.unit);
}

/*
 * Values per unit of the first sample type, as bytes an object; in the order
 * of what was divided, as go tool pprof has it.
 */
static enum pprof_status divide(struct report_rows *rows,
				struct pprof_error *err)
{
	struct table first;
	enum pprof_status status = table_init(&first, &rows->frames,
					      rows->profile, 0, err);

	if (status)
		return status;
	table_sort(&rows->table, rows->opts.by_cum);
	table_divide(&rows->table, &first);
	table_fini(&first);
	return PPROF_OK;
}

static void choose_rows(struct report_rows *rows)
{
	struct table *table = &rows->table;

	if (rows->opts.total)
		table->total = rows->opts.total;
	if (rows->opts.drop_negative)
		table_drop_negative(table);
	rows->sum_flat = sum_flat(table);
	rows->nr_dropped = table_trim(table, rows->opts.min_fraction);
	if (!rows->opts.mean)
		table_sort(table, rows->opts.by_cum);
	rows->nr_whole = table->nr;
}

void report_rows_limit(struct report_rows *rows)
{
	struct table *table = &rows->table;

	if (rows->opts.limit && rows->opts.limit < table->nr)
		table->nr = rows->opts.limit;
	choose_unit(rows);
}

enum pprof_status report_rows_init(struct report_rows *rows,
				   const struct pprof_profile *profile,
				   const struct pprof_top_opts *opts,
				   struct pprof_error *err)
{
	struct frames_opts frames_opts = { .merge_unknown = true };
	enum pprof_status status;

	memset(rows, 0, sizeof(*rows));
	buf_init(&rows->cell, PTRDIFF_MAX);
	buf_init(&rows->out, PTRDIFF_MAX);
	rows->profile = profile;
	rows->opts = (struct pprof_top_opts)PPROF_TOP_OPTS_INIT;
	status = report_take(&rows->values, &rows->opts, profile, opts, err);
	if (status)
		return status;
	frames_opts.granularity = rows->opts.granularity;
	frames_opts.no_inlines = rows->opts.no_inlines;
	status = frames_init(&rows->frames, profile, &frames_opts, err);
	if (!status)
		status = table_init(&rows->table, &rows->frames, profile,
				    rows->values.column, err);
	if (!status && rows->opts.mean)
		status = divide(rows, err);
	if (!status)
		choose_rows(rows);
	return status;
}

void report_rows_fini(struct report_rows *rows)
{
	table_fini(&rows->table);
	frames_fini(&rows->frames);
	buf_fini(&rows->cell);
	buf_fini(&rows->out);
}
