/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses from arguments or standard input, answered as addr2line does.
 */
#ifndef TOOLS_ANSWER_H
#define TOOLS_ANSWER_H

#include "opt_input.h"
#include "opt_symbol.h"

struct answer {
	const struct opt_input *input;
	const struct opt_symbol *symbol;
	const char *output; /* NULL or "-": standard output */
	bool is_json;
	bool is_vaddr;      /* link-time addresses, also with --maps */
};

/*
 * Do the options and arguments[nr] ask for addresses to be named? Without
 * arguments that is for the first line of standard input to tell, of which
 * nothing is taken.
 */
bool answer_is_wanted(const struct answer *answer, char **arguments, int nr);

/*
 * Answer each argument, or each line of standard input as soon as it is
 * there. CLI_EXIT_OK, CLI_EXIT_FAILED (--strict, and some address has no
 * name), CLI_EXIT_TROUBLE after a message.
 */
int answer_run(const struct answer *answer, char **arguments, int nr);

#endif
