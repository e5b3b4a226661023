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

/*
 * The next event of a node that holds a value or has one below: what is not
 * live has nothing live below it, and adds nothing.
 */
static enum stack_event next_live(struct table *table, stack_id *ret_node)
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
		event = next_live(t->table, &node);
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

/* Calls from one frame that is shown to another. */
struct edge {
	uint32_t caller;
	uint32_t callee;
	bool called; /* some of them were no inlined code */
};

/* The work of one table_mark_inlined(). */
struct marker {
	const struct frames *frames;
	struct table_row **by_row; /* [frames.nr] NULL: not shown */
	uint8_t *is_inlined;       /* [frames.nr] some location inlines it */
	uint8_t *loc_shown;        /* [nr_locations] it has a shown frame */
	struct edge *edges;
	size_t nr_edges, cap_edges;
	struct idmap map;
	uint32_t *path;            /* frames on it that are shown */
	size_t nr_path, cap_path;
	size_t *marks;             /* length of `path` at each node's start */
	size_t nr_marks, cap_marks;
};

static uint64_t hash_edge(const void *ctx, uint32_t id)
{
	const struct edge *edge = (const struct edge *)ctx + id;

	return hash_u64((uint64_t)edge->caller << 32 | edge->callee);
}

static bool add_edge(struct marker *m, const struct edge *edge)
{
	uint64_t hash = hash_edge(edge, 0);
	struct edge *old;
	size_t slot;

	if (!idmap_reserve(&m->map, hash_edge, m->edges))
		return false;
	for (slot = idmap_first(&m->map, hash);
	     m->map.slots[slot] != IDMAP_FREE;
	     slot = idmap_next(&m->map, slot)) {
		old = &m->edges[m->map.slots[slot]];
		if (old->caller != edge->caller ||
		    old->callee != edge->callee)
			continue;
		old->called = old->called || edge->called;
		return true;
	}
	if (!mem_grow(m->edges, m->cap_edges, m->nr_edges + 1, UINT32_MAX))
		return false;
	idmap_put(&m->map, hash, (uint32_t)m->nr_edges);
	m->edges[m->nr_edges++] = *edge;
	return true;
}

/* Go on to a frame; its nearest shown ancestor counts as its caller. */
static bool mark_frame(struct marker *m, uint32_t step)
{
	struct edge edge = { .callee = STEP_ROW(step),
			     .called = !STEP_INLINED(step) };

	if (!m->by_row[edge.callee])
		return true;
	if (m->nr_path && m->is_inlined[edge.callee]) {
		edge.caller = m->path[m->nr_path - 1];
		if (edge.caller != edge.callee && !add_edge(m, &edge))
			return false;
	}
	if (!mem_grow(m->path, m->cap_path, m->nr_path + 1, UINT32_MAX))
		return false;
	m->path[m->nr_path++] = edge.callee;
	return true;
}

static bool mark_node(struct marker *m, const struct stacks *stacks,
		      stack_id id)
{
	const struct stack_node *node = &stacks->nodes[id];
	const struct frames *f = m->frames;
	const loc_id *locs = stacks->locs + node->run;
	uint32_t i, step;

	if (!mem_grow(m->marks, m->cap_marks, m->nr_marks + 1, UINT32_MAX))
		return false;
	m->marks[m->nr_marks++] = m->nr_path;
	for (i = 0; i < node->nr_locs; i++) {
		if (!m->loc_shown[locs[i]])
			continue;
		for (step = f->loc_start[locs[i]];
		     step < f->loc_start[locs[i] + 1]; step++)
			if (!mark_frame(m, f->loc_steps[step]))
				return false;
	}
	return true;
}

static void mark_rows(struct marker *m)
{
	struct table_row *row;
	size_t i;

	for (i = 0; i < m->nr_edges; i++) {
		row = m->by_row[m->edges[i].callee];
		if (m->edges[i].called)
			row->called = true;
		else
			row->inlined = true;
	}
}

static bool mark_all(struct marker *m, struct table *table,
		     const struct stacks *stacks)
{
	enum stack_event event;
	stack_id node;

	stack_walk_rewind(&table->walk);
	for (;;) {
		event = next_live(table, &node);
		if (event == STACKS_END)
			break;
		if (event == STACK_LEAVE)
			m->nr_path = m->marks[--m->nr_marks];
		else if (!mark_node(m, stacks, node))
			return false;
	}
	mark_rows(m);
	return !table->walk.failed;
}

/* What the table shows, as look-ups; *ret_any: some of it can be inlined. */
static bool list_rows(struct marker *m, struct table *table,
		      size_t nr_locations, bool *ret_any)
{
	const struct frames *f = m->frames;
	uint32_t step, row;
	size_t i;

	m->by_row = mem_zalloc(f->nr, sizeof(*m->by_row));
	m->is_inlined = mem_zalloc(f->nr, 1);
	m->loc_shown = mem_zalloc(nr_locations, 1);
	if (!m->by_row || !m->is_inlined || !m->loc_shown)
		return false;
	for (i = 0; i < table->nr; i++)
		m->by_row[table->rows[i].row] = &table->rows[i];
	*ret_any = false;
	for (i = 1; i < nr_locations; i++) {
		for (step = f->loc_start[i]; step < f->loc_start[i + 1];
		     step++) {
			row = STEP_ROW(f->loc_steps[step]);
			if (!m->by_row[row])
				continue;
			m->loc_shown[i] = 1;
			if (!STEP_INLINED(f->loc_steps[step]))
				continue;
			m->is_inlined[row] = 1;
			*ret_any = true;
		}
	}
	return true;
}

enum pprof_status table_mark_inlined(struct table *table,
				     const struct frames *frames,
				     const struct pprof_profile *profile,
				     struct pprof_error *err)
{
	struct marker m;
	bool ok, any;

	memset(&m, 0, sizeof(m));
	m.frames = frames;
	ok = list_rows(&m, table, profile->nr_locations, &any) &&
	     (!any || mark_all(&m, table, &profile->stacks));
	mem_free(m.by_row);
	mem_free(m.is_inlined);
	mem_free(m.loc_shown);
	mem_free(m.edges);
	mem_free(m.path);
	mem_free(m.marks);
	idmap_fini(&m.map);
	return ok ? PPROF_OK : error_nomem(err);
}
