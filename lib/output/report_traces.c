/* SPDX-License-Identifier: Apache-2.0
 *
 * Every sample with its labels and stack, laid out as `go tool pprof
 * -traces` does. One sample is in memory at a time.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/report_header.h"
#include "profile/tag_units.h"
#include "profile/total.h"
#include "view/frames.h"
#include "view/text.h"
#include "view/units.h"

#include <stdlib.h>
#include <string.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

#define SEPARATOR \
	"-----------+-------------------------------------------------------\n"

/* A line of labels within `lines`. */
struct label_line {
	size_t start;
	size_t end;
	const struct buf *lines;
};

struct traces {
	const struct pprof_profile *profile;
	const struct pprof_top_opts *opts;
	struct pprof_sink *sink;
	struct frames frames;
	struct buf names;         /* of all frames, masked, one by one */
	size_t *name_start;       /* [frames.nr + 1] into `names` */
	struct tag_units units;
	struct report_values values;
	loc_id *stack;            /* the sample's, leaf first */
	size_t cap_stack;
	struct label_line *order; /* of label lines */
	size_t cap_order;
	struct buf lines;
	struct buf cell;
	struct buf out;
};

static void add_label_value(struct traces *t, const struct label *label)
{
	const struct pprof_profile *p = t->profile;

	if (label->is_num)
		units_value(&t->lines, label->num,
			    tag_units_of(&t->units, p, label), UNIT_AUTO);
	else
		text_mask(&t->lines, profile_str(p, label->str),
			  strlen(profile_str(p, label->str)));
}

static bool same_key(const struct label *a, const struct label *b)
{
	return a->key == b->key && a->is_num == b->is_num;
}

/* The line of labels[at] and the others of its key; false: told before. */
static bool add_label_line(struct traces *t, const struct label *labels,
			   size_t nr, size_t at)
{
	const char *key = profile_str(t->profile, labels[at].key);
	size_t i;

	for (i = 0; i < at; i++)
		if (same_key(&labels[i], &labels[at]))
			return false;
	buf_reset(&t->cell);
	text_mask(&t->cell, key, strlen(key));
	report_add_right(&t->lines, &t->cell);
	buf_str(&t->lines, ": ");
	for (i = at; i < nr; i++) {
		if (!same_key(&labels[i], &labels[at]))
			continue;
		buf_byte(&t->lines, ' ');
		add_label_value(t, &labels[i]);
	}
	buf_byte(&t->lines, '\n');
	return true;
}

static int compare_lines(const void *a, const void *b)
{
	const struct label_line *la = a, *lb = b;
	size_t na = la->end - la->start, nb = lb->end - lb->start;
	int order = memcmp(la->lines->data + la->start,
			   lb->lines->data + lb->start, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

/* Texts, then numbers, each ordered as lines. False: out of memory. */
static bool add_labels(struct traces *t, lset_id id)
{
	const struct lset *lset = &t->profile->lsets[id];
	const struct label *labels = t->profile->labels + lset->labels;
	size_t i, nr;
	int is_num;

	if (!mem_grow(t->order, t->cap_order, lset->nr, UINT32_MAX))
		return false;
	for (is_num = 0; is_num < 2; is_num++) {
		buf_reset(&t->lines);
		nr = 0;
		for (i = 0; i < lset->nr; i++) {
			if ((int)labels[i].is_num != is_num)
				continue;
			t->order[nr].start = t->lines.len;
			t->order[nr].lines = &t->lines;
			if (!add_label_line(t, labels, lset->nr, i))
				continue;
			t->order[nr++].end = t->lines.len;
		}
		if (!buf_ok(&t->lines))
			return false;
		if (nr > 1)
			qsort(t->order, nr, sizeof(*t->order), compare_lines);
		for (i = 0; i < nr; i++)
			buf_add(&t->out, t->lines.data + t->order[i].start,
				t->order[i].end - t->order[i].start);
	}
	return true;
}

static int64_t sample_value(const struct traces *t, size_t sample)
{
	const struct pprof_profile *p = t->profile;
	int64_t value, divisor;

	if (!p->nr_types)
		return 0;
	value = p->values[t->values.column][sample];
	if (t->opts->mean) {
		divisor = p->values[0][sample];
		if (divisor && !(value == INT64_MIN && divisor == -1))
			value /= divisor;
	}
	return report_divided(value, t->opts->divide_by);
}

/* Mask each name once, not wherever it stands. False: out of memory. */
static bool mask_names(struct traces *t)
{
	const struct frames *f = &t->frames;
	size_t i;

	t->name_start = mem_alloc(f->nr + 1, sizeof(*t->name_start));
	if (!t->name_start)
		return false;
	for (i = 0; i < f->nr; i++) {
		t->name_start[i] = t->names.len;
		text_mask(&t->names, frame_name(f, (uint32_t)i),
			  frame_name_len(f, (uint32_t)i));
	}
	t->name_start[i] = t->names.len;
	return buf_ok(&t->names);
}

/* The first frame has the value in front of it, the others blanks. */
static void add_frame(struct traces *t, uint32_t step, bool first)
{
	static const char blanks[] = "             ";
	const size_t *start = &t->name_start[STEP_ROW(step)];

	if (first) {
		report_add_right(&t->out, &t->cell);
		buf_add(&t->out, blanks,
			sizeof(blanks) - 1 - REPORT_VALUE_CELLS);
	} else {
		buf_add(&t->out, blanks, sizeof(blanks) - 1);
	}
	buf_add(&t->out, t->names.data + start[0], start[1] - start[0]);
	if (STEP_INLINED(step))
		buf_add(&t->out, " (inline)", 9);
	buf_byte(&t->out, '\n');
}

/*
 * The locations of a stack, leaf first; in one walk up, for each node on the
 * way is likely to miss the cache. Returns how many, SIZE_MAX: no memory.
 */
static size_t take_stack(struct traces *t, stack_id id)
{
	const struct stacks *stacks = &t->profile->stacks;
	const struct stack_node *node;
	size_t nr = 0;
	uint32_t i;

	for (; id; id = node->parent) {
		node = &stacks->nodes[id];
		__builtin_prefetch(&stacks->nodes[node->parent]);
		if (!mem_grow(t->stack, t->cap_stack, nr + node->nr_locs,
			      SIZE_MAX / sizeof(loc_id)))
			return SIZE_MAX;
		for (i = node->nr_locs; i; i--)
			t->stack[nr++] = stacks->locs[node->run + i - 1];
	}
	return nr;
}

/* False when out of memory. */
static bool add_stack(struct traces *t, size_t sample)
{
	const struct pprof_profile *p = t->profile;
	size_t nr = take_stack(t, p->sample_stack[sample]), i;
	bool first = true;
	uint32_t step;

	if (nr == SIZE_MAX)
		return false;
	if (sample + 1 < p->nr_samples)
		__builtin_prefetch(&p->stacks.nodes
				   [p->sample_stack[sample + 1]]);
	buf_reset(&t->cell);
	units_value(&t->cell, sample_value(t, sample), t->values.unit,
		    t->values.to);
	if (!nr)
		add_frame(t, t->frames.no_stack << 1, true);
	for (i = 0; i < nr; i++)
		for (step = t->frames.loc_start[t->stack[i] + 1];
		     step-- > t->frames.loc_start[t->stack[i]];
		     first = false)
			add_frame(t, t->frames.loc_steps[step], first);
	return buf_ok(&t->cell);
}

static enum pprof_status add_samples(struct traces *t,
				     struct pprof_error *err)
{
	const struct pprof_profile *p = t->profile;
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && i < p->nr_samples; i++) {
		buf_str(&t->out, SEPARATOR);
		if ((p->sample_lset && !add_labels(t, p->sample_lset[i])) ||
		    !add_stack(t, i))
			return error_nomem(err);
		if (t->out.len >= CHUNK_BYTES)
			status = sink_take_buf(t->sink, &t->out, err);
	}
	buf_str(&t->out, SEPARATOR);
	return status ? status : sink_take_buf(t->sink, &t->out, err);
}

static enum pprof_status run(struct traces *t, struct pprof_error *err)
{
	struct frames_opts frames_opts = {
		.granularity = t->opts->granularity,
		.no_inlines = t->opts->no_inlines,
		.merge_unknown = true
	};
	enum pprof_status status;
	int64_t total;
	bool clamped;

	total = t->opts->total;
	if (!total)
		total = profile_shown_total(t->profile, t->values.column,
					    &clamped);
	status = frames_init(&t->frames, t->profile, &frames_opts, err);
	if (status)
		return status;
	if (!tag_units_init(&t->units, t->profile) || !mask_names(t)) {
		status = error_nomem(err);
	} else {
		report_header_add(&t->out, t->profile, t->opts,
				  &t->values, total);
		status = add_samples(t, err);
	}
	tag_units_fini(&t->units);
	frames_fini(&t->frames);
	return status;
}

enum pprof_status pprof_report_traces(const struct pprof_profile *profile,
				      const struct pprof_top_opts *opts,
				      struct pprof_sink *sink,
				      struct pprof_error *err)
{
	struct pprof_top_opts taken = PPROF_TOP_OPTS_INIT;
	struct traces t = { .profile = profile, .opts = &taken,
			    .sink = sink };
	enum pprof_status status = report_take(&t.values, &taken, profile,
					       opts, err);

	if (status)
		return status;
	buf_init(&t.names, PTRDIFF_MAX);
	buf_init(&t.lines, PTRDIFF_MAX);
	buf_init(&t.cell, PTRDIFF_MAX);
	buf_init(&t.out, PTRDIFF_MAX);
	status = run(&t, err);
	buf_fini(&t.names);
	buf_fini(&t.lines);
	buf_fini(&t.cell);
	buf_fini(&t.out);
	mem_free(t.name_start);
	mem_free(t.stack);
	mem_free(t.order);
	return status;
}
