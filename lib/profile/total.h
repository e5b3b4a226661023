/* SPDX-License-Identifier: Apache-2.0
 *
 * What 100 % is, and which samples are the subtracted half of a difference.
 */
#ifndef PROFILE_TOTAL_H
#define PROFILE_TOTAL_H

#include "profile/profile.h"

/* Label that marks the subtracted half, "true", as go tool pprof has it. */
#define BASE_KEY "pprof::base"

/* True when the label set marks the subtracted half of a difference. */
bool profile_is_base(const struct pprof_profile *profile, lset_id lset);

/*
 * What percentages of a sample type refer to: the sum of all |values|, or in
 * a difference that of its base. *ret_clamped (NULL allowed): it does not
 * fit 64 bits and stays at the limit.
 */
int64_t profile_shown_total(const struct pprof_profile *profile, size_t type,
			    bool *ret_clamped);

#endif
