/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses memory maps, makes mappings of them and finds the mapping of each
 * address. Knows paths as text only; files are not opened.
 */
#include <config.h>

#include "input/procmaps.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "input/ranges.h"

/* name=value lines that one text may hold (gperftools writes build=). */
#define VARS_MAX 16

/* Value of `$name` in paths. */
struct var {
	str_id name;
	str_id value;
};

struct parse {
	struct cursor *in;
	struct builder *out;
	struct ranges ranges;
	struct var vars[VARS_MAX];
	size_t nr_vars;
	struct buf path;
};

/* ------------------------------------------------------------ one line */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(const char **pos, const char *end)
{
	while (*pos < end && is_blank(**pos))
		++*pos;
}

/* Hexadecimal number with or without 0x. */
static bool take_hex(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	if (!text_hex(&p, end, ret))
		return false;
	*pos = p;
	return true;
}

/* The next word and the blanks after it; false at the end. */
static bool take_word(const char **pos, const char *end, const char **ret,
		      size_t *ret_len)
{
	const char *p = *pos;

	*ret = p;
	while (p < end && !is_blank(*p))
		p++;
	*ret_len = (size_t)(p - *ret);
	skip_blanks(&p, end);
	*pos = p;
	return *ret_len;
}

/* "r-xp", "r-x": each place its letter or a dash, s or p last. */
static bool is_perms(const char *word, size_t len)
{
	static const char letters[] = "rwx";
	size_t i;

	if (len < 3 || len > 5)
		return false;
	for (i = 0; i < 3; i++) {
		if (word[i] != letters[i] && word[i] != '-')
			return false;
	}
	for (; i < len; i++) {
		if (word[i] != 'p' && word[i] != 's' && word[i] != '-')
			return false;
	}
	return true;
}

static void set_path(struct procmaps_entry *ret, const char *path,
		     const char *end)
{
	ret->path = path;
	ret->path_len = (size_t)(end - path);
}

/* "[build-id]" after "(@offset)": hexadecimal digits to the end. */
static bool take_build_id(const char *p, const char *end,
			  struct procmaps_entry *ret)
{
	const char *q;
	uint64_t digit;

	skip_blanks(&p, end);
	while (end > p && is_blank(end[-1]))
		end--;
	for (q = p; q < end; q++) {
		const char *one = q;

		if (!text_hex(&one, q + 1, &digit))
			return false;
	}
	if (end > p) {
		ret->build_id = p;
		ret->build_id_len = (size_t)(end - p);
	}
	return true;
}

/* Go's brief form: path, then "(@offset) build-id" where known. */
static void take_brief(const char *p, const char *end,
		       struct procmaps_entry *ret)
{
	const char *open, *q;
	uint64_t offset;

	set_path(ret, p, end);
	for (open = end; open > p; open--) {
		if (end - open < 4 || memcmp(open - 1, "(@", 2))
			continue;
		q = open + 1;
		if (!take_hex(&q, end, &offset) || q == end || *q != ')' ||
		    !take_build_id(q + 1, end, ret))
			continue;
		ret->offset = offset;
		for (open--; open > p && is_blank(open[-1]); open--)
			;
		set_path(ret, p, open);
		return;
	}
}

/* "offset major:minor inode path" (proc(5)); false when it is not that. */
static bool take_linux(const char *p, const char *end,
		       struct procmaps_entry *ret)
{
	uint64_t offset, number;

	if (!take_hex(&p, end, &offset) || p == end || !is_blank(*p))
		return false;
	skip_blanks(&p, end);
	if (!text_hex(&p, end, &number) || p == end || *p++ != ':' ||
	    !text_hex(&p, end, &number) || p == end || !is_blank(*p))
		return false;
	skip_blanks(&p, end);
	if (!text_u64(&p, end, &number) || (p < end && !is_blank(*p)))
		return false;
	skip_blanks(&p, end);
	ret->offset = offset;
	set_path(ret, p, end);
	return true;
}

/* An offset where Go's brief form has a path: a cut line of proc(5). */
static bool is_cut_linux(const char *p, const char *end)
{
	uint64_t offset;

	return p == end ||
	       (text_hex(&p, end, &offset) && (p == end || is_blank(*p)));
}

/* What follows "start-end". */
static bool take_ranged(const char *p, const char *end,
			struct procmaps_entry *ret)
{
	const char *word, *rest;
	bool is_cooked = p < end && *p == ':';
	size_t len;

	p += is_cooked;
	if (p < end && !is_blank(*p))
		return false;
	skip_blanks(&p, end);
	rest = p;
	ret->is_code = true;
	if (take_word(&rest, end, &word, &len) && is_perms(word, len)) {
		ret->is_code = word[2] == 'x';
		if (!is_cooked && take_linux(rest, end, ret))
			return true;
		if (!is_cooked && is_cut_linux(rest, end))
			return false;
		p = rest;
	}
	take_brief(p, end, ret);
	return is_cooked || ret->path_len;
}

/* Drop "NCH uid" or "CH uid" behind FreeBSD's path. */
static const char *cut_credentials(const char *path, const char *end)
{
	const char *p = end;

	while (p > path && !is_blank(p[-1]))
		p--;
	while (p > path && is_blank(p[-1]))
		p--;
	if (p - path >= 2 && !memcmp(p - 2, "CH", 2))
		p -= 2;
	else
		return end;
	if (p > path && p[-1] == 'N')
		p--;
	while (p > path && is_blank(p[-1]))
		p--;
	return p;
}

/*
 * FreeBSD's procfs after "start ": end resident private object perms ref
 * shadow flags COW|NCOW NC|NNC type path NCH|CH uid. No file offset.
 */
static bool take_freebsd(const char *p, const char *end,
			 struct procmaps_entry *ret)
{
	const char *word, *after;
	size_t len, i;

	if (!take_hex(&p, end, &ret->limit) || p == end || !is_blank(*p))
		return false;
	skip_blanks(&p, end);
	for (i = 0; i < 3; i++) {
		if (!take_word(&p, end, &word, &len))
			return false;
	}
	if (!take_word(&p, end, &word, &len) || !is_perms(word, len))
		return false;
	ret->is_code = word[2] == 'x';
	for (i = 0; i < 6; i++) {
		if (!take_word(&p, end, &word, &len))
			return false;
	}
	after = cut_credentials(p, end);
	set_path(ret, p, after);
	if (after - p == 1 && *p == '-')
		ret->path_len = 0;
	return true;
}

bool procmaps_parse_line(const char *text, size_t len,
			 struct procmaps_entry *ret)
{
	const char *p = text, *end = text + len;

	memset(ret, 0, sizeof(*ret));
	if (len && end[-1] == '\r')
		end--;
	skip_blanks(&p, end);
	set_path(ret, end, end);
	if (!take_hex(&p, end, &ret->start) || p == end)
		return false;
	if (*p == '-') {
		p++;
		return take_hex(&p, end, &ret->limit) &&
		       take_ranged(p, end, ret);
	}
	if (!is_blank(*p))
		return false;
	skip_blanks(&p, end);
	return take_freebsd(p, end, ret);
}

/* ---------------------------------------------------- paths and lines */

static bool starts_with(const char *text, size_t len, const char *start)
{
	size_t nr = strlen(start);

	return len >= nr && !memcmp(text, start, nr);
}

/* Code of no file. "[anon:...]" and "//anon" are names the system gave. */
static bool names_no_file(const char *path, size_t len)
{
	return !len || starts_with(path, len, "[anon") ||
	       starts_with(path, len, "//anon") ||
	       starts_with(path, len, "/anon_hugepage");
}

/* Variable whose name stands at text, the longest one; NULL: none. */
static const struct var *find_var(const struct parse *parse, const char *text,
				  size_t len)
{
	const struct strtab *strings = &parse->out->profile->strings;
	const struct var *found = NULL, *var;
	size_t i, best = 0, nr;

	for (i = 0; i < parse->nr_vars; i++) {
		var = &parse->vars[i];
		nr = strtab_len(strings, var->name);
		if (nr < best || nr > len ||
		    memcmp(strtab_text(strings, var->name), text, nr))
			continue;
		best = nr;
		found = var;
	}
	return found;
}

/*
 * The path as stored: "\012" is the LF that the kernel wrote so (Linux
 * fs/proc/task_mmu.c, show_map_vma), "$name" stands for a variable.
 */
static str_id store_path(struct parse *parse, const char *path, size_t len)
{
	struct strtab *strings = &parse->out->profile->strings;
	const struct var *var;
	size_t i;

	if (!memchr(path, '\\', len) && !memchr(path, '$', len))
		return builder_str(parse->out, path, len);
	buf_reset(&parse->path);
	for (i = 0; i < len; i++) {
		if (starts_with(path + i, len - i, "\\012")) {
			buf_byte(&parse->path, '\n');
			i += 3;
			continue;
		}
		var = path[i] == '$' ? find_var(parse, path + i + 1,
						len - i - 1) : NULL;
		if (!var) {
			buf_byte(&parse->path, path[i]);
			continue;
		}
		buf_add(&parse->path, strtab_text(strings, var->value),
			strtab_len(strings, var->value));
		i += strtab_len(strings, var->name);
	}
	if (!buf_ok(&parse->path)) {
		diag_count(parse->out->diags, PPROF_UNIT_LINE,
			   parse->in->line - 1, "path too long: kept as it "
			   "stands");
		return builder_str(parse->out, path, len);
	}
	return builder_str(parse->out, parse->path.data, parse->path.len);
}

/* Build ID in lower case. */
static str_id store_build_id(struct parse *parse, const char *text, size_t len)
{
	size_t i;
	char c;

	buf_reset(&parse->path);
	for (i = 0; i < len; i++) {
		c = text[i];
		buf_byte(&parse->path,
			 c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c);
	}
	if (!buf_ok(&parse->path))
		return 0;
	return builder_str(parse->out, parse->path.data, parse->path.len);
}

static enum pprof_status add_entry(struct parse *parse,
				   const struct procmaps_entry *entry,
				   uint64_t line)
{
	struct builder *out = parse->out;
	struct ranges *ranges = &parse->ranges;
	struct range *range;

	if (entry->start >= entry->limit) {
		diag_count(out->diags, PPROF_UNIT_LINE, line,
			   "map of an empty or reversed range dropped");
		return PPROF_OK;
	}
	/* Heaps, stacks and the like hold no code and name no file. */
	if (!entry->is_code && (!entry->path_len || entry->path[0] == '['))
		return PPROF_OK;
	if (ranges->nr >= out->limits->mappings)
		return cursor_fail_at(parse->in, PPROF_LIMIT, PPROF_UNIT_LINE,
				      line, "more than %u mappings "
				      "(limit mappings)",
				      out->limits->mappings);
	if (!mem_grow(ranges->rows, ranges->cap, ranges->nr + 1,
		      out->limits->mappings))
		return cursor_fail_at(parse->in, PPROF_NOMEM, PPROF_UNIT_LINE,
				      line, "out of memory");
	range = &ranges->rows[ranges->nr++];
	memset(range, 0, sizeof(*range));
	range->start = entry->start;
	range->limit = entry->limit;
	range->offset = entry->offset;
	range->is_code = entry->is_code;
	range->is_hole = entry->is_code &&
			 names_no_file(entry->path, entry->path_len);
	range->file = store_path(parse, entry->path, entry->path_len);
	range->build_id = store_build_id(parse, entry->build_id,
					 entry->build_id_len);
	return out->status;
}

/* Length of the name of a "name=value" line, or 0. */
static size_t var_name_len(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == '=')
			return i;
		if ((text[i] < 'a' || text[i] > 'z') &&
		    (text[i] < 'A' || text[i] > 'Z') && text[i] != '_')
			return 0;
	}
	return 0;
}

static enum pprof_status add_var(struct parse *parse, const char *text,
				 size_t name_len, size_t len, uint64_t line)
{
	struct var *var = &parse->vars[parse->nr_vars];

	if (parse->nr_vars == VARS_MAX) {
		diag_count(parse->out->diags, PPROF_UNIT_LINE, line,
			   "more than 16 variables among the maps: ignored");
		return PPROF_OK;
	}
	var->name = builder_str(parse->out, text, name_len);
	var->value = builder_str(parse->out, text + name_len + 1,
				 len - name_len - 1);
	if (!parse->out->status)
		parse->nr_vars++;
	return parse->out->status;
}

static bool is_marker(const char *text, size_t len)
{
	return starts_with(text, len, "MAPPED_LIBRARIES:") ||
	       starts_with(text, len, "--- Memory map:");
}

static bool starts_profile(const char *text, size_t len)
{
	return starts_with(text, len, "heap_v2/") ||
	       starts_with(text, len, "heap profile:");
}

static enum pprof_status take_line(struct parse *parse,
				   const struct cursor_line *line)
{
	const char *p = line->text, *end = p + line->len;
	struct procmaps_entry entry;
	size_t len;

	skip_blanks(&p, end);
	while (end > p && (is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	len = (size_t)(end - p);
	if (!len || is_marker(p, len))
		return PPROF_OK;
	if (starts_profile(p, len))
		return cursor_fail_at(parse->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      line->number, "a second profile begins "
				      "here, expected one; split the file");
	if (procmaps_parse_line(line->text, line->len, &entry))
		return add_entry(parse, &entry, line->number);
	if (var_name_len(p, len))
		return add_var(parse, p, var_name_len(p, len), len,
			       line->number);
	diag_count(parse->out->diags, PPROF_UNIT_LINE, line->number,
		   line->has_lf ? "not a line of memory maps: ignored" :
		   "the maps end inside a line: the input is truncated");
	return PPROF_OK;
}

/* ------------------------------------------------------- into mappings */

/* Whether "N.N.N" or nothing follows. */
static bool is_version(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p != '.' && (*p < '0' || *p > '9'))
			return false;
	}
	return true;
}

/* libx.so, libx.so.6.0, ld-linux*, ld-musl*. */
static bool is_library(const char *base, const char *end)
{
	const char *p;

	if (starts_with(base, (size_t)(end - base), "ld-linux") ||
	    starts_with(base, (size_t)(end - base), "ld-musl"))
		return true;
	for (p = base; end - p >= 3; p++) {
		if (!memcmp(p, ".so", 3) && is_version(p + 3, end))
			return true;
	}
	return false;
}

/* Whether a mapped file may be the program itself. */
static bool may_be_main(const char *path, size_t len)
{
	static const char deleted[] = " (deleted)";
	const size_t cut = sizeof(deleted) - 1;
	const char *base, *end;

	if (!len || path[0] == '[' || starts_with(path, len, "//") ||
	    starts_with(path, len, "/anon_hugepage") ||
	    starts_with(path, len, "/memfd:") ||
	    starts_with(path, len, "/dev/zero") ||
	    starts_with(path, len, "/SYSV") ||
	    starts_with(path, len, "anon_inode:"))
		return false;
	if (len > cut && !memcmp(path + len - cut, deleted, cut))
		len -= cut;
	end = path + len;
	base = memrchr(path, '/', len);
	return !is_library(base ? base + 1 : path, end);
}

/* Mark the files that have code: with_code[nr strings]. */
static uint8_t *find_files_with_code(const struct ranges *ranges,
				     const struct pprof_profile *profile)
{
	uint8_t *with_code = mem_zalloc(profile->strings.nr, 1);
	size_t i;

	for (i = 0; with_code && i < ranges->nr; i++)
		with_code[ranges->rows[i].file] |= ranges->rows[i].is_code;
	return with_code;
}

/* One mapping a range; ranges of files without any code are left out. */
static enum pprof_status make_mappings(const struct ranges *ranges,
				       struct builder *out)
{
	struct pprof_profile *profile = out->profile;
	bool main_known = profile_main_mapping(profile);
	const struct range *row;
	struct mapping map;
	uint8_t *with_code;
	size_t i;

	with_code = find_files_with_code(ranges, profile);
	if (!with_code)
		return PPROF_NOMEM;
	for (i = 0; i < ranges->nr; i++) {
		row = &ranges->rows[i];
		if (!with_code[row->file])
			continue;
		memset(&map, 0, sizeof(map));
		map.start = row->start;
		map.limit = row->limit;
		map.offset = row->offset;
		map.file = row->file;
		map.build_id = row->build_id;
		if (!row->is_code)
			map.flags |= MAP_NOT_CODE;
		else if (!main_known &&
			 may_be_main(profile_str(profile, row->file),
				     strtab_len(&profile->strings,
						row->file)))
			map.flags |= MAP_MAIN;
		main_known |= (map.flags & MAP_MAIN) != 0;
		if (builder_mapping(out, &map) == ID_FAILED)
			break;
	}
	mem_free(with_code);
	return out->status;
}

enum pprof_status procmaps_read(struct cursor *in, struct builder *out)
{
	struct parse parse = { .in = in, .out = out };
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;

	buf_init(&parse.path, out->limits->string_bytes);
	while (!status && cursor_next_line(in, &line)) {
		/* The kernel ends every line; a path may be cut unseen. */
		if (!line.has_lf)
			diag_count(out->diags, PPROF_UNIT_LINE, line.number,
				   "last line of the memory map has no end: "
				   "the input may be cut there");
		status = take_line(&parse, &line);
	}
	if (!status)
		status = cursor_status(in, NULL);
	if (!status && !ranges_settle(&parse.ranges))
		status = PPROF_NOMEM;
	if (!status) {
		ranges_tidy(&parse.ranges);
		status = make_mappings(&parse.ranges, out);
	}
	mem_free(parse.ranges.rows);
	buf_fini(&parse.path);
	if (!status)
		status = procmaps_assign(out);
	if (status == PPROF_NOMEM)
		cursor_fail(in, status, PPROF_UNIT_NONE, "out of memory");
	return status;
}

/* ------------------------------------------------- addresses to mappings */

/* The settled code ranges of the profile's mappings. */
static bool collect_code(const struct pprof_profile *profile,
			 struct ranges *ranges)
{
	const struct mapping *map;
	struct range *range;
	size_t i;

	ranges->rows = mem_zalloc(profile->nr_mappings, sizeof(*ranges->rows));
	if (!ranges->rows)
		return false;
	for (i = 1; i < profile->nr_mappings; i++) {
		map = &profile->mappings[i];
		if (map->flags & MAP_NOT_CODE || map->start >= map->limit)
			continue;
		/* It holds addresses of its file, not of the process. */
		if (!map->start && map->limit == UINT64_MAX)
			continue;
		range = &ranges->rows[ranges->nr++];
		range->start = map->start;
		range->limit = map->limit;
		range->map = (map_id)i;
	}
	return ranges_settle(ranges);
}

enum pprof_status procmaps_assign(struct builder *out)
{
	struct pprof_profile *profile = out->profile;
	struct ranges ranges = { .rows = NULL };
	const struct range *hit = NULL;
	struct location *loc;
	size_t i;

	if (out->status)
		return out->status;
	if (!collect_code(profile, &ranges)) {
		mem_free(ranges.rows);
		return PPROF_NOMEM;
	}
	for (i = 1; i < profile->nr_locations; i++) {
		loc = &profile->locations[i];
		if (loc->mapping || !loc->address)
			continue;
		/* Neighbouring rows are mostly of one file. */
		if (!hit || loc->address < hit->start ||
		    loc->address >= hit->limit)
			hit = ranges_find(&ranges, loc->address);
		if (hit)
			loc->mapping = hit->map;
	}
	mem_free(ranges.rows);
	return PPROF_OK;
}
