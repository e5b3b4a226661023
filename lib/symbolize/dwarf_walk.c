/* SPDX-License-Identifier: Apache-2.0
 *
 * The batch join with debugging entries. One forward pass, explicit stack;
 * subtrees without targets are jumped over by their sibling reference.
 */
#include <config.h>

#include "symbolize/dwarf_walk.h"

#include <stdlib.h>

#include "base/mem.h"

/* Nesting of blocks and inlined calls that is followed. */
#define MAX_LEVELS ((size_t)1024)

/* How far ahead memory is fetched: some ten entries. */
#define PREFETCH_BYTES 1024

/* Target numbers on all levels together. */
#define MAX_POOL ((size_t)1 << 28)

enum level_kind {
	LEVEL_THROUGH, /* an entry that is no scope */
	LEVEL_SCOPE,   /* a function or call that has targets */
	LEVEL_PASSED   /* one that has none itself */
};

/* Where the walk stands: below the root, or inside a function. */
struct dwarf_level {
	enum level_kind kind;
	struct dwarf_scope *scope; /* with targets; NULL outside functions */
	size_t first, nr;          /* its targets in the pool */
	size_t pool_mark;          /* pool length to go back to */
	struct dwarf_scope passed; /* what a passed one would be */
	struct dwarf_scope *made;  /* what it is, once it was needed */
};

struct walk {
	struct dwarf_walker *walker;
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *table;
	struct dwarf_targets *targets;
	struct dwarf_cursor cursor;
	size_t nr_all;   /* pool[0 .. nr_all): all targets of this pass */
	size_t nr_levels;
	bool is_deep;    /* look into everything */
	bool is_loose;   /* calls may reach out of the scopes around them */
	uint64_t die;    /* offset of the present entry */
	struct dwarf_attrs attrs;
};

void dwarf_walker_fini(struct dwarf_walker *walker)
{
	mem_free(walker->pool);
	mem_free(walker->levels);
}

static bool push_pool(struct dwarf_walker *walker, uint32_t target)
{
	if (!mem_grow(walker->pool, walker->cap_pool, walker->nr_pool + 1,
		      MAX_POOL))
		return false;
	walker->pool[walker->nr_pool++] = target;
	return true;
}

static int compare_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Lists gathered from several ranges: ascending, each target once. */
static void tidy_pool(struct dwarf_walker *walker, size_t first)
{
	uint32_t *list = walker->pool + first;
	size_t nr = walker->nr_pool - first, i, kept = 0;

	for (i = 1; i < nr && list[i - 1] < list[i]; i++)
		;
	if (i >= nr)
		return;
	qsort(list, nr, sizeof(*list), compare_u32);
	for (i = 0; i < nr; i++) {
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	}
	walker->nr_pool = first + kept;
}

/* First i in pool[first .. first + nr) whose address is >= vaddr. */
static size_t seek_in_list(const struct walk *walk, size_t first, size_t nr,
			   uint64_t vaddr)
{
	const uint32_t *pool = walk->walker->pool;
	const uint64_t *vaddrs = walk->targets->vaddrs;

	while (nr) {
		size_t half = nr / 2;

		if (vaddrs[pool[first + half]] < vaddr) {
			first += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return first;
}

/*
 * Push the targets of a list that lie in the ranges of the present entry.
 * *ret_size: bytes of the ranges.
 */
static enum pprof_status match(struct walk *walk, size_t first, size_t nr,
			       uint64_t *ret_size)
{
	struct dwarf_walker *walker = walk->walker;
	const uint64_t *vaddrs = walk->targets->vaddrs;
	const size_t mark = walker->nr_pool;
	struct dwarf_ranges ranges;
	uint64_t low, high, size = 0;
	size_t i;

	dwarf_ranges_init(&ranges, walk->unit, &walk->attrs);
	while (dwarf_ranges_next(&ranges, &low, &high)) {
		if (!walker->nr_ranges_left)
			return PPROF_FORMAT;
		walker->nr_ranges_left--;
		if (!text_areas_contain(walker->text, low))
			continue;
		size += high - low;
		i = seek_in_list(walk, first, nr, low);
		for (; i < first + nr && vaddrs[walker->pool[i]] < high; i++) {
			if (!push_pool(walker, walker->pool[i]))
				return PPROF_NOMEM;
		}
	}
	if (walker->nr_pool > mark + 1)
		tidy_pool(walker, mark);
	*ret_size = size;
	return PPROF_OK;
}

static enum pprof_status push_level(struct walk *walk, enum level_kind kind,
				    struct dwarf_scope *scope, size_t first,
				    size_t nr, size_t mark)
{
	struct dwarf_walker *walker = walk->walker;
	struct dwarf_level *level;

	if (walk->nr_levels == MAX_LEVELS)
		return PPROF_FORMAT;
	if (!mem_grow(walker->levels, walker->cap_levels,
		      walk->nr_levels + 1, MAX_LEVELS))
		return PPROF_NOMEM;
	level = &walker->levels[walk->nr_levels++];
	level->kind = kind;
	level->scope = scope;
	level->first = first;
	level->nr = nr;
	level->pool_mark = mark;
	level->made = NULL;
	return PPROF_OK;
}

/* The present entry as a scope. */
static void fill_scope(const struct walk *walk, struct dwarf_scope *outer,
		       bool is_inlined, struct dwarf_scope *scope)
{
	const struct dwarf_value *origin = &walk->attrs.values[SLOT_ORIGIN];

	memset(scope, 0, sizeof(*scope));
	scope->outer = outer;
	scope->function = UINT32_MAX;
	scope->die.unit = walk->unit;
	scope->die.offset = walk->die;
	/* Inlined calls of one function share its name through its entry. */
	if (is_inlined && dwarf_has(&walk->attrs, SLOT_ORIGIN) &&
	    !dwarf_value_die(walk->unit, origin, &scope->die))
		scope->die.unit = NULL;
	scope->call_file = dwarf_value_u32(&walk->attrs, SLOT_CALL_FILE);
	scope->call_line = dwarf_value_u32(&walk->attrs, SLOT_CALL_LINE);
	scope->call_column = dwarf_value_u32(&walk->attrs, SLOT_CALL_COLUMN);
}

static struct dwarf_scope *new_scope(struct walk *walk,
				     const struct dwarf_scope *model)
{
	struct dwarf_scope *scope;

	scope = arena_alloc(walk->walker->arena, 1, sizeof(*scope));
	if (scope)
		*scope = *model;
	return scope;
}

/*
 * True when a target that has `scope` so far may go on into a call that
 * stands in `around`.
 */
static bool may_enter(const struct walk *walk, const struct dwarf_scope *scope,
		      const struct dwarf_scope *around)
{
	if (!walk->is_loose)
		return scope == around;
	while (around && around != scope)
		around = around->outer;
	return scope && around;
}

/*
 * Keep those targets on the pool from `first` that this entry may claim: of
 * functions over one address the smallest wins, then the first; of inlined
 * calls the one directly inside `outer`.
 */
static size_t claim(struct walk *walk, size_t first, struct dwarf_scope *outer,
		    struct dwarf_scope *scope, uint64_t size)
{
	struct dwarf_walker *walker = walk->walker;
	struct dwarf_targets *targets = walk->targets;
	size_t i, kept = first;

	for (i = first; i < walker->nr_pool; i++) {
		uint32_t t = walker->pool[i];

		if (outer ? !may_enter(walk, targets->scopes[t], outer) :
		    targets->scopes[t] && targets->sizes[t] <= size)
			continue;
		targets->scopes[t] = scope;
		if (!outer)
			targets->sizes[t] = size;
		walker->pool[kept++] = t;
	}
	walker->nr_pool = kept;
	return kept - first;
}

/* Go on behind the children of the present entry, whose attrs were read. */
static enum pprof_status leave_out(struct walk *walk)
{
	const struct dwarf_value *sibling = &walk->attrs.values[SLOT_SIBLING];

	if (dwarf_has(&walk->attrs, SLOT_SIBLING)) {
		dwarf_jump(walk->unit, &walk->cursor, sibling->u);
		return PPROF_OK;
	}
	return dwarf_skip_children(walk->unit, walk->table, &walk->cursor)
		? PPROF_OK : PPROF_FORMAT;
}

static const struct dwarf_level *top(const struct walk *walk)
{
	return &walk->walker->levels[walk->nr_levels - 1];
}

/* Descend without having found anything: only in the deep pass. */
static enum pprof_status pass_through(struct walk *walk)
{
	const size_t mark = walk->walker->nr_pool;

	if (!walk->is_deep)
		return leave_out(walk);
	return push_level(walk, LEVEL_THROUGH, NULL, 0, walk->nr_all, mark);
}

/* The same with a function or call, which may turn out to be an outer one. */
static enum pprof_status pass_scope(struct walk *walk, bool is_inlined)
{
	const struct dwarf_level level = *top(walk);
	const size_t mark = walk->walker->nr_pool;
	enum pprof_status status;

	if (walk->is_loose && level.scope && is_inlined)
		status = push_level(walk, LEVEL_PASSED, level.scope,
				    level.first, level.nr, mark);
	else if (walk->is_loose && walk->is_deep)
		status = push_level(walk, LEVEL_PASSED, NULL, 0, walk->nr_all,
				    mark);
	else
		return is_inlined ? leave_out(walk) : pass_through(walk);
	if (!status)
		fill_scope(walk, NULL, is_inlined,
			   &walk->walker->levels[walk->nr_levels - 1].passed);
	return status;
}

/*
 * DWARF 2 gives a function or call one range, whatever it is made of, and so
 * a call inside may lie outside of it: scopes passed on the way are outer
 * ones too.
 */
static enum pprof_status make_outer(struct walk *walk,
				    struct dwarf_scope **ret)
{
	struct dwarf_scope *outer = NULL;
	size_t i;

	for (i = 0; i < walk->nr_levels; i++) {
		struct dwarf_level *level = &walk->walker->levels[i];

		if (level->kind == LEVEL_SCOPE)
			outer = level->scope;
		if (level->kind != LEVEL_PASSED)
			continue;
		if (!level->made) {
			level->passed.outer = outer;
			level->made = new_scope(walk, &level->passed);
		}
		if (!level->made)
			return PPROF_NOMEM;
		outer = level->made;
	}
	*ret = outer;
	return PPROF_OK;
}

/* A function, or an inlined call inside `outer`. */
static enum pprof_status visit_scope(struct walk *walk,
				     const struct dwarf_abbrev *abbrev,
				     struct dwarf_scope *outer)
{
	struct dwarf_walker *walker = walk->walker;
	const bool is_inlined = abbrev->kind == DWARF_INLINED;
	const size_t mark = walker->nr_pool;
	struct dwarf_scope model, *scope, *around = NULL;
	enum pprof_status status;
	uint64_t size;
	size_t nr;

	if (outer)
		status = match(walk, top(walk)->first, top(walk)->nr, &size);
	else
		status = match(walk, 0, walk->nr_all, &size);
	if (status)
		return status;
	if (walker->nr_pool == mark)
		return abbrev->has_children ? pass_scope(walk, is_inlined)
					    : PPROF_OK;
	if (is_inlined)
		status = make_outer(walk, &around);
	fill_scope(walk, around, is_inlined, &model);
	scope = new_scope(walk, &model);
	if (!scope || status)
		return PPROF_NOMEM;
	nr = claim(walk, mark, outer ? around : NULL, scope, size);
	if (!abbrev->has_children || (nr && outer && walk->is_loose))
		walker->nr_pool = mark;
	if (!abbrev->has_children)
		return PPROF_OK;
	if (!nr)
		return pass_scope(walk, is_inlined);
	if (outer && walk->is_loose)
		return push_level(walk, LEVEL_SCOPE, scope, top(walk)->first,
				  top(walk)->nr, mark);
	return push_level(walk, LEVEL_SCOPE, scope, mark, nr, mark);
}

static enum pprof_status visit_block(struct walk *walk,
				     const struct dwarf_abbrev *abbrev)
{
	const struct dwarf_level level = *top(walk);
	const size_t mark = walk->walker->nr_pool;
	enum pprof_status status;
	uint64_t size;
	size_t nr;

	if (!abbrev->has_children)
		return PPROF_OK;
	if (!level.scope)
		return pass_through(walk);
	if (!abbrev->has_pc || walk->is_loose)
		return push_level(walk, LEVEL_THROUGH, level.scope,
				  level.first, level.nr, mark);
	status = match(walk, level.first, level.nr, &size);
	if (status)
		return status;
	nr = walk->walker->nr_pool - mark;
	return nr ? push_level(walk, LEVEL_THROUGH, level.scope, mark, nr,
			       mark) : pass_through(walk);
}

/* True when the entry's attributes have to be read. */
static bool is_wanted(const struct walk *walk,
		      const struct dwarf_abbrev *abbrev)
{
	switch ((enum dwarf_kind)abbrev->kind) {
	case DWARF_FUNC:
		return true;
	case DWARF_ABSTRACT:
		return walk->is_deep && walk->is_loose &&
		       abbrev->has_children;
	case DWARF_INLINED:
		return top(walk)->scope || (walk->is_deep && walk->is_loose);
	case DWARF_BLOCK:
		return top(walk)->scope && abbrev->has_pc &&
		       abbrev->has_children;
	default:
		return false;
	}
}

static enum pprof_status visit_wanted(struct walk *walk,
				      const struct dwarf_abbrev *abbrev)
{
	if (!dwarf_read_attrs(walk->unit, walk->table, abbrev, &walk->cursor,
			      &walk->attrs))
		return PPROF_FORMAT;
	if (abbrev->kind == DWARF_ABSTRACT)
		return pass_scope(walk, false);
	if (abbrev->kind == DWARF_FUNC)
		return visit_scope(walk, abbrev, NULL);
	if (abbrev->kind == DWARF_INLINED)
		return visit_scope(walk, abbrev, top(walk)->scope);
	return visit_block(walk, abbrev);
}

/* Entries that are passed over, whole or down into their children. */
static enum pprof_status visit_other(struct walk *walk,
				     const struct dwarf_abbrev *abbrev)
{
	const bool in_function = top(walk)->scope;
	const bool is_block = abbrev->kind == DWARF_BLOCK && in_function;
	/* An inlined call holds no function of its own. */
	const bool enters = abbrev->has_children &&
		(is_block || (walk->is_deep && abbrev->kind != DWARF_INLINED) ||
		 (!in_function && abbrev->kind == DWARF_NAMESPACE));
	bool jumped;

	dwarf_skip_attrs(walk->unit, walk->table, abbrev, &walk->cursor,
			 !enters && abbrev->has_children, &jumped);
	if (is_block)
		return visit_block(walk, abbrev);
	if (enters)
		return push_level(walk, LEVEL_THROUGH, NULL, 0, walk->nr_all,
				  walk->walker->nr_pool);
	if (abbrev->has_children && !jumped &&
	    !dwarf_skip_children(walk->unit, walk->table, &walk->cursor))
		return PPROF_FORMAT;
	return PPROF_OK;
}

static enum pprof_status step(struct walk *walk)
{
	const struct dwarf_abbrev *abbrev;
	uint64_t code;

	walk->die = (uint64_t)(walk->cursor.p - walk->unit->data);
	code = dwarf_uleb(&walk->cursor);
	if (!code) {
		walk->walker->nr_pool = top(walk)->pool_mark;
		walk->nr_levels--;
		return PPROF_OK;
	}
	abbrev = dwarf_abbrevs_find(walk->table, code);
	if (!abbrev)
		return PPROF_FORMAT;
	return is_wanted(walk, abbrev) ? visit_wanted(walk, abbrev)
				       : visit_other(walk, abbrev);
}

/*
 * Outside functions most entries are of no interest: run over them with the
 * cursor in registers, up to a function, a namespace or an end.
 */
static enum pprof_status skip_plain(struct walk *walk)
{
	struct dwarf_cursor cursor = walk->cursor;
	const struct dwarf_abbrev *abbrev;
	const uint8_t *here;
	uint64_t code;
	bool jumped;

	for (;;) {
		here = cursor.p;
		__builtin_prefetch(here + PREFETCH_BYTES);
		code = dwarf_uleb(&cursor);
		abbrev = code ? dwarf_abbrevs_find(walk->table, code) : NULL;
		if (!abbrev || abbrev->kind == DWARF_FUNC ||
		    abbrev->kind == DWARF_NAMESPACE)
			break;
		dwarf_skip_attrs(walk->unit, walk->table, abbrev, &cursor,
				 abbrev->has_children, &jumped);
		if (abbrev->has_children && !jumped &&
		    !dwarf_skip_children(walk->unit, walk->table, &cursor))
			return PPROF_FORMAT;
		if (cursor.failed)
			return PPROF_FORMAT;
	}
	walk->cursor.p = here;
	return PPROF_OK;
}

/* One pass over the unit with the targets that are on the pool. */
static enum pprof_status run_pass(struct walk *walk)
{
	const struct dwarf_abbrev *abbrev;
	enum pprof_status status;
	bool jumped;

	walk->nr_all = walk->walker->nr_pool;
	walk->nr_levels = 0;
	walk->cursor = dwarf_unit_at(walk->unit, walk->unit->first_die);
	abbrev = dwarf_abbrevs_find(walk->table, dwarf_uleb(&walk->cursor));
	if (!abbrev)
		return PPROF_FORMAT;
	dwarf_skip_attrs(walk->unit, walk->table, abbrev, &walk->cursor, false,
			 &jumped);
	if (!abbrev->has_children)
		return PPROF_OK;
	status = push_level(walk, LEVEL_THROUGH, NULL, 0, walk->nr_all,
			    walk->nr_all);
	while (!status && walk->nr_levels) {
		if (!walk->is_deep && !top(walk)->scope)
			status = skip_plain(walk);
		if (status)
			break;
		/* The last null entries of a unit may be left out. */
		if (walk->cursor.p == walk->cursor.end)
			return PPROF_OK;
		status = step(walk);
		if (walk->cursor.failed)
			return PPROF_FORMAT;
	}
	return status;
}

static enum pprof_status collect_missing(struct dwarf_walker *walker,
					 const struct dwarf_targets *targets)
{
	size_t i;

	walker->nr_pool = 0;
	for (i = 0; i < targets->nr; i++) {
		if (!targets->scopes[i] && !push_pool(walker, (uint32_t)i))
			return PPROF_NOMEM;
	}
	return PPROF_OK;
}

enum pprof_status dwarf_walk(struct dwarf_walker *walker,
			     const struct dwarf_unit *unit, bool is_deep,
			     struct dwarf_targets *targets)
{
	struct walk walk = { 0 };
	enum pprof_status status;

	walk.walker = walker;
	walk.unit = unit;
	walk.targets = targets;
	walk.is_loose = unit->version == 2;
	status = dwarf_abbrev_cache_get(walker->abbrevs, unit, &walk.table);
	if (status)
		return status;
	status = collect_missing(walker, targets);
	if (!status)
		status = run_pass(&walk);
	if (!status)
		status = collect_missing(walker, targets);
	if (status || !is_deep || !walker->nr_pool)
		return status;
	walk.is_deep = true;
	return run_pass(&walk);
}
