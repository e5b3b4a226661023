/* SPDX-License-Identifier: Apache-2.0
 *
 * Heap dumps as text: jemalloc's threaded heap_v2 (4.0 on, src/prof_data.c),
 * its older one-line form (1.0 to 3.6) and gperftools' heap profiles in the
 * same form (src/heap-profile-table.cc). This file puts the parts together.
 */
#include <config.h>

#include "base/mem.h"
#include "input/heap_text.h"
#include "input/input.h"
#include "input/procmaps.h"
#include "input/reader.h"

static void add_types(struct heap *h)
{
	struct builder *out = h->out;
	str_id count = builder_cstr(out, "count");
	str_id bytes = builder_cstr(out, "bytes");
	const char *prefix = h->is_growth ? "" : "inuse_";
	char name[32];

	snprintf(name, sizeof(name), "%sobjects", prefix);
	builder_type(out, builder_cstr(out, name), count);
	snprintf(name, sizeof(name), "%sspace", prefix);
	builder_type(out, builder_cstr(out, name), bytes);
	out->profile->default_type = builder_cstr(out, name);
	out->profile->period_type.type = builder_cstr(out, "space");
	out->profile->period_type.unit = bytes;
}

static void add_comments(struct heap *h)
{
	char text[160];

	snprintf(text, sizeof(text), "# header: %s%.0f, %lld objects, %lld "
		 "bytes recorded", h->is_threaded ? "heap_v2/" : "rate ",
		 h->rate, (long long)h->header_total.objects,
		 (long long)h->header_total.bytes);
	builder_comment(h->out, builder_cstr(h->out, text));
	if (h->opts->raw_counts)
		builder_comment(h->out, builder_cstr(h->out, "raw counts: "
				"values are as recorded, not unsampled"));
}

static void tell_losses(struct heap *h)
{
	uint64_t line = h->in->line;

	addresses_tell(&h->addresses, h->diags);
	if (h->saturated)
		diag_count(h->diags, PPROF_UNIT_LINE, 1,
			   "an unsampled count does not fit 64 bits; it "
			   "stays at the limit");
	if (!h->has_maps && !h->opts->maps_path && !h->names.nr)
		diag_count(h->diags, PPROF_UNIT_LINE, line,
			   "%s without a MAPPED_LIBRARIES section: addresses "
			   "cannot be told apart by file", h->nr_stacks ?
			   "dump" : "dump is truncated: it has no stack, "
			   "and is");
}

static enum pprof_status read_maps(struct heap *h, struct pprof_error *err)
{
	struct input *input;
	enum pprof_status status;

	if (h->opts->maps_path) {
		status = input_open(h->opts->maps_path, h->out->limits,
				    h->diags, &input, err);
		if (status)
			return status;
		status = procmaps_read(input_cursor(input), h->out);
		if (status)
			cursor_status(input_cursor(input), err);
		input_close(input);
		return status;
	}
	status = h->has_maps ? procmaps_read(h->in, h->out) :
		 procmaps_assign(h->out);
	if (status)
		cursor_status(h->in, err);
	return status;
}

static enum pprof_status read_all(struct heap *h, struct pprof_error *err)
{
	enum pprof_status status = heap_find_header(h);
	bool at_maps = false;

	if (status)
		return cursor_status(h->in, err);
	if (h->opts->raw_counts)
		h->rate = 0;
	add_types(h);
	if (h->is_threaded)
		status = heap_read_threads(h, &at_maps);
	if (!status && !at_maps)
		status = heap_read_body(h);
	if (status)
		return cursor_status(h->in, err);
	add_comments(h);
	tell_losses(h);
	status = read_maps(h, err);
	return status ? status : addr_names_apply(&h->names, true);
}

static enum pprof_status read_jemalloc(struct cursor *in,
				       const struct read_ctx *ctx,
				       struct pprof_error *err)
{
	enum pprof_status status;
	struct heap h;

	memset(&h, 0, sizeof(h));
	h.in = in;
	h.out = ctx->out;
	h.diags = ctx->diags;
	h.opts = ctx->opts;
	addresses_init(&h.addresses, ctx->out);
	addr_names_init(&h.names, ctx->out);
	buf_init(&h.name, (size_t)1 << 20);
	status = read_all(&h, err);
	buf_fini(&h.name);
	addresses_fini(&h.addresses);
	addr_names_fini(&h.names);
	mem_free(h.threads);
	return status;
}

/* A line of the head that starts with one of the two header words. */
static int sniff_jemalloc(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *lf;

	for (; p < end; p = lf + 1) {
		const char *text = skip_blanks(p, end);

		if (starts(text, end, "heap_v"))
			return 64;
		if (starts(text, end, "heap profile:"))
			return 64;
		lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf)
			break;
	}
	return 0;
}

const struct reader reader_jemalloc = {
	.name = "jemalloc",
	.description = "heap dumps of jemalloc (heap_v2), and heap profiles "
		       "of gperftools",
	.sniff = sniff_jemalloc,
	.read = read_jemalloc,
};
