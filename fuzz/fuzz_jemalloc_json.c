/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: jemalloc's JSON, last allocations and logs.
 */
#include <config.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.format = "jemalloc-json";
	fuzz_consume(fuzz_read(data, size, opts));
	opts.raw_counts = true;
	opts.threads = true;
	fuzz_consume(fuzz_read(data, size, opts));
	return 0;
}
