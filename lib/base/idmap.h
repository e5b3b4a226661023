/* SPDX-License-Identifier: Apache-2.0
 *
 * Hash index over the rows of a caller's table: open addressing, one 32-bit
 * id a slot, UINT32_MAX free. The caller keeps the rows, gives hashes and
 * compares. Not thread safe.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_FREE UINT32_MAX

struct idmap {
	uint32_t *slots; /* [mask + 1] */
	size_t mask;     /* slots - 1; 0 before the first reserve */
	size_t nr;       /* ids stored */
};

/* Hash of row `id` of the caller's table. */
typedef uint64_t (*idmap_hash_fn)(const void *ctx, uint32_t id);

void idmap_fini(struct idmap *map);

/*
 * Make sure that one more id fits at a load of at most 3/4, rehashing with
 * `hash`. False when out of memory; the map stays usable.
 */
__attribute__((warn_unused_result))
bool idmap_reserve(struct idmap *map, idmap_hash_fn hash, const void *ctx);

/* Put `id` into the first free slot for `hash`; needs idmap_reserve(). */
void idmap_put(struct idmap *map, uint64_t hash, uint32_t id);

/*
 * Walk the candidates for `hash`:
 *   for (i = idmap_first(m, h); (id = m->slots[i]) != IDMAP_FREE;
 *        i = idmap_next(m, i)) if (equal(id)) ...
 * Only after a successful idmap_reserve().
 */
static inline size_t idmap_first(const struct idmap *map, uint64_t hash)
{
	return (size_t)(hash >> 17 ^ hash) & map->mask;
}

static inline size_t idmap_next(const struct idmap *map, size_t slot)
{
	return (slot + 1) & map->mask;
}

/* Finalizer of MurmurHash3 (fmix64): spreads integer keys over all bits. */
static inline uint64_t hash_u64(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdULL;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ULL;
	return key ^ key >> 33;
}

#endif
