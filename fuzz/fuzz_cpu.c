/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: CPU profiles of gperftools, words of either size and order.
 */
#include <config.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.format = "cpu";
	fuzz_consume(fuzz_read(data, size, opts));
	opts.raw_counts = true;
	opts.threads = true;
	fuzz_consume(fuzz_read(data, size, opts));
	return 0;
}
