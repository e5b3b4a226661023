/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions with their callers and callees, as `go tool pprof -tree` lays
 * them out; of all functions or of those that are asked for.
 */
#ifndef OUTPUT_REPORT_TREE_H
#define OUTPUT_REPORT_TREE_H

#include "profile/profile.h"

/* Is the function of this name asked for? */
typedef bool (*report_select_fn)(void *ctx, const char *name, size_t len);

/*
 * Write the tree; `select` NULL: of all that is shown. *ret_nr (may be NULL)
 * is how many functions came out; nothing is written when it is 0 and
 * `select` is there. OK, NOMEM, IO, USAGE, LIMIT.
 */
enum pprof_status report_tree(const struct pprof_profile *profile,
			      const struct pprof_top_opts *opts,
			      report_select_fn select, void *ctx,
			      size_t *ret_nr, struct pprof_sink *sink,
			      struct pprof_error *err);

#endif
