/* SPDX-License-Identifier: Apache-2.0
 *
 * Read, then symbolize, with the shared options.
 */
#include <config.h>

#include "load.h"

static int symbolize(const struct opt_symbol *symbol, bool strict,
		     const char *path, struct pprof_profile *profile)
{
	struct pprof_symbolizer *symbolizer = opt_symbol_new(symbol);
	int code;

	if (!symbolizer)
		return CLI_EXIT_TROUBLE;
	code = opt_symbol_run(symbolizer, strict, path, profile);
	pprof_symbolizer_free(symbolizer);
	return code;
}

int load_profile(const struct opt_input *input,
		 const struct opt_symbol *symbol, const char *path,
		 struct pprof_profile **ret_profile)
{
	struct pprof_profile *profile = NULL;
	int code = CLI_EXIT_OK;

	if (!opt_input_read(input, path, &profile))
		return CLI_EXIT_TROUBLE;
	if (opt_symbol_wanted(symbol))
		code = symbolize(symbol, input->strict, path, profile);
	if (code == CLI_EXIT_TROUBLE) {
		pprof_profile_free(profile);
		return code;
	}
	*ret_profile = profile;
	return code;
}
