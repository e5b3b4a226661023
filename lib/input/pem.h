/* SPDX-License-Identifier: Apache-2.0
 *
 * PEM blocks ("-----BEGIN HEAP-----") out of logs, whatever collectors did
 * to the lines: prefixes, JSON, foreign lines between, joined lines, two
 * blocks at once, missing ends.
 */
#ifndef INPUT_PEM_H
#define INPUT_PEM_H

#include "base/cursor.h"

/*
 * Give every block of the input to `fn` as it closes. OK, NOMEM, LIMIT, the
 * cursor's failure, or what `fn` returned other than OK.
 */
enum pprof_status pem_extract(struct cursor *in,
			      const struct pprof_limits *limits,
			      pprof_block_fn fn, void *ctx,
			      struct pprof_error *err);

#endif
