/* SPDX-License-Identifier: Apache-2.0
 *
 * Options structs whose first member is the size that the caller knows.
 */
#ifndef BASE_OPTS_H
#define BASE_OPTS_H

#include "base/error.h"

/*
 * Copy the caller's options (NULL: none) over the defaults in dst. What the
 * caller's version lacks keeps its default. OK, or USAGE when the caller
 * sets members that this version does not know.
 */
enum pprof_status opts_take(void *dst, size_t dst_size, const void *src,
			    struct pprof_error *err);

#endif
