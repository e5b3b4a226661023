/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: output of perf script.
 */
#include <config.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.format = "perf-script";
	fuzz_consume(fuzz_read(data, size, opts));
	opts.strict = true;
	opts.threads = true;
	fuzz_consume(fuzz_read(data, size, opts));
	return 0;
}
