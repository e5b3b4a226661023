/* SPDX-License-Identifier: Apache-2.0
 *
 * Options on which samples and frames of a profile are kept, shared by all
 * tools that take profiles.
 */
#ifndef TOOLS_OPT_FILTER_H
#define TOOLS_OPT_FILTER_H

#include "cli.h"

#include <pprof.h>

struct opt_filter {
	const char *focus, *ignore, *hide, *show, *show_from, *prune_from;
	const char *tagfocus, *tagignore, *tagshow, *taghide;
	const char *tagroot, *tagleaf;
	const char *thread;
	double divide_by;
	bool drop_frames;          /* also a tool's own default */
	bool all_frames;           /* wins over drop_frames */
	bool collapse_recursion;
	bool drop_negative;
	bool relative_percentages;
	bool mean;                 /* set by a tool: totals are means */
	struct cli_list stated;    /* "focus=RE", filled by opt_filter_run() */
	char *text;                /* what `stated` points into */
};

extern const struct cli_option opt_filter_options[];

void opt_filter_fini(struct opt_filter *filter);

/*
 * Filter a profile; false after a message. `sample_type` as in struct
 * pprof_filter_opts. *ret_total (NULL allowed) is what percentages of the
 * type refer to: 0 where it is the filtered profile's own.
 */
bool opt_filter_run(struct opt_filter *filter, struct pprof_profile *profile,
		    int sample_type, int64_t *ret_total);

#endif
