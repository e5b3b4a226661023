/* SPDX-License-Identifier: Apache-2.0
 *
 * libpprof: read, symbolize, view and write profiles. The only installed
 * header.
 *
 * Threads: an object belongs to one thread at a time; objects passed as
 * const may be shared by several threads. The library keeps no global state,
 * never prints, exits, aborts, reads the environment, sets the locale, the
 * signal mask or the umask.
 *
 * Ownership: `const` arguments are borrowed for the call. A returned
 * `const char *` lives as long as the object that it came from. Values that
 * a function sets through a `ret_` pointer are set on success only.
 *
 * Errors: functions that can fail return an enum pprof_status and fill the
 * caller's struct pprof_error (may be NULL) once, on failure only.
 */
#ifndef PPROF_H
#define PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
# define PPROF_API __attribute__((visibility("default")))
# define PPROF_MUST_USE __attribute__((warn_unused_result))
#else
# define PPROF_API
# define PPROF_MUST_USE
#endif

/* ------------------------------------------------------------------ errors */

/** What a fallible call came to. */
enum pprof_status {
	PPROF_OK = 0,      /* done */
	PPROF_NOMEM,       /* an allocation failed */
	PPROF_IO,          /* reading or writing failed; errno is in the text */
	PPROF_FORMAT,      /* the input breaks the rules of its format */
	PPROF_UNSUPPORTED, /* known, but not readable here */
	PPROF_LIMIT,       /* a struct pprof_limits bound was reached */
	PPROF_MISMATCH,    /* two inputs do not belong together */
	PPROF_NOTFOUND,    /* what was asked for is not there */
	PPROF_USAGE        /* the caller's arguments contradict the contract */
};

/** Unit of struct pprof_error.where. */
enum pprof_unit {
	PPROF_UNIT_NONE = 0, /* no position */
	PPROF_UNIT_LINE,     /* line number, from 1 */
	PPROF_UNIT_BYTE      /* byte offset, from 0, after decompression */
};

/** One error, in the caller's storage; valid after a status other than OK. */
struct pprof_error {
	enum pprof_status status; /* same as the returned status */
	enum pprof_unit unit;     /* unit of `where` */
	uint64_t where;           /* position in the source */
	char source[128];         /* file as the caller named it, tail kept */
	char message[256];        /* expected and found; lower case, no stop */
};

/** The name of a status for people, as "out of memory". Never NULL. */
PPROF_API const char *pprof_status_text(enum pprof_status status);

/**
 * One recoverable oddity, told after the input was read: what was skipped,
 * clamped or guessed, how often, and where first.
 */
struct pprof_diag {
	const char *source;   /* file as the caller named it */
	enum pprof_unit unit; /* unit of `where` */
	uint64_t where;       /* position of the first one */
	uint64_t nr;          /* how many, at least 1 */
	const char *message;  /* about the first one */
};

/** Receives diagnostics; borrowed arguments, called in the caller's thread. */
typedef void (*pprof_diag_fn)(void *ctx, const struct pprof_diag *diag);

/* ------------------------------------------------------------------ limits */

/**
 * Bounds on what hostile input can make the library hold. Reaching one is
 * PPROF_LIMIT and the message names the member. 0 never means "unlimited".
 */
struct pprof_limits {
	uint64_t input_bytes;    /* compressed or plain input: 64 GiB */
	uint64_t inflated_bytes; /* after decompression: 16 GiB */
	uint64_t inflate_ratio;  /* inflated : compressed, over 64 MiB: 2000 */
	uint64_t string_bytes;   /* one string: 1 MiB */
	uint64_t strings_bytes;  /* all strings: 1 GiB */
	uint64_t line_bytes;     /* one line of text: 256 MiB */
	uint32_t samples;        /* 256 Mi */
	uint32_t locations;      /* 64 Mi */
	uint32_t frames;         /* frames in one stack: 1 Mi */
	uint32_t labels;         /* labels of one sample: 256 */
	uint32_t mappings;       /* 1 Mi */
};

/** Set every bound to the default given beside it above. */
PPROF_API void pprof_limits_init(struct pprof_limits *limits);

/* ---------------------------------------------------------------- reading */

/** An immutable profile; see docs/ARCHITECTURE.md for the model. */
struct pprof_profile;

/** How to read. Start from PPROF_READ_OPTS_INIT. */
struct pprof_read_opts {
	size_t size;             /* sizeof(struct pprof_read_opts) */
	const char *format;      /* reader name; NULL sniffs the content */
	const char *maps_path;   /* /proc/PID/maps text to use, or NULL */
	bool raw_counts;         /* keep the file's numbers, do not unsample */
	bool threads;            /* one sample a thread, labels thread, ... */
	bool strict;             /* diagnostics become errors */
	int64_t time_ns;         /* of collection; 0: the input's, else mtime */
	const struct pprof_limits *limits; /* NULL: defaults */
	pprof_diag_fn diag;      /* NULL: diagnostics are not told */
	void *diag_ctx;
};
#define PPROF_READ_OPTS_INIT { .size = sizeof(struct pprof_read_opts) }

/**
 * Read one profile from a file, decompressed and sniffed by content.
 *
 * path        file name, or "-" for standard input
 * opts        NULL for defaults
 * ret_profile set on success; free with pprof_profile_free()
 *
 * Returns OK, NOMEM, IO, FORMAT, UNSUPPORTED, LIMIT, NOTFOUND (no such
 * reader). The file is only read. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_read(const char *path, const struct pprof_read_opts *opts,
		   struct pprof_profile **ret_profile,
		   struct pprof_error *err);

/**
 * The same from `nr_bytes` bytes of memory at `data`, borrowed for the call.
 * `source` names them in messages. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_read_memory(const void *data, size_t nr_bytes,
			  const char *source,
			  const struct pprof_read_opts *opts,
			  struct pprof_profile **ret_profile,
			  struct pprof_error *err);

/** Free a profile; NULL is allowed. */
PPROF_API void pprof_profile_free(struct pprof_profile *profile);

/**
 * Name and one-line description of reader `i`, from 0. Returns false when
 * there is no such reader. Static strings. Since 0.1.
 */
PPROF_API bool pprof_reader_info(size_t i, const char **ret_name,
				 const char **ret_description);

/* ------------------------------------------------------------ what it holds */

/** Number of sample types, at least 1 unless the profile is empty. */
PPROF_API size_t pprof_profile_nr_sample_types(
	const struct pprof_profile *profile);

/** Type and unit of sample type i < nr, as "inuse_space" and "bytes". */
PPROF_API void pprof_profile_sample_type(const struct pprof_profile *profile,
					 size_t i, const char **ret_type,
					 const char **ret_unit);

/** Index of the sample type that views show unless told otherwise. */
PPROF_API size_t pprof_profile_default_sample_type(
	const struct pprof_profile *profile);

/**
 * Index of the sample type called `name`: its number, its type, or the type
 * without "inuse_" (as pprof takes it). Returns OK, or NOTFOUND with a
 * message that lists the types. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_find_sample_type(const struct pprof_profile *profile,
			       const char *name, size_t *ret_index,
			       struct pprof_error *err);

/** Number of samples, that is of distinct (stack, label set) pairs. */
PPROF_API size_t pprof_profile_nr_samples(const struct pprof_profile *profile);

/** Sum of all values of sample type i, saturated at the int64 limits. */
PPROF_API int64_t pprof_profile_total(const struct pprof_profile *profile,
				      size_t i);

/** Comment i < nr_comments. */
PPROF_API size_t pprof_profile_nr_comments(const struct pprof_profile *profile);
PPROF_API const char *pprof_profile_comment(const struct pprof_profile *profile,
					    size_t i);

/* -------------------------------------------------------------- symbolizing */

/** Keeps binaries and debug information open between profiles. */
struct pprof_symbolizer;

/** How function names are written. */
enum pprof_names {
	PPROF_NAMES_FULL = 0, /* demangled, with parameters and templates */
	PPROF_NAMES_SHORT,    /* demangled, without parameters and templates */
	PPROF_NAMES_MANGLED   /* as in the symbol table */
};

/** How to symbolize. Start from PPROF_SYMBOLIZE_OPTS_INIT. */
struct pprof_symbolize_opts {
	size_t size;                     /* sizeof(struct) */
	const char *const *binaries;     /* -e: files that were mapped */
	size_t nr_binaries;
	const char *const *sysroots;     /* prefixes of the maps' paths */
	size_t nr_sysroots;
	const char *const *debug_dirs;   /* before /usr/lib/debug */
	size_t nr_debug_dirs;
	const char *const *search_dirs;  /* by build ID, then by base name */
	size_t nr_search_dirs;
	const char *const *path_maps;    /* "OLD=NEW" prefix replacements */
	size_t nr_path_maps;
	enum pprof_names names;
	bool no_inlines;                 /* outermost frame only */
	bool keep_allocator_frames;      /* do not drop malloc's own frames */
	bool force;                      /* take a file that does not fit */
	bool redo;                       /* symbolize what has names already */
	unsigned nr_threads;             /* 0: one a processor, at most 8 */
	const struct pprof_limits *limits; /* NULL: defaults */
	pprof_diag_fn diag;
	void *diag_ctx;
};
#define PPROF_SYMBOLIZE_OPTS_INIT \
	{ .size = sizeof(struct pprof_symbolize_opts) }

/** How much of one mapped file got names. */
enum pprof_verdict {
	PPROF_VERDICT_OK = 0,  /* every address */
	PPROF_VERDICT_PARTIAL, /* some */
	PPROF_VERDICT_FAILED,  /* none */
	PPROF_VERDICT_SKIPPED  /* nothing asked, or named already */
};

/** What became of one image (all mappings of one file at one load bias). */
struct pprof_image_report {
	const char *path;       /* as in the profile */
	const char *file;       /* file that was opened, or "" */
	const char *debug_file; /* where its debug information was, or "" */
	const char *build_id;   /* lower-case hex, or "" */
	uint64_t nr_addresses;  /* distinct addresses asked */
	uint64_t nr_dwarf;      /* named by DWARF */
	uint64_t nr_symbol;     /* named by an ELF symbol only */
	uint64_t nr_unresolved;
	enum pprof_verdict verdict;
	const char *reason;     /* why not all, or "" */
};

/**
 * Make a symbolizer. Strings in opts are copied.
 * Returns OK, NOMEM, USAGE (an unknown tail in opts). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbolizer_new(const struct pprof_symbolize_opts *opts,
		     struct pprof_symbolizer **ret_symbolizer,
		     struct pprof_error *err);

/** Free it and close its files; NULL is allowed. */
PPROF_API void pprof_symbolizer_free(struct pprof_symbolizer *symbolizer);

/**
 * Give the profile's locations functions, inlined frames, files and lines.
 * Stacks, samples and values stay as they are, except that allocator frames
 * at the leaf end are dropped from heap profiles unless told otherwise.
 *
 * Returns OK (also when some or all addresses stay bare: see the report),
 * NOMEM, LIMIT, MISMATCH (a given binary fits no mapping; err names both
 * sides), IO (a given binary cannot be read). On failure the profile is
 * unchanged. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbolizer_run(struct pprof_symbolizer *symbolizer,
		     struct pprof_profile *profile, struct pprof_error *err);

/** Number of images that the last run met. */
PPROF_API size_t pprof_symbolizer_nr_images(
	const struct pprof_symbolizer *symbolizer);

/** Report on image i < nr_images; valid until the next run or free. */
PPROF_API const struct pprof_image_report *
pprof_symbolizer_image(const struct pprof_symbolizer *symbolizer, size_t i);

/** Verdict over all images that own addresses. */
PPROF_API enum pprof_verdict
pprof_symbolizer_verdict(const struct pprof_symbolizer *symbolizer);

/* ------------------------------------------------------------------ writing */

/**
 * Where bytes go. A file is written beside its final name and renamed by
 * pprof_sink_commit(); anything else leaves an existing file as it was.
 */
struct pprof_sink;

/** Open `path`, "-" for standard output. Returns OK, NOMEM, IO. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_sink_open(const char *path, struct pprof_sink **ret_sink,
		struct pprof_error *err);

/** Open a sink that keeps the bytes; see pprof_sink_memory(). */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_sink_open_memory(struct pprof_sink **ret_sink, struct pprof_error *err);

/** Bytes of a memory sink, valid until it is closed. */
PPROF_API const void *pprof_sink_memory(const struct pprof_sink *sink,
					size_t *ret_nr_bytes);

/** Append `nr_bytes` bytes. Returns OK, NOMEM, IO. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_sink_write(struct pprof_sink *sink, const void *data, size_t nr_bytes,
		 struct pprof_error *err);

/** Flush and publish. The sink must still be closed. Returns OK, IO. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_sink_commit(struct pprof_sink *sink, struct pprof_error *err);

/** Close; without a commit before, a file is removed unpublished. NULL ok. */
PPROF_API void pprof_sink_close(struct pprof_sink *sink);

/** How to write. Start from PPROF_WRITE_OPTS_INIT. */
struct pprof_write_opts {
	size_t size;
	int level;         /* compression 0 (none) to 9; -1 the writer's own */
	int sample_type;   /* for one-valued formats; -1 the default type */
	bool no_inlines;   /* outermost frame only */
	pprof_diag_fn diag;
	void *diag_ctx;
};
#define PPROF_WRITE_OPTS_INIT \
	{ .size = sizeof(struct pprof_write_opts), .level = -1, \
	  .sample_type = -1 }

/**
 * Write the whole profile in the format called `writer` ("pprof", "folded").
 * Same profile, same options: same bytes, wherever it came from.
 * Returns OK, NOMEM, IO, NOTFOUND (no such writer), LIMIT. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_write(const struct pprof_profile *profile, const char *writer,
		    const struct pprof_write_opts *opts,
		    struct pprof_sink *sink, struct pprof_error *err);

/** Name and one-line description of writer `i`, from 0; false when none. */
PPROF_API bool pprof_writer_info(size_t i, const char **ret_name,
				 const char **ret_description,
				 bool *ret_is_binary);

/* ------------------------------------------------------------------ viewing */

/** What makes two frames the same row or box. */
enum pprof_granularity {
	PPROF_BY_FUNCTION = 0, /* function name */
	PPROF_BY_FILEFUNCTION, /* function name and file */
	PPROF_BY_LINE,         /* function, file and line */
	PPROF_BY_FILE,         /* file */
	PPROF_BY_ADDRESS,      /* address */
	PPROF_BY_MODULE        /* mapped file */
};

/** Unit of printed values. */
enum pprof_value_unit {
	PPROF_UNIT_MINIMUM = 0, /* one for the table, as pprof picks it */
	PPROF_UNIT_AUTO,        /* each value alone */
	PPROF_UNIT_EXACT        /* as in the profile */
};

/** A table of functions. Start from PPROF_TOP_OPTS_INIT. */
struct pprof_top_opts {
	size_t size;
	int sample_type;                    /* -1 the default type */
	enum pprof_granularity granularity;
	enum pprof_value_unit unit;
	bool by_cum;                        /* sort by cum, not by flat */
	bool no_inlines;
	size_t limit;                       /* rows; 0 all */
	double min_fraction;                /* of the total, as 0.005 */
	unsigned width;                     /* columns; 0 unlimited */
	const char *title;                  /* of the input, or NULL */
};
#define PPROF_TOP_OPTS_INIT \
	{ .size = sizeof(struct pprof_top_opts), .sample_type = -1, \
	  .min_fraction = 0.005 }

/** Write flat, flat%, sum%, cum, cum% and name. Returns OK, NOMEM, IO. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_top(const struct pprof_profile *profile,
		 const struct pprof_top_opts *opts, struct pprof_sink *sink,
		 struct pprof_error *err);

/** Colours of a flame graph. */
enum pprof_colors {
	PPROF_COLORS_AUTO = 0, /* by sample type: hot, mem or io */
	PPROF_COLORS_HOT,
	PPROF_COLORS_MEM,
	PPROF_COLORS_IO,
	PPROF_COLORS_MODULE,
	PPROF_COLORS_MONO
};

enum pprof_theme {
	PPROF_THEME_AUTO = 0, /* follows the viewer's preference */
	PPROF_THEME_LIGHT,
	PPROF_THEME_DARK
};

/** A flame graph. Start from PPROF_FLAME_OPTS_INIT. */
struct pprof_flame_opts {
	size_t size;
	int sample_type;             /* -1 the default type */
	enum pprof_granularity granularity;
	bool no_inlines;
	bool icicle;                 /* root at the top */
	bool reverse;                /* callers: merged from the leaf */
	unsigned width;              /* px; 0 means 1200 */
	unsigned font_size;          /* px; 0 means 12 */
	double min_width;            /* px a frame must have; < 0 means 0.3 */
	size_t max_frames;           /* 0 means 20,000 */
	unsigned max_depth;          /* rows; 0 means 2,000 */
	enum pprof_colors colors;
	enum pprof_theme theme;
	const char *title;           /* NULL: from the profile */
	const char *subtitle;        /* NULL: none */
	const char *const *notes;    /* footer lines */
	size_t nr_notes;
	pprof_diag_fn diag;
	void *diag_ctx;
};
#define PPROF_FLAME_OPTS_INIT \
	{ .size = sizeof(struct pprof_flame_opts), .sample_type = -1, \
	  .min_width = -1 }

/**
 * Write one self-contained SVG, correct without script.
 * An empty profile gives a valid picture that says so. Returns OK, NOMEM,
 * IO, LIMIT. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_flame_write(const struct pprof_profile *profile,
		  const struct pprof_flame_opts *opts,
		  struct pprof_sink *sink, struct pprof_error *err);

/** Version of the library that runs, as "0.1.0". */
PPROF_API const char *pprof_version(void);

#ifdef __cplusplus
}
#endif

#endif /* PPROF_H */
