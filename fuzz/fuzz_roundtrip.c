/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: what was read, written as pprof and read again is the same
 * profile: written once more it gives the same bytes, and the totals are
 * equal.
 */
#include <config.h>

#include "common.h"

/* Our own output, which the default limits must let through. */
static struct pprof_profile *read_back(const struct pprof_sink *sink)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_profile *profile = NULL;
	size_t nr_bytes;
	const void *bytes = pprof_sink_memory(sink, &nr_bytes);

	opts.format = "pprof";
	fuzz_assert(!pprof_profile_read_memory(bytes, nr_bytes, "written",
					       &opts, &profile, &err));
	return profile;
}

static void compare_bytes(const struct pprof_sink *a,
			  const struct pprof_sink *b)
{
	size_t nr_a, nr_b;
	const void *bytes_a = pprof_sink_memory(a, &nr_a);
	const void *bytes_b = pprof_sink_memory(b, &nr_b);

	fuzz_assert(nr_a == nr_b && !memcmp(bytes_a, bytes_b, nr_a));
}

static void compare_profiles(const struct pprof_profile *a,
			     const struct pprof_profile *b)
{
	size_t i;

	fuzz_assert(pprof_profile_nr_samples(a) ==
		    pprof_profile_nr_samples(b));
	fuzz_assert(pprof_profile_nr_sample_types(a) ==
		    pprof_profile_nr_sample_types(b));
	fuzz_assert(pprof_profile_default_sample_type(a) ==
		    pprof_profile_default_sample_type(b));
	for (i = 0; i < pprof_profile_nr_sample_types(a); i++)
		fuzz_assert(pprof_profile_total(a, i) ==
			    pprof_profile_total(b, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *first = fuzz_read(data, size, opts), *second;
	struct pprof_sink *once, *twice;

	if (!first)
		return 0;
	once = fuzz_write(first, "pprof");
	second = read_back(once);
	twice = fuzz_write(second, "pprof");
	compare_profiles(first, second);
	compare_bytes(once, twice);
	pprof_sink_close(once);
	pprof_sink_close(twice);
	/* Names and values, too, as another writer sees them. */
	once = fuzz_write(first, "folded");
	twice = fuzz_write(second, "folded");
	compare_bytes(once, twice);
	pprof_sink_close(once);
	pprof_sink_close(twice);
	pprof_profile_free(first);
	pprof_profile_free(second);
	return 0;
}
