/* SPDX-License-Identifier: Apache-2.0
 *
 * speedscope's own file format (speedscope src/lib/file-format-spec.ts): a
 * table of frames, and a sampled profile for each sample type.
 */
#include <config.h>

#include "base/sink.h"
#include "output/json.h"
#include "output/ordered.h"
#include "output/writer.h"
#include "view/frames.h"

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

struct speedscope {
	const struct pprof_profile *profile;
	const struct frames *frames;
	struct pprof_sink *sink;
	struct buf out;
	struct json_out json;
	uint64_t nr_negative;
};

static enum pprof_status flush(struct speedscope *w, size_t above,
			       struct pprof_error *err)
{
	if (!buf_ok(&w->out))
		return error_nomem(err);
	if (w->out.len < above)
		return PPROF_OK;
	return sink_take_buf(w->sink, &w->out, err);
}

static enum pprof_status put_frames(struct speedscope *w,
				    struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	const struct frame *row;
	size_t i;

	json_put_key(&w->json, "shared");
	json_put_open(&w->json, '{');
	json_put_key(&w->json, "frames");
	json_put_open(&w->json, '[');
	for (i = 0; !status && i < w->frames->nr; i++) {
		row = &w->frames->rows[i];
		json_put_open(&w->json, '{');
		json_put_key(&w->json, "name");
		json_put_text(&w->json, frame_name(w->frames, (uint32_t)i),
			      frame_name_len(w->frames, (uint32_t)i));
		if (row->file) {
			json_put_key(&w->json, "file");
			json_put_str(&w->json, strtab_text(
				&w->frames->strings, row->file));
		}
		json_put_close(&w->json, '}');
		status = flush(w, CHUNK_BYTES, err);
	}
	json_put_close(&w->json, ']');
	json_put_close(&w->json, '}');
	return status;
}

/* speedscope's name of a unit. */
static const char *unit_of(const char *unit)
{
	static const char *const known[] = {
		"bytes", "nanoseconds", "microseconds", "milliseconds",
		"seconds",
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(unit, known[i]))
			return known[i];
	}
	return "none";
}

/* Rows of the stack at hand, root first. */
static void put_stack(struct speedscope *w, const struct ordered *ordered)
{
	const struct frames *frames = w->frames;
	size_t i;
	uint32_t k;

	json_put_open(&w->json, '[');
	for (i = ordered->nr_frames; i--;) {
		loc_id loc = ordered->frames[i];

		for (k = frames->loc_start[loc];
		     k < frames->loc_start[loc + 1]; k++)
			json_put_u64(&w->json,
				     STEP_ROW(frames->loc_steps[k]));
	}
	if (!ordered->nr_frames)
		json_put_u64(&w->json, frames->no_stack);
	json_put_close(&w->json, ']');
}

/* Whether the present sample has a weight: negative ones have none. */
static bool has_weight(struct speedscope *w, const struct ordered *ordered,
		       size_t type)
{
	int64_t value = w->profile->values[type][ordered->sample];

	w->nr_negative += value < 0;
	return value > 0;
}

/* Stacks, or weights, of all samples that have a weight. */
static enum pprof_status put_samples(struct speedscope *w, size_t type,
				     bool stacks, int64_t *ret_total,
				     struct pprof_error *err)
{
	enum pprof_status status;
	struct ordered ordered;
	int64_t value, total = 0;

	status = ordered_init(&ordered, w->profile, err);
	json_put_open(&w->json, '[');
	while (!status && ordered_next(&ordered)) {
		if (!has_weight(w, &ordered, type))
			continue;
		value = w->profile->values[type][ordered.sample];
		if (__builtin_add_overflow(total, value, &total))
			total = INT64_MAX;
		if (stacks)
			put_stack(w, &ordered);
		else
			json_put_i64(&w->json, value);
		status = flush(w, CHUNK_BYTES, err);
	}
	json_put_close(&w->json, ']');
	if (!status && ordered.failed)
		status = error_nomem(err);
	*ret_total = total;
	ordered_fini(&ordered);
	return status;
}

static enum pprof_status put_profile(struct speedscope *w, size_t type,
				     struct pprof_error *err)
{
	const struct value_type *row = &w->profile->types[type];
	enum pprof_status status;
	int64_t total;

	json_put_open(&w->json, '{');
	json_put_key(&w->json, "type");
	json_put_str(&w->json, "sampled");
	json_put_key(&w->json, "name");
	json_put_str(&w->json, profile_str(w->profile, row->type));
	json_put_key(&w->json, "unit");
	json_put_str(&w->json, unit_of(profile_str(w->profile, row->unit)));
	json_put_key(&w->json, "startValue");
	json_put_i64(&w->json, 0);
	json_put_key(&w->json, "samples");
	status = put_samples(w, type, true, &total, err);
	if (status)
		return status;
	w->nr_negative = 0;
	json_put_key(&w->json, "weights");
	status = put_samples(w, type, false, &total, err);
	json_put_key(&w->json, "endValue");
	json_put_i64(&w->json, total);
	json_put_close(&w->json, '}');
	return status;
}

static enum pprof_status write_parts(struct speedscope *w,
				     struct pprof_error *err)
{
	enum pprof_status status;
	size_t i;

	json_put_open(&w->json, '{');
	json_put_key(&w->json, "$schema");
	json_put_str(&w->json, "https://www.speedscope.app/"
		     "file-format-schema.json");
	json_put_key(&w->json, "exporter");
	json_put_str(&w->json, "libpprof");
	status = put_frames(w, err);
	json_put_key(&w->json, "activeProfileIndex");
	json_put_u64(&w->json, profile_default_type(w->profile));
	json_put_key(&w->json, "profiles");
	json_put_open(&w->json, '[');
	for (i = 0; !status && i < w->profile->nr_types; i++)
		status = put_profile(w, i, err);
	json_put_close(&w->json, ']');
	json_put_close(&w->json, '}');
	buf_byte(&w->out, '\n');
	return status ? status : flush(w, 0, err);
}

static void tell_negative(const struct speedscope *w,
			  const struct pprof_write_opts *opts)
{
	struct diags diags;

	diags_init(&diags, "speedscope output");
	diag_count_nr(&diags, PPROF_UNIT_NONE, 0, w->nr_negative,
		      "sample with a negative value is left out");
	diags_flush(&diags, opts->diag, opts->diag_ctx);
}

static enum pprof_status write_speedscope(const struct pprof_profile *profile,
					  const struct pprof_write_opts *opts,
					  struct pprof_sink *sink,
					  struct pprof_error *err)
{
	struct frames_opts frames_opts = { .granularity = PPROF_BY_FUNCTION,
					   .no_inlines = opts->no_inlines,
					   .with_files = true };
	struct speedscope w = { .profile = profile, .sink = sink };
	enum pprof_status status;
	struct frames frames;

	status = frames_init(&frames, profile, &frames_opts, err);
	if (status)
		return status;
	w.frames = &frames;
	buf_init(&w.out, PTRDIFF_MAX);
	json_out_init(&w.json, &w.out);
	status = write_parts(&w, err);
	if (!status)
		tell_negative(&w, opts);
	buf_fini(&w.out);
	frames_fini(&frames);
	return status;
}

const struct writer writer_speedscope = {
	.name = "speedscope",
	.description = "JSON for www.speedscope.app",
	.write = write_speedscope,
};
