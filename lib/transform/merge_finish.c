/* SPDX-License-Identifier: Apache-2.0
 *
 * From the merger's tables to a profile: joins what only shows once all
 * inputs are known, gives every range its place and every column its.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/merge.h"
#include "transform/resample.h"
#include "transform/types.h"

#include <stdlib.h>

/* The work of one pprof_merger_finish(). */
struct finishing {
	struct pprof_merger *merger;
	map_id *row_target;  /* [nr_rows] row that a row joins: itself or 0 */
	loc_id *loc_target;  /* [nr_locations] likewise; NULL: none joins */
	size_t nr_rows_kept; /* rows in the profile, row 0 included */
};

/* ------------------------------------------- ranges without a build ID */

/* By path, offset and size; those with a build ID first. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct pprof_merger *m = ctx;
	const struct merged_row *ra = &m->rows[*(const map_id *)a];
	const struct merged_row *rb = &m->rows[*(const map_id *)b];
	str_id fa = ra->kind == ROW_PATH ? ra->key_file : ra->file;
	str_id fb = rb->kind == ROW_PATH ? rb->key_file : rb->file;

	if (fa != fb)
		return fa < fb ? -1 : 1;
	if (ra->offset != rb->offset)
		return ra->offset < rb->offset ? -1 : 1;
	if (ra->size_pages != rb->size_pages)
		return ra->size_pages < rb->size_pages ? -1 : 1;
	return (int)rb->kind - (int)ra->kind;
}

static bool same_place(const struct pprof_merger *m, map_id a, map_id b)
{
	const struct merged_row *ra = &m->rows[a], *rb = &m->rows[b];
	str_id fa = ra->kind == ROW_PATH ? ra->key_file : ra->file;
	str_id fb = rb->kind == ROW_PATH ? rb->key_file : rb->file;

	return fa == fb && ra->offset == rb->offset &&
	       ra->size_pages == rb->size_pages;
}

/* Let a range without build ID join the one build that it can be of. */
static void join_row(struct finishing *f, map_id from, map_id to)
{
	struct merged_row *src = &f->merger->rows[from];
	struct merged_row *dst = &f->merger->rows[to];

	f->row_target[from] = to;
	if (src->start < dst->start)
		dst->start = src->start;
	if (src->main_start < dst->main_start)
		dst->main_start = src->main_start;
	if (src->size > dst->size)
		dst->size = src->size;
	dst->is_code |= src->is_code;
}

static bool list_rows(const struct pprof_merger *m, map_id *rows,
		      size_t *ret_nr)
{
	bool any_build = false, any_path = false;
	size_t i, nr = 0;

	for (i = 1; i < m->nr_rows; i++) {
		if (m->rows[i].kind == ROW_PLAIN || !m->rows[i].file)
			continue;
		any_build |= m->rows[i].kind == ROW_BUILD;
		any_path |= m->rows[i].kind == ROW_PATH;
		rows[nr++] = (map_id)i;
	}
	*ret_nr = nr;
	return any_build && any_path;
}

/* With base names as keys, a build is known by its base name as well. */
static bool use_base_names(struct pprof_merger *m, const map_id *rows,
			   size_t nr, str_id *saved)
{
	const char *file, *slash;
	size_t i;

	for (i = 0; i < nr; i++) {
		struct merged_row *row = &m->rows[rows[i]];

		saved[i] = row->file;
		if (row->kind != ROW_BUILD || !m->opts.match_base_names)
			continue;
		file = profile_str(m->builder.profile, row->file);
		slash = strrchr(file, '/');
		row->file = merger_str(m, slash && slash[1] ? slash + 1
							    : file);
		if (row->file == ID_FAILED)
			return false;
	}
	return true;
}

static void join_sorted_rows(struct finishing *f, const map_id *rows,
			     size_t nr)
{
	const struct pprof_merger *m = f->merger;
	size_t i, j, builds;

	for (i = 0; i < nr; i = j) {
		builds = 0;
		for (j = i; j < nr && same_place(m, rows[i], rows[j]); j++)
			builds += m->rows[rows[j]].kind == ROW_BUILD;
		/* Builds come first, and the path is one row at most. */
		if (builds == 1 && j == i + 2)
			join_row(f, rows[i + 1], rows[i]);
	}
}

static bool join_rows(struct finishing *f, bool *ret_any)
{
	struct pprof_merger *m = f->merger;
	map_id *rows = mem_alloc(m->nr_rows, sizeof(*rows));
	str_id *saved = mem_alloc(m->nr_rows, sizeof(*saved));
	size_t nr = 0, i;
	bool ok = rows && saved;

	if (ok && list_rows(m, rows, &nr)) {
		ok = use_base_names(m, rows, nr, saved);
		for (i = 0; i < nr; i++)
			f->row_target[rows[i]] = saved[i];
		qsort_r(rows, nr, sizeof(*rows), compare_rows, m);
		for (i = 0; i < nr; i++)
			saved[i] = f->row_target[rows[i]];
		for (i = 0; i < nr; i++)
			f->row_target[rows[i]] = rows[i];
		join_sorted_rows(f, rows, nr);
		for (i = 0; i < nr; i++) {
			m->rows[rows[i]].file = saved[i];
			*ret_any |= f->row_target[rows[i]] != rows[i];
		}
	}
	mem_free(rows);
	mem_free(saved);
	return ok;
}

/* ------------------------------------------------------------- locations */

/* A location whose range turned out to be one with a build ID. */
static bool move_location(struct finishing *f, loc_id id, map_id row)
{
	struct pprof_merger *m = f->merger;
	struct pprof_profile *p = m->builder.profile;
	struct location loc = p->locations[id];
	struct line *lines = mem_alloc(loc.nr_lines, sizeof(*lines));

	/* A copy: the array that the lines are in may move. */
	if (!lines)
		return false;
	if (loc.nr_lines)
		memcpy(lines, p->lines + loc.lines,
		       loc.nr_lines * sizeof(*lines));
	f->loc_target[id] = merger_intern(m, ROW_BUILD, row, &loc, lines);
	mem_free(lines);
	return f->loc_target[id] != ID_FAILED;
}

static int compare_locations(const void *a, const void *b, void *ctx)
{
	const struct pprof_profile *p = ctx;
	const struct location *la = &p->locations[*(const loc_id *)a];
	const struct location *lb = &p->locations[*(const loc_id *)b];

	if (la->mapping != lb->mapping)
		return la->mapping < lb->mapping ? -1 : 1;
	if (la->address != lb->address)
		return la->address < lb->address ? -1 : 1;
	/* The bare one first. */
	return (la->nr_lines != 0) - (lb->nr_lines != 0);
}

/* Give a bare location the lines that one other at its address has. */
static void join_bare(struct finishing *f, const loc_id *ids, size_t nr)
{
	struct pprof_profile *p = f->merger->builder.profile;
	const struct location *first;
	size_t i, j;

	for (i = 0; i < nr; i = j) {
		first = &p->locations[ids[i]];
		for (j = i + 1; j < nr; j++)
			if (p->locations[ids[j]].mapping != first->mapping ||
			    p->locations[ids[j]].address != first->address)
				break;
		if (first->nr_lines || j != i + 2)
			continue;
		f->loc_target[ids[i]] = ids[i + 1];
		p->locations[ids[i + 1]].is_folded |= first->is_folded;
	}
}

static bool join_bare_locations(struct finishing *f, size_t nr_locations)
{
	struct pprof_merger *m = f->merger;
	struct pprof_profile *p = m->builder.profile;
	loc_id *ids = mem_alloc(nr_locations, sizeof(*ids));
	bool any = false;
	size_t nr = 0, i;

	if (!ids)
		return false;
	for (i = 1; i < nr_locations; i++) {
		if (m->kinds[i] != ROW_PATH || f->loc_target[i])
			continue;
		any |= !p->locations[i].nr_lines;
		ids[nr++] = (loc_id)i;
	}
	if (any) {
		qsort_r(ids, nr, sizeof(*ids), compare_locations, p);
		join_bare(f, ids, nr);
	}
	mem_free(ids);
	return true;
}

static bool join_locations(struct finishing *f, bool any_row)
{
	struct pprof_merger *m = f->merger;
	struct pprof_profile *p = m->builder.profile;
	size_t nr = p->nr_locations, i;

	f->loc_target = mem_zalloc(nr + 1, sizeof(*f->loc_target));
	if (!f->loc_target)
		return false;
	for (i = 1; any_row && i < nr; i++) {
		map_id row = p->locations[i].mapping;
		map_id target = row ? f->row_target[row] : 0;

		if (!row || target == row)
			continue;
		if (m->kinds[i] == ROW_PATH) {
			if (!move_location(f, (loc_id)i, target))
				return false;
		} else {
			p->locations[i].mapping = target;
		}
	}
	return join_bare_locations(f, nr);
}

/* --------------------------------------------------------------- samples */

static bool is_zero(const struct pprof_profile *p, size_t sample)
{
	size_t i;

	for (i = 0; i < p->nr_types; i++)
		if (p->values[i][sample])
			return false;
	return true;
}

static bool needs_resample(const struct finishing *f, size_t nr_targets)
{
	const struct pprof_profile *p = f->merger->builder.profile;
	size_t i;

	for (i = 1; i < nr_targets; i++)
		if (f->loc_target[i])
			return true;
	for (i = 0; i < p->nr_samples; i++)
		if (is_zero(p, i))
			return true;
	return false;
}

/* Leave out what came to nothing, and put joined locations in place. */
static enum pprof_status resample(struct finishing *f, size_t nr_targets,
				  struct pprof_error *err)
{
	struct pprof_profile *p = f->merger->builder.profile;
	struct resample r;
	enum pprof_status status;
	size_t i;

	if (!needs_resample(f, nr_targets))
		return PPROF_OK;
	status = resample_init(&r, p, &f->merger->diags, err);
	while (!status && resample_next(&r)) {
		for (i = 0; i < r.nr_frames; i++)
			if (r.frames[i] < nr_targets &&
			    f->loc_target[r.frames[i]])
				r.frames[i] = f->loc_target[r.frames[i]];
		for (i = 0; i < r.nr_samples; i++)
			if (!is_zero(p, r.samples[i]))
				resample_add(&r, r.samples[i],
					     sample_lset(p, r.samples[i]));
	}
	if (!status)
		status = resample_finish(&r, err);
	resample_fini(&r);
	return status;
}

/* Largest values, or averages, where those were asked for. */
static void settle_values(struct pprof_merger *m)
{
	struct pprof_profile *p = m->builder.profile;
	int64_t nr = (int64_t)m->nr_inputs;
	size_t i, j;

	for (i = 0; i < p->nr_types; i++) {
		int64_t *values = p->values[i];

		for (j = 0; j < p->nr_samples; j++) {
			if (m->opts.mode == PPROF_MERGE_MAX)
				values[j] = m->largest[i][j] == INT64_MIN
						    ? 0
						    : m->largest[i][j];
			else if (m->opts.mode == PPROF_MERGE_AVG)
				values[j] = (int64_t)(((__int128)values[j] * 2 +
					(values[j] < 0 ? -nr : nr)) /
					((__int128)nr * 2));
		}
	}
}

/* -------------------------------------------------------------- mappings */

/* What the lines of a row's locations have, as flags of the mapping. */
static uint32_t line_flags(const struct pprof_profile *p,
			   const struct location *loc)
{
	uint32_t flags = 0, i;

	if (loc->nr_lines > 1)
		flags |= MAP_HAS_INLINE_FRAMES;
	for (i = 0; i < loc->nr_lines; i++) {
		const struct line *line = &p->lines[loc->lines + i];
		const struct function *func = &p->functions[line->func];

		if (func->name)
			flags |= MAP_HAS_FUNCTIONS;
		if (func->file)
			flags |= MAP_HAS_FILENAMES;
		if (line->line)
			flags |= MAP_HAS_LINE_NUMBERS;
	}
	return flags;
}

/*
 * A viewer takes flags as "no need to symbolize": a mapping has them only
 * when every location of it has lines. `seen` marks locations of stacks.
 */
static void flag_mappings(struct pprof_profile *p, const uint8_t *seen)
{
	const struct location *loc;
	struct mapping *map;
	size_t i;

	for (i = 1; i < p->nr_locations; i++) {
		loc = &p->locations[i];
		if (seen[i] && loc->mapping)
			p->mappings[loc->mapping].flags |= line_flags(p, loc);
	}
	for (i = 1; i < p->nr_locations; i++) {
		loc = &p->locations[i];
		map = &p->mappings[loc->mapping];
		if (seen[i] && loc->mapping && !loc->nr_lines)
			map->flags &= (uint32_t)~(
				MAP_HAS_FUNCTIONS | MAP_HAS_FILENAMES |
				MAP_HAS_LINE_NUMBERS | MAP_HAS_INLINE_FRAMES);
	}
}

static bool set_flags(struct pprof_profile *p)
{
	uint8_t *seen = mem_zalloc(p->nr_locations, 1);
	size_t i;

	if (!seen)
		return false;
	for (i = 0; i < p->stacks.nr_locs; i++)
		seen[p->stacks.locs[i]] = 1;
	flag_mappings(p, seen);
	mem_free(seen);
	return true;
}

static uint64_t row_start(const struct merged_row *row)
{
	if (row->start != UINT64_MAX)
		return row->start;
	return row->main_start != UINT64_MAX ? row->main_start : 0;
}

static int compare_mains(const struct pprof_merger *m, map_id a, map_id b)
{
	const struct strtab *strings = &m->builder.profile->strings;
	const struct merged_row *ra = &m->rows[a], *rb = &m->rows[b];
	int order = strtab_compare(strings, ra->file, rb->file);

	if (!order)
		order = strtab_compare(strings, ra->build_id, rb->build_id);
	if (!order)
		order = (ra->offset > rb->offset) - (ra->offset < rb->offset);
	return order ? order : (ra->size_pages > rb->size_pages) -
				       (ra->size_pages < rb->size_pages);
}

/* The main binary of the result: the first by name of those of the inputs. */
static map_id main_row(const struct finishing *f)
{
	const struct pprof_merger *m = f->merger;
	map_id best = 0;
	size_t i;

	for (i = 1; i < m->nr_rows; i++) {
		if (m->rows[i].main_start == UINT64_MAX ||
		    f->row_target[i] != i)
			continue;
		if (!best || compare_mains(m, (map_id)i, best) < 0)
			best = (map_id)i;
	}
	return best;
}

static bool make_mappings(struct finishing *f)
{
	struct pprof_merger *m = f->merger;
	struct pprof_profile *p = m->builder.profile;
	map_id main = main_row(f);
	struct mapping map;
	size_t i;

	for (i = 1; i < m->nr_rows; i++) {
		const struct merged_row *row = &m->rows[i];

		memset(&map, 0, sizeof(map));
		map.start = row_start(row);
		map.limit = map.start > UINT64_MAX - row->size
				    ? UINT64_MAX
				    : map.start + row->size;
		map.offset = row->offset;
		map.file = row->file;
		map.build_id = row->build_id;
		map.flags = (i == main ? MAP_MAIN : 0u) |
			    (row->is_code ? 0u : MAP_NOT_CODE);
		if (builder_mapping(&m->builder, &map) == ID_FAILED)
			return false;
	}
	for (i = 1; i < p->nr_locations; i++) {
		struct location *loc = &p->locations[i];
		const struct merged_row *row = &m->rows[loc->mapping];

		if (m->kinds[i] != ROW_PLAIN && !row->is_normalised)
			loc->address += row_start(row) - row->offset;
	}
	return set_flags(p);
}

/* ---------------------------------------------------------------- header */

static int compare_types(const void *a, const void *b, void *ctx)
{
	const struct pprof_merger *m = ctx;
	const struct pprof_profile *p = m->builder.profile;
	const struct merged_type *ta = &m->types[*(const size_t *)a];
	const struct merged_type *tb = &m->types[*(const size_t *)b];

	return type_compare(profile_str(p, ta->name), profile_str(p, ta->unit),
			    profile_str(p, tb->name),
			    profile_str(p, tb->unit));
}

/* Columns in their order, under the names that were settled on. */
static void order_types(struct pprof_merger *m)
{
	struct pprof_profile *p = m->builder.profile;
	int64_t *values[SAMPLE_TYPES_MAX];
	size_t order[SAMPLE_TYPES_MAX], i;

	for (i = 0; i < m->nr_types; i++) {
		order[i] = i;
		values[i] = p->values[i];
	}
	qsort_r(order, m->nr_types, sizeof(*order), compare_types, m);
	for (i = 0; i < m->nr_types; i++) {
		const struct merged_type *type = &m->types[order[i]];

		p->values[i] = values[order[i]];
		p->types[i].type = type->name;
		p->types[i].unit = type->unit;
		if (type->stem == m->default_stem && !m->defaults_differ)
			p->default_type = type->name;
	}
	/* The last is what viewers show unless told. */
	if (m->nr_types && p->default_type == p->types[m->nr_types - 1].type)
		p->default_type = 0;
}

static int compare_comments(const void *a, const void *b, void *ctx)
{
	return strtab_compare(ctx, *(const str_id *)a, *(const str_id *)b);
}

/* Two trees of images that share nothing: the inputs are of two programs. */
static enum pprof_status check_images(struct pprof_merger *m,
				      struct pprof_error *err)
{
	const struct pprof_profile *p = m->builder.profile;
	str_id first = 0;
	size_t i;

	for (i = 1; i < m->nr_images && !m->opts.allow_unrelated; i++) {
		if (m->image_parent[i] != i)
			continue;
		if (!first) {
			first = (str_id)i;
			continue;
		}
		return error_plain(err, PPROF_MISMATCH,
				   profile_str(p, m->image_input[first]),
				   "it has no mapped file in common with %s: "
				   "profiles of different programs",
				   profile_str(p, m->image_input[i]));
	}
	return PPROF_OK;
}

static enum pprof_status settle(struct finishing *f, struct pprof_error *err)
{
	struct pprof_merger *m = f->merger;
	struct pprof_profile *p = m->builder.profile;
	enum pprof_status status;
	bool any_row = false;
	size_t i, nr;

	f->row_target = mem_alloc(m->nr_rows, sizeof(*f->row_target));
	if (!f->row_target)
		return error_nomem(err);
	for (i = 0; i < m->nr_rows; i++)
		f->row_target[i] = (map_id)i;
	settle_values(m);
	nr = p->nr_locations;
	if (!join_rows(f, &any_row) || !join_locations(f, any_row))
		return error_nomem(err);
	status = resample(f, nr, err);
	if (status)
		return status;
	if (!make_mappings(f) && !m->builder.status)
		return error_nomem(err);
	order_types(m);
	if (p->nr_comments)
		qsort_r(p->comments, p->nr_comments, sizeof(*p->comments),
			compare_comments, &p->strings);
	return PPROF_OK;
}

enum pprof_status pprof_merger_finish(struct pprof_merger *m,
				      struct pprof_profile **ret_profile,
				      struct pprof_error *err)
{
	struct finishing f = { .merger = m };
	enum pprof_status status = PPROF_OK;

	if (!m->builder.profile)
		return error_plain(err, PPROF_USAGE, NULL,
				   "the merge is finished already");
	builder_flush(&m->builder);
	if (m->builder.status)
		return error_plain(err, m->builder.status, NULL, "%s",
				   m->builder.message);
	status = check_images(m, err);
	if (!status)
		status = settle(&f, err);
	mem_free(f.row_target);
	mem_free(f.loc_target);
	if (!status)
		status = builder_finish(&m->builder, "merged profile",
					ret_profile, err);
	if (!status)
		diags_flush(&m->diags, m->opts.diag, m->opts.diag_ctx);
	return status;
}
