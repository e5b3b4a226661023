/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted addresses past the ranges of a symbol file. Records are decoded
 * where they lie; what was decoded once is remembered for the batch.
 */
#include <config.h>

#include "symbolize/symfile.h"

#include <string.h>

#include "base/mem.h"
#include "symbolize/dwarf_cursor.h"

/* All strings of one batch, and frames of one address and of all. */
#define MAX_STRING_BYTES ((uint64_t)4 << 30)
#define MAX_DEPTH 65536
#define MAX_FRAMES ((size_t)1 << 28)

/* A function as decoded; strings are numbers in the file's table. */
struct function {
	uint32_t names[SYMFILE_NR_NAMES];
	uint32_t system_name;
	uint32_t start_line;
};

/* A function in the terms of the answers. */
struct known {
	str_id name, system_name;
	uint32_t start_line;
	bool is_known;
};

struct scope {
	uint32_t function;
	uint32_t outer;   /* number + 1 of the scope around it, 0 none */
	uint32_t file, line, column; /* of the call, in the scope around */
};

/* State while the records of one block are decoded. */
struct range {
	uint64_t start;
	uint8_t source;
	uint32_t scope, file, line, column;
};

struct reader {
	const struct symfile *symfile;
	const struct module_opts *opts;
	struct answers answers;
	str_id *ids;       /* [strings] in answers, STR_NONE: not yet */
	struct known *known; /* [functions] */
	struct buf text;   /* a string while it is put together */
	struct range range; /* the one before, then the present one */
	uint64_t next;     /* number of the record behind the range */
	uint64_t block;    /* that the cursor is in */
	uint64_t end;      /* where the range ends */
	struct dwarf_cursor cursor;
	bool has_range;
	bool is_damaged;
};

static struct dwarf_cursor cursor_over(struct elf_bytes bytes, uint64_t at)
{
	struct dwarf_cursor cursor = {
		bytes.data, bytes.data + bytes.size,
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, false
	};

	dwarf_skip(&cursor, at);
	return cursor;
}

/* A cursor at the first record of block `block`. */
static struct dwarf_cursor open_block(const struct symfile_table *table,
				      uint64_t block)
{
	struct dwarf_cursor index = cursor_over(table->index, 4 * block);
	const uint32_t at = dwarf_u32(&index);
	struct dwarf_cursor cursor = cursor_over(table->data, at);

	cursor.failed |= index.failed;
	return cursor;
}

/* A number that was stored as a distance from `base`. */
static uint32_t read_delta(struct dwarf_cursor *cursor, uint32_t base)
{
	const int64_t delta = dwarf_sleb(cursor);

	if (delta < -(int64_t)UINT32_MAX || delta > (int64_t)UINT32_MAX)
		dwarf_fail(cursor);
	return (uint32_t)((uint64_t)base + (uint64_t)delta);
}

static uint32_t read_u32(struct dwarf_cursor *cursor)
{
	const uint64_t value = dwarf_uleb(cursor);

	if (value > UINT32_MAX)
		dwarf_fail(cursor);
	return (uint32_t)value;
}

/* ------------------------------------------------------ strings, functions */

/* Put string `number` together in r->text; false on damage. */
static bool read_string(struct reader *r, uint32_t number)
{
	const struct symfile_table *table;
	struct dwarf_cursor cursor;
	uint64_t shared, len;
	uint32_t i;

	table = &r->symfile->tables[SYMFILE_STRINGS];
	if (number >= table->nr)
		return false;
	cursor = open_block(table, number / SYMFILE_BLOCK);
	buf_reset(&r->text);
	for (i = 0; i <= number % SYMFILE_BLOCK; i++) {
		shared = dwarf_uleb(&cursor);
		len = dwarf_uleb(&cursor);
		if (cursor.failed || shared > r->text.len ||
		    len > dwarf_left(&cursor))
			return false;
		r->text.len = shared;
		buf_add(&r->text, cursor.p, len);
		dwarf_skip(&cursor, len);
	}
	return true;
}

static enum pprof_status get_string(struct reader *r, uint32_t number,
				    str_id *ret)
{
	if (number >= r->symfile->tables[SYMFILE_STRINGS].nr) {
		r->is_damaged = true;
		return PPROF_FORMAT;
	}
	if (r->ids[number] == STR_NONE) {
		if (!read_string(r, number)) {
			r->is_damaged = true;
			return PPROF_FORMAT;
		}
		if (!buf_ok(&r->text))
			return PPROF_NOMEM;
		r->ids[number] = strtab_add(&r->answers.strings,
					    r->text.len ? r->text.data : "",
					    r->text.len);
		if (r->ids[number] == STR_NONE)
			return PPROF_NOMEM;
	}
	*ret = r->ids[number];
	return PPROF_OK;
}

static bool read_function(const struct reader *r, uint32_t number,
			  struct function *ret)
{
	const struct symfile_table *table;
	struct dwarf_cursor cursor;
	struct function f = { { 0, 0, 0 }, 0, 0 };
	uint32_t i;

	table = &r->symfile->tables[SYMFILE_FUNCTIONS];
	if (number >= table->nr)
		return false;
	cursor = open_block(table, number / SYMFILE_BLOCK);
	for (i = 0; i <= number % SYMFILE_BLOCK; i++) {
		f.names[0] = read_delta(&cursor, f.names[0]);
		f.names[1] = read_delta(&cursor, f.names[0]);
		f.names[2] = read_delta(&cursor, f.names[0]);
		f.system_name = read_delta(&cursor, f.names[2]);
		f.start_line = read_u32(&cursor);
	}
	*ret = f;
	return !cursor.failed;
}

static bool read_scope(const struct reader *r, uint32_t number,
		       struct scope *ret)
{
	const struct symfile_table *table;
	struct dwarf_cursor cursor;
	struct scope s = { 0, 0, 0, 0, 0 };
	uint32_t i, distance;

	table = &r->symfile->tables[SYMFILE_SCOPES];
	if (number >= table->nr)
		return false;
	cursor = open_block(table, number / SYMFILE_BLOCK);
	for (i = 0; i <= number % SYMFILE_BLOCK; i++) {
		const uint32_t here = number - number % SYMFILE_BLOCK + i;

		s.function = read_delta(&cursor, s.function);
		distance = read_u32(&cursor);
		s.outer = 0;
		if (!distance)
			continue;
		if (distance > here)
			return false;
		s.outer = here - distance + 1;
		s.file = read_delta(&cursor, s.file);
		s.line = read_delta(&cursor, s.line);
		s.column = read_u32(&cursor);
	}
	*ret = s;
	return !cursor.failed;
}

/* ------------------------------------------------------------------ ranges */

static uint64_t block_start(const struct symfile_table *table, uint64_t block)
{
	struct dwarf_cursor cursor = cursor_over(table->starts, 8 * block);

	return dwarf_u64(&cursor);
}

/* Number of blocks that start at or before `vaddr`. */
static uint64_t count_blocks(const struct symfile_table *table,
			     uint64_t vaddr)
{
	uint64_t lo = 0, nr = table->index.size / 4;

	while (nr) {
		const uint64_t half = nr / 2;

		if (block_start(table, lo + half) <= vaddr) {
			lo += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return lo;
}

/* Read the record at the cursor into r->range, whose start is set. */
static void read_record(struct reader *r)
{
	struct dwarf_cursor *cursor = &r->cursor;
	struct range *range = &r->range;
	const uint8_t flags = dwarf_u8(cursor);

	range->source = flags & SYMFILE_SOURCE;
	if (range->source == ANSWER_NONE)
		return;
	if (!(flags & SYMFILE_SAME_SCOPE))
		range->scope = read_delta(cursor, range->scope);
	if (!(flags & SYMFILE_SAME_FILE))
		range->file = read_delta(cursor, range->file);
	range->line = read_delta(cursor, range->line);
	if (!(flags & SYMFILE_SAME_COLUMN))
		range->column = read_u32(cursor);
}

/* Find where the range just read ends: the cursor goes over the distance. */
static void read_end(struct reader *r, const struct symfile_table *table)
{
	uint64_t distance;

	r->next++;
	if (r->next == table->nr) {
		r->end = UINT64_MAX;
	} else if (r->next % SYMFILE_RANGE_BLOCK == 0) {
		r->end = block_start(table, r->block + 1);
	} else {
		distance = dwarf_uleb(&r->cursor);
		r->end = r->range.start + distance;
		if (r->end < r->range.start)
			dwarf_fail(&r->cursor);
	}
}

static void enter_block(struct reader *r, const struct symfile_table *table,
			uint64_t block)
{
	memset(&r->range, 0, sizeof(r->range));
	r->block = block;
	r->next = block * SYMFILE_RANGE_BLOCK;
	r->cursor = open_block(table, block);
	r->range.start = block_start(table, block);
	read_record(r);
	read_end(r, table);
	r->has_range = true;
}

/* Make r->range the one that holds `vaddr`; false when none does. */
static bool seek_range(struct reader *r, uint64_t vaddr)
{
	const struct symfile_table *table;
	uint64_t nr_blocks;

	table = &r->symfile->tables[SYMFILE_RANGES];
	if (!r->has_range || vaddr >= r->end) {
		nr_blocks = count_blocks(table, vaddr);
		if (!nr_blocks)
			return false;
		if (!r->has_range || r->block != nr_blocks - 1)
			enter_block(r, table, nr_blocks - 1);
	}
	while (vaddr >= r->end && !r->cursor.failed &&
	       r->next < table->nr && r->next % SYMFILE_RANGE_BLOCK) {
		r->range.start = r->end;
		read_record(r);
		read_end(r, table);
	}
	if (r->cursor.failed)
		r->is_damaged = true;
	return !r->is_damaged && r->range.source != ANSWER_NONE;
}

/* ----------------------------------------------------------------- answers */

/* The function as the answers have it, decoded once. */
static enum pprof_status get_function(struct reader *r, uint32_t number,
				      const struct known **ret)
{
	enum pprof_status status;
	struct known *known;
	struct function f;

	if (number >= r->symfile->tables[SYMFILE_FUNCTIONS].nr) {
		r->is_damaged = true;
		return PPROF_FORMAT;
	}
	known = &r->known[number];
	*ret = known;
	if (known->is_known)
		return PPROF_OK;
	if (!read_function(r, number, &f)) {
		r->is_damaged = true;
		return PPROF_FORMAT;
	}
	known->start_line = f.start_line;
	status = get_string(r, f.names[r->opts->names], &known->name);
	if (!status)
		status = get_string(r, f.system_name, &known->system_name);
	known->is_known = !status;
	return status;
}

static enum pprof_status add_frame(struct reader *r, uint32_t function,
				   const struct range *place)
{
	struct answers *answers = &r->answers;
	struct answer_frame frame = { 0 };
	const struct known *known;
	enum pprof_status status;

	status = get_function(r, function, &known);
	if (!status)
		status = get_string(r, place->file, &frame.file);
	if (status)
		return status;
	if (answers->nr_frames == MAX_FRAMES)
		return PPROF_LIMIT;
	if (!mem_grow(answers->frames, answers->cap_frames,
		      answers->nr_frames + 1, MAX_FRAMES))
		return PPROF_NOMEM;
	frame.name = known->name;
	frame.system_name = known->system_name;
	frame.line = place->line;
	frame.column = place->column;
	frame.start_line = known->start_line;
	answers->frames[answers->nr_frames++] = frame;
	return PPROF_OK;
}

/* The frames of the present range, from the innermost scope outwards. */
static enum pprof_status add_frames(struct reader *r)
{
	enum pprof_status status = PPROF_OK;
	struct range place = r->range;
	uint32_t scope = place.scope, depth;
	struct scope s;

	for (depth = 0; !status && depth < MAX_DEPTH; depth++) {
		if (!read_scope(r, scope, &s)) {
			r->is_damaged = true;
			return PPROF_FORMAT;
		}
		if (!r->opts->no_inlines || !s.outer)
			status = add_frame(r, s.function, &place);
		if (!s.outer)
			return status;
		place.file = s.file;
		place.line = s.line;
		place.column = s.column;
		scope = s.outer - 1;
	}
	if (status)
		return status;
	r->is_damaged = true;
	return PPROF_FORMAT;
}

static enum pprof_status answer_all(struct reader *r, const uint64_t *vaddrs,
				    size_t nr)
{
	struct answers *answers = &r->answers;
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; i < nr && !status; i++) {
		answers->start[i] = (uint32_t)answers->nr_frames;
		if (seek_range(r, vaddrs[i])) {
			answers->source[i] = r->range.source;
			status = add_frames(r);
		} else if (r->is_damaged) {
			status = PPROF_FORMAT;
		}
	}
	answers->start[nr] = (uint32_t)answers->nr_frames;
	return status;
}

static bool init_reader(struct reader *r, const struct symfile *symfile,
			const struct module_opts *opts, size_t nr)
{
	const uint64_t nr_strings = symfile->tables[SYMFILE_STRINGS].nr;
	uint64_t i;

	memset(r, 0, sizeof(*r));
	r->symfile = symfile;
	r->opts = opts;
	r->answers.nr = nr;
	buf_init(&r->text, SYMFILE_STRING_MAX);
	r->answers.start = mem_zalloc(nr + 1, sizeof(*r->answers.start));
	r->answers.source = mem_zalloc(nr, sizeof(*r->answers.source));
	r->ids = mem_alloc(nr_strings, sizeof(*r->ids));
	r->known = mem_zalloc(symfile->tables[SYMFILE_FUNCTIONS].nr,
			      sizeof(*r->known));
	if (!strtab_init(&r->answers.strings, MAX_STRING_BYTES) ||
	    !r->answers.start || !r->answers.source || !r->ids || !r->known)
		return false;
	for (i = 0; i < nr_strings; i++)
		r->ids[i] = STR_NONE;
	return true;
}

enum pprof_status symfile_resolve(struct symfile *symfile, const char *path,
				  const uint64_t *vaddrs, size_t nr,
				  const struct module_opts *opts,
				  struct answers *ret_answers,
				  struct pprof_error *err)
{
	enum pprof_status status = PPROF_NOMEM;
	struct reader r;

	if (!symfile_is_intact(symfile))
		return error_plain(err, PPROF_FORMAT, path,
				   "damaged symbol file");
	if (init_reader(&r, symfile, opts, nr))
		status = answer_all(&r, vaddrs, nr);
	buf_fini(&r.text);
	mem_free(r.ids);
	mem_free(r.known);
	if (!status) {
		*ret_answers = r.answers;
		return PPROF_OK;
	}
	answers_fini(&r.answers);
	if (status == PPROF_NOMEM)
		return error_nomem(err);
	return error_plain(err, status, path, status == PPROF_LIMIT
			   ? "too many frames in one batch"
			   : "damaged symbol file");
}
