/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds PEM blocks in a log. While none is open only "-----BEGIN " is
 * searched for; while some are, each line is offered to them.
 */
#include <config.h>

#include "input/pem.h"

#include "base/mem.h"
#include "input/input.h"
#include "input/pem_block.h"
#include "input/reader.h"
#include "input/text.h"

static const char begin_mark[] = "-----BEGIN ";
static const char end_mark[] = "-----END ";
static const char dashes[] = "-----";

#define BEGIN_LEN (sizeof(begin_mark) - 1)

/* Blocks that may be open at once. */
#define OPEN_MAX 16

/* Foreign lines after which a block is given up. */
#define FOREIGN_MAX 10000

/* Bytes that are searched at once. */
#define SEARCH_BYTES ((size_t)256 << 10)

/* Bytes before BEGIN on its line that can be its prefix. */
#define PREFIX_MAX 4096

struct pem {
	struct cursor *in;
	const struct pprof_limits *limits;
	pprof_block_fn fn;
	void *ctx;
	struct pprof_error *err;
	struct pem_block *open[OPEN_MAX]; /* newest last */
	size_t nr_open;
	struct pem_block *current; /* that the line at hand belongs to */
	const char *prefix_end;    /* of that line, once known */
	struct buf text;           /* scratch */
	uint64_t line;
	enum pprof_status status;
};

/* A BEGIN or END found. */
struct mark {
	const char *start;  /* its first dash */
	const char *after;  /* behind its last dash */
	const char *type;
	size_t type_len;
	bool is_begin;
};

/* -------------------------------------------------------------- closing */

/* The reader that the head of the payload is surest of, or NULL. */
static enum pprof_status sniff_payload(const struct pem *pem,
				       const struct buf *data,
				       const struct reader **ret_best)
{
	const struct reader *reader;
	struct input *input = NULL;
	enum pprof_status status;
	struct diags diags;
	int score, best_score = 0;
	size_t i, nr;

	*ret_best = NULL;
	if (!data->len)
		return PPROF_OK;
	diags_init(&diags, "block");
	status = input_open_memory("block", data->data, data->len,
				   pem->limits, &diags, &input, NULL);
	if (status)
		return status == PPROF_NOMEM ? status : PPROF_OK;
	nr = cursor_fill(input_cursor(input), SNIFF_BYTES);
	if (nr > SNIFF_BYTES)
		nr = SNIFF_BYTES;
	for (i = 0; nr && (reader = reader_at(i)); i++) {
		score = reader->sniff(input_cursor(input)->p, nr);
		if (score <= best_score)
			continue;
		*ret_best = reader;
		best_score = score;
	}
	status = input_cursor(input)->status;
	input_close(input);
	return status == PPROF_NOMEM ? status : PPROF_OK;
}

/* Suffix for a file with the payload. */
static const char *choose_suffix(const struct reader *reader, bool is_gzip)
{
	if (reader == &reader_pprof)
		return is_gzip ? "pb.gz" : "pb";
	if (reader && reader->read && reader != &reader_cpu &&
	    reader != &reader_cbor)
		return is_gzip ? "txt.gz" : "txt";
	return is_gzip ? "bin.gz" : "bin";
}

static void forget(struct pem *pem, size_t i)
{
	if (pem->current == pem->open[i])
		pem->current = NULL;
	pem_block_fini(pem->open[i]);
	mem_free(pem->open[i]);
	pem->nr_open--;
	memmove(pem->open + i, pem->open + i + 1,
		(pem->nr_open - i) * sizeof(*pem->open));
}

/* Tell a block and forget it. */
static void close_block(struct pem *pem, size_t i, enum pem_end how)
{
	struct pem_block *block = pem->open[i];
	struct pprof_block row = { .type = block->type };
	const struct buf *data = &block->data;
	const struct reader *reader = NULL;
	char damage[192];

	if (!pem->status &&
	    (!pem_block_finish(block, how, pem->limits, damage,
			       sizeof(damage)) ||
	     sniff_payload(pem, data, &reader)))
		pem->status = error_nomem(pem->err);
	row.data = data->len ? data->data : "";
	row.nr_bytes = data->len;
	row.first_line = block->first_line;
	row.last_line = block->last_line;
	row.nr_foreign_lines = block->nr_foreign;
	row.damage = damage;
	row.format = reader ? reader->name : "";
	row.suffix = choose_suffix(reader, data->len >= 2 &&
				   !memcmp(data->data, "\x1f\x8b", 2));
	if (!pem->status)
		pem->status = pem->fn(pem->ctx, &row, pem->err);
	forget(pem, i);
}

/* -------------------------------------------------------------- opening */

static bool same_prefix(const struct pem_block *a, const struct pem_block *b)
{
	const char *end;

	if (!a->prefix.len || !b->prefix.len)
		return a->prefix.len == b->prefix.len;
	end = b->prefix.data + b->prefix.len;
	return pem_block_skip_prefix(a, b->prefix.data, end) == end;
}

static void open_block(struct pem *pem, const struct mark *mark,
		       const char *line, const char *end)
{
	struct pem_block *block = mem_alloc(1, sizeof(*block));
	size_t len = (size_t)(pem->prefix_end - line), i;

	if (!block) {
		pem->status = error_nomem(pem->err);
		return;
	}
	if (pem->nr_open == OPEN_MAX)
		close_block(pem, 0, PEM_END_NONE);
	pem_block_init(block, pem->limits->input_bytes);
	memcpy(block->type, mark->type, mark->type_len);
	block->type[mark->type_len] = '\0';
	block->first_line = pem->line;
	block->last_line = pem->line;
	if (trim_end(line, pem->prefix_end) > line)
		buf_add(&block->prefix, line, len);
	end = trim_end(mark->after, end);
	/* Base64 behind BEGIN is data that were joined to it. */
	if (mark->after < end && !base64_is_char(*mark->after))
		buf_add(&block->suffix, mark->after,
			(size_t)(end - mark->after));
	for (i = 0; i < pem->nr_open; i++) {
		if (!same_prefix(pem->open[i], block))
			continue;
		pem->open[i]->is_shared = true;
		block->is_shared = true;
	}
	pem->open[pem->nr_open++] = block;
	pem->current = block;
}

/* The open block that an END closes, nr_open when none. */
static size_t find_ended(const struct pem *pem, const struct mark *mark,
			 const char *line, enum pem_end *ret_how)
{
	size_t i, other = pem->nr_open;

	for (i = pem->nr_open; i--;) {
		const struct pem_block *block = pem->open[i];
		bool is_type = strlen(block->type) == mark->type_len &&
			       !memcmp(block->type, mark->type,
				       mark->type_len);
		const char *at = pem_block_skip_prefix(block, line,
						       mark->start);
		bool is_mine = at == mark->start || block == pem->current;

		*ret_how = PEM_END;
		if (is_type && is_mine)
			return i;
		if (is_type && other == pem->nr_open)
			other = i;
	}
	if (other < pem->nr_open)
		return other;
	*ret_how = PEM_END_OTHER;
	for (i = pem->nr_open; i--;) {
		if (pem_block_skip_prefix(pem->open[i], line, mark->start) ==
		    mark->start)
			return i;
	}
	return pem->nr_open;
}

/* ---------------------------------------------------------------- lines */

static bool take_mark(const char *p, const char *end, const char *word,
		      struct mark *ret)
{
	const char *at = find_text(p, end, word), *q;

	for (; at; at = find_text(at + 1, end, word)) {
		ret->start = at;
		ret->type = at + strlen(word);
		q = find_text(ret->type, end, dashes);
		if (!q || q - ret->type >= PEM_TYPE_MAX ||
		    memchr(ret->type, '\\', (size_t)(q - ret->type)))
			continue;
		ret->type_len = (size_t)(q - ret->type);
		ret->after = q + strlen(dashes);
		return true;
	}
	return false;
}

/* The first BEGIN or END of [p, end). */
static bool find_mark(const char *p, const char *end, struct mark *ret)
{
	struct mark begin, finish;
	bool has_begin, has_end;

	if (!find_text(p, end, dashes))
		return false;
	has_begin = take_mark(p, end, begin_mark, &begin);
	has_end = take_mark(p, end, end_mark, &finish);
	if (!has_begin && !has_end)
		return false;
	if (has_begin && (!has_end || begin.start < finish.start)) {
		*ret = begin;
		ret->is_begin = true;
	} else {
		*ret = finish;
		ret->is_begin = false;
	}
	return true;
}

/* The data of a line from its start on: whose are they? */
static struct pem_block *offer_line(struct pem *pem, const char *p,
				    const char *end)
{
	const char *at;
	size_t i;

	for (i = pem->nr_open; i--;) {
		at = pem_block_skip_prefix(pem->open[i], p, end);
		if (at && pem_block_take(pem->open[i], at, end, &pem->text)) {
			pem->prefix_end = at;
			return pem->open[i];
		}
	}
	for (i = pem->nr_open; i--;) {
		at = pem_block_find_full(pem->open[i], p, end);
		if (at)
			pem_block_set_prefix(pem->open[i], p, at);
		else
			at = pem_block_learn_prefix(pem->open[i], p, end);
		if (at && pem_block_take(pem->open[i], at, end, &pem->text)) {
			pem->prefix_end = at;
			return pem->open[i];
		}
	}
	return NULL;
}

/*
 * Text without a mark; `is_start`: its line begins with it. False when it
 * is no block's.
 */
static bool take_text(struct pem *pem, const char *p, const char *end,
		      bool is_start)
{
	struct pem_block *block = NULL;

	if (!pem->nr_open || trim_end(p, end) == p)
		return true;
	if (is_start)
		block = offer_line(pem, p, end);
	else if (pem->current &&
		 pem_block_take(pem->current, p, end, &pem->text))
		block = pem->current;
	if (block) {
		block->last_line = pem->line;
		pem->current = block;
	}
	return block;
}

/* A line that is none of the open blocks'. */
static void count_foreign(struct pem *pem)
{
	size_t i;

	for (i = pem->nr_open; i--;) {
		pem->open[i]->nr_foreign++;
		if (++pem->open[i]->foreign_run < FOREIGN_MAX)
			continue;
		pem->open[i]->nr_foreign -= pem->open[i]->foreign_run;
		close_block(pem, i, PEM_END_NONE);
	}
}

/* A piece of a line between escaped line ends. */
static void take_piece(struct pem *pem, const char *line, const char *p,
		       const char *end)
{
	enum pem_end how;
	struct mark mark;
	size_t i;

	while (!pem->status && find_mark(p, end, &mark)) {
		if (pem->nr_open && mark.start > p &&
		    (p != line || pem_block_skip_prefix(
			pem->open[pem->nr_open - 1], p, mark.start) !=
		     mark.start))
			take_text(pem, p, mark.start, p == line);
		if (!pem->prefix_end)
			pem->prefix_end = mark.start;
		if (mark.is_begin) {
			open_block(pem, &mark, line, end);
		} else {
			i = find_ended(pem, &mark, p, &how);
			if (i < pem->nr_open) {
				pem->open[i]->last_line = pem->line;
				close_block(pem, i, how);
			}
		}
		p = mark.after;
	}
	if (!pem->status && p < end && !take_text(pem, p, end, p == line) &&
	    p == line)
		count_foreign(pem);
}

/* Line ends that JSON escaped, once or twice: "\n", "\\r". */
static const char *find_escape(const char *p, const char *end,
			       const char **ret_after)
{
	const char *start;

	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		start = p;
		while (p < end && *p == '\\')
			p++;
		if (p < end && (*p == 'n' || *p == 'r')) {
			*ret_after = p + 1;
			return start;
		}
		if (p == end)
			break;
	}
	return NULL;
}

static void take_line(struct pem *pem, const char *line, const char *end)
{
	const char *p = line, *cut, *after = end;

	pem->current = NULL;
	pem->prefix_end = NULL;
	while (!pem->status && (cut = find_escape(p, end, &after))) {
		take_piece(pem, line, p, cut);
		p = after;
	}
	if (!pem->status && (p < end || p == line))
		take_piece(pem, line, p, end);
}

/* ------------------------------------------------------------- searching */

static uint64_t count_lines(const char *p, const char *end)
{
	uint64_t nr = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		nr++;
		p++;
	}
	return nr;
}

/*
 * No block is open: move to the line of the next BEGIN, or to the end.
 * Lines are counted on the way.
 */
static void search(struct pem *pem)
{
	struct cursor *in = pem->in;
	const char *p, *end, *hit, *keep;
	size_t have;

	for (;;) {
		have = cursor_fill(in, SEARCH_BYTES);
		p = (const char *)in->p;
		end = p + have;
		if (!have)
			return;
		hit = find_text(p, end, begin_mark);
		if (hit)
			break;
		/* A BEGIN may be cut by the window's end, with its prefix. */
		keep = memrchr(p, '\n', have);
		keep = keep && have >= SEARCH_BYTES ? keep + 1 : end;
		if (keep == end && have >= SEARCH_BYTES)
			keep = end - PREFIX_MAX;
		pem->line += count_lines(p, keep);
		in->p = (const uint8_t *)keep;
		if (have < SEARCH_BYTES)
			return;
	}
	keep = memrchr(p, '\n', (size_t)(hit - p));
	keep = keep ? keep + 1 : p;
	if (hit - keep > PREFIX_MAX)
		keep = hit - PREFIX_MAX;
	pem->line += count_lines(p, keep);
	in->p = (const uint8_t *)keep;
}

static void read_all(struct pem *pem)
{
	struct cursor_line line;

	while (!pem->status) {
		if (!pem->nr_open)
			search(pem);
		if (!cursor_next_line(pem->in, &line))
			break;
		take_line(pem, line.text, line.text + line.len);
		pem->line++;
	}
	while (pem->nr_open)
		close_block(pem, 0, PEM_END_NONE);
}

enum pprof_status pem_extract(struct cursor *in,
			      const struct pprof_limits *limits,
			      pprof_block_fn fn, void *ctx,
			      struct pprof_error *err)
{
	struct pem pem = { .in = in, .limits = limits, .fn = fn, .ctx = ctx,
			   .err = err, .line = 1 };

	buf_init(&pem.text, PTRDIFF_MAX);
	read_all(&pem);
	buf_fini(&pem.text);
	if (pem.status)
		return pem.status;
	return cursor_status(in, err);
}

/* ------------------------------------------------------------ the public */

enum pprof_status pprof_extract(const char *path,
				const struct pprof_limits *limits,
				pprof_block_fn fn, void *ctx,
				struct pprof_error *err)
{
	struct pprof_limits defaults;
	enum pprof_status status;
	struct input *input;
	struct diags diags;

	pprof_limits_init(&defaults);
	if (!limits)
		limits = &defaults;
	diags_init(&diags, path);
	status = input_open(path, limits, &diags, &input, err);
	if (status)
		return status;
	status = pem_extract(input_cursor(input), limits, fn, ctx, err);
	input_close(input);
	return status;
}
