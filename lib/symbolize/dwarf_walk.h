/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of one unit streamed past its sorted addresses: which function
 * and which inlined calls cover each of them.
 */
#ifndef SYMBOLIZE_DWARF_WALK_H
#define SYMBOLIZE_DWARF_WALK_H

#include "base/arena.h"
#include "base/strtab.h"
#include "symbolize/dwarf_die.h"
#include "symbolize/text_areas.h"

/* A function or an inlined call, shared by all addresses in it. */
struct dwarf_scope {
	struct dwarf_scope *outer; /* the caller; NULL for the function */
	struct dwarf_die die;       /* that names it; unit NULL: dangling */
	uint32_t call_file, call_line, call_column; /* in the caller */
	uint32_t function;          /* row of the namer, or UINT32_MAX */
};

/* The addresses of one unit and what was found for them. */
struct dwarf_targets {
	const uint64_t *vaddrs;      /* [nr], ascending */
	struct dwarf_scope **scopes; /* [nr], innermost; NULL: none yet */
	uint64_t *sizes;             /* [nr], bytes of the function found */
	size_t nr;
};

/* What walks share; belongs to one thread. */
struct dwarf_walker {
	struct arena *arena;               /* scopes live here */
	struct dwarf_abbrev_cache *abbrevs;
	const struct text_areas *text;
	uint64_t nr_ranges_left;           /* budget over all walks */
	uint32_t *pool;                    /* lists of target numbers */
	size_t nr_pool, cap_pool;
	struct dwarf_level *levels;
	size_t cap_levels;
};

void dwarf_walker_fini(struct dwarf_walker *walker);

/*
 * Walk `unit`. First only where functions usually stand; when targets stay
 * without one, and `is_deep`, everywhere. OK, NOMEM, FORMAT (no message;
 * what was found stands).
 */
enum pprof_status dwarf_walk(struct dwarf_walker *walker,
			     const struct dwarf_unit *unit, bool is_deep,
			     struct dwarf_targets *targets);

#endif
