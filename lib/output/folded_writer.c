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
#include "view/walk.h"

#include <string.h>

/* Bytes collected before they go to the sink: enough to go uncopied. */
#define CHUNK_BYTES ((size_t)256 << 10)

/* The work of one write. */
struct folder {
	const struct frames *frames;
	struct pprof_sink *sink;
	struct buf line;   /* names of the present path, ';' after each */
	struct buf out;
	size_t *ends;      /* [depth] bytes of `line` that path of depth has */
	size_t cap_ends;
	uint64_t nr_clamped;
};

/* Put the node's name at the end of its parent's path. */
static bool set_path(struct folder *f, const struct walk_node *node)
{
	const char *name = frame_name(f->frames, node->row);
	size_t len = frame_name_len(f->frames, node->row);

	if (!mem_grow(f->ends, f->cap_ends, (size_t)node->depth + 1,
		      SIZE_MAX / sizeof(*f->ends)))
		return false;
	f->ends[0] = 0;
	f->line.len = f->ends[node->depth - 1];
	/* A line that starts with "# " would read as a comment. */
	if (node->depth == 1 && len > 1 && name[0] == '#' && name[1] == ' ') {
		buf_str(&f->line, "\\x23");
		name++;
		len--;
	}
	buf_add(&f->line, name, len);
	buf_byte(&f->line, ';');
	f->ends[node->depth] = f->line.len;
	return buf_ok(&f->line);
}

static enum pprof_status add_line(struct folder *f,
				  const struct walk_node *node,
				  struct pprof_error *err)
{
	f->nr_clamped += node->clamped;
	buf_add(&f->out, f->line.data, f->line.len - 1);
	buf_byte(&f->out, ' ');
	buf_i64(&f->out, node->self);
	buf_byte(&f->out, '\n');
	if (f->out.len < CHUNK_BYTES)
		return PPROF_OK;
	return sink_take_buf(f->sink, &f->out, err);
}

static enum pprof_status fold_all(struct folder *f, struct walk *walk,
				  struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct walk_node node;

	while (!status && walk_next(walk, &node)) {
		if (!set_path(f, &node))
			return error_nomem(err);
		if (node.self)
			status = add_line(f, &node, err);
	}
	if (!status && walk->failed)
		return error_nomem(err);
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
	struct folder f = { .frames = frames, .sink = sink };
	enum pprof_status status;
	struct walk walk;

	status = walk_init(&walk, frames, profile, &walk_opts, err);
	if (status)
		return status;
	buf_init(&f.line, PTRDIFF_MAX);
	buf_init(&f.out, PTRDIFF_MAX);
	status = fold_all(&f, &walk, err);
	if (!status)
		tell_clamped(&f, opts);
	buf_fini(&f.line);
	buf_fini(&f.out);
	mem_free(f.ends);
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
