/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunked bump allocator. Chunks double up to a cap, so that small uses stay
 * small and large ones make few calls.
 */
#include <config.h>

#include "base/arena.h"
#include "base/mem.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#define FIRST_CHUNK_BYTES ((size_t)4 << 10)
#define MAX_CHUNK_BYTES ((size_t)1 << 20)
#define ALIGNMENT alignof(max_align_t)

struct arena_chunk {
	struct arena_chunk *older;
	size_t bytes; /* usable, after this header */
	alignas(max_align_t) uint8_t data[];
};

void arena_init(struct arena *arena, uint64_t max_bytes)
{
	memset(arena, 0, sizeof(*arena));
	arena->chunk_bytes = FIRST_CHUNK_BYTES;
	arena->max_bytes = max_bytes;
}

void arena_fini(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunks;

	while (chunk) {
		struct arena_chunk *older = chunk->older;

		mem_free(chunk);
		chunk = older;
	}
	arena->chunks = NULL;
	arena->next = NULL;
	arena->left = 0;
}

void arena_reset(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunks, *older;

	arena->used_bytes = 0;
	if (!chunk)
		return;
	while ((older = chunk->older)) {
		chunk->older = older->older;
		mem_free(older);
	}
	arena->next = chunk->data;
	arena->left = chunk->bytes;
}

static bool add_chunk(struct arena *arena, size_t need)
{
	size_t bytes = arena->chunk_bytes;
	struct arena_chunk *chunk;

	if (bytes < need)
		bytes = need;
	if (bytes > SIZE_MAX - sizeof(*chunk))
		return false;
	chunk = mem_alloc(sizeof(*chunk) + bytes, 1);
	if (!chunk)
		return false;
	chunk->bytes = bytes;
	chunk->older = arena->chunks;
	arena->chunks = chunk;
	arena->next = chunk->data;
	arena->left = bytes;
	if (arena->chunk_bytes < MAX_CHUNK_BYTES)
		arena->chunk_bytes *= 2;
	return true;
}

static void *take(struct arena *arena, size_t bytes)
{
	void *ptr;

	if (bytes > arena->max_bytes - arena->used_bytes)
		return NULL;
	if (bytes > arena->left && !add_chunk(arena, bytes))
		return NULL;
	ptr = arena->next;
	arena->next += bytes;
	arena->left -= bytes;
	arena->used_bytes += bytes;
	return ptr;
}

void *arena_alloc(struct arena *arena, size_t nr, size_t size)
{
	size_t bytes, pad;
	uint8_t *ptr;

	if (__builtin_mul_overflow(nr, size, &bytes) ||
	    bytes > PTRDIFF_MAX - ALIGNMENT)
		return NULL;
	if (!bytes)
		bytes = 1; /* NULL means failure */
	pad = -(uintptr_t)arena->next & (ALIGNMENT - 1);
	if (pad > arena->left || bytes > arena->left - pad) {
		if (bytes > arena->max_bytes - arena->used_bytes ||
		    !add_chunk(arena, bytes))
			return NULL;
		pad = 0; /* a fresh chunk is aligned */
	}
	ptr = take(arena, bytes + pad);
	return ptr ? ptr + pad : NULL;
}

char *arena_strndup(struct arena *arena, const char *text, size_t nr_bytes)
{
	char *copy;

	if (nr_bytes == SIZE_MAX)
		return NULL;
	copy = take(arena, nr_bytes + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, nr_bytes);
	copy[nr_bytes] = '\0';
	return copy;
}
