/* SPDX-License-Identifier: Apache-2.0
 *
 * Adding profiles to a merge, one at a time. What the result looks like is
 * settled in merge_finish.c.
 */
#include <config.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/opts.h"
#include "profile/stats.h"
#include "transform/graft.h"
#include "transform/merge.h"
#include "transform/types.h"

#include <math.h>

/* A column of the merge and where its values come from. */
struct column {
	size_t src;     /* in the input */
	int64_t factor; /* whole number to multiply with; 0: see scale */
	double scale;
};

/* The work of one merger_add(). */
struct adding {
	struct pprof_merger *merger;
	const struct merge_input *input;
	struct import import;
	struct column columns[SAMPLE_TYPES_MAX];
	map_id *maps;     /* [nr_mappings] row, ID_FAILED: not yet */
	loc_id *locs;     /* [nr_locations] 0: not yet */
	bool saturated;
};

static enum pprof_status tell_failure(const struct pprof_merger *m,
				      const char *name,
				      struct pprof_error *err)
{
	return error_plain(err, m->builder.status, name, "%s",
			   m->builder.message);
}

static enum pprof_status fail_nomem(struct pprof_merger *m,
				    struct pprof_error *err)
{
	m->builder.status = PPROF_NOMEM;
	return error_nomem(err);
}

/* ----------------------------------------------------------- sample types */

static const char *text_of(const struct pprof_merger *m, str_id id)
{
	return profile_str(m->builder.profile, id);
}

static void list_types(struct buf *out, const struct pprof_profile *p)
{
	size_t i;

	for (i = 0; i < p->nr_types; i++)
		buf_printf(out, "%s%s/%s", i ? ", " : "",
			   profile_str(p, p->types[i].type),
			   profile_str(p, p->types[i].unit));
}

/* Columns of the input for the types so far; how many there are. */
static size_t match_types(const struct pprof_merger *m,
			  const struct pprof_profile *p, size_t *ret_columns)
{
	size_t nr = 0, i;

	for (i = 0; i < m->nr_types; i++) {
		ret_columns[i] = type_find(p, text_of(m, m->types[i].stem),
					   text_of(m, m->types[i].unit));
		nr += ret_columns[i] != TYPE_NONE;
	}
	return nr;
}

static enum pprof_status no_common_type(const struct pprof_merger *m,
					const struct merge_input *input,
					struct pprof_error *err)
{
	enum pprof_status status;
	struct buf types;
	size_t i;

	buf_init(&types, 1024);
	list_types(&types, input->profile);
	buf_str(&types, "; the others, as ");
	buf_str(&types, m->first_name);
	buf_str(&types, ", ");
	for (i = 0; i < m->nr_types; i++)
		buf_printf(&types, "%s%s/%s", i ? ", " : "",
			   text_of(m, m->types[i].name),
			   text_of(m, m->types[i].unit));
	status = error_plain(err, PPROF_MISMATCH, input->name,
			     "no sample type in common: it has %s",
			     buf_cstr(&types));
	buf_fini(&types);
	return status;
}

/* Types of the first input, each once. */
static void take_types(struct pprof_merger *m, const struct pprof_profile *p)
{
	struct merged_type *type;
	const char *unit;
	size_t i;

	for (i = 0; i < p->nr_types; i++) {
		unit = profile_str(p, p->types[i].unit);
		if (type_find(p, type_stem(p, i), unit) != i)
			continue;
		type = &m->types[m->nr_types++];
		type->name = merger_str(m, profile_str(p, p->types[i].type));
		type->stem = merger_str(m, type_stem(p, i));
		type->unit = merger_str(m, unit);
		type->factor = unit_size_of(unit, strlen(unit)).factor;
		builder_type(&m->builder, type->name, type->unit);
	}
}

/* Take type k, which an input lacks, out of the merge. */
static void drop_type(struct pprof_merger *m, size_t k)
{
	struct pprof_profile *p = m->builder.profile;
	size_t last = --m->nr_types, i;

	mem_free(p->values[k]);
	mem_free(m->largest[k]);
	for (i = k; i < last; i++) {
		m->types[i] = m->types[i + 1];
		p->types[i] = p->types[i + 1];
		p->values[i] = p->values[i + 1];
		m->largest[i] = m->largest[i + 1];
	}
	p->values[last] = NULL;
	m->largest[last] = NULL;
	p->nr_types = last;
}

static void multiply_column(int64_t *values, size_t nr, int64_t factor,
			    bool *saturated)
{
	size_t i;

	for (i = 0; values && i < nr; i++)
		values[i] = multiply_saturated(values[i], factor, saturated);
}

/* Give type k the unit of an input where that is finer or better spelled. */
static void refine_type(struct adding *a, size_t k, const char *unit,
			double factor)
{
	struct pprof_merger *m = a->merger;
	struct merged_type *type = &m->types[k];
	int64_t ratio;

	if (factor < type->factor) {
		ratio = (int64_t)llround(type->factor / factor);
		multiply_column(m->builder.profile->values[k],
				m->builder.profile->nr_samples, ratio,
				&a->saturated);
		multiply_column(m->largest[k], m->nr_largest, ratio,
				&a->saturated);
	} else if (factor > type->factor ||
		   !unit_is_better(unit, text_of(m, type->unit))) {
		return;
	}
	type->unit = merger_str(m, unit);
	type->factor = factor;
}

/* How a column's values come over, given the input's unit and scale. */
static void set_column(struct adding *a, size_t k, double factor)
{
	const struct merge_input *input = a->input;
	struct column *column = &a->columns[k];
	double scale = factor / a->merger->types[k].factor;

	if (input->scale)
		scale *= input->scale[column->src];
	column->scale = scale;
	column->factor = 0;
	if (scale == floor(scale) && fabs(scale) < 0x1p62)
		column->factor = (int64_t)scale;
}

/* Bring the types of the merge and of the input together. */
static void unify_types(struct adding *a, size_t *columns)
{
	const struct pprof_profile *p = a->input->profile;
	struct pprof_merger *m = a->merger;
	const char *unit;
	double factor;
	size_t i = 0;

	while (i < m->nr_types) {
		if (columns[i] != TYPE_NONE) {
			i++;
			continue;
		}
		memmove(columns + i, columns + i + 1,
			(m->nr_types - i - 1) * sizeof(*columns));
		drop_type(m, i);
	}
	for (i = 0; i < m->nr_types; i++) {
		const char *name = profile_str(p, p->types[columns[i]].type);

		a->columns[i].src = columns[i];
		unit = profile_str(p, p->types[columns[i]].unit);
		factor = unit_size_of(unit, strlen(unit)).factor;
		refine_type(a, i, unit, factor);
		set_column(a, i, factor);
		/* "inuse_space" says more than "space". */
		if (strlen(name) > strlen(text_of(m, m->types[i].name)))
			m->types[i].name = merger_str(m, name);
	}
}

/* ----------------------------------------------------------------- header */

static void merge_default(struct pprof_merger *m,
			  const struct pprof_profile *p)
{
	const char *stem;

	if (!p->nr_types)
		return;
	stem = type_stem(p, profile_default_type(p));
	if (!m->default_stem)
		m->default_stem = merger_str(m, stem);
	else if (strcmp(text_of(m, m->default_stem), stem) != 0)
		m->defaults_differ = true;
}

/* Largest period; of two kinds of period the one with the smaller name. */
static void merge_period(struct adding *a)
{
	const struct pprof_profile *src = a->input->profile;
	const char *type = profile_str(src, src->period_type.type);
	const char *unit = profile_str(src, src->period_type.unit);
	double factor = unit_size_of(unit, strlen(unit)).factor;
	struct pprof_merger *m = a->merger;
	struct pprof_profile *p = m->builder.profile;
	int64_t period = src->period;
	int order;

	if (!period && !*type && !*unit)
		return;
	order = m->has_period ? strcmp(type, text_of(m, p->period_type.type))
			      : -1;
	if (!order && !units_fit(unit, text_of(m, p->period_type.unit)))
		order = strcmp(unit, text_of(m, p->period_type.unit));
	if (order > 0)
		return;
	if (!order && factor > m->period_factor) {
		period = multiply_saturated(period, (int64_t)llround(
			factor / m->period_factor), &a->saturated);
	} else if (order || factor < m->period_factor ||
		   unit_is_better(unit, text_of(m, p->period_type.unit))) {
		p->period = order ? 0 : multiply_saturated(
			p->period, (int64_t)llround(m->period_factor /
						    factor), &a->saturated);
		p->period_type.type = merger_str(m, type);
		p->period_type.unit = merger_str(m, unit);
		m->period_factor = factor;
	}
	if (order || period > p->period)
		p->period = period;
	m->has_period = true;
}

static uint64_t hash_comment(const void *ctx, uint32_t id)
{
	const struct pprof_profile *p = ctx;

	return hash_u64(p->comments[id]);
}

/* Each text once. What describes one dump does not describe the merge. */
static bool merge_comment(struct pprof_merger *m, const char *text)
{
	static const char of_one_dump[] = "# header: ";
	struct pprof_profile *p = m->builder.profile;
	str_id comment;
	size_t slot;

	if (!strncmp(text, of_one_dump, sizeof(of_one_dump) - 1))
		return true;
	comment = merger_str(m, text);
	if (comment == ID_FAILED ||
	    !idmap_reserve(&m->comment_index, hash_comment, p))
		return false;
	for (slot = idmap_first(&m->comment_index, hash_u64(comment));
	     m->comment_index.slots[slot] != IDMAP_FREE;
	     slot = idmap_next(&m->comment_index, slot))
		if (p->comments[m->comment_index.slots[slot]] == comment)
			return true;
	idmap_put(&m->comment_index, hash_u64(comment),
		  (uint32_t)p->nr_comments);
	builder_comment(&m->builder, comment);
	return !m->builder.status;
}

/* Of two texts the longer, then the smaller: any order gives the same. */
static void merge_text(struct pprof_merger *m, str_id *text, const char *other)
{
	if (*other && unit_is_better(other, text_of(m, *text)))
		*text = merger_str(m, other);
}

static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

static void merge_header(struct adding *a)
{
	const struct pprof_profile *src = a->input->profile;
	struct pprof_merger *m = a->merger;
	struct pprof_profile *p = m->builder.profile;
	size_t i;

	if (src->time_ns && (!p->time_ns || src->time_ns < p->time_ns))
		p->time_ns = src->time_ns;
	p->duration_ns = add_saturated(p->duration_ns, src->duration_ns);
	merge_period(a);
	merge_default(m, src);
	merge_text(m, &p->drop_frames, profile_str(src, src->drop_frames));
	merge_text(m, &p->keep_frames, profile_str(src, src->keep_frames));
	merge_text(m, &p->doc_url, profile_str(src, src->doc_url));
	for (i = 0; i < src->nr_comments; i++)
		if (!merge_comment(m, profile_str(src, src->comments[i])))
			m->builder.status = m->builder.status
						    ? m->builder.status
						    : PPROF_NOMEM;
}

/* ---------------------------------------------------------------- samples */

/* Row of mapping `id`, and what this input says about where it stands. */
static map_id map_row(struct adding *a, map_id id)
{
	struct pprof_merger *m = a->merger;
	const struct mapping *map = &a->input->profile->mappings[id];
	struct merged_row *row;

	if (!id)
		return 0;
	if (a->maps[id] == ID_FAILED) {
		a->maps[id] = merger_row(m, &a->import, map);
		if (a->maps[id] == ID_FAILED)
			return ID_FAILED;
		row = &m->rows[a->maps[id]];
		if (map->start < row->start)
			row->start = map->start;
	}
	return a->maps[id];
}

/* The lines of a location by which another build of it is recognized. */
static const struct line *strip_lines(struct adding *a,
				      const struct location *loc)
{
	struct line *lines = a->import.lines;
	struct builder *b = &a->merger->builder;
	struct function func;
	uint32_t i;

	for (i = 0; i < loc->nr_lines; i++) {
		func = b->profile->functions[lines[i].func];
		func.start_line = 0;
		lines[i].func = builder_function(b, &func);
		lines[i].line = 0;
		lines[i].column = 0;
	}
	return b->status ? NULL : lines;
}

static loc_id map_location(struct adding *a, loc_id id)
{
	const struct merge_input *input = a->input;
	const struct location *loc = &input->profile->locations[id];
	const struct line *lines = import_lines(&a->import, loc);
	struct location nowhere;
	map_id row;

	if (!lines)
		return ID_FAILED;
	if (input->names_only && input->names_only[loc->mapping] &&
	    loc->nr_lines) {
		nowhere = *loc;
		nowhere.address = 0;
		nowhere.is_folded = 0;
		lines = strip_lines(a, loc);
		return lines ? merger_location(a->merger, 0, NULL, &nowhere,
					       lines)
			     : ID_FAILED;
	}
	row = map_row(a, loc->mapping);
	if (row == ID_FAILED)
		return ID_FAILED;
	return merger_location(a->merger, row,
			       &input->profile->mappings[loc->mapping], loc,
			       lines);
}

/* Values of a sample as the merge has them; false when all are 0. */
static bool take_values(struct adding *a, size_t sample, int64_t *values)
{
	const struct pprof_profile *p = a->input->profile;
	int64_t any = 0;
	int saturated = 0;
	size_t i;

	for (i = 0; i < a->merger->nr_types; i++) {
		const struct column *column = &a->columns[i];
		int64_t value = p->values[column->src][sample];

		if (column->factor)
			values[i] = multiply_saturated(value, column->factor,
						       &a->saturated);
		else
			values[i] = stats_round((double)value * column->scale,
						&saturated);
		any |= values[i];
	}
	a->saturated |= saturated != 0;
	return any != 0;
}

/* What adding the samples needs for a while. */
struct placing {
	uint8_t *wanted;   /* [stacks.nr] 1: a sample with a value is below */
	stack_id *targets; /* [stacks.nr] stacks of the merge */
};

/* What only samples without a value lead to is not wanted. */
static void mark_wanted(struct adding *a, uint8_t *wanted)
{
	const struct pprof_profile *p = a->input->profile;
	int64_t values[SAMPLE_TYPES_MAX];
	stack_id id;
	size_t i;

	wanted[0] = 1;
	for (i = 0; i < p->nr_samples; i++) {
		if (!take_values(a, i, values))
			continue;
		for (id = p->sample_stack[i]; !wanted[id];
		     id = p->stacks.nodes[id].parent)
			wanted[id] = 1;
	}
}

/* Rows of the merge for all locations of wanted stacks. */
static bool map_locations(struct adding *a, const uint8_t *wanted)
{
	const struct stacks *stacks = &a->input->profile->stacks;
	const struct stack_node *node;
	const loc_id *locs;
	size_t i, j;

	for (i = 1; i < stacks->nr; i++) {
		if (!wanted[i])
			continue;
		node = &stacks->nodes[i];
		locs = stacks->locs + node->run;
		for (j = 0; j < node->nr_locs; j++) {
			if (a->locs[locs[j]])
				continue;
			a->locs[locs[j]] = map_location(a, locs[j]);
			if (a->locs[locs[j]] == ID_FAILED)
				return false;
		}
	}
	return true;
}

static void place_samples(struct adding *a, const stack_id *targets)
{
	const struct pprof_profile *p = a->input->profile;
	struct builder *b = &a->merger->builder;
	int64_t values[SAMPLE_TYPES_MAX];
	lset_id lset;
	size_t i;

	for (i = 0; i < p->nr_samples && !b->status; i++) {
		if (!take_values(a, i, values))
			continue;
		lset = import_lset(&a->import,
				   p->sample_lset ? p->sample_lset[i] : 0);
		builder_sample(b, targets[p->sample_stack[i]], lset, values,
			       PPROF_UNIT_NONE, 0);
	}
}

static void add_samples(struct adding *a)
{
	const struct stacks *stacks = &a->input->profile->stacks;
	struct builder *b = &a->merger->builder;
	struct placing placing;

	placing.wanted = mem_zalloc(stacks->nr, 1);
	placing.targets = mem_alloc(stacks->nr, sizeof(*placing.targets));
	if (!placing.wanted || !placing.targets) {
		b->status = b->status ? b->status : PPROF_NOMEM;
	} else {
		mark_wanted(a, placing.wanted);
		if (map_locations(a, placing.wanted) &&
		    graft_stacks(stacks, placing.wanted, a->locs, b,
				 placing.targets))
			place_samples(a, placing.targets);
	}
	mem_free(placing.wanted);
	mem_free(placing.targets);
}

/* PPROF_MERGE_MAX: move the input's sums over to the largest ones. */
static bool keep_largest(struct pprof_merger *m)
{
	struct pprof_profile *p = m->builder.profile;
	size_t i, j, cap;

	for (i = 0; i < m->nr_types; i++) {
		int64_t *sums = p->values[i];

		cap = m->cap_largest;
		if (!mem_grow(m->largest[i], cap, p->nr_samples + 1,
			      UINT32_MAX))
			return false;
		for (j = m->nr_largest; j < p->nr_samples; j++)
			m->largest[i][j] = INT64_MIN;
		for (j = 0; j < p->nr_samples; j++) {
			if (sums[j] && sums[j] > m->largest[i][j])
				m->largest[i][j] = sums[j];
			sums[j] = 0;
		}
		if (i + 1 == m->nr_types)
			m->cap_largest = cap;
	}
	m->nr_largest = p->nr_samples;
	return true;
}

/* The main binary: the first mapping, or the one that is marked. */
static void merge_main(struct adding *a)
{
	const struct pprof_profile *p = a->input->profile;
	struct merged_row *row;
	map_id id;
	size_t i;

	for (i = 1; i < p->nr_mappings; i++) {
		if (!(p->mappings[i].flags & MAP_MAIN))
			continue;
		id = a->maps[i];
		if (id == ID_FAILED)
			id = merger_row(a->merger, &a->import,
					&p->mappings[i]);
		if (id == ID_FAILED)
			return;
		row = &a->merger->rows[id];
		if (p->mappings[i].start < row->main_start)
			row->main_start = p->mappings[i].start;
	}
}

static bool init_adding(struct adding *a)
{
	const struct pprof_profile *p = a->input->profile;

	a->maps = mem_alloc(p->nr_mappings, sizeof(*a->maps));
	a->locs = mem_zalloc(p->nr_locations, sizeof(*a->locs));
	if (!a->maps || !a->locs ||
	    !import_init(&a->import, p, &a->merger->builder))
		return false;
	memset(a->maps, 0xff, p->nr_mappings * sizeof(*a->maps));
	a->import.extra = a->input->extra;
	return true;
}

static void run_adding(struct adding *a, size_t *columns)
{
	struct pprof_merger *m = a->merger;

	if (!m->nr_types) {
		take_types(m, a->input->profile);
		match_types(m, a->input->profile, columns);
	}
	unify_types(a, columns);
	merge_header(a);
	add_samples(a);
	merge_main(a);
	if (!m->builder.status &&
	    (!merger_join_images(m, a->input) ||
	     (m->opts.mode == PPROF_MERGE_MAX && !keep_largest(m))) &&
	    !m->builder.status)
		m->builder.status = PPROF_NOMEM;
	if (a->saturated)
		diag_count(&m->diags, PPROF_UNIT_NONE, 0, "a value does not "
			   "fit 64 bits; it stays at the limit");
}

enum pprof_status merger_add(struct pprof_merger *m,
			     const struct merge_input *input,
			     struct pprof_error *err)
{
	struct adding a = { .merger = m, .input = input };
	size_t columns[SAMPLE_TYPES_MAX];

	if (m->builder.status)
		return tell_failure(m, input->name, err);
	if (!input->profile->nr_types) {
		/* Nothing was measured: it has no say. */
		m->nr_inputs++;
		return PPROF_OK;
	}
	if (m->nr_types && !match_types(m, input->profile, columns))
		return no_common_type(m, input, err);
	if (!m->first_name)
		m->first_name = mem_strndup(input->name, strlen(input->name));
	if (!m->first_name || !init_adding(&a))
		fail_nomem(m, NULL);
	else
		run_adding(&a, columns);
	import_fini(&a.import);
	mem_free(a.maps);
	mem_free(a.locs);
	if (m->builder.status == PPROF_NOMEM)
		return error_nomem(err);
	if (m->builder.status)
		return tell_failure(m, input->name, err);
	m->nr_inputs++;
	return PPROF_OK;
}

/* ----------------------------------------------------------------- public */

static enum pprof_status take_opts(struct pprof_merger *m,
				   const struct pprof_merge_opts *opts,
				   struct pprof_error *err)
{
	enum pprof_status status = opts_take(&m->opts, sizeof(m->opts), opts,
					     err);

	if (status)
		return status;
	if ((unsigned)m->opts.mode > PPROF_MERGE_MAX)
		return error_plain(err, PPROF_USAGE, NULL,
				   "merge mode unknown");
	pprof_limits_init(&m->limits);
	if (m->opts.limits)
		m->limits = *m->opts.limits;
	if (!m->opts.label_key)
		return PPROF_OK;
	m->label_key = mem_strndup(m->opts.label_key,
				   strlen(m->opts.label_key));
	return m->label_key ? PPROF_OK : error_nomem(err);
}

enum pprof_status pprof_merger_new(const struct pprof_merge_opts *opts,
				   struct pprof_merger **ret_merger,
				   struct pprof_error *err)
{
	struct pprof_merger *m = mem_zalloc(1, sizeof(*m));
	enum pprof_status status;

	if (!m)
		return error_nomem(err);
	status = take_opts(m, opts, err);
	diags_init(&m->diags, NULL);
	if (!status && !builder_init(&m->builder, &m->limits, &m->diags))
		status = error_nomem(err);
	if (!status && !mem_grow(m->rows, m->cap_rows, 1, UINT32_MAX))
		status = error_nomem(err);
	if (status) {
		pprof_merger_free(m);
		return status;
	}
	memset(m->rows, 0, sizeof(*m->rows));
	m->nr_rows = 1;
	*ret_merger = m;
	return PPROF_OK;
}

void pprof_merger_free(struct pprof_merger *m)
{
	size_t i;

	if (!m)
		return;
	builder_fini(&m->builder);
	for (i = 0; i < SAMPLE_TYPES_MAX; i++)
		mem_free(m->largest[i]);
	idmap_fini(&m->row_index);
	idmap_fini(&m->loc_index);
	idmap_fini(&m->comment_index);
	mem_free(m->rows);
	mem_free(m->kinds);
	mem_free(m->image_parent);
	mem_free(m->image_input);
	mem_free(m->first_name);
	mem_free(m->label_key);
	mem_free(m);
}

enum pprof_status pprof_merger_add(struct pprof_merger *merger,
				   const struct pprof_profile *profile,
				   const char *name, struct pprof_error *err)
{
	struct merge_input input = { .profile = profile, .name = name };
	struct label label = { 0 };

	if (merger->label_key) {
		label.key = merger_str(merger, merger->label_key);
		label.str = merger_str(merger, name);
		input.extra = &label;
	}
	return merger_add(merger, &input, err);
}

enum pprof_status
pprof_profile_merge(const struct pprof_profile *const *profiles,
		    const char *const *names, size_t nr,
		    const struct pprof_merge_opts *opts,
		    struct pprof_profile **ret_profile,
		    struct pprof_error *err)
{
	struct pprof_merger *merger = NULL;
	enum pprof_status status = pprof_merger_new(opts, &merger, err);
	size_t i;

	for (i = 0; !status && i < nr; i++)
		status = pprof_merger_add(merger, profiles[i], names[i], err);
	if (!status)
		status = pprof_merger_finish(merger, ret_profile, err);
	pprof_merger_free(merger);
	return status;
}
