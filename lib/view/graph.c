/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the stacks gives all edges: each node of the tree of stacks
 * adds the sum of what is below it to the calls that no node above it holds.
 */
#include <config.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "view/graph.h"

#include <stdlib.h>
#include <string.h>

/* A node on the present path, and what was before it. */
struct branch {
	__int128 sum;   /* of stacks at or below it */
	size_t nr_path;
	size_t nr_met;
	bool residual;
};

struct grapher {
	const struct frames *frames;
	const uint8_t *parts;
	uint8_t *loc_shown;        /* [nr_locations] it has a shown frame */
	struct graph_edge *edges;
	size_t nr_edges, cap_edges;
	struct idmap map;
	uint32_t *path;            /* frames on it that are shown */
	size_t nr_path, cap_path;
	uint32_t *met;             /* edges on the path, each once */
	size_t nr_met, cap_met;
	struct branch *branches;
	size_t nr_branches, cap_branches;
	bool residual;             /* frames were passed over since `path` */
};

static uint64_t hash_edge(const void *ctx, uint32_t id)
{
	const struct graph_edge *edge = (const struct graph_edge *)ctx + id;

	return hash_u64((uint64_t)edge->caller << 32 | edge->callee);
}

/* The edge between the two frames of `key`; NULL: out of memory. */
static struct graph_edge *find_edge(struct grapher *g,
				    const struct graph_edge *key)
{
	uint64_t hash = hash_edge(key, 0);
	struct graph_edge *edge;
	size_t slot;

	if (!idmap_reserve(&g->map, hash_edge, g->edges))
		return NULL;
	for (slot = idmap_first(&g->map, hash);
	     g->map.slots[slot] != IDMAP_FREE;
	     slot = idmap_next(&g->map, slot)) {
		edge = &g->edges[g->map.slots[slot]];
		if (edge->caller == key->caller &&
		    edge->callee == key->callee)
			return edge;
	}
	if (!mem_grow(g->edges, g->cap_edges, g->nr_edges + 1, UINT32_MAX))
		return NULL;
	idmap_put(&g->map, hash, (uint32_t)g->nr_edges);
	g->edges[g->nr_edges] = *key;
	return &g->edges[g->nr_edges++];
}

static bool meet_edge(struct grapher *g, uint32_t caller, uint32_t step)
{
	struct graph_edge key = { .caller = caller,
				  .callee = STEP_ROW(step) };
	struct graph_edge *edge;

	if (key.caller == key.callee ||
	    (!(g->parts[key.callee] & GRAPH_CALLS_TO) &&
	     !(g->parts[key.caller] & GRAPH_CALLS_FROM)))
		return true;
	edge = find_edge(g, &key);
	if (!edge)
		return false;
	if (edge->on_path)
		return true;
	if (!mem_grow(g->met, g->cap_met, g->nr_met + 1, UINT32_MAX))
		return false;
	g->met[g->nr_met++] = (uint32_t)(edge - g->edges);
	edge->on_path = true;
	edge->called = edge->called || !STEP_INLINED(step);
	edge->residual = edge->residual || g->residual;
	return true;
}

static bool pass_frame(struct grapher *g, uint32_t step)
{
	uint32_t row = STEP_ROW(step);

	if (!(g->parts[row] & GRAPH_SHOWN)) {
		g->residual = true;
		return true;
	}
	if (g->nr_path && !meet_edge(g, g->path[g->nr_path - 1], step))
		return false;
	if (!mem_grow(g->path, g->cap_path, g->nr_path + 1, UINT32_MAX))
		return false;
	g->path[g->nr_path++] = row;
	g->residual = false;
	return true;
}

static bool enter_node(struct grapher *g, const struct table *table,
		       stack_id id)
{
	const struct stacks *stacks = table->walk.stacks;
	const struct stack_node *node = &stacks->nodes[id];
	const loc_id *locs = stacks->locs + node->run;
	const struct frames *f = g->frames;
	uint32_t i, step;

	if (!mem_grow(g->branches, g->cap_branches, g->nr_branches + 1,
		      UINT32_MAX))
		return false;
	g->branches[g->nr_branches++] = (struct branch){
		.sum = table->worth.values[id],
		.nr_path = g->nr_path,
		.nr_met = g->nr_met,
		.residual = g->residual
	};
	for (i = 0; i < node->nr_locs; i++) {
		if (!g->loc_shown[locs[i]]) {
			g->residual = true;
			continue;
		}
		for (step = f->loc_start[locs[i]];
		     step < f->loc_start[locs[i] + 1]; step++)
			if (!pass_frame(g, f->loc_steps[step]))
				return false;
	}
	return true;
}

static void leave_node(struct grapher *g)
{
	const struct branch *branch = &g->branches[--g->nr_branches];
	struct graph_edge *edge;

	if (g->nr_branches)
		g->branches[g->nr_branches - 1].sum += branch->sum;
	while (g->nr_met > branch->nr_met) {
		edge = &g->edges[g->met[--g->nr_met]];
		edge->weight = clamp_i64(edge->weight + branch->sum);
		edge->on_path = false;
	}
	g->nr_path = branch->nr_path;
	g->residual = branch->residual;
}

static bool walk_all(struct grapher *g, struct table *table)
{
	enum stack_event event;
	stack_id node;

	stack_walk_rewind(&table->walk);
	for (;;) {
		event = table_next_live(table, &node);
		if (event == STACKS_END)
			return !table->walk.failed;
		if (event == STACK_LEAVE)
			leave_node(g);
		else if (!enter_node(g, table, node))
			return false;
	}
}

/* Which locations have something to show; false: out of memory. */
static bool list_locations(struct grapher *g, size_t nr_locations)
{
	const struct frames *f = g->frames;
	uint32_t step;
	size_t i;

	g->loc_shown = mem_zalloc(nr_locations, 1);
	if (!g->loc_shown)
		return false;
	for (i = 1; i < nr_locations; i++)
		for (step = f->loc_start[i]; step < f->loc_start[i + 1];
		     step++)
			if (g->parts[STEP_ROW(f->loc_steps[step])])
				g->loc_shown[i] = 1;
	return true;
}

static int compare_rows(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_weights(const struct graph_edge *a,
			   const struct graph_edge *b)
{
	uint64_t wa = magnitude_i64(a->weight), wb = magnitude_i64(b->weight);

	return (wa < wb) - (wa > wb);
}

static int compare_in(const void *a, const void *b)
{
	const struct graph_edge *ea = a, *eb = b;
	int order = compare_rows(ea->callee, eb->callee);

	if (!order)
		order = compare_weights(ea, eb);
	return order ? order : compare_rows(ea->caller, eb->caller);
}

static int compare_out(const void *a, const void *b)
{
	const struct graph_edge *ea = a, *eb = b;
	int order = compare_rows(ea->caller, eb->caller);

	if (!order)
		order = compare_weights(ea, eb);
	return order ? order : compare_rows(ea->callee, eb->callee);
}

static bool sort_edges(struct graph *graph)
{
	size_t size = sizeof(*graph->in);

	if (!graph->nr)
		return true;
	graph->out = mem_alloc(graph->nr, size);
	if (!graph->out)
		return false;
	memcpy(graph->out, graph->in, graph->nr * size);
	qsort(graph->in, graph->nr, size, compare_in);
	qsort(graph->out, graph->nr, size, compare_out);
	return true;
}

enum pprof_status graph_init(struct graph *graph, struct table *table,
			     const struct frames *frames,
			     const struct pprof_profile *profile,
			     const uint8_t *parts, struct pprof_error *err)
{
	struct grapher g;
	bool ok;

	memset(&g, 0, sizeof(g));
	memset(graph, 0, sizeof(*graph));
	g.frames = frames;
	g.parts = parts;
	ok = list_locations(&g, profile->nr_locations) && walk_all(&g, table);
	graph->in = g.edges;
	graph->nr = g.nr_edges;
	ok = ok && sort_edges(graph);
	mem_free(g.loc_shown);
	mem_free(g.path);
	mem_free(g.met);
	mem_free(g.branches);
	idmap_fini(&g.map);
	if (ok)
		return PPROF_OK;
	graph_fini(graph);
	return error_nomem(err);
}

void graph_fini(struct graph *graph)
{
	mem_free(graph->in);
	mem_free(graph->out);
	memset(graph, 0, sizeof(*graph));
}

static size_t drop_light(struct graph_edge *edges, size_t nr, uint64_t cutoff)
{
	size_t kept = 0, i;

	for (i = 0; i < nr; i++)
		if (magnitude_i64(edges[i].weight) >= cutoff)
			edges[kept++] = edges[i];
	return kept;
}

size_t graph_trim(struct graph *graph, uint64_t cutoff)
{
	size_t nr = graph->nr;

	drop_light(graph->in, nr, cutoff);
	graph->nr = drop_light(graph->out, nr, cutoff);
	return nr - graph->nr;
}

/* The edges in `edges` at the callee, or the caller, of that row. */
static const struct graph_edge *find_calls(const struct graph_edge *edges,
					   size_t nr, bool by_callee,
					   uint32_t row, size_t *ret_nr)
{
	size_t low = 0, high = nr, middle, end;

	while (low < high) {
		middle = low + (high - low) / 2;
		if ((by_callee ? edges[middle].callee
			       : edges[middle].caller) < row)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < nr; end++)
		if ((by_callee ? edges[end].callee : edges[end].caller) !=
		    row)
			break;
	*ret_nr = end - low;
	return *ret_nr ? edges + low : NULL;
}

const struct graph_edge *graph_calls_to(const struct graph *graph,
					uint32_t row, size_t *ret_nr)
{
	return find_calls(graph->in, graph->nr, true, row, ret_nr);
}

const struct graph_edge *graph_calls_from(const struct graph *graph,
					  uint32_t row, size_t *ret_nr)
{
	return find_calls(graph->out, graph->nr, false, row, ret_nr);
}

/* Frames that the table shows, and calls to those some code has inlined. */
static bool list_inlined(uint8_t *parts, const struct table *table,
			 const struct frames *f, size_t nr_locations)
{
	uint32_t step, row;
	bool any = false;
	size_t i;

	for (i = 0; i < table->nr; i++)
		parts[table->rows[i].row] = GRAPH_SHOWN;
	for (i = 1; i < nr_locations; i++) {
		for (step = f->loc_start[i]; step < f->loc_start[i + 1];
		     step++) {
			row = STEP_ROW(f->loc_steps[step]);
			if (!parts[row] || !STEP_INLINED(f->loc_steps[step]))
				continue;
			parts[row] |= GRAPH_CALLS_TO;
			any = true;
		}
	}
	return any;
}

static void mark_row(struct table_row *row, const struct graph *graph)
{
	const struct graph_edge *calls;
	size_t nr, i;

	calls = graph_calls_to(graph, row->row, &nr);
	for (i = 0; i < nr; i++) {
		if (calls[i].called)
			row->called = true;
		else
			row->inlined = true;
	}
}

enum pprof_status graph_mark_inlined(struct table *table,
				     const struct frames *frames,
				     const struct pprof_profile *profile,
				     struct pprof_error *err)
{
	uint8_t *parts = mem_zalloc(frames->nr, 1);
	enum pprof_status status = PPROF_OK;
	struct graph graph;
	size_t i;

	if (!parts)
		return error_nomem(err);
	if (list_inlined(parts, table, frames, profile->nr_locations)) {
		status = graph_init(&graph, table, frames, profile, parts,
				    err);
		if (!status) {
			for (i = 0; i < table->nr; i++)
				mark_row(&table->rows[i], &graph);
			graph_fini(&graph);
		}
	}
	mem_free(parts);
	return status;
}
