/* SPDX-License-Identifier: Apache-2.0
 *
 * Growable byte buffer with a maximum and sticky failure: writers append
 * freely and look at buf_ok() once.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *data;      /* not NUL-terminated; see buf_str() */
	size_t len;      /* bytes used */
	size_t cap;      /* bytes allocated */
	size_t max;      /* bound on len */
	bool failed;     /* an append did not fit: len stopped growing */
};

void buf_init(struct buf *buf, size_t max);
void buf_fini(struct buf *buf);

/* Empty it, keep the storage, clear the failure. */
void buf_reset(struct buf *buf);

/* Make room for `nr` more bytes; false sets the failure. */
bool buf_reserve(struct buf *buf, size_t nr);

/* Appenders; nothing happens after a failure. */
void buf_add_slow(struct buf *buf, const void *data, size_t nr);
void buf_str(struct buf *buf, const char *text);
void buf_u64(struct buf *buf, uint64_t value);
void buf_i64(struct buf *buf, int64_t value);
void buf_hex(struct buf *buf, uint64_t value); /* lower case, no 0x */
__attribute__((format(printf, 2, 3)))
void buf_printf(struct buf *buf, const char *format, ...);

static inline void buf_add(struct buf *buf, const void *data, size_t nr)
{
	if (nr >= buf->cap - buf->len || buf->failed) {
		buf_add_slow(buf, data, nr);
		return;
	}
	if (nr)
		memcpy(buf->data + buf->len, data, nr);
	buf->len += nr;
}

static inline void buf_byte(struct buf *buf, char byte)
{
	buf_add(buf, &byte, 1);
}

/* NUL-terminated view of the len bytes; the NUL is not one of them. */
const char *buf_cstr(struct buf *buf);

static inline bool buf_ok(const struct buf *buf)
{
	return !buf->failed;
}

#endif
