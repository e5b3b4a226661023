/* SPDX-License-Identifier: Apache-2.0
 *
 * Building, folding and pruning of the call tree; see tree.h.
 */
#include <config.h>

#include "base/mem.h"
#include "view/tree.h"

#include <stdlib.h>
#include <string.h>

/* Node indexes are 32 bits wide. */
#define MAX_NODES ((size_t)UINT32_MAX)

#define NO_NODE UINT32_MAX

/* A node whose subtree is still growing. */
struct tree_branch {
	__int128 total;
	__int128 base_total;
	double var, base_var;
	uint64_t weight;
	uint64_t nr_below; /* frames below that have been folded or kept */
	uint32_t node;
	uint32_t last;     /* last closed child that was kept, or NO_NODE */
};

/* The work of one tree_init(). */
struct tree_maker {
	struct tree *tree;
	const struct tree_opts *opts;
	uint64_t min_weight;
	bool has_selfs;           /* tree->row_self is known already */
	struct tree_branch *path; /* root first */
	size_t nr_path, cap_path;
};

uint64_t tree_share_weight(uint64_t whole, double share)
{
	double weight = (double)whole * share;
	uint64_t least;

	if (!(weight > 1))
		return 1;
	if (weight >= 9e18)
		return UINT64_MAX;
	least = (uint64_t)weight;
	return (double)least < weight ? least + 1 : least;
}

/* Add folded node `b`, the next sibling, to the folded node `a`. */
static void merge_folded(struct tree_node *a, const struct tree_node *b)
{
	__int128 total = (__int128)a->total + b->total;

	a->total = clamp_i64(total);
	a->self = a->total;
	a->clamped = a->clamped || b->clamped || total != a->total;
	a->base_total = clamp_i64((__int128)a->base_total + b->base_total);
	a->base_self = a->base_total;
	a->var += b->var;
	a->base_var += b->base_var;
	a->weight += b->weight;
	a->nr_below += b->nr_below;
	a->row += b->row;
}

/* Turn a closed node into one that stands for itself and all below. */
static void fold(struct tree_node *node, uint64_t nr_below)
{
	node->kind = NODE_LIGHT;
	node->self = node->total;
	node->base_self = node->base_total;
	node->nr_below = nr_below + 1;
	node->row = 1;
	node->inlined = false;
	node->called = false;
}

/* Close the innermost branch: its totals are complete. */
static void close_branch(struct tree_maker *m)
{
	struct tree *tree = m->tree;
	struct tree_branch *branch = &m->path[--m->nr_path];
	struct tree_node *node = &tree->nodes[branch->node];
	struct tree_branch *parent;

	node->total = clamp_i64(branch->total);
	node->clamped = node->total != branch->total;
	node->base_total = clamp_i64(branch->base_total);
	node->var = branch->var;
	node->base_var = branch->base_var;
	node->weight = branch->weight;
	if (!m->nr_path) {
		tree->total = branch->total;
		tree->base_total = branch->base_total;
		return;
	}
	parent = branch - 1;
	parent->total += branch->total;
	parent->base_total += branch->base_total;
	parent->var += branch->var;
	parent->base_var += branch->base_var;
	parent->weight += branch->weight;
	parent->nr_below += branch->nr_below + (node->kind == NODE_FRAME);
	if (node->kind == NODE_FRAME && node->weight < m->min_weight) {
		fold(node, branch->nr_below);
		tree->nr = branch->node + 1;
		if (parent->last != NO_NODE &&
		    tree->nodes[parent->last].kind == NODE_LIGHT) {
			merge_folded(&tree->nodes[parent->last], node);
			tree->nr--;
			return;
		}
	}
	if (node->kind == NODE_DEEP)
		node->nr_below = branch->nr_below;
	parent->last = branch->node;
}

static bool open_branch(struct tree_maker *m, enum node_kind kind,
			const struct walk_node *from)
{
	struct tree *tree = m->tree;
	struct tree_branch *branch;
	struct tree_node *node;

	if (!mem_grow(tree->nodes, tree->cap, tree->nr + 1, MAX_NODES) ||
	    !mem_grow(m->path, m->cap_path, m->nr_path + 1, MAX_NODES))
		return false;
	node = &tree->nodes[tree->nr];
	memset(node, 0, sizeof(*node));
	node->kind = (uint8_t)kind;
	node->depth = (uint32_t)m->nr_path;
	node->row = from->row;
	node->self = from->self;
	node->base_self = from->base_self;
	node->inlined = from->inlined;
	node->called = from->called;
	branch = &m->path[m->nr_path++];
	branch->total = from->self;
	branch->base_total = from->base_self;
	branch->var = from->var;
	branch->base_var = from->base_var;
	branch->weight = from->weight;
	branch->nr_below = from->nr_below;
	branch->node = (uint32_t)tree->nr++;
	branch->last = NO_NODE;
	return true;
}

/* A frame below the deepest row: counted in the marker of its column. */
static bool add_deep(struct tree_maker *m, const struct walk_node *node)
{
	static const struct walk_node nothing;
	struct tree_branch *branch;

	if (m->nr_path == (size_t)m->opts->max_depth + 1 &&
	    !open_branch(m, NODE_DEEP, &nothing))
		return false;
	branch = &m->path[m->nr_path - 1];
	branch->total += node->self;
	branch->base_total += node->base_self;
	branch->var += node->var;
	branch->base_var += node->base_var;
	branch->weight += node->weight;
	branch->nr_below += 1 + (uint64_t)node->nr_below;
	return true;
}

static bool add_node(struct tree_maker *m, const struct walk_node *node)
{
	struct tree *tree = m->tree;
	int64_t *self = &tree->row_self[node->row];

	tree->nr_frames += 1 + (uint64_t)node->nr_below;
	if (node->depth > tree->deepest)
		tree->deepest = node->depth;
	if (node->deepest > tree->deepest)
		tree->deepest = node->deepest;
	if (!m->has_selfs)
		*self = clamp_i64((__int128)*self + node->self);
	if (node->depth > m->opts->max_depth)
		return add_deep(m, node);
	while (m->nr_path > node->depth)
		close_branch(m);
	return open_branch(m, NODE_FRAME, node);
}

static bool make(struct tree_maker *m, tree_next_fn next, void *source)
{
	static const struct walk_node nothing;
	struct walk_node node;

	if (!open_branch(m, NODE_ROOT, &nothing))
		return false;
	while (next(source, &node))
		if (!add_node(m, &node))
			return false;
	while (m->nr_path)
		close_branch(m);
	return true;
}

static void count_kept(struct tree *tree)
{
	size_t i;

	tree->nr_kept = 0;
	for (i = 0; i < tree->nr; i++)
		tree->nr_kept += tree->nodes[i].kind == NODE_FRAME;
}

/* Make all of the tree; m->min_weight and has_selfs are set. */
static enum pprof_status build(struct tree_maker *m, tree_next_fn next,
			       void *source, struct pprof_error *err)
{
	bool ok = m->tree->row_self && make(m, next, source);

	mem_free(m->path);
	if (!ok) {
		tree_fini(m->tree);
		return error_nomem(err);
	}
	count_kept(m->tree);
	return PPROF_OK;
}

/* Empty, but with a place for the self of each frame. */
static void start(struct tree *tree, const struct frames *frames)
{
	memset(tree, 0, sizeof(*tree));
	tree->row_self = mem_zalloc(frames->nr, sizeof(*tree->row_self));
}

enum pprof_status tree_build(struct tree *tree, const struct frames *frames,
			     tree_next_fn next, void *source, uint64_t weight,
			     const struct tree_opts *opts,
			     struct pprof_error *err)
{
	struct tree_maker m = { .tree = tree, .opts = opts };

	m.min_weight = tree_share_weight(weight, opts->min_share);
	start(tree, frames);
	return build(&m, next, source, err);
}

static bool next_of_walk(void *source, struct walk_node *node)
{
	return walk_next(source, node);
}

enum pprof_status tree_init(struct tree *tree, const struct frames *frames,
			    const struct pprof_profile *profile,
			    const struct tree_opts *opts,
			    struct pprof_error *err)
{
	struct tree_maker m = { .tree = tree, .opts = opts };
	enum pprof_status status;
	struct walk walk;

	memset(tree, 0, sizeof(*tree));
	status = walk_init(&walk, frames, profile, &opts->walk, err);
	if (status)
		return status;
	m.min_weight = tree_share_weight(walk.worth.weight, opts->min_share);
	start(tree, frames);
	/* Whole branches that are too light are not even walked. */
	if (tree->row_self &&
	    walk_pass_light(&walk, m.min_weight, &m.has_selfs) && m.has_selfs)
		walk_sum_selfs(&walk, tree->row_self);
	status = build(&m, next_of_walk, &walk, err);
	if (!status && walk.failed) {
		tree_fini(tree);
		status = error_nomem(err);
	}
	tree->nr_negative = walk.worth.nr_negative;
	tree->shift = walk.worth.shift;
	walk_fini(&walk);
	return status;
}

void tree_fini(struct tree *tree)
{
	mem_free(tree->nodes);
	mem_free(tree->row_self);
	memset(tree, 0, sizeof(*tree));
}

/* Index after the subtree of node i; *ret_frames: those below i. */
static size_t skip_subtree(const struct tree *tree, size_t i,
			   uint64_t *ret_frames)
{
	const struct tree_node *nodes = tree->nodes;
	uint32_t depth = nodes[i].depth;
	uint64_t nr = 0;

	for (i++; i < tree->nr && nodes[i].depth > depth; i++)
		nr += nodes[i].kind == NODE_FRAME ? 1 : nodes[i].nr_below;
	*ret_frames = nr;
	return i;
}

static bool is_cut(const struct tree_node *node, struct tree_cut cut)
{
	return node->kind == NODE_FRAME &&
	       (node->weight < cut.weight ||
		(node->weight == cut.weight && node->depth > cut.depth));
}

/*
 * Kept nodes move down over dropped ones. A folded node joins the one that
 * was written last when that is its folded sibling: nothing lies below a
 * folded node, so one of equal depth right before has the same parent.
 */
void tree_prune(struct tree *tree, struct tree_cut cut)
{
	struct tree_node *last, node;
	size_t nr = 0, i = 0, next;
	uint64_t nr_below;

	while (i < tree->nr) {
		node = tree->nodes[i];
		next = i + 1;
		if (is_cut(&node, cut)) {
			next = skip_subtree(tree, i, &nr_below);
			fold(&node, nr_below);
		}
		last = nr ? &tree->nodes[nr - 1] : NULL;
		if (node.kind == NODE_LIGHT && last &&
		    last->kind == NODE_LIGHT && last->depth == node.depth)
			merge_folded(last, &node);
		else
			tree->nodes[nr++] = node;
		i = next;
	}
	tree->nr = nr;
	count_kept(tree);
}

/* Heaviest first, then nearest to the root: parents before children. */
static int compare_cuts(const void *a, const void *b)
{
	const struct tree_cut *ca = a, *cb = b;

	if (ca->weight != cb->weight)
		return ca->weight > cb->weight ? -1 : 1;
	return (ca->depth > cb->depth) - (ca->depth < cb->depth);
}

enum pprof_status tree_limit(struct tree *tree, size_t nr,
			     struct tree_cut *ret_cut,
			     struct pprof_error *err)
{
	struct tree_cut *cuts, cut = { 0, 0 };
	size_t nr_cuts = 0, i;

	*ret_cut = cut;
	if (tree->nr_kept <= nr)
		return PPROF_OK;
	cuts = mem_alloc((size_t)tree->nr_kept, sizeof(*cuts));
	if (!cuts)
		return error_nomem(err);
	for (i = 0; i < tree->nr; i++) {
		if (tree->nodes[i].kind != NODE_FRAME)
			continue;
		cuts[nr_cuts].weight = tree->nodes[i].weight;
		cuts[nr_cuts++].depth = tree->nodes[i].depth;
	}
	qsort(cuts, nr_cuts, sizeof(*cuts), compare_cuts);
	cut = cuts[nr];
	mem_free(cuts);
	/* All that are strictly before number nr; depths start at 1. */
	cut.depth--;
	tree_prune(tree, cut);
	*ret_cut = cut;
	return PPROF_OK;
}

/* A node while its siblings are being ordered. */
struct sibling {
	uint64_t weight;
	uint32_t node;
	bool is_folded;
};

static int compare_siblings(const void *a, const void *b)
{
	const struct sibling *sa = a, *sb = b;

	if (sa->is_folded != sb->is_folded)
		return sa->is_folded ? 1 : -1;
	if (sa->weight != sb->weight)
		return sa->weight > sb->weight ? -1 : 1;
	return (sa->node > sb->node) - (sa->node < sb->node);
}

/* The work of one tree_sort(). */
struct tree_sorter {
	const struct tree_node *nodes;
	size_t nr;
	uint32_t *next;         /* [nr] index after each subtree */
	struct sibling *stack;  /* not yet placed, next one last */
	size_t nr_stack, cap_stack;
};

static bool find_ends(struct tree_sorter *s)
{
	uint32_t *open = mem_alloc(s->nr, sizeof(*open));
	size_t nr_open = 0, i;

	if (!open)
		return false;
	for (i = 0; i < s->nr; i++) {
		while (nr_open && s->nodes[open[nr_open - 1]].depth >=
					  s->nodes[i].depth)
			s->next[open[--nr_open]] = (uint32_t)i;
		open[nr_open++] = (uint32_t)i;
	}
	while (nr_open)
		s->next[open[--nr_open]] = (uint32_t)s->nr;
	mem_free(open);
	return true;
}

/* Put the children of a node on the stack, the first one on top. */
static bool push_children(struct tree_sorter *s, uint32_t parent)
{
	size_t from = s->nr_stack, i, j;
	struct sibling *first, swap;
	uint32_t child;

	for (child = parent + 1; child < s->next[parent];
	     child = s->next[child]) {
		if (!mem_grow(s->stack, s->cap_stack, s->nr_stack + 1,
			      MAX_NODES))
			return false;
		s->stack[s->nr_stack].weight = s->nodes[child].weight;
		s->stack[s->nr_stack].node = child;
		s->stack[s->nr_stack++].is_folded =
			s->nodes[child].kind == NODE_LIGHT;
	}
	if (s->nr_stack == from)
		return true;
	first = s->stack + from;
	qsort(first, s->nr_stack - from, sizeof(*first), compare_siblings);
	for (i = from, j = s->nr_stack; i + 1 < j; i++) {
		swap = s->stack[i];
		s->stack[i] = s->stack[--j];
		s->stack[j] = swap;
	}
	return true;
}

static bool place_sorted(struct tree_sorter *s, struct tree_node *out,
			 size_t *ret_nr)
{
	struct tree_node *last;
	uint32_t node = 0;
	size_t nr = 0;

	for (;;) {
		last = nr ? &out[nr - 1] : NULL;
		if (last && s->nodes[node].kind == NODE_LIGHT &&
		    last->kind == NODE_LIGHT &&
		    last->depth == s->nodes[node].depth)
			merge_folded(last, &s->nodes[node]);
		else
			out[nr++] = s->nodes[node];
		if (!push_children(s, node))
			return false;
		if (!s->nr_stack)
			break;
		node = s->stack[--s->nr_stack].node;
	}
	*ret_nr = nr;
	return true;
}

enum pprof_status tree_sort(struct tree *tree, struct pprof_error *err)
{
	struct tree_sorter s = { .nodes = tree->nodes, .nr = tree->nr };
	struct tree_node *out = mem_alloc(tree->nr, sizeof(*out));
	bool ok;

	s.next = mem_alloc(tree->nr, sizeof(*s.next));
	ok = out && s.next && find_ends(&s) &&
	     place_sorted(&s, out, &tree->nr);
	mem_free(s.next);
	mem_free(s.stack);
	if (!ok) {
		mem_free(out);
		return error_nomem(err);
	}
	mem_free(tree->nodes);
	tree->nodes = out;
	tree->cap = tree->nr;
	return PPROF_OK;
}
