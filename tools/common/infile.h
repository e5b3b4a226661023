/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files a command line names. Reading them is the library's.
 */
#ifndef TOOLS_INFILE_H
#define TOOLS_INFILE_H

#include "cli.h"

/*
 * The one FILE among argv[first..argc): "-" when there is none and standard
 * input is no terminal. As with pprof and jeprof a program may stand before
 * the profile: an ELF file goes to `binaries`.
 */
const char *infile_one(int argc, char **argv, int first,
		       struct cli_list *binaries);

/*
 * The same where there may be several: index of the first FILE in argv;
 * argc when there is none and it is standard input.
 */
int infile_first(int argc, char **argv, int first,
		 struct cli_list *binaries);

/* `path` for messages: "-" is standard input. */
const char *infile_name(const char *path);

/* Base name of `path` for titles; NULL for standard input. */
const char *infile_title(const char *path);

#endif
