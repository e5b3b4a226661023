/* SPDX-License-Identifier: Apache-2.0
 *
 * Folded stacks: "root;caller;leaf VALUE", a line for each distinct stack of
 * names, ordered frame by frame in byte order of the names. Written while
 * the call tree is walked; the tree is not kept.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/writer.h"
#include "view/units.h"
#include "view/walk.h"

#include <string.h>

/* Bytes collected before they go to the sink: enough to go uncopied. */
#define CHUNK_BYTES ((size_t)256 << 10)

/* Longest name that is held in its slot. */
#define SLOT_NAME_MAX 31

/* A frame's name where one look finds all of it: most are short. */
struct name_slot {
	uint8_t len; /* SLOT_NAME_MAX + 1: longer, to be had from `frames` */
	char text[SLOT_NAME_MAX];
};

/* The work of one write. */
struct folder {
	const struct frames *frames;
	struct name_slot *slots; /* [frames.nr] */
	struct pprof_sink *sink;
	struct buf line;   /* names of the present path, ';' after each */
	struct buf out;
	size_t *ends;      /* [depth] bytes of `line` that path of depth has */
	size_t cap_ends;
	unsigned decimals; /* of the values */
	uint64_t nr_clamped;
};

static bool fill_slots(struct folder *f)
{
	struct name_slot *slot;
	size_t i, len;

	f->slots = mem_zalloc(f->frames->nr, sizeof(*f->slots));
	for (i = 0; f->slots && i < f->frames->nr; i++) {
		slot = &f->slots[i];
		len = frame_name_len(f->frames, (uint32_t)i);
		if (len > SLOT_NAME_MAX) {
			slot->len = SLOT_NAME_MAX + 1;
			continue;
		}
		slot->len = (uint8_t)len;
		memcpy(slot->text, frame_name(f->frames, (uint32_t)i), len);
	}
	return f->slots;
}

/* A name that is long or starts the path, or a line that is full. */
static void add_name_slow(struct folder *f, uint32_t row, uint32_t depth)
{
	const char *name = frame_name(f->frames, row);
	size_t len = frame_name_len(f->frames, row);

	/* A line that starts with "# " would read as a comment. */
	if (depth == 1 && len > 1 && name[0] == '#' && name[1] == ' ') {
		buf_str(&f->line, "\\x23");
		name++;
		len--;
	}
	buf_add(&f->line, name, len);
	buf_byte(&f->line, ';');
}

/* Put a name at `depth` below the path of depth - 1. */
static inline bool add_name(struct folder *f, uint32_t row, uint32_t depth)
{
	const struct name_slot *slot = &f->slots[row];
	struct buf *line = &f->line;

	if (!mem_grow(f->ends, f->cap_ends, (size_t)depth + 1,
		      SIZE_MAX / sizeof(*f->ends)))
		return false;
	if (slot->len > SLOT_NAME_MAX || depth == 1 ||
	    line->cap - line->len <= sizeof(*slot)) {
		add_name_slow(f, row, depth);
	} else {
		/* A copy of known size is a few instructions, no call. */
		memcpy(line->data + line->len, slot->text, SLOT_NAME_MAX);
		line->len += slot->len;
		line->data[line->len++] = ';';
	}
	f->ends[depth] = line->len;
	return buf_ok(line);
}

/* Go back to the path of a node's parent. */
static void set_parent(struct folder *f, uint32_t depth)
{
	f->line.len = depth > 1 ? f->ends[depth - 1] : 0;
}

/* How many frames ahead of its use a name is fetched into the cache. */
#define PREFETCH_AHEAD 8

/* Put the frames of a run of locations, the first one at `depth`. */
static bool add_run(struct folder *f, struct walk *walk, const loc_id *locs,
		    size_t nr, uint32_t depth)
{
	const uint32_t *start = f->frames->loc_start;
	const uint32_t *steps = f->frames->loc_steps;
	uint32_t step;
	size_t i;

	set_parent(f, depth);
	for (i = 0; i < nr; i++) {
		if (i + PREFETCH_AHEAD < nr)
			__builtin_prefetch(&f->slots[STEP_ROW(
				steps[start[locs[i + PREFETCH_AHEAD]]])]);
		for (step = start[locs[i]]; step < start[locs[i] + 1]; step++)
			if (!add_name(f, STEP_ROW(steps[step]), depth++))
				return false;
	}
	walk_pass_run(walk, nr, depth);
	return true;
}

static enum pprof_status add_line(struct folder *f,
				  const struct walk_node *node,
				  struct pprof_error *err)
{
	f->nr_clamped += node->clamped;
	buf_add(&f->out, f->line.data, f->line.len - 1);
	buf_byte(&f->out, ' ');
	units_fixed(&f->out, node->self, f->decimals);
	buf_byte(&f->out, '\n');
	if (f->out.len < CHUNK_BYTES)
		return PPROF_OK;
	return sink_take_buf(f->sink, &f->out, err);
}

/* Write what the walk's next node adds, or its next run of nodes. */
static enum pprof_status fold_next(struct folder *f, struct walk *walk,
				   bool *ret_more, struct pprof_error *err)
{
	struct walk_node node;
	const loc_id *locs;
	uint32_t depth;
	size_t nr;

	*ret_more = true;
	nr = walk_run(walk, &locs, &depth);
	if (nr)
		return add_run(f, walk, locs, nr, depth) ? PPROF_OK
							 : error_nomem(err);
	*ret_more = walk_next(walk, &node);
	if (!*ret_more)
		return walk->failed ? error_nomem(err) : PPROF_OK;
	set_parent(f, node.depth);
	if (!add_name(f, node.row, node.depth))
		return error_nomem(err);
	return node.self ? add_line(f, &node, err) : PPROF_OK;
}

static enum pprof_status fold_all(struct folder *f, struct walk *walk,
				  struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	bool more = true;

	while (!status && more)
		status = fold_next(f, walk, &more, err);
	return status ? status : sink_take_buf(f->sink, &f->out, err);
}

static void tell_clamped(const struct folder *f,
			 const struct pprof_write_opts *opts)
{
	struct diags diags;

	if (!f->nr_clamped)
		return;
	diags_init(&diags, "folded output");
	diag_count_nr(&diags, PPROF_UNIT_NONE, 0, f->nr_clamped,
		      "value does not fit into 64 bits, limit written");
	diags_flush(&diags, opts->diag, opts->diag_ctx);
}

static enum pprof_status write_walk(const struct pprof_profile *profile,
				    const struct frames *frames, size_t type,
				    const struct pprof_write_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	struct walk_opts walk_opts = { .sample_type = type };
	const char *unit = profile_str(profile, profile->types[type].unit);
	struct folder f = { .frames = frames, .sink = sink,
			    .decimals = units_decimals(unit) };
	enum pprof_status status;
	struct walk walk;

	status = walk_init(&walk, frames, profile, &walk_opts, err);
	if (status)
		return status;
	buf_init(&f.line, PTRDIFF_MAX);
	buf_init(&f.out, PTRDIFF_MAX);
	status = fill_slots(&f) ? fold_all(&f, &walk, err) : error_nomem(err);
	if (!status)
		tell_clamped(&f, opts);
	buf_fini(&f.line);
	buf_fini(&f.out);
	mem_free(f.ends);
	mem_free(f.slots);
	walk_fini(&walk);
	return status;
}

static enum pprof_status write_folded(const struct pprof_profile *profile,
				      const struct pprof_write_opts *opts,
				      struct pprof_sink *sink,
				      struct pprof_error *err)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION,
					   .no_inlines = opts->no_inlines,
					   .folded = true };
	enum pprof_status status;
	struct frames frames;
	size_t type;

	status = profile_pick_type(profile, opts->sample_type, &type, err);
	if (!status)
		status = frames_init(&frames, profile, &frames_opts, err);
	if (status)
		return status;
	status = write_walk(profile, &frames, type, opts, sink, err);
	frames_fini(&frames);
	return status;
}

const struct writer writer_folded = {
	.name = "folded",
	.description = "folded stacks, one line each (flame graph tools)",
	.write = write_folded
};
