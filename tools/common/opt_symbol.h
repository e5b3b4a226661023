/* SPDX-License-Identifier: Apache-2.0
 *
 * Options on where names come from, shared by all tools.
 */
#ifndef TOOLS_OPT_SYMBOL_H
#define TOOLS_OPT_SYMBOL_H

#include "cli.h"

#include <pprof.h>

struct opt_symbol {
	bool symbolize;
	struct cli_list binaries;
	struct cli_list sysroots;
	struct cli_list search_dirs;
	struct cli_list debug_dirs;
	struct cli_list path_maps;
	struct cli_list symbols;
	struct cli_list perf_maps;
	const char *debuginfod; /* URLs, "" the environment's; NULL: no */
	int names; /* enum pprof_names */
	bool no_inlines;
	bool keep_allocator_frames;
	bool force;
	bool redo;
	uint64_t jobs;
};

/* The first row is --symbolize; a tool that always does starts after it. */
extern const struct cli_option opt_symbol_options[];

/* Check what the options say; ends the tool when they are wrong. */
void opt_symbol_check(const struct opt_symbol *symbol);
void opt_symbol_fini(struct opt_symbol *symbol);

/* -s, or an option that says where to look for names, was given. */
bool opt_symbol_wanted(const struct opt_symbol *symbol);

/* What the options mean to the library; borrows from `symbol`. */
void opt_symbol_take(const struct opt_symbol *symbol,
		     struct pprof_symbolize_opts *ret_opts);

/* A symbolizer as the options say; NULL after a message. */
struct pprof_symbolizer *opt_symbol_new(const struct opt_symbol *symbol);

/*
 * Symbolize one profile; `path` names it in messages. Says what got no name.
 * Returns CLI_EXIT_OK, CLI_EXIT_FAILED (strict, and some address has no
 * name), CLI_EXIT_TROUBLE after a message.
 */
int opt_symbol_run(struct pprof_symbolizer *symbolizer, bool strict,
		   const char *path, struct pprof_profile *profile);

#endif
