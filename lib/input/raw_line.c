/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of a raw address dump, cut into its parts.
 */
#include <config.h>

#include "input/raw_line.h"

#include "input/procmaps.h"
#include "input/text.h"

/* Fewer digits without 0x may be a decimal number as well. */
#define BARE_DIGITS_MIN 8

/* ------------------------------------------------------ one frame's text */

/* All of [p, end) as a hexadecimal number, with or without 0x. */
static bool whole_hex(const char *p, const char *end, uint64_t *ret)
{
	if (starts(p, end, "0x") || starts(p, end, "0X"))
		p += 2;
	return text_hex(&p, end, ret) && p == end;
}

/* "FILE+0xOFF": the last "+0x" cuts. */
static bool take_file_offset(const char *p, const char *end,
			     struct raw_frame *ret)
{
	const char *plus = memrchr(p, '+', (size_t)(end - p));

	if (!plus || plus == p || !starts(plus, end, "+0x") ||
	    !whole_hex(plus + 1, end, &ret->address))
		return false;
	ret->file = p;
	ret->file_len = (size_t)(plus - p);
	ret->has_address = true;
	return true;
}

/* "kernel.ffffffff81000c82", "image.0x4010": a name, a point, the pc. */
static bool take_image_pc(const char *p, const char *end,
			  struct raw_frame *ret)
{
	static const char kernel[] = "[kernel.kallsyms]";
	const char *point = memrchr(p, '.', (size_t)(end - p));

	if (!point || point == p)
		return false;
	if (equals(p, point, "kernel")) {
		ret->file = kernel;
		ret->file_len = strlen(kernel);
	} else {
		if (!starts(point + 1, end, "0x"))
			return false;
		ret->file = p;
		ret->file_len = (size_t)(point - p);
	}
	ret->has_address = whole_hex(point + 1, end, &ret->address);
	return ret->has_address;
}

/*
 * One word of a stack line. In folded lines "name+0x12" is a function
 * unless it is a path.
 */
static bool take_word(const struct raw_line *line, const char *p,
		      const char *end, struct raw_frame *ret)
{
	if (starts(p, end, "0x") || starts(p, end, "0X") || line->is_returns ||
	    end - p >= BARE_DIGITS_MIN) {
		ret->has_address = whole_hex(p, end, &ret->address);
		if (ret->has_address)
			return true;
	}
	if (take_file_offset(p, end, ret))
		return !line->is_root_first || *p == '[' ||
		       memchr(p, '/', ret->file_len);
	return take_image_pc(p, end, ret);
}

static bool is_separator(const struct raw_line *line, char c)
{
	return line->is_root_first ? c == ';' :
	       is_space(c) || c == ',' || c == '\r';
}

bool raw_next_frame(const struct raw_line *line, const char **pos,
		    struct raw_frame *ret, bool *ret_bad)
{
	const char *p = *pos, *end = line->stack_end, *word, *word_end;

	while (p < end && (is_separator(line, *p) || is_space(*p)))
		p++;
	*ret_bad = false;
	if (p == end)
		return false;
	word = p;
	while (p < end && !is_separator(line, *p))
		p++;
	*pos = p;
	word_end = trim_end(word, p);
	memset(ret, 0, sizeof(*ret));
	*ret_bad = !take_word(line, word, word_end, ret);
	return !*ret_bad;
}

/* ---------------------------------------------------- "#N 0x... in ..." */

/* "(BuildId: hex)" somewhere behind. */
static void find_build_id(const char *p, const char *end,
			  struct raw_frame *ret)
{
	static const char key[] = "(BuildId: ";
	const char *close;
	uint64_t digit;

	p = find_text(p, end, key);
	if (!p)
		return;
	p += strlen(key);
	close = memchr(p, ')', (size_t)(end - p));
	if (!close)
		return;
	for (end = p; end < close; end++) {
		const char *one = end;

		if (!text_hex(&one, end + 1, &digit))
			return;
	}
	ret->build_id = p;
	ret->build_id_len = (size_t)(close - p);
}

/* "(FILE+0xOFF)" at the end of [p, *end): cut off. */
static bool take_parenthesis(const char *p, const char **end,
			     struct raw_frame *ret)
{
	const char *open = *end;

	if (open == p || open[-1] != ')')
		return false;
	for (open--; open > p && *open != '('; open--)
		;
	if (*open != '(' || !take_file_offset(open + 1, *end - 1, ret))
		return false;
	*end = trim_end(p, open);
	return true;
}

/* ":12" or ":12:3" at the end of [p, *end): cut off. */
static void take_position(const char *p, const char **end,
			  struct raw_frame *ret)
{
	uint32_t numbers[2] = { 0, 0 };
	size_t nr = 0;

	while (nr < 2) {
		const char *q = *end, *digits;
		uint64_t value;

		while (q > p && is_digit(q[-1]))
			q--;
		digits = q;
		if (q - p < 2 || q[-1] != ':' ||
		    !text_u64(&digits, *end, &value) || value > INT32_MAX)
			break;
		numbers[nr++] = (uint32_t)value;
		*end = q - 1;
	}
	ret->line = numbers[nr ? nr - 1 : 0];
	ret->column = nr == 2 ? numbers[0] : 0;
}

static void set_source(const char *p, const char *end, struct raw_frame *ret)
{
	take_position(p, &end, ret);
	ret->source = p;
	ret->source_len = (size_t)(end - p);
}

/* Sanitizers: "NAME FILE:LINE:COLUMN", the file begins with the last "/". */
static void take_sanitizer_name(const char *p, const char *end,
				struct raw_frame *ret)
{
	const char *blank = NULL, *q;
	size_t depth = 0;

	for (q = p; q < end; q++) {
		if (*q == '(' || *q == '<')
			depth++;
		else if ((*q == ')' || *q == '>') && depth)
			depth--;
		else if (*q == ' ' && !depth && q + 1 < end && q[1] == '/')
			blank = q;
	}
	ret->name = p;
	ret->name_len = (size_t)((blank ? blank : end) - p);
	if (blank)
		set_source(blank + 1, end, ret);
}

/* gdb: "NAME (arguments) at FILE:LINE", "... from LIBRARY". */
static void take_gdb_name(const char *p, const char *end,
			  struct raw_frame *ret)
{
	const char *at = NULL, *from = NULL, *q, *open;

	for (q = p; (q = find_text(q, end, " at ")); q += 4)
		at = q;
	for (q = p; (q = find_text(q, end, " from ")); q += 6)
		from = q;
	if (at)
		set_source(at + 4, end, ret);
	if (at || from)
		end = at ? at : from;
	open = find_text(p, end, " (");
	ret->name = p;
	ret->name_len = (size_t)((open ? open : end) - p);
}

static void drop_unknown_name(struct raw_frame *ret)
{
	const char *end = ret->name + ret->name_len;

	if (!ret->name_len || equals(ret->name, end, "??") ||
	    equals(ret->name, end, "(unknown)") ||
	    equals(ret->name, end, "<null>"))
		ret->name = NULL;
}

/* What follows "#N 0xADDR". */
static void take_numbered_rest(const char *p, const char *end,
			       struct raw_frame *ret)
{
	bool has_in = starts(p, end, "in ");
	const char *cut;

	if (has_in)
		p = skip_blanks(p + 3, end);
	find_build_id(p, end, ret);
	cut = find_text(p, end, "(BuildId: ");
	end = trim_end(p, cut ? cut : end);
	/* Sanitizers print what lies inside the call. */
	if (take_parenthesis(p, &end, ret))
		ret->is_exact = true;
	if (p == end)
		return;
	if (find_text(p, end, " at ") || find_text(p, end, " from ") ||
	    !has_in) {
		take_gdb_name(p, end, ret);
		return;
	}
	/* gdb leaves a blank before the arguments, sanitizers none. */
	if (ret->is_exact || !find_text(p, end, " (")) {
		ret->is_exact = true;
		take_sanitizer_name(p, end, ret);
		return;
	}
	take_gdb_name(p, end, ret);
}

/* "#0 0xADDR (binary+0xOFF)", "#1  0xADDR in f (x=1) at f.c:3", "#0  f ()" */
static bool take_numbered(const char *p, const char *end,
			  struct raw_line *ret)
{
	struct raw_frame *frame = &ret->frame;
	const char *word;

	p++;
	if (!text_u64(&p, end, &ret->number) || p == end || !is_space(*p))
		return false;
	p = skip_blanks(p, end);
	word = p;
	while (p < end && !is_space(*p))
		p++;
	if (starts(word, p, "0x") && whole_hex(word, p, &frame->address)) {
		frame->has_address = true;
		take_numbered_rest(skip_blanks(p, end), end, frame);
	} else if (find_text(word, end, " (")) {
		take_gdb_name(word, end, frame);
	} else {
		return false;
	}
	if (frame->name)
		drop_unknown_name(frame);
	ret->is_numbered = true;
	ret->kind = RAW_FRAME;
	return frame->has_address || frame->name;
}

/* ------------------------------------------------- other frames of lines */

/*
 * backtrace_symbols(3): "FILE(+0xOFF) [0xADDR]", "FILE(NAME+0xOFF)
 * [0xADDR]", "FILE() [0xADDR]", "FILE [0xADDR]".
 */
static bool take_backtrace(const char *p, const char *end,
			   struct raw_line *ret)
{
	struct raw_frame *frame = &ret->frame;
	const char *open, *close, *plus;

	if (end - p < 6 || end[-1] != ']')
		return false;
	open = memrchr(p, '[', (size_t)(end - p));
	if (!open || open == p || !starts(open, end, "[0x") ||
	    !whole_hex(open + 1, end - 1, &frame->address))
		return false;
	end = trim_end(p, open);
	if (p == end)
		return false;
	ret->kind = RAW_FRAME;
	frame->has_address = true;
	close = end - 1;
	open = *close == ')' ? memrchr(p, '(', (size_t)(end - p)) : NULL;
	plus = open ? memrchr(open, '+', (size_t)(close - open)) : NULL;
	if (!plus)
		return true;
	if (plus > open + 1) {
		frame->name = open + 1;
		frame->name_len = (size_t)(plus - open - 1);
		return true;
	}
	if (open > p && whole_hex(plus + 1, close, &frame->address)) {
		frame->file = p;
		frame->file_len = (size_t)(open - p);
	}
	return true;
}

/* glog and absl: "@ 0xADDR NAME", "@ 0xADDR 123 NAME", "@ 0xADDR (unknown)" */
static bool take_glog(const char *p, const char *end, struct raw_line *ret)
{
	struct raw_frame *frame = &ret->frame;
	const char *word, *q;
	uint64_t size;

	p = skip_blanks(p, end);
	if (p == end || *p++ != '@')
		return false;
	word = skip_blanks(p, end);
	for (p = word; p < end && !is_space(*p); p++)
		;
	if (!whole_hex(word, p, &frame->address))
		return false;
	p = skip_blanks(p, end);
	if (p == end || starts(p, end, "0x"))
		return false; /* a stack line */
	frame->has_address = true;
	q = p;
	if (text_u64(&q, end, &size) && (q == end || is_space(*q)))
		p = skip_blanks(q, end);
	frame->name = p;
	frame->name_len = (size_t)(end - p);
	drop_unknown_name(frame);
	ret->kind = RAW_FRAME;
	return true;
}

/* "PC: @ 0xADDR ..." of glog's and absl's signal handlers. */
static bool take_pc(const char *p, const char *end, struct raw_line *ret)
{
	p = find_text(p, end, "PC: @");
	if (!p)
		return false;
	p = skip_blanks(p + strlen("PC: @"), end);
	if (!starts(p, end, "0x"))
		return false;
	p += 2;
	ret->frame.has_address = text_hex(&p, end, &ret->frame.address);
	ret->kind = RAW_PC;
	return ret->frame.has_address;
}

static bool is_heading(const char *p, const char *end)
{
	static const char *const words[] = {
		"TID ", "PID ", "Thread ", "[New LWP ", "[Current thread",
		"*** Check failure stack trace", "*** Aborted at", "*** SIG",
		"==", "[backtrace]",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (starts(p, end, words[i]))
			return true;
	}
	return false;
}

static bool begins_maps(const char *p, const char *end)
{
	struct procmaps_entry entry;

	return text_is_maps_marker(p, end) ||
	       equals(p, trim_end(p, end), "--- maps") ||
	       (memchr(p, '-', (size_t)(end - p)) &&
		procmaps_parse_line(p, (size_t)(end - p), &entry));
}

/* ------------------------------------------------------------ whole stacks */

/* "N", "N:", "N B", "N: B [n: b]" before "@". */
static bool take_weights(const char *p, const char *end, struct raw_line *ret)
{
	const char *bracket = memchr(p, '[', (size_t)(end - p));

	end = trim_end(p, bracket ? bracket : end);
	ret->count = 1;
	if (p == end)
		return true;
	if (!text_u64(&p, end, &ret->count))
		return false;
	skip_char(&p, end, ':');
	p = skip_blanks(p, end);
	if (p == end)
		return true;
	ret->has_bytes = text_u64(&p, end, &ret->bytes);
	return ret->has_bytes && p == end;
}

/* A decimal count at the end of "a;b;c 12". */
static void take_last_count(struct raw_line *ret)
{
	const char *p = ret->stack_end, *q;
	uint64_t count;

	while (p > ret->stack && is_digit(p[-1]))
		p--;
	q = p;
	if (p == ret->stack || !is_space(p[-1]) ||
	    !text_u64(&q, ret->stack_end, &count))
		return;
	ret->count = count;
	ret->stack_end = trim_end(ret->stack, p);
}

/* "12 0x... 0x...": a first word of a few decimal digits is a count. */
static void take_first_count(const char *end, struct raw_line *ret)
{
	const char *p = ret->stack;
	uint64_t count;

	if (!text_u64(&p, end, &count) || p == end ||
	    (!is_space(*p) && *p != ':') ||
	    p - ret->stack >= BARE_DIGITS_MIN * 2)
		return;
	p += *p == ':';
	p = skip_blanks(p, end);
	if (p == end)
		return;
	ret->count = count;
	ret->stack = p;
}

static bool take_stack(const char *p, const char *end, struct raw_line *ret)
{
	const char *at = memchr(p, '@', (size_t)(end - p)), *pos;
	struct raw_frame frame;
	bool is_bad;

	ret->count = 1;
	ret->stack = p;
	ret->stack_end = end;
	if (at) {
		ret->is_returns = true;
		ret->stack = at + 1;
		if (!take_weights(p, at, ret))
			return false;
	} else if (memchr(p, ';', (size_t)(end - p))) {
		ret->is_root_first = true;
		take_last_count(ret);
	} else {
		take_first_count(end, ret);
	}
	ret->kind = RAW_STACK;
	pos = ret->stack;
	return raw_next_frame(ret, &pos, &frame, &is_bad) ||
	       (at && !is_bad && skip_blanks(p, at) < at);
}

void raw_line_parse(const char *text, size_t len, struct raw_line *ret)
{
	const char *end = trim_end(text, text + len);
	const char *p = skip_blanks(text, end);

	memset(ret, 0, sizeof(*ret));
	if (p == end) {
		ret->kind = RAW_BLANK;
		return;
	}
	/* Nearly all lines of large dumps begin so. */
	if ((starts(p, end, "0x") || is_digit(*p)) && end[-1] != ']' &&
	    !memchr(p, '-', end - p > 20 ? 20 : (size_t)(end - p)) &&
	    take_stack(p, end, ret))
		return;
	memset(ret, 0, sizeof(*ret));
	if (begins_maps(p, end)) {
		ret->kind = RAW_MAPS;
		return;
	}
	if ((*p == '#' && take_numbered(p, end, ret)) ||
	    take_backtrace(p, end, ret) || take_pc(p, end, ret) ||
	    take_glog(p, end, ret))
		return;
	memset(ret, 0, sizeof(*ret));
	if (take_stack(p, end, ret))
		return;
	memset(ret, 0, sizeof(*ret));
	ret->kind = is_heading(p, end) ? RAW_HEADING : RAW_NONE;
}
