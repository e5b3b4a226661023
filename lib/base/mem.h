/* SPDX-License-Identifier: Apache-2.0
 *
 * The one gate to the heap: every size is a checked product, and tests can
 * make the n-th allocation fail.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* nr * size bytes, or NULL. Never for 0 bytes: gives at least one. */
__attribute__((malloc, warn_unused_result))
void *mem_alloc(size_t nr, size_t size);

/* The same, zeroed. */
__attribute__((malloc, warn_unused_result))
void *mem_zalloc(size_t nr, size_t size);

/* Resize; on failure NULL and the old block stays. */
__attribute__((warn_unused_result))
void *mem_realloc(void *ptr, size_t nr, size_t size);

void mem_free(void *ptr);

/* Copy of nr_bytes bytes plus a NUL, or NULL. */
__attribute__((malloc, warn_unused_result))
char *mem_strndup(const char *text, size_t nr_bytes);

/*
 * Make room for `need` elements of `size` bytes in the array at *array,
 * whose capacity is *cap: grows by half, never beyond `max` elements.
 * False (array unchanged) when out of memory or need > max.
 */
__attribute__((warn_unused_result))
bool mem_grow_(void **array, size_t *cap, size_t need, size_t size,
	       size_t max);

/* Most calls find the room there: they cost a comparison. */
static inline bool mem_room_(void **array, size_t *cap, size_t need,
			     size_t size, size_t max)
{
	return need <= *cap || mem_grow_(array, cap, need, size, max);
}

/* mem_grow(array, cap, need, max) for a typed pointer variable. */
#define mem_grow(array, cap, need, max) \
	mem_room_((void **)&(array), &(cap), (need), sizeof(*(array)), (max))

/*
 * Testing only: the n-th allocation from now fails (1 = the next), as do all
 * after it when `sticky`. 0 switches it off. Not thread safe; this counter
 * is the library's one global.
 */
void mem_fail_nth(uint64_t n, bool sticky);

#endif
