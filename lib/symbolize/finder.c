/* SPDX-License-Identifier: Apache-2.0
 *
 * Candidates for a mapped path, in order of trust, and the table of opened
 * files. Debug information of a file that was chosen is debugfiles.c's.
 */
#include <config.h>

#include "symbolize/finder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "symbolize/debugfiles.h"
#include "symbolize/symbol_dirs.h"

/* Bytes of all names of options. */
#define NAMES_MAX ((uint64_t)1 << 30)

/* Files kept open at most; a process has some hundreds of images. */
#define OPENED_MAX 65536

static const char deleted[] = " (deleted)";

static bool copy_list(struct finder *finder, struct name_list *list,
		      const char *const *names, size_t nr)
{
	size_t i;

	list->names = arena_alloc(&finder->arena, nr ? nr : 1, sizeof(char *));
	if (!list->names)
		return false;
	for (i = 0; i < nr; i++) {
		list->names[i] = arena_strndup(&finder->arena, names[i],
					       strlen(names[i]));
		if (!list->names[i])
			return false;
	}
	list->nr = nr;
	return true;
}

enum pprof_status finder_init(struct finder *finder,
			      const struct pprof_symbolize_opts *opts,
			      struct pprof_error *err)
{
	memset(finder, 0, sizeof(*finder));
	arena_init(&finder->arena, NAMES_MAX);
	finder->debuginfod.is_wanted = opts->debuginfod;
	if (!copy_list(finder, &finder->binaries, opts->binaries,
		       opts->nr_binaries) ||
	    !copy_list(finder, &finder->sysroots, opts->sysroots,
		       opts->nr_sysroots) ||
	    !copy_list(finder, &finder->debug_dirs, opts->debug_dirs,
		       opts->nr_debug_dirs) ||
	    !copy_list(finder, &finder->search_dirs, opts->search_dirs,
		       opts->nr_search_dirs) ||
	    !copy_list(finder, &finder->path_maps, opts->path_maps,
		       opts->nr_path_maps) ||
	    !copy_list(finder, &finder->symbols, opts->symbols,
		       opts->nr_symbols) ||
	    !copy_list(finder, &finder->perf_maps, opts->perf_maps,
		       opts->nr_perf_maps))
		return error_nomem(err);
	return PPROF_OK;
}

static void close_binary(struct binary *binary)
{
	module_free(binary->module);
	symfile_close(binary->symfile);
	elf_file_close(binary->elf);
	mem_free(binary->segments);
	mem_free(binary);
}

void finder_fini(struct finder *finder)
{
	size_t i;

	for (i = 0; i < finder->nr_opened; i++)
		close_binary(finder->opened[i]);
	mem_free(finder->opened);
	debuginfod_fini(&finder->debuginfod);
	arena_fini(&finder->arena);
	memset(finder, 0, sizeof(*finder));
}

size_t path_undeleted_len(const char *path)
{
	const size_t len = strlen(path), cut = sizeof(deleted) - 1;

	if (len > cut && !memcmp(path + len - cut, deleted, cut))
		return len - cut;
	return len;
}

size_t path_base(const char *path, bool strip, const char **ret_base)
{
	size_t len = strip ? path_undeleted_len(path) : strlen(path);
	const char *slash = memrchr(path, '/', len);

	*ret_base = slash ? slash + 1 : path;
	return len - (size_t)(*ret_base - path);
}

/* --------------------------------------------------------------- opening */

static int64_t mtime_ns(const struct stat *st)
{
	return (int64_t)((uint64_t)st->st_mtim.tv_sec * 1000000000u +
			 (uint64_t)st->st_mtim.tv_nsec);
}

static struct binary *find_opened(const struct finder *finder,
				  const struct stat *st)
{
	size_t i;

	for (i = 0; i < finder->nr_opened; i++) {
		struct binary *binary = finder->opened[i];

		if (binary->dev == st->st_dev && binary->ino == st->st_ino &&
		    binary->size == (uint64_t)st->st_size &&
		    binary->mtime_ns == mtime_ns(st))
			return binary;
	}
	return NULL;
}

/* What a symbol file tells of the binary that it was made from. */
static enum pprof_status read_symfile(struct binary *binary,
				      struct pprof_error *err)
{
	const struct symfile_header *header = &binary->symfile->header;

	binary->nr_segments = header->nr_segments;
	binary->segments = mem_alloc(header->nr_segments,
				     sizeof(*header->segments));
	if (!binary->segments)
		return error_nomem(err);
	memcpy(binary->segments, header->segments,
	       header->nr_segments * sizeof(*header->segments));
	memcpy(binary->build_id, header->build_id, sizeof(binary->build_id));
	binary->type = header->type;
	binary->machine = header->machine;
	binary->is_debug_only = header->is_debug_only;
	binary->debug_path = binary->path;
	return PPROF_OK;
}

static enum pprof_status read_binary(struct binary *binary,
				     struct pprof_error *err)
{
	const struct elf_segment *segments;
	const char *id;

	binary->status = symfile_open(binary->path, &binary->symfile,
				      &binary->err);
	if (binary->status == PPROF_NOMEM)
		return error_nomem(err);
	if (binary->status)
		return PPROF_OK;
	if (binary->symfile)
		return read_symfile(binary, err);
	binary->status = elf_file_open(binary->path, &binary->elf,
				       &binary->err);
	if (binary->status == PPROF_NOMEM)
		return error_nomem(err);
	if (binary->status)
		return PPROF_OK;
	segments = elf_file_segments(binary->elf, &binary->nr_segments);
	binary->segments = mem_alloc(binary->nr_segments, sizeof(*segments));
	if (!binary->segments)
		return error_nomem(err);
	if (binary->nr_segments)
		memcpy(binary->segments, segments,
		       binary->nr_segments * sizeof(*segments));
	id = elf_file_build_id(binary->elf);
	memcpy(binary->build_id, id, strnlen(id, sizeof(binary->build_id) - 1));
	binary->type = elf_file_type(binary->elf);
	binary->machine = elf_file_machine(binary->elf);
	binary->is_debug_only = elf_file_is_debug_only(binary->elf);
	return PPROF_OK;
}

enum pprof_status finder_open(struct finder *finder, const char *path,
			      struct binary **ret_binary,
			      struct pprof_error *err)
{
	enum pprof_status status;
	struct binary *binary;
	struct stat st;

	*ret_binary = NULL;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return PPROF_OK;
	*ret_binary = find_opened(finder, &st);
	if (*ret_binary)
		return PPROF_OK;
	if (!mem_grow(finder->opened, finder->cap_opened,
		      finder->nr_opened + 1, OPENED_MAX))
		return error_nomem(err);
	binary = mem_zalloc(1, sizeof(*binary));
	if (!binary)
		return error_nomem(err);
	binary->dev = st.st_dev;
	binary->ino = st.st_ino;
	binary->size = (uint64_t)st.st_size;
	binary->mtime_ns = mtime_ns(&st);
	binary->debug_path = "";
	binary->path = arena_strndup(&finder->arena, path, strlen(path));
	status = binary->path ? read_binary(binary, err) : error_nomem(err);
	if (status) {
		close_binary(binary);
		return status;
	}
	finder->opened[finder->nr_opened++] = binary;
	*ret_binary = binary;
	return PPROF_OK;
}

enum pprof_status finder_get(struct finder *finder, const char *path,
			     struct binary **ret_binary,
			     struct pprof_error *err)
{
	enum pprof_status status;
	struct binary *binary;
	struct stat st;

	status = finder_open(finder, path, &binary, err);
	if (status)
		return status;
	if (!binary)
		return error_plain(err, PPROF_IO, path, "%s",
				   stat(path, &st) ? strerror(errno)
						   : "not a regular file");
	if (binary->status)
		return error_plain(err, binary->status, path, "%s",
				   binary->err.message);
	*ret_binary = binary;
	return PPROF_OK;
}

/* ------------------------------------------------------------- searching */

struct search {
	struct finder *finder;
	const char *build_id;
	finder_judge_fn judge;
	void *ctx;
	bool is_taken;
	bool has_met;       /* a file lies at one of the paths so far */
	struct pprof_error *err;
	/* Filled without allocating: a failure is a path too long. */
	struct buf path;    /* candidate under construction */
	struct buf variant; /* spelling of the mapped path */
	struct buf mapped;  /* the same after a path map */
};

/* Show the judge what lies at s->path. */
static enum pprof_status try_path(struct search *s)
{
	enum pprof_status status;
	struct binary *binary;

	if (s->is_taken || !buf_ok(&s->path) ||
	    memchr(s->path.data, '\0', s->path.len))
		return PPROF_OK;
	status = finder_open(s->finder, buf_cstr(&s->path), &binary, s->err);
	if (status || !binary)
		return status;
	s->has_met = true;
	return s->judge(s->ctx, binary, &s->is_taken, s->err);
}

static void start_path(struct search *s, const char *dir)
{
	buf_reset(&s->path);
	buf_str(&s->path, dir);
	if (s->path.len && s->path.data[s->path.len - 1] != '/')
		buf_byte(&s->path, '/');
}

/* DIR/ID/NAME and DIR/.build-id/xx/rest, as with PPROF_BINARY_PATH. */
static enum pprof_status try_build_id(struct search *s, const char *dir,
				      const char *base, size_t base_len)
{
	enum pprof_status status;

	start_path(s, dir);
	buf_str(&s->path, s->build_id);
	buf_byte(&s->path, '/');
	buf_add(&s->path, base, base_len);
	status = try_path(s);
	if (status || s->is_taken || strlen(s->build_id) < 3)
		return status;
	buf_reset(&s->path);
	debug_path_by_id(&s->path, dir, s->build_id, "");
	return try_path(s);
}

/* The spelling under each sysroot; as it stands when `is_local`. */
static enum pprof_status try_spelling(struct search *s, const char *path,
				      size_t len, bool is_local)
{
	const struct name_list *roots = &s->finder->sysroots;
	enum pprof_status status = PPROF_OK;
	size_t i, skip;

	for (i = 0; !status && !s->is_taken && i < roots->nr; i++) {
		skip = len && path[0] == '/';
		start_path(s, roots->names[i]);
		buf_add(&s->path, path + skip, len - skip);
		status = try_path(s);
	}
	if (status || s->is_taken || !is_local)
		return status;
	buf_reset(&s->path);
	buf_add(&s->path, path, len);
	return try_path(s);
}

/* Length of OLD when `path` is OLD or lies below it, else SIZE_MAX. */
static size_t match_map(const char *map, const char *path, size_t len)
{
	const char *equals = strchr(map, '=');
	size_t old = equals ? (size_t)(equals - map) : 0;

	while (old > 1 && map[old - 1] == '/')
		old--;
	if (!equals || !old || old > len || memcmp(map, path, old))
		return SIZE_MAX;
	if (old < len && path[old] != '/' && map[old - 1] != '/')
		return SIZE_MAX;
	return old;
}

/* The spelling with each fitting OLD=NEW applied, then as it is. */
static enum pprof_status try_mapped(struct search *s, const char *path,
				    size_t len)
{
	const struct name_list *maps = &s->finder->path_maps;
	enum pprof_status status = PPROF_OK;
	struct buf *mapped = &s->mapped;
	size_t i, old;

	for (i = 0; !status && !s->is_taken && i < maps->nr; i++) {
		old = match_map(maps->names[i], path, len);
		if (old == SIZE_MAX)
			continue;
		buf_reset(mapped);
		buf_str(mapped, strchr(maps->names[i], '=') + 1);
		while (mapped->len && mapped->data[mapped->len - 1] == '/')
			mapped->len--;
		if (old < len && path[old] != '/')
			buf_byte(mapped, '/');
		buf_add(mapped, path + old, len - old);
		if (buf_ok(mapped))
			status = try_spelling(s, mapped->data, mapped->len,
					      true);
	}
	if (status || s->is_taken)
		return status;
	/*
	 * With a sysroot the file of this machine at the same path is
	 * another one, unless its build ID says otherwise.
	 */
	return try_spelling(s, path, len,
			    !s->finder->sysroots.nr || s->build_id[0]);
}

/* "\012" is how the kernel writes LF: fs/seq_file.c mangle_path(). */
static bool decode_newlines(struct buf *out, const char *path, size_t len)
{
	bool found = false;
	size_t i;

	buf_reset(out);
	for (i = 0; i < len; i++) {
		if (len - i >= 4 && !memcmp(path + i, "\\012", 4)) {
			buf_byte(out, '\n');
			found = true;
			i += 3;
			continue;
		}
		buf_byte(out, path[i]);
	}
	return found && buf_ok(out);
}

/*
 * The path as it stands, its newlines decoded, and both without " (deleted)"
 * if there was no file: a living file's name may end in that as well.
 */
static enum pprof_status try_spellings(struct search *s, const char *path)
{
	const size_t lens[] = { strlen(path), path_undeleted_len(path) };
	enum pprof_status status = PPROF_OK;
	size_t i;

	s->has_met = false;
	for (i = 0; !status && !s->is_taken && i < 2; i++) {
		if (i && (s->has_met || lens[1] == lens[0]))
			break;
		status = try_mapped(s, path, lens[i]);
		if (!status && !s->is_taken &&
		    decode_newlines(&s->variant, path, lens[i]))
			status = try_mapped(s, s->variant.data,
					    s->variant.len);
	}
	return status;
}

/* DIR/NAME of every search directory, deleted or not. */
static enum pprof_status try_base_names(struct search *s, const char *path)
{
	const struct name_list *dirs = &s->finder->search_dirs;
	enum pprof_status status = PPROF_OK;
	const char *base;
	size_t i, len;

	for (i = 0; !status && !s->is_taken && i < 2 * dirs->nr; i++) {
		len = path_base(path, i % 2, &base);
		if (i % 2 && !base[len])
			continue;
		start_path(s, dirs->names[i / 2]);
		buf_add(&s->path, base, len);
		if (len)
			status = try_path(s);
	}
	return status;
}

/* A debug file alone still names functions. */
static enum pprof_status try_debug_files(struct search *s, const char *path)
{
	enum pprof_status status = PPROF_OK;
	const char *base;
	size_t i, len;

	len = path_base(path, true, &base);
	for (i = 0; !status && !s->is_taken; i++) {
		buf_reset(&s->path);
		if (!debug_path_candidate(s->finder, i, s->build_id, base, len,
					  &s->path))
			break;
		status = try_path(s);
	}
	return status;
}

enum pprof_status finder_search(struct finder *finder, const char *path,
				const char *build_id, finder_judge_fn judge,
				void *ctx, struct pprof_error *err)
{
	struct search s = { .finder = finder, .build_id = build_id,
			    .judge = judge, .ctx = ctx, .err = err };
	const struct name_list *dirs = &finder->search_dirs;
	enum pprof_status status = PPROF_OK;
	const char *base;
	size_t len, i;

	buf_init(&s.path, FINDER_PATH_MAX);
	buf_init(&s.variant, FINDER_PATH_MAX);
	buf_init(&s.mapped, FINDER_PATH_MAX);
	if (!buf_reserve(&s.path, FINDER_PATH_MAX) ||
	    !buf_reserve(&s.variant, FINDER_PATH_MAX) ||
	    !buf_reserve(&s.mapped, FINDER_PATH_MAX))
		status = error_nomem(err);
	if (!status)
		status = symbol_dirs_search(finder, path, build_id, judge, ctx,
					    &s.is_taken, err);
	len = path_base(path, true, &base);
	for (i = 0; build_id[0] && !status && !s.is_taken && i < dirs->nr; i++)
		status = try_build_id(&s, dirs->names[i], base, len);
	if (!status && !s.is_taken)
		status = try_spellings(&s, path);
	if (!status && !s.is_taken)
		status = try_base_names(&s, path);
	if (!status && !s.is_taken && build_id[0])
		status = try_debug_files(&s, path);
	if (!status && !s.is_taken &&
	    debuginfod_find(&finder->debuginfod, build_id,
			    DEBUGINFOD_EXECUTABLE, finder->diags, &s.path))
		status = try_path(&s);
	buf_fini(&s.path);
	buf_fini(&s.variant);
	buf_fini(&s.mapped);
	return status;
}
