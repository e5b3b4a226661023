/* SPDX-License-Identifier: Apache-2.0
 *
 * Units of numeric labels; see tag_units.h.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/tag_units.h"

#include <string.h>

bool tag_units_init(struct tag_units *units,
		    const struct pprof_profile *profile)
{
	size_t i;

	units->nr = profile->strings.nr;
	units->of_key = mem_zalloc(units->nr, sizeof(*units->of_key));
	if (!units->of_key)
		return false;
	for (i = 0; i < profile->nr_labels; i++) {
		const struct label *label = &profile->labels[i];

		if (label->is_num && !units->of_key[label->key])
			units->of_key[label->key] = label->unit;
	}
	return true;
}

void tag_units_fini(struct tag_units *units)
{
	mem_free(units->of_key);
	units->of_key = NULL;
}

const char *tag_units_of(const struct tag_units *units,
			 const struct pprof_profile *p,
			 const struct label *label)
{
	const char *key = profile_str(p, label->key);

	if (label->unit)
		return profile_str(p, label->unit);
	if (label->key < units->nr && units->of_key[label->key])
		return profile_str(p, units->of_key[label->key]);
	if (!strcmp(key, "alignment") || !strcmp(key, "request"))
		return "bytes";
	return key;
}
