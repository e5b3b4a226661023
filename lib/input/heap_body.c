/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks and counts of a heap dump: what is damaged is counted and left out,
 * what is nonsense is refused. Counts are unsampled here, once a printed
 * line, before anything is added up.
 */
#include <config.h>

#include "input/heap_text.h"

#include <ctype.h>

#include "base/mem.h"
#include "input/reader.h"
#include "profile/stats.h"

/* ------------------------------------------------------------------ counts */

/*
 * One count: decimal, perhaps negative (jemalloc 3.x printed signed). Above
 * INT64_MAX it is clamped and *clamped set. False when it is no number or
 * does not fit 64 bits.
 */
static bool parse_count(const char **pos, const char *end, int64_t *ret,
			bool *clamped)
{
	const char *p = skip_blanks(*pos, end);
	bool negative = p < end && *p == '-';
	uint64_t value;

	p += negative;
	if (!text_u64(&p, end, &value))
		return false;
	if (value > INT64_MAX) {
		value = INT64_MAX;
		*clamped = true;
	}
	*ret = negative ? -(int64_t)value : (int64_t)value;
	*pos = p;
	return true;
}

/* "N: N [N: N]". Moves *pos behind the bracket. */
bool heap_parse_counts(struct heap *h, const char **pos, const char *end,
			 uint64_t line, struct counts *ret)
{
	bool clamped = false;

	if (!parse_count(pos, end, &ret->objects, &clamped) ||
	    !skip_char(pos, end, ':') ||
	    !parse_count(pos, end, &ret->bytes, &clamped) ||
	    !skip_char(pos, end, '[') ||
	    !parse_count(pos, end, &ret->acc_objects, &clamped) ||
	    !skip_char(pos, end, ':') ||
	    !parse_count(pos, end, &ret->acc_bytes, &clamped) ||
	    !skip_char(pos, end, ']'))
		return false;
	if (clamped)
		diag_count(h->diags, PPROF_UNIT_LINE, line,
			   "count above 2^63-1 is held at 2^63-1");
	return true;
}

/* Unsample one pair into two values. */
static void scale_pair(struct heap *h, int64_t objects, int64_t bytes,
		       uint64_t line, int64_t *ret)
{
	double n = (double)objects, b = (double)bytes;

	ret[0] = objects;
	ret[1] = bytes;
	if (objects < 0 || bytes < 0)
		diag_count(h->diags, PPROF_UNIT_LINE, line,
			   "negative count is taken as it stands");
	if (h->rate <= 1 || (!objects && !bytes))
		return;
	if (objects <= 0 || bytes <= 0) {
		if (objects >= 0 && bytes >= 0)
			diag_count(h->diags, PPROF_UNIT_LINE, line,
				   "count without bytes, or bytes without "
				   "count: it is not unsampled");
		return;
	}
	stats_unsample(&n, &b, h->rate);
	ret[0] = stats_round(n, &h->saturated);
	ret[1] = stats_round(b, &h->saturated);
}

/*
 * The first accumulated count shows that they were recorded. Their columns
 * go in front; what came before has zeros in them.
 */
static void start_alloc_columns(struct heap *h)
{
	struct pprof_profile *p = h->out->profile;
	int64_t *objects, *space;

	h->has_alloc = true;
	builder_flush(h->out);
	objects = mem_zalloc(p->cap_samples, sizeof(*objects));
	space = mem_zalloc(p->cap_samples, sizeof(*space));
	if (!objects || !space) {
		mem_free(objects);
		mem_free(space);
		reader_fail(h->out, h->in, PPROF_UNIT_LINE);
		h->out->status = PPROF_NOMEM;
		return;
	}
	p->values[2] = p->values[0];
	p->values[3] = p->values[1];
	p->values[0] = objects;
	p->values[1] = space;
	p->types[2] = p->types[0];
	p->types[3] = p->types[1];
	p->types[0].type = builder_cstr(h->out, "alloc_objects");
	p->types[0].unit = p->types[2].unit;
	p->types[1].type = builder_cstr(h->out, "alloc_space");
	p->types[1].unit = p->types[3].unit;
	p->nr_types = 4;
}

static void add_sample(struct heap *h, const struct counts *counts,
		       lset_id lset, uint64_t line)
{
	int64_t values[4], *v = values;

	if ((counts->acc_objects || counts->acc_bytes) && !h->has_alloc &&
	    !h->is_repeated)
		start_alloc_columns(h);
	if (h->has_alloc) {
		scale_pair(h, counts->acc_objects, counts->acc_bytes, line, v);
		v += 2;
	}
	scale_pair(h, counts->objects, counts->bytes, line, v);
	builder_add(h->out, h->addresses.frames, h->addresses.nr_frames, lset,
		    values, PPROF_UNIT_LINE, line);
}

/* --------------------------------------------------------------- addresses */

/*
 * Two halves of lines, joined where a write was lost, hold nothing that a
 * dump does not, but a second "0x" or a count's marks in one token.
 */
static bool is_joined(const char *p, const char *end)
{
	size_t nr_x = 0, nr_marks = 0;

	for (; p < end; p++) {
		nr_x += (*p | 0x20) == 'x';
		if (*p == ':' || *p == '@' || *p == '[' || *p == ']' ||
		    *p == 't' || *p == '*')
			nr_marks++;
		else if (!isxdigit((unsigned char)*p) && (*p | 0x20) != 'x')
			return false;
	}
	return nr_x > 1 || nr_marks;
}

/* What is wrong with a line of addresses from `p` on. */
static enum pprof_status bad_address(struct heap *h, const char *p,
				     const char *end, uint64_t line)
{
	const char *token = p;

	while (p < end && *p != ' ' && *p != '\t')
		p++;
	if (h->line_is_cut && p == end) {
		diag_count(h->diags, PPROF_UNIT_LINE, line,
			   "input is truncated: its last line is cut");
		return PPROF_OK;
	}
	if (is_joined(token, p)) {
		diag_count(h->diags, PPROF_UNIT_LINE, line,
			   "line is damaged in its middle; its stack is "
			   "left out");
		return PPROF_OK;
	}
	return cursor_fail_at(h->in, PPROF_FORMAT, PPROF_UNIT_LINE, line,
			      "expected a hexadecimal address of at most 16 "
			      "digits, found '%.*s'",
			      (int)(p - token > 40 ? 40 : p - token), token);
}

/*
 * A frame for a stack that could not be unwound: without one other readers
 * of pprof would leave its bytes out.
 */
static bool push_no_stack(struct heap *h)
{
	struct function func = { .start_line = 0 };
	struct line line = { .line = 0 };
	loc_id loc;

	func.name = builder_cstr(h->out, "[no stack]");
	line.func = builder_function(h->out, &func);
	loc = builder_location(h->out, 0, 0, false, &line, 1);
	return loc != ID_FAILED && addresses_push_loc(&h->addresses, loc);
}

/*
 * Addresses up to `end` as the stack at hand; *ret_ok false: the line is
 * damaged. Every frame of a heap dump is a return address, the first
 * included (jemalloc src/prof_sys.c): the call lies before it.
 */
static enum pprof_status parse_frames(struct heap *h, const char *p,
				      const char *end, uint64_t line,
				      bool *ret_ok)
{
	enum addresses_result result;
	const char *bad;

	*ret_ok = false;
	result = addresses_take_line(&h->addresses, p, end, line, LEAF_RETURN,
				     &bad);
	if (result == ADDRESSES_OK && !h->addresses.nr_frames &&
	    !push_no_stack(h))
		result = ADDRESSES_FAILED;
	switch (result) {
	case ADDRESSES_BAD:
		return bad_address(h, bad, end, line);
	case ADDRESSES_FAILED:
		return reader_fail(h->out, h->in, PPROF_UNIT_LINE);
	default:
		break;
	}
	*ret_ok = true;
	return addresses_check_depth(&h->addresses, h->in, PPROF_UNIT_LINE,
				     line);
}

/* ------------------------------------------------------------------ threads */

static str_id thread_name(const struct heap *h, uint64_t uid)
{
	size_t i;

	for (i = h->nr_threads; i; i--)
		if (h->threads[i - 1].uid == uid)
			return h->threads[i - 1].name;
	return 0;
}

static lset_id thread_labels(struct heap *h, uint64_t uid)
{
	struct label labels[2];
	size_t nr = 0;
	str_id name = thread_name(h, uid);

	memset(labels, 0, sizeof(labels));
	if (name) {
		labels[nr].key = builder_cstr(h->out, "thread");
		labels[nr++].str = name;
	}
	labels[nr].key = builder_cstr(h->out, "thread_id");
	labels[nr].num = uid > INT64_MAX ? INT64_MAX : (int64_t)uid;
	labels[nr++].is_num = 1;
	return builder_lset(h->out, labels, nr);
}

/* ----------------------------------------------------------------- the body */

/* The stack is complete: what was not charged to threads goes to it whole. */
static void finish_stack(struct heap *h)
{
	if (!h->has_stack)
		return;
	h->has_stack = false;
	if (!h->has_total && !h->has_thread) {
		diag_count(h->diags, PPROF_UNIT_LINE, h->stack_line,
			   "stack without a count line; it is left out");
		return;
	}
	h->nr_stacks++;
	if (!h->has_thread)
		add_sample(h, &h->total, 0, h->stack_line);
}

static enum pprof_status start_stack(struct heap *h, const char *p,
				     const char *end, uint64_t line)
{
	enum pprof_status status;
	bool ok;

	finish_stack(h);
	h->has_total = false;
	h->has_thread = false;
	h->stack_line = line;
	status = parse_frames(h, p, end, line, &ok);
	if (status || !ok)
		return status;
	h->has_stack = true;
	return PPROF_OK;
}

/* A count line that does not parse: damage is skipped, nonsense refused. */
enum pprof_status heap_bad_counts(struct heap *h,
				    const struct cursor_line *line,
				    const char *p, const char *end)
{
	const char *q;

	if (!line->has_lf) {
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "input is truncated: its last line is cut");
		return PPROF_OK;
	}
	for (q = p + 1; q < end; q++)
		if (*q == '@' || *q == 'x' || *q == 't')
			break;
	if (q < end) {
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "line is damaged in its middle; its stack is "
			   "left out");
		return PPROF_OK;
	}
	return cursor_fail_at(h->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			      line->number, "expected counts as 'N: N [N: N]' "
			      "of 64-bit numbers, found '%.*s'",
			      (int)(end - p > 60 ? 60 : end - p), p);
}

/* "t*: counts" or "tN: counts". *ret_uid is UINT64_MAX for "*". */
bool heap_parse_thread(struct heap *h, const char **pos,
			      const char *end, uint64_t line,
			      uint64_t *ret_uid, struct counts *ret)
{
	const char *p = *pos + 1;

	if (p < end && *p == '*') {
		*ret_uid = UINT64_MAX;
		p++;
	} else if (!text_u64(&p, end, ret_uid)) {
		return false;
	}
	if (!skip_char(&p, end, ':') ||
	    !heap_parse_counts(h, &p, end, line, ret))
		return false;
	*pos = p;
	return true;
}

static enum pprof_status body_counts(struct heap *h,
				     const struct cursor_line *line,
				     const char *p, const char *end)
{
	const char *pos = p;
	struct counts counts;
	uint64_t uid;

	if (!heap_parse_thread(h, &pos, end, line->number, &uid, &counts) ||
	    skip_blanks(pos, end) != end)
		return heap_bad_counts(h, line, p, end);
	if (!h->has_stack) {
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "count line belongs to no stack; it is left out");
		return PPROF_OK;
	}
	if (uid == UINT64_MAX) {
		if (h->has_total)
			diag_count(h->diags, PPROF_UNIT_LINE, line->number,
				   "second total of one stack; the first "
				   "counts");
		else
			h->total = counts;
		h->has_total = true;
		return PPROF_OK;
	}
	if (h->opts->threads) {
		h->has_thread = true;
		add_sample(h, &counts, thread_labels(h, uid), line->number);
	}
	return PPROF_OK;
}

/* "N: N [N: N] @ 0x... 0x...": the one-line form. */
static enum pprof_status body_one_line(struct heap *h,
				       const struct cursor_line *line,
				       const char *p, const char *end)
{
	const char *start = p;
	enum pprof_status status;
	struct counts counts;
	bool ok;

	if (!heap_parse_counts(h, &p, end, line->number, &counts) ||
	    !skip_char(&p, end, '@'))
		return heap_bad_counts(h, line, start, end);
	status = parse_frames(h, p, end, line->number, &ok);
	if (status || !ok)
		return status;
	if (!line->has_lf)
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "input is truncated: its last line is cut");
	h->nr_stacks++;
	add_sample(h, &counts, 0, line->number);
	return PPROF_OK;
}

/* Nothing but NUL: the tail of a preallocated file. */
static bool is_nul_tail(const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p)
			return false;
	return true;
}

enum pprof_status heap_foreign_line(struct heap *h,
				      const struct cursor_line *line,
				      const char *p, const char *end)
{
	if (starts(p, end, "heap_v2/") || starts(p, end, "heap profile:"))
		return cursor_fail_at(h->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      line->number, "a second dump starts "
				      "here; expected one dump a file");
	if (is_nul_tail(p, end)) {
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "NUL bytes at the end are left out");
		return PPROF_OK;
	}
	if (memchr(p, 0, (size_t)(end - p)))
		return cursor_fail_at(h->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      line->number, "NUL byte in a line of "
				      "text: part of the file was not written");
	diag_count(h->diags, PPROF_UNIT_LINE, line->number,
		   "line not understood; it is left out");
	return PPROF_OK;
}

enum pprof_status heap_body_line(struct heap *h,
				   const struct cursor_line *line)
{
	const char *p = line->text, *end = trim_end(p, p + line->len);

	h->line_is_cut = !line->has_lf;
	p = skip_blanks(p, end);
	if (p == end)
		return PPROF_OK;
	if (*p == '@')
		return start_stack(h, p + 1, end, line->number);
	if (*p == 't')
		return body_counts(h, line, p, end);
	if (*p == '#')
		return addr_names_take_comment(&h->names, p, end) ? PPROF_OK :
		       reader_fail(h->out, h->in, PPROF_UNIT_LINE);
	if (!h->is_threaded && (*p == '-' || (*p >= '0' && *p <= '9')))
		return body_one_line(h, line, p, end);
	return heap_foreign_line(h, line, p, end);
}

/* Lines up to the maps or the end. */
enum pprof_status heap_read_body(struct heap *h)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;

	while (!status && cursor_next_line(h->in, &line)) {
		const char *end = line.text + line.len;
		const char *p = skip_blanks(line.text, end);

		if (p < end && (*p == 'M' || *p == '-') &&
		    text_is_maps_marker(p, end)) {
			h->has_maps = true;
			break;
		}
		status = heap_body_line(h, &line);
	}
	finish_stack(h);
	return status ? status : h->in->status;
}

