/* SPDX-License-Identifier: Apache-2.0
 *
 * Which symbol files there are. Directories are listed once, and only when a
 * profile has images without build IDs.
 */
#include <config.h>

#include "symbolize/symbol_dirs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"

/* Symbol files in all directories. */
#define FILES_MAX 65536

static const char suffix[] = ".sym";

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void join_path(struct buf *path, const char *dir, const char *name)
{
	buf_reset(path);
	buf_str(path, dir);
	if (path->len && path->data[path->len - 1] != '/')
		buf_byte(path, '/');
	buf_str(path, name);
}

/* ----------------------------------------------------------------- listing */

struct listing {
	struct finder *finder;
	const char **names; /* [nr] */
	size_t nr, cap;
	struct buf path;
};

static bool add_file(struct listing *l, const char *path)
{
	const char *copy;

	if (l->nr == FILES_MAX)
		return true;
	copy = arena_strndup(&l->finder->arena, path, strlen(path));
	if (!copy || !mem_grow(l->names, l->cap, l->nr + 1, FILES_MAX))
		return false;
	l->names[l->nr++] = copy;
	return true;
}

static bool list_directory(struct listing *l, const char *dir)
{
	const struct dirent *entry;
	bool is_good = true;
	DIR *stream;
	size_t len;

	stream = opendir(dir);
	if (!stream)
		return true;
	while (is_good) {
		entry = readdir(stream);
		if (!entry)
			break;
		len = strlen(entry->d_name);
		if (len < sizeof(suffix) ||
		    strcmp(entry->d_name + len - (sizeof(suffix) - 1), suffix))
			continue;
		join_path(&l->path, dir, entry->d_name);
		is_good = buf_ok(&l->path) &&
			  add_file(l, buf_cstr(&l->path));
	}
	closedir(stream);
	return is_good;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* List all symbol files, in an order that no file system decides. */
static enum pprof_status list_files(struct finder *finder,
				    struct pprof_error *err)
{
	struct listing l = { .finder = finder };
	const char **kept = NULL;
	bool is_good = true;
	size_t i;

	if (finder->has_listed)
		return PPROF_OK;
	buf_init(&l.path, FINDER_PATH_MAX);
	for (i = 0; i < finder->symbols.nr && is_good; i++) {
		const char *name = finder->symbols.names[i];

		is_good = is_directory(name) ? list_directory(&l, name)
					     : add_file(&l, name);
	}
	if (is_good)
		kept = arena_alloc(&finder->arena, l.nr, sizeof(*kept));
	if (kept && l.nr) {
		qsort(l.names, l.nr, sizeof(*l.names), compare_names);
		memcpy(kept, l.names, l.nr * sizeof(*kept));
	}
	mem_free(l.names);
	buf_fini(&l.path);
	if (!kept)
		return error_nomem(err);
	finder->symbol_files.names = kept;
	finder->symbol_files.nr = l.nr;
	finder->has_listed = true;
	return PPROF_OK;
}

/* --------------------------------------------------------------- searching */

struct search {
	struct finder *finder;
	finder_judge_fn judge;
	void *ctx;
	bool *ret_taken;
	struct pprof_error *err;
};

/* Show the file to the judge if it is one, and of this name (unless NULL). */
static enum pprof_status try_file(struct search *s, const char *path,
				  const char *base, size_t len)
{
	enum pprof_status status;
	struct binary *binary;
	const char *name;

	status = finder_open(s->finder, path, &binary, s->err);
	if (status || !binary)
		return status;
	if (base && !binary->status) {
		if (!binary->symfile)
			return PPROF_OK;
		name = binary->symfile->header.name;
		if (strlen(name) != len || memcmp(name, base, len) != 0)
			return PPROF_OK;
	}
	if (binary->symfile && !symfile_is_intact(binary->symfile))
		binary->status = error_plain(&binary->err, PPROF_FORMAT, path,
					     "damaged symbol file");
	return s->judge(s->ctx, binary, s->ret_taken, s->err);
}

static enum pprof_status search_by_id(struct search *s, const char *build_id)
{
	const struct name_list *symbols = &s->finder->symbols;
	enum pprof_status status = PPROF_OK;
	struct buf path, name;
	size_t i;

	buf_init(&path, FINDER_PATH_MAX);
	buf_init(&name, FINDER_PATH_MAX);
	buf_str(&name, build_id);
	buf_str(&name, suffix);
	for (i = 0; i < symbols->nr && !status && !*s->ret_taken; i++) {
		if (!is_directory(symbols->names[i])) {
			status = try_file(s, symbols->names[i], NULL, 0);
			continue;
		}
		join_path(&path, symbols->names[i], buf_cstr(&name));
		status = try_file(s, buf_cstr(&path), NULL, 0);
	}
	buf_fini(&path);
	buf_fini(&name);
	return status;
}

static enum pprof_status search_by_name(struct search *s, const char *path)
{
	const struct name_list *files = &s->finder->symbol_files;
	enum pprof_status status;
	const char *base;
	size_t len, i;

	status = list_files(s->finder, s->err);
	len = path_base(path, true, &base);
	for (i = 0; i < files->nr && !status && !*s->ret_taken; i++)
		status = try_file(s, files->names[i], base, len);
	return status;
}

enum pprof_status symbol_dirs_search(struct finder *finder, const char *path,
				     const char *build_id,
				     finder_judge_fn judge, void *ctx,
				     bool *ret_taken,
				     struct pprof_error *err)
{
	struct search s = { finder, judge, ctx, ret_taken, err };

	if (!finder->symbols.nr)
		return PPROF_OK;
	return build_id[0] ? search_by_id(&s, build_id)
			   : search_by_name(&s, path);
}
