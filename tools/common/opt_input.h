/* SPDX-License-Identifier: Apache-2.0
 *
 * Options on how an input is read, shared by all tools.
 */
#ifndef TOOLS_OPT_INPUT_H
#define TOOLS_OPT_INPUT_H

#include "cli.h"

#include <pprof.h>

struct opt_input {
	const char *format;
	const char *maps;
	const char *time;
	const char *hz_text;
	bool list_formats;
	bool root_first;
	bool raw_counts;
	bool threads;
	bool strict;
	struct cli_list max; /* "NAME=N" */
	uint64_t hz; /* 0: not given */
	struct pprof_limits limits;
};

extern const struct cli_option opt_input_options[];

/* Check what the options say; with --list-formats print and exit. */
void opt_input_check(struct opt_input *input);
void opt_input_fini(struct opt_input *input);

/* What the options mean to the library; borrows from `input`. */
void opt_input_take(const struct opt_input *input,
		    struct pprof_read_opts *ret_opts);

/* Read `path`; false after a message. */
bool opt_input_read(const struct opt_input *input, const char *path,
		    struct pprof_profile **ret_profile);

#endif
