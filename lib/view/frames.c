/* SPDX-License-Identifier: Apache-2.0
 *
 * Composing and numbering the frames of a profile; see frames.h.
 */
#include <config.h>

#include "base/buf.h"
#include "base/mem.h"
#include "view/frames.h"

#include <stdlib.h>
#include <string.h>

/* One bit of a step says "inlined", two of a tree node likewise. */
#define MAX_FRAMES ((size_t)1 << 30)

/* Bound on the bytes of all composed names. */
#define MAX_NAME_BYTES ((uint64_t)64 << 30)

/* What is known of a composed name before names are numbered. */
struct note {
	uint32_t kind;
	str_id module;  /* the least, whatever the order of locations */
	str_id file;    /* likewise */
	uint32_t row;   /* once numbered */
	bool is_frame;  /* false: a module's name only */
};

/* The work of one frames_init(). */
struct composer {
	struct frames *frames;
	const struct pprof_profile *profile;
	const struct frames_opts *opts;
	struct note *notes;   /* [strings.nr] by string */
	size_t nr_notes, cap_notes;
	str_id *map_module;   /* [nr_mappings] base names */
	str_id *func_string;  /* [nr_functions] composed before, or 0 */
	struct buf buf;       /* the name under construction */
	size_t cap_steps;
};

size_t frame_bare_len(const char *name, size_t len)
{
	/* The suffixes that stackcollapse tools and FlameGraph.pl share. */
	if (len > 4 && name[len - 1] == ']' && name[len - 3] == '[' &&
	    name[len - 4] == '_' && strchr("kijw", name[len - 2]) &&
	    name[len - 2])
		return len - 4;
	return len;
}

/* Kind that the name itself states. */
static uint32_t annotated_kind(const char *name, size_t len)
{
	if (frame_bare_len(name, len) == len)
		return 0;
	switch (name[len - 2]) {
	case 'k':
		return FRAME_KERNEL;
	case 'j':
		return FRAME_JIT;
	case 'i':
		return FRAME_INLINED;
	default:
		return 0; /* _[w] marks a waker's stack, not a kind of code */
	}
}

static uint32_t module_kind(const char *module, size_t len)
{
	if (!strncmp(module, "[kernel", 7) ||
	    !strncmp(module, "[guest.kernel", 13) ||
	    !strcmp(module, "vmlinux") ||
	    (len > 3 && !strcmp(module + len - 3, ".ko")))
		return FRAME_KERNEL;
	return 0;
}

/* Intern, and keep a note beside every string. */
static str_id intern(struct composer *c, const char *text, size_t len)
{
	struct strtab *strings = &c->frames->strings;
	str_id id = strtab_add(strings, text, len);

	if (id == STR_NONE ||
	    !mem_grow(c->notes, c->cap_notes, strings->nr, MAX_FRAMES))
		return STR_NONE;
	if (c->nr_notes < strings->nr)
		memset(c->notes + c->nr_notes, 0,
		       (strings->nr - c->nr_notes) * sizeof(*c->notes));
	c->nr_notes = strings->nr;
	return id;
}

/* Base names of the mapped files. */
static bool name_modules(struct composer *c)
{
	const struct pprof_profile *p = c->profile;
	const char *file, *slash;
	size_t i, len;

	for (i = 1; i < p->nr_mappings; i++) {
		file = profile_str(p, p->mappings[i].file);
		len = strtab_len(&p->strings, p->mappings[i].file);
		slash = memrchr(file, '/', len);
		if (slash && slash[1]) {
			len -= (size_t)(slash + 1 - file);
			file = slash + 1;
		}
		c->map_module[i] = intern(c, file, len);
		if (c->map_module[i] == STR_NONE)
			return false;
	}
	return true;
}

static void add_string(struct buf *buf, const struct strtab *strings,
		       str_id id)
{
	buf_add(buf, strtab_text(strings, id), strtab_len(strings, id));
}

/* 16 digits, as go tool pprof prints addresses. */
static void add_padded_hex(struct buf *buf, uint64_t value)
{
	int shift;

	for (shift = 60; shift >= 0; shift -= 4)
		buf_byte(buf, "0123456789abcdef"[value >> shift & 15]);
}

/*
 * A location without a name: the file and the offset in it, which stays the
 * same wherever the file was mapped.
 */
static void add_unknown(struct composer *c, const struct location *loc)
{
	const struct mapping *map = &c->profile->mappings[loc->mapping];
	str_id module = c->map_module[loc->mapping];
	bool merge = c->opts->merge_unknown ||
		     c->opts->granularity == PPROF_BY_ADDRESS;

	if (module) {
		buf_byte(&c->buf, '[');
		add_string(&c->buf, &c->frames->strings, module);
		buf_byte(&c->buf, ']');
		if (merge)
			return;
		if (loc->address >= map->start) {
			buf_str(&c->buf, "+0x");
			buf_hex(&c->buf, loc->address - map->start +
				map->offset);
			return;
		}
		buf_byte(&c->buf, ' ');
	}
	if (merge) {
		buf_str(&c->buf, "<unknown>");
	} else if (loc->address || module) {
		buf_str(&c->buf, "0x");
		buf_hex(&c->buf, loc->address);
	} else {
		buf_str(&c->buf, "[unknown]");
	}
}

static void add_separator(struct composer *c, size_t start)
{
	if (c->buf.len > start)
		buf_byte(&c->buf, ' ');
}

/* "name file:line" as far as the granularity and the profile have them. */
static bool add_known(struct composer *c, const struct line *line)
{
	const struct pprof_profile *p = c->profile;
	const struct function *func = &p->functions[line->func];
	enum pprof_granularity by = c->opts->granularity;
	size_t start = c->buf.len;

	if (by != PPROF_BY_FILE)
		add_string(&c->buf, &p->strings, func->name);
	if (by != PPROF_BY_FUNCTION && func->file) {
		add_separator(c, start);
		add_string(&c->buf, &p->strings, func->file);
		if (line->line && by != PPROF_BY_FILE &&
		    by != PPROF_BY_FILEFUNCTION) {
			buf_byte(&c->buf, ':');
			buf_i64(&c->buf, line->line);
		}
	}
	return c->buf.len > start;
}

/* What folded text cannot hold: its separators and controls. */
static void fold_name(struct buf *buf)
{
	struct buf out;
	size_t i;

	for (i = 0; i < buf->len; i++)
		if ((unsigned char)buf->data[i] < 0x20 ||
		    buf->data[i] == 0x7f || buf->data[i] == ';')
			break;
	if (i == buf->len)
		return;
	buf_init(&out, buf->max);
	for (i = 0; i < buf->len; i++) {
		unsigned char byte = (unsigned char)buf->data[i];

		if (byte == ';') {
			buf_byte(&out, ':');
		} else if (byte == '\n' || byte == '\r' || byte == '\t') {
			buf_byte(&out, ' ');
		} else if (byte < 0x20 || byte == 0x7f) {
			buf_str(&out, "\\x");
			buf_byte(&out, "0123456789abcdef"[byte >> 4]);
			buf_byte(&out, "0123456789abcdef"[byte & 15]);
		} else {
			buf_byte(&out, (char)byte);
		}
	}
	buf_reset(buf);
	buf_add(buf, out.data, out.len);
	if (!buf_ok(&out))
		buf->failed = true;
	buf_fini(&out);
}

/* Count the composed name as a frame of `module`. */
static str_id note_frame(struct composer *c, uint32_t kind, str_id module)
{
	struct strtab *strings = &c->frames->strings;
	struct note *note;
	str_id id;

	if (c->opts->folded)
		fold_name(&c->buf);
	if (!buf_ok(&c->buf))
		return STR_NONE;
	id = intern(c, c->buf.data, c->buf.len);
	if (id == STR_NONE)
		return STR_NONE;
	note = &c->notes[id];
	if (!note->is_frame) {
		note->is_frame = true;
		note->module = module;
	}
	note->kind |= kind | annotated_kind(c->buf.data, c->buf.len);
	if (note->module != module &&
	    strtab_compare(strings, module, note->module) < 0)
		note->module = module;
	return id;
}

static uint32_t location_kind(const struct composer *c, str_id module)
{
	const struct strtab *strings = &c->frames->strings;

	return module ? module_kind(strtab_text(strings, module),
				    strtab_len(strings, module)) : 0;
}

/* Source file of a frame: the least in byte order of those that it has. */
static bool note_file(struct composer *c, str_id id, const struct line *line)
{
	const struct pprof_profile *p = c->profile;
	str_id name = p->functions[line->func].file, file;

	if (id == STR_NONE || !name)
		return id != STR_NONE;
	file = intern(c, profile_str(p, name), strtab_len(&p->strings, name));
	if (file == STR_NONE)
		return false;
	if (!c->notes[id].file ||
	    strtab_compare(&c->frames->strings, file, c->notes[id].file) < 0)
		c->notes[id].file = file;
	return true;
}

/* Name of one line of a location; line NULL: it has none. */
static str_id compose(struct composer *c, const struct location *loc,
		      const struct line *line)
{
	str_id module = c->map_module[loc->mapping];
	uint32_t kind = location_kind(c, module);

	buf_reset(&c->buf);
	if (c->opts->granularity == PPROF_BY_MODULE) {
		if (module)
			add_string(&c->buf, &c->frames->strings, module);
		else
			buf_str(&c->buf, "[unknown]");
		return note_frame(c, module ? kind : kind | FRAME_UNKNOWN,
				  module);
	}
	if (c->opts->granularity == PPROF_BY_ADDRESS) {
		add_padded_hex(&c->buf, loc->address);
		buf_byte(&c->buf, ' ');
	}
	if (!line || !add_known(c, line)) {
		add_unknown(c, loc);
		kind |= FRAME_UNKNOWN;
	}
	return note_frame(c, kind, module);
}

/* The same for a function: composed once for all of its locations. */
static str_id compose_line(struct composer *c, const struct location *loc,
			   const struct line *line)
{
	struct strtab *strings = &c->frames->strings;
	str_id module = c->map_module[loc->mapping], id;
	struct note *note;

	if (c->opts->granularity != PPROF_BY_FUNCTION ||
	    !c->profile->functions[line->func].name)
		return compose(c, loc, line);
	id = c->func_string[line->func];
	if (!id) {
		id = compose(c, loc, line);
		if (id != STR_NONE)
			c->func_string[line->func] = id;
		return id;
	}
	note = &c->notes[id];
	if (note->module != module) {
		note->kind |= location_kind(c, module);
		if (strtab_compare(strings, module, note->module) < 0)
			note->module = module;
	}
	return id;
}

static bool add_step(struct composer *c, size_t at, str_id id, bool inlined)
{
	if (id == STR_NONE ||
	    !mem_grow(c->frames->loc_steps, c->cap_steps, at + 1,
		      UINT32_MAX))
		return false;
	c->frames->loc_steps[at] = id << 1 | inlined;
	return true;
}

/* Steps of every location, rows still being strings. */
static bool compose_all(struct composer *c)
{
	const struct pprof_profile *p = c->profile;
	const struct location *loc;
	const struct line *line;
	size_t nr = 0, i;
	uint32_t j, lines;
	str_id id;

	for (i = 1; i < p->nr_locations; i++) {
		loc = &p->locations[i];
		c->frames->loc_start[i] = (uint32_t)nr;
		lines = c->opts->granularity == PPROF_BY_MODULE ? 0
								: loc->nr_lines;
		if (!lines && !add_step(c, nr++, compose(c, loc, NULL), false))
			return false;
		for (j = lines; j; j--) {
			line = p->lines + loc->lines + j - 1;
			id = compose_line(c, loc, line);
			if (c->opts->with_files && !note_file(c, id, line))
				return false;
			if (!add_step(c, nr++, id, j < lines))
				return false;
			if (c->opts->no_inlines)
				break;
		}
	}
	c->frames->loc_start[i] = (uint32_t)nr;
	return true;
}

/* A name with eight of its bytes as a number. */
struct name_key {
	uint64_t head;
	str_id id;
};

/* Names keys[begin..end) that are equal in their first `skip` bytes. */
struct name_range {
	size_t begin;
	size_t end;
	size_t skip;
};

/* Ranges up to this size are sorted by comparing whole names. */
#define SMALL_RANGE 16

static int compare_keys(const void *a, const void *b, void *ctx)
{
	const struct name_key *ka = a, *kb = b;

	if (ka->head != kb->head)
		return ka->head < kb->head ? -1 : 1;
	return ctx ? strtab_compare(ctx, ka->id, kb->id) : 0;
}

static uint64_t name_head(const struct strtab_row *row, size_t skip)
{
	uint64_t head = 0;
	size_t i;

	for (i = skip; i < skip + sizeof(head); i++)
		head = head << 8 |
		       (i < row->len ? (unsigned char)row->text[i] : 0);
	return head;
}

/* Keys of equal heads from `begin` on. */
static size_t equal_run(const struct name_key *keys, size_t begin, size_t end)
{
	size_t i = begin + 1;

	while (i < end && keys[i].head == keys[begin].head)
		i++;
	return i;
}

/* Sort one range by eight bytes; what they leave equal goes on the list. */
static bool sort_range(const struct strtab *strings, struct name_key *keys,
		       struct name_range range, struct name_range **list,
		       size_t *nr, size_t *cap)
{
	bool small = range.end - range.begin <= SMALL_RANGE;
	size_t i, next;

	for (i = range.begin; i < range.end; i++)
		keys[i].head = name_head(&strings->rows[keys[i].id],
					 range.skip);
	qsort_r(keys + range.begin, range.end - range.begin, sizeof(*keys),
		compare_keys, small ? (void *)(uintptr_t)strings : NULL);
	for (i = range.begin; !small && i < range.end; i = next) {
		next = equal_run(keys, i, range.end);
		if (next == i + 1)
			continue;
		if (!mem_grow(*list, *cap, *nr + 1, MAX_FRAMES))
			return false;
		(*list)[*nr].begin = i;
		(*list)[*nr].end = next;
		(*list)[(*nr)++].skip = range.skip + sizeof(keys->head);
	}
	return true;
}

/*
 * Sort names that may start alike (bare addresses of one file): eight bytes
 * at a time, so that most comparisons never touch the text.
 */
static bool sort_names(const struct strtab *strings, struct name_key *keys,
		       size_t nr_keys)
{
	struct name_range *list = NULL, range = { 0, nr_keys, 0 };
	size_t nr = 0, cap = 0;
	bool ok = sort_range(strings, keys, range, &list, &nr, &cap);

	while (ok && nr) {
		range = list[--nr];
		ok = sort_range(strings, keys, range, &list, &nr, &cap);
	}
	mem_free(list);
	return ok;
}

static size_t collect_keys(const struct composer *c, struct name_key *keys)
{
	size_t nr = 0, i;

	for (i = 1; i < c->nr_notes; i++)
		if (c->notes[i].is_frame)
			keys[nr++].id = (str_id)i;
	return nr;
}

/* Number the frames in byte order of their names. */
static bool number_frames(struct composer *c)
{
	struct frames *f = c->frames;
	struct name_key *keys = mem_alloc(c->nr_notes, sizeof(*keys));
	struct note *note;
	size_t i;

	if (!keys)
		return false;
	f->nr = collect_keys(c, keys);
	if (sort_names(&f->strings, keys, f->nr))
		f->rows = mem_alloc(f->nr, sizeof(*f->rows));
	for (i = 0; f->rows && i < f->nr; i++) {
		note = &c->notes[keys[i].id];
		note->row = (uint32_t)i;
		f->rows[i].name = keys[i].id;
		f->rows[i].module = note->module;
		f->rows[i].file = note->file;
		f->rows[i].kind = note->kind;
	}
	mem_free(keys);
	return f->rows;
}

static void renumber_steps(struct composer *c)
{
	struct frames *f = c->frames;
	size_t nr = f->loc_start[c->profile->nr_locations], i;

	for (i = 0; i < nr; i++)
		f->loc_steps[i] = c->notes[f->loc_steps[i] >> 1].row << 1 |
				  (f->loc_steps[i] & 1);
}

static bool compose_frames(struct composer *c)
{
	const struct pprof_profile *p = c->profile;
	struct frames *f = c->frames;
	str_id no_stack;

	c->map_module = mem_zalloc(p->nr_mappings + 1, sizeof(str_id));
	c->func_string = mem_zalloc(p->nr_functions + 1, sizeof(str_id));
	f->loc_start = mem_zalloc(p->nr_locations + 1, sizeof(uint32_t));
	if (!c->map_module || !c->func_string || !f->loc_start ||
	    !strtab_init(&f->strings, MAX_NAME_BYTES) || !name_modules(c))
		return false;
	buf_reset(&c->buf);
	buf_str(&c->buf, "[no stack]");
	no_stack = note_frame(c, FRAME_SYNTHETIC, 0);
	if (no_stack == STR_NONE || !compose_all(c) || !number_frames(c))
		return false;
	renumber_steps(c);
	f->no_stack = c->notes[no_stack].row;
	return true;
}

enum pprof_status frames_init(struct frames *frames,
			      const struct pprof_profile *profile,
			      const struct frames_opts *opts,
			      struct pprof_error *err)
{
	struct composer c;
	bool ok;

	memset(frames, 0, sizeof(*frames));
	memset(&c, 0, sizeof(c));
	c.frames = frames;
	c.profile = profile;
	c.opts = opts;
	buf_init(&c.buf, UINT32_MAX);
	ok = compose_frames(&c);
	buf_fini(&c.buf);
	mem_free(c.notes);
	mem_free(c.map_module);
	mem_free(c.func_string);
	if (ok)
		return PPROF_OK;
	frames_fini(frames);
	return error_nomem(err);
}

void frames_fini(struct frames *frames)
{
	strtab_fini(&frames->strings);
	mem_free(frames->rows);
	mem_free(frames->loc_start);
	mem_free(frames->loc_steps);
	memset(frames, 0, sizeof(*frames));
}
