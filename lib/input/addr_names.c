/* SPDX-License-Identifier: Apache-2.0
 *
 * Address to names, as an input tells them about itself.
 */
#include <config.h>

#include "input/addr_names.h"

#include "base/mem.h"
#include "input/text.h"

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

void addr_names_init(struct addr_names *names, struct builder *out)
{
	memset(names, 0, sizeof(*names));
	names->out = out;
}

void addr_names_fini(struct addr_names *names)
{
	mem_free(names->rows);
	mem_free(names->lines);
	idmap_fini(&names->index);
}

static uint64_t hash_row(const void *ctx, uint32_t id)
{
	const struct addr_names *names = ctx;

	return hash_u64(names->rows[id].address);
}

static const struct addr_name_row *find_row(const struct addr_names *names,
					    uint64_t address)
{
	uint32_t id;
	size_t i;

	if (!names->nr)
		return NULL;
	i = idmap_first(&names->index, hash_u64(address));
	for (; (id = names->index.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&names->index, i)) {
		if (names->rows[id].address == address)
			return &names->rows[id];
	}
	return NULL;
}

bool addr_names_add(struct addr_names *names, uint64_t address,
		    const struct line *lines, size_t nr)
{
	struct addr_name_row *row;

	if (find_row(names, address))
		return true;
	if (!idmap_reserve(&names->index, hash_row, names) ||
	    !mem_grow(names->rows, names->cap, names->nr + 1, MAX_ROWS) ||
	    !mem_grow(names->lines, names->cap_lines, names->nr_lines + nr,
		      MAX_ROWS))
		return false;
	row = &names->rows[names->nr];
	row->address = address;
	row->first = (uint32_t)names->nr_lines;
	row->nr = (uint32_t)nr;
	memcpy(names->lines + names->nr_lines, lines, nr * sizeof(*lines));
	names->nr_lines += nr;
	idmap_put(&names->index, hash_u64(address), (uint32_t)names->nr++);
	return true;
}

bool addr_names_chain(struct addr_names *names, uint64_t address,
		      const struct line *line)
{
	struct addr_name_row *row;

	row = names->nr ? &names->rows[names->nr - 1] : NULL;
	if (!row || row->address != address)
		return addr_names_add(names, address, line, 1);
	if (!memcmp(&names->lines[names->nr_lines - 1], line, sizeof(*line)))
		return true;
	if (!mem_grow(names->lines, names->cap_lines, names->nr_lines + 1,
		      MAX_ROWS))
		return false;
	names->lines[names->nr_lines++] = *line;
	row->nr++;
	return true;
}

struct line addr_names_line(struct addr_names *names, const char *name,
			    size_t name_len, const char *file,
			    size_t file_len, int64_t line)
{
	struct function func = { .start_line = 0 };
	struct line ret = { .line = line };

	func.name = builder_str(names->out, name, name_len);
	func.file = builder_str(names->out, file, file_len);
	ret.func = builder_function(names->out, &func);
	return ret;
}

/* The end of a function's name without "+0x1f". */
static const char *cut_offset(const char *name, const char *end)
{
	const char *p = end, *q;
	uint64_t offset;

	while (p > name && p[-1] != '+')
		p--;
	if (p == name || !starts(p, end, "0x"))
		return end;
	q = p + 2;
	return text_hex(&q, end, &offset) && q == end ? p - 1 : end;
}

/* "FILE:LINE"; without a number all of it is the file. */
static const char *cut_line_number(const char *file, const char *end,
				   int64_t *ret_line)
{
	const char *p = end, *q;
	uint64_t line;

	*ret_line = 0;
	while (p > file && is_digit(p[-1]))
		p--;
	q = p;
	if (p == file || p[-1] != ':' || !text_u64(&q, end, &line) ||
	    line > INT32_MAX)
		return end;
	*ret_line = (int64_t)line;
	return p - 1;
}

bool addr_names_take_comment(struct addr_names *names, const char *p,
			     const char *end)
{
	const char *name, *name_end, *file, *file_end;
	uint64_t address;
	struct line line;
	int64_t number;

	end = trim_end(p, end);
	if (p == end || *p != '#')
		return true;
	p = skip_blanks(p + 1, end);
	if (!starts(p, end, "0x"))
		return true;
	p += 2;
	if (!text_hex(&p, end, &address) || p == end || !is_space(*p))
		return true;
	name = skip_blanks(p, end);
	for (name_end = name; name_end < end && *name_end != '\t'; name_end++)
		;
	file = skip_blanks(name_end, end);
	file_end = cut_line_number(file, end, &number);
	name_end = cut_offset(name, name_end);
	if (name == name_end)
		return true;
	line = addr_names_line(names, name, (size_t)(name_end - name), file,
			       (size_t)(file_end - file), number);
	return line.func != ID_FAILED &&
	       addr_names_chain(names, address, &line);
}

static bool give_lines(struct addr_names *names, struct location *loc,
		       const struct addr_name_row *row)
{
	struct pprof_profile *profile = names->out->profile;

	if (!mem_grow(profile->lines, profile->cap_lines,
		      profile->nr_lines + row->nr, MAX_ROWS))
		return false;
	memcpy(profile->lines + profile->nr_lines, names->lines + row->first,
	       row->nr * sizeof(*profile->lines));
	loc->lines = (uint32_t)profile->nr_lines;
	loc->nr_lines = row->nr;
	profile->nr_lines += row->nr;
	return true;
}

/* A mapping has functions when each of its addresses has a name. */
static enum pprof_status flag_mappings(struct pprof_profile *profile)
{
	uint8_t *bare = mem_zalloc(profile->nr_mappings + 1, 1);
	const struct location *loc;
	size_t i;

	if (!bare)
		return PPROF_NOMEM;
	for (i = 1; i < profile->nr_locations; i++) {
		loc = &profile->locations[i];
		bare[loc->mapping] |= loc->nr_lines ? 2 : 1;
	}
	for (i = 1; i < profile->nr_mappings; i++) {
		if (bare[i] == 2)
			profile->mappings[i].flags |= MAP_HAS_FUNCTIONS;
	}
	mem_free(bare);
	return PPROF_OK;
}

enum pprof_status addr_names_apply(struct addr_names *names, bool or_next)
{
	struct pprof_profile *profile = names->out->profile;
	const struct addr_name_row *row;
	struct location *loc;
	size_t i;

	if (names->out->status || !names->nr)
		return names->out->status;
	for (i = 1; i < profile->nr_locations; i++) {
		loc = &profile->locations[i];
		if (loc->nr_lines)
			continue;
		row = find_row(names, loc->address);
		if (!row && or_next)
			row = find_row(names, loc->address + 1);
		if (row && !give_lines(names, loc, row))
			return PPROF_NOMEM;
	}
	return flag_mappings(profile);
}
