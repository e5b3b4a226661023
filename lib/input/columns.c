/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of values that come late.
 */
#include <config.h>

#include "input/columns.h"

#include "base/mem.h"

bool columns_append(struct builder *out, const char *type, size_t type_len,
		    const char *unit)
{
	struct pprof_profile *profile = out->profile;
	size_t t = profile->nr_types;
	struct value_type row;

	if (t == SAMPLE_TYPES_MAX)
		return false;
	/* What waits has the columns of before. */
	builder_flush(out);
	row.type = builder_str(out, type, type_len);
	row.unit = builder_cstr(out, unit);
	if (out->status)
		return false;
	profile->values[t] = mem_zalloc(profile->cap_samples,
					sizeof(*profile->values[t]));
	if (!profile->values[t])
		return false;
	profile->types[t] = row;
	profile->nr_types++;
	return true;
}
