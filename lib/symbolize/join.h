/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted addresses against all units of a binary: each address goes to the
 * unit that owns it, units are walked by one or several threads, and every
 * thread keeps its frames until they are merged.
 */
#ifndef SYMBOLIZE_JOIN_H
#define SYMBOLIZE_JOIN_H

#include "symbolize/dwarf_walk.h"
#include "symbolize/module.h"
#include "symbolize/namer.h"
#include "symbolize/symbols.h"

/* dwarf_file.id of files that a worker opens; smaller ones are shared. */
#define JOIN_FIRST_FILE_ID 16

/* What to join; constant while threads run. */
struct join_input {
	const struct dwarf_file *file; /* NULL: no debug information */
	const char *path;              /* of the binary: .dwo are near it */
	const struct text_areas *text;
	const uint64_t *vaddrs;        /* [nr], ascending, without repeats */
	size_t nr;
	const struct symbol_hit *hits; /* [nr] */
	enum pprof_names names;
	bool no_inlines;
	unsigned nr_threads;
};

/* Frames of one address, in the arrays of the worker that made them. */
struct join_answer {
	uint32_t worker;
	uint32_t nr_frames;
	size_t first_frame;
	uint8_t source; /* enum answer_source */
};

/* One thread's share; strings of its frames are ids in namer.strings. */
struct join_worker {
	const struct join_input *input;
	struct join_answer *answers; /* all; jobs share no address */
	struct round *round;         /* what is being run */
	uint32_t index;
	struct arena arena;
	struct dwarf_abbrev_cache abbrevs;
	struct dwarf_walker walker;
	struct namer namer;
	struct buf path;
	struct answer_frame *frames;
	size_t nr_frames, cap_frames;
	uint32_t next_file_id;      /* for split files */
	enum pprof_status status;   /* NOMEM or LIMIT: ends the join */
};

struct join {
	struct join_input input;
	struct join_answer *answers; /* [input.nr] */
	struct join_worker *workers;
	size_t nr_workers;
};

/* OK, NOMEM, LIMIT. join_fini() in either case; *join was zeroed. */
enum pprof_status join_run(struct join *join, const struct join_input *input,
			   struct diags *diags, struct pprof_error *err);
void join_fini(struct join *join);

#endif
