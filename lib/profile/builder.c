/* SPDX-License-Identifier: Apache-2.0
 *
 * Interning builder of profiles. Failure is sticky, so that readers look
 * once, at the end.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/builder.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

static uint32_t fail(struct builder *b, enum pprof_status status,
		     const char *what)
{
	if (!b->status) {
		b->status = status;
		format_masked(b->message, sizeof(b->message), "%s", what);
	}
	return ID_FAILED;
}

static uint32_t fail_nomem(struct builder *b)
{
	return fail(b, PPROF_NOMEM, "out of memory");
}

/* Rows hold no padding (`reserved` members are 0), so bytes are the key. */
_Static_assert(sizeof(struct function) == 24, "function has padding");
_Static_assert(sizeof(struct line) == 16, "line has padding");
_Static_assert(sizeof(struct label) == 24, "label has padding");
_Static_assert(sizeof(struct location) == 24, "location has padding");

static uint64_t hash_function(const void *ctx, uint32_t id)
{
	const struct builder *b = ctx;

	return XXH3_64bits(&b->profile->functions[id],
			   sizeof(struct function));
}

static uint64_t hash_location_key(uint64_t address, map_id mapping,
				  const struct line *lines, size_t nr)
{
	uint64_t hash = hash_u64(address ^ (uint64_t)mapping << 48);

	if (nr)
		hash ^= XXH3_64bits(lines, nr * sizeof(*lines));
	return hash;
}

static uint64_t hash_location(const void *ctx, uint32_t id)
{
	const struct builder *b = ctx;
	const struct location *loc = &b->profile->locations[id];

	return hash_location_key(loc->address, loc->mapping,
				 b->profile->lines + loc->lines,
				 loc->nr_lines);
}

static uint64_t hash_lset(const void *ctx, uint32_t id)
{
	const struct builder *b = ctx;
	const struct lset *lset = &b->profile->lsets[id];

	return XXH3_64bits(b->profile->labels + lset->labels,
			   lset->nr * sizeof(struct label));
}

/* First rows of the tables, where id 0 is "none" or "empty". */
static bool make_first_rows(struct pprof_profile *p)
{
	if (!mem_grow(p->mappings, p->cap_mappings, 1, MAX_ROWS) ||
	    !mem_grow(p->functions, p->cap_functions, 1, MAX_ROWS) ||
	    !mem_grow(p->locations, p->cap_locations, 1, MAX_ROWS) ||
	    !mem_grow(p->lsets, p->cap_lsets, 1, MAX_ROWS) ||
	    /* No row, but a place that empty runs can point to. */
	    !mem_grow(p->labels, p->cap_labels, 1, MAX_ROWS) ||
	    !mem_grow(p->lines, p->cap_lines, 1, MAX_ROWS))
		return false;
	memset(p->mappings, 0, sizeof(*p->mappings));
	memset(p->functions, 0, sizeof(*p->functions));
	memset(p->locations, 0, sizeof(*p->locations));
	memset(p->lsets, 0, sizeof(*p->lsets));
	p->nr_mappings = 1;
	p->nr_functions = 1;
	p->nr_locations = 1;
	p->nr_lsets = 1;
	return true;
}

bool builder_init(struct builder *b, const struct pprof_limits *limits,
		  struct diags *diags)
{
	memset(b, 0, sizeof(*b));
	b->limits = limits;
	b->diags = diags;
	b->profile = mem_zalloc(1, sizeof(*b->profile));
	if (!b->profile)
		return false;
	if (strtab_init(&b->profile->strings, limits->strings_bytes) &&
	    stacks_init(&b->profile->stacks) && make_first_rows(b->profile))
		return true;
	builder_fini(b);
	return false;
}

void builder_fini(struct builder *b)
{
	pprof_profile_free(b->profile);
	b->profile = NULL;
	idmap_fini(&b->functions);
	idmap_fini(&b->locations);
	idmap_fini(&b->lsets);
	mem_free(b->sample_head);
	mem_free(b->sample_next);
	mem_free(b->scratch);
	mem_free(b->frames);
	mem_free(b->queue);
	b->queue = NULL;
	b->sample_head = NULL;
	b->sample_next = NULL;
	b->scratch = NULL;
	b->frames = NULL;
}

str_id builder_str(struct builder *b, const char *text, size_t len)
{
	struct strtab *strings = &b->profile->strings;
	str_id id;

	if (b->status)
		return ID_FAILED;
	if (len > b->limits->string_bytes)
		return fail(b, PPROF_LIMIT, "a string is longer than the "
			    "limit string_bytes");
	id = strtab_add(strings, text, len);
	if (id != STR_NONE)
		return id;
	if (strings->arena.used_bytes + len + 1 > strings->arena.max_bytes)
		return fail(b, PPROF_LIMIT, "all strings together are longer "
			    "than the limit strings_bytes");
	return fail_nomem(b);
}

str_id builder_cstr(struct builder *b, const char *text)
{
	return builder_str(b, text, strlen(text));
}

map_id builder_mapping(struct builder *b, const struct mapping *map)
{
	struct pprof_profile *p = b->profile;

	if (b->status)
		return ID_FAILED;
	if (p->nr_mappings > b->limits->mappings)
		return fail(b, PPROF_LIMIT, "more mappings than the limit "
			    "mappings");
	if (!mem_grow(p->mappings, p->cap_mappings, p->nr_mappings + 1,
		      MAX_ROWS))
		return fail_nomem(b);
	p->mappings[p->nr_mappings] = *map;
	return (map_id)p->nr_mappings++;
}

func_id builder_function(struct builder *b, const struct function *func)
{
	struct pprof_profile *p = b->profile;
	uint64_t hash = XXH3_64bits(func, sizeof(*func));
	size_t slot;
	uint32_t id;

	if (b->status)
		return ID_FAILED;
	if (!idmap_reserve(&b->functions, hash_function, b) ||
	    !mem_grow(p->functions, p->cap_functions, p->nr_functions + 1,
		      MAX_ROWS))
		return fail_nomem(b);
	for (slot = idmap_first(&b->functions, hash);
	     (id = b->functions.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&b->functions, slot))
		if (!memcmp(&p->functions[id], func, sizeof(*func)))
			return id;
	id = (uint32_t)p->nr_functions++;
	p->functions[id] = *func;
	idmap_put(&b->functions, hash, id);
	return id;
}

/* Put the lines behind the others; false when out of memory. */
static bool append_lines(struct pprof_profile *p, const struct line *lines,
			 size_t nr)
{
	if (!mem_grow(p->lines, p->cap_lines, p->nr_lines + nr, MAX_ROWS))
		return false;
	if (nr)
		memcpy(p->lines + p->nr_lines, lines, nr * sizeof(*lines));
	p->nr_lines += nr;
	return true;
}

loc_id builder_location(struct builder *b, uint64_t address, map_id mapping,
			bool is_folded, const struct line *lines,
			size_t nr_lines)
{
	uint64_t hash = hash_location_key(address, mapping, lines, nr_lines);
	struct pprof_profile *p = b->profile;
	struct location *loc;
	size_t slot;
	uint32_t id;

	if (b->status)
		return ID_FAILED;
	if (!idmap_reserve(&b->locations, hash_location, b))
		return fail_nomem(b);
	for (slot = idmap_first(&b->locations, hash);
	     (id = b->locations.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&b->locations, slot)) {
		loc = &p->locations[id];
		if (loc->address == address && loc->mapping == mapping &&
		    loc->is_folded == is_folded && loc->nr_lines == nr_lines &&
		    (!nr_lines || !memcmp(p->lines + loc->lines, lines,
					  nr_lines * sizeof(*lines))))
			return id;
	}
	if (p->nr_locations > b->limits->locations)
		return fail(b, PPROF_LIMIT, "more locations than the limit "
			    "locations");
	if (!mem_grow(p->locations, p->cap_locations, p->nr_locations + 1,
		      MAX_ROWS) || !append_lines(p, lines, nr_lines))
		return fail_nomem(b);
	id = (uint32_t)p->nr_locations++;
	loc = &p->locations[id];
	loc->address = address;
	loc->mapping = mapping;
	loc->lines = (uint32_t)(p->nr_lines - nr_lines);
	loc->nr_lines = (uint32_t)nr_lines;
	loc->is_folded = is_folded;
	idmap_put(&b->locations, hash, id);
	return id;
}

static int compare_labels(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct label));
}

/* Sorted copy in the scratch array; the order is any total one. */
static bool sort_labels(struct builder *b, const struct label *labels,
			size_t nr)
{
	if (!mem_grow(b->scratch, b->cap_scratch, nr, MAX_ROWS))
		return false;
	memcpy(b->scratch, labels, nr * sizeof(*labels));
	if (nr > 1)
		qsort(b->scratch, nr, sizeof(*labels), compare_labels);
	return true;
}

lset_id builder_lset(struct builder *b, const struct label *labels, size_t nr)
{
	struct pprof_profile *p = b->profile;
	const struct lset *lset;
	uint64_t hash;
	size_t slot;
	uint32_t id;

	if (b->status)
		return ID_FAILED;
	if (!nr)
		return 0;
	if (nr > b->limits->labels)
		return fail(b, PPROF_LIMIT, "a sample has more labels than "
			    "the limit labels");
	if (!sort_labels(b, labels, nr) ||
	    !idmap_reserve(&b->lsets, hash_lset, b))
		return fail_nomem(b);
	hash = XXH3_64bits(b->scratch, nr * sizeof(*labels));
	for (slot = idmap_first(&b->lsets, hash);
	     (id = b->lsets.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&b->lsets, slot)) {
		lset = &p->lsets[id];
		if (lset->nr == nr && !memcmp(p->labels + lset->labels,
					      b->scratch,
					      nr * sizeof(*labels)))
			return id;
	}
	if (!mem_grow(p->lsets, p->cap_lsets, p->nr_lsets + 1, MAX_ROWS) ||
	    !mem_grow(p->labels, p->cap_labels, p->nr_labels + nr, MAX_ROWS))
		return fail_nomem(b);
	memcpy(p->labels + p->nr_labels, b->scratch, nr * sizeof(*labels));
	id = (uint32_t)p->nr_lsets++;
	p->lsets[id].labels = (uint32_t)p->nr_labels;
	p->lsets[id].nr = (uint32_t)nr;
	p->nr_labels += nr;
	idmap_put(&b->lsets, hash, id);
	return id;
}

void builder_fail_frames(struct builder *b)
{
	fail(b, PPROF_LIMIT, "a stack has more frames than the limit frames");
}

static uint32_t fail_frames(struct builder *b)
{
	builder_fail_frames(b);
	return ID_FAILED;
}

stack_id builder_stack_root_first(struct builder *b, const loc_id *root_first,
				  size_t nr)
{
	stack_id id;

	if (b->status)
		return ID_FAILED;
	if (nr > b->limits->frames)
		return fail_frames(b);
	id = stacks_add(&b->profile->stacks, root_first, nr);
	return id == STACK_NONE ? fail_nomem(b) : id;
}

stack_id builder_stack(struct builder *b, const loc_id *leaf_first, size_t nr)
{
	size_t i;

	if (b->status)
		return ID_FAILED;
	if (nr > b->limits->frames)
		return fail_frames(b);
	if (!mem_grow(b->frames, b->cap_frames, nr, MAX_ROWS))
		return fail_nomem(b);
	for (i = 0; i < nr; i++)
		b->frames[i] = leaf_first[nr - 1 - i];
	return builder_stack_root_first(b, b->frames, nr);
}

void builder_type(struct builder *b, str_id type, str_id unit)
{
	struct pprof_profile *p = b->profile;

	if (b->status)
		return;
	if (p->nr_types == SAMPLE_TYPES_MAX) {
		fail(b, PPROF_LIMIT, "more than 32 sample types");
		return;
	}
	p->types[p->nr_types].type = type;
	p->types[p->nr_types++].unit = unit;
}

/* Room for one more sample in every column. */
static bool grow_samples(struct pprof_profile *p)
{
	size_t cap = p->cap_samples, i, grown;

	if (p->nr_samples < cap)
		return true;
	for (i = 0; i < p->nr_types; i++) {
		grown = cap;
		if (!mem_grow(p->values[i], grown, cap + 1, MAX_ROWS))
			return false;
	}
	grown = cap;
	if (p->sample_lset &&
	    !mem_grow(p->sample_lset, grown, cap + 1, MAX_ROWS))
		return false;
	return mem_grow(p->sample_stack, p->cap_samples, cap + 1, MAX_ROWS);
}

/* Sets of the samples before the first labelled one are all empty. */
static bool start_lsets(struct pprof_profile *p)
{
	if (p->sample_lset)
		return true;
	p->sample_lset = mem_zalloc(p->cap_samples, sizeof(*p->sample_lset));
	return p->sample_lset;
}

/* Heads of the chains of samples by stack, grown to hold `stack`. */
static bool grow_heads(struct builder *b, stack_id stack)
{
	size_t old = b->cap_heads;

	if (stack < old)
		return true;
	if (!mem_grow(b->sample_head, b->cap_heads, (size_t)stack + 1,
		      (size_t)UINT32_MAX + 1))
		return false;
	memset(b->sample_head + old, 0xff,
	       (b->cap_heads - old) * sizeof(*b->sample_head));
	return true;
}

/* Sample (stack, lset), or IDMAP_FREE. */
static uint32_t find_sample(const struct builder *b, stack_id stack,
			    lset_id lset)
{
	const struct pprof_profile *p = b->profile;
	uint32_t id = b->sample_head[stack];

	while (id != IDMAP_FREE && p->sample_lset &&
	       p->sample_lset[id] != lset)
		id = b->sample_next ? b->sample_next[id] : IDMAP_FREE;
	return id;
}

/* Append an empty sample and chain it to its stack. */
static uint32_t add_sample(struct builder *b, stack_id stack, lset_id lset)
{
	struct pprof_profile *p = b->profile;
	uint32_t id = (uint32_t)p->nr_samples, head = b->sample_head[stack];
	size_t i, old = b->cap_next;

	if (p->nr_samples >= b->limits->samples)
		return fail(b, PPROF_LIMIT, "more samples than the limit "
			    "samples");
	if (!grow_samples(p) || (lset && !start_lsets(p)))
		return fail_nomem(b);
	if (head != IDMAP_FREE || b->sample_next) {
		if (!mem_grow(b->sample_next, b->cap_next, p->nr_samples + 1,
			      MAX_ROWS))
			return fail_nomem(b);
		memset(b->sample_next + old, 0xff,
		       (b->cap_next - old) * sizeof(*b->sample_next));
		b->sample_next[id] = head;
	}
	p->sample_stack[id] = stack;
	if (p->sample_lset)
		p->sample_lset[id] = lset;
	for (i = 0; i < p->nr_types; i++)
		p->values[i][id] = 0;
	b->sample_head[stack] = id;
	p->nr_samples++;
	return id;
}

void builder_sample(struct builder *b, stack_id stack, lset_id lset,
		    const int64_t *values, enum pprof_unit unit,
		    uint64_t where)
{
	struct pprof_profile *p = b->profile;
	uint32_t id;
	size_t i;

	if (b->status)
		return;
	if (!grow_heads(b, stack)) {
		fail_nomem(b);
		return;
	}
	id = lset && !p->sample_lset ? IDMAP_FREE :
	     find_sample(b, stack, lset);
	if (id == IDMAP_FREE)
		id = add_sample(b, stack, lset);
	if (id == ID_FAILED)
		return;
	for (i = 0; i < p->nr_types; i++) {
		int64_t *sum = &p->values[i][id];

		if (!__builtin_add_overflow(*sum, values[i], sum))
			continue;
		*sum = values[i] < 0 ? INT64_MIN : INT64_MAX;
		diag_count(b->diags, unit, where, "sum of equal stacks does "
			   "not fit 64 bits; it stays at the limit");
	}
}

void builder_flush(struct builder *b)
{
	stack_id stacks[STACKS_BATCH];
	const struct pending_sample *pending;
	size_t i;

	if (b->status || !b->nr_pending)
		return;
	if (!stacks_add_batch(&b->profile->stacks, b->queue, b->spans,
			      b->nr_pending, stacks)) {
		fail_nomem(b);
		return;
	}
	for (i = 0; i < b->nr_pending; i++) {
		pending = &b->pending[i];
		builder_sample(b, stacks[i], pending->lset, pending->values,
			       pending->unit, pending->where);
	}
	b->nr_pending = 0;
	b->nr_queue = 0;
}

/* Room for the frames of one more pending sample; NULL after a failure. */
static loc_id *queue_frames(struct builder *b, size_t nr)
{
	if (b->status)
		return NULL;
	if (nr > b->limits->frames) {
		fail_frames(b);
		return NULL;
	}
	/* One more than needed: an empty stack has a place, too. */
	if (!mem_grow(b->queue, b->cap_queue, b->nr_queue + nr + 1,
		      MAX_ROWS)) {
		fail_nomem(b);
		return NULL;
	}
	b->spans[b->nr_pending].first = b->nr_queue;
	b->spans[b->nr_pending].nr = nr;
	b->spans[b->nr_pending].below = 0;
	b->nr_queue += nr;
	return b->queue + b->nr_queue - nr;
}

/* The rest of a sample whose frames are queued. */
static void queue_sample(struct builder *b, lset_id lset,
			 const int64_t *values, enum pprof_unit unit,
			 uint64_t where)
{
	struct pending_sample *pending = &b->pending[b->nr_pending++];

	pending->lset = lset;
	pending->unit = unit;
	pending->where = where;
	memcpy(pending->values, values,
	       b->profile->nr_types * sizeof(*values));
	if (b->nr_pending == STACKS_BATCH)
		builder_flush(b);
}

void builder_add(struct builder *b, const loc_id *leaf_first, size_t nr,
		 lset_id lset, const int64_t *values, enum pprof_unit unit,
		 uint64_t where)
{
	loc_id *frames = queue_frames(b, nr);
	size_t i;

	if (!frames)
		return;
	for (i = 0; i < nr; i++)
		frames[i] = leaf_first[nr - 1 - i];
	queue_sample(b, lset, values, unit, where);
}

void builder_add_root_first(struct builder *b, const loc_id *root_first,
			    size_t nr, const int64_t *values,
			    enum pprof_unit unit, uint64_t where)
{
	loc_id *frames = queue_frames(b, nr);

	if (!frames)
		return;
	memcpy(frames, root_first, nr * sizeof(*frames));
	queue_sample(b, 0, values, unit, where);
}

void builder_comment(struct builder *b, str_id text)
{
	struct pprof_profile *p = b->profile;

	if (b->status)
		return;
	if (!mem_grow(p->comments, p->cap_comments, p->nr_comments + 1,
		      MAX_ROWS)) {
		fail_nomem(b);
		return;
	}
	p->comments[p->nr_comments++] = text;
}

enum pprof_status builder_finish(struct builder *b, const char *source,
				 struct pprof_profile **ret_profile,
				 struct pprof_error *err)
{
	enum pprof_status status;

	builder_flush(b);
	if (b->status)
		return error_plain(err, b->status, source, "%s", b->message);
	status = profile_check(b->profile, source, err);
	if (status)
		return status;
	stacks_freeze(&b->profile->stacks);
	*ret_profile = b->profile;
	b->profile = NULL;
	return PPROF_OK;
}
