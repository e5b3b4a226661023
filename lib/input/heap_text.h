/* SPDX-License-Identifier: Apache-2.0
 *
 * State of a heap dump that is being read, shared by its header
 * (heap_header.c), its body (heap_body.c) and the reader (jemalloc.c).
 */
#ifndef INPUT_HEAP_TEXT_H
#define INPUT_HEAP_TEXT_H

#include "base/buf.h"
#include "base/cursor.h"
#include "input/addr_names.h"
#include "input/addresses.h"
#include "input/text.h"
#include "profile/builder.h"

/* Four counts as printed: live, then accumulated. */
struct counts {
	int64_t objects, bytes;
	int64_t acc_objects, acc_bytes;
};

/* A thread of the header. */
struct thread {
	uint64_t uid;
	str_id name;
};

/* Where the reader is and what it holds. */
struct heap {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	const struct pprof_read_opts *opts;

	double rate;         /* R; 0 or 1: nothing to unsample */
	bool is_threaded;    /* "@" lines with "t" lines below */
	bool has_alloc;      /* some accumulated count is not 0 */
	bool is_growth;      /* objects and space, never scaled */
	bool is_repeated;    /* the brackets tell nothing of their own */
	bool crlf;           /* the header line ended in CR LF */
	bool has_maps;
	bool line_is_cut;    /* the line at hand ends with the input */
	struct counts header_total;

	struct addresses addresses; /* and the frames of the stack */
	struct addr_names names;    /* of Go's comment lines */

	/* The stack whose counts are awaited or being read. */
	bool has_stack;
	bool has_total;      /* its "t*" was read */
	bool has_thread;     /* one of its "tN" was read (with --threads) */
	uint64_t stack_line;
	struct counts total;

	struct thread *threads;
	size_t nr_threads, cap_threads;
	struct buf name;     /* of the header thread that is being read */
	bool in_name;
	uint64_t name_uid;

	uint64_t nr_stacks;
	int saturated;
};

/* "N: N [N: N]". Moves *pos behind the bracket. */
bool heap_parse_counts(struct heap *h, const char **pos, const char *end,
		       uint64_t line, struct counts *ret);

/* "t*: counts" or "tN: counts" at *pos. *ret_uid is UINT64_MAX for "*". */
bool heap_parse_thread(struct heap *h, const char **pos, const char *end,
		       uint64_t line, uint64_t *ret_uid, struct counts *ret);

/* A count line that does not parse: damage is skipped, nonsense refused. */
enum pprof_status heap_bad_counts(struct heap *h,
				  const struct cursor_line *line,
				  const char *p, const char *end);

/* A line that belongs to no part of a dump. */
enum pprof_status heap_foreign_line(struct heap *h,
				    const struct cursor_line *line,
				    const char *p, const char *end);

/* One line of the body: a stack or its counts. */
enum pprof_status heap_body_line(struct heap *h,
				 const struct cursor_line *line);

/* Lines up to the maps or the end. */
enum pprof_status heap_read_body(struct heap *h);

/* Skip what may stand before the header, then read the header line. */
enum pprof_status heap_find_header(struct heap *h);

/* Thread lines of the threaded form, up to the first stack or the maps. */
enum pprof_status heap_read_threads(struct heap *h, bool *ret_at_maps);

#endif
