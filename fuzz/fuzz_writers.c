/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: every writer, on whatever any reader takes.
 */
#include <config.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile;
	const char *name, *text;
	bool is_binary;
	size_t i;

	opts.threads = true;
	profile = fuzz_read(data, size, opts);
	if (!profile)
		return 0;
	if (profile->nr_types) {
		for (i = 0; pprof_writer_info(i, &name, &text, &is_binary);
		     i++)
			pprof_sink_close(fuzz_write(profile, name));
	}
	pprof_profile_free(profile);
	return 0;
}
