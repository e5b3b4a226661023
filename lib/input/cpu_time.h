/* SPDX-License-Identifier: Apache-2.0
 *
 * Time for CPU profiles that only count: `hz` samples are a second.
 */
#ifndef INPUT_CPU_TIME_H
#define INPUT_CPU_TIME_H

#include "profile/profile.h"

/*
 * Give a finished profile the column cpu/nanoseconds, its count of samples
 * times 10^9 / hz (not 0), and that as its period. A profile that measures
 * anything itself stays as it is, counted in `diags`. OK, NOMEM, LIMIT.
 */
enum pprof_status cpu_time_add(struct pprof_profile *profile, uint64_t hz,
			       struct diags *diags, const char *source,
			       struct pprof_error *err);

#endif
