/* SPDX-License-Identifier: Apache-2.0
 *
 * Bump allocator: many small objects that die together. Addresses are
 * stable. Not thread safe.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* newest first */
	uint8_t *next;              /* first free byte of the newest chunk */
	size_t left;                /* free bytes there */
	size_t chunk_bytes;         /* size of the next chunk */
	uint64_t used_bytes;        /* handed out, alignment included */
	uint64_t max_bytes;         /* bound on used_bytes */
};

void arena_init(struct arena *arena, uint64_t max_bytes);
void arena_fini(struct arena *arena);

/* Forget every object; keeps the newest chunk for reuse. */
void arena_reset(struct arena *arena);

/*
 * nr * size bytes (at least one), aligned for any type; NULL when full or out
 * of memory.
 */
__attribute__((warn_unused_result))
void *arena_alloc(struct arena *arena, size_t nr, size_t size);

/* Copy of bytes plus a NUL, unaligned; NULL likewise. */
__attribute__((warn_unused_result))
char *arena_strndup(struct arena *arena, const char *text, size_t nr_bytes);

#endif
