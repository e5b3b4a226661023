/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof profiles (profile.proto), streamed record by record. Samples come
 * before what they refer to, so references are numbered at first sight and
 * resolved at the end. Records that are few go through protobuf-c; samples,
 * which are many, are decoded here.
 */
#include <config.h>

#include "base/mem.h"
#include "input/pprof_stage.h"
#include "input/reader.h"

#include <string.h>

#include "profile/profile.pb-c.h"

/* Field numbers of message Profile. */
enum profile_field {
	FIELD_SAMPLE_TYPE = 1,
	FIELD_SAMPLE,
	FIELD_MAPPING,
	FIELD_LOCATION,
	FIELD_FUNCTION,
	FIELD_STRING_TABLE,
	FIELD_DROP_FRAMES,
	FIELD_KEEP_FRAMES,
	FIELD_TIME_NANOS,
	FIELD_DURATION_NANOS,
	FIELD_PERIOD_TYPE,
	FIELD_PERIOD,
	FIELD_COMMENT,
	FIELD_DEFAULT_SAMPLE_TYPE,
	FIELD_DOC_URL,
	NR_FIELDS
};

static const char *const field_names[NR_FIELDS] = {
	"", "sample_type", "sample", "mapping", "location", "function",
	"string_table", "drop_frames", "keep_frames", "time_nanos",
	"duration_nanos", "period_type", "period", "comment",
	"default_sample_type", "doc_url",
};

/* Protocol buffer wire types. */
enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2, WIRE_I32 = 5 };

/* Longest varint, of 64 bits in groups of 7. */
#define VARINT_MAX 10

/* One field of a message: its number, type and content. */
struct field {
	uint64_t number;
	unsigned type;
	uint64_t value;      /* varint and fixed */
	const uint8_t *data; /* length-delimited, within the message */
	size_t len;
};

/* Varint at p, before end. NULL when cut or longer than 64 bits. */
static const uint8_t *varint(const uint8_t *p, const uint8_t *end,
			     uint64_t *ret)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (; p < end && shift < 7 * VARINT_MAX; shift += 7) {
		uint8_t byte = *p++;

		/* An over-long form is legal; bits above 64 are not. */
		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return p;
		}
	}
	return NULL;
}

/* Take one field of a message off p. NULL when it breaks the format. */
static const uint8_t *take_field(const uint8_t *p, const uint8_t *end,
				 struct field *ret)
{
	uint64_t key;

	p = varint(p, end, &key);
	if (!p || !(key >> 3))
		return NULL;
	ret->number = key >> 3;
	ret->type = key & 7;
	ret->data = p; /* no bytes, yet a place to start from */
	ret->len = 0;
	ret->value = 0;
	switch (ret->type) {
	case WIRE_VARINT:
		return varint(p, end, &ret->value);
	case WIRE_I64:
		return end - p < 8 ? NULL : p + 8;
	case WIRE_I32:
		return end - p < 4 ? NULL : p + 4;
	case WIRE_LEN:
		p = varint(p, end, &ret->value);
		if (!p || ret->value > (uint64_t)(end - p))
			return NULL;
		ret->data = p;
		ret->len = (size_t)ret->value;
		return p + ret->len;
	default:
		return NULL;
	}
}

/* ------------------------------------------------------------------ samples */

/* Decoding state of the sample at hand. */
struct sample {
	uint64_t offset;      /* of the record, for messages */
	size_t nr_frames;     /* in stage.frames, leaf first */
	size_t nr_values;
	int64_t values[SAMPLE_TYPES_MAX];
	size_t nr_labels;
};

static bool add_frame(struct stage *s, uint64_t id, struct sample *sample)
{
	loc_id loc = pb_stage_frame(s, id, sample->offset);

	if (loc == ID_FAILED)
		return false;
	s->frames[sample->nr_frames++] = loc;
	return true;
}

static bool sample_locations(struct stage *s, const struct field *field,
			     struct sample *sample)
{
	const uint8_t *p = field->data, *end = p + field->len;
	uint64_t id;

	if (field->type == WIRE_VARINT)
		return add_frame(s, field->value, sample);
	if (field->type != WIRE_LEN)
		return false;
	while (p < end) {
		p = varint(p, end, &id);
		if (!p || !add_frame(s, id, sample))
			return false;
	}
	return true;
}

static bool add_value(struct sample *sample, uint64_t value)
{
	/* Too many are told apart by the count, later. */
	if (sample->nr_values < SAMPLE_TYPES_MAX)
		sample->values[sample->nr_values] = (int64_t)value;
	sample->nr_values++;
	return true;
}

static bool sample_values(const struct field *field, struct sample *sample)
{
	const uint8_t *p = field->data, *end = p + field->len;
	uint64_t value;

	if (field->type == WIRE_VARINT)
		return add_value(sample, field->value);
	if (field->type != WIRE_LEN)
		return false;
	while (p < end) {
		p = varint(p, end, &value);
		if (!p)
			return false;
		add_value(sample, value);
	}
	return true;
}

/* Message Label: key 1, str 2, num 3, num_unit 4. Strings are file indexes. */
static bool sample_label(struct stage *s, const struct field *field,
			 struct sample *sample)
{
	const uint8_t *p = field->data, *end = p + field->len;
	uint64_t members[5] = { 0 };
	struct label *label;
	struct field f;

	if (field->type != WIRE_LEN)
		return false;
	while (p < end) {
		p = take_field(p, end, &f);
		if (!p || (f.number < 5 && f.type != WIRE_VARINT))
			return false;
		if (f.number < 5)
			members[f.number] = f.value;
	}
	if (members[1] >= ID_FAILED || members[2] >= ID_FAILED ||
	    members[4] >= ID_FAILED)
		return false;
	if (!mem_grow(s->labels, s->cap_labels, sample->nr_labels + 1,
		      SIZE_MAX / sizeof(*label))) {
		s->no_memory = true;
		return false;
	}
	label = &s->labels[sample->nr_labels++];
	label->key = (str_id)members[1];
	label->str = (str_id)members[2];
	label->num = (int64_t)members[3];
	label->unit = (str_id)members[4];
	label->is_num = !label->str;
	return true;
}

static bool sample_fields(struct stage *s, const struct field *record,
			  struct sample *sample)
{
	const uint8_t *p = record->data, *end = p + record->len;
	bool ok = true;
	struct field f;

	while (ok && p < end) {
		p = take_field(p, end, &f);
		if (!p)
			return false;
		if (f.number == 1)
			ok = sample_locations(s, &f, sample);
		else if (f.number == 2)
			ok = sample_values(&f, sample);
		else if (f.number == 3)
			ok = sample_label(s, &f, sample);
	}
	return ok;
}

static enum pprof_status bad_record(struct stage *s, uint64_t offset,
				    const char *name)
{
	if (s->out->status)
		return s->out->status;
	if (s->no_memory)
		return reader_fail(s->out, s->in, PPROF_UNIT_BYTE);
	return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			      "record of field %s is damaged: expected a %s "
			      "message of profile.proto", name, name);
}

static enum pprof_status read_sample(struct stage *s,
				     const struct field *record,
				     uint64_t offset)
{
	struct sample sample = { .offset = offset };
	lset_id lset;

	/* A frame takes at least one byte of the record. */
	if (!mem_grow(s->frames, s->cap_frames, record->len,
		      SIZE_MAX / sizeof(*s->frames)))
		return reader_fail(s->out, s->in, PPROF_UNIT_BYTE);
	if (!sample_fields(s, record, &sample))
		return bad_record(s, offset, "sample");
	if (!s->has_samples)
		pb_stage_first_sample(s, sample.nr_values);
	if (sample.nr_values != s->out->profile->nr_types)
		return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				      offset, "sample has %zu values, expected "
				      "%zu as there are sample types",
				      sample.nr_values,
				      s->out->profile->nr_types);
	lset = builder_lset(s->out, s->labels, sample.nr_labels);
	builder_add(s->out, s->frames, sample.nr_frames, lset, sample.values,
		    PPROF_UNIT_BYTE, offset);
	return s->out->status;
}

/* ----------------------------------------------------------- other records */

static void *scratch_alloc(void *ctx, size_t nr)
{
	struct stage *s = ctx;
	void *ptr = arena_alloc(&s->scratch, nr, 1);

	/* Unpacking fails alike for damage and for want of memory. */
	s->no_memory |= !ptr;
	return ptr;
}

static void scratch_free(void *ctx, void *ptr)
{
	(void)ctx;
	(void)ptr;
}

static enum pprof_status read_type(struct stage *s,
				   const struct field *record,
				   uint64_t offset, bool is_period)
{
	Perftools__Profiles__ValueType *m;

	m = perftools__profiles__value_type__unpack(&s->allocator, record->len,
						    record->data);
	if (!m)
		return bad_record(s, offset, is_period ? "period_type" :
				  "sample_type");
	if (is_period) {
		s->period_type = m->type;
		s->period_unit = m->unit;
		return PPROF_OK;
	}
	return pb_stage_type(s, m->type, m->unit, offset);
}

static enum pprof_status read_mapping(struct stage *s,
				      const struct field *record,
				      uint64_t offset)
{
	Perftools__Profiles__Mapping *m;
	struct staged_mapping row;

	m = perftools__profiles__mapping__unpack(&s->allocator, record->len,
						 record->data);
	if (!m)
		return bad_record(s, offset, "mapping");
	memset(&row, 0, sizeof(row));
	row.id = m->id;
	row.file = m->filename;
	row.build_id = m->build_id;
	row.map.start = m->memory_start;
	row.map.limit = m->memory_limit;
	row.map.offset = m->file_offset;
	row.map.flags = (m->has_functions ? MAP_HAS_FUNCTIONS : 0) |
			(m->has_filenames ? MAP_HAS_FILENAMES : 0) |
			(m->has_line_numbers ? MAP_HAS_LINE_NUMBERS : 0) |
			(m->has_inline_frames ? MAP_HAS_INLINE_FRAMES : 0);
	return pb_stage_mapping(s, &row, offset);
}

static enum pprof_status read_function(struct stage *s,
				       const struct field *record,
				       uint64_t offset)
{
	Perftools__Profiles__Function *m;
	struct staged_function row;

	m = perftools__profiles__function__unpack(&s->allocator, record->len,
						  record->data);
	if (!m)
		return bad_record(s, offset, "function");
	memset(&row, 0, sizeof(row));
	row.id = m->id;
	row.name = m->name;
	row.system_name = m->system_name;
	row.file = m->filename;
	row.start_line = m->start_line;
	return pb_stage_function(s, &row, offset);
}

static enum pprof_status read_location(struct stage *s,
				       const struct field *record,
				       uint64_t offset)
{
	Perftools__Profiles__Location *m;
	struct staged_location row;
	struct line line;
	size_t i;

	m = perftools__profiles__location__unpack(&s->allocator, record->len,
						  record->data);
	if (!m)
		return bad_record(s, offset, "location");
	memset(&row, 0, sizeof(row));
	row.id = m->id;
	row.address = m->address;
	row.mapping = m->mapping_id;
	row.is_folded = m->is_folded;
	row.lines = (uint32_t)s->nr_lines;
	row.nr_lines = (uint32_t)m->n_line;
	for (i = 0; i < m->n_line; i++) {
		line.line = m->line[i]->line;
		line.column = pb_stage_column(s, m->line[i]->column, offset);
		line.func = pb_stage_function_number(s, m->line[i]->function_id,
						  offset);
		if (line.func == ID_FAILED || !pb_stage_line(s, &line))
			return bad_record(s, offset, "location");
	}
	return pb_stage_location(s, &row, offset);
}

static enum pprof_status read_string(struct stage *s,
				     const struct field *record,
				     uint64_t offset)
{
	return pb_stage_string(s, (const char *)record->data, record->len,
			    offset);
}

/* ------------------------------------------------------------- the message */

static enum pprof_status read_message(struct stage *s,
				      const struct field *record,
				      uint64_t offset)
{
	arena_reset(&s->scratch);
	switch (record->number) {
	case FIELD_SAMPLE_TYPE:
		return read_type(s, record, offset, false);
	case FIELD_SAMPLE:
		return read_sample(s, record, offset);
	case FIELD_MAPPING:
		return read_mapping(s, record, offset);
	case FIELD_LOCATION:
		return read_location(s, record, offset);
	case FIELD_FUNCTION:
		return read_function(s, record, offset);
	case FIELD_STRING_TABLE:
		return read_string(s, record, offset);
	default:
		return read_type(s, record, offset, true);
	}
}

static enum pprof_status read_scalar(struct stage *s, uint64_t number,
				     uint64_t value, uint64_t offset)
{
	int64_t number_value = (int64_t)value;

	switch (number) {
	case FIELD_DROP_FRAMES:
		s->drop_frames = number_value;
		break;
	case FIELD_KEEP_FRAMES:
		s->keep_frames = number_value;
		break;
	case FIELD_TIME_NANOS:
		return pb_stage_time(s, number_value, offset);
	case FIELD_DURATION_NANOS:
		s->out->profile->duration_ns = number_value;
		break;
	case FIELD_PERIOD:
		s->out->profile->period = number_value;
		break;
	case FIELD_COMMENT:
		return pb_stage_comment(s, number_value);
	case FIELD_DEFAULT_SAMPLE_TYPE:
		s->default_type = number_value;
		break;
	default:
		s->doc_url = number_value;
		break;
	}
	return PPROF_OK;
}

/* A packed run of string indexes of field comment. */
static enum pprof_status read_comments(struct stage *s,
				       const struct field *record,
				       uint64_t offset)
{
	const uint8_t *p = record->data, *end = p + record->len;
	enum pprof_status status = PPROF_OK;
	uint64_t value;

	while (!status && p < end) {
		p = varint(p, end, &value);
		if (!p)
			return bad_record(s, offset, "comment");
		status = pb_stage_comment(s, (int64_t)value);
	}
	return status;
}

static bool is_message(uint64_t number)
{
	return (number >= FIELD_SAMPLE_TYPE && number <= FIELD_STRING_TABLE) ||
	       number == FIELD_PERIOD_TYPE;
}

static bool wire_type_fits(uint64_t number, unsigned type)
{
	if (is_message(number))
		return type == WIRE_LEN;
	return type == WIRE_VARINT ||
	       (type == WIRE_LEN && number == FIELD_COMMENT);
}

static enum pprof_status cut_off(struct stage *s, uint64_t offset,
				 uint64_t number, uint64_t len)
{
	return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			      "input ends in a record of field %s: expected "
			      "%llu bytes, found %zu", number < NR_FIELDS ?
			      field_names[number] : "(unknown)",
			      (unsigned long long)len,
			      (size_t)(s->in->end - s->in->p));
}

/* Content of a length-delimited field; cursor stands behind its length. */
static enum pprof_status take_content(struct stage *s, struct field *f,
				      uint64_t offset)
{
	if (f->value > s->out->limits->inflated_bytes ||
	    cursor_fill(s->in, (size_t)f->value) < f->value)
		return s->in->status ? s->in->status :
		       cut_off(s, offset, f->number, f->value);
	f->data = s->in->p;
	f->len = (size_t)f->value;
	s->in->p += f->len;
	return PPROF_OK;
}

static enum pprof_status bad_key(struct stage *s, uint64_t offset)
{
	return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			      "expected a field of profile.proto, found byte "
			      "0x%02x", s->in->p < s->in->end ? *s->in->p :
			      0u);
}

/* One field of the top level, whatever it is. */
static enum pprof_status read_field(struct stage *s)
{
	static const size_t fixed[] = { [WIRE_I64] = 8, [WIRE_I32] = 4 };
	uint64_t offset = cursor_offset(s->in), key;
	const uint8_t *p;
	struct field f = { 0 };
	enum pprof_status status;

	/* Key and varint value or length. */
	cursor_fill(s->in, 2 * VARINT_MAX);
	p = varint(s->in->p, s->in->end, &key);
	if (!p || !(key >> 3))
		return s->in->status ? s->in->status : bad_key(s, offset);
	f.number = key >> 3;
	f.type = key & 7;
	if (f.type == WIRE_I64 || f.type == WIRE_I32) {
		f.value = fixed[f.type];
	} else if (f.type == WIRE_VARINT || f.type == WIRE_LEN) {
		p = varint(p, s->in->end, &f.value);
		if (!p)
			return bad_key(s, offset);
	} else {
		return bad_key(s, offset);
	}
	s->in->p = p;
	if (f.number < NR_FIELDS && !wire_type_fits(f.number, f.type))
		return bad_record(s, offset, field_names[f.number]);
	if (f.type == WIRE_VARINT)
		return f.number < NR_FIELDS ?
		       read_scalar(s, f.number, f.value, offset) : PPROF_OK;
	status = take_content(s, &f, offset);
	if (status || f.number >= NR_FIELDS)
		return status;
	if (f.number == FIELD_COMMENT)
		return read_comments(s, &f, offset);
	return read_message(s, &f, offset);
}

static enum pprof_status read_pprof(struct cursor *in,
				    const struct read_ctx *ctx,
				    struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct stage s;

	memset(&s, 0, sizeof(s));
	s.in = in;
	s.out = ctx->out;
	s.diags = ctx->diags;
	arena_init(&s.scratch, ctx->out->limits->inflated_bytes);
	s.allocator.alloc = scratch_alloc;
	s.allocator.free = scratch_free;
	s.allocator.allocator_data = &s;
	while (!status && cursor_fill(in, 1))
		status = read_field(&s);
	if (!status)
		status = in->status;
	if (!status)
		status = pb_stage_finish(&s);
	if (status && in->status)
		cursor_status(in, err);
	else if (status && ctx->out->status)
		error_plain(err, status, in->source, "%s", ctx->out->message);
	pb_stage_fini(&s);
	return status;
}

/*
 * No magic exists: the first records must decode as fields of Profile with
 * the right wire types. The last one may be cut by the end of the head.
 */
static int sniff_pprof(const uint8_t *head, size_t nr)
{
	const uint8_t *p = head, *end = head + nr, *next;
	int score = 0;
	struct field f;
	uint64_t key = 0;

	while (p < end && score < 40) {
		next = varint(p, end, &key);
		if (!next || !(key >> 3) || key >> 3 >= NR_FIELDS ||
		    !wire_type_fits(key >> 3, key & 7))
			return 0;
		next = take_field(p, end, &f);
		if (!next)
			return score + 8;
		score += 8;
		p = next;
	}
	return score;
}

const struct reader reader_pprof = {
	.name = "pprof",
	.description = "profiles of pprof (profile.proto), gzipped or not",
	.has_time = true,
	.sniff = sniff_pprof,
	.read = read_pprof,
};
