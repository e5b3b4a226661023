/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw dumps as a CBOR sequence, docs/pprof-raw.cddl, in canonical order:
 * nothing of a profile is lost.
 */
#include <config.h>

#include <cbor.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/ordered.h"
#include "output/writer.h"

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

/* Longest head of a CBOR item. */
#define HEAD_BYTES 9

#define SELF_DESCRIBED 55799

enum record {
	RECORD_HEADER, RECORD_IMAGE, RECORD_TYPE, RECORD_SAMPLE,
	RECORD_LOCATION, RECORD_COMMENT
};

struct raw_out {
	const struct pprof_profile *profile;
	struct pprof_sink *sink;
	struct ordered ordered;
	struct buf out;
};

/* ---------------------------------------------------------------- items */

static void put_uint(struct raw_out *w, uint64_t value)
{
	unsigned char head[HEAD_BYTES];

	buf_add(&w->out, head, cbor_encode_uint(value, head, sizeof(head)));
}

static void put_nint(struct raw_out *w, uint64_t value)
{
	unsigned char head[HEAD_BYTES];

	buf_add(&w->out, head, cbor_encode_negint(value, head, sizeof(head)));
}

static void put_int(struct raw_out *w, int64_t value)
{
	if (value >= 0)
		put_uint(w, (uint64_t)value);
	else
		put_nint(w, (uint64_t)(-1 - value));
}

static void put_null(struct raw_out *w)
{
	unsigned char head[HEAD_BYTES];

	buf_add(&w->out, head, cbor_encode_null(head, sizeof(head)));
}

static void put_array(struct raw_out *w, size_t nr)
{
	unsigned char head[HEAD_BYTES];

	buf_add(&w->out, head, cbor_encode_array_start(nr, head,
						       sizeof(head)));
}

static void put_record(struct raw_out *w, size_t nr, enum record kind)
{
	put_array(w, nr);
	put_uint(w, kind);
}

/* Length of the UTF-8 character at p, 0 when it is none (RFC 3629). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	size_t nr = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 :
		    *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0, i;

	if (!nr || nr > left)
		return 0;
	for (i = 1; i < nr; i++) {
		if (p[i] >> 6 != 2)
			return 0;
	}
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return nr;
}

static bool is_utf8(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t nr;

	for (; len; p += nr, len -= nr) {
		nr = utf8_length(p, len);
		if (!nr)
			return false;
	}
	return true;
}

static void put_text(struct raw_out *w, const char *text, size_t len)
{
	unsigned char head[HEAD_BYTES];

	if (is_utf8(text, len))
		buf_add(&w->out, head, cbor_encode_string_start(len, head,
							sizeof(head)));
	else
		buf_add(&w->out, head, cbor_encode_bytestring_start(len,
						head, sizeof(head)));
	buf_add(&w->out, text, len);
}

static void put_str(struct raw_out *w, str_id id)
{
	put_text(w, profile_str(w->profile, id),
		 strtab_len(&w->profile->strings, id));
}

static enum pprof_status flush(struct raw_out *w, size_t above,
			       struct pprof_error *err)
{
	if (!buf_ok(&w->out))
		return error_nomem(err);
	if (w->out.len < above)
		return PPROF_OK;
	return sink_take_buf(w->sink, &w->out, err);
}

/* --------------------------------------------------------------- header */

static void put_key(struct raw_out *w, const char *key)
{
	put_text(w, key, strlen(key));
}

static void put_number_member(struct raw_out *w, const char *key,
			      int64_t value)
{
	if (!value)
		return;
	put_key(w, key);
	put_int(w, value);
}

static void put_text_member(struct raw_out *w, const char *key, str_id value)
{
	if (!value)
		return;
	put_key(w, key);
	put_str(w, value);
}

static void put_header(struct raw_out *w)
{
	const struct pprof_profile *p = w->profile;
	unsigned char head[HEAD_BYTES];
	const bool has[] = {
		p->time_ns, p->duration_ns, p->period, p->period_type.type,
		p->period_type.unit, p->default_type, p->doc_url,
		p->drop_frames, p->keep_frames,
	};
	size_t nr = 0, i;

	for (i = 0; i < sizeof(has) / sizeof(*has); i++)
		nr += has[i];
	buf_add(&w->out, head, cbor_encode_tag(SELF_DESCRIBED, head,
					       sizeof(head)));
	put_record(w, 4, RECORD_HEADER);
	put_key(w, "pprof-raw");
	put_uint(w, 1);
	buf_add(&w->out, head, cbor_encode_map_start(nr, head,
						     sizeof(head)));
	put_number_member(w, "time", p->time_ns);
	put_number_member(w, "duration", p->duration_ns);
	put_number_member(w, "period", p->period);
	put_text_member(w, "period-type", p->period_type.type);
	put_text_member(w, "period-unit", p->period_type.unit);
	put_text_member(w, "default-type", p->default_type);
	put_text_member(w, "doc-url", p->doc_url);
	put_text_member(w, "drop-frames", p->drop_frames);
	put_text_member(w, "keep-frames", p->keep_frames);
}

static void put_types(struct raw_out *w)
{
	const struct pprof_profile *p = w->profile;
	size_t i;

	for (i = 0; i < p->nr_comments; i++) {
		put_record(w, 2, RECORD_COMMENT);
		put_str(w, p->comments[i]);
	}
	for (i = 0; i < p->nr_types; i++) {
		put_record(w, 3, RECORD_TYPE);
		put_str(w, p->types[i].type);
		put_str(w, p->types[i].unit);
	}
}

/* --------------------------------------------------------------- tables */

static void put_image(struct raw_out *w, const struct mapping *map)
{
	bool is_whole = !map->start && map->limit == UINT64_MAX &&
			!map->offset;

	put_record(w, 5, RECORD_IMAGE);
	put_str(w, map->file);
	if (map->build_id)
		put_str(w, map->build_id);
	else
		put_null(w);
	put_array(w, !is_whole);
	if (!is_whole) {
		put_array(w, 3);
		put_uint(w, map->start);
		put_uint(w, map->limit);
		put_uint(w, map->offset);
	}
	put_uint(w, map->flags);
}

static void put_line(struct raw_out *w, const struct line *line)
{
	const struct function *func = &w->profile->functions[line->func];

	put_array(w, func->start_line ? 6 : line->column ? 5 : 4);
	put_str(w, func->name);
	put_str(w, func->system_name);
	put_str(w, func->file);
	put_int(w, line->line);
	if (line->column || func->start_line)
		put_int(w, line->column);
	if (func->start_line)
		put_int(w, func->start_line);
}

static void put_location(struct raw_out *w, const struct location *loc)
{
	unsigned char head[HEAD_BYTES];
	uint32_t i;

	put_record(w, loc->is_folded ? 4 : 3, RECORD_LOCATION);
	if (loc->mapping) {
		put_array(w, 2);
		put_uint(w, w->ordered.canon.map_number[loc->mapping] - 1);
		put_uint(w, loc->address);
	} else {
		put_uint(w, loc->address);
	}
	put_array(w, loc->nr_lines);
	for (i = 0; i < loc->nr_lines; i++)
		put_line(w, &w->profile->lines[loc->lines + i]);
	if (loc->is_folded)
		buf_add(&w->out, head, cbor_encode_bool(true, head,
							sizeof(head)));
}

static enum pprof_status put_tables(struct raw_out *w, struct pprof_error *err)
{
	const struct canon *canon = &w->ordered.canon;
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && i < canon->nr_maps; i++) {
		put_image(w, &w->profile->mappings[canon->map_order[i]]);
		status = flush(w, CHUNK_BYTES, err);
	}
	for (i = 0; !status && i < canon->nr_locs; i++) {
		put_location(w, &w->profile->locations[canon->loc_order[i]]);
		status = flush(w, CHUNK_BYTES, err);
	}
	return status;
}

/* -------------------------------------------------------------- samples */

static void put_label(struct raw_out *w, const struct label *label)
{
	put_str(w, label->key);
	if (!label->is_num) {
		put_str(w, label->str);
		return;
	}
	if (label->unit)
		put_array(w, 2);
	put_int(w, label->num);
	if (label->unit)
		put_str(w, label->unit);
}

static void put_sample(struct raw_out *w)
{
	const struct lset *lset = ordered_lset(&w->ordered);
	unsigned char head[HEAD_BYTES];
	size_t i;
	uint32_t k;

	put_record(w, lset->nr ? 5 : 4, RECORD_SAMPLE);
	put_uint(w, 2);
	put_array(w, w->ordered.nr_frames);
	for (i = 0; i < w->ordered.nr_frames; i++)
		put_nint(w, w->ordered.canon.loc_number[
			 w->ordered.frames[i]] - 1);
	put_array(w, w->profile->nr_types);
	for (i = 0; i < w->profile->nr_types; i++)
		put_int(w, w->profile->values[i][w->ordered.sample]);
	if (!lset->nr)
		return;
	buf_add(&w->out, head, cbor_encode_map_start(lset->nr, head,
						     sizeof(head)));
	for (k = 0; k < lset->nr; k++)
		put_label(w, ordered_label(&w->ordered, lset, k));
}

static enum pprof_status write_parts(struct raw_out *w,
				     struct pprof_error *err)
{
	enum pprof_status status;

	put_header(w);
	put_types(w);
	status = put_tables(w, err);
	while (!status && ordered_next(&w->ordered)) {
		put_sample(w);
		status = flush(w, CHUNK_BYTES, err);
	}
	if (!status && w->ordered.failed)
		return error_nomem(err);
	return status ? status : flush(w, 0, err);
}

static enum pprof_status write_cbor(const struct pprof_profile *profile,
				    const struct pprof_write_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	struct raw_out w = { .profile = profile, .sink = sink };
	enum pprof_status status;

	(void)opts;
	buf_init(&w.out, PTRDIFF_MAX);
	status = ordered_init(&w.ordered, profile, err);
	if (!status)
		status = write_parts(&w, err);
	ordered_fini(&w.ordered);
	buf_fini(&w.out);
	return status;
}

const struct writer writer_cbor = {
	.name = "cbor",
	.description = "raw dump as CBOR, nothing lost; see "
		       "pprof-formats(5)",
	.is_binary = true,
	.write = write_cbor,
};
