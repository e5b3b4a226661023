/* SPDX-License-Identifier: Apache-2.0
 *
 * Window over an input and the numbers found in text. Knows no format.
 */
#include <config.h>

#include "base/cursor.h"
#include "base/mem.h"

#include <stdarg.h>
#include <string.h>

/* Window that a stream starts with; it grows for longer lines. */
#define FIRST_WINDOW_BYTES ((size_t)256 << 10)

void cursor_init_memory(struct cursor *cursor, const char *source,
			const void *data, size_t nr)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->source = source;
	cursor->p = data;
	cursor->end = cursor->p + nr;
	cursor->window_start = cursor->p;
	cursor->line = 1;
	cursor->max_line_bytes = UINT64_MAX;
	cursor->memory_end = cursor->end;
	cursor->at_eof = true;
}

/* Bytes shown at a time by a memory cursor that releases. */
#define SLICE_BYTES ((size_t)4 << 20)

/* Show the next slice, at least `want` bytes, and let go what was read. */
static size_t next_slice(struct cursor *cursor, size_t want)
{
	size_t left = (size_t)(cursor->memory_end - cursor->p);
	size_t nr = left;

	if (cursor->p > cursor->window_start)
		cursor->release(cursor->release_ctx, cursor->p);
	/* By whole slices: a long line must not cost a call a byte. */
	if (want < left)
		nr = (want / SLICE_BYTES + 1) * SLICE_BYTES;
	if (nr >= left) {
		nr = left;
		cursor->at_eof = true;
	}
	cursor->end = cursor->p + nr;
	return nr;
}

void cursor_set_release(struct cursor *cursor, cursor_release_fn release,
			void *ctx)
{
	cursor->release = release;
	cursor->release_ctx = ctx;
	cursor->at_eof = false;
	next_slice(cursor, 0);
}

void cursor_init_stream(struct cursor *cursor, const char *source,
			cursor_refill_fn refill, void *ctx,
			uint64_t max_line_bytes)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->source = source;
	cursor->line = 1;
	cursor->max_line_bytes = max_line_bytes;
	cursor->refill = refill;
	cursor->refill_ctx = ctx;
}

void cursor_fini(struct cursor *cursor)
{
	mem_free(cursor->window);
	cursor->window = NULL;
	cursor->p = NULL;
	cursor->end = NULL;
	cursor->window_start = NULL;
}

/* Move the unread bytes to the front and make room for `want` in all. */
static bool make_room(struct cursor *cursor, size_t want)
{
	size_t have = (size_t)(cursor->end - cursor->p);
	size_t cap = cursor->window_cap;

	if (cap >= want && cursor->p == cursor->window)
		return true;
	cursor->base = cursor_offset(cursor);
	if (have)
		memmove(cursor->window, cursor->p, have);
	if (cap < want || !cap) {
		while (cap < want || cap < FIRST_WINDOW_BYTES)
			cap = cap ? cap * 2 : FIRST_WINDOW_BYTES;
		if (!mem_grow(cursor->window, cursor->window_cap, cap, cap)) {
			cursor->window_start = cursor->window;
			cursor->p = cursor->window;
			cursor->end = cursor->p + have;
			return false;
		}
	}
	cursor->window_start = cursor->window;
	cursor->p = cursor->window;
	cursor->end = cursor->p + have;
	return true;
}

/* Window for the next read when `have` of `want` bytes are there. */
static size_t window_step(size_t have, size_t want)
{
	size_t step = have < PTRDIFF_MAX / 4 ? have * 2 : have;

	if (step < FIRST_WINDOW_BYTES)
		step = FIRST_WINDOW_BYTES;
	return step < want ? step : want;
}

size_t cursor_fill_slow(struct cursor *cursor, size_t want)
{
	size_t have = (size_t)(cursor->end - cursor->p), nr;
	uint8_t *dst;

	if (cursor->status)
		return 0;
	if (have >= want || cursor->at_eof)
		return have;
	if (cursor->release)
		return next_slice(cursor, want);
	while (have < want) {
		/* By steps: a length that lies must not cost its memory. */
		if (!make_room(cursor, window_step(have, want))) {
			cursor_fail(cursor, PPROF_NOMEM, PPROF_UNIT_BYTE,
				    "out of memory");
			return 0;
		}
		dst = cursor->window + (cursor->end - cursor->window);
		nr = cursor->refill(cursor->refill_ctx, dst, (size_t)
				    (cursor->window + cursor->window_cap -
				     dst), &cursor->err);
		if (nr == SIZE_MAX) {
			cursor->status = cursor->err.status;
			cursor->p = cursor->end;
			return 0;
		}
		if (!nr) {
			cursor->at_eof = true;
			break;
		}
		have += nr;
		cursor->end += nr;
	}
	return have;
}

/* Find the LF from p on, filling as needed. Returns the length before it. */
static bool find_line(struct cursor *cursor, size_t *ret_len, bool *ret_has_lf)
{
	size_t have = (size_t)(cursor->end - cursor->p), seen = 0;
	const uint8_t *lf;

	for (;;) {
		if (have > seen) {
			lf = memchr(cursor->p + seen, '\n', have - seen);
			if (lf) {
				*ret_len = (size_t)(lf - cursor->p);
				*ret_has_lf = true;
				return true;
			}
		}
		seen = have;
		if (seen > cursor->max_line_bytes) {
			cursor_fail(cursor, PPROF_LIMIT, PPROF_UNIT_LINE,
				    "line is longer than %llu bytes "
				    "(limit line_bytes)", (unsigned long long)
				    cursor->max_line_bytes);
			return false;
		}
		have = cursor_fill(cursor, have + 1);
		if (have <= seen)
			break;
	}
	*ret_len = have;
	*ret_has_lf = false;
	return !cursor->status && have;
}

bool cursor_peek_line(struct cursor *cursor, struct cursor_line *line)
{
	if (!find_line(cursor, &line->len, &line->has_lf))
		return false;
	line->text = (const char *)cursor->p;
	line->number = cursor->line;
	return true;
}

void cursor_skip_peeked(struct cursor *cursor, const struct cursor_line *line)
{
	cursor->p += line->len + line->has_lf;
	cursor->line++;
}

bool cursor_next_line(struct cursor *cursor, struct cursor_line *line)
{
	if (!cursor_peek_line(cursor, line))
		return false;
	cursor_skip_peeked(cursor, line);
	return true;
}

__attribute__((format(printf, 5, 0)))
static enum pprof_status fail_va(struct cursor *cursor,
				 enum pprof_status status,
				 enum pprof_unit unit, uint64_t where,
				 const char *format, va_list ap)
{
	char text[256];

	if (cursor->status)
		return cursor->status;
	if (vsnprintf(text, sizeof(text), format, ap) < 0)
		text[0] = '\0';
	cursor->status = error_set(&cursor->err, status, cursor->source, unit,
				   where, "%s", text);
	cursor->p = cursor->end;
	return status;
}

enum pprof_status cursor_fail(struct cursor *cursor, enum pprof_status status,
			      enum pprof_unit unit, const char *format, ...)
{
	uint64_t where = unit == PPROF_UNIT_LINE ? cursor->line :
			 cursor_offset(cursor);
	va_list ap;

	va_start(ap, format);
	status = fail_va(cursor, status, unit, where, format, ap);
	va_end(ap);
	return status;
}

enum pprof_status cursor_fail_at(struct cursor *cursor,
				 enum pprof_status status,
				 enum pprof_unit unit, uint64_t where,
				 const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	status = fail_va(cursor, status, unit, where, format, ap);
	va_end(ap);
	return status;
}

enum pprof_status cursor_status(const struct cursor *cursor,
				struct pprof_error *err)
{
	if (cursor->status && err)
		*err = cursor->err;
	return cursor->status;
}

bool text_u64(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	unsigned digit;

	for (; p < end; p++) {
		digit = (unsigned)(unsigned char)*p - '0';
		if (digit > 9)
			break;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	if (p == *pos)
		return false;
	*pos = p;
	*ret = value;
	return true;
}

/* Value of a hexadecimal digit, or 16. */
static unsigned hex_digit(char c)
{
	unsigned digit = (unsigned)(unsigned char)c - '0';

	if (digit <= 9)
		return digit;
	digit = ((unsigned)(unsigned char)c | 0x20) - 'a';
	return digit < 6 ? digit + 10 : 16;
}

bool text_hex(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	unsigned digit;

	for (; p < end; p++) {
		digit = hex_digit(*p);
		if (digit > 15)
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (p == *pos)
		return false;
	*pos = p;
	*ret = value;
	return true;
}
