/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded, forward-only view of an input. Knows the source's name and the
 * line or byte it stands at. Fed by a refill callback through a window, or
 * looks at memory directly. Failure is sticky: after the first error reads
 * give nothing and cursor_status() tells.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read up to `cap` bytes into `dst`. Returns the number, 0 at the end, or
 * SIZE_MAX after filling *err.
 */
typedef size_t (*cursor_refill_fn)(void *ctx, void *dst, size_t cap,
				   struct pprof_error *err);

/* Told that the bytes before `upto` will not be read again. */
typedef void (*cursor_release_fn)(void *ctx, const uint8_t *upto);

struct cursor {
	const char *source;   /* borrowed; "-" is standard input */
	const uint8_t *p;     /* next unread byte */
	const uint8_t *end;   /* one past the last byte in the window */
	uint64_t base;        /* input offset of window_start */
	const uint8_t *window_start;
	uint64_t line;        /* line number of the byte at p, from 1 */
	uint64_t max_line_bytes;
	uint8_t *window;      /* owned; NULL when looking at memory */
	size_t window_cap;
	cursor_refill_fn refill;
	void *refill_ctx;
	bool at_eof;          /* refill has nothing more */
	const uint8_t *memory_end; /* end of all when looking at memory */
	cursor_release_fn release; /* or NULL */
	void *release_ctx;
	enum pprof_status status;
	struct pprof_error err;
};

/* Look at `nr` bytes of memory, borrowed for the cursor's life. */
void cursor_init_memory(struct cursor *cursor, const char *source,
			const void *data, size_t nr);

/* Feed from `refill`; allocates the window lazily. */
void cursor_init_stream(struct cursor *cursor, const char *source,
			cursor_refill_fn refill, void *ctx,
			uint64_t max_line_bytes);

void cursor_fini(struct cursor *cursor);

/* Input offset of the next unread byte. */
static inline uint64_t cursor_offset(const struct cursor *cursor)
{
	return cursor->base + (uint64_t)(cursor->p - cursor->window_start);
}

/*
 * Have a fresh memory cursor show its bytes slice by slice and tell
 * `release` as it leaves one behind, so that its pages can go.
 */
void cursor_set_release(struct cursor *cursor, cursor_release_fn release,
			void *ctx);

/*
 * Make at least `want` bytes readable at p if the input has them; returns
 * how many are (fewer at the end or after a failure). May move the window:
 * earlier pointers into it are stale afterwards.
 */
size_t cursor_fill_slow(struct cursor *cursor, size_t want);

static inline size_t cursor_fill(struct cursor *cursor, size_t want)
{
	size_t have = (size_t)(cursor->end - cursor->p);

	return have >= want ? have : cursor_fill_slow(cursor, want);
}

/* One line without its LF; the text is valid until the next cursor call. */
struct cursor_line {
	const char *text;
	size_t len;       /* CR before the LF is still counted */
	uint64_t number;  /* from 1 */
	bool has_lf;      /* false: the input ended without one */
};

/* Next line; false at the end or after a failure. */
bool cursor_next_line(struct cursor *cursor, struct cursor_line *line);

/* Look at the next line without moving on. Stales earlier lines. */
bool cursor_peek_line(struct cursor *cursor, struct cursor_line *line);

/* Move over the line that cursor_peek_line() has just shown. */
void cursor_skip_peeked(struct cursor *cursor, const struct cursor_line *line);

/* Record the first failure at the present byte or line. Returns status. */
__attribute__((format(printf, 4, 5)))
enum pprof_status cursor_fail(struct cursor *cursor, enum pprof_status status,
			      enum pprof_unit unit, const char *format, ...);

/* The same at an explicit position. */
__attribute__((format(printf, 5, 6)))
enum pprof_status cursor_fail_at(struct cursor *cursor,
				 enum pprof_status status,
				 enum pprof_unit unit, uint64_t where,
				 const char *format, ...);

/* OK, or the sticky failure copied to *err. */
enum pprof_status cursor_status(const struct cursor *cursor,
				struct pprof_error *err);

/*
 * Numbers in text. Each parses at *pos, not beyond `end`, moves *pos over
 * what it took and returns true; false and *pos unmoved when there is no
 * digit or the value does not fit. No sign, no blanks.
 */
bool text_u64(const char **pos, const char *end, uint64_t *ret);
bool text_hex(const char **pos, const char *end, uint64_t *ret);

#endif
