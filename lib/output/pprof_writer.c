/* SPDX-License-Identifier: Apache-2.0
 *
 * Writer of pprof profiles (profile.proto) in canonical order: the same
 * content gives the same bytes. Samples are packed while walking the tree of
 * stacks, so that shared upper frames are encoded once.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/gzip.h"
#include "output/writer.h"
#include "profile/canon.h"

#include <endian.h>
#include <string.h>

#include "profile/profile.pb-c.h"

/* Keys of fields: number << 3 | wire type. */
enum {
	KEY_SAMPLE_TYPE = 1 << 3 | 2,
	KEY_SAMPLE = 2 << 3 | 2,
	KEY_MAPPING = 3 << 3 | 2,
	KEY_LOCATION = 4 << 3 | 2,
	KEY_FUNCTION = 5 << 3 | 2,
	KEY_STRING_TABLE = 6 << 3 | 2,
	KEY_DROP_FRAMES = 7 << 3,
	KEY_KEEP_FRAMES = 8 << 3,
	KEY_TIME_NANOS = 9 << 3,
	KEY_DURATION_NANOS = 10 << 3,
	KEY_PERIOD_TYPE = 11 << 3 | 2,
	KEY_PERIOD = 12 << 3,
	KEY_COMMENT = 13 << 3,
	KEY_DEFAULT_SAMPLE_TYPE = 14 << 3,
	KEY_DOC_URL = 15 << 3,
	SAMPLE_KEY_LOCATION_ID = 1 << 3 | 2,
	SAMPLE_KEY_VALUE = 2 << 3 | 2,
	SAMPLE_KEY_LABEL = 3 << 3 | 2,
	LABEL_KEY_KEY = 1 << 3,
	LABEL_KEY_STR = 2 << 3,
	LABEL_KEY_NUM = 3 << 3,
	LABEL_KEY_NUM_UNIT = 4 << 3
};

#define VARINT_MAX 10

/* Location ids have 32 bits: five groups of seven. */
#define ID_VARINT_MAX 5

/* Encoded label: three members of a key byte and a varint each. */
#define LABEL_MAX (4 * (1 + VARINT_MAX))

struct pprof_writer {
	const struct pprof_profile *profile;
	struct canon canon;
	struct gzip_writer gzip;
	struct pprof_error *err;

	uint32_t *str_number;  /* [strings.nr] 0: not yet used */
	str_id *str_order;     /* in order of first use */
	size_t nr_strings;

	/* Packed location ids of the stack at hand, leaf first; filled from
	 * the end, so that going to a child puts its ids in front. */
	uint8_t *path;
	size_t path_cap;
	size_t path_front;

	uint8_t *message;      /* scratch of protobuf-c */
	size_t message_cap;
};

static size_t put_varint(uint8_t *out, uint64_t value)
{
	size_t nr = 0;

	while (value > 0x7f) {
		out[nr++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[nr++] = (uint8_t)value;
	return nr;
}

static void buf_varint(struct buf *buf, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	buf_add(buf, bytes, put_varint(bytes, value));
}

static void buf_scalar(struct buf *buf, unsigned key, int64_t value)
{
	if (!value)
		return;
	buf_varint(buf, key);
	buf_varint(buf, (uint64_t)value);
}

/* String index in the file, given at first use. Index 0 is "". */
static uint32_t str_number(struct pprof_writer *w, str_id id)
{
	if (!id)
		return 0;
	if (!w->str_number[id]) {
		w->str_order[w->nr_strings++] = id;
		w->str_number[id] = (uint32_t)w->nr_strings;
	}
	return w->str_number[id];
}

/* -------------------------------------------------------- few-record fields */

/* Pack a message with protobuf-c behind its key and length. */
static enum pprof_status add_message(struct pprof_writer *w, unsigned key,
				     const ProtobufCMessage *message)
{
	size_t len = protobuf_c_message_get_packed_size(message);
	struct buf *buf = gzip_writer_buf(&w->gzip);

	if (!mem_grow(w->message, w->message_cap, len, PTRDIFF_MAX))
		return error_nomem(w->err);
	protobuf_c_message_pack(message, w->message);
	buf_varint(buf, key);
	buf_varint(buf, len);
	buf_add(buf, w->message, len);
	return gzip_writer_step(&w->gzip, w->err);
}

static enum pprof_status add_value_type(struct pprof_writer *w, unsigned key,
					struct value_type type)
{
	Perftools__Profiles__ValueType m =
		PERFTOOLS__PROFILES__VALUE_TYPE__INIT;

	m.type = str_number(w, type.type);
	m.unit = str_number(w, type.unit);
	return add_message(w, key, &m.base);
}

static enum pprof_status add_mapping(struct pprof_writer *w, uint64_t number,
				     const struct mapping *map)
{
	Perftools__Profiles__Mapping m = PERFTOOLS__PROFILES__MAPPING__INIT;

	m.id = number;
	m.memory_start = map->start;
	m.memory_limit = map->limit;
	m.file_offset = map->offset;
	m.filename = str_number(w, map->file);
	m.build_id = str_number(w, map->build_id);
	m.has_functions = (map->flags & MAP_HAS_FUNCTIONS) != 0;
	m.has_filenames = (map->flags & MAP_HAS_FILENAMES) != 0;
	m.has_line_numbers = (map->flags & MAP_HAS_LINE_NUMBERS) != 0;
	m.has_inline_frames = (map->flags & MAP_HAS_INLINE_FRAMES) != 0;
	return add_message(w, KEY_MAPPING, &m.base);
}

static enum pprof_status add_location(struct pprof_writer *w, uint64_t number,
				      const struct location *loc,
				      Perftools__Profiles__Line *lines,
				      Perftools__Profiles__Line **pointers)
{
	Perftools__Profiles__Location m = PERFTOOLS__PROFILES__LOCATION__INIT;
	const struct line *line = w->profile->lines + loc->lines;
	uint32_t i;

	m.id = number;
	m.mapping_id = w->canon.map_number[loc->mapping];
	m.address = loc->address;
	m.is_folded = loc->is_folded != 0;
	m.n_line = loc->nr_lines;
	m.line = pointers;
	for (i = 0; i < loc->nr_lines; i++) {
		perftools__profiles__line__init(&lines[i]);
		lines[i].function_id = w->canon.func_number[line[i].func];
		lines[i].line = line[i].line;
		lines[i].column = line[i].column;
		pointers[i] = &lines[i];
	}
	return add_message(w, KEY_LOCATION, &m.base);
}

static enum pprof_status add_function(struct pprof_writer *w, uint64_t number,
				      const struct function *func)
{
	Perftools__Profiles__Function m = PERFTOOLS__PROFILES__FUNCTION__INIT;

	m.id = number;
	m.name = str_number(w, func->name);
	m.system_name = str_number(w, func->system_name);
	m.filename = str_number(w, func->file);
	m.start_line = func->start_line;
	return add_message(w, KEY_FUNCTION, &m.base);
}

static uint32_t most_lines(const struct pprof_writer *w)
{
	uint32_t max = 1;
	size_t i;

	for (i = 0; i < w->canon.nr_locs; i++) {
		const struct location *loc =
			&w->profile->locations[w->canon.loc_order[i]];

		if (loc->nr_lines > max)
			max = loc->nr_lines;
	}
	return max;
}

static enum pprof_status add_locations(struct pprof_writer *w)
{
	uint32_t max = most_lines(w);
	Perftools__Profiles__Line *lines = mem_alloc(max, sizeof(*lines));
	Perftools__Profiles__Line **pointers =
		mem_alloc(max, sizeof(*pointers));
	enum pprof_status status = PPROF_OK;
	size_t i;

	if (!lines || !pointers)
		status = error_nomem(w->err);
	for (i = 0; !status && i < w->canon.nr_locs; i++)
		status = add_location(w, i + 1, &w->profile->locations
				      [w->canon.loc_order[i]], lines,
				      pointers);
	mem_free(lines);
	mem_free(pointers);
	return status;
}

static enum pprof_status add_rows(struct pprof_writer *w)
{
	const struct pprof_profile *p = w->profile;
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && i < w->canon.nr_maps; i++)
		status = add_mapping(w, i + 1,
				     &p->mappings[w->canon.map_order[i]]);
	if (!status)
		status = add_locations(w);
	for (i = 0; !status && i < w->canon.nr_funcs; i++)
		status = add_function(w, i + 1,
				      &p->functions[w->canon.func_order[i]]);
	return status;
}

/* ------------------------------------------------------------------ samples */

/* Make room for `need` bytes in front of the path. */
static bool grow_path(struct pprof_writer *w, size_t need)
{
	size_t len = w->path_cap - w->path_front;
	size_t cap = w->path_cap * 2 + need;
	uint8_t *bigger = mem_alloc(cap, 1);

	if (!bigger)
		return false;
	if (len)
		memcpy(bigger + cap - len, w->path + w->path_front, len);
	mem_free(w->path);
	w->path = bigger;
	w->path_cap = cap;
	w->path_front = cap - len;
	return true;
}

/*
 * Put a run's ids in front of the path; the run is root-most first. Each id
 * is spread into groups of seven bits and stored as eight bytes that end
 * where the path begins: what is too much lies before it, in free room.
 */
static bool push_run(struct pprof_writer *w, const struct stack_node *node)
{
	const loc_id *run = w->profile->stacks.locs + node->run;
	size_t need = (size_t)node->nr_locs * ID_VARINT_MAX + sizeof(uint64_t);
	uint8_t *front;
	uint32_t i;

	if (need > w->path_front && !grow_path(w, need))
		return false;
	front = w->path + w->path_front;
	for (i = 0; i < node->nr_locs; i++) {
		uint64_t id = w->canon.loc_number[run[i]];
		unsigned len = 1u + (id >= 1u << 7) + (id >= 1u << 14) +
			       (id >= 1u << 21) + (id >= 1u << 28);
		uint64_t more = UINT64_C(0x0080808080) &
				((UINT64_C(1) << 8 * (len - 1)) - 1);

		id = (id & 0x7f) | (id & 0x3f80) << 1 | (id & 0x1fc000) << 2 |
		     (id & 0xfe00000) << 3 | (id & 0xf0000000) << 4 | more;
		id = htole64(id << (64 - 8 * len));
		memcpy(front - sizeof(id), &id, sizeof(id));
		front -= len;
	}
	w->path_front = (size_t)(front - w->path);
	return true;
}

static size_t put_member(uint8_t *out, unsigned key, uint64_t value)
{
	if (!value)
		return 0;
	out[0] = (uint8_t)key;
	return 1 + put_varint(out + 1, value);
}

static size_t put_label(struct pprof_writer *w, uint8_t *out,
			const struct label *label)
{
	uint8_t body[LABEL_MAX];
	size_t len = 0;

	len += put_member(body + len, LABEL_KEY_KEY,
			  str_number(w, label->key));
	len += put_member(body + len, LABEL_KEY_STR,
			  str_number(w, label->str));
	len += put_member(body + len, LABEL_KEY_NUM, (uint64_t)label->num);
	len += put_member(body + len, LABEL_KEY_NUM_UNIT,
			  str_number(w, label->unit));
	out[0] = SAMPLE_KEY_LABEL;
	out[1] = (uint8_t)len; /* at most LABEL_MAX, one byte */
	memcpy(out + 2, body, len);
	return len + 2;
}

static size_t put_values(const struct pprof_profile *p, uint8_t *out,
			 uint32_t sample)
{
	uint8_t body[SAMPLE_TYPES_MAX * VARINT_MAX];
	size_t len = 0, head, i;

	for (i = 0; i < p->nr_types; i++)
		len += put_varint(body + len,
				  (uint64_t)p->values[i][sample]);
	out[0] = SAMPLE_KEY_VALUE;
	head = 1 + put_varint(out + 1, len);
	memcpy(out + head, body, len);
	return head + len;
}

/* One record: the path, the values, the labels. */
static enum pprof_status add_sample(struct pprof_writer *w, uint32_t sample)
{
	const struct pprof_profile *p = w->profile;
	const struct lset *lset = &p->lsets[p->sample_lset ?
					    p->sample_lset[sample] : 0];
	size_t path_len = w->path_cap - w->path_front, len, i;
	struct buf *buf = gzip_writer_buf(&w->gzip);
	size_t labels_max = lset->nr * (LABEL_MAX + 2);
	uint8_t head[2 + VARINT_MAX], *tail;
	size_t head_len = 0;

	if (!mem_grow(w->message, w->message_cap, labels_max + 2 * VARINT_MAX +
		      p->nr_types * VARINT_MAX, PTRDIFF_MAX))
		return error_nomem(w->err);
	tail = w->message;
	len = put_values(p, tail, sample);
	for (i = 0; i < lset->nr; i++)
		len += put_label(w, tail + len, &p->labels
				 [w->canon.label_order[lset->labels + i]]);
	if (path_len) {
		head[0] = SAMPLE_KEY_LOCATION_ID;
		head_len = 1 + put_varint(head + 1, path_len);
	}
	buf_byte(buf, KEY_SAMPLE);
	buf_varint(buf, head_len + path_len + len);
	buf_add(buf, head, head_len);
	if (path_len)
		buf_add(buf, w->path + w->path_front, path_len);
	buf_add(buf, tail, len);
	return gzip_writer_step(&w->gzip, w->err);
}

static enum pprof_status add_node_samples(struct pprof_writer *w,
					  stack_id node)
{
	enum pprof_status status = PPROF_OK;
	uint32_t i;

	for (i = w->canon.sample_start[node];
	     !status && i < w->canon.sample_start[node + 1]; i++)
		status = add_sample(w, w->canon.samples[i]);
	return status;
}

/* How many nodes ahead of their use rows are fetched into the cache. */
#define PREFETCH_AHEAD 48

/*
 * The rows of neighbours in canonical order lie far apart in memory. Fetch
 * in stages: node rows first, what they lead to half way. Always inline: gcc
 * takes a function that only prefetches for one that does nothing.
 */
__attribute__((always_inline))
static inline void prefetch_nodes(const struct pprof_writer *w, size_t i,
				  size_t nr)
{
	const struct stacks *stacks = &w->profile->stacks;
	const struct canon *c = &w->canon;
	uint32_t sample;
	stack_id node;

	if (i + PREFETCH_AHEAD < nr) {
		node = c->preorder[i + PREFETCH_AHEAD];
		__builtin_prefetch(&stacks->nodes[node]);
		__builtin_prefetch(&c->sample_start[node]);
	}
	if (i + PREFETCH_AHEAD / 2 < nr) {
		node = c->preorder[i + PREFETCH_AHEAD / 2];
		__builtin_prefetch(&stacks->locs[stacks->nodes[node].run]);
		__builtin_prefetch(&c->samples[c->sample_start[node]]);
	}
	if (i + PREFETCH_AHEAD / 4 < nr) {
		node = c->preorder[i + PREFETCH_AHEAD / 4];
		if (c->sample_start[node] == c->sample_start[node + 1])
			return;
		sample = c->samples[c->sample_start[node]];
		__builtin_prefetch(&w->profile->values[0][sample]);
		__builtin_prefetch(&w->profile->values
				   [w->profile->nr_types - 1][sample]);
	}
}

/* A node on the way down to the one at hand, and the path up to its end. */
struct walk_step {
	stack_id node;
	size_t path_len;
};

/* Along the canonical order of nodes; the steps say where a parent ends. */
static enum pprof_status add_samples(struct pprof_writer *w)
{
	const struct stacks *stacks = &w->profile->stacks;
	enum pprof_status status = add_node_samples(w, 0);
	size_t cap = 0, depth = 0, nr = stacks->nr - 1, i;
	struct walk_step *steps = NULL;

	for (i = 0; !status && i < nr; i++) {
		stack_id id = w->canon.preorder[i];
		const struct stack_node *node = &stacks->nodes[id];

		prefetch_nodes(w, i, nr);
		while (depth && steps[depth - 1].node != node->parent)
			depth--;
		w->path_front = w->path_cap -
				(depth ? steps[depth - 1].path_len : 0);
		if (!push_run(w, node) ||
		    !mem_grow(steps, cap, depth + 1,
			      PTRDIFF_MAX / sizeof(*steps))) {
			status = error_nomem(w->err);
			break;
		}
		steps[depth].node = id;
		steps[depth++].path_len = w->path_cap - w->path_front;
		status = add_node_samples(w, id);
	}
	mem_free(steps);
	return status;
}

/* ---------------------------------------------------------------- the file */

static enum pprof_status add_strings(struct pprof_writer *w)
{
	struct buf *buf = gzip_writer_buf(&w->gzip);
	const struct strtab *strings = &w->profile->strings;
	enum pprof_status status = PPROF_OK;
	size_t i;

	buf_varint(buf, KEY_STRING_TABLE);
	buf_varint(buf, 0);
	for (i = 0; !status && i < w->nr_strings; i++) {
		str_id id = w->str_order[i];

		buf_varint(buf, KEY_STRING_TABLE);
		buf_varint(buf, strtab_len(strings, id));
		buf_add(buf, strtab_text(strings, id),
			strtab_len(strings, id));
		status = gzip_writer_step(&w->gzip, w->err);
	}
	return status;
}

/* Scalars first number their strings, which stand before them in the file. */
static enum pprof_status add_tail(struct pprof_writer *w)
{
	const struct pprof_profile *p = w->profile;
	struct buf *buf = gzip_writer_buf(&w->gzip);
	enum pprof_status status;
	size_t i;

	str_number(w, p->drop_frames);
	str_number(w, p->keep_frames);
	str_number(w, p->period_type.type);
	str_number(w, p->period_type.unit);
	for (i = 0; i < p->nr_comments; i++)
		str_number(w, p->comments[i]);
	str_number(w, p->default_type);
	str_number(w, p->doc_url);
	status = add_strings(w);
	if (status)
		return status;
	buf_scalar(buf, KEY_DROP_FRAMES, str_number(w, p->drop_frames));
	buf_scalar(buf, KEY_KEEP_FRAMES, str_number(w, p->keep_frames));
	buf_scalar(buf, KEY_TIME_NANOS, p->time_ns);
	buf_scalar(buf, KEY_DURATION_NANOS, p->duration_ns);
	if (p->period_type.type || p->period_type.unit) {
		status = add_value_type(w, KEY_PERIOD_TYPE, p->period_type);
		if (status)
			return status;
	}
	buf_scalar(buf, KEY_PERIOD, p->period);
	for (i = 0; i < p->nr_comments; i++) {
		buf_varint(buf, KEY_COMMENT);
		buf_varint(buf, str_number(w, p->comments[i]));
	}
	buf_scalar(buf, KEY_DEFAULT_SAMPLE_TYPE,
		   str_number(w, p->default_type));
	buf_scalar(buf, KEY_DOC_URL, str_number(w, p->doc_url));
	return PPROF_OK;
}

static enum pprof_status add_all(struct pprof_writer *w)
{
	const struct pprof_profile *p = w->profile;
	enum pprof_status status = PPROF_OK;
	size_t i;

	w->str_number = mem_zalloc(p->strings.nr, sizeof(*w->str_number));
	w->str_order = mem_alloc(p->strings.nr, sizeof(*w->str_order));
	if (!w->str_number || !w->str_order)
		return error_nomem(w->err);
	for (i = 0; !status && i < p->nr_types; i++)
		status = add_value_type(w, KEY_SAMPLE_TYPE, p->types[i]);
	if (!status)
		status = add_samples(w);
	if (!status)
		status = add_rows(w);
	if (!status)
		status = add_tail(w);
	if (!status)
		status = gzip_writer_finish(&w->gzip, w->err);
	return status;
}

static enum pprof_status write_pprof(const struct pprof_profile *profile,
				     const struct pprof_write_opts *opts,
				     struct pprof_sink *sink,
				     struct pprof_error *err)
{
	enum pprof_status status;
	struct pprof_writer w;

	memset(&w, 0, sizeof(w));
	w.profile = profile;
	w.err = err;
	status = canon_init(&w.canon, profile, err);
	if (status)
		return status;
	gzip_writer_init(&w.gzip, sink, opts->level);
	status = add_all(&w);
	gzip_writer_fini(&w.gzip);
	canon_fini(&w.canon);
	mem_free(w.str_number);
	mem_free(w.str_order);
	mem_free(w.path);
	mem_free(w.message);
	return status;
}

const struct writer writer_pprof = {
	.name = "pprof",
	.description = "gzipped profile.proto, for pprof and all that reads it",
	.is_binary = true,
	.write = write_pprof,
};
