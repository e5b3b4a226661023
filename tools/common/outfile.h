/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a tool's result goes: -o FILE, written beside and renamed, or
 * standard output.
 */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include <pprof.h>

/*
 * To be called before the work: ends the tool when `path` (NULL or "-":
 * standard output) is a terminal and the result is binary.
 */
void outfile_refuse_terminal(const char *path, bool is_binary);

/* Writes one result to the sink; `ctx` is the caller's. */
typedef enum pprof_status (*outfile_fn)(const void *ctx,
					struct pprof_sink *sink,
					struct pprof_error *err);

/*
 * Open `path`, let `write` fill it, publish it; progress says `verb`.
 * Returns CLI_EXIT_OK, or CLI_EXIT_TROUBLE after a message, with an existing
 * file left as it was.
 */
int outfile_write(const char *path, const char *verb, outfile_fn write,
		  const void *ctx);

/* A profile as `writer` has it, the whole of what two tools put out. */
struct outfile_profile {
	const struct pprof_profile *profile;
	const char *writer;
	struct pprof_write_opts opts;
};

/* An outfile_fn for struct outfile_profile. */
enum pprof_status outfile_write_profile(const void *ctx,
					struct pprof_sink *sink,
					struct pprof_error *err);

#endif
