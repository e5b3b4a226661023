/* SPDX-License-Identifier: Apache-2.0
 *
 * More functions and locations for a profile that is built already, each
 * kept once. Rows that fall out of use stay: only what a stack leads to is
 * ever written or shown.
 */
#ifndef TRANSFORM_ADDER_H
#define TRANSFORM_ADDER_H

#include "profile/profile.h"

struct adder {
	struct pprof_profile *profile; /* borrowed; its tables grow */
	struct idmap functions;
	struct idmap locations;
};

/* Index what is there. False when out of memory; adder_fini() after either. */
__attribute__((warn_unused_result))
bool adder_init(struct adder *adder, struct pprof_profile *profile);
void adder_fini(struct adder *adder);

/* The row that is equal to *func, added when new; ID_FAILED: no memory. */
func_id adder_function(struct adder *adder, const struct function *func);

/*
 * The row with loc's address, mapping and is_folded and with lines[nr];
 * ID_FAILED when out of memory. `lines` must not be in the profile.
 */
loc_id adder_location(struct adder *adder, const struct location *loc,
		      const struct line *lines, uint32_t nr);

#endif
