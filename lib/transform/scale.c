/* SPDX-License-Identifier: Apache-2.0
 *
 * Scaling of whole columns.
 */
#include <config.h>

#include "profile/stats.h"
#include "transform/scale.h"

void scale_column(struct pprof_profile *profile, size_t type, double factor,
		  struct diags *diags)
{
	int64_t *values = profile->values[type];
	int saturated = 0;
	size_t i;

	if (factor >= 1 && factor <= 1)
		return;
	for (i = 0; values && i < profile->nr_samples; i++)
		values[i] = stats_round((double)values[i] * factor,
					&saturated);
	if (saturated)
		diag_count(diags, PPROF_UNIT_NONE, 0, "a scaled value does "
			   "not fit 64 bits; it stays at the limit");
}
