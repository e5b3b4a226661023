/* SPDX-License-Identifier: Apache-2.0
 *
 * Registry of readers: sniff by content, then read.
 */
#ifndef INPUT_READER_H
#define INPUT_READER_H

#include "base/cursor.h"
#include "profile/builder.h"

/* Bytes that a sniffer is shown at most. */
#define SNIFF_BYTES 4096

/* What a reader is told beside the bytes. */
struct read_ctx {
	const struct pprof_read_opts *opts;
	struct builder *out;
	struct diags *diags;
};

struct reader {
	const char *name;        /* as in --format=NAME */
	const char *description; /* one line */
	bool has_time;           /* its files say when; a file's mtime not */
	/* Bits of magic verified in head[nr]; 0: not mine. Pure. */
	int (*sniff)(const uint8_t *head, size_t nr);
	/* NULL: known but unreadable; `description` says what to do. */
	enum pprof_status (*read)(struct cursor *in,
				  const struct read_ctx *ctx,
				  struct pprof_error *err);
};

extern const struct reader reader_jemalloc;
extern const struct reader reader_pprof;
extern const struct reader reader_folded;
extern const struct reader reader_cbor;
extern const struct reader reader_contention;
extern const struct reader reader_counts;
extern const struct reader reader_cpu;
extern const struct reader reader_jemalloc_json;
extern const struct reader reader_pem;
extern const struct reader reader_perf_script;
extern const struct reader reader_raw;
extern const struct reader reader_symbolized;
extern const struct reader reader_threads;

/* Reader `i`, or NULL past the last. */
const struct reader *reader_at(size_t i);

/* Fail the cursor with why the builder gave up: a limit, or no memory. */
enum pprof_status reader_fail(const struct builder *out, struct cursor *in,
			      enum pprof_unit unit);

/*
 * Read one profile from the cursor: sniff (or take opts->format), read,
 * finish, tell diagnostics.
 */
enum pprof_status reader_run(struct cursor *in, int64_t mtime_ns,
			     const struct pprof_read_opts *opts,
			     struct diags *diags,
			     struct pprof_profile **ret_profile,
			     struct pprof_error *err);

#endif
