/* SPDX-License-Identifier: Apache-2.0
 *
 * Public entry points that belong to no part: version, names of statuses,
 * default limits, and reports on what an expression picks.
 */
#include <config.h>

#include "pprof.h"

#include "base/error.h"
#include "output/report_tree.h"
#include "transform/pattern.h"

#include <string.h>

const char *pprof_version(void)
{
	return PACKAGE_VERSION;
}

const char *pprof_status_text(enum pprof_status status)
{
	switch (status) {
	case PPROF_OK:
		return "done";
	case PPROF_NOMEM:
		return "out of memory";
	case PPROF_IO:
		return "input or output failed";
	case PPROF_FORMAT:
		return "input breaks the rules of its format";
	case PPROF_UNSUPPORTED:
		return "not readable here";
	case PPROF_LIMIT:
		return "a limit was reached";
	case PPROF_MISMATCH:
		return "inputs do not belong together";
	case PPROF_NOTFOUND:
		return "not found";
	case PPROF_USAGE:
		return "wrong use";
	}
	return "unknown status";
}

void pprof_limits_init(struct pprof_limits *limits)
{
	limits->input_bytes = (uint64_t)64 << 30;
	limits->inflated_bytes = (uint64_t)16 << 30;
	limits->inflate_ratio = 2000;
	limits->string_bytes = (uint64_t)1 << 20;
	limits->strings_bytes = (uint64_t)1 << 30;
	limits->line_bytes = (uint64_t)256 << 20;
	limits->samples = 256u << 20;
	limits->locations = 64u << 20;
	limits->frames = 1u << 20;
	limits->labels = 256;
	limits->mappings = 1u << 20;
}

static bool match_name(void *ctx, const char *name, size_t len)
{
	return pattern_match(ctx, name, len);
}

enum pprof_status pprof_report_peek(const struct pprof_profile *profile,
				    const char *expression,
				    const struct pprof_top_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	struct pattern pattern = { .code = NULL };
	enum pprof_status status;
	size_t nr = 0;

	status = pattern_init(&pattern, "peek", expression,
			      strlen(expression), false, err);
	if (!status)
		status = report_tree(profile, opts, match_name, &pattern, &nr,
				     sink, err);
	if (!status && pattern.gave_up)
		status = error_plain(err, PPROF_LIMIT, NULL,
				     "peek '%s' is too costly to match",
				     expression);
	else if (!status && !nr)
		status = error_plain(err, PPROF_NOTFOUND, NULL,
				     "no function matches '%s'", expression);
	pattern_fini(&pattern);
	return status;
}
