/* SPDX-License-Identifier: Apache-2.0
 *
 * Contention profiles as text: "--- contentionz 1 ---", Go's "--- mutex:"
 * and "--- contention:" (src/runtime/pprof/pprof.go), the older
 * "--- Stacks:", and the Java kind of contention and heap profiles. Rows are
 * "delay count @ addresses"; delays are in cycles of a clock that the header
 * tells, or in what "resolution" says.
 */
#include <config.h>

#include "input/reader.h"

#include "input/addr_names.h"
#include "input/addresses.h"
#include "input/java_names.h"
#include "input/procmaps.h"
#include "input/text.h"
#include "profile/stats.h"

/* Sampling interval of Java heap profiles, which do not tell it (pprof). */
#define JAVA_HEAP_RATE 524288

struct contention {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	const struct pprof_read_opts *opts;
	struct addresses addresses;
	struct addr_names names;
	uint64_t hz;         /* cycles a second; 0 not told */
	uint64_t period;
	uint64_t ms;         /* since reset */
	uint64_t discarded;
	bool is_java;
	bool is_heap;        /* rows are "bytes count @" */
	bool is_started;     /* rows were read: types are fixed */
	bool at_maps;
	uint64_t nr_rows;
	uint64_t nr_slow;    /* "slow release" lines, without counts */
	int saturated;
};

/* ------------------------------------------------------------ sniffing */

static const char *const starters[] = {
	"--- contentionz ", "--- contention:", "--- mutex:", "--- Stacks:",
	"--- contention ", "--- heapz ",
};

static bool is_marker(const char *p, const char *end)
{
	size_t i;

	for (i = 0; i < sizeof(starters) / sizeof(*starters); i++) {
		if (starts(p, end, starters[i]))
			return true;
	}
	return false;
}

static int sniff_contention(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr;

	while (p < end && (is_space(*p) || *p == '\n' || *p == '\r'))
		p++;
	return is_marker(p, end) ? 96 : 0;
}

/* -------------------------------------------------------------- header */

static const struct {
	const char *name;
	size_t offset;
} keys[] = {
	{ "cycles/second", offsetof(struct contention, hz) },
	{ "sampling period", offsetof(struct contention, period) },
	{ "ms since reset", offsetof(struct contention, ms) },
	{ "discarded samples", offsetof(struct contention, discarded) },
};

static enum pprof_status bad_value(struct contention *c, uint64_t line,
				   const char *key, const char *value,
				   const char *end)
{
	return cursor_fail_at(c->in, PPROF_FORMAT, PPROF_UNIT_LINE, line,
			      "expected another value of '%s', found '%.*s'",
			      key, (int)(end - value > 40 ? 40 : end - value),
			      value);
}

/* "key = value", blanks around "=" or not. */
static enum pprof_status take_key(struct contention *c, const char *p,
				  const char *equal, const char *end,
				  uint64_t line)
{
	const char *key_end = trim_end(p, equal);
	const char *value = skip_blanks(equal + 1, end), *pos = value;
	uint64_t number;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!equals(p, key_end, keys[i].name))
			continue;
		if (!text_u64(&pos, end, &number) || pos != end ||
		    number > INT64_MAX)
			return bad_value(c, line, keys[i].name, value, end);
		memcpy((char *)c + keys[i].offset, &number, sizeof(number));
		return PPROF_OK;
	}
	if (equals(p, key_end, "format")) {
		c->is_java = equals(value, end, "java");
		return c->is_java ? PPROF_OK :
		       bad_value(c, line, "format", value, end);
	}
	if (equals(p, key_end, "resolution"))
		return equals(value, end, c->is_heap ? "bytes" :
			      "microseconds") ? PPROF_OK :
		       bad_value(c, line, "resolution", value, end);
	diag_count(c->diags, PPROF_UNIT_LINE, line,
		   "header line not understood; it is left out");
	return PPROF_OK;
}

/* What delays are in. */
static const char *delay_unit(const struct contention *c)
{
	if (c->is_java)
		return "microseconds";
	return c->hz ? "nanoseconds" : "cycles";
}

static void add_types(struct contention *c)
{
	struct builder *out = c->out;
	struct pprof_profile *profile = out->profile;
	str_id count = builder_cstr(out, "count");
	str_id bytes;

	c->is_started = true;
	if (c->is_heap) {
		bytes = builder_cstr(out, "bytes");
		builder_type(out, builder_cstr(out, "inuse_objects"), count);
		builder_type(out, builder_cstr(out, "inuse_space"), bytes);
		profile->period_type.type = builder_cstr(out, "space");
		profile->period_type.unit = bytes;
		profile->period = JAVA_HEAP_RATE;
		return;
	}
	builder_type(out, builder_cstr(out, "contentions"), count);
	builder_type(out, builder_cstr(out, "delay"),
		     builder_cstr(out, delay_unit(c)));
	profile->period_type.type = builder_cstr(out, "contentions");
	profile->period_type.unit = count;
	profile->period = c->period ? (int64_t)c->period : 1;
	if (c->ms <= INT64_MAX / 1000000)
		profile->duration_ns = (int64_t)c->ms * 1000000;
}

/* ---------------------------------------------------------------- rows */

/* a * b / c without a loss in between, down to whole numbers, clamped. */
static int64_t scale(struct contention *c, uint64_t a, uint64_t b, uint64_t by)
{
	unsigned __int128 product = (unsigned __int128)a * b / by;

	if (product <= INT64_MAX)
		return (int64_t)product;
	c->saturated = 1;
	return INT64_MAX;
}

static void scale_contention(struct contention *c, uint64_t delay,
			     uint64_t count, int64_t *values)
{
	uint64_t period = c->opts->raw_counts || !c->period ? 1 : c->period;
	unsigned __int128 cycles = (unsigned __int128)delay * period;

	values[0] = scale(c, count, period, 1);
	if (cycles > UINT64_MAX) {
		c->saturated = 1;
		cycles = UINT64_MAX;
	}
	if (c->hz && !c->is_java)
		values[1] = scale(c, (uint64_t)cycles, 1000000000, c->hz);
	else
		values[1] = scale(c, (uint64_t)cycles, 1, 1);
}

static void scale_heap(struct contention *c, uint64_t bytes, uint64_t count,
		       int64_t *values)
{
	double n = (double)count, b = (double)bytes;

	if (!c->opts->raw_counts)
		stats_unsample(&n, &b, JAVA_HEAP_RATE);
	values[0] = stats_round(n, &c->saturated);
	values[1] = stats_round(b, &c->saturated);
}

static enum pprof_status bad_address(struct contention *c, const char *bad,
				     const char *end, uint64_t line)
{
	return cursor_fail_at(c->in, PPROF_FORMAT, PPROF_UNIT_LINE, line,
			      "expected a hexadecimal address of at most 16 "
			      "digits, found '%.*s'",
			      (int)(end - bad > 40 ? 40 : end - bad), bad);
}

/* The addresses behind "@", and the sample. */
static enum pprof_status take_stack(struct contention *c, const char *p,
				    const char *end,
				    const struct cursor_line *line,
				    uint64_t delay, uint64_t count)
{
	enum pprof_status status;
	int64_t values[2];
	const char *bad;

	switch (addresses_take_line(&c->addresses, p, end, line->number,
				    c->is_java ? ALL_EXACT : LEAF_RETURN,
				    &bad)) {
	case ADDRESSES_BAD:
		if (!line->has_lf)
			break;
		return bad_address(c, bad, end, line->number);
	case ADDRESSES_FAILED:
		return reader_fail(c->out, c->in, PPROF_UNIT_LINE);
	default:
		break;
	}
	status = addresses_check_depth(&c->addresses, c->in, PPROF_UNIT_LINE,
				       line->number);
	if (status)
		return status;
	if (c->is_heap)
		scale_heap(c, delay, count, values);
	else
		scale_contention(c, delay, count, values);
	c->nr_rows++;
	builder_add(c->out, c->addresses.frames, c->addresses.nr_frames, 0,
		    values, PPROF_UNIT_LINE, line->number);
	return c->out->status;
}

/* "delay [count] @ addresses"; false in *ret_mine: it is no row. */
static enum pprof_status take_row(struct contention *c, const char *p,
				  const char *end,
				  const struct cursor_line *line,
				  bool *ret_mine)
{
	uint64_t delay, count = 1;

	*ret_mine = false;
	if (!text_u64(&p, end, &delay))
		return PPROF_OK;
	p = skip_blanks(p, end);
	if (p < end && *p != '@' && !text_u64(&p, end, &count))
		return PPROF_OK;
	if (!skip_char(&p, end, '@'))
		return PPROF_OK;
	*ret_mine = true;
	if (!c->is_started)
		add_types(c);
	return take_stack(c, p, end, line, delay, count);
}

/* A line that is no row. */
static enum pprof_status take_other(struct contention *c, const char *p,
				    const char *end,
				    const struct cursor_line *line)
{
	const char *equal = memchr(p, '=', (size_t)(end - p));

	if (*p == '#')
		return addr_names_take_comment(&c->names, p, end) ?
		       PPROF_OK :
		       reader_fail(c->out, c->in, PPROF_UNIT_LINE);
	if (starts(p, end, "slow release")) {
		c->nr_slow++;
		return PPROF_OK;
	}
	if (equal && !c->is_started)
		return take_key(c, p, equal, end, line->number);
	if (is_marker(p, end))
		return cursor_fail_at(c->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      line->number, "a second profile starts "
				      "here; expected one a file");
	diag_count(c->diags, PPROF_UNIT_LINE, line->number, line->has_lf ?
		   "line not understood; it is left out" :
		   "input is truncated: its last line is cut");
	return PPROF_OK;
}

/* True at the line with which the maps or the Java names begin. */
static bool begins_tail(struct contention *c, const char *p, const char *end)
{
	struct procmaps_entry entry;

	if (text_is_maps_marker(p, end))
		return true;
	if (c->is_java)
		return c->nr_rows && starts(p, end, "0x");
	return c->is_started && procmaps_parse_line(p, (size_t)(end - p),
						    &entry);
}

static enum pprof_status read_lines(struct contention *c)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;
	const char *p, *end;
	bool is_row;

	while (!status && !c->at_maps && cursor_peek_line(c->in, &line)) {
		end = trim_end(line.text, line.text + line.len);
		p = skip_blanks(line.text, end);
		if (p < end && begins_tail(c, p, end)) {
			c->at_maps = true;
			break;
		}
		cursor_skip_peeked(c->in, &line);
		if (p == end)
			continue;
		status = take_row(c, p, end, &line, &is_row);
		if (!status && !is_row)
			status = take_other(c, p, end, &line);
	}
	return status ? status : c->in->status;
}

static enum pprof_status take_marker(struct contention *c)
{
	struct cursor_line line;
	const char *p, *end;

	while (cursor_next_line(c->in, &line)) {
		end = line.text + line.len;
		p = skip_blanks(line.text, end);
		if (trim_end(p, end) == p)
			continue;
		if (!is_marker(p, end))
			break;
		c->is_heap = starts(p, end, "--- heapz");
		return PPROF_OK;
	}
	if (c->in->status)
		return c->in->status;
	return cursor_fail(c->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			   "expected a first line like '--- contention:'");
}

static void tell(struct contention *c)
{
	addresses_tell(&c->addresses, c->diags);
	if (c->discarded)
		diag_count_nr(c->diags, PPROF_UNIT_LINE, 1, c->discarded,
			      "sample was discarded by the profiler");
	diag_count_nr(c->diags, PPROF_UNIT_LINE, 1, c->nr_slow,
		      "\"slow release\" line without counts is left out");
	if (c->saturated)
		diag_count(c->diags, PPROF_UNIT_LINE, 1, "a scaled value "
			   "does not fit 64 bits; it stays at the limit");
	if (!c->hz && !c->is_java && c->nr_rows)
		diag_count(c->diags, PPROF_UNIT_LINE, 1,
			   "no \"cycles/second\": delays stay in cycles");
}

static enum pprof_status read_all(struct contention *c)
{
	enum pprof_status status = take_marker(c);

	if (!status)
		status = read_lines(c);
	if (status)
		return status;
	if (c->is_heap && !c->is_java)
		return cursor_fail(c->in, PPROF_UNSUPPORTED, PPROF_UNIT_LINE,
				   "expected \"format = java\" in a profile "
				   "that begins with '--- heapz'");
	if (!c->is_started)
		add_types(c);
	tell(c);
	if (c->is_java)
		return java_names_read(c->in, c->out, c->diags);
	status = procmaps_read(c->in, c->out);
	return status ? status : addr_names_apply(&c->names, true);
}

static enum pprof_status read_contention(struct cursor *in,
					 const struct read_ctx *ctx,
					 struct pprof_error *err)
{
	struct contention c = { .in = in, .out = ctx->out,
				.diags = ctx->diags, .opts = ctx->opts };
	enum pprof_status status;

	addresses_init(&c.addresses, ctx->out);
	addr_names_init(&c.names, ctx->out);
	status = read_all(&c);
	if (status)
		cursor_status(in, err);
	addresses_fini(&c.addresses);
	addr_names_fini(&c.names);
	return status;
}

const struct reader reader_contention = {
	.name = "contention",
	.description = "contention and mutex profiles of gperftools, Go and "
		       "Java (text)",
	.sniff = sniff_contention,
	.read = read_contention,
};
