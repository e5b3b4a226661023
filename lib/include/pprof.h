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
	bool root_first;         /* raw address lines begin with the root */
	uint32_t hz;             /* gives counts of samples time; 0: not */
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

/* ------------------------------------------------------------- extracting */

/** A PEM block found in a log; all members live for the call only. */
struct pprof_block {
	const char *type;          /* "HEAP" of "-----BEGIN HEAP-----" */
	const void *data;          /* decoded payload, never NULL */
	size_t nr_bytes;
	uint64_t first_line;       /* of BEGIN, from 1 */
	uint64_t last_line;        /* of END, or of the last data */
	uint64_t nr_foreign_lines; /* left out between the two */
	const char *format;        /* reader that knows it, or "" */
	const char *suffix;        /* for a file of it: "pb.gz", "txt", ... */
	const char *damage;        /* what is wrong with it, or "" */
};

/**
 * Receives a block. Any status but OK ends the search and is returned by
 * pprof_extract(); then *err must be filled.
 */
typedef enum pprof_status (*pprof_block_fn)(void *ctx,
					    const struct pprof_block *block,
					    struct pprof_error *err);

/**
 * Find all PEM blocks in a log, behind prefixes of log collectors, in JSON
 * lines, between foreign lines, cut or joined, and decode what is there.
 *
 * path    file name, or "-" for standard input; gzip is taken off
 * limits  NULL for defaults; input_bytes bounds one payload too
 * fn      called for each block as it ends, also for damaged ones
 *
 * Returns OK (also without any block), NOMEM, IO, FORMAT, UNSUPPORTED,
 * LIMIT, or what fn returned. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_extract(const char *path, const struct pprof_limits *limits,
	      pprof_block_fn fn, void *ctx, struct pprof_error *err);

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
	const char *const *symbols;      /* symbol files, their directories */
	size_t nr_symbols;
	const char *const *perf_maps;    /* perf-PID.map: run-time code */
	size_t nr_perf_maps;
	bool debuginfod;                 /* the network too: DEBUGINFOD_URLS */
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

/* -------------------------------------------- answers of the symbolizer */

/** A function that an address stands in; all members live for the call. */
struct pprof_frame {
	const char *name;        /* as the options spell it, never "" */
	const char *system_name; /* as in the object file, or "" */
	const char *file;        /* of the source, or "" */
	uint32_t line;           /* 0 unknown */
	uint32_t column;         /* 0 unknown */
	uint32_t start_line;     /* of the function, 0 unknown */
};

/** The answer to one address. */
struct pprof_resolved {
	uint64_t address;                 /* as asked */
	const struct pprof_frame *frames; /* [nr_frames] innermost first */
	size_t nr_frames;                 /* 0: no name */
	bool is_symbol;                   /* named by an ELF symbol only */
};

/**
 * Receives an answer. Any status but OK ends the work and is returned by
 * the caller; then *err must be filled.
 */
typedef enum pprof_status (*pprof_resolved_fn)(
	void *ctx, const struct pprof_resolved *resolved,
	struct pprof_error *err);

/**
 * Name link-time addresses of one file, as addr2line does.
 *
 * path      of a program, library, debug file or symbol file
 * addresses [nr] in any order, repeats allowed
 * fn        called for each address, in their order
 *
 * Returns OK (also for addresses without a name), NOMEM, LIMIT, IO (no such
 * file), FORMAT (no ELF), or what fn returned. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbolizer_resolve(struct pprof_symbolizer *symbolizer,
			 const char *path, const uint64_t *addresses,
			 size_t nr, pprof_resolved_fn fn, void *ctx,
			 struct pprof_error *err);

/**
 * Name run-time addresses, found through the mappings of a profile, whose
 * samples do not matter. Files are chosen as pprof_symbolizer_run() does,
 * and the report is on this run.
 *
 * maps      borrowed for the call
 * addresses [nr] in any order, repeats allowed
 * fn        called for each address, in their order
 *
 * Returns what pprof_symbolizer_run() does, or what fn returned. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbolizer_resolve_mapped(struct pprof_symbolizer *symbolizer,
				const struct pprof_profile *maps,
				const uint64_t *addresses, size_t nr,
				pprof_resolved_fn fn, void *ctx,
				struct pprof_error *err);

/* ------------------------------------------------------------ symbol files */

struct pprof_sink;

/** A symbol file in memory: all that a binary says about its addresses. */
struct pprof_symbols;

/**
 * Ask a binary and its debug information for every address of its code, and
 * keep the answers in all forms of names. What opts.symbols gives the result
 * to answers as the binary does.
 *
 * path        of the program or library
 * opts        NULL for defaults; on where debug files are, threads, diag
 * ret_symbols set on success; free with pprof_symbols_free()
 *
 * Returns OK, NOMEM, IO (no such file), FORMAT (no ELF), LIMIT, USAGE.
 * Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbols_make(const char *path, const struct pprof_symbolize_opts *opts,
		   struct pprof_symbols **ret_symbols,
		   struct pprof_error *err);

/** Name that opts.symbols looks for in a directory: "BUILD-ID.sym". */
PPROF_API const char *pprof_symbols_name(const struct pprof_symbols *symbols);

/** Write the file. Returns OK, NOMEM, IO. Since 0.1. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbols_write(const struct pprof_symbols *symbols,
		    struct pprof_sink *sink, struct pprof_error *err);

/** Free it; NULL is allowed. */
PPROF_API void pprof_symbols_free(struct pprof_symbols *symbols);

/* ------------------------------------------------------------------ merging */

/** What becomes of the values of one stack in several profiles. */
enum pprof_merge_mode {
	PPROF_MERGE_SUM = 0, /* their sum */
	PPROF_MERGE_AVG,     /* their sum over the number of profiles */
	PPROF_MERGE_MAX      /* the largest of them */
};

/** How to merge. Start from PPROF_MERGE_OPTS_INIT. */
struct pprof_merge_opts {
	size_t size;
	enum pprof_merge_mode mode;
	const char *label_key;  /* label with each input's name, or NULL */
	bool match_base_names;  /* files without build ID: by base name */
	bool allow_unrelated;   /* also profiles without a file in common */
	const struct pprof_limits *limits; /* NULL: defaults */
	pprof_diag_fn diag;
	void *diag_ctx;
};
#define PPROF_MERGE_OPTS_INIT { .size = sizeof(struct pprof_merge_opts) }

/** A merge under way: holds the result so far and none of the inputs. */
struct pprof_merger;

/**
 * Begin a merge. Strings in opts are copied; opts->limits is.
 *
 * opts       NULL for defaults
 * ret_merger set on success; free with pprof_merger_free()
 *
 * Returns OK, NOMEM, USAGE (an unknown mode or tail in opts). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_merger_new(const struct pprof_merge_opts *opts,
		 struct pprof_merger **ret_merger, struct pprof_error *err);

/** Free it; NULL is allowed. */
PPROF_API void pprof_merger_free(struct pprof_merger *merger);

/**
 * Add a profile. Mapped files are matched by build ID, else by path,
 * addresses by their place in the file, sample types by name ("space" is
 * "inuse_space") and kind of unit; types that not every profile has are left
 * out. The order of the calls does not show in the result.
 *
 * profile borrowed for the call
 * name    of the input, for messages and the label
 *
 * Returns OK, MISMATCH (no sample type in common; the merge goes on without
 * this input), NOMEM and LIMIT (the merge is of no use any more). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_merger_add(struct pprof_merger *merger,
		 const struct pprof_profile *profile, const char *name,
		 struct pprof_error *err);

/**
 * Make the profile. Only pprof_merger_free() may follow.
 *
 * ret_profile set on success; free with pprof_profile_free()
 *
 * Returns OK, NOMEM, LIMIT, MISMATCH (inputs of different programs: no
 * mapped file in common; err names two), USAGE (called twice). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_merger_finish(struct pprof_merger *merger,
		    struct pprof_profile **ret_profile,
		    struct pprof_error *err);

/**
 * The whole of the above for profiles that are in memory.
 *
 * profiles    [nr] borrowed
 * names       [nr] for messages and the label
 *
 * Returns as pprof_merger_add() and pprof_merger_finish() do. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_merge(const struct pprof_profile *const *profiles,
		    const char *const *names, size_t nr,
		    const struct pprof_merge_opts *opts,
		    struct pprof_profile **ret_profile,
		    struct pprof_error *err);

/* ---------------------------------------------------------------- filtering */

/** Most sample types that a profile can have. */
#define PPROF_SAMPLE_TYPES_MAX 32

/**
 * What to keep of a profile, with the meaning and in the order that go tool
 * pprof has. Expressions are PCRE2, match anywhere and are NULL for none.
 * Start from PPROF_FILTER_OPTS_INIT.
 */
struct pprof_filter_opts {
	size_t size;
	const char *focus;      /* stacks with a frame that matches */
	const char *ignore;     /* and not those with one that matches this */
	const char *hide;       /* frames that match go */
	const char *show;       /* only frames that match stay */
	const char *show_from;  /* callers of the outermost match go */
	const char *prune_from; /* callees of the innermost match go */
	const char *tagfocus;   /* "[KEY=]RE,..." or a range, "KEY=4mb:" */
	const char *tagignore;  /* the same, to leave out */
	const char *tagshow;    /* labels whose key matches stay */
	const char *taghide;    /* labels whose key matches go */
	const char *tagroot;    /* "KEY,..." label values as root frames */
	const char *tagleaf;    /* the same at the leaf */
	const char *thread;     /* thread name or number */
	bool drop_frames;       /* drop what the profile says (drop_frames) */
	bool collapse_recursion; /* calls of a function to itself are one */
	bool drop_negative;     /* samples below 0 go */
	int sample_type;        /* for drop_negative; -1 the default type */
	double divide_by;       /* divide all values; 0: do not */
	pprof_diag_fn diag;     /* also told what matched nothing */
	void *diag_ctx;
};
#define PPROF_FILTER_OPTS_INIT \
	{ .size = sizeof(struct pprof_filter_opts), .sample_type = -1 }

/** What a filter leaves behind beside the profile. */
struct pprof_filter_result {
	/* What percentages referred to before, by sample type. */
	int64_t totals[PPROF_SAMPLE_TYPES_MAX];
};

/**
 * Filter a profile in place. A frame is known by the names and files of its
 * functions and by its mapped file; those that leave a stack without frames
 * keep its values. Values that become equal in stack and labels add up.
 *
 * ret_result set on success; NULL is allowed
 *
 * Returns OK, NOMEM, USAGE (an expression has a mistake), LIMIT (or takes
 * too long). On failure the profile may be left half-way: free it.
 * Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_filter(struct pprof_profile *profile,
		     const struct pprof_filter_opts *opts,
		     struct pprof_filter_result *ret_result,
		     struct pprof_error *err);

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

/**
 * Write the report on the symbolizer's last run as one line of JSON; `name`
 * is the profile's there. Returns OK, NOMEM, IO. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_symbolizer_write_stats(const struct pprof_symbolizer *symbolizer,
			     const char *name, struct pprof_sink *sink,
			     struct pprof_error *err);

/**
 * Write one answer: as `addr2line -f -i -C` does, a line with the function
 * and one with file:line for each frame, or as one line of JSON.
 * Returns OK, NOMEM, IO. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_resolved_write(const struct pprof_resolved *resolved, bool is_json,
		     struct pprof_sink *sink, struct pprof_error *err);

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

/**
 * Make frames that are alike at a granularity one, in place, and add up the
 * stacks that become equal: a profile that tells no more than wanted.
 * Addresses without names stay apart unless by module.
 *
 * no_inlines  keep the outermost function of each address only
 *
 * Returns OK, NOMEM, LIMIT, USAGE. On failure the stacks are as they were.
 * Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_aggregate(struct pprof_profile *profile,
			enum pprof_granularity granularity, bool no_inlines,
			struct pprof_error *err);

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
	int64_t total;      /* what percentages refer to; 0: the profile's */
	const char *const *filters; /* [nr_filters] "focus=RE", to state */
	size_t nr_filters;
	bool mean;          /* values over those of the first sample type */
	bool drop_negative; /* leave out rows that shrank */
	double divide_by;   /* print values divided by this; 0: as they are */
};
#define PPROF_TOP_OPTS_INIT \
	{ .size = sizeof(struct pprof_top_opts), .sample_type = -1, \
	  .min_fraction = 0.005 }

/** Write flat, flat%, sum%, cum, cum% and name. Returns OK, NOMEM, IO. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_top(const struct pprof_profile *profile,
		 const struct pprof_top_opts *opts, struct pprof_sink *sink,
		 struct pprof_error *err);

/**
 * The same table as one line of JSON (RFC 8259): an object with
 * type, unit, mean   of the values: names, and whether they are means
 * total              what percentages refer to
 * sum_flat           of all functions, with those that were left out
 * left_out           functions below min_fraction or beyond the limit
 * rows               array of {name, flat, cum, inlined}, in order, with
 *                    inlined "no", "yes" or "partly"
 * Numbers are whole, in `unit`. width, unit, title and filters do not count.
 *
 * Returns as pprof_report_top() does, and USAGE where divide_by is set.
 * Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_top_json(const struct pprof_profile *profile,
		      const struct pprof_top_opts *opts,
		      struct pprof_sink *sink, struct pprof_error *err);

/**
 * Write each function with its callers above and its callees below it, laid
 * out as `go tool pprof -tree` does. Options as pprof_report_top(), without
 * width; calls below a thousandth of the total are left out, unless
 * min_fraction is 0.
 *
 * Returns OK, NOMEM, IO, LIMIT, USAGE (mean is set). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_tree(const struct pprof_profile *profile,
		  const struct pprof_top_opts *opts, struct pprof_sink *sink,
		  struct pprof_error *err);

/**
 * The same of those functions alone whose name the regular expression
 * matches, among the others: set limit and min_fraction to 0 to see all of
 * their callers and callees.
 *
 * Returns OK, NOMEM, IO, LIMIT (the expression is too costly), USAGE,
 * NOTFOUND (no function matches; nothing was written). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_peek(const struct pprof_profile *profile, const char *expression,
		  const struct pprof_top_opts *opts, struct pprof_sink *sink,
		  struct pprof_error *err);

/**
 * Write the call graph for Graphviz: a box for each function, an arrow for
 * each call, dotted where it passes over functions that are left out. Which
 * are drawn is as with `go tool pprof -dot`, without boxes for labels.
 * Options as pprof_report_tree(), without by_cum.
 *
 * Returns OK, NOMEM, IO, LIMIT, USAGE (mean is set). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_dot(const struct pprof_profile *profile,
		 const struct pprof_top_opts *opts, struct pprof_sink *sink,
		 struct pprof_error *err);

/**
 * Write every sample with its labels and frames, leaf first, as `go tool
 * pprof -traces` lays them out, in the order of the samples. Of the options,
 * the sample type, granularity, unit, title, total, filters, mean and
 * divide_by count. Memory is that of the frames' names.
 *
 * Returns OK, NOMEM, IO, USAGE. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_traces(const struct pprof_profile *profile,
		    const struct pprof_top_opts *opts,
		    struct pprof_sink *sink, struct pprof_error *err);

/**
 * Write header, samples, locations and mappings as they are, laid out as
 * `go tool pprof -raw` does; locations are numbered anew from 1.
 *
 * Returns OK, NOMEM, IO. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_raw(const struct pprof_profile *profile, struct pprof_sink *sink,
		 struct pprof_error *err);

/**
 * Write what the samples of each value of each label add up to, as `go tool
 * pprof -tags` does. Of the options, the sample type, unit and total count.
 *
 * Returns OK, NOMEM, IO, USAGE. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_tags(const struct pprof_profile *profile,
		  const struct pprof_top_opts *opts, struct pprof_sink *sink,
		  struct pprof_error *err);

/** Write the profile's comments, one a line. OK, NOMEM, IO. Since 0.1. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_report_comments(const struct pprof_profile *profile,
		      struct pprof_sink *sink, struct pprof_error *err);

/** Colours of a flame graph. */
enum pprof_colors {
	PPROF_COLORS_AUTO = 0, /* by sample type: hot, mem or io */
	PPROF_COLORS_HOT,
	PPROF_COLORS_MEM,
	PPROF_COLORS_IO,
	PPROF_COLORS_MODULE,
	PPROF_COLORS_MONO,
	PPROF_COLORS_PACKAGE, /* by the scope in front of the name */
	PPROF_COLORS_FILE,    /* by the folder of the source file */
	PPROF_COLORS_KIND,    /* kernel, inlined, jit, runtime, ... */
	PPROF_COLORS_CVD,     /* by package, 8 colours all can tell apart */
	PPROF_COLORS_SELF,    /* by the share of self */
	PPROF_COLORS_DEPTH,   /* rows alternate */
	PPROF_COLORS_RED,     /* the others by name, as FlameGraph's */
	PPROF_COLORS_GREEN,
	PPROF_COLORS_BLUE,
	PPROF_COLORS_YELLOW,
	PPROF_COLORS_PURPLE,
	PPROF_COLORS_AQUA,
	PPROF_COLORS_ORANGE
};

enum pprof_theme {
	PPROF_THEME_AUTO = 0, /* follows the viewer's preference */
	PPROF_THEME_LIGHT,
	PPROF_THEME_DARK
};

/** What the widths of a differential flame graph show; A is the base. */
enum pprof_diff_widths {
	PPROF_WIDTHS_NEW = 0, /* B: what is */
	PPROF_WIDTHS_BASE,    /* A: what was */
	PPROF_WIDTHS_UNION,   /* the larger of both */
	PPROF_WIDTHS_DELTA    /* growth plus shrinkage */
};

/** What A is multiplied by before it is compared. */
enum pprof_normalize {
	PPROF_NORMALIZE_AUTO = 0, /* none for bytes and objects, else total */
	PPROF_NORMALIZE_NONE,
	PPROF_NORMALIZE_TOTAL,    /* total of B / total of A */
	PPROF_NORMALIZE_RATE      /* duration of B / duration of A */
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
	bool no_script;              /* the picture alone */
	/* Differences only: */
	bool split;                  /* values below 0 are the base's */
	enum pprof_diff_widths widths;
	enum pprof_normalize normalize;
	double base_factor;          /* > 0: A times this, not normalized */
	bool delta_self;             /* colours by self, not by total */
	bool negate;                 /* colours of growth and shrinkage swap */
	double min_delta;            /* share of the total; < 0 means 0.001 */
	/* Looks: */
	unsigned row_height;         /* px; 0 means font_size + 4 */
	const char *font;            /* family, before the usual ones */
	const char *background;      /* "#rrggbb" of the light theme, or NULL */
	const char *count_name;      /* what values count; NULL: their unit */
	const char *name_type;       /* before a name in the details, or NULL */
	bool by_value;               /* widest siblings first, not by name */
	bool csp;                    /* write the policy that allows it */
	/* A picture for terminals instead of an SVG: */
	unsigned columns;            /* characters a line; 0: an SVG */
	bool ansi;                   /* with colours, as escape sequences */
};
#define PPROF_FLAME_OPTS_INIT \
	{ .size = sizeof(struct pprof_flame_opts), .sample_type = -1, \
	  .min_width = -1, .min_delta = -1 }

/**
 * Write one self-contained SVG, correct without script.
 * An empty profile gives a valid picture that says so. A profile with
 * samples that are labelled pprof::base (a difference that keeps both sides)
 * is drawn as pprof_flame_diff_write() does. Returns OK, NOMEM, IO, LIMIT.
 * Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_flame_write(const struct pprof_profile *profile,
		  const struct pprof_flame_opts *opts,
		  struct pprof_sink *sink, struct pprof_error *err);

/**
 * Write a differential flame graph: `profile` (B) against `base` (A), both
 * borrowed. Every node has both values, growth and shrinkage have colours
 * and words, changes within the sampling error are neutral, what only A has
 * stands beside the graph. opts->sample_type is B's; A's is the one of the
 * same name. Returns OK, NOMEM, IO, LIMIT, MISMATCH (A has no such sample
 * type, or another unit). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_flame_diff_write(const struct pprof_profile *base,
		       const struct pprof_profile *profile,
		       const struct pprof_flame_opts *opts,
		       struct pprof_sink *sink, struct pprof_error *err);

/* ---------------------------------------------------------------- comparing */

/** What a difference of two profiles looks like. */
enum pprof_diff_mode {
	PPROF_DIFF_LABELLED = 0, /* both halves, the base's negative, marked */
	PPROF_DIFF_CANCELLED     /* differences of equal stacks */
};

/** How to subtract. Start from PPROF_DIFF_OPTS_INIT. */
struct pprof_diff_opts {
	size_t size;
	enum pprof_diff_mode mode;
	bool normalize;        /* scale the new profile to the base's total */
	bool match_base_names; /* as in struct pprof_merge_opts */
	bool allow_unrelated;
	const struct pprof_limits *limits; /* NULL: defaults */
	pprof_diag_fn diag;
	void *diag_ctx;
};
#define PPROF_DIFF_OPTS_INIT { .size = sizeof(struct pprof_diff_opts) }

/**
 * Subtract `base` from `profile`. Labelled, the samples of the base have the
 * label pprof::base, as go tool pprof writes and reads it. Cancelled, frames
 * of files that are another build in each are matched by function and file.
 *
 * names    [2] of base and profile, for messages
 *
 * Returns OK, NOMEM, LIMIT, MISMATCH (err names both), USAGE. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_profile_diff(const struct pprof_profile *base,
		   const struct pprof_profile *profile,
		   const char *const *names,
		   const struct pprof_diff_opts *opts,
		   struct pprof_profile **ret_diff, struct pprof_error *err);

/** In which order changes are told. */
enum pprof_change_sort {
	PPROF_SORT_SIGNIFICANCE = 0, /* least likely to be chance first */
	PPROF_SORT_DELTA,            /* largest first; of a series, steepest */
	PPROF_SORT_NAME
};

/** Which changes are told. */
enum pprof_change_only {
	PPROF_CHANGES_ALL = 0,
	PPROF_CHANGES_GROWTH,
	PPROF_CHANGES_SHRINK
};

/** How to compare. Start from PPROF_COMPARISON_OPTS_INIT. */
struct pprof_comparison_opts {
	size_t size;
	const char *sample_type; /* name; NULL: the first profile's default */
	enum pprof_granularity granularity;
	bool no_inlines;
	bool by_cum;             /* values with callees, not without */
	bool normalize;          /* scale all to the first one's total */
	enum pprof_change_sort sort;
	enum pprof_change_only only;
	size_t limit;            /* rows; 0 all */
	enum pprof_value_unit unit;
	unsigned width;          /* columns of the table; 0 unlimited */
	bool sparkline;          /* draw series with block characters */
	bool json;               /* exact numbers for programs */
};
#define PPROF_COMPARISON_OPTS_INIT \
	{ .size = sizeof(struct pprof_comparison_opts), \
	  .unit = PPROF_UNIT_AUTO }

/** The functions of several profiles side by side; holds no profile. */
struct pprof_comparison;

/** Begin a comparison. Returns OK, NOMEM, USAGE. Since 0.1. */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_comparison_new(const struct pprof_comparison_opts *opts,
		     struct pprof_comparison **ret_comparison,
		     struct pprof_error *err);

/** Free it; NULL is allowed. */
PPROF_API void pprof_comparison_free(struct pprof_comparison *comparison);

/**
 * Add a profile. The first is the base; more than two are a series, which is
 * put in order by sequence, else by time, else it stays as it was added.
 *
 * name      for the table
 * sequence  number of the dump, or -1
 *
 * Returns OK, NOMEM, LIMIT, NOTFOUND (no such sample type), MISMATCH (units
 * do not fit). On failure the comparison goes on without it. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_comparison_add(struct pprof_comparison *comparison,
		     const struct pprof_profile *profile, const char *name,
		     int64_t sequence, struct pprof_error *err);

/**
 * Write what changed: values before and after, the difference, and whether
 * sampling alone explains it (z, and p of it); of a series the slope (median
 * of pairs) and p of its signs. Once a comparison.
 *
 * Returns OK, NOMEM, IO, USAGE (fewer than two profiles). Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_comparison_write(struct pprof_comparison *comparison,
		       struct pprof_sink *sink, struct pprof_error *err);

/** What the text of a heap dump adds up to, see pprof_dump_sum(). */
struct pprof_dump_sum {
	uint64_t nr_bytes;  /* in use, not scaled up */
	uint64_t nr_stacks; /* lines that begin with "@" */
};

/**
 * Add up a jemalloc heap dump as it stands: for each line that begins with
 * "@" the bytes (third word) of the first line behind it that begins with
 * "t*:". Nothing is scaled up, the dump's summary is not looked at, and the
 * rest may be anything. For a comparison of like with like: what a sampled
 * dump stands for is what pprof_profile_read() gives.
 *
 * path     file name, or "-" for standard input; gzip is taken off
 * limits   NULL for defaults
 * diag     NULL: diagnostics are not told
 * ret_sum  set on success
 *
 * Returns OK, NOMEM, IO, FORMAT, UNSUPPORTED, LIMIT. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_dump_sum(const char *path, const struct pprof_limits *limits,
	       pprof_diag_fn diag, void *diag_ctx,
	       struct pprof_dump_sum *ret_sum, struct pprof_error *err);

/** What a check came to; the exit statuses of pprof-check. */
enum pprof_check_result {
	PPROF_CHECK_PASS = 0,
	PPROF_CHECK_FAIL = 1,
	PPROF_CHECK_UNKNOWN = 3 /* the profiles do not tell */
};

/** What to check. Start from PPROF_CHECK_OPTS_INIT. */
struct pprof_check_opts {
	size_t size;
	const char *sample_type; /* name; NULL: the base's default */
	double confidence;       /* of a verdict; above 0, below 1 */
	double max_growth;       /* of the total, 0.05 is 5%; < 0: none set */
	double max_shrink;       /* likewise, at most 1; < 0: none set */
	double floor;            /* a base below this tells nothing */
};
#define PPROF_CHECK_OPTS_INIT \
	{ .size = sizeof(struct pprof_check_opts), .confidence = 0.99, \
	  .max_growth = -1, .max_shrink = -1 }

/**
 * Has `profile` grown (or shrunk) from its `base` by more than allowed? The
 * total is held to max_growth and max_shrink; where neither is set, neither
 * the total nor any function may grow by more than sampling explains, at the
 * confidence for all functions together. Decided on the interval. Writes the
 * reasons to the sink.
 *
 * ret_verdict  pass, fail, or not to be told: too little data, a base without
 *              samples or below the floor, next to nothing left of it where
 *              max_shrink is not set, another sampling rate
 *
 * Returns OK, NOMEM, IO, LIMIT, NOTFOUND (no such sample type), MISMATCH,
 * USAGE. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_check(const struct pprof_profile *base,
	    const struct pprof_profile *profile,
	    const struct pprof_check_opts *opts, struct pprof_sink *sink,
	    enum pprof_check_result *ret_verdict, struct pprof_error *err);

/** One of several flame graphs in one picture. */
struct pprof_flame_part {
	const struct pprof_profile *base;    /* NULL: no difference */
	const struct pprof_profile *profile;
	const struct pprof_flame_opts *opts; /* NULL for defaults */
};

/**
 * Write `nr` flame graphs, one below the other, as one SVG. All have the
 * width of the first. Returns as pprof_flame_diff_write() does, and USAGE
 * where an option asks for something that is no SVG. Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_flame_parts_write(const struct pprof_flame_part *parts, size_t nr,
			struct pprof_sink *sink, struct pprof_error *err);

/** One profile of an HTML report. */
struct pprof_page_input {
	const struct pprof_profile *profile;
	const char *name; /* file name or what else it is called; not NULL */
};

/** An HTML report. Start from PPROF_PAGE_OPTS_INIT. */
struct pprof_page_opts {
	size_t size;
	/*
	 * What pictures have as well, or NULL for defaults: how the report
	 * begins, its headings, notes and colours. Sizes, limits on what is
	 * drawn and background do not apply.
	 */
	const struct pprof_flame_opts *flame;
	bool diff;              /* begin with the last against the first */
	const char *source_url; /* link to source, with {file} and {line} */
	const char *sandwich;   /* begin with the functions that match */
	bool compress;          /* pack the data whatever its size */
};
#define PPROF_PAGE_OPTS_INIT { .size = sizeof(struct pprof_page_opts) }

/**
 * Write one self-contained HTML file for a browser, which needs no network:
 * flame graph, tables and call tree of every sample type, with all data and
 * nothing pruned. Several profiles are a series, or before and after: any
 * of them can be shown, and any two compared.
 *
 * inputs     nr >= 1 borrowed profiles, the oldest first
 *
 * A profile that holds both sides of a difference gives two. What the last
 * profile has of sample types and the others have as well is in the report.
 * Returns OK, NOMEM, IO, LIMIT, USAGE, MISMATCH (no common sample type).
 * Since 0.1.
 */
PPROF_API PPROF_MUST_USE enum pprof_status
pprof_page_write(const struct pprof_page_input *inputs, size_t nr,
		 const struct pprof_page_opts *opts, struct pprof_sink *sink,
		 struct pprof_error *err);

/** Version of the library that runs, as "0.1.0". */
PPROF_API const char *pprof_version(void);

#ifdef __cplusplus
}
#endif

#endif /* PPROF_H */
