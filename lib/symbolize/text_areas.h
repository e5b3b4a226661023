/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a binary has code. Debug information of discarded functions points
 * elsewhere: to 0, to a linker's tombstone, or before the first segment.
 */
#ifndef SYMBOLIZE_TEXT_AREAS_H
#define SYMBOLIZE_TEXT_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
