/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: folded stacks.
 */
#include <config.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.format = "folded";
	fuzz_consume(fuzz_read(data, size, opts));
	opts.strict = true;
	pprof_profile_free(fuzz_read(data, size, opts));
	return 0;
}
