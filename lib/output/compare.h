/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of struct pprof_comparison, and the rows that its writers print.
 */
#ifndef OUTPUT_COMPARE_H
#define OUTPUT_COMPARE_H

#include "base/sink.h"
#include "view/compare.h"
#include "view/trend.h"

struct pprof_comparison {
	struct compare compare;
	struct pprof_comparison_opts opts;
	char *sample_type; /* copy of opts.sample_type, or NULL */
};

/* What is new or gone between the first and the last input. */
enum change_mark { CHANGE_NONE = 0, CHANGE_NEW, CHANGE_GONE };

/* One function over all inputs. */
struct change {
	uint32_t row;       /* of the comparison */
	int64_t before;     /* in the first input */
	int64_t after;      /* in the last */
	__int128 delta;
	double z;           /* of the delta; 0 when exact */
	double p;           /* of the delta, or of the trend */
	double slope;       /* series: a second, or a dump */
	double weight;      /* what it is sorted by, falling */
	enum change_mark mark;
};

struct changes {
	struct change *rows; /* [nr] sorted, those to be shown */
	size_t nr;
	size_t nr_unchanged; /* left out: the same in all inputs */
	size_t nr_other;     /* left out by growth, shrink or limit */
	bool is_exact;       /* no input has a sampling error */
	bool is_series;      /* more than two inputs */
	bool by_time;        /* slopes are a second, not a dump */
	double *x;           /* [nr_inputs] seconds or numbers of dumps */
	int64_t *values;     /* [nr_rows of the comparison][nr_inputs] */
	double *variances;   /* the same; NULL when exact */
	double z;            /* of the totals */
};

/* OK or NOMEM; changes_fini() after either. */
enum pprof_status changes_init(struct changes *changes,
			       const struct pprof_comparison *comparison,
			       struct pprof_error *err);
void changes_fini(struct changes *changes);

enum pprof_status compare_write_text(const struct pprof_comparison *comparison,
				     const struct changes *changes,
				     struct pprof_sink *sink,
				     struct pprof_error *err);
enum pprof_status compare_write_json(const struct pprof_comparison *comparison,
				     const struct changes *changes,
				     struct pprof_sink *sink,
				     struct pprof_error *err);

#endif
