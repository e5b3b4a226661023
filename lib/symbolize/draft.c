/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of the tables that symbolizing changes, their growth, and the swap
 * at the end.
 */
#include <config.h>

#include "symbolize/draft.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "symbolize/allocator.h"

/* The last id means "none". */
#define MAX_ROWS ((size_t)UINT32_MAX - 1)

/* Longest expression for drop_frames. */
#define PATTERN_MAX ((size_t)64 << 10)

static uint64_t hash_row(const struct function *f)
{
	return hash_u64(((uint64_t)f->name << 32 | f->file) ^
			hash_u64((uint64_t)f->system_name << 32 |
				 (uint32_t)f->start_line));
}

static uint64_t hash_function(const void *ctx, uint32_t id)
{
	const struct draft *draft = ctx;

	return hash_row(&draft->next.functions[id]);
}

static bool is_same(const struct function *a, const struct function *b)
{
	return a->name == b->name && a->system_name == b->system_name &&
	       a->file == b->file && a->start_line == b->start_line;
}

/* Copy of nr rows with room for as many as it says in *cap. */
static void *copy_rows(const void *rows, size_t nr, size_t size, size_t *cap)
{
	void *copy = mem_alloc(nr, size);

	if (copy && nr)
		memcpy(copy, rows, nr * size);
	*cap = nr;
	return copy;
}

static bool copy_tables(struct pprof_profile *next,
			const struct pprof_profile *old)
{
	size_t cap;

	next->mappings = copy_rows(old->mappings, old->nr_mappings,
				   sizeof(*old->mappings),
				   &next->cap_mappings);
	next->functions = copy_rows(old->functions, old->nr_functions,
				    sizeof(*old->functions),
				    &next->cap_functions);
	next->locations = copy_rows(old->locations, old->nr_locations,
				    sizeof(*old->locations),
				    &next->cap_locations);
	next->lines = copy_rows(old->lines, old->nr_lines,
				sizeof(*old->lines), &next->cap_lines);
	next->comments = copy_rows(old->comments, old->nr_comments,
				   sizeof(*old->comments), &cap);
	next->cap_comments = cap;
	return next->mappings && next->functions && next->locations &&
	       next->lines && next->comments;
}

static bool index_functions(struct draft *draft)
{
	size_t i;

	for (i = 1; i < draft->next.nr_functions; i++) {
		if (!idmap_reserve(&draft->functions, hash_function, draft))
			return false;
		idmap_put(&draft->functions,
			  hash_row(&draft->next.functions[i]), (uint32_t)i);
	}
	return true;
}

enum pprof_status draft_init(struct draft *draft,
			     struct pprof_profile *profile,
			     struct pprof_error *err)
{
	memset(draft, 0, sizeof(*draft));
	draft->profile = profile;
	draft->next = *profile;
	if (!copy_tables(&draft->next, profile) || !index_functions(draft))
		return error_nomem(err);
	return PPROF_OK;
}

void draft_fini(struct draft *draft)
{
	mem_free(draft->next.mappings);
	mem_free(draft->next.functions);
	mem_free(draft->next.locations);
	mem_free(draft->next.lines);
	mem_free(draft->next.comments);
	idmap_fini(&draft->functions);
	mem_free(draft->str_map);
	if (draft->has_restacked)
		restacked_fini(&draft->restacked);
	memset(draft, 0, sizeof(*draft));
}

str_id draft_text(struct draft *draft, const char *text, size_t len,
		  struct pprof_error *err)
{
	struct strtab *strings = &draft->profile->strings;
	str_id id = strtab_add(strings, text, len);

	if (id != STR_NONE)
		return id;
	if (strings->arena.max_bytes - strings->arena.used_bytes <= len)
		error_plain(err, PPROF_LIMIT, NULL, "names of functions take "
			    "more than %llu bytes (limit strings_bytes)",
			    (unsigned long long)strings->arena.max_bytes);
	else
		error_nomem(err);
	return STR_NONE;
}

/* Status of a failure that draft_text() has filled *err with. */
static enum pprof_status text_status(const struct draft *draft, size_t len)
{
	const struct arena *arena = &draft->profile->strings.arena;

	return arena->max_bytes - arena->used_bytes <= len ? PPROF_LIMIT
							   : PPROF_NOMEM;
}

enum pprof_status draft_answers(struct draft *draft,
				const struct answers *answers,
				struct pprof_error *err)
{
	size_t i;

	mem_free(draft->str_map);
	draft->str_map = mem_alloc(answers->strings.nr, sizeof(str_id));
	if (!draft->str_map)
		return error_nomem(err);
	for (i = 0; i < answers->strings.nr; i++)
		draft->str_map[i] = STR_NONE;
	return PPROF_OK;
}

/* The profile's id of a string of the answers. OK, NOMEM, LIMIT. */
static enum pprof_status map_text(struct draft *draft,
				  const struct answers *answers, str_id id,
				  str_id *ret, struct pprof_error *err)
{
	const size_t len = strtab_len(&answers->strings, id);

	if (draft->str_map[id] == STR_NONE)
		draft->str_map[id] = draft_text(draft,
			strtab_text(&answers->strings, id), len, err);
	*ret = draft->str_map[id];
	return *ret == STR_NONE ? text_status(draft, len) : PPROF_OK;
}

/* Id of the function, added when new; 0: out of memory. */
static func_id add_function(struct draft *draft, const struct function *row)
{
	struct pprof_profile *next = &draft->next;
	const uint64_t hash = hash_row(row);
	uint32_t id;
	size_t i;

	if (!idmap_reserve(&draft->functions, hash_function, draft))
		return 0;
	for (i = idmap_first(&draft->functions, hash);
	     (id = draft->functions.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&draft->functions, i))
		if (is_same(&next->functions[id], row))
			return id;
	if (!mem_grow(next->functions, next->cap_functions,
		      next->nr_functions + 1, MAX_ROWS))
		return 0;
	id = (uint32_t)next->nr_functions++;
	next->functions[id] = *row;
	idmap_put(&draft->functions, hash, id);
	return id;
}

static enum pprof_status add_line(struct draft *draft,
				  const struct answers *answers,
				  const struct answer_frame *frame,
				  struct pprof_error *err)
{
	struct pprof_profile *next = &draft->next;
	struct function row = { .start_line = frame->start_line };
	struct line *line;
	enum pprof_status status;

	status = map_text(draft, answers, frame->name, &row.name, err);
	if (!status)
		status = map_text(draft, answers, frame->system_name,
				  &row.system_name, err);
	if (!status)
		status = map_text(draft, answers, frame->file, &row.file, err);
	if (status)
		return status;
	if (!mem_grow(next->lines, next->cap_lines, next->nr_lines + 1,
		      MAX_ROWS))
		return error_nomem(err);
	line = &next->lines[next->nr_lines];
	memset(line, 0, sizeof(*line));
	line->func = add_function(draft, &row);
	line->line = frame->line;
	line->column = frame->column > INT32_MAX ? 0 : (int32_t)frame->column;
	if (!line->func)
		return error_nomem(err);
	next->nr_lines++;
	return PPROF_OK;
}

/* What the frames say about their mapping. */
static uint32_t frame_flags(const struct answer_frame *frames, size_t nr)
{
	uint32_t flags = MAP_HAS_FUNCTIONS;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (frames[i].file)
			flags |= MAP_HAS_FILENAMES;
		if (frames[i].line)
			flags |= MAP_HAS_LINE_NUMBERS;
	}
	return nr > 1 ? flags | MAP_HAS_INLINE_FRAMES : flags;
}

enum pprof_status draft_frames(struct draft *draft, loc_id loc, map_id map,
			       const struct answers *answers, size_t i,
			       struct pprof_error *err)
{
	const uint32_t first = answers->start[i], end = answers->start[i + 1];
	struct pprof_profile *next = &draft->next;
	const size_t first_line = next->nr_lines;
	enum pprof_status status = PPROF_OK;
	struct location *location;
	uint32_t frame;

	for (frame = first; !status && frame < end; frame++)
		status = add_line(draft, answers, &answers->frames[frame],
				  err);
	if (status)
		return status;
	location = &next->locations[loc];
	location->lines = (uint32_t)first_line;
	location->nr_lines = (uint32_t)(next->nr_lines - first_line);
	location->mapping = map;
	next->mappings[map].flags |= frame_flags(answers->frames + first,
						 end - first);
	return PPROF_OK;
}

enum pprof_status draft_comment(struct draft *draft, const char *text,
				struct pprof_error *err)
{
	struct pprof_profile *next = &draft->next;
	const size_t len = strlen(text);
	str_id id = draft_text(draft, text, len, err);
	size_t i;

	if (id == STR_NONE)
		return text_status(draft, len);
	for (i = 0; i < next->nr_comments; i++)
		if (next->comments[i] == id)
			return PPROF_OK;
	if (!mem_grow(next->comments, next->cap_comments,
		      next->nr_comments + 1, MAX_ROWS))
		return error_nomem(err);
	next->comments[next->nr_comments++] = id;
	return PPROF_OK;
}

enum pprof_status draft_drop_allocator(struct draft *draft,
				       struct diags *diags,
				       struct pprof_error *err)
{
	enum pprof_status status;
	struct buf pattern;
	str_id id;

	/* Names were added to the profile's own table. */
	draft->next.strings = draft->profile->strings;
	buf_init(&pattern, PATTERN_MAX);
	status = allocator_drop(&draft->next, diags, &draft->restacked,
				&pattern, err);
	if (!status)
		draft->has_restacked = true;
	if (!status && !buf_ok(&pattern))
		status = error_nomem(err);
	if (!status) {
		id = draft_text(draft, buf_cstr(&pattern), pattern.len, err);
		if (id == STR_NONE)
			status = text_status(draft, pattern.len);
		else
			draft->next.drop_frames = id;
	}
	buf_fini(&pattern);
	return status;
}

#define SWAP(table) \
	do { \
		void *old_ = profile->table; \
		profile->table = next->table; \
		profile->nr_##table = next->nr_##table; \
		profile->cap_##table = next->cap_##table; \
		next->table = old_; \
	} while (0)

void draft_commit(struct draft *draft)
{
	struct pprof_profile *profile = draft->profile, *next = &draft->next;

	SWAP(mappings);
	SWAP(functions);
	SWAP(locations);
	SWAP(lines);
	SWAP(comments);
	profile->drop_frames = next->drop_frames;
	if (draft->has_restacked && draft->restacked.is_changed)
		profile_take_restacked(profile, &draft->restacked);
}

#undef SWAP
