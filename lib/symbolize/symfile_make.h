/* SPDX-License-Identifier: Apache-2.0
 *
 * What is collected for a symbol file, between its making and its packing.
 */
#ifndef SYMBOLIZE_SYMFILE_MAKE_H
#define SYMBOLIZE_SYMFILE_MAKE_H

#include "base/idmap.h"
#include "symbolize/finder.h"
#include "symbolize/symfile.h"

struct made_function {
	str_id names[SYMFILE_NR_NAMES];
	str_id system_name;
	uint32_t start_line;
	uint32_t depth;   /* as the depth-th frame of the address below */
	uint64_t vaddr;
};

/* All members count for equality; there is no padding. */
struct made_scope {
	uint32_t function;
	uint32_t outer;   /* number + 1, or 0 */
	str_id file;      /* of the call */
	uint32_t line, column;
};

struct made_range {
	uint64_t start;
	uint32_t scope;
	str_id file;
	uint32_t line, column;
	uint32_t source;  /* enum answer_source */
};

struct maker {
	struct strtab strings;
	struct made_function *functions;
	size_t nr_functions, cap_functions;
	struct idmap by_name;
	struct made_scope *scopes;
	size_t nr_scopes, cap_scopes;
	struct idmap by_scope;
	struct made_range *ranges;
	size_t nr_ranges, cap_ranges;
	/* Of the batch at hand. */
	const struct answers *answers;
	str_id *ids;      /* [answers.strings.nr], STR_NONE: not yet known */
};

/*
 * Append the symbol file of what was collected from `binary`; false when out
 * of memory or too large.
 */
bool symfile_pack(struct maker *maker, const struct binary *binary,
		  struct buf *out);

#endif
