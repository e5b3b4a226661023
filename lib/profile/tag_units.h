/* SPDX-License-Identifier: Apache-2.0
 *
 * Units of numeric labels: as the label says, else as another label of its
 * key does, else as the key lets one guess (`go tool pprof` does the same).
 */
#ifndef PROFILE_TAG_UNITS_H
#define PROFILE_TAG_UNITS_H

#include "profile/profile.h"

/* Units of numbers whose own label says none, by key. */
struct tag_units {
	str_id *of_key; /* [nr] unit of the first label with the key, or 0 */
	size_t nr;
};

bool tag_units_init(struct tag_units *units,
		    const struct pprof_profile *profile);
void tag_units_fini(struct tag_units *units);

/* The unit of a numeric label; lives as long as the profile. */
const char *tag_units_of(const struct tag_units *units,
			 const struct pprof_profile *profile,
			 const struct label *label);

#endif
