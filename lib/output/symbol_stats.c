/* SPDX-License-Identifier: Apache-2.0
 *
 * The symbolizer's report and its answers for machines and people: JSON
 * lines, and text as addr2line has it.
 */
#include <config.h>

#include "base/sink.h"
#include "output/json.h"

/* One line of output. */
#define LINE_MAX_BYTES ((size_t)1 << 30)

static const char *verdict_name(enum pprof_verdict verdict)
{
	switch (verdict) {
	case PPROF_VERDICT_OK:
		return "OK";
	case PPROF_VERDICT_PARTIAL:
		return "PARTIAL";
	case PPROF_VERDICT_FAILED:
		return "FAILED";
	case PPROF_VERDICT_SKIPPED:
		return "SKIPPED";
	}
	return "?";
}

static void add_counts(struct json_out *json, uint64_t nr_addresses,
		       uint64_t nr_dwarf, uint64_t nr_symbol,
		       uint64_t nr_unresolved)
{
	json_put_key(json, "addresses");
	json_put_u64(json, nr_addresses);
	json_put_key(json, "dwarf");
	json_put_u64(json, nr_dwarf);
	json_put_key(json, "symbol");
	json_put_u64(json, nr_symbol);
	json_put_key(json, "unresolved");
	json_put_u64(json, nr_unresolved);
}

static void add_image(struct json_out *json,
		      const struct pprof_image_report *image)
{
	json_put_open(json, '{');
	json_put_key(json, "path");
	json_put_str(json, image->path);
	json_put_key(json, "file");
	json_put_str(json, image->file);
	json_put_key(json, "debug_file");
	json_put_str(json, image->debug_file);
	json_put_key(json, "build_id");
	json_put_str(json, image->build_id);
	add_counts(json, image->nr_addresses, image->nr_dwarf,
		   image->nr_symbol, image->nr_unresolved);
	json_put_key(json, "verdict");
	json_put_str(json, verdict_name(image->verdict));
	json_put_key(json, "reason");
	json_put_str(json, image->reason);
	json_put_close(json, '}');
}

/* Sums over all images, and the verdict. */
static void add_overall(struct json_out *json,
			const struct pprof_symbolizer *symbolizer)
{
	uint64_t sums[4] = { 0, 0, 0, 0 };
	size_t nr = pprof_symbolizer_nr_images(symbolizer), i;

	for (i = 0; i < nr; i++) {
		const struct pprof_image_report *image =
			pprof_symbolizer_image(symbolizer, i);

		sums[0] += image->nr_addresses;
		sums[1] += image->nr_dwarf;
		sums[2] += image->nr_symbol;
		sums[3] += image->nr_unresolved;
	}
	json_put_key(json, "overall");
	json_put_open(json, '{');
	json_put_key(json, "verdict");
	json_put_str(json, verdict_name(pprof_symbolizer_verdict(symbolizer)));
	add_counts(json, sums[0], sums[1], sums[2], sums[3]);
	json_put_close(json, '}');
}

enum pprof_status
pprof_symbolizer_write_stats(const struct pprof_symbolizer *symbolizer,
			     const char *name, struct pprof_sink *sink,
			     struct pprof_error *err)
{
	enum pprof_status status;
	struct json_out json;
	struct buf out;
	size_t nr = pprof_symbolizer_nr_images(symbolizer), i;

	buf_init(&out, LINE_MAX_BYTES);
	json_out_init(&json, &out);
	json_put_open(&json, '{');
	json_put_key(&json, "profile");
	json_put_str(&json, name);
	json_put_key(&json, "images");
	json_put_open(&json, '[');
	for (i = 0; i < nr; i++)
		add_image(&json, pprof_symbolizer_image(symbolizer, i));
	json_put_close(&json, ']');
	add_overall(&json, symbolizer);
	json_put_close(&json, '}');
	buf_byte(&out, '\n');
	status = sink_take_buf(sink, &out, err);
	buf_fini(&out);
	return status;
}

/* ------------------------------------------------------- single addresses */

static const char *source_name(const struct pprof_resolved *resolved)
{
	if (!resolved->nr_frames)
		return "none";
	return resolved->is_symbol ? "symbol" : "dwarf";
}

static void add_frame(struct json_out *json, const struct pprof_frame *frame)
{
	json_put_open(json, '{');
	json_put_key(json, "function");
	json_put_str(json, frame->name);
	json_put_key(json, "system_name");
	json_put_str(json, frame->system_name);
	json_put_key(json, "file");
	json_put_str(json, frame->file);
	json_put_key(json, "line");
	json_put_u64(json, frame->line);
	json_put_key(json, "column");
	json_put_u64(json, frame->column);
	json_put_key(json, "start_line");
	json_put_u64(json, frame->start_line);
	json_put_close(json, '}');
}

static void add_json(struct buf *out, const struct pprof_resolved *resolved)
{
	struct json_out json;
	size_t i;

	json_out_init(&json, out);
	json_put_open(&json, '{');
	json_put_key(&json, "address");
	json_put_hex(&json, resolved->address);
	json_put_key(&json, "source");
	json_put_str(&json, source_name(resolved));
	json_put_key(&json, "frames");
	json_put_open(&json, '[');
	for (i = 0; i < resolved->nr_frames; i++)
		add_frame(&json, &resolved->frames[i]);
	json_put_close(&json, ']');
	json_put_close(&json, '}');
	buf_byte(out, '\n');
}

/*
 * As binutils' addr2line -f -i -C: "?" for a line that is not known in an
 * address that is, 0 in one that is not.
 */
static void add_text(struct buf *out, const struct pprof_resolved *resolved)
{
	size_t i;

	if (!resolved->nr_frames)
		buf_str(out, "??\n??:0\n");
	for (i = 0; i < resolved->nr_frames; i++) {
		const struct pprof_frame *frame = &resolved->frames[i];

		buf_str(out, *frame->name ? frame->name : "??");
		buf_byte(out, '\n');
		buf_str(out, *frame->file ? frame->file : "??");
		buf_byte(out, ':');
		if (frame->line)
			buf_u64(out, frame->line);
		else
			buf_byte(out, '?');
		buf_byte(out, '\n');
	}
}

enum pprof_status
pprof_resolved_write(const struct pprof_resolved *resolved, bool is_json,
		     struct pprof_sink *sink, struct pprof_error *err)
{
	enum pprof_status status;
	struct buf out;

	buf_init(&out, LINE_MAX_BYTES);
	if (is_json)
		add_json(&out, resolved);
	else
		add_text(&out, resolved);
	status = sink_take_buf(sink, &out, err);
	buf_fini(&out);
	return status;
}
