/* SPDX-License-Identifier: Apache-2.0
 *
 * String interner: rows in an array, bytes in an arena, an open-addressing
 * index of ids. Hash: XXH3 (xxhash.h), unseeded so that runs are alike; the
 * probe length of a hostile table is bounded by the strings limit.
 */
#include <config.h>

#include "base/mem.h"
#include "base/strtab.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 64

/* Most rows: ids stay below STR_NONE, slots below 2^32. */
#define MAX_ROWS ((size_t)1 << 30)

uint32_t strtab_hash(const char *text, size_t len)
{
	return (uint32_t)XXH3_64bits(text, len);
}

bool strtab_init(struct strtab *strtab, uint64_t max_bytes)
{
	memset(strtab, 0, sizeof(*strtab));
	arena_init(&strtab->arena, max_bytes);
	strtab->slots = mem_zalloc(FIRST_SLOTS, sizeof(*strtab->slots));
	if (!strtab->slots ||
	    !mem_grow(strtab->rows, strtab->cap, 1, MAX_ROWS)) {
		strtab_fini(strtab);
		return false;
	}
	strtab->nr_slots = FIRST_SLOTS;
	strtab->rows[0].text = "";
	strtab->rows[0].len = 0;
	strtab->rows[0].hash = strtab_hash("", 0);
	strtab->nr = 1;
	return true;
}

void strtab_fini(struct strtab *strtab)
{
	arena_fini(&strtab->arena);
	mem_free(strtab->rows);
	mem_free(strtab->slots);
	strtab->rows = NULL;
	strtab->slots = NULL;
	strtab->nr = 0;
}

/* Slot that holds the string, or the free one where it belongs. */
static size_t find_slot(const struct strtab *strtab, const char *text,
			size_t len, uint32_t hash)
{
	size_t mask = strtab->nr_slots - 1, i = hash & mask;
	const struct strtab_row *row;

	while (strtab->slots[i]) {
		row = &strtab->rows[strtab->slots[i]];
		if (row->hash == hash && row->len == len &&
		    !memcmp(row->text, text, len))
			break;
		i = (i + 1) & mask;
	}
	return i;
}

static bool grow_slots(struct strtab *strtab)
{
	size_t nr = strtab->nr_slots * 2, i, slot;
	uint32_t *slots = mem_zalloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (i = 1; i < strtab->nr; i++) {
		slot = strtab->rows[i].hash & (nr - 1);
		while (slots[slot])
			slot = (slot + 1) & (nr - 1);
		slots[slot] = (uint32_t)i;
	}
	mem_free(strtab->slots);
	strtab->slots = slots;
	strtab->nr_slots = nr;
	return true;
}

str_id strtab_add(struct strtab *strtab, const char *text, size_t len)
{
	struct strtab_row *row;
	uint32_t hash;
	size_t slot;

	if (!len)
		return 0;
	if (len > UINT32_MAX)
		return STR_NONE;
	hash = strtab_hash(text, len);
	slot = find_slot(strtab, text, len, hash);
	if (strtab->slots[slot])
		return strtab->slots[slot];
	if (strtab->nr >= strtab->nr_slots / 2) {
		if (!grow_slots(strtab))
			return STR_NONE;
		slot = find_slot(strtab, text, len, hash);
	}
	if (!mem_grow(strtab->rows, strtab->cap, strtab->nr + 1, MAX_ROWS))
		return STR_NONE;
	row = &strtab->rows[strtab->nr];
	row->text = arena_strndup(&strtab->arena, text, len);
	if (!row->text)
		return STR_NONE;
	row->len = (uint32_t)len;
	row->hash = hash;
	strtab->slots[slot] = (uint32_t)strtab->nr;
	return (str_id)strtab->nr++;
}

str_id strtab_find(const struct strtab *strtab, const char *text, size_t len)
{
	size_t slot;

	if (!len)
		return 0;
	slot = find_slot(strtab, text, len, strtab_hash(text, len));
	return strtab->slots[slot] ? strtab->slots[slot] : STR_NONE;
}

int strtab_compare(const struct strtab *strtab, str_id a, str_id b)
{
	const struct strtab_row *ra = &strtab->rows[a], *rb = &strtab->rows[b];
	uint32_t len = ra->len < rb->len ? ra->len : rb->len;
	int order = memcmp(ra->text, rb->text, len);

	if (order)
		return order;
	return ra->len < rb->len ? -1 : ra->len > rb->len;
}
