/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of units as google/pprof, internal/measurement, knows them.
 */
#include <config.h>

#include "transform/family.h"

#include <math.h>
#include <string.h>
#include <strings.h>

struct unit_name {
	const char *name; /* lower case, no plural */
	enum family family;
	double factor;
};

static const struct unit_name unit_names[] = {
	{ "b", FAMILY_MEMORY, 1 },
	{ "byte", FAMILY_MEMORY, 1 },
	{ "kb", FAMILY_MEMORY, 0x1p10 },
	{ "kbyte", FAMILY_MEMORY, 0x1p10 },
	{ "kilobyte", FAMILY_MEMORY, 0x1p10 },
	{ "kib", FAMILY_MEMORY, 0x1p10 },
	{ "mb", FAMILY_MEMORY, 0x1p20 },
	{ "mbyte", FAMILY_MEMORY, 0x1p20 },
	{ "megabyte", FAMILY_MEMORY, 0x1p20 },
	{ "mib", FAMILY_MEMORY, 0x1p20 },
	{ "gb", FAMILY_MEMORY, 0x1p30 },
	{ "gbyte", FAMILY_MEMORY, 0x1p30 },
	{ "gigabyte", FAMILY_MEMORY, 0x1p30 },
	{ "gib", FAMILY_MEMORY, 0x1p30 },
	{ "tb", FAMILY_MEMORY, 0x1p40 },
	{ "tbyte", FAMILY_MEMORY, 0x1p40 },
	{ "terabyte", FAMILY_MEMORY, 0x1p40 },
	{ "tib", FAMILY_MEMORY, 0x1p40 },
	{ "pb", FAMILY_MEMORY, 0x1p50 },
	{ "pbyte", FAMILY_MEMORY, 0x1p50 },
	{ "petabyte", FAMILY_MEMORY, 0x1p50 },
	{ "pib", FAMILY_MEMORY, 0x1p50 },
	{ "ns", FAMILY_TIME, 1 },
	{ "nanosecond", FAMILY_TIME, 1 },
	{ "us", FAMILY_TIME, 1e3 },
	{ "\xce\xbcs", FAMILY_TIME, 1e3 },
	{ "\xc2\xb5s", FAMILY_TIME, 1e3 },
	{ "microsecond", FAMILY_TIME, 1e3 },
	{ "ms", FAMILY_TIME, 1e6 },
	{ "millisecond", FAMILY_TIME, 1e6 },
	{ "s", FAMILY_TIME, 1e9 },
	{ "sec", FAMILY_TIME, 1e9 },
	{ "second", FAMILY_TIME, 1e9 },
	{ "hr", FAMILY_TIME, 3.6e12 },
	{ "hour", FAMILY_TIME, 3.6e12 },
	{ "nanogcu", FAMILY_GCU, 1 },
	{ "microgcu", FAMILY_GCU, 1e3 },
	{ "milligcu", FAMILY_GCU, 1e6 },
	{ "gcu", FAMILY_GCU, 1e9 },
	{ "kilogcu", FAMILY_GCU, 1e12 },
	{ "megagcu", FAMILY_GCU, 1e15 },
	{ "gigagcu", FAMILY_GCU, 1e18 },
	{ "teragcu", FAMILY_GCU, 1e21 },
	{ "petagcu", FAMILY_GCU, 1e24 }
};

#define NR_UNIT_NAMES (sizeof(unit_names) / sizeof(*unit_names))

/* Length without a plural s; "s", "ns" and "us" are no plurals. */
static size_t singular(const char *name, size_t len)
{
	if (len > 2 && (name[len - 1] == 's' || name[len - 1] == 'S') &&
	    (unsigned char)name[0] < 0x80)
		len--;
	return len;
}

struct unit_size unit_size_of(const char *name, size_t len)
{
	struct unit_size none = { FAMILY_NONE, 1 }, found;
	size_t i;

	len = singular(name, len);
	for (i = 0; i < NR_UNIT_NAMES; i++) {
		if (strlen(unit_names[i].name) != len ||
		    strncasecmp(unit_names[i].name, name, len))
			continue;
		found.family = unit_names[i].family;
		found.factor = unit_names[i].factor;
		return found;
	}
	return none;
}

bool units_fit(const char *a, const char *b)
{
	size_t len_a = strlen(a), len_b = strlen(b);
	enum family family = unit_size_of(a, len_a).family;

	if (family != unit_size_of(b, len_b).family)
		return false;
	if (family)
		return true;
	len_a = singular(a, len_a);
	return len_a == singular(b, len_b) && !strncmp(a, b, len_a);
}

/* Names to print, as go tool pprof does, falling. */
static const struct unit_name printed_units[] = {
	{ "PB", FAMILY_MEMORY, 0x1p50 },
	{ "TB", FAMILY_MEMORY, 0x1p40 },
	{ "GB", FAMILY_MEMORY, 0x1p30 },
	{ "MB", FAMILY_MEMORY, 0x1p20 },
	{ "kB", FAMILY_MEMORY, 0x1p10 },
	{ "B", FAMILY_MEMORY, 1 },
	{ "hrs", FAMILY_TIME, 3.6e12 },
	{ "s", FAMILY_TIME, 1e9 },
	{ "ms", FAMILY_TIME, 1e6 },
	{ "us", FAMILY_TIME, 1e3 },
	{ "ns", FAMILY_TIME, 1 }
};

#define NR_PRINTED_UNITS (sizeof(printed_units) / sizeof(*printed_units))

void unit_format(struct buf *out, int64_t value, const char *unit)
{
	struct unit_size size = unit_size_of(unit, strlen(unit));
	double base = (double)value * size.factor, hundredths;
	size_t i;

	for (i = 0; i < NR_PRINTED_UNITS; i++)
		if (printed_units[i].family == size.family &&
		    fabs(base) >= printed_units[i].factor)
			break;
	hundredths = i < NR_PRINTED_UNITS
			     ? round(base / printed_units[i].factor * 100)
			     : 0;
	if (i == NR_PRINTED_UNITS || hundredths >= 9e15) {
		buf_i64(out, value);
		if (value && strcmp(unit, "count") != 0)
			buf_str(out, unit);
		return;
	}
	buf_i64(out, (int64_t)(hundredths / 100));
	hundredths = fabs(fmod(hundredths, 100));
	if (hundredths >= 1)
		buf_printf(out, ".%02d", (int)hundredths);
	buf_str(out, printed_units[i].name);
}
