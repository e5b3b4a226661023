/* SPDX-License-Identifier: Apache-2.0
 *
 * Callgrind's format for kcachegrind (valgrind docs, "Callgrind Format
 * Specification"): costs by function and line, and calls between functions.
 * Inlined calls are calls like others. How often a function was called is
 * not known: 0 is written.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/ordered.h"
#include "output/writer.h"
#include "view/walk.h"

#include <stdlib.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

/* A function as callgrind tells them apart. */
struct cg_func {
	str_id name; /* of the profile; 0: the address is its name */
	str_id file;
	str_id object;
	uint64_t address;
};

/* Costs of a line of a function, or of a call from there. */
struct cg_row {
	uint32_t func;
	uint32_t callee;    /* UINT32_MAX: the line's own cost */
	int64_t line;
	uint64_t last;      /* sample that added to it last, plus 1 */
};

struct callgrind {
	const struct pprof_profile *profile;
	const struct pprof_write_opts *opts;
	struct pprof_sink *sink;
	struct ordered ordered;
	struct buf out;
	struct cg_func *funcs;
	size_t nr_funcs, cap_funcs;
	struct idmap func_map;
	struct cg_row *rows;
	size_t nr_rows, cap_rows;
	struct idmap row_map;
	int64_t *costs;     /* [nr_rows][nr_types] */
	size_t cap_costs;
	uint32_t *order;    /* rows by function, line, callee */
};

/* --------------------------------------------------------------- tables */

static uint64_t hash_func_row(const struct cg_func *func)
{
	return hash_u64(((uint64_t)func->name << 32 | func->file) ^
			hash_u64(func->address + func->object));
}

static uint64_t hash_func(const void *ctx, uint32_t id)
{
	const struct callgrind *c = ctx;

	return hash_func_row(&c->funcs[id]);
}

static uint64_t hash_row_key(const struct cg_row *row)
{
	return hash_u64(((uint64_t)row->func << 32 | row->callee) ^
			hash_u64((uint64_t)row->line));
}

static uint64_t hash_row(const void *ctx, uint32_t id)
{
	const struct callgrind *c = ctx;

	return hash_row_key(&c->rows[id]);
}

/* Number of a function; UINT32_MAX: out of memory. */
static uint32_t find_func(struct callgrind *c, const struct cg_func *func)
{
	uint64_t hash = hash_func_row(func);
	uint32_t id;
	size_t i;

	if (!idmap_reserve(&c->func_map, hash_func, c))
		return UINT32_MAX;
	i = idmap_first(&c->func_map, hash);
	for (; (id = c->func_map.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&c->func_map, i)) {
		if (!memcmp(&c->funcs[id], func, sizeof(*func)))
			return id;
	}
	if (!mem_grow(c->funcs, c->cap_funcs, c->nr_funcs + 1, MAX_ROWS))
		return UINT32_MAX;
	c->funcs[c->nr_funcs] = *func;
	idmap_put(&c->func_map, hash, (uint32_t)c->nr_funcs);
	return (uint32_t)c->nr_funcs++;
}

static bool same_row(const struct cg_row *a, const struct cg_row *b)
{
	return a->func == b->func && a->callee == b->callee &&
	       a->line == b->line;
}

/* Index of a row of costs, made with zeros; UINT32_MAX: out of memory. */
static uint32_t find_row(struct callgrind *c, const struct cg_row *row)
{
	uint64_t hash = hash_row_key(row);
	size_t nr = c->profile->nr_types, i;
	uint32_t id;

	if (!idmap_reserve(&c->row_map, hash_row, c))
		return UINT32_MAX;
	i = idmap_first(&c->row_map, hash);
	for (; (id = c->row_map.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&c->row_map, i)) {
		if (same_row(&c->rows[id], row))
			return id;
	}
	if (!mem_grow(c->rows, c->cap_rows, c->nr_rows + 1, MAX_ROWS) ||
	    !mem_grow(c->costs, c->cap_costs, (c->nr_rows + 1) * nr,
		      SIZE_MAX / sizeof(*c->costs)))
		return UINT32_MAX;
	c->rows[c->nr_rows] = *row;
	memset(c->costs + c->nr_rows * nr, 0, nr * sizeof(*c->costs));
	idmap_put(&c->row_map, hash, (uint32_t)c->nr_rows);
	return (uint32_t)c->nr_rows++;
}

/* ------------------------------------------------------------ adding up */

/* Add the present sample to a row, once. */
static bool add_cost(struct callgrind *c, const struct cg_row *key)
{
	uint32_t id = find_row(c, key);
	size_t t, nr = c->profile->nr_types;
	int64_t *cost;

	if (id == UINT32_MAX)
		return false;
	/* A recursive call counts once. */
	if (c->rows[id].last == (uint64_t)c->ordered.sample + 1)
		return true;
	c->rows[id].last = (uint64_t)c->ordered.sample + 1;
	cost = c->costs + id * nr;
	for (t = 0; t < nr; t++)
		cost[t] = clamp_i64((__int128)cost[t] +
				    c->profile->values[t][c->ordered.sample]);
	return true;
}

/* A frame below the one before it, which calls it. */
static bool enter(struct callgrind *c, struct cg_row *caller, bool *is_first,
		  const struct cg_func *func, int64_t line)
{
	uint32_t id = find_func(c, func);

	if (id == UINT32_MAX)
		return false;
	caller->callee = id;
	if (!*is_first && !add_cost(c, caller))
		return false;
	*is_first = false;
	memset(caller, 0, sizeof(*caller));
	caller->func = id;
	caller->callee = UINT32_MAX;
	caller->line = line;
	return true;
}

/* The frames of a location, outermost first. */
static bool enter_location(struct callgrind *c, struct cg_row *caller,
			   bool *is_first, const struct location *loc)
{
	const struct pprof_profile *p = c->profile;
	struct cg_func func;
	uint32_t i;

	memset(&func, 0, sizeof(func));
	func.object = p->mappings[loc->mapping].file;
	if (!loc->nr_lines) {
		func.address = loc->address;
		return enter(c, caller, is_first, &func, 0);
	}
	for (i = loc->nr_lines; i--;) {
		const struct line *line = &p->lines[loc->lines + i];
		const struct function *row = &p->functions[line->func];

		func.name = row->name ? row->name : row->system_name;
		func.file = row->file;
		if (!enter(c, caller, is_first, &func, line->line))
			return false;
		if (c->opts->no_inlines)
			break;
	}
	return true;
}

static bool add_sample(struct callgrind *c)
{
	struct cg_row row = { .callee = UINT32_MAX };
	struct cg_func none;
	bool is_first = true;
	size_t i;

	for (i = c->ordered.nr_frames; i--;) {
		if (!enter_location(c, &row, &is_first,
				    &c->profile->locations[
					    c->ordered.frames[i]]))
			return false;
	}
	memset(&none, 0, sizeof(none));
	if (is_first && !enter(c, &row, &is_first, &none, 0))
		return false;
	row.callee = UINT32_MAX;
	return add_cost(c, &row);
}

/* -------------------------------------------------------------- writing */

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct callgrind *c = ctx;
	const struct cg_row *x = &c->rows[*(const uint32_t *)a];
	const struct cg_row *y = &c->rows[*(const uint32_t *)b];

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	/* A line's own cost comes before its calls. */
	if ((x->callee == UINT32_MAX) != (y->callee == UINT32_MAX))
		return x->callee == UINT32_MAX ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return 0;
}

/* Numbers given to texts as they are met; 0: not yet. */
struct told {
	uint32_t *objects;  /* [nr strings] */
	uint32_t nr_objects;
	uint32_t *files;    /* [nr strings] */
	uint32_t nr_files;
	uint8_t *funcs;     /* [nr_funcs] the name was written */
};

/* "name=(3) text"; the text once a file, and "name=(3)" from then on. */
static void put_name(struct callgrind *c, const char *key, str_id id,
		     uint32_t *numbers, uint32_t *nr)
{
	bool is_new = !numbers[id];

	if (is_new)
		numbers[id] = ++*nr;
	buf_printf(&c->out, "%s=(%u)", key, numbers[id]);
	if (is_new) {
		buf_byte(&c->out, ' ');
		ordered_put_line(&c->out, id ? profile_str(c->profile, id) :
				 "???");
	}
	buf_byte(&c->out, '\n');
}

static void put_object(struct callgrind *c, const char *key, uint32_t func,
		       struct told *told)
{
	put_name(c, key, c->funcs[func].object, told->objects,
		 &told->nr_objects);
}

static void put_file(struct callgrind *c, const char *key, uint32_t func,
		     struct told *told)
{
	put_name(c, key, c->funcs[func].file, told->files, &told->nr_files);
}

static void put_func_name(struct callgrind *c, const char *key, uint32_t id,
			  struct told *told)
{
	const struct cg_func *func = &c->funcs[id];

	buf_printf(&c->out, "%s=(%u)", key, id + 1);
	if (!told->funcs[id]) {
		told->funcs[id] = 1;
		buf_byte(&c->out, ' ');
		if (func->name)
			ordered_put_line(&c->out, profile_str(c->profile,
							      func->name));
		else if (func->address)
			buf_printf(&c->out, "0x%llx",
				   (unsigned long long)func->address);
		else
			buf_str(&c->out, "[no stack]");
	}
	buf_byte(&c->out, '\n');
}

static void put_costs(struct callgrind *c, uint32_t id)
{
	size_t nr = c->profile->nr_types, t;
	int64_t line = c->rows[id].line;

	buf_i64(&c->out, line > 0 ? line : 0);
	for (t = 0; t < nr; t++) {
		buf_byte(&c->out, ' ');
		buf_i64(&c->out, c->costs[id * nr + t]);
	}
	buf_byte(&c->out, '\n');
}

static void put_row(struct callgrind *c, uint32_t id, bool is_new,
		    struct told *told)
{
	const struct cg_row *row = &c->rows[id];

	if (is_new) {
		buf_byte(&c->out, '\n');
		put_object(c, "ob", row->func, told);
		put_file(c, "fl", row->func, told);
		put_func_name(c, "fn", row->func, told);
	}
	if (row->callee != UINT32_MAX) {
		put_object(c, "cob", row->callee, told);
		put_file(c, "cfi", row->callee, told);
		put_func_name(c, "cfn", row->callee, told);
		buf_str(&c->out, "calls=0 0\n");
	}
	put_costs(c, id);
}

/* The name of an event is one word of letters, digits and "_". */
static void put_event(struct callgrind *c, str_id type)
{
	const char *p = profile_str(c->profile, type);

	for (; *p; p++) {
		bool is_plain = (*p >= 'a' && *p <= 'z') ||
				(*p >= 'A' && *p <= 'Z') ||
				(*p >= '0' && *p <= '9');

		buf_byte(&c->out, is_plain ? *p : '_');
	}
	if (!type)
		buf_byte(&c->out, '_');
}

static void put_head(struct callgrind *c)
{
	const struct pprof_profile *p = c->profile;
	size_t t;

	buf_str(&c->out, "# callgrind format\nversion: 1\n"
		"creator: libpprof\npositions: line\n");
	for (t = 0; t < p->nr_types; t++) {
		buf_str(&c->out, "event: ");
		put_event(c, p->types[t].type);
		buf_str(&c->out, " : ");
		ordered_put_line(&c->out, profile_str(p, p->types[t].type));
		buf_str(&c->out, " (");
		ordered_put_line(&c->out, profile_str(p, p->types[t].unit));
		buf_str(&c->out, ")\n");
	}
	buf_str(&c->out, "events:");
	for (t = 0; t < p->nr_types; t++) {
		buf_byte(&c->out, ' ');
		put_event(c, p->types[t].type);
	}
	buf_str(&c->out, "\nsummary:");
	for (t = 0; t < p->nr_types; t++) {
		buf_byte(&c->out, ' ');
		buf_i64(&c->out, profile_column_total(p, t, NULL));
	}
	buf_byte(&c->out, '\n');
}

static enum pprof_status flush(struct callgrind *c, size_t above,
			       struct pprof_error *err)
{
	if (!buf_ok(&c->out))
		return error_nomem(err);
	if (c->out.len < above)
		return PPROF_OK;
	return sink_take_buf(c->sink, &c->out, err);
}

static enum pprof_status put_rows(struct callgrind *c, struct told *told,
				  struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	uint32_t last = UINT32_MAX, id;
	size_t i;

	for (i = 0; i < c->nr_rows; i++)
		c->order[i] = (uint32_t)i;
	qsort_r(c->order, c->nr_rows, sizeof(*c->order), compare_rows, c);
	put_head(c);
	for (i = 0; !status && i < c->nr_rows; i++) {
		id = c->order[i];
		put_row(c, id, c->rows[id].func != last, told);
		last = c->rows[id].func;
		status = flush(c, CHUNK_BYTES, err);
	}
	return status ? status : flush(c, 0, err);
}

static enum pprof_status write_parts(struct callgrind *c,
				     struct pprof_error *err)
{
	struct told told = { .objects = NULL };
	enum pprof_status status = PPROF_OK;

	while (!status && ordered_next(&c->ordered)) {
		if (!add_sample(c))
			status = error_nomem(err);
	}
	if (!status && c->ordered.failed)
		status = error_nomem(err);
	if (status)
		return status;
	told.objects = mem_zalloc(c->profile->strings.nr,
				  sizeof(*told.objects));
	told.files = mem_zalloc(c->profile->strings.nr, sizeof(*told.files));
	told.funcs = mem_zalloc(c->nr_funcs + 1, 1);
	c->order = mem_alloc(c->nr_rows + 1, sizeof(*c->order));
	if (told.objects && told.files && told.funcs && c->order)
		status = put_rows(c, &told, err);
	else
		status = error_nomem(err);
	mem_free(told.objects);
	mem_free(told.files);
	mem_free(told.funcs);
	return status;
}

static enum pprof_status write_callgrind(const struct pprof_profile *profile,
					 const struct pprof_write_opts *opts,
					 struct pprof_sink *sink,
					 struct pprof_error *err)
{
	struct callgrind c = { .profile = profile, .opts = opts,
			       .sink = sink };
	enum pprof_status status;

	buf_init(&c.out, PTRDIFF_MAX);
	status = ordered_init(&c.ordered, profile, err);
	if (!status)
		status = write_parts(&c, err);
	ordered_fini(&c.ordered);
	buf_fini(&c.out);
	mem_free(c.funcs);
	mem_free(c.rows);
	mem_free(c.costs);
	mem_free(c.order);
	idmap_fini(&c.func_map);
	idmap_fini(&c.row_map);
	return status;
}

const struct writer writer_callgrind = {
	.name = "callgrind",
	.description = "costs and calls for kcachegrind",
	.write = write_callgrind,
};
