/* SPDX-License-Identifier: Apache-2.0
 *
 * Growth of the open-addressing id index; look-ups are inline in idmap.h.
 */
#include <config.h>

#include "base/idmap.h"
#include "base/mem.h"

#include <string.h>

#define FIRST_SLOTS 64

void idmap_fini(struct idmap *map)
{
	mem_free(map->slots);
	map->slots = NULL;
	map->mask = 0;
	map->nr = 0;
}

static void place(uint32_t *slots, size_t mask, uint64_t hash, uint32_t id)
{
	size_t i = (size_t)(hash >> 17 ^ hash) & mask;

	while (slots[i] != IDMAP_FREE)
		i = (i + 1) & mask;
	slots[i] = id;
}

bool idmap_reserve(struct idmap *map, idmap_hash_fn hash, const void *ctx)
{
	size_t nr_slots = map->slots ? map->mask + 1 : 0, wanted, i;
	uint32_t *slots;

	if (map->nr + 1 <= nr_slots / 4 * 3)
		return true;
	wanted = nr_slots ? nr_slots * 2 : FIRST_SLOTS;
	slots = mem_alloc(wanted, sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0xff, wanted * sizeof(*slots));
	for (i = 0; i < nr_slots; i++) {
		if (map->slots[i] != IDMAP_FREE)
			place(slots, wanted - 1, hash(ctx, map->slots[i]),
			      map->slots[i]);
	}
	mem_free(map->slots);
	map->slots = slots;
	map->mask = wanted - 1;
	return true;
}

void idmap_put(struct idmap *map, uint64_t hash, uint32_t id)
{
	place(map->slots, map->mask, hash, id);
	map->nr++;
}
