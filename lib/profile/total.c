/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals that percentages refer to; rules of go tool pprof
 * (internal/report, computeTotal).
 */
#include <config.h>

#include "profile/total.h"

bool profile_is_base(const struct pprof_profile *profile, lset_id lset)
{
	const struct lset *set = &profile->lsets[lset];
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		const struct label *label = &profile->labels[set->labels + i];

		if (!label->is_num &&
		    !strcmp(profile_str(profile, label->key), BASE_KEY) &&
		    !strcmp(profile_str(profile, label->str), "true"))
			return true;
	}
	return false;
}

int64_t profile_shown_total(const struct pprof_profile *profile, size_t type,
			    bool *ret_clamped)
{
	const int64_t *values = profile->nr_types ? profile->values[type]
						  : NULL;
	const lset_id *lsets = profile->sample_lset;
	__int128 total = 0, base = 0, value;
	size_t i;

	for (i = 0; values && i < profile->nr_samples; i++) {
		value = values[i] < 0 ? -(__int128)values[i] : values[i];
		total += value;
		if (lsets && lsets[i] && profile_is_base(profile, lsets[i]))
			base += value;
	}
	if (base > 0)
		total = base;
	if (ret_clamped)
		*ret_clamped = total > INT64_MAX;
	return total > INT64_MAX ? INT64_MAX : (int64_t)total;
}
