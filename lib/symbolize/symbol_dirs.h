/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbol files in directories: by the build ID in their names, or by the name
 * of the binary that they were made from.
 */
#ifndef SYMBOLIZE_SYMBOL_DIRS_H
#define SYMBOLIZE_SYMBOL_DIRS_H

#include "symbolize/finder.h"

/*
 * Show the judge the symbol files that may belong to what was mapped as
 * `path`: of its build ID, or where it has none (""), of its base name. OK,
 * NOMEM, or what the judge said.
 */
enum pprof_status symbol_dirs_search(struct finder *finder, const char *path,
				     const char *build_id,
				     finder_judge_fn judge, void *ctx,
				     bool *ret_taken,
				     struct pprof_error *err);

#endif
