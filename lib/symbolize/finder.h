/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files to try for a mapped path, and where their debug information
 * is. Opens files and keeps them; judges the debug files, but leaves it to
 * the caller whether a binary fits its mappings. Asks the network only when
 * the options say so.
 */
#ifndef SYMBOLIZE_FINDER_H
#define SYMBOLIZE_FINDER_H

#include "base/arena.h"
#include "symbolize/debuginfod.h"
#include "symbolize/module.h"
#include "symbolize/place.h"
#include "symbolize/symfile.h"

/* Longest path that is tried; the kernel takes 4096 bytes. */
#define FINDER_PATH_MAX ((size_t)8 << 10)

/* A list of names, copied. */
struct name_list {
	const char **names; /* [nr] */
	size_t nr;
};

/* A file that was opened once, by identity. */
struct binary {
	const char *path;        /* as it was opened */
	uint64_t dev, ino, size; /* of stat(2), with mtime_ns the identity */
	int64_t mtime_ns;
	enum pprof_status status; /* of opening; other members need OK */
	struct pprof_error err;   /* when status is not OK */
	struct elf_file *elf;     /* NULL once a module owns it */
	struct elf_segment *segments; /* own copy */
	size_t nr_segments;
	char build_id[2 * BUILD_ID_MAX + 1];
	unsigned type, machine;
	bool is_debug_only;
	struct module *module;   /* NULL until finder_load() */
	struct symfile *symfile; /* it is a symbol file, and has no module */
	const char *debug_path;  /* file with its DWARF, or "" */
	char note[192];          /* why a debug file was refused, or "" */
};

/* Where to look. Filled by finder_init(). */
struct finder {
	struct arena arena;
	struct name_list binaries;
	struct name_list sysroots;
	struct name_list debug_dirs;
	struct name_list search_dirs;
	struct name_list path_maps;
	struct name_list symbols;      /* directories and symbol files */
	struct name_list symbol_files; /* all there, once they were listed */
	bool has_listed;
	struct name_list perf_maps;
	struct debuginfod debuginfod;
	struct diags *diags;           /* borrowed; may be NULL */
	struct binary **opened; /* [nr_opened], each stays where it is */
	size_t nr_opened, cap_opened;
};

/* Copy the lists of names. NOMEM or OK; finder_fini() after either. */
enum pprof_status finder_init(struct finder *finder,
			      const struct pprof_symbolize_opts *opts,
			      struct pprof_error *err);
void finder_fini(struct finder *finder);

/*
 * Open `path`, or find it among the files opened before. *ret_binary is
 * NULL when there is no regular file; look at its status otherwise. OK,
 * NOMEM.
 */
enum pprof_status finder_open(struct finder *finder, const char *path,
			      struct binary **ret_binary,
			      struct pprof_error *err);

/* finder_open() of a file that has to be there. Also IO, FORMAT, LIMIT. */
enum pprof_status finder_get(struct finder *finder, const char *path,
			     struct binary **ret_binary,
			     struct pprof_error *err);

/* Judge a candidate; true in *ret_taken ends the search. */
typedef enum pprof_status (*finder_judge_fn)(void *ctx, struct binary *binary,
					     bool *ret_taken,
					     struct pprof_error *err);

/*
 * Show the judge each file that could have been mapped as `path`, best
 * first: symbol files, by build ID (hex, or "") in the search directories, at
 * the path in sysroots, mapped or as it stands, by name in the search
 * directories, a debug file alone, and last what a debuginfod server has. OK,
 * NOMEM, or what the judge said.
 */
enum pprof_status finder_search(struct finder *finder, const char *path,
				const char *build_id, finder_judge_fn judge,
				void *ctx, struct pprof_error *err);

/*
 * Make the binary's module with its debug information: its own, a debug
 * file by build ID or by .gnu_debuglink, and dwz's supplementary file.
 * OK (also when made before), NOMEM, FORMAT.
 */
enum pprof_status finder_load(struct finder *finder, struct binary *binary,
			      const struct module_opts *opts,
			      struct pprof_error *err);

/* Name after the last slash, without " (deleted)" when `strip`. */
size_t path_base(const char *path, bool strip, const char **ret_base);

/* Length of `path` without a trailing " (deleted)". */
size_t path_undeleted_len(const char *path);

#endif
