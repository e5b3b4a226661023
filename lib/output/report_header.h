/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands above each report for people, as `go tool pprof` has it: the
 * program, its comments, sample type, time, duration, and the filters.
 */
#ifndef OUTPUT_REPORT_HEADER_H
#define OUTPUT_REPORT_HEADER_H

#include "base/buf.h"
#include "profile/profile.h"

struct report_header {
	const struct pprof_profile *profile;
	const char *title;  /* where no program is known, or NULL */
	const char *type;   /* of the values; "" none */
	const char *unit;
	const char *to;     /* unit that they are printed in */
	int64_t total;      /* as it is printed */
	bool mean;          /* values are over those of the first type */
	const char *const *filters; /* [nr_filters] */
	size_t nr_filters;
};

void report_header_add(const struct report_header *header, struct buf *out);

/* "2023-11-14 22:13:20", in UTC. */
void report_time_add(struct buf *out, int64_t time_ns);

#endif
