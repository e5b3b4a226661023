/* SPDX-License-Identifier: Apache-2.0
 *
 * Values times a factor.
 */
#ifndef TRANSFORM_SCALE_H
#define TRANSFORM_SCALE_H

#include "profile/profile.h"

/*
 * Multiply a column in place, rounding half away from 0. What does not fit
 * 64 bits stays at the limit and is counted in `diags` (NULL allowed).
 */
void scale_column(struct pprof_profile *profile, size_t type, double factor,
		  struct diags *diags);

#endif
