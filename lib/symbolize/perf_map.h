/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of code that a compiler made at run time, from the file that it left
 * for perf: lines "START SIZE NAME", hexadecimal (linux
 * tools/perf/Documentation/jit-interface.txt).
 */
#ifndef SYMBOLIZE_PERF_MAP_H
#define SYMBOLIZE_PERF_MAP_H

#include "symbolize/draft.h"
#include "symbolize/symbolize.h"

/*
 * Name what no file has named, from the files of opts.perf_maps. OK, NOMEM,
 * LIMIT, IO (a file cannot be read).
 */
enum pprof_status perf_maps_name(struct run *run, struct draft *draft);

#endif
