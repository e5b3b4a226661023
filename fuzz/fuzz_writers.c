/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: every writer and every report, on whatever any reader takes.
 */
#include <config.h>

#include "common.h"

static void visit_peek(const struct pprof_profile *profile,
		       struct pprof_sink *sink)
{
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;
	enum pprof_status status;
	struct pprof_error err;

	opts.min_fraction = 0;
	status = pprof_report_peek(profile, "", &opts, sink, &err);
	/* Without a sample no function matches. */
	fuzz_assert(!status || status == PPROF_NOTFOUND);
}

static void visit_reports(const struct pprof_profile *profile)
{
	struct pprof_sink *sink;
	struct pprof_error err;

	fuzz_assert(!pprof_sink_open_memory(&sink, &err));
	fuzz_assert(!pprof_report_top(profile, NULL, sink, &err));
	fuzz_assert(!pprof_report_top_json(profile, NULL, sink, &err));
	fuzz_assert(!pprof_report_dot(profile, NULL, sink, &err));
	fuzz_assert(!pprof_report_tree(profile, NULL, sink, &err));
	visit_peek(profile, sink);
	fuzz_assert(!pprof_report_traces(profile, NULL, sink, &err));
	fuzz_assert(!pprof_report_tags(profile, NULL, sink, &err));
	fuzz_assert(!pprof_report_raw(profile, sink, &err));
	fuzz_assert(!pprof_report_comments(profile, sink, &err));
	pprof_sink_close(sink);
}

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
	visit_reports(profile);
	pprof_profile_free(profile);
	return 0;
}
