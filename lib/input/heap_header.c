/* SPDX-License-Identifier: Apache-2.0
 *
 * Header of a heap dump: the sampling rate in either form, and the threads
 * with their names, which may hold nearly any byte.
 */
#include <config.h>

#include "base/mem.h"
#include "input/heap_text.h"
#include "input/reader.h"

/* Foreign text that may stand before the header. */
#define FOREIGN_BYTES_MAX ((uint64_t)64 << 10)

/* Line buffer of jemalloc 4.0 to 5.2: longer header lines lose their LF. */
#define GLUE_AT 127

/* Default interval of version 1 heap profiles (jeprof). */
#define V1_RATE 131072

static void keep_thread_name(struct heap *h)
{
	struct thread *thread;
	size_t len = h->name.len;

	if (!h->in_name)
		return;
	h->in_name = false;
	if (h->crlf && len && h->name.data[len - 1] == '\r')
		len--;
	if (!len || !h->opts->threads || !buf_ok(&h->name))
		return;
	if (!mem_grow(h->threads, h->cap_threads, h->nr_threads + 1,
		      SIZE_MAX / sizeof(*thread))) {
		reader_fail(h->out, h->in, PPROF_UNIT_LINE);
		return;
	}
	thread = &h->threads[h->nr_threads++];
	thread->uid = h->name_uid;
	thread->name = builder_str(h->out, h->name.data, len);
}

/* A whole header line "  tN: counts[ name]", or false. */
static bool header_counts(struct heap *h, const char *p, const char *end,
			  uint64_t line)
{
	struct counts counts;
	uint64_t uid;

	p = skip_blanks(p, end);
	if (p == end || *p != 't' ||
	    !heap_parse_thread(h, &p, end, line, &uid, &counts))
		return false;
	keep_thread_name(h);
	if (uid == UINT64_MAX) {
		h->header_total = counts;
		return true;
	}
	buf_reset(&h->name);
	if (p < end && *p == ' ')
		buf_add(&h->name, p + 1, (size_t)(end - p - 1));
	h->in_name = true;
	h->name_uid = uid;
	return true;
}

/* Where "  tN: " is glued on at byte 127, or 0. */
static size_t glued_at(const char *text, size_t len)
{
	const char *p, *end = text + len;
	uint64_t uid;

	if (len < GLUE_AT + 5 || memcmp(text + GLUE_AT, "  t", 3))
		return 0;
	p = text + GLUE_AT + 3;
	return text_u64(&p, end, &uid) && p < end && *p == ':' ? GLUE_AT : 0;
}

/* The next line is "  t*: ...": the '@' line before it is a real stack. */
static bool total_follows(struct heap *h)
{
	struct cursor_line next;
	const char *p, *end;

	if (!cursor_peek_line(h->in, &next))
		return false;
	end = next.text + next.len;
	p = skip_blanks(next.text, end);
	return starts(p, end, "t*:");
}

/* A line of the header: a thread, or the rest of a thread's name. */
static enum pprof_status header_line(struct heap *h,
				     const struct cursor_line *line)
{
	const char *text = line->text, *end = text + line->len;
	size_t glue;

	while ((glue = glued_at(text, (size_t)(end - text)))) {
		if (!header_counts(h, text, text + glue, line->number))
			break;
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "thread line was cut at 127 bytes by jemalloc "
			   "before 5.3; the next is glued on");
		text += glue;
	}
	if (header_counts(h, text, end, line->number))
		return PPROF_OK;
	if (trim_end(text, end) == text)
		return PPROF_OK;
	if (h->in_name) {
		buf_byte(&h->name, '\n');
		buf_add(&h->name, text, (size_t)(end - text));
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "line is taken as the rest of a thread's name");
		return PPROF_OK;
	}
	if (*skip_blanks(text, end) == 't')
		return heap_bad_counts(h, line, skip_blanks(text, end),
				  trim_end(text, end));
	return heap_foreign_line(h, line, text, end);
}

/*
 * Thread lines up to the first stack or the maps. A line "@ ..." that no
 * total follows may be the second half of a thread's name (jemalloc 5.3.1
 * copies them unchecked). The stack line found is kept in h->addresses.
 */
enum pprof_status heap_read_threads(struct heap *h, bool *ret_at_maps)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;

	*ret_at_maps = false;
	while (!status && cursor_peek_line(h->in, &line)) {
		const char *end = line.text + line.len;
		const char *p = skip_blanks(line.text, end);

		if (p < end && *p == '@') {
			struct buf copy;
			bool is_name;

			buf_init(&copy, SIZE_MAX / 2);
			buf_add(&copy, line.text, line.len);
			cursor_skip_peeked(h->in, &line);
			is_name = h->in_name && !total_follows(h);
			line.text = copy.data;
			if (!is_name)
				keep_thread_name(h);
			status = !buf_ok(&copy) ?
				 cursor_fail(h->in, PPROF_NOMEM,
					     PPROF_UNIT_LINE,
					     "out of memory") :
				 is_name ? header_line(h, &line) :
				 heap_body_line(h, &line);
			buf_fini(&copy);
			if (!is_name)
				return status;
			continue;
		}
		cursor_skip_peeked(h->in, &line);
		if (text_is_maps_marker(p, end)) {
			h->has_maps = true;
			*ret_at_maps = true;
			break;
		}
		if (starts(p, end, "heap_v2/"))
			return heap_foreign_line(h, &line, p, end);
		status = header_line(h, &line);
	}
	keep_thread_name(h);
	return status ? status : h->in->status;
}

static enum pprof_status bad_header(struct heap *h,
				    const struct cursor_line *line,
				    const char *expected)
{
	size_t len = line->len > 60 ? 60 : line->len;

	return cursor_fail_at(h->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			      line->number, "expected %s, found '%.*s'",
			      expected, (int)len, line->text);
}

/* "heap_v2/RATE" */
static enum pprof_status threaded_header(struct heap *h,
					 const struct cursor_line *line,
					 const char *p, const char *end)
{
	uint64_t rate;

	p += strlen("heap_v2/");
	if (!text_u64(&p, end, &rate) || skip_blanks(p, end) != end)
		return bad_header(h, line, "'heap_v2/' and the sampling rate "
				  "in bytes");
	h->is_threaded = true;
	h->rate = (double)rate;
	h->crlf = line->len && line->text[line->len - 1] == '\r';
	h->out->profile->period = rate > INT64_MAX ? INT64_MAX :
				  rate ? (int64_t)rate : 1;
	return PPROF_OK;
}

/*
 * tcmalloc prints what is live a second time in the brackets where it knows
 * nothing of what was freed (GetHeapSample(), growth).
 */
static bool same_pairs(const struct counts *counts)
{
	return counts->objects == counts->acc_objects &&
	       counts->bytes == counts->acc_bytes;
}

/* What stands behind "@ " in a one-line header: sets rate and kind. */
static bool one_line_kind(struct heap *h, const char *p, const char *end)
{
	static const struct {
		const char *name;
		bool is_sampled;
		bool is_v1; /* the rate printed is twice the interval */
		bool is_growth;
	} kinds[] = {
		{ "heap_v2", true, false, false },
		{ "heapz_v2", true, false, false },
		{ "heapprofile", false, false, false },
		{ "heap", true, true, false },
		{ "growthz", false, false, true },
		{ "growth", false, false, true },
		{ "fragmentationz", false, false, false },
		{ "fragmentation", false, false, false },
	};
	const char *slash = memchr(p, '/', (size_t)(end - p));
	const char *name_end = slash ? slash : end;
	uint64_t rate = 0;
	size_t i;

	if (slash) {
		slash++;
		if (!text_u64(&slash, end, &rate) || slash != end)
			return false;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i].name);

		if ((size_t)(name_end - p) != len ||
		    memcmp(p, kinds[i].name, len))
			continue;
		h->is_growth = kinds[i].is_growth;
		h->is_repeated = strcmp(kinds[i].name, "heapprofile") &&
				 same_pairs(&h->header_total);
		if (!kinds[i].is_sampled)
			return true;
		if (!rate)
			rate = kinds[i].is_v1 ? 2 * V1_RATE : V1_RATE;
		h->rate = (double)rate / (kinds[i].is_v1 ? 2 : 1);
		return true;
	}
	return false;
}

/* "heap profile: C: B [C: B] @ KIND[/RATE]" */
static enum pprof_status one_line_header(struct heap *h,
					 const struct cursor_line *line,
					 const char *p, const char *end)
{
	p += strlen("heap profile:");
	if (!heap_parse_counts(h, &p, end, line->number, &h->header_total))
		return bad_header(h, line, "'heap profile: N: N [N: N] @ "
				  "KIND/RATE'");
	if (skip_char(&p, end, '@')) {
		if (!one_line_kind(h, skip_blanks(p, end), end))
			return bad_header(h, line, "a heap profile kind such "
					  "as 'heap_v2/524288'");
	} else if (skip_blanks(p, end) != end) {
		return bad_header(h, line, "'@' after the counts");
	} else {
		h->rate = V1_RATE;
		diag_count(h->diags, PPROF_UNIT_LINE, line->number,
			   "header names no kind: taken as sampled every "
			   "131072 bytes");
	}
	h->out->profile->period = h->rate >= 1 ? (int64_t)h->rate : 1;
	return PPROF_OK;
}

/* Skip what may stand before the header; then read the header line. */
enum pprof_status heap_find_header(struct heap *h)
{
	struct cursor_line line;

	while (cursor_next_line(h->in, &line)) {
		const char *end = trim_end(line.text, line.text + line.len);
		const char *p = skip_blanks(line.text, end);

		if (starts(p, end, "heap_v2/"))
			return threaded_header(h, &line, p, end);
		if (starts(p, end, "heap profile:"))
			return one_line_header(h, &line, p, end);
		if (starts(p, end, "heap_v"))
			return bad_header(h, &line, "'heap_v2/', the one "
					  "version there is");
		if (cursor_offset(h->in) > FOREIGN_BYTES_MAX)
			break;
		if (p < end)
			diag_count(h->diags, PPROF_UNIT_LINE, line.number,
				   "line before the header is left out");
	}
	if (h->in->status)
		return h->in->status;
	return cursor_fail(h->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			   "expected a line 'heap_v2/RATE' or 'heap "
			   "profile: ...'");
}

