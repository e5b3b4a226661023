/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reports for people share: which values they show and how, and
 * what stands above them, as `go tool pprof` has it: the program, its
 * comments, sample type, time, duration, and the filters.
 */
#ifndef OUTPUT_REPORT_HEADER_H
#define OUTPUT_REPORT_HEADER_H

#include "base/buf.h"
#include "profile/profile.h"

/* The column that a report shows. */
struct report_values {
	size_t column;
	const char *type; /* "" none */
	const char *unit;
	const char *to;   /* unit of what is printed, each value alone */
};

/* Options as given, checked, and what they choose. OK, USAGE. */
enum pprof_status report_take(struct report_values *values,
			      struct pprof_top_opts *taken,
			      const struct pprof_profile *profile,
			      const struct pprof_top_opts *opts,
			      struct pprof_error *err);

/* A value as it is printed: divided by `by`, if that is above 0. */
int64_t report_divided(int64_t value, double by);

/* Cells of a value, or of what stands above values. */
#define REPORT_VALUE_CELLS 10

/* Append a cell, right-aligned in that many. */
void report_add_right(struct buf *out, const struct buf *cell);

/* Append what stands above a report; `total` as it is printed. */
void report_header_add(struct buf *out, const struct pprof_profile *profile,
		       const struct pprof_top_opts *opts,
		       const struct report_values *values, int64_t total);

/* "2023-11-14 22:13:20", in UTC. */
void report_time_add(struct buf *out, int64_t time_ns);

#endif
