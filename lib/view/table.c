/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the call tree gives the whole table: an open branch carries
 * the sum of what is below it, and the outermost branch of a frame, once
 * closed, is what the frame's recursion counts for.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/total.h"
#include "view/table.h"

#include <stdlib.h>
#include <string.h>

/* A frame on the present path. */
struct branch {
	__int128 sum;   /* of stacks at or below it */
	uint32_t row;
	bool outermost; /* no frame like it is above */
};

/* The work of one table_init(). */
struct tabler {
	struct table *table;
	struct table_row *rows; /* [frames.nr] by frame */
	uint8_t *on_path;       /* [frames.nr] */
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

static void close_branch(struct tabler *t)
{
	struct branch *branch = &t->path[--t->nr_path];
	struct table_row *row = &t->rows[branch->row];

	if (t->nr_path)
		branch[-1].sum += branch->sum;
	if (!branch->outermost)
		return;
	row->cum = clamp_sum(t->table, row->cum + branch->sum);
	t->on_path[branch->row] = 0;
}

static bool open_branch(struct tabler *t, const struct walk_node *node)
{
	struct table_row *row = &t->rows[node->row];
	struct branch *branch;

	if (!mem_grow(t->path, t->cap_path, t->nr_path + 1, UINT32_MAX))
		return false;
	row->flat = clamp_sum(t->table, (__int128)row->flat + node->self);
	branch = &t->path[t->nr_path++];
	branch->sum = node->self;
	branch->row = node->row;
	branch->outermost = !t->on_path[node->row];
	t->on_path[node->row] = 1;
	row->row = 1; /* met; its number comes at the end */
	return true;
}

static bool walk_all(struct tabler *t, struct walk *walk)
{
	struct walk_node node;

	while (walk_next(walk, &node)) {
		while (t->nr_path >= node.depth)
			close_branch(t);
		if (!open_branch(t, &node))
			return false;
	}
	while (t->nr_path)
		close_branch(t);
	return !walk->failed;
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

static enum pprof_status walk_table(struct tabler *t, struct walk *walk,
				    struct pprof_error *err)
{
	t->on_path = mem_zalloc(walk->frames->nr, 1);
	t->rows = mem_zalloc(walk->frames->nr, sizeof(*t->rows));
	t->table->rows = t->rows;
	if (!t->on_path || !t->rows || !walk_all(t, walk))
		return error_nomem(err);
	pack_rows(t, walk->frames->nr);
	return PPROF_OK;
}

enum pprof_status table_init(struct table *table, const struct frames *frames,
			     const struct pprof_profile *profile,
			     size_t sample_type, struct pprof_error *err)
{
	struct walk_opts opts = { .sample_type = sample_type };
	struct tabler t = { .table = table };
	enum pprof_status status;
	struct walk walk;
	bool clamped;

	memset(table, 0, sizeof(*table));
	status = walk_init(&walk, frames, profile, &opts, err);
	if (status)
		return status;
	status = walk_table(&t, &walk, err);
	if (status) {
		table_fini(table);
	} else {
		table->total = profile_shown_total(profile, sample_type,
						   &clamped);
		table->clamped |= clamped;
	}
	walk_fini(&walk);
	mem_free(t.on_path);
	mem_free(t.path);
	return status;
}

void table_fini(struct table *table)
{
	mem_free(table->rows);
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

/* A frame on the present path that is shown. */
struct shown {
	uint32_t depth;
	uint32_t row;
};

/* The work of one table_mark_inlined(). */
struct marker {
	struct table_row **by_row; /* [frames.nr] NULL: not shown */
	uint8_t *is_inlined;       /* [frames.nr] some location inlines it */
	struct edge *edges;
	size_t nr_edges, cap_edges;
	struct idmap map;
	struct shown *path;
	size_t nr_path, cap_path;
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

/* Go on to a node; its nearest shown ancestor counts as its caller. */
static bool mark_node(struct marker *m, const struct walk_node *node)
{
	struct edge edge = { .callee = node->row, .called = node->called };

	while (m->nr_path && m->path[m->nr_path - 1].depth >= node->depth)
		m->nr_path--;
	if (!m->by_row[node->row])
		return true;
	if (m->nr_path && m->is_inlined[node->row]) {
		edge.caller = m->path[m->nr_path - 1].row;
		if (edge.caller != edge.callee && !add_edge(m, &edge))
			return false;
	}
	if (!mem_grow(m->path, m->cap_path, m->nr_path + 1, UINT32_MAX))
		return false;
	m->path[m->nr_path].depth = node->depth;
	m->path[m->nr_path++].row = node->row;
	return true;
}

static bool mark_rows(struct marker *m, struct walk *walk)
{
	struct table_row *row;
	struct walk_node node;
	size_t i;

	while (walk_next(walk, &node))
		if (!mark_node(m, &node))
			return false;
	for (i = 0; i < m->nr_edges; i++) {
		row = m->by_row[m->edges[i].callee];
		if (m->edges[i].called)
			row->called = true;
		else
			row->inlined = true;
	}
	return !walk->failed;
}

/* False when out of memory; *ret_any: some row can be inlined at all. */
static bool list_rows(struct marker *m, struct table *table,
		      const struct walk *walk, bool *ret_any)
{
	const struct frames *f = walk->frames;
	size_t nr = f->loc_start[walk->profile->nr_locations], i;

	m->by_row = mem_zalloc(f->nr, sizeof(*m->by_row));
	m->is_inlined = mem_zalloc(f->nr, 1);
	if (!m->by_row || !m->is_inlined)
		return false;
	*ret_any = false;
	for (i = 0; i < nr; i++) {
		if (!STEP_INLINED(f->loc_steps[i]))
			continue;
		m->is_inlined[STEP_ROW(f->loc_steps[i])] = 1;
		*ret_any = true;
	}
	for (i = 0; i < table->nr; i++)
		m->by_row[table->rows[i].row] = &table->rows[i];
	return true;
}

enum pprof_status table_mark_inlined(struct table *table,
				     const struct frames *frames,
				     const struct pprof_profile *profile,
				     size_t sample_type,
				     struct pprof_error *err)
{
	struct walk_opts opts = { .sample_type = sample_type };
	enum pprof_status status;
	struct marker m;
	struct walk walk;
	bool any;

	status = walk_init(&walk, frames, profile, &opts, err);
	if (status)
		return status;
	memset(&m, 0, sizeof(m));
	if (!list_rows(&m, table, &walk, &any) ||
	    (any && !mark_rows(&m, &walk)))
		status = error_nomem(err);
	walk_fini(&walk);
	mem_free(m.by_row);
	mem_free(m.is_inlined);
	mem_free(m.edges);
	mem_free(m.path);
	idmap_fini(&m.map);
	return status;
}
