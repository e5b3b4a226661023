/* SPDX-License-Identifier: Apache-2.0
 *
 * Cutting lines of `perf script` (linux tools/perf/builtin-script.c).
 */
#include <config.h>

#include "input/perf_line.h"

#include "input/text.h"

#define NS_PER_S 1000000000

static const char *word_end(const char *p, const char *end)
{
	while (p < end && !is_space(*p))
		p++;
	return p;
}

/* "pid" or "pid/tid" and nothing else. */
static bool take_ids(const char *p, const char *end, struct perf_header *ret)
{
	if (!text_u64(&p, end, &ret->pid))
		return false;
	ret->tid = ret->pid;
	if (p < end && *p == '/') {
		p++;
		if (!text_u64(&p, end, &ret->tid))
			return false;
	}
	return p == end;
}

/* "2618.437791:" in seconds, with 6 or 9 decimals. */
static bool take_time(const char *p, const char *end, struct perf_header *ret)
{
	uint64_t seconds, scale = NS_PER_S / 10, ns = 0;

	if (!text_u64(&p, end, &seconds) || p == end || *p++ != '.' ||
	    seconds > UINT64_MAX / NS_PER_S - 1)
		return false;
	for (; p < end && is_digit(*p); p++) {
		ns += (uint64_t)(*p - '0') * scale;
		scale /= 10;
	}
	if (p == end || *p != ':' || p + 1 != end)
		return false;
	ret->time_ns = seconds * NS_PER_S + ns;
	ret->has_time = true;
	return true;
}

/* "[003]", "period", then "event:"; false: no event. */
static bool take_fields(const char *p, const char *end,
			struct perf_header *ret)
{
	const char *word = p, *last, *q;

	last = word_end(word, end);
	if (last > word && *word == '[') {
		word = skip_blanks(last, end);
		last = word_end(word, end);
	}
	if (take_time(word, last, ret)) {
		word = skip_blanks(last, end);
		last = word_end(word, end);
	}
	q = word;
	if (text_u64(&q, last, &ret->period) && q == last) {
		ret->has_period = true;
		word = skip_blanks(last, end);
		last = word_end(word, end);
	}
	if (last - word < 2 || last[-1] != ':' || is_digit(*word))
		return false;
	ret->event = word;
	ret->event_len = (size_t)(last - 1 - word);
	ret->rest = skip_blanks(last, end);
	return true;
}

bool perf_parse_header(const char *p, const char *end,
		       struct perf_header *ret)
{
	const char *word, *last;

	if (p == end || is_space(*p) || *p == '#')
		return false;
	end = trim_end(p, end);
	/* The name of a program may have blanks and numbers in it. */
	word = skip_blanks(word_end(p, end), end);
	for (; word < end; word = skip_blanks(last, end)) {
		last = word_end(word, end);
		memset(ret, 0, sizeof(*ret));
		if (!is_digit(*word) || !take_ids(word, last, ret) ||
		    !take_fields(skip_blanks(last, end), end, ret))
			continue;
		ret->comm = p;
		ret->comm_len = (size_t)(trim_end(p, word) - p);
		return true;
	}
	return false;
}

/* The "(" that belongs to the ")" at the end of [p, end), or NULL. */
static const char *matching_open(const char *p, const char *end)
{
	const char *q = end;
	size_t depth = 0;

	while (q-- > p) {
		if (*q == ')')
			depth++;
		else if (*q == '(' && !--depth)
			return q;
	}
	return NULL;
}

/* "name+0x1f" without the offset. */
static const char *cut_offset(const char *name, const char *end)
{
	const char *plus = memrchr(name, '+', (size_t)(end - name)), *q;
	uint64_t offset;

	if (!plus || plus == name || !starts(plus, end, "+0x"))
		return end;
	q = plus + 3;
	return text_hex(&q, end, &offset) && q == end ? plus : end;
}

bool perf_parse_frame(const char *p, const char *end, struct perf_frame *ret)
{
	const char *open, *name;

	memset(ret, 0, sizeof(*ret));
	end = trim_end(p, end);
	p = skip_blanks(p, end);
	if (starts(p, end, "0x"))
		p += 2;
	if (!text_hex(&p, end, &ret->address) || (p < end && !is_space(*p)))
		return false;
	name = skip_blanks(p, end);
	if (end > name && end[-1] == ')') {
		open = matching_open(name, end);
		if (open && (open == name || is_space(open[-1]))) {
			ret->dso = open + 1;
			ret->dso_len = (size_t)(end - 1 - ret->dso);
			end = trim_end(name, open);
		}
	}
	if (ret->dso && equals(ret->dso, ret->dso + ret->dso_len,
			       "inlined")) {
		ret->is_inlined = true;
		ret->dso = NULL;
	} else if (ret->dso && equals(ret->dso, ret->dso + ret->dso_len,
				      "[unknown]")) {
		ret->dso = NULL;
	}
	end = cut_offset(name, end);
	if (name == end || equals(name, end, "[unknown]"))
		return true;
	ret->name = name;
	ret->name_len = (size_t)(end - name);
	return true;
}

/* A number with or without 0x, at *pos. */
static bool take_hex(const char **pos, const char *end, uint64_t *ret)
{
	if (starts(*pos, end, "0x"))
		*pos += 2;
	return text_hex(pos, end, ret);
}

bool perf_parse_map(const char *p, const char *end, struct perf_map *ret)
{
	const char *close, *build_id;

	memset(ret, 0, sizeof(*ret));
	end = trim_end(p, end);
	p = find_text(p, end, "PERF_RECORD_MMAP");
	p = p ? find_text(p, end, ": [0x") : NULL;
	if (!p)
		return false;
	p += 3;
	if (!take_hex(&p, end, &ret->start) || p == end || *p++ != '(' ||
	    !take_hex(&p, end, &ret->length) || !starts(p, end, ") @ "))
		return false;
	p += 4;
	if (!take_hex(&p, end, &ret->offset))
		return false;
	close = find_text(p, end, "]: ");
	if (!close)
		return false;
	build_id = memchr(p, '<', (size_t)(close - p));
	if (build_id && close[-1] == '>') {
		ret->build_id = build_id + 1;
		ret->build_id_len = (size_t)(close - 1 - ret->build_id);
	}
	p = close + 3;
	ret->path = skip_blanks(word_end(p, end), end);
	ret->path_len = (size_t)(end - ret->path);
	ret->is_code = memchr(p, 'x', (size_t)(word_end(p, end) - p));
	return true;
}
