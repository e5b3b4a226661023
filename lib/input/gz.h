/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip and zlib streams: inflating piece by piece or all at once, with the
 * bounds on what a small input may become. The one home of zlib and
 * libdeflate on the way in; knows nothing of files.
 */
#ifndef INPUT_GZ_H
#define INPUT_GZ_H

#include "base/cursor.h"

enum gz_kind {
	GZ_NONE = 0, /* not compressed, or not in a way known here */
	GZ_GZIP,     /* RFC 1952 */
	GZ_ZLIB      /* RFC 1950 */
};

/* What the first `nr` bytes of an input are. Pure. */
enum gz_kind gz_detect(const uint8_t *head, size_t nr);

/* Where the compressed bytes come from and what bounds the result. */
struct gz_source {
	enum gz_kind kind;
	const char *name;          /* for messages; borrowed */
	cursor_refill_fn pull;     /* gives compressed bytes */
	void *pull_ctx;
	const uint64_t *raw_bytes; /* read from outside so far; the ratio's 1 */
	const struct pprof_limits *limits; /* borrowed */
	struct diags *diags;       /* borrowed */
};

struct gz;

/* OK or NOMEM. `source` is copied. */
enum pprof_status gz_new(const struct gz_source *source, struct gz **ret_gz,
			 struct pprof_error *err);
void gz_free(struct gz *gz);

/*
 * A cursor_refill_fn over a struct gz: up to `cap` inflated bytes. A stream
 * that ends early gives what it holds, then the end, with a diagnostic;
 * FORMAT when it holds nothing or is damaged.
 */
size_t gz_read(void *gz, void *dst, size_t cap, struct pprof_error *err);

/* True once gz_read() has met an early end. */
bool gz_was_truncated(const struct gz *gz);

/* Largest result that gz_inflate_whole() makes. */
#define GZ_WHOLE_MAX ((size_t)256 << 20)

/*
 * Inflate a gzip file, all its members, into fresh pages at *ret_pages, to be
 * let go with gz_free_whole(). False when that is not possible for any
 * reason (damage, too large, no libdeflate): gz_read() then
 * tells precisely.
 */
bool gz_inflate_whole(const uint8_t *data, size_t nr_bytes,
		      const struct pprof_limits *limits, void **ret_pages,
		      size_t *ret_nr_bytes);
void gz_free_whole(void *pages, size_t nr_bytes);

/* The size that the last 4 bytes of a file claim, if the fast way fits. */
bool gz_whole_fits(const uint8_t trailer[4], size_t nr_bytes,
		   const struct pprof_limits *limits, size_t *ret_nr_bytes);

#endif
