/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks are added to a tree by hash, one profile after the other, and the
 * tree is put in order at the end; see forest.h.
 */
#include <config.h>

#include "base/mem.h"
#include "view/forest.h"
#include "view/stack_walk.h"

#include <string.h>

/* Nodes are numbered by 32 bits. */
#define MAX_NODES ((size_t)UINT32_MAX - 1)

/* Bound on the bytes of all names. */
#define MAX_NAME_BYTES ((uint64_t)64 << 30)

#define NO_ROW UINT32_MAX

/* A node while the tree grows: numbered as it was met, parents first. */
struct seedling {
	uint32_t parent;
	uint32_t row;
	uint8_t flags;
	bool live;
};

/* One profile's frames, and where they are among all. */
struct side_frames {
	struct frames frames;
	uint32_t *row;  /* [frames.nr] in the common frames */
	uint32_t next;  /* while joining */
};

/* The work of one forest_init(). */
struct grower {
	struct forest *forest;
	const struct forest_side *sides;
	const size_t *types;
	const struct frames_opts *opts;
	struct side_frames *side_frames; /* [forest.nr_sides] */
	struct seedling *nodes;
	size_t nr, cap;
	struct idmap map;
	uint32_t *of_stack; /* [stacks.nr] of the present profile */
};

static int compare_heads(const struct side_frames *a,
			 const struct side_frames *b)
{
	size_t na = frame_name_len(&a->frames, a->next);
	size_t nb = frame_name_len(&b->frames, b->next);
	int order = memcmp(frame_name(&a->frames, a->next),
			   frame_name(&b->frames, b->next),
			   na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

/* The side whose next name is the least; NULL when all are done. */
static const struct side_frames *least_head(const struct grower *g)
{
	const struct side_frames *least = NULL;
	size_t i;

	for (i = 0; i < g->forest->nr_sides; i++) {
		const struct side_frames *side = &g->side_frames[i];

		if (side->next < side->frames.nr &&
		    (!least || compare_heads(side, least) < 0))
			least = side;
	}
	return least;
}

static bool copy_string(struct strtab *to, const struct strtab *from,
			str_id id, str_id *ret_id)
{
	*ret_id = strtab_add(to, strtab_text(from, id),
			     strtab_len(from, id));
	return *ret_id != STR_NONE;
}

/* Add the least name; every side that has it learns its row. */
static bool join_least(struct grower *g, const struct side_frames *least)
{
	struct frames *all = &g->forest->frames;
	struct frame *added = &all->rows[all->nr];
	const struct frame *from = &least->frames.rows[least->next];
	struct side_frames head = *least;
	size_t i;

	if (!copy_string(&all->strings, &least->frames.strings, from->name,
			 &added->name) ||
	    !copy_string(&all->strings, &least->frames.strings, from->module,
			 &added->module) ||
	    !copy_string(&all->strings, &least->frames.strings, from->file,
			 &added->file))
		return false;
	added->kind = 0;
	for (i = 0; i < g->forest->nr_sides; i++) {
		struct side_frames *side = &g->side_frames[i];

		if (side->next >= side->frames.nr ||
		    compare_heads(side, &head) != 0)
			continue;
		added->kind |= side->frames.rows[side->next].kind;
		side->row[side->next++] = (uint32_t)all->nr;
	}
	all->nr++;
	return true;
}

static bool join_frames(struct grower *g)
{
	struct frames *all = &g->forest->frames;
	const struct side_frames *least;
	size_t most = 0, i;

	if (!strtab_init(&all->strings, MAX_NAME_BYTES))
		return false;
	for (i = 0; i < g->forest->nr_sides; i++) {
		struct side_frames *side = &g->side_frames[i];

		most += side->frames.nr;
		side->row = mem_alloc(side->frames.nr, sizeof(*side->row));
		if (!side->row)
			return false;
	}
	all->rows = mem_alloc(most, sizeof(*all->rows));
	if (!all->rows)
		return false;
	for (least = least_head(g); least; least = least_head(g))
		if (!join_least(g, least))
			return false;
	all->no_stack = g->side_frames->row[g->side_frames->frames.no_stack];
	g->forest->line = mem_zalloc(all->nr, sizeof(*g->forest->line));
	return g->forest->line;
}

/* The line of a function's start, else the first one that was met. */
static void note_line(struct grower *g, const struct pprof_profile *p,
		      const struct line *line, uint32_t row)
{
	const struct function *func = &p->functions[line->func];
	const struct frames *all = &g->forest->frames;
	int64_t at = func->start_line > 0 ? func->start_line : line->line;
	int64_t *known = &g->forest->line[row];
	str_id file = strtab_find(&all->strings, profile_str(p, func->file),
				  strtab_len(&p->strings, func->file));

	if (at > 0 && file == all->rows[row].file && (!*known || at < *known))
		*known = at;
}

/* Steps of a location go outermost first, its lines innermost first. */
static void note_lines(struct grower *g, const struct pprof_profile *p,
		       const struct side_frames *side)
{
	const struct frames *f = &side->frames;
	size_t i;

	for (i = 1; i < p->nr_locations; i++) {
		const struct location *loc = &p->locations[i];
		uint32_t nr = f->loc_start[i + 1] - f->loc_start[i], j;

		if (g->opts->granularity == PPROF_BY_MODULE ||
		    nr > loc->nr_lines)
			continue;
		for (j = 0; j < nr; j++)
			note_line(g, p,
				  &p->lines[loc->lines + loc->nr_lines - 1 - j],
				  side->row[STEP_ROW(f->loc_steps
						     [f->loc_start[i] + j])]);
	}
}

static uint64_t hash_seedling(const void *ctx, uint32_t id)
{
	const struct seedling *node = (const struct seedling *)ctx + id;

	return hash_u64((uint64_t)node->parent << 32 | node->row);
}

/* The child of `parent` for a frame; UINT32_MAX when out of memory. */
static uint32_t find_child(struct grower *g, uint32_t parent, uint32_t row)
{
	struct seedling seed = { .parent = parent, .row = row };
	uint64_t hash = hash_seedling(&seed, 0);
	size_t slot;
	uint32_t id;

	if (!idmap_reserve(&g->map, hash_seedling, g->nodes))
		return UINT32_MAX;
	for (slot = idmap_first(&g->map, hash);
	     (id = g->map.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&g->map, slot))
		if (g->nodes[id].parent == parent && g->nodes[id].row == row)
			return id;
	if (!mem_grow(g->nodes, g->cap, g->nr + 1, MAX_NODES))
		return UINT32_MAX;
	g->nodes[g->nr] = seed;
	idmap_put(&g->map, hash, (uint32_t)g->nr);
	return (uint32_t)g->nr++;
}

static uint32_t add_run(struct grower *g, const struct side_frames *side,
			const struct pprof_profile *p, uint32_t node,
			stack_id stack)
{
	const struct stack_node *run = &p->stacks.nodes[stack];
	const loc_id *locs = p->stacks.locs + run->run;
	const struct frames *f = &side->frames;
	bool join = g->opts->granularity == PPROF_BY_MODULE;
	uint32_t i, step, row;

	for (i = 0; i < run->nr_locs; i++)
		for (step = f->loc_start[locs[i]];
		     step < f->loc_start[locs[i] + 1]; step++) {
			row = side->row[STEP_ROW(f->loc_steps[step])];
			if (!join || g->nodes[node].row != row)
				node = find_child(g, node, row);
			if (node == UINT32_MAX)
				return node;
			g->nodes[node].flags |=
				STEP_INLINED(f->loc_steps[step])
					? FOREST_INLINED
					: FOREST_CALLED;
		}
	return node;
}

/* Find the node where each stack ends. */
static bool add_stacks(struct grower *g, const struct pprof_profile *p,
		       const struct side_frames *side)
{
	struct stack_walk walk;
	stack_id stack;
	uint32_t node;
	bool ok;
	size_t i;

	mem_free(g->of_stack);
	g->of_stack = mem_zalloc(p->stacks.nr, sizeof(*g->of_stack));
	ok = stack_walk_init(&walk, &p->stacks) && g->of_stack;
	for (i = 0; ok && i < p->stacks.nr; i++) {
		stack = walk.order[i];
		if (!stack)
			continue;
		node = g->of_stack[p->stacks.nodes[stack].parent];
		node = add_run(g, side, p, node, stack);
		g->of_stack[stack] = node;
		ok = node != UINT32_MAX;
	}
	stack_walk_fini(&walk);
	/* Samples without a stack are a frame of their own. */
	if (ok)
		g->of_stack[0] = find_child(g, 0, g->forest->frames.no_stack);
	return ok && g->of_stack[0] != UINT32_MAX;
}

/* Room for the nodes that came since the column was made. */
static bool stretch(struct forest_column *column, size_t from, size_t to)
{
	int64_t *self = mem_realloc(column->self, to, sizeof(*self));
	double *var;

	if (!self)
		return false;
	column->self = self;
	memset(self + from, 0, (to - from) * sizeof(*self));
	var = mem_realloc(column->var, to, sizeof(*var));
	if (!var)
		return false;
	column->var = var;
	memset(var + from, 0, (to - from) * sizeof(*var));
	return true;
}

static void add_value(struct forest_column *column, uint32_t node,
		      int64_t value, double var)
{
	__int128 sum = (__int128)column->self[node] + value;

	column->total += value;
	column->self[node] = clamp_i64(sum);
	column->clamped = column->clamped || column->self[node] != sum;
	column->var[node] += var;
}

static bool add_column(struct grower *g, const struct forest_side *side,
		       size_t type, struct forest_column *column)
{
	struct stack_values_opts opts = { .sample_type = type,
					  .with_noise = true,
					  .side = side->side };
	struct stack_values worth;
	size_t i;
	bool ok;

	ok = stack_values_init(&worth, side->profile, &opts) &&
	     stretch(column, 0, g->nr);
	for (i = 0; ok && i < side->profile->stacks.nr; i++)
		if (worth.values[i])
			add_value(column, g->of_stack[i], worth.values[i],
				  worth.vars[i]);
	stack_values_fini(&worth);
	return ok;
}

static bool add_side(struct grower *g, size_t i)
{
	struct forest *forest = g->forest;
	const struct pprof_profile *p = g->sides[i].profile;
	size_t at = i * forest->nr_types, j;

	note_lines(g, p, &g->side_frames[i]);
	if (!add_stacks(g, p, &g->side_frames[i]))
		return false;
	frames_fini(&g->side_frames[i].frames);
	for (j = 0; j < forest->nr_types; j++)
		if (!add_column(g, &g->sides[i], g->types[at + j],
				&forest->columns[at + j]))
			return false;
	return true;
}

/* Columns of early sides are shorter than the tree; mark what has a value. */
static bool mark_live(struct grower *g, const size_t *nr_at)
{
	struct forest *forest = g->forest;
	size_t i, j;

	for (i = 0; i < forest->nr_sides * forest->nr_types; i++) {
		struct forest_column *column = &forest->columns[i];

		if (!stretch(column, nr_at[i / forest->nr_types], g->nr))
			return false;
		for (j = 0; j < g->nr; j++)
			g->nodes[j].live |= column->self[j] != 0;
	}
	g->nodes[0].live = true;
	for (j = g->nr; --j;)
		g->nodes[g->nodes[j].parent].live |= g->nodes[j].live;
	return true;
}

/* Order of all live nodes by `key`, stable; `count` has one place too many. */
static void sort_nodes(const struct grower *g, const uint32_t *from,
		       size_t nr, uint32_t *to, uint32_t *count,
		       size_t nr_keys, bool by_parent)
{
	size_t i;
	uint32_t key;

	memset(count, 0, (nr_keys + 1) * sizeof(*count));
	for (i = 0; i < nr; i++) {
		key = by_parent ? g->nodes[from[i]].parent
				: g->nodes[from[i]].row;
		count[key + 1]++;
	}
	for (i = 0; i < nr_keys; i++)
		count[i + 1] += count[i];
	for (i = 0; i < nr; i++) {
		key = by_parent ? g->nodes[from[i]].parent
				: g->nodes[from[i]].row;
		to[count[key]++] = from[i];
	}
}

/* Children of node n, by row: order[ends[n - 1] .. ends[n]). */
static bool list_children(struct grower *g, uint32_t **ret_order,
			  uint32_t **ret_ends)
{
	size_t nr_rows = g->forest->frames.nr, nr = 0, i;
	size_t nr_keys = g->nr > nr_rows ? g->nr : nr_rows;
	uint32_t *order = mem_alloc(g->nr, sizeof(*order));
	uint32_t *other = mem_alloc(g->nr, sizeof(*other));
	uint32_t *count = mem_alloc(nr_keys + 1, sizeof(*count));

	*ret_order = order;
	*ret_ends = count;
	if (order && other && count) {
		for (i = 1; i < g->nr; i++)
			if (g->nodes[i].live)
				order[nr++] = (uint32_t)i;
		sort_nodes(g, order, nr, other, count, nr_rows, false);
		sort_nodes(g, other, nr, order, count, g->nr, true);
	}
	mem_free(other);
	return order && other && count;
}

static bool reserve_nodes(struct forest *forest, size_t nr)
{
	forest->row = mem_alloc(nr, sizeof(*forest->row));
	forest->depth = mem_alloc(nr, sizeof(*forest->depth));
	forest->flags = mem_alloc(nr, sizeof(*forest->flags));
	return forest->row && forest->depth && forest->flags;
}

/* Number the nodes in pre-order; was[i] is what node i was before. */
static bool number_nodes(struct grower *g, uint32_t *was)
{
	struct forest *forest = g->forest;
	uint32_t *order, *ends, *open, node, depth, i;
	size_t nr_open = 0;
	bool ok = list_children(g, &order, &ends);

	open = mem_alloc(g->nr, sizeof(*open));
	ok = ok && open && reserve_nodes(forest, g->nr);
	if (ok)
		open[nr_open++] = 0;
	while (nr_open) {
		node = open[--nr_open];
		depth = node ? forest->depth[g->nodes[node].parent] + 1 : 0;
		/* Depths by old numbers, until the tree is complete. */
		forest->depth[node] = depth;
		forest->deepest = depth > forest->deepest ? depth
							  : forest->deepest;
		was[forest->nr++] = node;
		for (i = ends[node]; i > (node ? ends[node - 1] : 0); i--)
			open[nr_open++] = order[i - 1];
	}
	mem_free(order);
	mem_free(ends);
	mem_free(open);
	return ok;
}

/* Put a column into pre-order through `buf`, which is as long. */
static void reorder_column(struct forest *forest, const uint32_t *was,
			   struct forest_column *column, void *buf)
{
	int64_t *self = buf;
	double *var = buf;
	double any = 0;
	size_t i;

	for (i = 0; i < forest->nr; i++)
		self[i] = column->self[was[i]];
	memcpy(column->self, self, forest->nr * sizeof(*self));
	for (i = 0; i < forest->nr; i++) {
		column->nr_negative += column->self[i] < 0;
		if (column->self[i])
			forest->flags[i] |= FOREST_SELF;
		var[i] = column->var[was[i]];
		any += var[i];
	}
	memcpy(column->var, var, forest->nr * sizeof(*var));
	if (any > 0)
		return;
	mem_free(column->var);
	column->var = NULL;
}

static bool put_in_order(struct grower *g)
{
	struct forest *forest = g->forest;
	uint32_t *was = mem_alloc(g->nr, sizeof(*was));
	void *buf = mem_alloc(g->nr, sizeof(int64_t));
	uint32_t *depth = buf;
	bool ok = was && buf && number_nodes(g, was);
	size_t i;

	for (i = 0; ok && i < forest->nr; i++) {
		forest->row[i] = g->nodes[was[i]].row;
		forest->flags[i] = g->nodes[was[i]].flags;
		depth[i] = forest->depth[was[i]];
	}
	if (ok)
		memcpy(forest->depth, depth, forest->nr * sizeof(*depth));
	for (i = 0; ok && i < forest->nr_sides * forest->nr_types; i++)
		reorder_column(forest, was, &forest->columns[i], buf);
	mem_free(was);
	mem_free(buf);
	return ok;
}

static bool grow(struct grower *g)
{
	size_t nr = g->forest->nr_sides, i;
	size_t *nr_at = mem_alloc(nr, sizeof(*nr_at));
	bool ok = nr_at && join_frames(g) &&
		  mem_grow(g->nodes, g->cap, 1, MAX_NODES);

	if (ok) {
		memset(g->nodes, 0, sizeof(*g->nodes));
		g->nodes->row = NO_ROW;
		g->nr = 1;
	}
	for (i = 0; ok && i < nr; i++) {
		ok = add_side(g, i);
		nr_at[i] = g->nr;
	}
	ok = ok && mark_live(g, nr_at) && put_in_order(g);
	mem_free(nr_at);
	return ok;
}

static enum pprof_status make_frames(struct grower *g,
				     struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	g->side_frames = mem_zalloc(g->forest->nr_sides,
				    sizeof(*g->side_frames));
	if (!g->side_frames)
		return error_nomem(err);
	for (i = 0; !status && i < g->forest->nr_sides; i++)
		status = frames_init(&g->side_frames[i].frames,
				     g->sides[i].profile, g->opts, err);
	return status;
}

static void grower_fini(struct grower *g)
{
	size_t i;

	for (i = 0; g->side_frames && i < g->forest->nr_sides; i++) {
		frames_fini(&g->side_frames[i].frames);
		mem_free(g->side_frames[i].row);
	}
	mem_free(g->side_frames);
	mem_free(g->nodes);
	mem_free(g->of_stack);
	idmap_fini(&g->map);
}

enum pprof_status forest_init(struct forest *forest,
			      const struct forest_side *sides,
			      size_t nr_sides, const size_t *types,
			      size_t nr_types, const struct frames_opts *opts,
			      struct pprof_error *err)
{
	struct grower g = { .forest = forest, .sides = sides, .types = types,
			    .opts = opts };
	enum pprof_status status;

	memset(forest, 0, sizeof(*forest));
	forest->nr_sides = nr_sides;
	forest->nr_types = nr_types;
	forest->columns = mem_zalloc(nr_sides * nr_types,
				     sizeof(*forest->columns));
	if (!forest->columns)
		return error_nomem(err);
	status = make_frames(&g, err);
	if (!status && !grow(&g))
		status = error_nomem(err);
	grower_fini(&g);
	return status;
}

void forest_fini(struct forest *forest)
{
	size_t i;

	for (i = 0; forest->columns &&
		    i < forest->nr_sides * forest->nr_types; i++) {
		mem_free(forest->columns[i].self);
		mem_free(forest->columns[i].var);
	}
	mem_free(forest->columns);
	mem_free(forest->line);
	mem_free(forest->row);
	mem_free(forest->depth);
	mem_free(forest->flags);
	frames_fini(&forest->frames);
	memset(forest, 0, sizeof(*forest));
}
