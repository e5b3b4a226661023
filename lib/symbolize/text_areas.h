/* SPDX-License-Identifier: Apache-2.0
 *
 * Link-time addresses: search in sorted lists of them, and where a binary
 * has code. Debug information of discarded functions points elsewhere: to 0,
 * to a linker's tombstone, or before the first segment.
 */
#ifndef SYMBOLIZE_TEXT_AREAS_H
#define SYMBOLIZE_TEXT_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First i with vaddrs[i] >= vaddr; nr when there is none. */
static inline size_t vaddrs_lower_bound(const uint64_t *vaddrs, size_t nr,
					uint64_t vaddr)
{
	size_t lo = 0;

	while (nr) {
		size_t half = nr / 2;

		if (vaddrs[lo + half] < vaddr) {
			lo += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return lo;
}

struct text_area {
	uint64_t start, limit; /* link-time addresses */
};

struct text_areas {
	struct text_area *areas;
	size_t nr, cap; /* nr 0: unknown, only address 0 is excluded */
};

static inline bool text_areas_contain(const struct text_areas *text,
				      uint64_t vaddr)
{
	size_t i;

	if (!text->nr)
		return vaddr;
	for (i = 0; i < text->nr; i++) {
		if (vaddr >= text->areas[i].start &&
		    vaddr < text->areas[i].limit)
			return true;
	}
	return false;
}

#endif
