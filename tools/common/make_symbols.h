/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbol files of binaries, one each, below a directory.
 */
#ifndef TOOLS_MAKE_SYMBOLS_H
#define TOOLS_MAKE_SYMBOLS_H

#include "opt_symbol.h"

/*
 * Make DIR/BUILD-ID.sym of each of binaries[nr]. CLI_EXIT_OK, or
 * CLI_EXIT_TROUBLE after a message; the others are made all the same.
 */
int make_symbols(const struct opt_symbol *symbol, char **binaries, int nr,
		 const char *dir);

#endif
