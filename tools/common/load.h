/* SPDX-License-Identifier: Apache-2.0
 *
 * The first half of most tools: read a profile, give it names when asked.
 */
#ifndef TOOLS_LOAD_H
#define TOOLS_LOAD_H

#include "opt_input.h"
#include "opt_symbol.h"

/*
 * CLI_EXIT_OK or CLI_EXIT_FAILED (see opt_symbol_run()) with *ret_profile
 * set, or CLI_EXIT_TROUBLE after a message.
 */
int load_profile(const struct opt_input *input,
		 const struct opt_symbol *symbol, const char *path,
		 struct pprof_profile **ret_profile);

#endif
