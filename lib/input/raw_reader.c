/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw address dumps as text, in all shapes of raw_line.h, mixed or not:
 * whole stacks a line, or stacks over several lines. Shapes that name the
 * file of an address ("binary+0xOFF") need no maps: their addresses are
 * those of the file, in a mapping from 0 to the end.
 */
#include <config.h>

#include "input/reader.h"

#include "base/mem.h"
#include "input/addresses.h"
#include "input/columns.h"
#include "input/procmaps.h"
#include "input/raw_line.h"
#include "input/text.h"

/* Inlined functions that one address may have. */
#define CHAIN_MAX 64

struct raw_pc {
	uint64_t address;
	map_id map;
	bool is_exact;
};

/* A frame that may turn out to be inlined into the next one. */
struct waiting_frame {
	uint64_t address;
	map_id map;
	size_t nr_lines;
	struct line lines[CHAIN_MAX];
};

struct raw {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	const struct pprof_read_opts *opts;
	struct addresses addresses;
	struct raw_pc *pcs;      /* of a stack line, in its order */
	size_t nr_pcs, cap_pcs;
	map_id *map_of_str;      /* [cap_maps] by file name */
	size_t cap_maps;
	struct waiting_frame frame;
	bool has_frame;
	bool in_stack;           /* over several lines */
	bool is_numbered;        /* its frames are "#N" */
	uint64_t last_number;
	uint64_t stack_line;
	uint64_t pc;             /* of a "PC: @" line, or 0 */
	bool has_bytes;
	bool has_bare;           /* an address of no file, without a name */
	bool has_maps;
	uint64_t nr_good, nr_bad, first_bad;
};

/* ------------------------------------------------------------ sniffing */

static bool is_good_line(const char *p, const char *end,
			 struct raw_line *line)
{
	struct raw_frame frame;
	const char *pos;
	bool is_bad;

	raw_line_parse(p, (size_t)(end - p), line);
	if (line->kind == RAW_FRAME)
		return true;
	if (line->kind != RAW_STACK)
		return false;
	pos = line->stack;
	while (raw_next_frame(line, &pos, &frame, &is_bad))
		;
	return !is_bad;
}

/* A little surer than folded stacks are of lines that could be both. */
static int sniff_raw(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *eol;
	size_t nr_good = 0, nr_bad = 0;
	struct raw_line line;

	for (; p < end; p = eol + 1) {
		eol = line_end(p, end);
		if (eol == end && nr >= SNIFF_BYTES && nr_good)
			break; /* cut by the head's end */
		if (memchr(p, 0, (size_t)(eol - p)))
			return 0;
		if (is_good_line(p, eol, &line)) {
			nr_good++;
			continue;
		}
		if (line.kind == RAW_MAPS)
			break;
		nr_bad += line.kind == RAW_NONE;
	}
	if (!nr_good || nr_bad > nr_good)
		return 0;
	return nr_bad ? 4 : 5;
}

/* -------------------------------------------------------------- frames */

/* Mapping of a file's own addresses, made at first sight. 0: failed. */
static map_id find_map(struct raw *r, const struct raw_frame *frame)
{
	str_id name = builder_str(r->out, frame->file, frame->file_len);
	struct mapping map = { .limit = UINT64_MAX };
	size_t old = r->cap_maps;
	map_id id;

	if (name == ID_FAILED)
		return 0;
	if (name >= old) {
		if (!mem_grow(r->map_of_str, r->cap_maps, (size_t)name + 1,
			      UINT32_MAX))
			return 0;
		memset(r->map_of_str + old, 0,
		       (r->cap_maps - old) * sizeof(*r->map_of_str));
	}
	if (!r->map_of_str[name]) {
		map.file = name;
		id = builder_mapping(r->out, &map);
		r->map_of_str[name] = id == ID_FAILED ? 0 : id;
	}
	id = r->map_of_str[name];
	if (id && frame->build_id && !r->out->profile->mappings[id].build_id)
		r->out->profile->mappings[id].build_id =
			builder_str(r->out, frame->build_id,
				    frame->build_id_len);
	return id;
}

/* Address and mapping of a frame; address 0 in *ret: there is none. */
static bool place_frame(struct raw *r, const struct raw_frame *frame,
			bool is_exact, struct raw_pc *ret)
{
	ret->address = frame->address;
	ret->is_exact = is_exact || frame->is_exact;
	ret->map = 0;
	if (!frame->file || !frame->has_address)
		return true;
	ret->map = find_map(r, frame);
	return ret->map;
}

static uint64_t call_address(const struct raw_pc *pc)
{
	return pc->is_exact ? pc->address : pc->address - 1;
}

/* A null address: counted, left out. */
static bool is_null(struct raw *r, const struct raw_pc *pc, uint64_t line)
{
	if (pc->address)
		return false;
	if (!r->addresses.nr_null++) {
		r->addresses.null_unit = PPROF_UNIT_LINE;
		r->addresses.null_where = line;
	}
	return true;
}

/* ------------------------------------------------- stacks of many lines */

/* The frame that waited is complete. */
static bool flush_frame(struct raw *r)
{
	struct waiting_frame *frame = &r->frame;
	loc_id loc;

	if (!r->has_frame)
		return true;
	r->has_frame = false;
	if (!frame->nr_lines) {
		r->has_bare |= !frame->map;
		return addresses_push_loc(&r->addresses,
					  addresses_get(&r->addresses,
							frame->address,
							frame->map));
	}
	loc = builder_location(r->out, frame->address, frame->map, false,
			       frame->lines, frame->nr_lines);
	return addresses_push_loc(&r->addresses, loc);
}

static bool name_line(struct raw *r, const struct raw_frame *frame,
		      struct line *ret)
{
	struct function func = { .start_line = 0 };

	memset(ret, 0, sizeof(*ret));
	func.name = builder_str(r->out, frame->name, frame->name_len);
	if (frame->source)
		func.file = builder_str(r->out, frame->source,
					frame->source_len);
	ret->func = builder_function(r->out, &func);
	ret->line = frame->line;
	ret->column = (int32_t)frame->column;
	return ret->func != ID_FAILED;
}

/* A frame; the same address again is what the one before is inlined in. */
static bool add_frame(struct raw *r, const struct raw_pc *pc,
		      const struct raw_frame *frame)
{
	struct waiting_frame *waiting = &r->frame;
	struct line line;

	if (frame->name && !name_line(r, frame, &line))
		return false;
	if (r->has_frame && frame->name && waiting->nr_lines &&
	    frame->has_address && waiting->address == call_address(pc) &&
	    waiting->map == pc->map && waiting->nr_lines < CHAIN_MAX) {
		waiting->lines[waiting->nr_lines++] = line;
		return true;
	}
	if (!flush_frame(r))
		return false;
	r->has_frame = true;
	waiting->address = frame->has_address ? call_address(pc) : 0;
	waiting->map = pc->map;
	waiting->nr_lines = 0;
	if (frame->name)
		waiting->lines[waiting->nr_lines++] = line;
	return true;
}

static enum pprof_status add_sample(struct raw *r, uint64_t line,
				    uint64_t count, uint64_t bytes)
{
	int64_t values[2];

	if (count > INT64_MAX || bytes > INT64_MAX)
		diag_count(r->diags, PPROF_UNIT_LINE, line,
			   "count above 2^63-1 is held at 2^63-1");
	values[0] = count > INT64_MAX ? INT64_MAX : (int64_t)count;
	values[1] = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
	r->nr_good++;
	builder_add(r->out, r->addresses.frames, r->addresses.nr_frames, 0,
		    values, PPROF_UNIT_LINE, line);
	return r->out->status ?
	       reader_fail(r->out, r->in, PPROF_UNIT_LINE) : PPROF_OK;
}

/* The stack over several lines is complete. */
static enum pprof_status flush_stack(struct raw *r)
{
	if (!r->in_stack)
		return PPROF_OK;
	r->in_stack = false;
	r->pc = 0;
	if (!flush_frame(r))
		return reader_fail(r->out, r->in, PPROF_UNIT_LINE);
	return add_sample(r, r->stack_line, 1, 0);
}

static enum pprof_status take_frame(struct raw *r,
				    const struct raw_line *line,
				    uint64_t number)
{
	enum pprof_status status = PPROF_OK;
	bool is_leaf;
	struct raw_pc pc;

	if (line->is_numbered ? !r->is_numbered ||
	    line->number <= r->last_number : r->is_numbered)
		status = flush_stack(r);
	if (status)
		return status;
	is_leaf = !r->in_stack;
	if (is_leaf && !addresses_start(&r->addresses, 64))
		return reader_fail(r->out, r->in, PPROF_UNIT_LINE);
	if (is_leaf)
		r->stack_line = number;
	r->in_stack = true;
	r->is_numbered = line->is_numbered;
	r->last_number = line->number;
	/* Debuggers begin at the instruction; backtrace(3) and glog do not. */
	if (!place_frame(r, &line->frame, (is_leaf && line->is_numbered) ||
			 (r->pc && line->frame.address == r->pc), &pc))
		return reader_fail(r->out, r->in, PPROF_UNIT_LINE);
	if (line->frame.has_address && is_null(r, &pc, number))
		return PPROF_OK;
	if (!add_frame(r, &pc, &line->frame))
		return reader_fail(r->out, r->in, PPROF_UNIT_LINE);
	return addresses_check_depth(&r->addresses, r->in, PPROF_UNIT_LINE,
				     number);
}

/* --------------------------------------------------- stacks of one line */

/* The words of the line into r->pcs; *ret_bad: one is no address. */
static bool collect_pcs(struct raw *r, const struct raw_line *line,
			bool *ret_bad)
{
	const char *pos = line->stack;
	struct raw_frame frame;

	r->nr_pcs = 0;
	while (raw_next_frame(line, &pos, &frame, ret_bad)) {
		if (!mem_grow(r->pcs, r->cap_pcs, r->nr_pcs + 1,
			      UINT32_MAX) ||
		    !place_frame(r, &frame, false, &r->pcs[r->nr_pcs]))
			return false;
		r->nr_pcs++;
	}
	return true;
}

/* r->pcs from the leaf on as the stack at hand. */
static bool push_pcs(struct raw *r, const struct raw_line *line,
		     uint64_t number)
{
	bool is_root_first = line->is_root_first || r->opts->root_first;
	struct raw_pc *pc;
	size_t i;

	if (!addresses_start(&r->addresses, r->nr_pcs))
		return false;
	for (i = 0; i < r->nr_pcs; i++) {
		pc = &r->pcs[is_root_first ? r->nr_pcs - 1 - i : i];
		if (is_null(r, pc, number))
			continue;
		pc->is_exact = !i && !line->is_returns;
		r->has_bare |= !pc->map;
		if (!addresses_push_loc(&r->addresses,
					addresses_get(&r->addresses,
						      call_address(pc),
						      pc->map)))
			return false;
	}
	return true;
}

/* Bytes before "@" on a line: from now on there are two columns. */
static bool start_bytes(struct raw *r)
{
	struct pprof_profile *profile = r->out->profile;

	if (r->has_bytes)
		return true;
	r->has_bytes = true;
	profile->types[0].type = builder_cstr(r->out, "objects");
	return columns_append(r->out, "space", strlen("space"), "bytes");
}

static void count_bad(struct raw *r, uint64_t number)
{
	if (!r->nr_bad++)
		r->first_bad = number;
	diag_count(r->diags, PPROF_UNIT_LINE, number,
		   "line is no shape of a stack that is known: left out");
}

static enum pprof_status take_stack(struct raw *r,
				    const struct raw_line *line,
				    uint64_t number)
{
	enum pprof_status status;
	bool is_bad;

	if (!collect_pcs(r, line, &is_bad))
		return reader_fail(r->out, r->in, PPROF_UNIT_LINE);
	if (is_bad) {
		count_bad(r, number);
		return PPROF_OK;
	}
	if ((line->has_bytes && !start_bytes(r)) ||
	    !push_pcs(r, line, number))
		return reader_fail(r->out, r->in, PPROF_UNIT_LINE);
	status = addresses_check_depth(&r->addresses, r->in, PPROF_UNIT_LINE,
				       number);
	return status ? status :
	       add_sample(r, number, line->count, line->bytes);
}

/* ------------------------------------------------------------- reading */

/* A line other than of memory maps, already taken off the input. */
static enum pprof_status take_line(struct raw *r,
				   const struct raw_line *line,
				   uint64_t number)
{
	enum pprof_status status = PPROF_OK;

	if (line->kind == RAW_FRAME)
		return take_frame(r, line, number);
	/* Numbers tell where a stack ends; other frames just stop. */
	if (!r->is_numbered || line->kind == RAW_STACK ||
	    line->kind == RAW_HEADING)
		status = flush_stack(r);
	if (status)
		return status;
	switch (line->kind) {
	case RAW_STACK:
		return take_stack(r, line, number);
	case RAW_PC:
		r->pc = line->frame.address;
		return PPROF_OK;
	case RAW_NONE:
		count_bad(r, number);
		return PPROF_OK;
	default:
		return PPROF_OK;
	}
}

static bool is_map_line(const struct cursor_line *line)
{
	struct procmaps_entry entry;

	return procmaps_parse_line(line->text, line->len, &entry);
}

static enum pprof_status read_lines(struct raw *r)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line text;
	struct raw_line line;

	while (!status && cursor_peek_line(r->in, &text)) {
		raw_line_parse(text.text, text.len, &line);
		if (line.kind == RAW_MAPS) {
			r->has_maps = true;
			if (!is_map_line(&text))
				cursor_skip_peeked(r->in, &text);
			break;
		}
		cursor_skip_peeked(r->in, &text);
		status = take_line(r, &line, text.number);
	}
	if (!status)
		status = flush_stack(r);
	return status ? status : r->in->status;
}

static enum pprof_status judge(struct raw *r, struct pprof_error *err)
{
	if (!r->nr_good && r->nr_bad)
		return error_set(err, PPROF_FORMAT, r->in->source,
				 PPROF_UNIT_LINE, r->first_bad,
				 "no line is a stack of addresses, this is "
				 "the first of %llu others",
				 (unsigned long long)r->nr_bad);
	if (!r->nr_good)
		return error_plain(err, PPROF_FORMAT, r->in->source,
				   "holds no address");
	addresses_tell(&r->addresses, r->diags);
	if (r->has_bare && !r->has_maps && !r->opts->maps_path)
		diag_count(r->diags, PPROF_UNIT_NONE, 0, "no memory maps, "
			   "here or by --maps: addresses cannot be told "
			   "apart by file");
	return PPROF_OK;
}

static enum pprof_status read_all(struct raw *r, struct pprof_error *err)
{
	enum pprof_status status;

	builder_type(r->out, builder_cstr(r->out, "samples"),
		     builder_cstr(r->out, "count"));
	status = read_lines(r);
	if (!status)
		status = judge(r, err);
	if (!status)
		status = procmaps_read(r->in, r->out);
	if (r->in->status)
		cursor_status(r->in, err);
	return status;
}

static enum pprof_status read_raw(struct cursor *in,
				  const struct read_ctx *ctx,
				  struct pprof_error *err)
{
	struct raw r = { .in = in, .out = ctx->out, .diags = ctx->diags,
			 .opts = ctx->opts };
	enum pprof_status status;

	addresses_init(&r.addresses, ctx->out);
	status = read_all(&r, err);
	addresses_fini(&r.addresses);
	mem_free(r.pcs);
	mem_free(r.map_of_str);
	return status;
}

const struct reader reader_raw = {
	.name = "raw",
	.description = "addresses as text: stacks a line, backtrace(3), "
		       "sanitizers, glog, gdb",
	.sniff = sniff_raw,
	.read = read_raw,
};
