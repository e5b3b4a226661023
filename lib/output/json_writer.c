/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile as JSON, in canonical order; docs/pprof.schema.json. Whole
 * numbers are exact 64-bit integers, addresses are strings "0x...".
 */
#include <config.h>

#include "base/sink.h"
#include "output/json.h"
#include "output/ordered.h"
#include "output/writer.h"

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

struct json_profile {
	const struct pprof_profile *profile;
	struct pprof_sink *sink;
	struct ordered ordered;
	struct buf out;
	struct json_out json;
};

static enum pprof_status flush(struct json_profile *w, size_t above,
			       struct pprof_error *err)
{
	if (!buf_ok(&w->out))
		return error_nomem(err);
	if (w->out.len < above)
		return PPROF_OK;
	return sink_take_buf(w->sink, &w->out, err);
}

/* A line of its own for each row keeps the text easy to look at. */
static void open_row(struct json_profile *w)
{
	if (w->json.needs_comma)
		buf_byte(&w->out, ',');
	w->json.needs_comma = false;
	buf_byte(&w->out, '\n');
	json_put_open(&w->json, '{');
}

static void put_str(struct json_profile *w, const char *key, str_id id)
{
	json_put_key(&w->json, key);
	json_put_text(&w->json, profile_str(w->profile, id),
		      strtab_len(&w->profile->strings, id));
}

/* A text that may be none: left out then. */
static void put_known(struct json_profile *w, const char *key, str_id id)
{
	if (id)
		put_str(w, key, id);
}

static void put_int(struct json_profile *w, const char *key, int64_t value)
{
	json_put_key(&w->json, key);
	json_put_i64(&w->json, value);
}

static void put_hex(struct json_profile *w, const char *key, uint64_t value)
{
	json_put_key(&w->json, key);
	json_put_hex(&w->json, value);
}

static void put_type(struct json_profile *w, const struct value_type *type)
{
	json_put_open(&w->json, '{');
	put_str(w, "type", type->type);
	put_str(w, "unit", type->unit);
	json_put_close(&w->json, '}');
}

static void put_header(struct json_profile *w)
{
	const struct pprof_profile *p = w->profile;
	size_t i;

	json_put_key(&w->json, "format");
	json_put_str(&w->json, "libpprof");
	put_int(w, "version", 1);
	json_put_key(&w->json, "sampleTypes");
	json_put_open(&w->json, '[');
	for (i = 0; i < p->nr_types; i++)
		put_type(w, &p->types[i]);
	json_put_close(&w->json, ']');
	put_known(w, "defaultSampleType", p->default_type);
	json_put_key(&w->json, "periodType");
	put_type(w, &p->period_type);
	put_int(w, "period", p->period);
	put_int(w, "timeNanos", p->time_ns);
	put_int(w, "durationNanos", p->duration_ns);
	put_known(w, "dropFrames", p->drop_frames);
	put_known(w, "keepFrames", p->keep_frames);
	put_known(w, "docUrl", p->doc_url);
	json_put_key(&w->json, "comments");
	json_put_open(&w->json, '[');
	for (i = 0; i < p->nr_comments; i++)
		json_put_str(&w->json, profile_str(p, p->comments[i]));
	json_put_close(&w->json, ']');
}

static void put_mapping(struct json_profile *w, size_t i)
{
	const struct mapping *map =
		&w->profile->mappings[w->ordered.canon.map_order[i]];

	open_row(w);
	put_int(w, "id", (int64_t)i + 1);
	put_hex(w, "start", map->start);
	put_hex(w, "limit", map->limit);
	put_hex(w, "offset", map->offset);
	put_str(w, "file", map->file);
	put_known(w, "buildId", map->build_id);
	json_put_close(&w->json, '}');
}

static void put_function(struct json_profile *w, size_t i)
{
	const struct function *func =
		&w->profile->functions[w->ordered.canon.func_order[i]];

	open_row(w);
	put_int(w, "id", (int64_t)i + 1);
	put_str(w, "name", func->name);
	put_known(w, "systemName", func->system_name);
	put_known(w, "file", func->file);
	if (func->start_line)
		put_int(w, "startLine", func->start_line);
	json_put_close(&w->json, '}');
}

static void put_line(struct json_profile *w, const struct line *line)
{
	json_put_open(&w->json, '{');
	put_int(w, "function", w->ordered.canon.func_number[line->func]);
	if (line->line)
		put_int(w, "line", line->line);
	if (line->column)
		put_int(w, "column", line->column);
	json_put_close(&w->json, '}');
}

static void put_location(struct json_profile *w, size_t i)
{
	const struct location *loc =
		&w->profile->locations[w->ordered.canon.loc_order[i]];
	uint32_t k;

	open_row(w);
	put_int(w, "id", (int64_t)i + 1);
	put_hex(w, "address", loc->address);
	if (loc->mapping)
		put_int(w, "mapping",
			w->ordered.canon.map_number[loc->mapping]);
	if (loc->is_folded) {
		json_put_key(&w->json, "folded");
		json_put_bool(&w->json, true);
	}
	json_put_key(&w->json, "lines");
	json_put_open(&w->json, '[');
	for (k = 0; k < loc->nr_lines; k++)
		put_line(w, &w->profile->lines[loc->lines + k]);
	json_put_close(&w->json, ']');
	json_put_close(&w->json, '}');
}

static void put_label(struct json_profile *w, const struct label *label)
{
	json_put_open(&w->json, '{');
	put_str(w, "key", label->key);
	if (label->is_num) {
		put_int(w, "number", label->num);
		put_known(w, "unit", label->unit);
	} else {
		put_str(w, "text", label->str);
	}
	json_put_close(&w->json, '}');
}

static void put_sample(struct json_profile *w)
{
	const struct lset *lset = ordered_lset(&w->ordered);
	size_t i;
	uint32_t k;

	open_row(w);
	json_put_key(&w->json, "locations");
	json_put_open(&w->json, '[');
	for (i = 0; i < w->ordered.nr_frames; i++)
		json_put_u64(&w->json, w->ordered.canon.loc_number[
			     w->ordered.frames[i]]);
	json_put_close(&w->json, ']');
	json_put_key(&w->json, "values");
	json_put_open(&w->json, '[');
	for (i = 0; i < w->profile->nr_types; i++)
		json_put_i64(&w->json, w->profile->values[i][
			     w->ordered.sample]);
	json_put_close(&w->json, ']');
	if (lset->nr) {
		json_put_key(&w->json, "labels");
		json_put_open(&w->json, '[');
		for (k = 0; k < lset->nr; k++)
			put_label(w, ordered_label(&w->ordered, lset, k));
		json_put_close(&w->json, ']');
	}
	json_put_close(&w->json, '}');
}

/* One table as an array. */
static enum pprof_status put_table(struct json_profile *w, const char *key,
				   size_t nr,
				   void (*put)(struct json_profile *w,
					       size_t i),
				   struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	json_put_key(&w->json, key);
	json_put_open(&w->json, '[');
	for (i = 0; !status && i < nr; i++) {
		put(w, i);
		status = flush(w, CHUNK_BYTES, err);
	}
	json_put_close(&w->json, ']');
	return status;
}

static enum pprof_status write_parts(struct json_profile *w,
				     struct pprof_error *err)
{
	const struct canon *canon = &w->ordered.canon;
	enum pprof_status status;

	json_put_open(&w->json, '{');
	put_header(w);
	status = put_table(w, "mappings", canon->nr_maps, put_mapping, err);
	if (!status)
		status = put_table(w, "functions", canon->nr_funcs,
				   put_function, err);
	if (!status)
		status = put_table(w, "locations", canon->nr_locs,
				   put_location, err);
	json_put_key(&w->json, "samples");
	json_put_open(&w->json, '[');
	while (!status && ordered_next(&w->ordered)) {
		put_sample(w);
		status = flush(w, CHUNK_BYTES, err);
	}
	if (!status && w->ordered.failed)
		return error_nomem(err);
	json_put_close(&w->json, ']');
	json_put_close(&w->json, '}');
	buf_byte(&w->out, '\n');
	return status ? status : flush(w, 0, err);
}

static enum pprof_status write_json(const struct pprof_profile *profile,
				    const struct pprof_write_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	struct json_profile w = { .profile = profile, .sink = sink };
	enum pprof_status status;

	(void)opts;
	buf_init(&w.out, PTRDIFF_MAX);
	json_out_init(&w.json, &w.out);
	status = ordered_init(&w.ordered, profile, err);
	if (!status)
		status = write_parts(&w, err);
	ordered_fini(&w.ordered);
	buf_fini(&w.out);
	return status;
}

const struct writer writer_json = {
	.name = "json",
	.description = "JSON with exact 64-bit numbers, see pprof-formats(5)",
	.write = write_json,
};
