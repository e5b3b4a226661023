/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons: takes profiles in, works out what changed and in which order
 * it is told. How it looks is in compare_text.c and compare_json.c.
 */
#include <config.h>

#include "base/mem.h"
#include "base/opts.h"
#include "output/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- changes */

/* Times must rise to be what slopes refer to. */
static bool times_rise(const struct compare *c)
{
	size_t i;

	for (i = 0; i < c->nr_inputs; i++)
		if (!c->inputs[i].time_ns ||
		    (i && c->inputs[i].time_ns <= c->inputs[i - 1].time_ns))
			return false;
	return true;
}

static bool make_axis(struct changes *ch, const struct compare *c)
{
	size_t i;

	ch->by_time = times_rise(c);
	ch->x = mem_alloc(c->nr_inputs, sizeof(*ch->x));
	if (!ch->x)
		return false;
	for (i = 0; i < c->nr_inputs; i++)
		ch->x[i] = ch->by_time
				   ? (double)(c->inputs[i].time_ns -
					      c->inputs[0].time_ns) / 1e9
				   : (double)i;
	return true;
}

/* All values as a matrix, a row a function. */
static bool spread_cells(struct changes *ch, const struct pprof_comparison *cm)
{
	const struct compare *c = &cm->compare;
	size_t nr = c->nr_inputs, i, j;
	int which = cm->opts.by_cum ? 1 : 0;

	ch->values = mem_zalloc(c->nr_rows * nr, sizeof(*ch->values));
	if (!ch->is_exact)
		ch->variances = mem_zalloc(c->nr_rows * nr,
					   sizeof(*ch->variances));
	if (!ch->values || (!ch->is_exact && !ch->variances))
		return false;
	for (i = 0; i < nr; i++) {
		for (j = 0; j < c->inputs[i].nr; j++) {
			const struct compare_cell *cell =
				&c->inputs[i].cells[j];

			ch->values[cell->row * nr + i] = cell->value[which];
			if (!ch->is_exact)
				ch->variances[cell->row * nr + i] =
					cell->variance[which];
		}
	}
	return true;
}

static double z_of(double delta, double variance)
{
	return variance > 0 ? delta / sqrt(variance) : 0;
}

static bool fill_change(struct changes *ch, const struct compare *c,
			uint32_t row, struct trend_scratch *scratch,
			double *y, struct change *change)
{
	size_t nr = c->nr_inputs, i;
	const int64_t *values = ch->values + row * nr;
	double variance = 0;
	struct trend trend;

	memset(change, 0, sizeof(*change));
	change->row = row;
	change->before = values[0];
	change->after = values[nr - 1];
	change->delta = (__int128)change->after - change->before;
	if (!change->before && change->after)
		change->mark = CHANGE_NEW;
	else if (change->before && !change->after)
		change->mark = CHANGE_GONE;
	if (ch->variances)
		variance = ch->variances[row * nr] +
			   ch->variances[row * nr + nr - 1];
	change->z = z_of((double)change->delta, variance);
	change->p = trend_p_of_z(change->z);
	if (!ch->is_series)
		return true;
	for (i = 0; i < nr; i++)
		y[i] = (double)values[i];
	if (!trend_fit(scratch, ch->x, y, nr, &trend))
		return false;
	change->slope = trend.slope;
	change->p = trend.p;
	return true;
}

/* Is the row the same in all inputs? */
static bool is_unchanged(const int64_t *values, size_t nr)
{
	size_t i;

	for (i = 1; i < nr; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

/* What growth means for a row: the trend of a series, else the difference. */
static double direction(const struct changes *ch, const struct change *change)
{
	if (ch->is_series && (change->slope > 0 || change->slope < 0))
		return change->slope;
	return (double)change->delta;
}

static bool is_asked_for(const struct changes *ch,
			 const struct change *change,
			 const struct pprof_comparison_opts *opts)
{
	double way = direction(ch, change);

	if (opts->only == PPROF_CHANGES_GROWTH)
		return way > 0;
	if (opts->only == PPROF_CHANGES_SHRINK)
		return way < 0;
	return true;
}

/*
 * By significance: |z|, of a series 1 - p; where nothing was sampled the
 * difference itself.
 */
static double weigh(const struct changes *ch, const struct change *change,
		    const struct pprof_comparison_opts *opts)
{
	double delta = fabs((double)change->delta);

	switch (opts->sort) {
	case PPROF_SORT_SIGNIFICANCE:
		if (ch->is_series)
			return 1 - change->p;
		return ch->is_exact ? delta : fabs(change->z);
	case PPROF_SORT_DELTA:
		return ch->is_series ? fabs(change->slope) : delta;
	case PPROF_SORT_NAME:
		break;
	}
	return 0;
}

static int order_doubles(double a, double b)
{
	return (a < b) - (a > b);
}

/* Weight falling, then |delta| falling, then the name. */
static int compare_changes(const void *a, const void *b, void *ctx)
{
	const struct compare *c = ctx;
	const struct change *ca = a, *cb = b;
	int order = order_doubles(ca->weight, cb->weight);

	if (!order && (ca->weight > 0 || ca->weight < 0))
		order = order_doubles(fabs((double)ca->delta),
				      fabs((double)cb->delta));
	return order ? order : strtab_compare(&c->names, ca->row + 1,
					      cb->row + 1);
}

static enum pprof_status collect(struct changes *ch,
				 const struct pprof_comparison *cm,
				 struct trend_scratch *scratch, double *y,
				 struct pprof_error *err)
{
	const struct compare *c = &cm->compare;
	struct change change;
	uint32_t row;

	for (row = 0; row < c->nr_rows; row++) {
		if (is_unchanged(ch->values + row * c->nr_inputs,
				 c->nr_inputs)) {
			ch->nr_unchanged++;
			continue;
		}
		if (!fill_change(ch, c, row, scratch, y, &change))
			return error_nomem(err);
		if (!is_asked_for(ch, &change, &cm->opts)) {
			ch->nr_other++;
			continue;
		}
		change.weight = weigh(ch, &change, &cm->opts);
		ch->rows[ch->nr++] = change;
	}
	return PPROF_OK;
}

static bool are_exact(const struct compare *c)
{
	size_t i;

	for (i = 0; i < c->nr_inputs; i++)
		if (c->inputs[i].sampling != SAMPLING_EXACT)
			return false;
	return true;
}

static enum pprof_status make_changes(struct changes *ch,
				      const struct pprof_comparison *cm,
				      struct pprof_error *err)
{
	const struct compare *c = &cm->compare;
	const struct compare_input *first = &c->inputs[0];
	const struct compare_input *last = &c->inputs[c->nr_inputs - 1];
	struct trend_scratch scratch = { 0 };
	double *y = mem_alloc(c->nr_inputs, sizeof(*y));
	enum pprof_status status;

	ch->is_series = c->nr_inputs > 2;
	ch->is_exact = are_exact(c);
	ch->z = z_of((double)last->total - (double)first->total,
		     first->variance + last->variance);
	ch->rows = mem_alloc(c->nr_rows, sizeof(*ch->rows));
	if (!y || !ch->rows || !make_axis(ch, c) || !spread_cells(ch, cm))
		status = error_nomem(err);
	else
		status = collect(ch, cm, &scratch, y, err);
	mem_free(y);
	trend_scratch_fini(&scratch);
	return status;
}

enum pprof_status changes_init(struct changes *ch,
			       const struct pprof_comparison *cm,
			       struct pprof_error *err)
{
	enum pprof_status status;

	memset(ch, 0, sizeof(*ch));
	status = make_changes(ch, cm, err);
	if (status)
		return status;
	qsort_r(ch->rows, ch->nr, sizeof(*ch->rows), compare_changes,
		(void *)(uintptr_t)&cm->compare);
	if (cm->opts.limit && cm->opts.limit < ch->nr) {
		ch->nr_other += ch->nr - cm->opts.limit;
		ch->nr = cm->opts.limit;
	}
	return PPROF_OK;
}

void changes_fini(struct changes *ch)
{
	mem_free(ch->rows);
	mem_free(ch->x);
	mem_free(ch->values);
	mem_free(ch->variances);
	memset(ch, 0, sizeof(*ch));
}

/* ----------------------------------------------------------------- public */

enum pprof_status
pprof_comparison_new(const struct pprof_comparison_opts *opts,
		     struct pprof_comparison **ret_comparison,
		     struct pprof_error *err)
{
	struct pprof_comparison *cm = mem_zalloc(1, sizeof(*cm));
	enum pprof_status status;

	if (!cm)
		return error_nomem(err);
	status = opts_take(&cm->opts, sizeof(cm->opts), opts, err);
	if (!status && ((unsigned)cm->opts.granularity > PPROF_BY_MODULE ||
			(unsigned)cm->opts.sort > PPROF_SORT_NAME ||
			(unsigned)cm->opts.only > PPROF_CHANGES_SHRINK))
		status = error_plain(err, PPROF_USAGE, NULL,
				     "an option has a value that is not "
				     "known here");
	if (!status && !compare_init(&cm->compare))
		status = error_nomem(err);
	if (!status && cm->opts.sample_type) {
		cm->sample_type = mem_strndup(cm->opts.sample_type,
					      strlen(cm->opts.sample_type));
		if (!cm->sample_type)
			status = error_nomem(err);
	}
	if (status) {
		pprof_comparison_free(cm);
		return status;
	}
	*ret_comparison = cm;
	return PPROF_OK;
}

void pprof_comparison_free(struct pprof_comparison *cm)
{
	if (!cm)
		return;
	compare_fini(&cm->compare);
	mem_free(cm->sample_type);
	mem_free(cm);
}

enum pprof_status pprof_comparison_add(struct pprof_comparison *cm,
				       const struct pprof_profile *profile,
				       const char *name, int64_t sequence,
				       struct pprof_error *err)
{
	struct compare_opts opts = {
		.sample_type = cm->sample_type,
		.granularity = cm->opts.granularity,
		.no_inlines = cm->opts.no_inlines
	};

	return compare_add(&cm->compare, profile, &opts, name, sequence, err);
}

/* Let every input have the total of the first. */
static void normalize(struct compare *c)
{
	size_t i;

	for (i = 1; i < c->nr_inputs; i++)
		compare_scale(&c->inputs[i],
			      c->inputs[i].total
				      ? (double)c->inputs[0].total /
						(double)c->inputs[i].total
				      : 0);
}

enum pprof_status pprof_comparison_write(struct pprof_comparison *cm,
					 struct pprof_sink *sink,
					 struct pprof_error *err)
{
	enum pprof_status status;
	struct changes changes;

	if (cm->compare.nr_inputs < 2)
		return error_plain(err, PPROF_USAGE, NULL,
				   "a comparison needs two profiles");
	if (cm->compare.nr_inputs > 2)
		compare_sort(&cm->compare);
	if (cm->opts.normalize)
		normalize(&cm->compare);
	cm->opts.normalize = false;
	status = changes_init(&changes, cm, err);
	if (!status)
		status = cm->opts.json ? compare_write_json(cm, &changes,
							    sink, err)
				       : compare_write_text(cm, &changes,
							    sink, err);
	changes_fini(&changes);
	return status;
}
