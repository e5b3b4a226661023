/* SPDX-License-Identifier: Apache-2.0
 *
 * Matching of sample types by name and unit.
 */
#include <config.h>

#include "transform/types.h"

#define IN_USE "inuse_"
#define IN_USE_LEN (sizeof(IN_USE) - 1)

static bool has_type(const struct pprof_profile *profile, const char *name)
{
	size_t i;

	for (i = 0; i < profile->nr_types; i++)
		if (!strcmp(profile_str(profile, profile->types[i].type),
			    name))
			return true;
	return false;
}

const char *type_stem(const struct pprof_profile *profile, size_t i)
{
	const char *name = profile_str(profile, profile->types[i].type);
	const char *stem = name + IN_USE_LEN;

	if (strncmp(name, IN_USE, IN_USE_LEN) != 0 ||
	    (strcmp(stem, "objects") != 0 && strcmp(stem, "space") != 0) ||
	    has_type(profile, stem))
		return name;
	return stem;
}

size_t type_find(const struct pprof_profile *profile, const char *stem,
		 const char *unit)
{
	size_t i;

	for (i = 0; i < profile->nr_types; i++)
		if (!strcmp(type_stem(profile, i), stem) &&
		    units_fit(profile_str(profile, profile->types[i].unit),
			      unit))
			return i;
	return TYPE_NONE;
}

/* Length of "alloc_" in "alloc_space". */
static size_t prefix_len(const char *name)
{
	const char *last = strrchr(name, '_');

	return last ? (size_t)(last - name) + 1 : 0;
}

static int compare_bytes(const char *a, size_t len_a, const char *b,
			 size_t len_b)
{
	int order = memcmp(a, b, len_a < len_b ? len_a : len_b);

	return order ? order : (len_a > len_b) - (len_a < len_b);
}

int type_compare(const char *name_a, const char *unit_a, const char *name_b,
		 const char *unit_b)
{
	int order = compare_bytes(name_a, prefix_len(name_a), name_b,
				  prefix_len(name_b));

	if (!order)
		order = !units_fit(unit_a, "count") -
			!units_fit(unit_b, "count");
	if (!order)
		order = strcmp(name_a, name_b);
	return order ? order : strcmp(unit_a, unit_b);
}

bool unit_is_better(const char *a, const char *b)
{
	size_t len_a = strlen(a), len_b = strlen(b);

	return len_a > len_b || (len_a == len_b && strcmp(a, b) < 0);
}

int64_t multiply_saturated(int64_t value, int64_t factor, bool *saturated)
{
	int64_t product;

	if (!__builtin_mul_overflow(value, factor, &product))
		return product;
	*saturated = true;
	return (value < 0) != (factor < 0) ? INT64_MIN : INT64_MAX;
}
