/* SPDX-License-Identifier: Apache-2.0
 *
 * Growable byte buffer; see buf.h.
 */
#include <config.h>

#include "base/buf.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

void buf_init(struct buf *buf, size_t max)
{
	memset(buf, 0, sizeof(*buf));
	buf->max = max < SIZE_MAX ? max : SIZE_MAX - 1;
}

void buf_fini(struct buf *buf)
{
	mem_free(buf->data);
	buf->data = NULL;
	buf->len = 0;
	buf->cap = 0;
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
}

bool buf_reserve(struct buf *buf, size_t nr)
{
	if (buf->failed)
		return false;
	/* One byte is always spare, so that buf_cstr() cannot fail. */
	if (nr < buf->cap - buf->len)
		return true;
	if (nr > buf->max - buf->len ||
	    !mem_grow(buf->data, buf->cap, buf->len + nr + 1, buf->max + 1)) {
		buf->failed = true;
		return false;
	}
	return true;
}

void buf_add_slow(struct buf *buf, const void *data, size_t nr)
{
	if (!buf_reserve(buf, nr) || !nr)
		return;
	memcpy(buf->data + buf->len, data, nr);
	buf->len += nr;
}

void buf_str(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_u64(struct buf *buf, uint64_t value)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buf_add(buf, digits + i, sizeof(digits) - i);
}

void buf_i64(struct buf *buf, int64_t value)
{
	if (value < 0)
		buf_byte(buf, '-');
	buf_u64(buf, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void buf_hex(struct buf *buf, uint64_t value)
{
	char digits[16];
	size_t i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	buf_add(buf, digits + i, sizeof(digits) - i);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list ap;
	int len;

	va_start(ap, format);
	len = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (len < 0) {
		buf->failed = true;
		return;
	}
	/* The spare byte takes the NUL that vsnprintf writes. */
	if (!buf_reserve(buf, (size_t)len))
		return;
	va_start(ap, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, ap);
	va_end(ap);
	buf->len += (size_t)len;
}

const char *buf_cstr(struct buf *buf)
{
	if (!buf->cap)
		return "";
	buf->data[buf->len] = '\0';
	return buf->data;
}
