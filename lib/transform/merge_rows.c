/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges, locations and images of a merge: which rows of several inputs are
 * one. See merge.h for the rules.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/merge.h"

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

/* Sizes are compared in pages: the last one is mapped whole. */
#define PAGE_BYTES UINT64_C(4096)

static uint32_t fail_nomem(struct pprof_merger *m)
{
	if (!m->builder.status) {
		m->builder.status = PPROF_NOMEM;
		format_masked(m->builder.message, sizeof(m->builder.message),
			      "out of memory");
	}
	return ID_FAILED;
}

str_id merger_str(struct pprof_merger *m, const char *text)
{
	return builder_cstr(&m->builder, text);
}

/* ---------------------------------------------------------------- ranges */

/* Memory that no file stands behind, under the names that Linux gives it. */
static bool is_nameless(const char *file)
{
	static const char *const prefixes[] = {
		"[", "//anon", "/memfd:", "/dev/", "/SYSV", "/anon_hugepage",
		"anon_inode:", "/drm"
	};
	size_t i;

	if (!*file)
		return true;
	if (!strcmp(file, "[vdso]"))
		return false;
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(file, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Addresses in such a range are those in the file already. */
static bool is_normalised(const struct mapping *map)
{
	return !map->start && !map->offset &&
	       (!map->limit || map->limit == UINT64_MAX);
}

static uint64_t round_up(uint64_t size)
{
	return size > UINT64_MAX - PAGE_BYTES ? UINT64_MAX
					      : (size + PAGE_BYTES - 1) &
							~(PAGE_BYTES - 1);
}

static uint64_t hash_row_key(const struct merged_row *row)
{
	str_id name = row->kind == ROW_BUILD ? row->build_id : row->key_file;
	uint64_t hash = hash_u64((uint64_t)name << 2 | row->kind);

	hash = hash_u64(hash ^ row->offset);
	hash = hash_u64(hash ^ row->size_pages);
	return hash_u64(hash ^ row->plain_start);
}

static uint64_t hash_row(const void *ctx, uint32_t id)
{
	const struct pprof_merger *m = ctx;

	return hash_row_key(&m->rows[id]);
}

static bool same_row(const struct merged_row *a, const struct merged_row *b)
{
	return a->kind == b->kind && a->offset == b->offset &&
	       a->size_pages == b->size_pages &&
	       a->plain_start == b->plain_start &&
	       (a->kind == ROW_BUILD ? a->build_id == b->build_id
				     : a->key_file == b->key_file);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A row with the key of `map` and nothing seen yet. */
static void init_row(struct pprof_merger *m, struct import *import,
		     const struct mapping *map, struct merged_row *row)
{
	const char *file = profile_str(import->src, map->file);

	memset(row, 0, sizeof(*row));
	row->file = import_str(import, map->file);
	row->build_id = import_str(import, map->build_id);
	row->key_file = row->file;
	row->offset = map->offset;
	row->size = map->limit > map->start ? map->limit - map->start : 0;
	row->size_pages = round_up(row->size);
	row->start = UINT64_MAX;
	row->main_start = UINT64_MAX;
	row->is_normalised = is_normalised(map);
	if (map->build_id)
		row->kind = ROW_BUILD;
	else if (!is_nameless(file) && !row->is_normalised)
		row->kind = ROW_PATH;
	if (row->kind == ROW_PATH && m->opts.match_base_names)
		row->key_file = merger_str(m, base_name(file));
	if (row->kind == ROW_PLAIN)
		row->plain_start = map->start;
}

/* The smaller of two file names; no name is none. */
static str_id smaller_file(const struct pprof_merger *m, str_id a, str_id b)
{
	if (!a || !b)
		return a ? a : b;
	return strtab_compare(&m->builder.profile->strings, a, b) <= 0 ? a
								       : b;
}

map_id merger_row(struct pprof_merger *m, struct import *import,
		  const struct mapping *map)
{
	struct merged_row key, *row;
	uint64_t hash;
	size_t slot;
	uint32_t id;

	init_row(m, import, map, &key);
	if (m->builder.status)
		return ID_FAILED;
	if (!idmap_reserve(&m->row_index, hash_row, m) ||
	    !mem_grow(m->rows, m->cap_rows, m->nr_rows + 1, MAX_ROWS))
		return fail_nomem(m);
	hash = hash_row_key(&key);
	for (slot = idmap_first(&m->row_index, hash);
	     (id = m->row_index.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&m->row_index, slot))
		if (same_row(&m->rows[id], &key))
			break;
	if (id == IDMAP_FREE) {
		id = (uint32_t)m->nr_rows++;
		m->rows[id] = key;
		idmap_put(&m->row_index, hash, id);
	}
	row = &m->rows[id];
	row->file = smaller_file(m, row->file, key.file);
	if (key.size > row->size)
		row->size = key.size;
	if (!(map->flags & MAP_NOT_CODE))
		row->is_code = true;
	return id;
}

/* -------------------------------------------------------------- adoption */

static int compare_str(const struct pprof_profile *p, str_id a, str_id b)
{
	return a == b ? 0 : strtab_compare(&p->strings, a, b);
}

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_line(const struct pprof_profile *p, const struct line *a,
			const struct line *b)
{
	const struct function *fa = &p->functions[a->func];
	const struct function *fb = &p->functions[b->func];
	int order = compare_str(p, fa->name, fb->name);

	if (!order)
		order = compare_str(p, fa->system_name, fb->system_name);
	if (!order)
		order = compare_str(p, fa->file, fb->file);
	if (!order)
		order = compare_i64(fa->start_line, fb->start_line);
	if (!order)
		order = compare_i64(a->line, b->line);
	return order ? order : compare_i64(a->column, b->column);
}

/* How much a list of `nr` lines tells beside the number of lines. */
static uint32_t count_details(const struct pprof_profile *p,
			      const struct line *lines, uint32_t nr)
{
	uint32_t details = 0, i;

	for (i = 0; i < nr; i++) {
		details += p->functions[lines[i].func].file != 0;
		details += lines[i].line != 0;
	}
	return details;
}

/* Positive when list `a` is to be kept rather than `b` of equal length. */
static int prefer_lines(const struct pprof_profile *p, const struct line *a,
			const struct line *b, uint32_t nr)
{
	uint32_t details_a = count_details(p, a, nr);
	uint32_t details_b = count_details(p, b, nr), i;
	int order = 0;

	if (details_a != details_b)
		return details_a > details_b ? 1 : -1;
	for (i = 0; !order && i < nr; i++)
		order = compare_line(p, &b[i], &a[i]);
	return order;
}

static bool append_lines(struct pprof_profile *p, const struct line *lines,
			 uint32_t nr)
{
	if (!mem_grow(p->lines, p->cap_lines, p->nr_lines + nr, MAX_ROWS))
		return false;
	if (nr)
		memcpy(p->lines + p->nr_lines, lines, nr * sizeof(*lines));
	p->nr_lines += nr;
	return true;
}

/* Let a location have these lines if they say more than its own. */
static bool adopt_lines(struct pprof_merger *m, loc_id id,
			const struct line *lines, uint32_t nr)
{
	struct pprof_profile *p = m->builder.profile;
	struct location *loc = &p->locations[id];
	const struct line *own = p->lines + loc->lines;

	if (nr < loc->nr_lines || !nr)
		return true;
	if (nr == loc->nr_lines &&
	    (!memcmp(own, lines, nr * sizeof(*lines)) ||
	     prefer_lines(p, lines, own, nr) <= 0))
		return true;
	if (nr == loc->nr_lines) {
		memcpy(p->lines + loc->lines, lines, nr * sizeof(*lines));
		return true;
	}
	if (!append_lines(p, lines, nr))
		return false;
	loc->lines = (uint32_t)(p->nr_lines - nr);
	loc->nr_lines = nr;
	return true;
}

/* ------------------------------------------------------------- locations */

static uint64_t hash_location_key(enum row_kind kind, map_id row,
				  uint64_t address, const struct line *lines,
				  size_t nr)
{
	uint64_t hash = hash_u64(address ^ (uint64_t)row << 40 ^
				 (uint64_t)kind << 62);
	size_t i;

	if (kind == ROW_BUILD)
		return hash;
	for (i = 0; i < nr; i++)
		hash = hash_u64(hash ^ (uint64_t)lines[i].func << 32 ^
				(uint64_t)lines[i].line) +
		       (uint32_t)lines[i].column;
	return hash;
}

static uint64_t hash_location(const void *ctx, uint32_t id)
{
	const struct pprof_merger *m = ctx;
	const struct pprof_profile *p = m->builder.profile;
	const struct location *loc = &p->locations[id];

	return hash_location_key((enum row_kind)m->kinds[id], loc->mapping,
				 loc->address, p->lines + loc->lines,
				 loc->nr_lines);
}

/* How a location in `row` is told apart, and by which address. */
static enum row_kind locate(const struct merged_row *row,
			    const struct mapping *map,
			    const struct location *loc, uint64_t *ret_address)
{
	*ret_address = loc->address;
	if (row->kind == ROW_PLAIN || !loc->address)
		return ROW_PLAIN;
	if (row->is_normalised)
		return ROW_BUILD;
	if (loc->address < map->start || loc->address >= map->limit)
		return ROW_PLAIN;
	*ret_address = loc->address - map->start + map->offset;
	return (enum row_kind)row->kind;
}

/* Number of the location, IDMAP_FREE when it is new. */
static uint32_t find_location(const struct pprof_merger *m, uint64_t hash,
			      enum row_kind kind, map_id row,
			      uint64_t address, const struct line *lines,
			      uint32_t nr)
{
	const struct pprof_profile *p = m->builder.profile;
	const struct location *loc;
	uint32_t id;
	size_t slot;

	for (slot = idmap_first(&m->loc_index, hash);
	     (id = m->loc_index.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&m->loc_index, slot)) {
		loc = &p->locations[id];
		if (m->kinds[id] != kind || loc->mapping != row ||
		    loc->address != address)
			continue;
		if (kind == ROW_BUILD ||
		    (loc->nr_lines == nr &&
		     (!nr || !memcmp(p->lines + loc->lines, lines,
				     nr * sizeof(*lines)))))
			break;
	}
	return id;
}

static uint32_t add_location(struct pprof_merger *m, enum row_kind kind,
			     map_id row, uint64_t address,
			     const struct line *lines, uint32_t nr)
{
	struct pprof_profile *p = m->builder.profile;
	uint32_t id = (uint32_t)p->nr_locations;
	struct location *loc;

	if (id > m->limits.locations) {
		m->builder.status = PPROF_LIMIT;
		format_masked(m->builder.message, sizeof(m->builder.message),
			      "more locations than the limit locations");
		return ID_FAILED;
	}
	if (!mem_grow(p->locations, p->cap_locations, p->nr_locations + 1,
		      MAX_ROWS) ||
	    !mem_grow(m->kinds, m->cap_kinds, p->nr_locations + 1, MAX_ROWS) ||
	    !append_lines(p, lines, nr))
		return fail_nomem(m);
	loc = &p->locations[id];
	memset(loc, 0, sizeof(*loc));
	loc->address = address;
	loc->mapping = row;
	loc->lines = (uint32_t)(p->nr_lines - nr);
	loc->nr_lines = nr;
	m->kinds[id] = (uint8_t)kind;
	p->nr_locations++;
	return id;
}

loc_id merger_intern(struct pprof_merger *m, enum row_kind kind, map_id row,
		     const struct location *loc, const struct line *lines)
{
	uint64_t hash;
	uint32_t id;

	if (!idmap_reserve(&m->loc_index, hash_location, m))
		return fail_nomem(m);
	hash = hash_location_key(kind, row, loc->address, lines,
				 loc->nr_lines);
	id = find_location(m, hash, kind, row, loc->address, lines,
			   loc->nr_lines);
	if (id == IDMAP_FREE) {
		id = add_location(m, kind, row, loc->address, lines,
				  loc->nr_lines);
		if (id == ID_FAILED)
			return id;
		idmap_put(&m->loc_index, hash, id);
	} else if (kind == ROW_BUILD &&
		   !adopt_lines(m, id, lines, loc->nr_lines)) {
		return fail_nomem(m);
	}
	if (loc->is_folded)
		m->builder.profile->locations[id].is_folded = 1;
	return id;
}

loc_id merger_location(struct pprof_merger *m, map_id row,
		       const struct mapping *map, const struct location *loc,
		       const struct line *lines)
{
	struct location placed = *loc;
	enum row_kind kind = ROW_PLAIN;

	if (row)
		kind = locate(&m->rows[row], map, loc, &placed.address);
	return merger_intern(m, kind, row, &placed, lines);
}

/* ---------------------------------------------------------------- images */

static bool reach_image(struct pprof_merger *m, str_id id)
{
	size_t need = (size_t)id + 1, old = m->nr_images, cap = m->cap_images;

	if (id == ID_FAILED)
		return false;
	if (need > old) {
		if (!mem_grow(m->image_input, cap, need, UINT32_MAX) ||
		    !mem_grow(m->image_parent, m->cap_images, need,
			      UINT32_MAX))
			return false;
		memset(m->image_parent + old, 0,
		       (need - old) * sizeof(*m->image_parent));
		memset(m->image_input + old, 0,
		       (need - old) * sizeof(*m->image_input));
		m->nr_images = need;
	}
	if (!m->image_parent[id])
		m->image_parent[id] = id;
	return true;
}

static str_id image_root(const struct pprof_merger *m, str_id id)
{
	str_id *parent = m->image_parent;

	while (parent[id] != id) {
		parent[id] = parent[parent[id]];
		id = parent[id];
	}
	return id;
}

/* Make the trees of a and b (0: none) one; returns its root, 0 on failure. */
static str_id join_images(struct pprof_merger *m, str_id a, str_id b)
{
	str_id root_a, root_b;

	if (!reach_image(m, a) || (b && !reach_image(m, b)))
		return 0;
	root_a = image_root(m, a);
	root_b = b ? image_root(m, b) : root_a;
	m->image_parent[root_b] = root_a;
	if (!m->image_input[root_a])
		m->image_input[root_a] = m->image_input[root_b];
	return root_a;
}

/* What an image is known by; 0 for memory without a file. */
static str_id image_name(struct pprof_merger *m, const char *file)
{
	if (*file == '[' || is_nameless(file))
		return 0;
	return merger_str(m, m->opts.match_base_names ? base_name(file)
						       : file);
}

bool merger_join_images(struct pprof_merger *m,
			const struct merge_input *input)
{
	const struct pprof_profile *p = input->profile;
	const struct mapping *map;
	str_id names[2], root = 0;
	size_t i, j;

	for (i = 1; i < p->nr_mappings; i++) {
		map = &p->mappings[i];
		names[0] = image_name(m, profile_str(p, map->file));
		names[1] = merger_str(m, profile_str(p, map->build_id));
		for (j = 0; j < 2; j++) {
			if (!names[j])
				continue;
			root = join_images(m, names[j], root);
			if (!root)
				return false;
		}
	}
	if (root && !m->image_input[root])
		m->image_input[root] = merger_str(m, input->name);
	return !m->builder.status;
}
