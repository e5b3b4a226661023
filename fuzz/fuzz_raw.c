/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: raw address dumps as text.
 */
#include <config.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.format = "raw";
	fuzz_consume(fuzz_read(data, size, opts));
	opts.root_first = true;
	opts.threads = true;
	fuzz_consume(fuzz_read(data, size, opts));
	return 0;
}
