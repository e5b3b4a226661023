/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the stacks gives the whole table: a node of the tree of
 * stacks carries the sum of what is below it, and adds that, when it is
 * left, to the frames that no node above it holds.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/total.h"
#include "view/table.h"

#include <stdlib.h>
#include <string.h>

/* A node on the present path. */
struct branch {
	__int128 sum;  /* of stacks at or below it */
	size_t nr_met; /* frames that the nodes above it hold */
};

/* The work of one table_init(). */
struct tabler {
	struct table *table;
	const struct frames *frames;
	const struct stacks *stacks;
	struct table_row *rows; /* [frames.nr] by frame */
	uint8_t *on_path;       /* [frames.nr] */
	uint32_t *met;          /* frames on the path, each once */
	size_t nr_met, cap_met;
	struct branch *path;
	size_t nr_path, cap_path;
};

static int64_t clamp_sum(struct table *table, __int128 value)
{
	int64_t clamped = clamp_i64(value);

	if (value != clamped)
		table->clamped = true;
	return clamped;
}

/* Room in `met` is there: see meet_run(). */
static inline void meet(struct tabler *t, uint32_t row)
{
	if (t->on_path[row])
		return;
	t->on_path[row] = 1;
	t->rows[row].row = 1; /* met; its number comes at the end */
	t->met[t->nr_met++] = row;
}

/* Put the frames of a node's run on the path; *ret_leaf is the last one. */
static bool meet_run(struct tabler *t, const struct stack_node *node,
		     uint32_t *ret_leaf)
{
	const loc_id *locs = t->stacks->locs + node->run;
	const struct frames *f = t->frames;
	uint32_t i, step, end;

	for (i = 0; i < node->nr_locs; i++) {
		step = f->loc_start[locs[i]];
		end = f->loc_start[locs[i] + 1];
		if (!mem_grow(t->met, t->cap_met, t->nr_met + (end - step),
			      SIZE_MAX / sizeof(*t->met)))
			return false;
		for (; step < end; step++)
			meet(t, STEP_ROW(f->loc_steps[step]));
		*ret_leaf = STEP_ROW(f->loc_steps[end - 1]);
	}
	return true;
}

static bool enter_node(struct tabler *t, stack_id id)
{
	const struct stack_node *node = &t->stacks->nodes[id];
	int64_t value = t->table->worth.values[id];
	uint32_t leaf = t->frames->no_stack;

	if (!mem_grow(t->path, t->cap_path, t->nr_path + 1, UINT32_MAX))
		return false;
	t->path[t->nr_path].sum = value;
	t->path[t->nr_path++].nr_met = t->nr_met;
	if (!meet_run(t, node, &leaf))
		return false;
	if (!value)
		return true;
	t->rows[leaf].flat = clamp_sum(t->table,
				       (__int128)t->rows[leaf].flat + value);
	if (!id) {
		t->rows[leaf].cum = value;
		t->rows[leaf].row = 1;
	}
	return true;
}

static void leave_node(struct tabler *t)
{
	struct branch *branch = &t->path[--t->nr_path];
	struct table_row *row;

	if (t->nr_path)
		branch[-1].sum += branch->sum;
	while (t->nr_met > branch->nr_met) {
		row = &t->rows[t->met[--t->nr_met]];
		row->cum = clamp_sum(t->table, row->cum + branch->sum);
		t->on_path[t->met[t->nr_met]] = 0;
	}
}

enum stack_event table_next_live(struct table *table, stack_id *ret_node)
{
	enum stack_event event;

	do {
		event = stack_walk_next(&table->walk, ret_node);
	} while (event != STACKS_END && !table->worth.live[*ret_node]);
	return event;
}

static bool walk_all(struct tabler *t)
{
	enum stack_event event;
	stack_id node;

	for (;;) {
		event = table_next_live(t->table, &node);
		if (event == STACKS_END)
			return !t->table->walk.failed;
		if (event == STACK_LEAVE)
			leave_node(t);
		else if (!enter_node(t, node))
			return false;
	}
}

/* Keep the rows of frames that were met. */
static void pack_rows(struct tabler *t, size_t nr_frames)
{
	struct table *table = t->table;
	size_t i;

	for (i = 0; i < nr_frames; i++) {
		if (!t->rows[i].row)
			continue;
		table->rows[table->nr] = t->rows[i];
		table->rows[table->nr++].row = (uint32_t)i;
	}
}

static bool walk_table(struct tabler *t)
{
	t->on_path = mem_zalloc(t->frames->nr, 1);
	t->rows = mem_zalloc(t->frames->nr, sizeof(*t->rows));
	t->table->rows = t->rows;
	if (!t->on_path || !t->rows || !walk_all(t))
		return false;
	pack_rows(t, t->frames->nr);
	return true;
}

enum pprof_status table_init(struct table *table, const struct frames *frames,
			     const struct pprof_profile *profile,
			     size_t sample_type, struct pprof_error *err)
{
	struct stack_values_opts opts = { .sample_type = sample_type };
	struct tabler t = { .table = table, .frames = frames,
			    .stacks = &profile->stacks };
	bool ok, clamped;

	memset(table, 0, sizeof(*table));
	ok = stack_values_init(&table->worth, profile, &opts) &&
	     stack_walk_init(&table->walk, t.stacks) && walk_table(&t);
	mem_free(t.on_path);
	mem_free(t.met);
	mem_free(t.path);
	if (!ok) {
		table_fini(table);
		return error_nomem(err);
	}
	table->total = profile_shown_total(profile, sample_type, &clamped);
	table->clamped |= clamped;
	return PPROF_OK;
}

void table_fini(struct table *table)
{
	mem_free(table->rows);
	stack_values_fini(&table->worth);
	stack_walk_fini(&table->walk);
	memset(table, 0, sizeof(*table));
}

size_t table_trim(struct table *table, double min_fraction)
{
	__int128 sum = 0;
	double cutoff;
	size_t nr = 0, dropped, i;

	for (i = 0; i < table->nr; i++)
		sum += table->rows[i].flat;
	cutoff = (double)(sum < 0 ? -sum : sum) * min_fraction;
	if (!(cutoff >= 1))
		return 0;
	for (i = 0; i < table->nr; i++)
		if (cutoff < 9e18 && magnitude_i64(table->rows[i].cum) >=
					     (uint64_t)cutoff)
			table->rows[nr++] = table->rows[i];
	dropped = table->nr - nr;
	table->nr = nr;
	return dropped;
}

/* Only INT64_MIN / -1 has no answer. */
static int64_t quotient(int64_t value, int64_t by)
{
	if (!by || (value == INT64_MIN && by == -1))
		return value;
	return value / by;
}

/* The row of `table`, which is in order of frames, for a frame; or NULL. */
static const struct table_row *find_row(const struct table *table,
					uint32_t frame)
{
	size_t low = 0, high = table->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->rows[middle].row < frame)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == table->nr || table->rows[low].row != frame)
		return NULL;
	return &table->rows[low];
}

void table_divide(struct table *table, const struct table *by)
{
	const struct table_row *divisor;
	size_t i;

	for (i = 0; i < table->nr; i++) {
		divisor = find_row(by, table->rows[i].row);
		if (!divisor)
			continue;
		table->rows[i].flat = quotient(table->rows[i].flat,
					       divisor->flat);
		table->rows[i].cum = quotient(table->rows[i].cum,
					      divisor->cum);
	}
	table->total = quotient(table->total, by->total);
}

void table_drop_negative(struct table *table)
{
	size_t nr = 0, i;

	for (i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];

		if (row->flat > 0 || (!row->flat && row->cum >= 0))
			table->rows[nr++] = *row;
	}
	table->nr = nr;
}

static int compare_magnitudes(int64_t a, int64_t b)
{
	uint64_t ma = magnitude_i64(a), mb = magnitude_i64(b);

	return (ma < mb) - (ma > mb);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct table_row *ra = a, *rb = b;
	bool by_cum = *(const bool *)ctx;
	int order = by_cum ? compare_magnitudes(ra->cum, rb->cum)
			   : compare_magnitudes(ra->flat, rb->flat);

	if (order)
		return order;
	/* Rows have distinct names, so that a third key is never needed. */
	return (ra->row > rb->row) - (ra->row < rb->row);
}

void table_sort(struct table *table, bool by_cum)
{
	qsort_r(table->rows, table->nr, sizeof(*table->rows), compare_rows,
		&by_cum);
}
