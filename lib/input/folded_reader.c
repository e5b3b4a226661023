/* SPDX-License-Identifier: Apache-2.0
 *
 * Reader of folded stacks ("main;run;leaf 12"), the lines that stack
 * collapsers write and flame graph tools read. Grammar and its corners:
 * docs/FORMATS.md. Frames become functions without addresses.
 *
 * Values are kept exactly. The largest number k of decimals in the file, at
 * most 9, makes every value an integer: it is stored times 10^k and the unit
 * says so ("seconds" with up to 3, 6, 9 decimals become "milliseconds",
 * "microseconds", "nanoseconds", any other unit "unit/10^k"). While k grows
 * the columns read so far are multiplied up.
 *
 * Two numbers a line (base, new) count only when every line has them, which
 * is known at the end: until a line tells, samples wait in a list.
 */
#include <config.h>

#include "input/reader.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "input/folded_names.h"
#include "input/text.h"

#define DECIMALS_MAX 9

/* Frames of a line that are looked up together. */
#define NAMES_BATCH 16

/* Most rows of lists that limits do not bound otherwise. */
#define MAX_ROWS ((size_t)UINT32_MAX - 1)

/* A decimal number: value = digits / 10^decimals. */
struct number {
	int64_t digits;
	unsigned decimals;
};

/* One line, cut into stack and numbers. Texts point into the line. */
struct folded_line {
	const char *stack;
	size_t stack_len;      /* when the last number alone is the value */
	size_t base_len;       /* of the stack when two numbers are values */
	struct number value;
	struct number base;
	bool has_base;         /* the last two words are numbers */
	bool is_rounded;       /* more than 9 decimals */
	bool is_clamped;       /* a number beyond 64 bits */
};

/* A sample of which it is open whether its base is part of the name. */
struct waiting {
	struct number value;
	struct number base;
	uint64_t line;
	uint64_t suffix;     /* text of the base with its blanks, in suffixes */
	uint32_t suffix_len;
	stack_id stack;      /* without the suffix */
};

struct folded {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	struct folded_names names;
	loc_id *frames;          /* [nr_frames] of `last`, root first */
	size_t nr_frames;
	size_t cap_frames;
	size_t *ends;            /* [nr_frames] where each ends in `last` */
	size_t cap_ends;
	struct buf last;         /* the stack cut last, as text */
	struct waiting *waiting; /* while every line has two numbers */
	size_t nr_waiting;
	size_t cap_waiting;
	struct buf suffixes;
	bool two_columns;        /* so far */
	unsigned decimals;       /* k */
	str_id type;             /* of a "# sample-type:" line, or 0 */
	str_id unit;             /* of a "# unit:" line, or 0 */
	uint64_t nr_good;
	uint64_t nr_bad;
	uint64_t first_bad;      /* line */
};

static const int64_t powers[DECIMALS_MAX + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000,
};

/* ------------------------------------------------------------ one line */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Significant digits of a number on its way to 64 bits. */
struct digits {
	uint64_t value;
	int64_t decimals; /* digits behind the point, less the exponent */
	bool is_full;     /* no more digits fit in value */
	bool is_rounded;
};

static void add_digit(struct digits *d, char c, bool is_fraction)
{
	uint64_t value;

	if (!d->is_full && !__builtin_mul_overflow(d->value, 10, &value) &&
	    !__builtin_add_overflow(value, (uint64_t)(c - '0'), &value)) {
		d->value = value;
		d->decimals += is_fraction;
		return;
	}
	d->is_full = true;
	d->is_rounded |= c != '0';
	d->decimals -= !is_fraction;
}

/* "e-3", "E+12" at *pos, if it is one. */
static bool take_exponent(const char **pos, const char *end, int64_t *ret)
{
	const char *p = *pos;
	bool is_negative = false;
	uint64_t value;

	*ret = 0;
	if (p == end || (*p != 'e' && *p != 'E'))
		return true;
	p++;
	if (p < end && (*p == '-' || *p == '+'))
		is_negative = *p++ == '-';
	if (!text_u64(&p, end, &value) || value > 1000)
		return false;
	*ret = is_negative ? -(int64_t)value : (int64_t)value;
	*pos = p;
	return true;
}

/* Bring decimals into 0..DECIMALS_MAX; true when 64 bits were too few. */
static bool settle_decimals(struct digits *d)
{
	while (d->decimals > 0 && d->value % 10 == 0) {
		d->value /= 10;
		d->decimals = d->value ? d->decimals - 1 : 0;
	}
	while (d->decimals > DECIMALS_MAX) {
		d->is_rounded = true;
		d->value = d->value / 10 +
			   (d->decimals == DECIMALS_MAX + 1 &&
			    d->value % 10 >= 5);
		d->decimals = d->value ? d->decimals - 1 : 0;
	}
	while (d->decimals < 0) {
		if (__builtin_mul_overflow(d->value, 10, &d->value))
			return true;
		d->decimals = d->value ? d->decimals + 1 : 0;
	}
	return d->value > INT64_MAX;
}

/* The whole of [p, end) as [+-] digits [. digits] [e [+-] digits]. */
static bool parse_decimal(const char *p, const char *end, bool is_negative,
			  struct number *ret, struct folded_line *line)
{
	struct digits d = { 0, 0, false, false };
	const char *first = p;
	bool is_clamped;
	int64_t exponent;

	for (; p < end && is_digit(*p); p++)
		add_digit(&d, *p, false);
	if (p == first)
		return false;
	if (end - p >= 2 && *p == '.' && is_digit(p[1])) {
		for (p++; p < end && is_digit(*p); p++)
			add_digit(&d, *p, true);
	}
	if (!take_exponent(&p, end, &exponent) || p != end)
		return false;
	d.decimals -= exponent;
	is_clamped = settle_decimals(&d);
	ret->digits = is_clamped ? INT64_MAX : (int64_t)d.value;
	if (is_negative)
		ret->digits = is_clamped ? INT64_MIN : -ret->digits;
	ret->decimals = is_clamped ? 0 : (unsigned)d.decimals;
	line->is_clamped |= is_clamped;
	line->is_rounded |= d.is_rounded && !is_clamped;
	return true;
}

/* The same; plain short integers, which nearly all are, at once. */
static bool parse_number(const char *p, const char *end, struct number *ret,
			 struct folded_line *line)
{
	bool is_negative = false;
	const char *q;
	int64_t value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		is_negative = *p++ == '-';
	if (p == end || end - p > 18)
		return parse_decimal(p, end, is_negative, ret, line);
	for (q = p; q < end && is_digit(*q); q++)
		value = value * 10 + (*q - '0');
	if (q < end)
		return parse_decimal(p, end, is_negative, ret, line);
	ret->digits = is_negative ? -value : value;
	ret->decimals = 0;
	return true;
}

/* Start of the last word of text[..len), with the blanks before it. */
static const char *last_word(const char *text, const char *end,
			     const char **ret_blanks)
{
	const char *word = end, *blanks;

	while (word > text && !is_blank(word[-1]))
		word--;
	blanks = word;
	while (blanks > text && is_blank(blanks[-1]))
		blanks--;
	*ret_blanks = blanks;
	return word;
}

/* False when the line is not "stack value"; looks for a base if asked. */
static bool cut_line(const char *text, size_t len, bool with_base,
		     struct folded_line *ret)
{
	const char *end = text + len, *word, *stack_end, *base_end;

	ret->is_rounded = false;
	ret->is_clamped = false;
	ret->has_base = false;
	while (end > text && (is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	word = last_word(text, end, &stack_end);
	if (stack_end == text || !parse_number(word, end, &ret->value, ret))
		return false;
	ret->stack = text;
	ret->stack_len = (size_t)(stack_end - text);
	if (!with_base)
		return true;
	word = last_word(text, stack_end, &base_end);
	if (base_end == text || word == stack_end)
		return true;
	ret->has_base = parse_number(word, stack_end, &ret->base, ret);
	ret->base_len = (size_t)(base_end - text);
	return true;
}

/* Comments are "# text"; "#x;y 5" is a stack. */
static bool is_comment(const char *text, size_t len)
{
	return len && text[0] == '#' &&
	       (len == 1 || is_blank(text[1]) || text[1] == '\r');
}

static bool is_empty_line(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!is_blank(text[i]) && text[i] != '\r')
			return false;
	}
	return true;
}

/* ---------------------------------------------------------- sniffing */

/* Text has no control bytes but these. */
static bool is_text(const uint8_t *head, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (head[i] < 0x20 && head[i] != '\n' && head[i] != '\r' &&
		    head[i] != '\t' && head[i] != 0x1b)
			return false;
	}
	return true;
}

/* A first line longer than the head: many frames and no line end. */
static int sniff_long_line(const char *text, size_t nr)
{
	size_t i, nr_frames = 0;

	for (i = 0; i < nr; i++)
		nr_frames += text[i] == ';';
	return nr_frames >= 16 ? 1 : 0;
}

/* Low scores: any magic number of another format is surer. */
static int sniff(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *lf;
	size_t nr_good = 0, nr_bad = 0, len;
	struct folded_line line;
	bool has_frames = false;

	if (!is_text(head, nr))
		return 0;
	for (; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf && nr >= SNIFF_BYTES)
			break; /* cut by the head's end, not by the input's */
		if (!lf)
			lf = end;
		len = (size_t)(lf - p);
		if (is_comment(p, len) || is_empty_line(p, len))
			continue;
		if (!cut_line(p, len, false, &line)) {
			nr_bad++;
			continue;
		}
		nr_good++;
		has_frames |= memchr(p, ';', line.stack_len) != NULL;
	}
	if (!nr_good && !nr_bad && p < end)
		return sniff_long_line(p, (size_t)(end - p));
	if (nr_good <= nr_bad)
		return 0;
	if (has_frames)
		return 3;
	return nr_bad ? 0 : 2;
}

/* ------------------------------------------------------------- frames */

/*
 * Frames that the text begins with as the last one did, and *ret_at, where
 * the next one starts. Lines are often sorted, so that many frames are known
 * without a look at their names.
 */
static size_t shared_frames(const struct folded *f, const char *text,
			    size_t len, size_t *ret_at)
{
	size_t same = text_common_prefix(f->last.data, text,
					 f->last.len < len ? f->last.len : len);
	size_t low = 0, high = f->nr_frames, middle;

	/* Frames that end, with a semicolon, within what is the same. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->ends[middle] < same)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_at = low ? f->ends[low - 1] + 1 : 0;
	return low;
}

/* Room for frames up to `depth`. */
static bool reserve_frames(struct folded *f, size_t depth)
{
	return mem_grow(f->frames, f->cap_frames, depth, MAX_ROWS) &&
	       mem_grow(f->ends, f->cap_ends, depth, MAX_ROWS);
}

/* Frames of the text "root;...;leaf" into f->frames. */
static bool cut_frames(struct folded *f, const char *text, size_t len)
{
	const char *p, *end = text + len, *semicolon = NULL;
	size_t at, depth = shared_frames(f, text, len, &at), nr, i;
	struct folded_name names[NAMES_BATCH];

	f->nr_frames = 0;
	buf_reset(&f->last);
	buf_add(&f->last, text, len);
	for (p = text + at; p; ) {
		if (!reserve_frames(f, depth + NAMES_BATCH))
			return false;
		for (nr = 0; p && nr < NAMES_BATCH; nr++) {
			semicolon = memchr(p, ';', (size_t)(end - p));
			f->ends[depth + nr] =
				(size_t)((semicolon ? semicolon : end) - text);
			folded_names_meet(&f->names, &names[nr], p,
				  f->ends[depth + nr] - (size_t)(p - text));
			p = semicolon ? semicolon + 1 : NULL;
		}
		for (i = 0; i < nr; i++) {
			f->frames[depth] = folded_names_location(&f->names,
								 &names[i]);
			if (f->frames[depth++] == ID_FAILED)
				return false;
		}
	}
	f->nr_frames = depth;
	return buf_ok(&f->last);
}

/* Stack of the text "root;...;leaf"; ID_FAILED also when out of memory. */
static stack_id text_stack(struct folded *f, const char *text, size_t len)
{
	if (!cut_frames(f, text, len))
		return ID_FAILED;
	return builder_stack_root_first(f->out, f->frames, f->nr_frames);
}

/* ------------------------------------------------------------- values */

static void tell_overflow(struct folded *f, uint64_t line)
{
	diag_count(f->diags, PPROF_UNIT_LINE, line,
		   "value does not fit 64 bits; it stays at the limit");
}

/* value * factor, clamped. */
static int64_t scale(struct folded *f, int64_t value, int64_t factor,
		     uint64_t line)
{
	int64_t product;

	if (!__builtin_mul_overflow(value, factor, &product))
		return product;
	tell_overflow(f, line);
	return value < 0 ? INT64_MIN : INT64_MAX;
}

/* A line has more decimals than all before it: multiply those up. */
static void raise_decimals(struct folded *f, unsigned decimals, uint64_t line)
{
	struct pprof_profile *profile = f->out->profile;
	int64_t factor = powers[decimals - f->decimals], *value;
	size_t i, t;

	builder_flush(f->out);
	for (t = 0; t < profile->nr_types; t++) {
		for (i = 0; i < profile->nr_samples; i++) {
			value = &profile->values[t][i];
			*value = scale(f, *value, factor, line);
		}
	}
	f->decimals = decimals;
}

/* The number times 10^k; k is no less than its decimals. */
static int64_t take_number(struct folded *f, const struct number *number,
			   uint64_t line)
{
	return scale(f, number->digits,
		     powers[f->decimals - number->decimals], line);
}

/* Unit 10^-k of `unit`, for times by its own name. */
static str_id scaled_unit(struct folded *f, const char *unit)
{
	static const char *const times[] = {
		"seconds", "milliseconds", "microseconds", "nanoseconds",
	};
	char text[128];
	size_t i, fine;

	for (i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (strcmp(unit, times[i]))
			continue;
		fine = i + (f->decimals + 2) / 3;
		if (fine >= sizeof(times) / sizeof(*times))
			break;
		raise_decimals(f, (unsigned)(fine - i) * 3, 0);
		return builder_cstr(f->out, times[fine]);
	}
	snprintf(text, sizeof(text), "%.96s/%lld", unit,
		 (long long)powers[f->decimals]);
	return builder_cstr(f->out, text);
}

/* Once k is known: the unit, and a comment that says what was done. */
static void settle_unit(struct folded *f)
{
	struct pprof_profile *profile = f->out->profile;
	const char *unit = profile_str(profile, profile->types[0].unit);
	char text[96];
	str_id scaled;
	size_t t;

	if (!f->decimals || f->out->status)
		return;
	scaled = scaled_unit(f, unit);
	snprintf(text, sizeof(text), "fractions: values are those of the "
		 "folded text times %lld", (long long)powers[f->decimals]);
	builder_comment(f->out, builder_cstr(f->out, text));
	for (t = 0; t < profile->nr_types && !f->out->status; t++)
		profile->types[t].unit = scaled;
}

/* ------------------------------------------------------------ samples */

static void declare_types(struct folded *f)
{
	str_id unit = f->unit ? f->unit : builder_cstr(f->out, "count");

	if (f->two_columns) {
		builder_type(f->out, builder_cstr(f->out, "base"), unit);
		builder_type(f->out, builder_cstr(f->out, "new"), unit);
		return;
	}
	builder_type(f->out, f->type ? f->type :
		     builder_cstr(f->out, "samples"), unit);
}

/* Values of a sample whose columns are known; two of them with a base. */
static void take_values(struct folded *f, const struct number *base,
			const struct number *value, uint64_t line,
			int64_t *ret_values)
{
	unsigned decimals = value->decimals;
	size_t nr = 0;

	if (f->two_columns && base->decimals > decimals)
		decimals = base->decimals;
	if (decimals > f->decimals)
		raise_decimals(f, decimals, line);
	if (f->two_columns)
		ret_values[nr++] = take_number(f, base, line);
	ret_values[nr] = take_number(f, value, line);
}

/* Name of the leaf of a waiting sample with its suffix. */
static str_id renamed_leaf(struct folded *f, const struct waiting *w,
			   loc_id leaf)
{
	const struct pprof_profile *profile = f->out->profile;
	const struct location *loc = &profile->locations[leaf];
	str_id name = profile->functions[profile->lines[loc->lines].func].name;
	struct buf text;
	str_id ret = ID_FAILED;

	buf_init(&text, SIZE_MAX);
	buf_add(&text, strtab_text(&profile->strings, name),
		strtab_len(&profile->strings, name));
	buf_add(&text, f->suffixes.data + w->suffix, w->suffix_len);
	if (buf_ok(&text))
		ret = builder_str(f->out, text.data, text.len);
	buf_fini(&text);
	return ret;
}

/* Stack of a waiting sample with the base as part of the leaf's name. */
static stack_id renamed_stack(struct folded *f, const struct waiting *w)
{
	const struct stacks *stacks = &f->out->profile->stacks;
	size_t depth = stacks_depth(stacks, w->stack);
	str_id leaf;

	/* The frames are no longer those of the last text. */
	f->nr_frames = 0;
	if (!mem_grow(f->frames, f->cap_frames, depth, MAX_ROWS))
		return ID_FAILED;
	stacks_leaf_first(stacks, w->stack, f->frames);
	leaf = renamed_leaf(f, w, f->frames[0]);
	f->frames[0] = folded_names_add(&f->names, leaf);
	if (f->frames[0] == ID_FAILED)
		return ID_FAILED;
	return builder_stack(f->out, f->frames, depth);
}

/* It is known what the numbers mean: add the samples that waited. */
static bool release_waiting(struct folded *f)
{
	const struct waiting *w;
	int64_t values[2];
	stack_id stack;
	size_t i;

	declare_types(f);
	for (i = 0; i < f->nr_waiting; i++) {
		w = &f->waiting[i];
		stack = f->two_columns ? w->stack : renamed_stack(f, w);
		if (stack == ID_FAILED)
			return false;
		take_values(f, &w->base, &w->value, w->line, values);
		builder_sample(f->out, stack, 0, values, PPROF_UNIT_LINE,
			       w->line);
	}
	f->nr_waiting = 0;
	return true;
}

/* Keep a sample until it is known whether there are two columns. */
static bool wait_sample(struct folded *f, const struct folded_line *line,
			uint64_t number)
{
	struct waiting *w;

	if (!mem_grow(f->waiting, f->cap_waiting, f->nr_waiting + 1, MAX_ROWS))
		return false;
	w = &f->waiting[f->nr_waiting];
	w->value = line->value;
	w->base = line->base;
	w->line = number;
	w->suffix = f->suffixes.len;
	w->suffix_len = (uint32_t)(line->stack_len - line->base_len);
	buf_add(&f->suffixes, line->stack + line->base_len, w->suffix_len);
	w->stack = text_stack(f, line->stack, line->base_len);
	f->nr_waiting++;
	return w->stack != ID_FAILED && buf_ok(&f->suffixes);
}

/* ------------------------------------------------------------ reading */

/* "# key: value" before the first stack. */
static void take_header(struct folded *f, const char *p, const char *end,
			const char *key, str_id *ret)
{
	size_t len = strlen(key);

	while (p < end && is_blank(*p))
		p++;
	while (end > p && (is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	if ((size_t)(end - p) <= len || memcmp(p, key, len))
		return;
	for (p += len; p < end && is_blank(*p); p++)
		;
	if (p < end)
		*ret = builder_str(f->out, p, (size_t)(end - p));
}

static void take_comment(struct folded *f, const struct cursor_line *line)
{
	const char *end = line->text + line->len;

	if (f->nr_good)
		return;
	take_header(f, line->text + 1, end, "unit:", &f->unit);
	take_header(f, line->text + 1, end, "sample-type:", &f->type);
}

static void count_oddities(struct folded *f, const struct folded_line *line,
			   uint64_t number)
{
	if (line->is_clamped)
		tell_overflow(f, number);
	if (line->is_rounded)
		diag_count(f->diags, PPROF_UNIT_LINE, number,
			   "value has more digits than are kept: rounded");
}

static void count_bad(struct folded *f, uint64_t number)
{
	if (!f->nr_bad++)
		f->first_bad = number;
	diag_count(f->diags, PPROF_UNIT_LINE, number,
		   "expected \"stack value\": line ignored");
}

/* False when the builder failed or memory is out. */
static bool take_line(struct folded *f, const struct cursor_line *line)
{
	struct folded_line cut;
	int64_t value;

	if (is_comment(line->text, line->len)) {
		take_comment(f, line);
		return true;
	}
	if (!cut_line(line->text, line->len, f->two_columns, &cut)) {
		if (!is_empty_line(line->text, line->len))
			count_bad(f, line->number);
		return true;
	}
	f->nr_good++;
	if (cut.is_clamped || cut.is_rounded)
		count_oddities(f, &cut, line->number);
	if (f->two_columns && cut.has_base)
		return wait_sample(f, &cut, line->number);
	if (f->two_columns) {
		f->two_columns = false;
		if (!release_waiting(f))
			return false;
	}
	if (!cut_frames(f, cut.stack, cut.stack_len))
		return false;
	take_values(f, &cut.value, &cut.value, line->number, &value);
	builder_add_root_first(f->out, f->frames, f->nr_frames, &value,
			       PPROF_UNIT_LINE, line->number);
	return !f->out->status;
}

/* Whether what was read is a profile at all. */
static enum pprof_status judge(const struct folded *f, struct pprof_error *err)
{
	if (f->nr_bad > f->nr_good)
		return error_set(err, PPROF_FORMAT, f->in->source,
				 PPROF_UNIT_LINE, f->first_bad,
				 "%llu of %llu lines are not \"stack value\", "
				 "this is the first",
				 (unsigned long long)f->nr_bad,
				 (unsigned long long)(f->nr_bad + f->nr_good));
	if (!f->nr_good)
		return error_plain(err, PPROF_FORMAT, f->in->source,
				   "no stacks, only comments and blank lines");
	return PPROF_OK;
}

static enum pprof_status read_lines(struct folded *f, struct pprof_error *err)
{
	struct cursor_line line;
	bool going = true;
	enum pprof_status status;

	while (going && cursor_next_line(f->in, &line))
		going = take_line(f, &line);
	if (cursor_status(f->in, err))
		return f->in->status;
	if (going) {
		status = judge(f, err);
		if (status)
			return status;
		if (f->two_columns)
			going = release_waiting(f);
	}
	if (f->out->status)
		return error_plain(err, f->out->status, f->in->source, "%s",
				   f->out->message);
	if (!going)
		return error_nomem(err);
	settle_unit(f);
	return PPROF_OK;
}

static enum pprof_status read_folded(struct cursor *in,
				     const struct read_ctx *ctx,
				     struct pprof_error *err)
{
	struct folded f = {
		.in = in, .out = ctx->out, .diags = ctx->diags,
		.two_columns = true,
	};
	enum pprof_status status;

	buf_init(&f.suffixes, SIZE_MAX);
	buf_init(&f.last, SIZE_MAX);
	status = folded_names_init(&f.names, ctx->out) ? read_lines(&f, err)
						       : error_nomem(err);
	buf_fini(&f.suffixes);
	buf_fini(&f.last);
	mem_free(f.ends);
	mem_free(f.waiting);
	mem_free(f.frames);
	folded_names_fini(&f.names);
	return status;
}

const struct reader reader_folded = {
	.name = "folded",
	.description = "folded stacks, one \"frame;frame value\" a line",
	.sniff = sniff,
	.read = read_folded,
};
