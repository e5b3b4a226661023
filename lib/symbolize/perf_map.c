/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading perf's maps of generated code, and looking addresses up in them.
 * Of ranges that overlap the last one counts: its code replaced the others'.
 */
#include <config.h>

#include "symbolize/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/mem.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)
#define MAX_ENTRIES ((size_t)1 << 26)
#define MAX_STRING_BYTES ((uint64_t)1 << 30)

struct entry {
	uint64_t start, end;
	str_id name;
	uint32_t order; /* in the files */
};

struct perf_map {
	struct strtab strings;
	struct entry *entries;
	size_t nr_entries, cap_entries;
	uint64_t longest; /* bytes of one range */
	struct diags *diags;
};

static enum pprof_status read_bytes(int fd, const char *path, struct buf *out,
				    struct pprof_error *err)
{
	ssize_t nr;

	do {
		if (!buf_reserve(out, 1 << 16))
			return error_plain(err, PPROF_LIMIT, path,
					   "larger than 1 GiB, or out of "
					   "memory");
		nr = read(fd, out->data + out->len, 1 << 16);
		if (nr < 0 && errno != EINTR)
			return error_plain(err, PPROF_IO, path, "%s",
					   strerror(errno));
		if (nr > 0)
			out->len += (size_t)nr;
	} while (nr);
	return PPROF_OK;
}

static enum pprof_status read_file(const char *path, struct buf *out,
				   struct pprof_error *err)
{
	enum pprof_status status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return error_plain(err, PPROF_IO, path, "%s", strerror(errno));
	status = read_bytes(fd, path, out, err);
	close(fd);
	return status;
}

static bool skip_blanks(const char **pos, const char *end)
{
	const char *start = *pos;

	while (*pos < end && (**pos == ' ' || **pos == '\t'))
		(*pos)++;
	return *pos > start;
}

/* Some writers put 0x before the numbers. */
static bool parse_hex(const char **pos, const char *end, uint64_t *ret)
{
	if (end - *pos > 2 && (*pos)[0] == '0' && (*pos)[1] == 'x')
		*pos += 2;
	return text_hex(pos, end, ret);
}

/* Take one line; false when out of memory. */
static bool take_line(struct perf_map *map, const struct cursor_line *line)
{
	const char *pos = line->text, *end = line->text + line->len;
	struct entry entry;
	uint64_t size;

	while (end > pos && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (pos == end)
		return true;
	if (!parse_hex(&pos, end, &entry.start) || !skip_blanks(&pos, end) ||
	    !parse_hex(&pos, end, &size) || !skip_blanks(&pos, end) ||
	    pos == end || size > UINT64_MAX - entry.start) {
		diag_count(map->diags, PPROF_UNIT_LINE, line->number,
			   "line of a perf map is not START SIZE NAME");
		return true;
	}
	if (!size)
		return true;
	entry.end = entry.start + size;
	entry.name = strtab_add(&map->strings, pos, (size_t)(end - pos));
	entry.order = (uint32_t)map->nr_entries;
	if (entry.name == STR_NONE ||
	    !mem_grow(map->entries, map->cap_entries, map->nr_entries + 1,
		      MAX_ENTRIES))
		return false;
	map->entries[map->nr_entries++] = entry;
	if (size > map->longest)
		map->longest = size;
	return true;
}

static enum pprof_status read_map(struct perf_map *map, const char *path,
				  struct pprof_error *err)
{
	enum pprof_status status;
	struct cursor_line line;
	struct cursor cursor;
	bool is_good = true;
	struct buf text;

	buf_init(&text, MAX_FILE_BYTES);
	status = read_file(path, &text, err);
	if (!status) {
		cursor_init_memory(&cursor, path, text.data, text.len);
		while (is_good && cursor_next_line(&cursor, &line))
			is_good = take_line(map, &line);
		cursor_fini(&cursor);
		if (!is_good)
			status = error_nomem(err);
	}
	buf_fini(&text);
	return status;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Entries that are looked at for one address; overlaps are rare. */
#define MAX_STEPS 256

/* The last written entry over `address`, or NULL. */
static const struct entry *find_entry(const struct perf_map *map,
				      uint64_t address)
{
	const struct entry *best = NULL;
	size_t lo = 0, nr = map->nr_entries, steps;

	while (nr) {
		const size_t half = nr / 2;

		if (map->entries[lo + half].start <= address) {
			lo += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	for (steps = 0; lo && steps < MAX_STEPS; steps++) {
		const struct entry *entry = &map->entries[--lo];

		if (address - entry->start >= map->longest)
			break;
		if (address < entry->end &&
		    (!best || entry->order > best->order))
			best = entry;
	}
	return best;
}

/* Answers of one frame each for the addresses that the map knows. */
static bool answer(const struct run *run, const struct perf_map *map,
		   struct answers *answers, size_t *ask_of)
{
	size_t i;

	for (i = 0; i < run->nr_asks; i++) {
		const struct ask *ask = &run->asks[i];
		const struct entry *entry;
		struct answer_frame *frame;

		if (ask->source != ANSWER_NONE)
			continue;
		entry = find_entry(map, ask->address);
		if (!entry)
			continue;
		frame = &answers->frames[answers->nr_frames];
		memset(frame, 0, sizeof(*frame));
		frame->name = strtab_add(&answers->strings,
			strtab_text(&map->strings, entry->name),
			strtab_len(&map->strings, entry->name));
		if (frame->name == STR_NONE)
			return false;
		frame->system_name = frame->name;
		answers->start[answers->nr_frames + 1] =
			(uint32_t)answers->nr_frames + 1;
		ask_of[answers->nr_frames++] = i;
	}
	answers->nr = answers->nr_frames;
	return true;
}

static enum pprof_status give_names(struct run *run, struct draft *draft,
				    const struct answers *answers,
				    const size_t *ask_of)
{
	enum pprof_status status;
	size_t i;

	status = draft_answers(draft, answers, run->err);
	for (i = 0; i < answers->nr && !status; i++) {
		struct ask *ask = &run->asks[ask_of[i]];
		const map_id map = run->profile->locations[ask->loc].mapping;

		ask->source = ANSWER_SYMBOL;
		run->nr_named++;
		status = draft_frames(draft, ask->loc, map, answers, i,
				      run->err);
	}
	return status;
}

static enum pprof_status name_asks(struct run *run, struct draft *draft,
				   const struct perf_map *map)
{
	struct answers answers = { .nr = 0 };
	enum pprof_status status;
	size_t *ask_of;

	ask_of = mem_alloc(run->nr_asks, sizeof(*ask_of));
	answers.start = mem_zalloc(run->nr_asks + 1, sizeof(*answers.start));
	answers.frames = mem_alloc(run->nr_asks, sizeof(*answers.frames));
	if (strtab_init(&answers.strings, MAX_STRING_BYTES) && ask_of &&
	    answers.start && answers.frames &&
	    answer(run, map, &answers, ask_of))
		status = give_names(run, draft, &answers, ask_of);
	else
		status = error_nomem(run->err);
	answers_fini(&answers);
	mem_free(ask_of);
	return status;
}

enum pprof_status perf_maps_name(struct run *run, struct draft *draft)
{
	const struct name_list *paths =
		&run->symbolizer->finder.perf_maps;
	struct perf_map map = { .diags = &run->symbolizer->diags };
	enum pprof_status status = PPROF_OK;
	size_t i;

	if (!paths->nr || !run->nr_asks)
		return PPROF_OK;
	if (!strtab_init(&map.strings, MAX_STRING_BYTES))
		status = error_nomem(run->err);
	for (i = 0; i < paths->nr && !status; i++)
		status = read_map(&map, paths->names[i], run->err);
	if (!status && map.nr_entries) {
		qsort(map.entries, map.nr_entries, sizeof(*map.entries),
		      compare_entries);
		status = name_asks(run, draft, &map);
	}
	strtab_fini(&map.strings);
	mem_free(map.entries);
	return status;
}
