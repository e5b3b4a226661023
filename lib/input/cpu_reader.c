/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU profiles of gperftools: words of the profiled machine, 32 or 64 bits
 * in either byte order, then its maps as text (gperftools
 * src/profiledata.cc). Version 1 is Java's: ids for addresses, and a table
 * of their names behind the samples.
 */
#include <config.h>

#include "input/reader.h"

#include <endian.h>

#include "base/mem.h"
#include "input/addresses.h"
#include "input/java_names.h"
#include "input/procmaps.h"
#include "input/text.h"
#include "profile/restack.h"

/* Words of the header: 0, 3, version, period in microseconds, 0. */
#define HEADER_WORDS 5

/* Words of the trailer: 0, 1, 0. */
#define TRAILER_WORDS 3

/* Of this many stacks one may lack the signal frame that all others have. */
#define SIGNAL_MARGIN 32

struct cpu {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	struct addresses addresses;
	size_t width; /* bytes a word */
	bool is_big;  /* most significant byte first */
	bool is_java;
	uint64_t period_us;
	uint64_t nr_records;
};

/* Layouts in the order in which they are tried. */
static const struct {
	size_t width;
	bool is_big;
} layouts[] = {
	{ 4, false }, { 8, false }, { 4, true }, { 8, true },
};

#define NR_LAYOUTS (sizeof(layouts) / sizeof(*layouts))

static inline uint64_t load_word(const uint8_t *p, size_t width, bool is_big)
{
	uint64_t wide;
	uint32_t narrow;

	if (width == 8) {
		memcpy(&wide, p, sizeof(wide));
		return is_big ? be64toh(wide) : le64toh(wide);
	}
	memcpy(&narrow, p, sizeof(narrow));
	return is_big ? be32toh(narrow) : le32toh(narrow);
}

static bool is_header(const uint8_t *p, size_t width, bool is_big)
{
	return !load_word(p, width, is_big) &&
	       load_word(p + width, width, is_big) == 3 &&
	       load_word(p + 2 * width, width, is_big) <= 1 &&
	       load_word(p + 3 * width, width, is_big) &&
	       !load_word(p + 4 * width, width, is_big);
}

/* Index into layouts, NR_LAYOUTS when none fits. */
static size_t find_layout(const uint8_t *head, size_t nr)
{
	size_t i;

	for (i = 0; i < NR_LAYOUTS; i++) {
		if (nr >= HEADER_WORDS * layouts[i].width &&
		    is_header(head, layouts[i].width, layouts[i].is_big))
			break;
	}
	return i;
}

static int sniff_cpu(const uint8_t *head, size_t nr)
{
	size_t i = find_layout(head, nr);

	return i < NR_LAYOUTS ? (int)layouts[i].width * 32 : 0;
}

/* ------------------------------------------------------------ records */

/* A cut record: what came before it counts, if anything did. */
static enum pprof_status take_cut(struct cpu *c, uint64_t depth)
{
	if (!c->nr_records)
		return cursor_fail(c->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				   "expected a sample of %llu frames, found "
				   "the end of the input",
				   (unsigned long long)depth);
	diag_count(c->diags, PPROF_UNIT_BYTE, cursor_offset(c->in),
		   "input is truncated: it ends inside a sample");
	c->in->p = c->in->end;
	return PPROF_OK;
}

/* The frames of a record, leaf first, at p. */
static bool take_frames(struct cpu *c, const uint8_t *p, size_t depth,
			uint64_t offset)
{
	size_t width = c->width, i;
	bool is_big = c->is_big;
	uint64_t pc, leaf = 0;

	if (!addresses_start(&c->addresses, depth))
		return false;
	for (i = 0; i < depth; i++, p += width) {
		pc = load_word(p, width, is_big);
		/* The unwinder may meet the leaf a second time. */
		if (i == 1 && pc == leaf)
			continue;
		if (!i)
			leaf = pc;
		if (!addresses_push(&c->addresses, pc, !i || c->is_java,
				    PPROF_UNIT_BYTE, offset + i * width))
			return false;
	}
	return true;
}

static int64_t sample_ns(struct cpu *c, int64_t count, uint64_t offset)
{
	int64_t ns;

	if (!__builtin_mul_overflow(count, (int64_t)c->period_us * 1000, &ns))
		return ns;
	diag_count(c->diags, PPROF_UNIT_BYTE, offset,
		   "time of a sample does not fit 64 bits; it stays at the "
		   "limit");
	return INT64_MAX;
}

static enum pprof_status add_record(struct cpu *c, uint64_t count,
				    const uint8_t *frames, size_t depth,
				    uint64_t offset)
{
	int64_t values[2];

	if (!take_frames(c, frames, depth, offset))
		return reader_fail(c->out, c->in, PPROF_UNIT_BYTE);
	if (count > INT64_MAX) {
		diag_count(c->diags, PPROF_UNIT_BYTE, offset,
			   "count above 2^63-1 is held at 2^63-1");
		count = INT64_MAX;
	}
	values[0] = (int64_t)count;
	values[1] = sample_ns(c, values[0], offset);
	builder_add(c->out, c->addresses.frames, c->addresses.nr_frames, 0,
		    values, PPROF_UNIT_BYTE, offset);
	return c->out->status;
}

/* Whether the maps begin here: as a number, text is a huge count. */
static bool at_maps(struct cursor *in)
{
	struct procmaps_entry entry;
	struct cursor_line line;

	return in->p[0] >= '0' && in->p[1] >= '0' && in->p[2] >= '0' &&
	       in->p[3] >= '0' && cursor_peek_line(in, &line) &&
	       procmaps_parse_line(line.text, line.len, &entry);
}

/* One record at the cursor. *ret_end is set at the trailer or the end. */
static enum pprof_status take_record(struct cpu *c, bool *ret_end)
{
	uint64_t offset = cursor_offset(c->in), count, depth;
	size_t head = 2 * c->width, have = cursor_fill(c->in, head + c->width);

	*ret_end = true;
	if (c->in->status)
		return c->in->status;
	if (have < head) {
		if (have)
			return take_cut(c, 0);
		diag_count(c->diags, PPROF_UNIT_BYTE, offset, "no trailer: "
			   "the program did not end its profile");
		return PPROF_OK;
	}
	count = load_word(c->in->p, c->width, c->is_big);
	depth = load_word(c->in->p + c->width, c->width, c->is_big);
	if (!count && depth == 1 && have >= head + c->width &&
	    !load_word(c->in->p + head, c->width, c->is_big)) {
		c->in->p += TRAILER_WORDS * c->width;
		return PPROF_OK;
	}
	if (c->nr_records && at_maps(c->in)) {
		diag_count(c->diags, PPROF_UNIT_BYTE, offset, "no trailer: "
			   "the program did not end its profile");
		return PPROF_OK;
	}
	if (depth > c->out->limits->frames)
		return cursor_fail(c->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				   "expected a sample of at most %u frames "
				   "(limit frames), found %llu",
				   c->out->limits->frames,
				   (unsigned long long)depth);
	have = cursor_fill(c->in, head + (size_t)depth * c->width);
	if (have < head + (size_t)depth * c->width)
		return c->in->status ? c->in->status : take_cut(c, depth);
	*ret_end = false;
	c->nr_records++;
	c->in->p += head + (size_t)depth * c->width;
	return add_record(c, count, c->in->p - (size_t)depth * c->width,
			  (size_t)depth, offset);
}

static enum pprof_status take_header(struct cpu *c)
{
	size_t nr = cursor_fill(c->in, HEADER_WORDS * 8);
	size_t i = find_layout(c->in->p, nr);
	const uint8_t *p = c->in->p;

	if (c->in->status)
		return c->in->status;
	if (i == NR_LAYOUTS)
		return cursor_fail(c->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				   "expected the words 0, 3, 0, period, 0 of a "
				   "CPU profile");
	c->width = layouts[i].width;
	c->is_big = layouts[i].is_big;
	c->is_java = load_word(p + 2 * c->width, c->width, c->is_big);
	c->period_us = load_word(p + 3 * c->width, c->width, c->is_big);
	c->in->p += HEADER_WORDS * c->width;
	if (c->period_us <= INT64_MAX / 1000)
		return PPROF_OK;
	return cursor_fail(c->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
			   "period of %llu microseconds is beyond 64 bits of "
			   "nanoseconds", (unsigned long long)c->period_us);
}

static void add_types(struct cpu *c)
{
	struct builder *out = c->out;
	str_id ns = builder_cstr(out, "nanoseconds");

	builder_type(out, builder_cstr(out, "samples"),
		     builder_cstr(out, "count"));
	builder_type(out, builder_cstr(out, "cpu"), ns);
	out->profile->period_type.type = builder_cstr(out, "cpu");
	out->profile->period_type.unit = ns;
	out->profile->period = (int64_t)c->period_us * 1000;
}

/* ------------------------------------------------------- signal frames */

/* What all stacks have behind their leaf. */
struct second {
	const struct pprof_profile *profile;
	loc_id loc;
};

/* libc.so.6, libc-2.31.so, libpthread...: where signal handlers return to. */
static bool is_libc(const struct pprof_profile *profile, map_id map)
{
	const char *path = profile_str(profile, profile->mappings[map].file);
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, "libc.", 5) || !strncmp(base, "libc-", 5) ||
	       !strncmp(base, "libpthread", 10) ||
	       !strncmp(base, "ld-musl", 7) || !strcmp(base, "[vdso]");
}

/*
 * Older unwinders give the frame that the kernel put between the handler
 * and the interrupted code, as second of all stacks: the start of
 * __restore_rt in libc, which is aligned to 16 bytes as no return address
 * of all stacks would be.
 */
static bool may_be_restorer(const struct pprof_profile *profile, loc_id loc)
{
	const struct location *row = &profile->locations[loc];

	return !((row->address + 1) & 15) && row->mapping &&
	       is_libc(profile, row->mapping);
}

/* The second frame of nearly all stacks, or 0. */
static loc_id find_restorer(const struct cpu *c)
{
	const struct pprof_profile *profile = c->out->profile;
	size_t i, depth, nr_deep = 0, nr_same = 0;
	loc_id *frames, second = 0;

	frames = mem_alloc((size_t)c->out->limits->frames + 1,
			   sizeof(*frames));
	for (i = 0; frames && i < profile->nr_samples; i++) {
		depth = stacks_depth(&profile->stacks,
				     profile->sample_stack[i]);
		if (depth < 2)
			continue;
		stacks_leaf_first(&profile->stacks, profile->sample_stack[i],
				  frames);
		nr_deep++;
		if (!second && may_be_restorer(profile, frames[1]))
			second = frames[1];
		nr_same += frames[1] == second;
		if (nr_deep - nr_same > nr_deep / SIGNAL_MARGIN + 1)
			break;
	}
	mem_free(frames);
	return second && nr_deep - nr_same <= nr_deep / SIGNAL_MARGIN ?
	       second : 0;
}

static void cut_second(void *ctx, const loc_id *leaf_first, size_t nr,
		       struct restack_cut *cut)
{
	const struct second *second = ctx;

	if (nr < 2 || leaf_first[1] != second->loc)
		return;
	cut->nr_drop = 1;
	cut->leaf = leaf_first[0];
}

static enum pprof_status drop_restorer(struct cpu *c, struct pprof_error *err)
{
	struct second second = { .profile = c->out->profile };
	enum pprof_status status;
	struct restacked restacked;
	char text[96];

	builder_flush(c->out);
	second.loc = find_restorer(c);
	if (!second.loc || c->out->status)
		return c->out->status;
	status = profile_restack(c->out->profile, cut_second, &second,
				 c->diags, &restacked, err);
	if (status)
		return status;
	profile_take_restacked(c->out->profile, &restacked);
	restacked_fini(&restacked);
	snprintf(text, sizeof(text), "# signal frame 0x%llx is left out",
		 (unsigned long long)second.profile->
		 locations[second.loc].address + 1);
	builder_comment(c->out, builder_cstr(c->out, text));
	return c->out->status;
}

/* ------------------------------------------------------------- reading */

static enum pprof_status read_all(struct cpu *c, struct pprof_error *err)
{
	enum pprof_status status = take_header(c);
	bool at_end = false;

	if (!status)
		add_types(c);
	while (!status && !at_end)
		status = take_record(c, &at_end);
	if (!status && c->is_java)
		return java_names_read(c->in, c->out, c->diags);
	if (!status)
		status = procmaps_read(c->in, c->out);
	if (status) {
		cursor_status(c->in, err);
		return status;
	}
	addresses_tell(&c->addresses, c->diags);
	return drop_restorer(c, err);
}

static enum pprof_status read_cpu(struct cursor *in,
				  const struct read_ctx *ctx,
				  struct pprof_error *err)
{
	struct cpu c = { .in = in, .out = ctx->out, .diags = ctx->diags };
	enum pprof_status status;

	addresses_init(&c.addresses, ctx->out);
	status = read_all(&c, err);
	addresses_fini(&c.addresses);
	return status;
}

const struct reader reader_cpu = {
	.name = "cpu",
	.description = "CPU profiles of gperftools (binary, 32 or 64 bits)",
	.sniff = sniff_cpu,
	.read = read_cpu,
};
