/* SPDX-License-Identifier: Apache-2.0
 *
 * Staging of a pprof file: numbers for its ids, and the resolution of all
 * references once everything was read.
 */
#include <config.h>

#include "base/mem.h"
#include "input/pprof_stage.h"

#include <string.h>

/* Ids below this are looked up in an array, in practice all of them. */
#define DENSE_IDS ((uint64_t)1 << 20)

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

static uint32_t fail_nomem(struct stage *s)
{
	cursor_fail(s->in, PPROF_NOMEM, PPROF_UNIT_BYTE, "out of memory");
	return ID_FAILED;
}

/* ---------------------------------------------------------------- id tables */

/* Reads the id of a staged row, for the hashed part of a table. */
typedef uint64_t (*staged_id_fn)(const struct stage *s, uint32_t number);

static uint64_t mapping_id(const struct stage *s, uint32_t number)
{
	return s->mappings[number].id;
}

static uint64_t function_id(const struct stage *s, uint32_t number)
{
	return s->functions[number].id;
}

static uint64_t location_id(const struct stage *s, uint32_t number)
{
	return s->locations[number].id;
}

static uint64_t hash_mapping(const void *ctx, uint32_t number)
{
	return hash_u64(mapping_id(ctx, number));
}

static uint64_t hash_function(const void *ctx, uint32_t number)
{
	return hash_u64(function_id(ctx, number));
}

static uint64_t hash_location(const void *ctx, uint32_t number)
{
	return hash_u64(location_id(ctx, number));
}

/* Number of `id`, or 0. */
static uint32_t find_id(const struct stage *s, const struct id_table *table,
			uint64_t id, staged_id_fn id_of)
{
	const struct idmap *map = &table->rest;
	size_t slot;

	if (id < table->nr_dense)
		return table->dense[id];
	if (id < DENSE_IDS || !map->slots)
		return 0;
	slot = idmap_first(map, hash_u64(id));
	for (; map->slots[slot] != IDMAP_FREE; slot = idmap_next(map, slot))
		if (id_of(s, map->slots[slot]) == id)
			return map->slots[slot];
	return 0;
}

/* Remember the number of a new id; its row must be there already. */
static bool put_id(struct stage *s, struct id_table *table, uint64_t id,
		   uint32_t number, idmap_hash_fn hash)
{
	size_t old = table->nr_dense;

	if (id >= DENSE_IDS) {
		if (!idmap_reserve(&table->rest, hash, s))
			return false;
		idmap_put(&table->rest, hash_u64(id), number);
		return true;
	}
	if (id >= old) {
		if (!mem_grow(table->dense, table->nr_dense, (size_t)id + 1,
			      DENSE_IDS))
			return false;
		memset(table->dense + old, 0,
		       (table->nr_dense - old) * sizeof(*table->dense));
	}
	table->dense[id] = number;
	return true;
}

static void id_table_fini(struct id_table *table)
{
	mem_free(table->dense);
	idmap_fini(&table->rest);
}

void pb_stage_fini(struct stage *s)
{
	arena_fini(&s->scratch);
	mem_free(s->strings);
	mem_free(s->mappings);
	mem_free(s->functions);
	mem_free(s->locations);
	mem_free(s->lines);
	id_table_fini(&s->mapping_ids);
	id_table_fini(&s->function_ids);
	id_table_fini(&s->location_ids);
	mem_free(s->comments);
	mem_free(s->frames);
	mem_free(s->labels);
}

/* ----------------------------------------------------------------- staging */

enum pprof_status pb_stage_string(struct stage *s, const char *text, size_t len,
			       uint64_t offset)
{
	size_t before = s->out->profile->strings.nr;
	str_id id;

	if (!s->nr_strings && len)
		return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				      offset, "expected \"\" as the first "
				      "entry of string_table, found '%.*s'",
				      (int)(len > 40 ? 40 : len), text);
	id = builder_str(s->out, text, len);
	if (id == ID_FAILED)
		return s->out->status;
	if (s->nr_strings && s->out->profile->strings.nr == before)
		s->has_equal_strings = true;
	if (!mem_grow(s->strings, s->cap_strings, s->nr_strings + 1,
		      MAX_ROWS)) {
		fail_nomem(s);
		return PPROF_NOMEM;
	}
	s->strings[s->nr_strings++] = id;
	return PPROF_OK;
}

enum pprof_status pb_stage_type(struct stage *s, int64_t type, int64_t unit,
			     uint64_t offset)
{
	if (s->nr_types == SAMPLE_TYPES_MAX)
		return cursor_fail_at(s->in, PPROF_LIMIT, PPROF_UNIT_BYTE,
				      offset, "more than %d sample types",
				      SAMPLE_TYPES_MAX);
	s->types[s->nr_types][0] = type;
	s->types[s->nr_types++][1] = unit;
	return PPROF_OK;
}

void pb_stage_first_sample(struct stage *s, size_t nr_values)
{
	str_id unknown = 0;

	s->has_samples = true;
	/* Types may still follow; in the end their number must be this one. */
	if (nr_values < s->nr_types)
		nr_values = s->nr_types;
	while (s->out->profile->nr_types < nr_values && !s->out->status)
		builder_type(s->out, unknown, unknown);
}

static enum pprof_status bad_id(struct stage *s, uint64_t offset,
				const char *what, uint64_t id)
{
	return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			      id ? "%s id %llu is defined twice" :
			      "%s id is %llu, expected a number above 0", what,
			      (unsigned long long)id);
}

enum pprof_status pb_stage_mapping(struct stage *s,
				const struct staged_mapping *row,
				uint64_t offset)
{
	if (!row->id || find_id(s, &s->mapping_ids, row->id, mapping_id))
		return bad_id(s, offset, "mapping", row->id);
	if (!s->nr_mappings)
		s->nr_mappings = 1;
	if (!mem_grow(s->mappings, s->cap_mappings, s->nr_mappings + 1,
		      MAX_ROWS)) {
		fail_nomem(s);
		return PPROF_NOMEM;
	}
	s->mappings[s->nr_mappings] = *row;
	if (!put_id(s, &s->mapping_ids, row->id, (uint32_t)s->nr_mappings,
		    hash_mapping)) {
		fail_nomem(s);
		return PPROF_NOMEM;
	}
	s->nr_mappings++;
	return PPROF_OK;
}

func_id pb_stage_function_number(struct stage *s, uint64_t id, uint64_t offset)
{
	uint32_t number = find_id(s, &s->function_ids, id, function_id);
	struct staged_function *row;

	if (number)
		return number;
	if (!id) {
		cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			       "a line names no function: function_id is 0");
		return ID_FAILED;
	}
	if (!s->nr_functions)
		s->nr_functions = 1;
	if (!mem_grow(s->functions, s->cap_functions, s->nr_functions + 1,
		      MAX_ROWS))
		return fail_nomem(s);
	number = (uint32_t)s->nr_functions;
	row = &s->functions[number];
	memset(row, 0, sizeof(*row));
	row->id = id;
	row->offset = offset;
	if (!put_id(s, &s->function_ids, id, number, hash_function))
		return fail_nomem(s);
	s->nr_functions++;
	return number;
}

enum pprof_status pb_stage_function(struct stage *s,
				 const struct staged_function *row,
				 uint64_t offset)
{
	func_id number;

	if (!row->id)
		return bad_id(s, offset, "function", row->id);
	number = pb_stage_function_number(s, row->id, offset);
	if (number == ID_FAILED)
		return s->in->status;
	if (s->functions[number].is_defined)
		return bad_id(s, offset, "function", row->id);
	s->functions[number] = *row;
	s->functions[number].offset = offset;
	s->functions[number].is_defined = true;
	return PPROF_OK;
}

loc_id pb_stage_location_number(struct stage *s, uint64_t id, uint64_t offset)
{
	uint32_t number = find_id(s, &s->location_ids, id, location_id);
	struct staged_location *row;

	if (number)
		return number;
	if (!id) {
		cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			       "sample refers to location 0");
		return ID_FAILED;
	}
	if (!s->nr_locations)
		s->nr_locations = 1;
	if (s->nr_locations > s->out->limits->locations) {
		cursor_fail_at(s->in, PPROF_LIMIT, PPROF_UNIT_BYTE, offset,
			       "more than %u locations (limit locations)",
			       s->out->limits->locations);
		return ID_FAILED;
	}
	if (!mem_grow(s->locations, s->cap_locations, s->nr_locations + 1,
		      MAX_ROWS))
		return fail_nomem(s);
	number = (uint32_t)s->nr_locations;
	row = &s->locations[number];
	memset(row, 0, sizeof(*row));
	row->id = id;
	row->address = offset;
	if (!put_id(s, &s->location_ids, id, number, hash_location))
		return fail_nomem(s);
	s->nr_locations++;
	return number;
}

enum pprof_status pb_stage_location(struct stage *s,
				 const struct staged_location *row,
				 uint64_t offset)
{
	loc_id number;

	if (!row->id)
		return bad_id(s, offset, "location", row->id);
	number = pb_stage_location_number(s, row->id, offset);
	if (number == ID_FAILED)
		return s->in->status;
	if (s->locations[number].is_defined)
		return bad_id(s, offset, "location", row->id);
	s->locations[number] = *row;
	s->locations[number].is_defined = true;
	return PPROF_OK;
}

bool pb_stage_line(struct stage *s, const struct line *line)
{
	if (!mem_grow(s->lines, s->cap_lines, s->nr_lines + 1, MAX_ROWS)) {
		fail_nomem(s);
		return false;
	}
	s->lines[s->nr_lines++] = *line;
	return true;
}

int32_t pb_stage_column(struct stage *s, int64_t column, uint64_t offset)
{
	if (column >= INT32_MIN && column <= INT32_MAX)
		return (int32_t)column;
	diag_count(s->diags, PPROF_UNIT_BYTE, offset,
		   "column does not fit 32 bits; it is left out");
	return 0;
}

enum pprof_status pb_stage_time(struct stage *s, int64_t time_ns,
			     uint64_t offset)
{
	if (time_ns && s->has_time)
		return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				      offset, "a second time_nanos: two "
				      "profiles stand in one file");
	s->has_time = time_ns != 0;
	s->out->profile->time_ns = time_ns;
	return PPROF_OK;
}

enum pprof_status pb_stage_comment(struct stage *s, int64_t index)
{
	if (!mem_grow(s->comments, s->cap_comments, s->nr_comments + 1,
		      MAX_ROWS)) {
		fail_nomem(s);
		return PPROF_NOMEM;
	}
	s->comments[s->nr_comments++] = index;
	return PPROF_OK;
}

/* -------------------------------------------------------------- resolution */

/* String of a file index; 0 after failing the cursor. */
static str_id resolve(struct stage *s, int64_t index, uint64_t offset,
		      const char *field)
{
	if (index >= 0 && (uint64_t)index < s->nr_strings)
		return s->strings[index];
	if (!index)
		return 0;
	cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
		       "field %s refers to string %lld; string_table has %zu",
		       field, (long long)index, s->nr_strings);
	return 0;
}

static enum pprof_status resolve_header(struct stage *s)
{
	struct pprof_profile *p = s->out->profile;
	uint64_t end = cursor_offset(s->in);
	size_t i;

	if (s->has_samples && p->nr_types != s->nr_types)
		return cursor_fail(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				   "samples have %zu values, expected %zu as "
				   "there are sample types", p->nr_types,
				   s->nr_types);
	if (!s->nr_types)
		return cursor_fail(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				   "expected at least one sample_type, found "
				   "none: this is no profile");
	for (i = 0; i < s->nr_types; i++) {
		if (!s->has_samples)
			builder_type(s->out, 0, 0);
		p->types[i].type = resolve(s, s->types[i][0], end,
					   "sample_type.type");
		p->types[i].unit = resolve(s, s->types[i][1], end,
					   "sample_type.unit");
	}
	p->period_type.type = resolve(s, s->period_type, end,
				      "period_type.type");
	p->period_type.unit = resolve(s, s->period_unit, end,
				      "period_type.unit");
	p->drop_frames = resolve(s, s->drop_frames, end, "drop_frames");
	p->keep_frames = resolve(s, s->keep_frames, end, "keep_frames");
	p->default_type = resolve(s, s->default_type, end,
				  "default_sample_type");
	p->doc_url = resolve(s, s->doc_url, end, "doc_url");
	for (i = 0; i < s->nr_comments; i++)
		builder_comment(s->out, resolve(s, s->comments[i], end,
						"comment"));
	return s->in->status;
}

/* The first mapping of a file is the main binary, by convention. */
static enum pprof_status resolve_mappings(struct stage *s)
{
	uint64_t end = cursor_offset(s->in);
	size_t i;

	for (i = 1; i < s->nr_mappings && !s->in->status; i++) {
		struct staged_mapping *row = &s->mappings[i];

		row->map.file = resolve(s, row->file, end, "mapping.filename");
		row->map.build_id = resolve(s, row->build_id, end,
					    "mapping.build_id");
		if (i == 1)
			row->map.flags |= MAP_MAIN;
		if (builder_mapping(s->out, &row->map) == ID_FAILED)
			return s->out->status;
	}
	return s->in->status;
}

static enum pprof_status undefined(struct stage *s, uint64_t offset,
				   const char *who, const char *what,
				   uint64_t id)
{
	return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_BYTE, offset,
			      "%s refers to %s %llu, which is not defined",
			      who, what, (unsigned long long)id);
}

/* Profile function by staged number; NULL after failing. */
static func_id *resolve_functions(struct stage *s)
{
	func_id *final = mem_zalloc(s->nr_functions, sizeof(*final));
	struct function func = { 0 };
	size_t i;

	if (!final)
		fail_nomem(s);
	for (i = 1; final && i < s->nr_functions; i++) {
		const struct staged_function *row = &s->functions[i];

		if (!row->is_defined)
			undefined(s, row->offset, "line", "function",
				  row->id);
		func.name = resolve(s, row->name, row->offset,
				    "function.name");
		func.system_name = resolve(s, row->system_name, row->offset,
					   "function.system_name");
		func.file = resolve(s, row->file, row->offset,
				    "function.filename");
		func.start_line = row->start_line;
		final[i] = builder_function(s->out, &func);
		if (s->in->status || s->out->status) {
			mem_free(final);
			return NULL;
		}
	}
	return final;
}

static map_id resolve_mapping(struct stage *s, uint64_t id)
{
	map_id map = id ? find_id(s, &s->mapping_ids, id, mapping_id) : 0;

	if (id && !map)
		diag_count(s->diags, PPROF_UNIT_NONE, 0,
			   "location refers to mapping %llu, which is not "
			   "defined; it is in no mapping",
			   (unsigned long long)id);
	return map;
}

/* Profile location by staged number; NULL after failing. */
static loc_id *resolve_locations(struct stage *s)
{
	loc_id *final = mem_zalloc(s->nr_locations, sizeof(*final));
	size_t i;

	if (!final)
		fail_nomem(s);
	for (i = 1; final && i < s->nr_locations; i++) {
		const struct staged_location *row = &s->locations[i];

		if (!row->is_defined)
			undefined(s, row->address, "sample", "location",
				  row->id);
		else
			final[i] = builder_location(s->out, row->address,
				resolve_mapping(s, row->mapping),
				row->is_folded,
				row->nr_lines ? s->lines + row->lines : NULL,
				row->nr_lines);
		if (s->in->status || s->out->status) {
			mem_free(final);
			return NULL;
		}
	}
	return final;
}

static enum pprof_status resolve_labels(struct stage *s)
{
	struct pprof_profile *p = s->out->profile;
	uint64_t end = cursor_offset(s->in);
	size_t i;

	for (i = 0; i < p->nr_labels; i++) {
		struct label *label = &p->labels[i];

		label->key = resolve(s, label->key, end, "label.key");
		label->str = resolve(s, label->str, end, "label.str");
		label->unit = resolve(s, label->unit, end, "label.num_unit");
		/* "" may stand at any index. */
		label->is_num = !label->str;
	}
	return s->in->status;
}

/* Two staged locations are one, or two label sets may be. */
static bool needs_rebuild(const struct stage *s, const loc_id *final)
{
	size_t i;

	if (s->has_equal_strings && s->out->profile->nr_labels)
		return true;
	for (i = 1; i < s->nr_locations; i++)
		if (final[i] != i)
			return true;
	return false;
}

/* Add the samples of `old` again, their locations replaced. */
static void readd_samples(struct stage *s, const struct pprof_profile *old,
			  const loc_id *final, loc_id *frames)
{
	int64_t values[SAMPLE_TYPES_MAX];
	const struct lset *lset;
	size_t i, j, depth;
	lset_id labels;

	for (i = 0; i < old->nr_samples && !s->out->status; i++) {
		depth = stacks_depth(&old->stacks, old->sample_stack[i]);
		stacks_leaf_first(&old->stacks, old->sample_stack[i], frames);
		for (j = 0; j < depth; j++)
			frames[j] = final[frames[j]];
		lset = &old->lsets[old->sample_lset ? old->sample_lset[i] :
				   0];
		labels = builder_lset(s->out, old->labels + lset->labels,
				      lset->nr);
		for (j = 0; j < old->nr_types; j++)
			values[j] = old->values[j][i];
		builder_add(s->out, frames, depth, labels, values,
			    PPROF_UNIT_NONE, 0);
	}
}

static size_t deepest(const struct pprof_profile *p)
{
	size_t i, depth, max = 1;

	for (i = 0; i < p->nr_samples; i++) {
		depth = stacks_depth(&p->stacks, p->sample_stack[i]);
		if (depth > max)
			max = depth;
	}
	return max;
}

/* Rare: the file repeats rows. Build stacks, sets and samples anew. */
static enum pprof_status rebuild(struct stage *s, const loc_id *final)
{
	struct builder fresh;
	struct pprof_profile *p = s->out->profile, *q;
	loc_id *frames = mem_alloc(deepest(p), sizeof(*frames));
	struct pprof_profile swapped;
	size_t i;

	if (!frames || !builder_init(&fresh, s->out->limits, s->diags)) {
		mem_free(frames);
		fail_nomem(s);
		return PPROF_NOMEM;
	}
	q = fresh.profile;
	for (i = 0; i < p->nr_types; i++)
		builder_type(&fresh, p->types[i].type, p->types[i].unit);
	{
		struct builder *out = s->out;

		s->out = &fresh;
		readd_samples(s, p, final, frames);
		builder_flush(&fresh);
		s->out = out;
	}
	/* Exchange what was rebuilt; the tables of rows stay. */
	swapped = *p;
	p->stacks = q->stacks;
	p->labels = q->labels;
	p->nr_labels = q->nr_labels;
	p->cap_labels = q->cap_labels;
	p->lsets = q->lsets;
	p->nr_lsets = q->nr_lsets;
	p->cap_lsets = q->cap_lsets;
	p->sample_stack = q->sample_stack;
	p->sample_lset = q->sample_lset;
	memcpy(p->values, q->values, sizeof(p->values));
	p->nr_samples = q->nr_samples;
	p->cap_samples = q->cap_samples;
	q->stacks = swapped.stacks;
	q->labels = swapped.labels;
	q->lsets = swapped.lsets;
	q->sample_stack = swapped.sample_stack;
	q->sample_lset = swapped.sample_lset;
	memcpy(q->values, swapped.values, sizeof(q->values));
	if (fresh.status && !s->out->status) {
		s->out->status = fresh.status;
		memcpy(s->out->message, fresh.message,
		       sizeof(fresh.message));
	}
	builder_fini(&fresh);
	mem_free(frames);
	return s->out->status;
}

enum pprof_status pb_stage_finish(struct stage *s)
{
	enum pprof_status status;
	func_id *functions = NULL;
	loc_id *locations = NULL;
	size_t i;

	builder_flush(s->out);
	status = resolve_header(s);
	if (!status)
		status = resolve_mappings(s);
	if (!status)
		status = resolve_labels(s);
	if (status)
		return status;
	functions = resolve_functions(s);
	for (i = 0; functions && i < s->nr_lines; i++)
		s->lines[i].func = functions[s->lines[i].func];
	if (functions)
		locations = resolve_locations(s);
	if (locations && needs_rebuild(s, locations))
		rebuild(s, locations);
	mem_free(functions);
	mem_free(locations);
	return s->in->status ? s->in->status : s->out->status;
}
