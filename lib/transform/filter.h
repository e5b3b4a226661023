/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a filter that a file of its own holds.
 */
#ifndef TRANSFORM_FILTER_H
#define TRANSFORM_FILTER_H

#include "profile/profile.h"

/*
 * Give stacks pseudo frames out of their labels: `root` and `leaf` are keys
 * divided by commas, or NULL. OK, NOMEM, LIMIT.
 */
enum pprof_status filter_add_tag_frames(struct pprof_profile *profile,
					const char *root, const char *leaf,
					struct diags *diags,
					struct pprof_error *err);

#endif
