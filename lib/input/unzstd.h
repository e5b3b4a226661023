/* SPDX-License-Identifier: Apache-2.0
 *
 * Zstandard (RFC 8878) taken off an input, where the library was built with
 * libzstd.
 */
#ifndef INPUT_UNZSTD_H
#define INPUT_UNZSTD_H

#include "base/cursor.h"

struct unzstd;

/* Whether head[nr] begins a frame that can be read here. Pure. */
bool unzstd_detect(const uint8_t *head, size_t nr);

/*
 * `pull` gives the compressed bytes; `name`, `raw_bytes` (read from outside
 * so far), `limits` and `diags` are borrowed. OK or NOMEM.
 */
enum pprof_status unzstd_new(const char *name, cursor_refill_fn pull,
			     void *pull_ctx, const uint64_t *raw_bytes,
			     const struct pprof_limits *limits,
			     struct diags *diags, struct unzstd **ret_unzstd,
			     struct pprof_error *err);
void unzstd_free(struct unzstd *unzstd);

/*
 * A cursor_refill_fn over it. A stream that ends early gives what it holds,
 * then the end, with a diagnostic.
 */
size_t unzstd_read(void *unzstd, void *dst, size_t cap,
		   struct pprof_error *err);

/* True once unzstd_read() has met an early end. */
bool unzstd_was_truncated(const struct unzstd *unzstd);

#endif
