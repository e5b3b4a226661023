/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of several profiles side by side, joined by name: what each
 * has flat and cum in each of them, and how certain that is. Holds the tables
 * only; the profiles come and go.
 */
#ifndef VIEW_COMPARE_H
#define VIEW_COMPARE_H

#include "profile/sampling.h"
#include "view/frames.h"

/* One function in one profile. */
struct compare_cell {
	uint32_t row;     /* of compare.rows */
	int64_t value[2]; /* flat, cum */
	double variance[2];
};

struct compare_input {
	char *name;
	int64_t time_ns;   /* 0 unknown */
	int64_t sequence;  /* of the dump; -1 unknown */
	size_t place;      /* in order of compare_add() */
	int64_t total;     /* sum of all values */
	double variance;   /* of the total */
	enum sampling_kind sampling;
	double rate;       /* bytes between samples; 0 exact */
	struct compare_cell *cells; /* [nr] by rising row */
	size_t nr;
};

struct compare {
	struct strtab names;   /* row i is string i + 1 */
	size_t nr_rows;
	struct compare_input *inputs;
	size_t nr_inputs, cap_inputs;
	char *type;            /* of the first input */
	char *unit;
};

/* What to take of each profile. */
struct compare_opts {
	const char *sample_type; /* name, or NULL: the profile's default */
	enum pprof_granularity granularity;
	bool no_inlines;
};

__attribute__((warn_unused_result))
bool compare_init(struct compare *compare);
void compare_fini(struct compare *compare);

/* OK, NOMEM, LIMIT, NOTFOUND (no such type), MISMATCH (units differ). */
enum pprof_status compare_add(struct compare *compare,
			      const struct pprof_profile *profile,
			      const struct compare_opts *opts,
			      const char *name, int64_t sequence,
			      struct pprof_error *err);

/* Put the inputs in order: by sequence, else by time, else as added. */
void compare_sort(struct compare *compare);

/* Multiply all of an input but its name. */
void compare_scale(struct compare_input *input, double factor);

static inline const char *compare_name(const struct compare *compare,
				       uint32_t row, size_t *ret_len)
{
	*ret_len = strtab_len(&compare->names, row + 1);
	return strtab_text(&compare->names, row + 1);
}

#endif
