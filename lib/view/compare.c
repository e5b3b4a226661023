/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins tables of several profiles by name. Variances take the way that
 * values take, as a column of whole numbers of 1/2^VARIANCE_BITS of a step.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/stats.h"
#include "view/compare.h"
#include "view/table.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>

#define VARIANCE_BITS 16

#define MAX_ROWS ((size_t)UINT32_MAX - 2)

/* Bytes of all names together. */
#define NAMES_BYTES_MAX (UINT64_C(4) << 30)

bool compare_init(struct compare *compare)
{
	memset(compare, 0, sizeof(*compare));
	return strtab_init(&compare->names, NAMES_BYTES_MAX);
}

static void fini_input(struct compare_input *input)
{
	mem_free(input->name);
	mem_free(input->cells);
}

void compare_fini(struct compare *compare)
{
	size_t i;

	for (i = 0; i < compare->nr_inputs; i++)
		fini_input(&compare->inputs[i]);
	mem_free(compare->inputs);
	mem_free(compare->type);
	mem_free(compare->unit);
	strtab_fini(&compare->names);
	memset(compare, 0, sizeof(*compare));
}

/* The work of one compare_add(). */
struct adding {
	struct compare *compare;
	const struct pprof_profile *profile;
	size_t type;
	struct frames frames;
	struct table values;
	struct table variances;
	double step; /* of the variances */
	struct compare_input input;
};

/* The table of the variances: the profile with another column. */
static enum pprof_status tabulate_variances(struct adding *a,
					    const struct sampling *sampling,
					    struct pprof_error *err)
{
	struct pprof_profile shadow = *a->profile;
	size_t nr = shadow.nr_samples, i;
	int64_t *column = mem_alloc(nr, sizeof(*column));
	enum pprof_status status;
	int saturated = 0;
	double variance;

	if (!column)
		return error_nomem(err);
	a->step = ldexp(fmax(sampling->rate, 1), -VARIANCE_BITS);
	for (i = 0; i < nr; i++) {
		variance = sampling_variance(sampling, a->profile, i);
		a->input.variance += variance;
		column[i] = stats_round(variance / a->step, &saturated);
	}
	shadow.values[a->type] = column;
	status = table_init(&a->variances, &a->frames, &shadow, a->type, err);
	mem_free(column);
	return status;
}

/* Row of a frame's name, added when new; UINT32_MAX: out of memory. */
static uint32_t name_row(struct adding *a, uint32_t frame)
{
	struct compare *c = a->compare;
	str_id id;

	id = strtab_add(&c->names, frame_name(&a->frames, frame),
			frame_name_len(&a->frames, frame));
	if (id == STR_NONE)
		return UINT32_MAX;
	c->nr_rows = c->names.nr - 1;
	return id - 1;
}

static int compare_cells(const void *a, const void *b)
{
	const struct compare_cell *ca = a, *cb = b;

	return (ca->row > cb->row) - (ca->row < cb->row);
}

static bool make_cells(struct adding *a)
{
	struct compare_cell *cells = mem_zalloc(a->values.nr, sizeof(*cells));
	const struct table_row *variances = a->variances.rows;
	size_t i, j = 0;

	a->input.cells = cells;
	if (!cells)
		return false;
	for (i = 0; i < a->values.nr; i++) {
		const struct table_row *row = &a->values.rows[i];

		while (j < a->variances.nr && variances[j].row < row->row)
			j++;
		cells[i].row = name_row(a, row->row);
		if (cells[i].row == UINT32_MAX)
			return false;
		cells[i].value[0] = row->flat;
		cells[i].value[1] = row->cum;
		if (j == a->variances.nr || variances[j].row != row->row)
			continue;
		cells[i].variance[0] = (double)variances[j].flat * a->step;
		cells[i].variance[1] = (double)variances[j].cum * a->step;
	}
	a->input.nr = a->values.nr;
	qsort(cells, a->input.nr, sizeof(*cells), compare_cells);
	return true;
}

static enum pprof_status tabulate(struct adding *a,
				  const struct compare_opts *opts,
				  struct pprof_error *err)
{
	struct frames_opts frames_opts = {
		.granularity = opts->granularity,
		.no_inlines = opts->no_inlines,
		.merge_unknown = true
	};
	struct sampling sampling = sampling_of(a->profile, a->type);
	enum pprof_status status;

	a->input.sampling = sampling.kind;
	a->input.rate = sampling.kind ? sampling.rate : 0;
	status = frames_init(&a->frames, a->profile, &frames_opts, err);
	if (!status)
		status = table_init(&a->values, &a->frames, a->profile,
				    a->type, err);
	if (!status && sampling.kind)
		status = tabulate_variances(a, &sampling, err);
	if (!status && !make_cells(a))
		status = error_nomem(err);
	table_fini(&a->values);
	table_fini(&a->variances);
	frames_fini(&a->frames);
	return status;
}

/* Values in the first input's unit. */
static enum pprof_status convert_unit(struct adding *a, const char *unit,
				      struct pprof_error *err)
{
	const char *to = a->compare->unit, *name, *name_to;
	double have, want;

	if (!strcmp(unit, to))
		return PPROF_OK;
	have = units_scale(1, unit, unit, &name);
	want = units_scale(1, unit, to, &name_to);
	units_scale(1, to, to, &name);
	if (strcmp(name, name_to) != 0 || !(want > 0))
		return error_plain(err, PPROF_MISMATCH, a->input.name,
				   "values are in %s, those of %s in %s",
				   unit, a->compare->inputs[0].name, to);
	compare_scale(&a->input, want / have);
	return PPROF_OK;
}

static enum pprof_status pick_type(struct adding *a,
				   const struct compare_opts *opts,
				   struct pprof_error *err)
{
	const char *type = opts->sample_type;

	/* Without a choice all follow the first. */
	if (!type && a->compare->type && *a->compare->type)
		type = a->compare->type;
	if (!a->profile->nr_types)
		return error_plain(err, PPROF_MISMATCH, a->input.name,
				   "it has no sample type");
	if (type)
		return pprof_profile_find_sample_type(a->profile, type,
						      &a->type, err);
	a->type = profile_default_type(a->profile);
	return PPROF_OK;
}

static bool keep_type(struct compare *c, const char *type, const char *unit)
{
	if (c->type)
		return true;
	c->type = mem_strndup(type, strlen(type));
	c->unit = mem_strndup(unit, strlen(unit));
	return c->type && c->unit;
}

static enum pprof_status run_adding(struct adding *a,
				    const struct compare_opts *opts,
				    struct pprof_error *err)
{
	const struct pprof_profile *p = a->profile;
	enum pprof_status status = pick_type(a, opts, err);
	const char *unit;

	if (!status)
		status = tabulate(a, opts, err);
	if (status)
		return status;
	unit = profile_str(p, p->types[a->type].unit);
	a->input.total = profile_column_total(p, a->type, NULL);
	if (!keep_type(a->compare, profile_str(p, p->types[a->type].type),
		       unit))
		return error_nomem(err);
	status = convert_unit(a, unit, err);
	if (status)
		return status;
	a->compare->inputs[a->compare->nr_inputs++] = a->input;
	memset(&a->input, 0, sizeof(a->input));
	return PPROF_OK;
}

enum pprof_status compare_add(struct compare *c,
			      const struct pprof_profile *profile,
			      const struct compare_opts *opts,
			      const char *name, int64_t sequence,
			      struct pprof_error *err)
{
	struct adding a = { .compare = c, .profile = profile };
	enum pprof_status status;

	a.input.time_ns = profile->time_ns;
	a.input.sequence = sequence;
	a.input.place = c->nr_inputs;
	a.input.name = mem_strndup(name, strlen(name));
	if (!a.input.name ||
	    !mem_grow(c->inputs, c->cap_inputs, c->nr_inputs + 1, MAX_ROWS))
		status = error_nomem(err);
	else
		status = run_adding(&a, opts, err);
	fini_input(&a.input);
	return status;
}

void compare_scale(struct compare_input *input, double factor)
{
	int saturated = 0;
	size_t i, j;

	input->total = stats_round((double)input->total * factor, &saturated);
	input->variance *= factor * factor;
	for (i = 0; i < input->nr; i++) {
		for (j = 0; j < 2; j++) {
			struct compare_cell *cell = &input->cells[i];

			cell->value[j] = stats_round((double)cell->value[j] *
						     factor, &saturated);
			cell->variance[j] *= factor * factor;
		}
	}
}

static int order_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_by_sequence(const void *a, const void *b)
{
	const struct compare_input *ia = a, *ib = b;
	int order = order_i64(ia->sequence, ib->sequence);

	return order ? order
		     : order_i64((int64_t)ia->place, (int64_t)ib->place);
}

static int compare_by_time(const void *a, const void *b)
{
	const struct compare_input *ia = a, *ib = b;
	int order = order_i64(ia->time_ns, ib->time_ns);

	return order ? order
		     : order_i64((int64_t)ia->place, (int64_t)ib->place);
}

void compare_sort(struct compare *c)
{
	bool has_sequence = true, has_time = true;
	size_t i;

	for (i = 0; i < c->nr_inputs; i++) {
		has_sequence &= c->inputs[i].sequence >= 0;
		has_time &= c->inputs[i].time_ns != 0;
	}
	if (has_sequence)
		qsort(c->inputs, c->nr_inputs, sizeof(*c->inputs),
		      compare_by_sequence);
	else if (has_time)
		qsort(c->inputs, c->nr_inputs, sizeof(*c->inputs),
		      compare_by_time);
}
