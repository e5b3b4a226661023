/* SPDX-License-Identifier: Apache-2.0
 *
 * Go's count profiles as text (debug=1): "goroutine profile: total 7", then
 * "3 @ 0x.. 0x.." and comments with labels and names (src/runtime/pprof/
 * pprof.go, printCountProfile). The word before "profile" is the type.
 */
#include <config.h>

#include "input/reader.h"

#include "base/buf.h"
#include "base/mem.h"
#include "input/addr_names.h"
#include "input/addresses.h"
#include "input/procmaps.h"
#include "input/text.h"

/* Longest name of a type that is believed. */
#define TYPE_BYTES_MAX 64

struct counts_text {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	struct addresses addresses;
	struct addr_names names;
	uint64_t total;      /* of the header */
	uint64_t sum;        /* of the rows */
	bool has_row;        /* a row waits for its labels */
	uint64_t row_line;
	int64_t row_count;
	struct label *labels; /* of that row */
	size_t nr_labels, cap_labels;
	struct buf text;     /* of a quoted string */
};

/* "NAME profile: total N"; *ret_len is the length of NAME. */
static bool is_header(const char *p, const char *end, size_t *ret_len,
		      uint64_t *ret_total)
{
	static const char middle[] = " profile: total ";
	const char *at;

	end = trim_end(p, end);
	at = find_text(p, end, middle);
	if (!at || at == p || at - p > TYPE_BYTES_MAX)
		return false;
	*ret_len = (size_t)(at - p);
	if (memchr(p, ' ', *ret_len))
		return false;
	at += strlen(middle);
	return text_u64(&at, end, ret_total) && at == end;
}

static int sniff_counts(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *eol;
	uint64_t total;
	size_t len;

	for (; p < end; p = eol + 1) {
		eol = line_end(p, end);
		if (trim_end(p, eol) == p && eol < end)
			continue;
		return is_header(p, eol, &len, &total) ? 96 : 0;
	}
	return 0;
}

/* -------------------------------------------------------------- labels */

/* A Go-quoted string at *pos into c->text. False: it is none. */
static bool take_quoted(struct counts_text *c, const char **pos,
			const char *end)
{
	const char *p = skip_blanks(*pos, end), *q;
	uint64_t byte;
	char one;

	if (p == end || *p++ != '"')
		return false;
	buf_reset(&c->text);
	while (p < end && *p != '"') {
		one = *p++;
		if (one == '\\' && p < end) {
			one = *p++;
			q = p;
			if (one == 'x' && end - p >= 2 &&
			    text_hex(&q, p + 2, &byte)) {
				one = (char)byte;
				p += 2;
			} else if (one == 'n' || one == 't') {
				one = one == 'n' ? '\n' : '\t';
			}
		}
		buf_byte(&c->text, one);
	}
	if (p == end)
		return false;
	*pos = p + 1;
	return buf_ok(&c->text);
}

/* `"key":"value"` at *pos as one more label. */
static bool take_pair(struct counts_text *c, const char **pos,
		      const char *end)
{
	struct label *label;
	str_id key;

	if (!take_quoted(c, pos, end))
		return false;
	key = builder_str(c->out, c->text.data, c->text.len);
	if (!skip_char(pos, end, ':') || !take_quoted(c, pos, end))
		return false;
	if (c->nr_labels == c->out->limits->labels ||
	    !mem_grow(c->labels, c->cap_labels, c->nr_labels + 1,
		      SIZE_MAX / sizeof(*label)))
		return false;
	label = &c->labels[c->nr_labels++];
	memset(label, 0, sizeof(*label));
	label->key = key;
	label->str = builder_str(c->out, c->text.data, c->text.len);
	if (!label->str)
		c->nr_labels--;
	return key != ID_FAILED && label->str != ID_FAILED;
}

/* `{"key":"value", "key":"value"}` behind "# labels:". */
static void take_labels(struct counts_text *c, const char *p, const char *end,
			uint64_t line)
{
	c->nr_labels = 0;
	if (skip_char(&p, end, '{')) {
		while (take_pair(c, &p, end) && skip_char(&p, end, ','))
			;
		if (skip_char(&p, end, '}'))
			return;
	}
	diag_count(c->diags, PPROF_UNIT_LINE, line, "labels not understood; "
		   "what follows them on the line is left out");
}

/* ---------------------------------------------------------------- rows */

/* The row that waited is complete. */
static enum pprof_status flush_row(struct counts_text *c)
{
	lset_id lset;

	if (!c->has_row)
		return PPROF_OK;
	c->has_row = false;
	lset = builder_lset(c->out, c->labels, c->nr_labels);
	c->nr_labels = 0;
	if (lset != ID_FAILED)
		builder_add(c->out, c->addresses.frames,
			    c->addresses.nr_frames, lset, &c->row_count,
			    PPROF_UNIT_LINE, c->row_line);
	return c->out->status;
}

/* "N @ addresses" */
static enum pprof_status take_row(struct counts_text *c, const char *p,
				  const char *end,
				  const struct cursor_line *line)
{
	const char *bad = p;
	uint64_t count;

	if (!text_u64(&p, end, &count) || !skip_char(&p, end, '@')) {
		diag_count(c->diags, PPROF_UNIT_LINE, line->number,
			   line->has_lf ? "line not understood; it is left "
			   "out" : "input is truncated: its last line is cut");
		return PPROF_OK;
	}
	switch (addresses_take_line(&c->addresses, p, end, line->number,
				    LEAF_RETURN, &bad)) {
	case ADDRESSES_BAD:
		return cursor_fail_at(c->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      line->number, "expected a hexadecimal "
				      "address, found '%.*s'",
				      (int)(end - bad > 40 ? 40 : end - bad),
				      bad);
	case ADDRESSES_FAILED:
		return reader_fail(c->out, c->in, PPROF_UNIT_LINE);
	default:
		break;
	}
	c->has_row = true;
	c->row_line = line->number;
	c->row_count = count > INT64_MAX ? INT64_MAX : (int64_t)count;
	if (count > INT64_MAX)
		diag_count(c->diags, PPROF_UNIT_LINE, line->number,
			   "count above 2^63-1 is held at 2^63-1");
	if (__builtin_add_overflow(c->sum, count, &c->sum))
		c->sum = UINT64_MAX;
	return addresses_check_depth(&c->addresses, c->in, PPROF_UNIT_LINE,
				     line->number);
}

static enum pprof_status take_comment(struct counts_text *c, const char *p,
				      const char *end, uint64_t line)
{
	const char *text = skip_blanks(p + 1, end);

	if (c->has_row && starts(text, end, "labels:")) {
		take_labels(c, text + strlen("labels:"), end, line);
		return c->out->status;
	}
	if (addr_names_take_comment(&c->names, p, end))
		return PPROF_OK;
	return reader_fail(c->out, c->in, PPROF_UNIT_LINE);
}

static enum pprof_status read_lines(struct counts_text *c)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;
	const char *p, *end;

	while (!status && cursor_next_line(c->in, &line)) {
		end = trim_end(line.text, line.text + line.len);
		p = skip_blanks(line.text, end);
		if (text_is_maps_marker(p, end))
			break;
		if (p == end)
			continue;
		if (*p == '#') {
			status = take_comment(c, p, end, line.number);
			continue;
		}
		status = flush_row(c);
		if (!status)
			status = take_row(c, p, end, &line);
	}
	if (!status)
		status = flush_row(c);
	return status ? status : c->in->status;
}

static enum pprof_status take_header(struct counts_text *c)
{
	struct pprof_profile *profile = c->out->profile;
	struct cursor_line line;
	size_t len;

	while (cursor_next_line(c->in, &line)) {
		if (trim_end(line.text, line.text + line.len) == line.text)
			continue;
		if (!is_header(line.text, line.text + line.len, &len,
			       &c->total))
			break;
		profile->period_type.type = builder_str(c->out, line.text,
							len);
		profile->period_type.unit = builder_cstr(c->out, "count");
		profile->period = 1;
		builder_type(c->out, profile->period_type.type,
			     profile->period_type.unit);
		return c->out->status;
	}
	if (c->in->status)
		return c->in->status;
	return cursor_fail(c->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			   "expected a first line like 'goroutine profile: "
			   "total 7'");
}

static enum pprof_status read_all(struct counts_text *c)
{
	enum pprof_status status = take_header(c);

	if (!status)
		status = read_lines(c);
	if (status)
		return status;
	addresses_tell(&c->addresses, c->diags);
	if (c->sum != c->total)
		diag_count(c->diags, PPROF_UNIT_LINE, 1, "the header tells a "
			   "total of %llu, the rows add up to %llu",
			   (unsigned long long)c->total,
			   (unsigned long long)c->sum);
	status = procmaps_read(c->in, c->out);
	return status ? status : addr_names_apply(&c->names, true);
}

static enum pprof_status read_counts(struct cursor *in,
				     const struct read_ctx *ctx,
				     struct pprof_error *err)
{
	struct counts_text c = { .in = in, .out = ctx->out,
				 .diags = ctx->diags };
	enum pprof_status status;

	addresses_init(&c.addresses, ctx->out);
	addr_names_init(&c.names, ctx->out);
	buf_init(&c.text, ctx->out->limits->string_bytes);
	status = read_all(&c);
	if (status)
		cursor_status(in, err);
	buf_fini(&c.text);
	mem_free(c.labels);
	addresses_fini(&c.addresses);
	addr_names_fini(&c.names);
	return status;
}

const struct reader reader_counts = {
	.name = "counts",
	.description = "Go's goroutine, threadcreate and other count "
		       "profiles (text)",
	.sniff = sniff_counts,
	.read = read_counts,
};
