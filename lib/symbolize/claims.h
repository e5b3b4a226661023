/* SPDX-License-Identifier: Apache-2.0
 *
 * Which units say that an address is theirs.
 */
#ifndef SYMBOLIZE_CLAIMS_H
#define SYMBOLIZE_CLAIMS_H

#include "symbolize/dwarf_file.h"
#include "symbolize/text_areas.h"

/* A unit's claim on an address, both by number. */
struct claim {
	uint32_t target;
	uint32_t unit;
};

struct claims {
	struct claim *rows; /* by target, then by unit: the first one owns */
	size_t nr, cap;
	uint32_t *unknown;  /* units that do not tell all their addresses */
	size_t nr_unknown, cap_unknown;
};

/* OK, NOMEM. claims_fini() in either case. */
enum pprof_status claims_init(struct claims *claims,
			      const struct dwarf_file *file,
			      const struct text_areas *text,
			      const uint64_t *vaddrs, size_t nr,
			      struct diags *diags);
void claims_fini(struct claims *claims);

#endif
