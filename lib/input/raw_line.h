/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of addresses in the shapes in which programs, sanitizers, debuggers
 * and loggers print stacks; see pprof-formats(5). Knows one line at a time;
 * what belongs together is raw_reader.c's.
 */
#ifndef INPUT_RAW_LINE_H
#define INPUT_RAW_LINE_H

#include "base/cursor.h"

enum raw_kind {
	RAW_NONE = 0, /* no shape that is known */
	RAW_BLANK,
	RAW_HEADING,  /* "TID 12:": a new stack begins */
	RAW_MAPS,     /* memory maps begin here or behind this line */
	RAW_STACK,    /* a whole stack */
	RAW_FRAME,    /* one frame of a stack over several lines */
	RAW_PC        /* "PC: @ 0x...": which address is exact */
};

/* What is known of one frame. Texts point into the line. */
struct raw_frame {
	uint64_t address;     /* of the file when there is one, else run-time */
	const char *file;     /* mapped file, or NULL */
	size_t file_len;
	const char *build_id; /* or NULL */
	size_t build_id_len;
	const char *name;     /* function, or NULL */
	size_t name_len;
	const char *source;   /* its source file, or NULL */
	size_t source_len;
	uint32_t line;        /* 0 unknown */
	uint32_t column;
	bool is_exact;        /* inside the call already: nothing taken off */
	bool has_address;
};

struct raw_line {
	enum raw_kind kind;
	/* RAW_STACK */
	const char *stack;    /* its frames, see raw_next_frame() */
	const char *stack_end;
	bool is_root_first;   /* separated by ";" */
	bool is_returns;      /* behind "@": the leaf is a return address too */
	bool has_bytes;
	uint64_t count;
	uint64_t bytes;
	/* RAW_FRAME, RAW_PC */
	struct raw_frame frame;
	bool is_numbered;     /* "#N" */
	uint64_t number;
};

/* Cut a line without its line end. */
void raw_line_parse(const char *text, size_t len, struct raw_line *ret);

/*
 * The next frame of a RAW_STACK line at *pos; false at stack_end, with
 * *ret_bad set when something else stands there.
 */
bool raw_next_frame(const struct raw_line *line, const char **pos,
		    struct raw_frame *ret, bool *ret_bad);

#endif
