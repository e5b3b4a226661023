/* SPDX-License-Identifier: Apache-2.0
 *
 * Options on what of a profile is shown, shared by the tools that show one.
 */
#ifndef TOOLS_OPT_VIEW_H
#define TOOLS_OPT_VIEW_H

#include "cli.h"

#include <pprof.h>

struct opt_view {
	const char *sample_type;
	int by; /* enum pprof_granularity */
};

/* All of them. */
extern const struct cli_option opt_view_options[];

/* --sample-type alone, for formats that hold one value. */
extern const struct cli_option opt_view_type_options[];

/*
 * Index of the sample type that was asked for, -1 for the default; false
 * after a message that lists the types.
 */
bool opt_view_sample_type(const struct opt_view *view,
			  const struct pprof_profile *profile, int *ret_index);

#endif
