/* SPDX-License-Identifier: Apache-2.0
 *
 * Grafting of stacks; see graft.h.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/graft.h"

#include <string.h>

/* In `targets`: in the batch at hand. No stack has this id. */
#define PENDING (STACK_NONE - 1)

/* The work of one graft_stacks(). */
struct graft {
	const struct stacks *from;
	const loc_id *locs;
	struct builder *builder;
	stack_id *targets;
	uint32_t *depths;        /* [from->nr] of targets */
	struct stack_span spans[STACKS_BATCH];
	stack_id nodes[STACKS_BATCH];
	size_t nr;               /* in the batch */
	loc_id *queue;           /* their frames */
	size_t nr_queue, cap_queue;
	stack_id *chain;         /* nodes to be done first, lowest one first */
	size_t nr_chain, cap_chain;
};

static bool flush(struct graft *g)
{
	stack_id ids[STACKS_BATCH];
	size_t i;

	if (!stacks_add_batch(&g->builder->profile->stacks, g->queue,
			      g->spans, g->nr, ids))
		return false;
	for (i = 0; i < g->nr; i++)
		g->targets[g->nodes[i]] = ids[i];
	g->nr = 0;
	g->nr_queue = 0;
	return true;
}

/* Put a node into the batch; its parent is done or in the batch. */
static bool queue_node(struct graft *g, stack_id id)
{
	const struct stack_node *node = &g->from->nodes[id];
	struct stack_span *span;
	uint32_t i;

	if (g->nr == STACKS_BATCH || g->targets[node->parent] == PENDING)
		if (!flush(g))
			return false;
	if (!mem_grow(g->queue, g->cap_queue, g->nr_queue + node->nr_locs,
		      UINT32_MAX))
		return false;
	span = &g->spans[g->nr];
	span->first = g->nr_queue;
	span->nr = node->nr_locs;
	span->below = g->targets[node->parent];
	for (i = 0; i < node->nr_locs; i++)
		g->queue[g->nr_queue++] = g->locs[g->from->locs[node->run +
								i]];
	g->depths[id] = g->depths[node->parent] + node->nr_locs;
	g->targets[id] = PENDING;
	g->nodes[g->nr++] = id;
	return true;
}

/* Put a node into the batch, and before it what is above it. */
static bool take_node(struct graft *g, stack_id id)
{
	for (; g->targets[id] == STACK_NONE; id = g->from->nodes[id].parent) {
		if (!mem_grow(g->chain, g->cap_chain, g->nr_chain + 1,
			      UINT32_MAX))
			return false;
		g->chain[g->nr_chain++] = id;
	}
	while (g->nr_chain) {
		id = g->chain[--g->nr_chain];
		if (!queue_node(g, id))
			return false;
		if (g->depths[id] > g->builder->limits->frames) {
			builder_fail_frames(g->builder);
			return false;
		}
	}
	return true;
}

static bool take_all(struct graft *g, const uint8_t *wanted)
{
	size_t i;

	g->depths = mem_zalloc(g->from->nr, sizeof(*g->depths));
	if (!g->depths)
		return false;
	memset(g->targets, 0xff, g->from->nr * sizeof(*g->targets));
	g->targets[0] = 0;
	/* In the order of memory, in which few come before their parent. */
	for (i = 1; i < g->from->nr; i++)
		if (wanted[i] && !take_node(g, (stack_id)i))
			return false;
	return flush(g);
}

bool graft_stacks(const struct stacks *from, const uint8_t *wanted,
		  const loc_id *locs, struct builder *builder,
		  stack_id *ret_targets)
{
	struct graft g = { .from = from, .locs = locs, .builder = builder,
			   .targets = ret_targets };
	bool ok = !builder->status && take_all(&g, wanted);

	if (!ok && !builder->status)
		builder->status = PPROF_NOMEM;
	mem_free(g.depths);
	mem_free(g.queue);
	mem_free(g.chain);
	return ok;
}
