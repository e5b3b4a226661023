/* SPDX-License-Identifier: Apache-2.0
 *
 * Error objects and counted diagnostics: wording of positions, masking of
 * bytes that could drive a terminal. Does not print.
 */
#include <config.h>

#include "base/error.h"

#include <stdarg.h>
#include <string.h>

/* Room for one formatted message before masking. */
#define RAW_BYTES 1024

/* Length of the valid UTF-8 sequence at p, or 0. Rejects C1 controls. */
static size_t utf8_sequence(const unsigned char *p, size_t left)
{
	size_t len, i;
	uint32_t code;

	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		len = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (len > left)
		return 0;
	code = p[0] & (0x7fu >> len);
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < 0xa0 || (len == 3 && code < 0x800) ||
	    (len == 4 && code < 0x10000) || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

/* Copy text to buf, unprintable bytes as \xNN, never half a sequence. */
static void mask_text(char *buf, size_t size, const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)text;
	size_t used = 0, i, n;

	for (i = 0; i < len; i += n) {
		n = 1;
		if (p[i] >= 0x80)
			n = utf8_sequence(p + i, len - i);
		if (n && p[i] >= 0x20 && p[i] != 0x7f) {
			if (used + n >= size)
				break;
			memcpy(buf + used, p + i, n);
			used += n;
			continue;
		}
		n = 1;
		if (used + 4 >= size)
			break;
		buf[used++] = '\\';
		buf[used++] = 'x';
		buf[used++] = digits[p[i] >> 4];
		buf[used++] = digits[p[i] & 15];
	}
	buf[used] = '\0';
}

__attribute__((format(printf, 3, 0)))
static void format_masked_va(char *buf, size_t size, const char *format,
			     va_list ap)
{
	char raw[RAW_BYTES];
	int len = vsnprintf(raw, sizeof(raw), format, ap);

	if (len < 0)
		len = 0;
	if ((size_t)len >= sizeof(raw))
		len = (int)sizeof(raw) - 1;
	mask_text(buf, size, raw, (size_t)len);
}

void format_masked(char *buf, size_t size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	format_masked_va(buf, size, format, ap);
	va_end(ap);
}

/* Keep the tail of a long name: the end tells files apart. */
static void set_source(struct pprof_error *err, const char *source)
{
	size_t len;

	err->source[0] = '\0';
	if (!source)
		return;
	len = strlen(source);
	if (len >= sizeof(err->source))
		source += len - sizeof(err->source) + 1;
	mask_text(err->source, sizeof(err->source), source, strlen(source));
}

enum pprof_status error_set(struct pprof_error *err, enum pprof_status status,
			    const char *source, enum pprof_unit unit,
			    uint64_t where, const char *format, ...)
{
	va_list ap;

	if (!err)
		return status;
	err->status = status;
	err->unit = unit;
	err->where = where;
	set_source(err, source);
	va_start(ap, format);
	format_masked_va(err->message, sizeof(err->message), format, ap);
	va_end(ap);
	return status;
}

enum pprof_status error_plain(struct pprof_error *err,
			      enum pprof_status status, const char *source,
			      const char *format, ...)
{
	va_list ap;

	if (!err)
		return status;
	err->status = status;
	err->unit = PPROF_UNIT_NONE;
	err->where = 0;
	set_source(err, source);
	va_start(ap, format);
	format_masked_va(err->message, sizeof(err->message), format, ap);
	va_end(ap);
	return status;
}

enum pprof_status error_nomem(struct pprof_error *err)
{
	return error_plain(err, PPROF_NOMEM, NULL, "out of memory");
}

void diags_init(struct diags *diags, const char *source)
{
	diags->source = source;
	diags->nr_rows = 0;
}

/* Row of the kind `key`, or NULL after making it out of reach (full). */
static struct diag_row *find_row(struct diags *diags, const char *key,
				 bool *ret_is_new)
{
	struct diag_row *row;
	size_t i;

	*ret_is_new = false;
	for (i = 0; i < diags->nr_rows; i++) {
		if (diags->rows[i].key == key ||
		    !strcmp(diags->rows[i].key, key))
			return &diags->rows[i];
	}
	/* The last row takes every further kind: counted, never dropped. */
	if (diags->nr_rows == DIAGS_MAX)
		return &diags->rows[DIAGS_MAX - 1];
	row = &diags->rows[diags->nr_rows++];
	row->key = key;
	row->nr = 0;
	*ret_is_new = true;
	return row;
}

__attribute__((format(printf, 5, 0)))
static void count_va(struct diags *diags, enum pprof_unit unit, uint64_t where,
		     uint64_t nr, const char *format, va_list ap)
{
	struct diag_row *row;
	bool is_new;

	if (!diags || !nr)
		return;
	row = find_row(diags, format, &is_new);
	row->nr += nr;
	if (!is_new)
		return;
	row->unit = unit;
	row->where = where;
	format_masked_va(row->message, sizeof(row->message), format, ap);
}

void diag_count(struct diags *diags, enum pprof_unit unit, uint64_t where,
		const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	count_va(diags, unit, where, 1, format, ap);
	va_end(ap);
}

void diag_count_nr(struct diags *diags, enum pprof_unit unit, uint64_t where,
		   uint64_t nr, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	count_va(diags, unit, where, nr, format, ap);
	va_end(ap);
}

void diags_flush(struct diags *diags, pprof_diag_fn fn, void *ctx)
{
	struct pprof_diag diag;
	size_t i;

	for (i = 0; fn && i < diags->nr_rows; i++) {
		diag.source = diags->source ? diags->source : "";
		diag.unit = diags->rows[i].unit;
		diag.where = diags->rows[i].where;
		diag.nr = diags->rows[i].nr;
		diag.message = diags->rows[i].message;
		fn(ctx, &diag);
	}
	diags->nr_rows = 0;
}

bool diags_as_error(const struct diags *diags, struct pprof_error *err)
{
	const struct diag_row *row = diags->rows;

	if (!diags->nr_rows)
		return false;
	error_set(err, PPROF_FORMAT, diags->source, row->unit, row->where,
		  "%s (strict: not tolerated)", row->message);
	return true;
}
