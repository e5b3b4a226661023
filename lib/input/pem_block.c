/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lines belong to an open PEM block.
 *
 * Writers fold base64 to lines of one width. So a line of that width is
 * data; a shorter one is the last line or a foreign word that happens to be
 * base64 ("done"), which only the block's end tells; a longer one is two
 * joined lines, or a line with foreign text behind it.
 */
#include <config.h>

#include "input/pem_block.h"

#include "input/input.h"
#include "input/text.h"

/* Lines shorter than this are never taken for full ones. */
#define WIDTH_MIN 16

/* A word behind an unknown prefix is base64 from this length on. */
#define LEARN_MIN 40

void pem_block_init(struct pem_block *block, uint64_t max_bytes)
{
	memset(block, 0, sizeof(*block));
	buf_init(&block->prefix, PEM_TYPE_MAX * 1024);
	buf_init(&block->suffix, PEM_TYPE_MAX * 1024);
	buf_init(&block->data, max_bytes < PTRDIFF_MAX ? (size_t)max_bytes :
		 PTRDIFF_MAX);
}

void pem_block_fini(struct pem_block *block)
{
	buf_fini(&block->prefix);
	buf_fini(&block->suffix);
	buf_fini(&block->data);
}

/* ------------------------------------------------------------- prefixes */

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

const char *pem_block_skip_prefix(const struct pem_block *block,
				  const char *p, const char *end)
{
	const char *q = block->prefix.data, *q_end;

	if (!block->prefix.len)
		return skip_blanks(p, end);
	q_end = q + block->prefix.len;
	while (q < q_end) {
		if (p == end)
			return NULL;
		if (is_digit(*q)) {
			if (!is_digit(*p))
				return NULL;
			q = skip_digits(q, q_end);
			/* At the prefix's end digits may be data. */
			if (q == q_end)
				return NULL;
			p = skip_digits(p, end);
			continue;
		}
		if (*p++ != *q++)
			return NULL;
	}
	return p;
}

/* -------------------------------------------------------- base64 on lines */

/* A JSON escape of a base64 character at p: its length, or 0. */
static size_t unescape(const char *p, const char *end, char *ret)
{
	const char *q = p + 2;
	uint64_t code;

	if (end - p >= 2 && p[0] == '\\' && p[1] == '/') {
		*ret = '/';
		return 2;
	}
	if (end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
	    text_hex(&q, p + 6, &code) && q == p + 6 && code < 128 &&
	    base64_is_char((char)code)) {
		*ret = (char)code;
		return 6;
	}
	return 0;
}

/* The base64 characters at p into `text`; returns where they end. */
static const char *take_run(const char *p, const char *end, struct buf *text)
{
	const char *start = p;
	size_t len;
	char c;

	buf_reset(text);
	for (;;) {
		while (p < end && base64_is_char(*p))
			p++;
		buf_add(text, start, (size_t)(p - start));
		len = p < end && *p == '\\' ? unescape(p, end, &c) : 0;
		if (!len)
			return p;
		buf_byte(text, c);
		p += len;
		start = p;
	}
}

/* What may follow data on their line: nothing, or what follows BEGIN. */
static bool is_suffix(const struct pem_block *block, const char *p,
		      const char *end)
{
	end = trim_end(p, end);
	if (p == end)
		return true;
	return block->suffix.len && *p == block->suffix.data[0];
}

static void add_text(struct pem_block *block, const char *text, size_t len)
{
	size_t room = block->data.max - block->data.len;

	if (block->is_at_limit || len / 4 * 3 + 3 > room) {
		block->is_at_limit = true;
		return;
	}
	base64_decode(&block->base64, text, len, &block->data);
	block->is_out_of_memory |= !buf_ok(&block->data);
}

/* A line that may be the last one. */
static bool add_short(struct pem_block *block, const char *text, size_t len)
{
	struct pem_short *row;

	if (block->nr_shorts == PEM_SHORT_MAX) {
		memmove(block->shorts, block->shorts + 1,
			sizeof(block->shorts) - sizeof(*block->shorts));
		block->nr_shorts--;
		block->nr_foreign++;
	}
	row = &block->shorts[block->nr_shorts++];
	if (len > sizeof(row->text))
		len = sizeof(row->text);
	memcpy(row->text, text, len);
	row->len = len;
	return true;
}

static bool add_full(struct pem_block *block, const char *text, size_t len)
{
	/* Short ones before were not the last: foreign. */
	block->nr_foreign += block->nr_shorts;
	block->nr_shorts = 0;
	if (!block->width)
		block->width = len;
	add_text(block, text, len);
	return true;
}

bool pem_block_take(struct pem_block *block, const char *p, const char *end,
		    struct buf *text)
{
	const char *rest = take_run(p, end, text);
	bool is_pure = is_suffix(block, rest, end);
	size_t len = text->len;

	block->is_out_of_memory |= !buf_ok(text);
	if (!len || !buf_ok(text))
		return false;
	if (!is_pure && block->width && len >= block->width) {
		/* Foreign text was joined to a line. */
		len = block->width;
	} else if (!is_pure) {
		return false;
	}
	if (block->base64.is_padded) {
		block->nr_extra++;
		return true;
	}
	block->foreign_run = 0;
	/* Between two blocks, what comes behind is the other one's. */
	if (block->is_shared && block->width && !(len % 4) &&
	    text->data[len - 1] == '=')
		return add_full(block, text->data, len);
	if (len < (block->width ? block->width : WIDTH_MIN) &&
	    len <= sizeof(block->shorts[0].text))
		return add_short(block, text->data, len);
	return add_full(block, text->data, len);
}

const char *pem_block_find_full(const struct pem_block *block, const char *p,
				const char *end)
{
	const char *start;

	end = trim_end(p, end);
	if (!block->width || (size_t)(end - p) <= block->width)
		return NULL;
	start = end - block->width;
	if (base64_is_char(start[-1]))
		return NULL;
	for (p = start; p < end; p++) {
		if (!base64_is_char(*p))
			return NULL;
	}
	return start;
}

const char *pem_block_learn_prefix(struct pem_block *block, const char *p,
				   const char *end)
{
	const char *word;

	end = trim_end(p, end);
	if (block->data.len || block->nr_shorts || block->is_at_limit)
		return NULL;
	for (word = end; word > p && base64_is_char(word[-1]); word--)
		;
	if ((end - word) % 4 || (word > p && (end - word < LEARN_MIN ||
					      !is_space(word[-1]))))
		return NULL;
	pem_block_set_prefix(block, p, word);
	buf_reset(&block->suffix);
	return word;
}

void pem_block_set_prefix(struct pem_block *block, const char *line,
			  const char *at)
{
	buf_reset(&block->prefix);
	if (trim_end(line, at) > line)
		buf_add(&block->prefix, line, (size_t)(at - line));
	block->is_out_of_memory |= !buf_ok(&block->prefix);
}

/* ------------------------------------------------------------ the payload */

static bool is_gzip(const struct pem_block *block)
{
	return block->data.len >= 2 &&
	       (uint8_t)block->data.data[0] == 0x1f &&
	       (uint8_t)block->data.data[1] == 0x8b;
}

/* Whether the data are a whole gzip stream; if not, why in why[size]. */
static bool is_whole_gzip(struct pem_block *block,
			  const struct pprof_limits *limits, char *why,
			  size_t size)
{
	struct pprof_error err = { .status = PPROF_OK };
	struct input *input = NULL;
	enum pprof_status status;
	struct cursor *cursor;
	struct diags diags;
	bool is_cut = false;

	diags_init(&diags, "block");
	status = input_open_memory("block", block->data.data, block->data.len,
				   limits, &diags, &input, &err);
	if (!status) {
		cursor = input_cursor(input);
		while (cursor_fill(cursor, 1))
			cursor->p = cursor->end;
		status = cursor_status(cursor, &err);
		is_cut = input_was_truncated(input);
		input_close(input);
	}
	block->is_out_of_memory |= status == PPROF_NOMEM;
	if (status || is_cut)
		snprintf(why, size, "gzip: %.150s", status ? err.message :
			 "the stream is cut");
	return !status && !is_cut;
}

/* Whether the data with this last line are a whole gzip stream. */
static bool fits(struct pem_block *block, const struct pem_short *last,
		 const struct pprof_limits *limits)
{
	struct base64 state = block->base64;
	size_t len = block->data.len;
	char why[192];
	bool is_whole;

	add_text(block, last->text, last->len);
	is_whole = is_whole_gzip(block, limits, why, sizeof(why));
	block->data.len = len;
	block->base64 = state;
	return is_whole;
}

/* The short line that makes a gzip stream whole; NULL: none, or not one. */
static const struct pem_short *find_fitting(struct pem_block *block,
					    const struct pprof_limits *limits)
{
	size_t i;

	for (i = 0; i < block->nr_shorts; i++) {
		if (fits(block, &block->shorts[i], limits))
			return &block->shorts[i];
	}
	return NULL;
}

/* Which of the short lines is the block's last; NULL: none. */
static const struct pem_short *choose_last(struct pem_block *block,
					   enum pem_end how,
					   const struct pprof_limits *limits)
{
	const struct pem_short *last;
	char why[192];
	size_t i;

	for (i = 0; i < block->nr_shorts; i++) {
		last = &block->shorts[i];
		if (last->text[last->len - 1] == '=')
			return last;
	}
	if (!block->nr_shorts)
		return NULL;
	if (!block->data.len)
		return &block->shorts[block->nr_shorts - 1];
	if (is_gzip(block) && base64_is_whole(&block->base64)) {
		if (is_whole_gzip(block, limits, why, sizeof(why)))
			return NULL;
		last = find_fitting(block, limits);
		if (last)
			return last;
	}
	return how != PEM_END_NONE ? &block->shorts[block->nr_shorts - 1] :
	       NULL;
}

static void add_reason(char *damage, size_t size, const char *reason)
{
	size_t used = strlen(damage);

	snprintf(damage + used, size - used, "%s%s", used ? "; " : "",
		 reason);
}

bool pem_block_finish(struct pem_block *block, enum pem_end how,
		      const struct pprof_limits *limits, char *damage,
		      size_t size)
{
	const struct pem_short *last = choose_last(block, how, limits);
	char why[192] = "";
	bool is_proven;

	if (last) {
		add_text(block, last->text, last->len);
		block->nr_foreign += block->nr_shorts - 1;
	} else {
		block->nr_foreign += block->nr_shorts;
	}
	damage[0] = '\0';
	/* Its checksum tells more than the shape of the block. */
	is_proven = is_gzip(block) &&
		    is_whole_gzip(block, limits, why, sizeof(why));
	if (how == PEM_END_NONE && !is_proven)
		add_reason(damage, size, "END is missing");
	if (how == PEM_END_OTHER && !is_proven)
		add_reason(damage, size, "END is of another type");
	if (!block->data.len)
		add_reason(damage, size, "no data");
	if (block->is_at_limit)
		add_reason(damage, size, "larger than the limit input_bytes");
	if (!base64_is_whole(&block->base64) && !is_proven)
		add_reason(damage, size, "base64 is cut");
	if (*why)
		add_reason(damage, size, why);
	if (block->nr_extra)
		add_reason(damage, size, "data behind the padding");
	if (block->is_shared && !is_proven)
		add_reason(damage, size, "mixed with another block");
	return !block->is_out_of_memory;
}
