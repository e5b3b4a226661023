/* SPDX-License-Identifier: Apache-2.0
 *
 * What reports with a row for each function share: the table behind them,
 * what of it is shown, and the figures of a row.
 */
#ifndef OUTPUT_REPORT_ROWS_H
#define OUTPUT_REPORT_ROWS_H

#include "output/report_header.h"
#include "view/graph.h"

/* Columns of report_rows_add_figures(). */
#define REPORT_FIGURES "      flat  flat%   sum%        cum   cum%"

struct report_rows {
	const struct pprof_profile *profile;
	struct pprof_top_opts opts;
	struct frames frames;
	struct table table;
	struct report_values values; /* `to` is one unit for the table */
	int64_t sum_flat;  /* before rows were left out */
	size_t nr_dropped; /* rows below the least share */
	size_t nr_whole;   /* rows before the limit */
	size_t nr_calls_dropped; /* to be told of, or 0 */
	struct buf cell;
	struct buf out;    /* what is not in the sink yet */
};

/*
 * Count, and leave out what is small; rows are sorted.
 * OK, NOMEM, USAGE, LIMIT; report_rows_fini() after either.
 */
enum pprof_status report_rows_init(struct report_rows *rows,
				   const struct pprof_profile *profile,
				   const struct pprof_top_opts *opts,
				   struct pprof_error *err);
void report_rows_fini(struct report_rows *rows);

/* Leave out rows over the limit, as they stand; choose the unit of all. */
void report_rows_limit(struct report_rows *rows);

/*
 * Leave out calls below a thousandth of all, unless every row is shown.
 * Returns how many.
 */
size_t report_rows_trim_calls(const struct report_rows *rows,
			      struct graph *graph);

/* Append what stands above a report, and how much of all is shown. */
void report_rows_add_head(struct report_rows *rows);

/* Append a value, and a percentage, without padding. */
void report_rows_add_bare(struct report_rows *rows, int64_t value);
void report_rows_add_percent(struct report_rows *rows, int64_t value,
			     int64_t total);

/* Append a value, right-aligned in REPORT_VALUE_CELLS. */
void report_rows_add_value(struct report_rows *rows, int64_t value);

/* Append the figures of a row; `sum` is flat so far, with this row. */
void report_rows_add_figures(struct report_rows *rows,
			     const struct table_row *row, __int128 sum);

#endif
