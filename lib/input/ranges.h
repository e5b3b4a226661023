/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses of one process, as its memory maps tell them: settling
 * overlaps, giving holes that huge pages tore into an image back to it, and
 * finding addresses. Knows no text.
 */
#ifndef INPUT_RANGES_H
#define INPUT_RANGES_H

#include "profile/profile.h"

/* One range of addresses, first as read, then as settled. */
struct range {
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
	str_id file;
	str_id build_id;
	map_id map;      /* of procmaps_assign() */
	bool is_code;
	bool is_hole;    /* code of no file: JIT, or text on huge pages */
};

struct ranges {
	struct range *rows;
	size_t nr;
	size_t cap;
};

/*
 * Replace the rows by disjoint ones in order of address; where ranges
 * overlap the later row counts. False when out of memory.
 */
__attribute__((warn_unused_result))
bool ranges_settle(struct ranges *ranges);

/*
 * Fill holes inside images and join code ranges that go on in memory and in
 * the file. The rows must be settled and stay so.
 */
void ranges_tidy(struct ranges *ranges);

/* The row that holds the address, or NULL. The rows must be settled. */
const struct range *ranges_find(const struct ranges *ranges, uint64_t address);

#endif
