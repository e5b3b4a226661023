/* SPDX-License-Identifier: Apache-2.0
 *
 * Interning into the tables of a finished profile.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/adder.h"

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

static uint64_t hash_function_row(const struct function *func)
{
	uint64_t hash = hash_u64((uint64_t)func->name << 32 | func->file);

	return hash_u64(hash ^ (uint64_t)func->system_name << 32 ^
			(uint64_t)func->start_line);
}

static uint64_t hash_location_row(const struct location *loc,
				  const struct line *lines, uint32_t nr)
{
	uint64_t hash = hash_u64(loc->address ^ (uint64_t)loc->mapping << 40);
	uint32_t i;

	for (i = 0; i < nr; i++)
		hash = hash_u64(hash ^ (uint64_t)lines[i].func << 32 ^
				(uint64_t)lines[i].line) +
		       (uint32_t)lines[i].column;
	return hash;
}

static uint64_t hash_function(const void *ctx, uint32_t id)
{
	const struct pprof_profile *p = ctx;

	return hash_function_row(&p->functions[id]);
}

static uint64_t hash_location(const void *ctx, uint32_t id)
{
	const struct pprof_profile *p = ctx;
	const struct location *loc = &p->locations[id];

	return hash_location_row(loc, p->lines + loc->lines, loc->nr_lines);
}

static bool index_rows(struct idmap *map, size_t nr, idmap_hash_fn hash,
		       const struct pprof_profile *p)
{
	size_t i;

	for (i = 1; i < nr; i++) {
		if (!idmap_reserve(map, hash, p))
			return false;
		idmap_put(map, hash(p, (uint32_t)i), (uint32_t)i);
	}
	return true;
}

bool adder_init(struct adder *a, struct pprof_profile *p)
{
	memset(a, 0, sizeof(*a));
	a->profile = p;
	return index_rows(&a->functions, p->nr_functions, hash_function, p) &&
	       index_rows(&a->locations, p->nr_locations, hash_location, p);
}

void adder_fini(struct adder *a)
{
	idmap_fini(&a->functions);
	idmap_fini(&a->locations);
}

func_id adder_function(struct adder *a, const struct function *func)
{
	struct pprof_profile *p = a->profile;
	uint64_t hash = hash_function_row(func);
	uint32_t id;
	size_t slot;

	if (!idmap_reserve(&a->functions, hash_function, p) ||
	    !mem_grow(p->functions, p->cap_functions, p->nr_functions + 1,
		      MAX_ROWS))
		return ID_FAILED;
	for (slot = idmap_first(&a->functions, hash);
	     (id = a->functions.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&a->functions, slot))
		if (!memcmp(&p->functions[id], func, sizeof(*func)))
			return id;
	id = (uint32_t)p->nr_functions++;
	p->functions[id] = *func;
	idmap_put(&a->functions, hash, id);
	return id;
}

static bool same_location(const struct pprof_profile *p,
			  const struct location *have,
			  const struct location *want,
			  const struct line *lines, uint32_t nr)
{
	return have->address == want->address &&
	       have->mapping == want->mapping &&
	       have->is_folded == want->is_folded && have->nr_lines == nr &&
	       (!nr || !memcmp(p->lines + have->lines, lines,
			       nr * sizeof(*lines)));
}

loc_id adder_location(struct adder *a, const struct location *loc,
		      const struct line *lines, uint32_t nr)
{
	struct pprof_profile *p = a->profile;
	uint64_t hash = hash_location_row(loc, lines, nr);
	struct location row = *loc;
	uint32_t id;
	size_t slot;

	if (!idmap_reserve(&a->locations, hash_location, p))
		return ID_FAILED;
	for (slot = idmap_first(&a->locations, hash);
	     (id = a->locations.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&a->locations, slot))
		if (same_location(p, &p->locations[id], &row, lines, nr))
			return id;
	if (!mem_grow(p->locations, p->cap_locations, p->nr_locations + 1,
		      MAX_ROWS) ||
	    !mem_grow(p->lines, p->cap_lines, p->nr_lines + nr, MAX_ROWS))
		return ID_FAILED;
	row.lines = (uint32_t)p->nr_lines;
	row.nr_lines = nr;
	if (nr)
		memcpy(p->lines + p->nr_lines, lines, nr * sizeof(*lines));
	p->nr_lines += nr;
	id = (uint32_t)p->nr_locations++;
	p->locations[id] = row;
	idmap_put(&a->locations, hash, id);
	return id;
}
