/* SPDX-License-Identifier: Apache-2.0
 *
 * Formatting of values; see units.h. Rules of tables as in google/pprof,
 * internal/measurement.
 */
#include <config.h>

#include "view/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* One unit and the names that profiles use for it, lower case, no plural. */
struct unit {
	const char *name;    /* as tables print it */
	const char *word;    /* as pictures print it */
	const char *aliases; /* blank-separated */
	double factor;       /* in the family's base */
};

struct unit_family {
	const char *fallback;    /* name for what no unit fits */
	double fallback_factor;
	const struct unit *units; /* rising, ended by a NULL name */
};

static const struct unit memory_units[] = {
	{ "B", "bytes", "b byte", 1 },
	{ "kB", "KiB", "kb kbyte kilobyte", 1024.0 },
	{ "MB", "MiB", "mb mbyte megabyte", 1048576.0 },
	{ "GB", "GiB", "gb gbyte gigabyte", 1073741824.0 },
	{ "TB", "TiB", "tb tbyte terabyte", 1099511627776.0 },
	{ "PB", "PiB", "pb pbyte petabyte", 1125899906842624.0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct unit time_units[] = {
	{ "ns", "ns", "ns nanosecond", 1 },
	{ "us", "\xc2\xb5s", "\xce\xbcs us microsecond", 1e3 },
	{ "ms", "ms", "ms millisecond", 1e6 },
	{ "s", "s", "s sec second", 1e9 },
	{ "hrs", "h", "hour hr", 3.6e12 },
	{ NULL, NULL, NULL, 0 }
};

static const struct unit gcu_units[] = {
	{ "n*GCU", "n*GCU", "nanogcu", 1e-9 },
	{ "u*GCU", "u*GCU", "microgcu", 1e-6 },
	{ "m*GCU", "m*GCU", "milligcu", 1e-3 },
	{ "GCU", "GCU", "gcu", 1 },
	{ "k*GCU", "k*GCU", "kilogcu", 1e3 },
	{ "M*GCU", "M*GCU", "megagcu", 1e6 },
	{ "G*GCU", "G*GCU", "gigagcu", 1e9 },
	{ "T*GCU", "T*GCU", "teragcu", 1e12 },
	{ "P*GCU", "P*GCU", "petagcu", 1e15 },
	{ NULL, NULL, NULL, 0 }
};

static const struct unit_family families[] = {
	{ "B", 1, memory_units },
	{ "s", 1e9, time_units },
	{ "GCU", 1, gcu_units }
};

#define NR_FAMILIES (sizeof(families) / sizeof(*families))

/* True when `name`, less a plural s, is one of the aliases. */
static bool is_alias(const char *aliases, const char *name)
{
	size_t len = strlen(name), n;

	if (len > 2 && (name[len - 1] == 's' || name[len - 1] == 'S'))
		len--;
	while (*aliases) {
		n = strcspn(aliases, " ");
		if (n == len && !strncasecmp(aliases, name, n))
			return true;
		aliases += n;
		aliases += *aliases == ' ';
	}
	return false;
}

static const struct unit *find_unit(const struct unit_family *family,
				    const char *name)
{
	const struct unit *unit;

	for (unit = family->units; unit->name; unit++)
		if (is_alias(unit->aliases, name))
			return unit;
	return NULL;
}

/* Family and unit of `name`; NULL when it is in none. */
static const struct unit_family *find_family(const char *name,
					     const struct unit **ret_unit)
{
	size_t i;

	for (i = 0; i < NR_FAMILIES; i++) {
		*ret_unit = find_unit(&families[i], name);
		if (*ret_unit)
			return &families[i];
	}
	return NULL;
}

/* The largest unit that `base` is at least one of; NULL for less. */
static const struct unit *fitting_unit(const struct unit_family *family,
				       double base)
{
	const struct unit *unit, *best = NULL;

	for (unit = family->units; unit->name; unit++)
		if (base / unit->factor >= 1)
			best = unit;
	return best;
}

static bool is_chosen(const char *to)
{
	return !strcmp(to, UNIT_AUTO) || !strcmp(to, UNIT_MINIMUM);
}

static bool is_plain(const char *to)
{
	return is_chosen(to) || !strcmp(to, "count") ||
	       !strcmp(to, "sample") || !strcmp(to, "unit");
}

/* Sign and size apart: INT64_MIN has no positive counterpart. */
static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static double size_of(int64_t value)
{
	return (double)magnitude(value);
}

/*
 * Length of a unit without the power of ten that it may be divided by, as in
 * "count/1000" for values with three decimals; *ret_decimals is the power.
 */
static size_t split_unit(const char *unit, unsigned *ret_decimals)
{
	const char *slash = strrchr(unit, '/');
	size_t zeros;

	*ret_decimals = 0;
	if (!slash || slash[1] != '1')
		return strlen(unit);
	zeros = strspn(slash + 2, "0");
	if (!zeros || zeros > 18 || slash[2 + zeros])
		return strlen(unit);
	*ret_decimals = (unsigned)zeros;
	return (size_t)(slash - unit);
}

unsigned units_decimals(const char *unit)
{
	unsigned decimals;

	split_unit(unit, &decimals);
	return decimals;
}

double units_scale(int64_t value, const char *from, const char *to,
		   const char **ret_unit)
{
	const struct unit *unit = NULL;
	const struct unit_family *family = find_family(from, &unit);
	double base = size_of(value), sign = value < 0 ? -1 : 1;
	unsigned decimals = units_decimals(from);

	if (decimals && !strncmp(from, "count/", 6)) {
		*ret_unit = "";
		return (double)value / pow(10, decimals);
	}
	if (!family) {
		*ret_unit = is_plain(to) ? "" : to;
		return (double)value;
	}
	base *= unit->factor;
	unit = is_chosen(to) ? fitting_unit(family, base)
			     : find_unit(family, to);
	*ret_unit = unit ? unit->name : family->fallback;
	return sign * base / (unit ? unit->factor : family->fallback_factor);
}

/*
 * snprintf() with the decimal point put right: it writes the point of the
 * program's locale, which stands between two runs of digits.
 */
static size_t format_double(char *text, size_t size, double value, int width,
			    bool general)
{
	int len = snprintf(text, size, general ? "%*.2g" : "%*.2f", width,
			   value);
	size_t from = 0, to = 0, nr = len > 0 ? (size_t)len : 0;
	bool point = false;

	if (nr >= size)
		nr = size - 1;
	for (; from < nr; from++) {
		if (strchr("0123456789-+e ", text[from])) {
			text[to++] = text[from];
			point = false;
		} else if (!point) {
			text[to++] = '.';
			point = true;
		}
	}
	text[to] = '\0';
	return to;
}

/* Two decimals; none when both are 0. */
static size_t format_value(char *text, size_t size, double value)
{
	size_t len = format_double(text, size, value, 0, false);

	if (len > 3 && !strcmp(text + len - 3, ".00"))
		len -= 3;
	text[len] = '\0';
	return len;
}

void units_value(struct buf *out, int64_t value, const char *from,
		 const char *to)
{
	const char *unit;
	double scaled = units_scale(value, from, to, &unit);
	char text[64];
	size_t len = format_value(text, sizeof(text), scaled);

	if (!strcmp(text, "0") || !strcmp(text, "-0")) {
		buf_byte(out, '0');
		return;
	}
	buf_add(out, text, len);
	buf_str(out, unit);
}

const char *units_minimum(int64_t least, int64_t total, const char *from)
{
	const char *unit, *total_unit;

	if (!least)
		least = total;
	units_scale(least, from, UNIT_MINIMUM, &unit);
	units_scale(total, from, UNIT_MINIMUM, &total_unit);
	/* A wide spread: let the least value fall to 0.01 of the unit. */
	if (strcmp(unit, total_unit) && least < total / 100 + 1 &&
	    (__int128)least * 100 < total)
		units_scale(least * 100, from, UNIT_MINIMUM, &unit);
	return *unit ? unit : from;
}

void units_percent(struct buf *out, int64_t value, int64_t total)
{
	double share = 0;
	char text[64];
	size_t len;

	if (total)
		share = size_of(value) / size_of(total) * 100;
	if (share >= 99.95 && share <= 100.05) {
		buf_str(out, "  100%");
		return;
	}
	len = format_double(text, sizeof(text), share, 5, share < 1);
	buf_add(out, text, len);
	buf_byte(out, '%');
}

void units_grouped(struct buf *out, unsigned __int128 value)
{
	char text[56]; /* 39 digits, 12 commas */
	size_t i = sizeof(text), nr = 0;

	do {
		if (nr && nr % 3 == 0)
			text[--i] = ',';
		text[--i] = (char)('0' + (int)(value % 10));
		value /= 10;
		nr++;
	} while (value);
	buf_add(out, text + i, sizeof(text) - i);
}

/* Append ".05" for 5 of 100, without trailing zeros; nothing for 0. */
static void add_decimals(struct buf *out, uint64_t part, unsigned decimals)
{
	char digits[20];
	unsigned i;

	for (i = decimals; i; i--) {
		digits[i - 1] = (char)('0' + part % 10);
		part /= 10;
	}
	while (decimals && digits[decimals - 1] == '0')
		decimals--;
	if (!decimals)
		return;
	buf_byte(out, '.');
	buf_add(out, digits, decimals);
}

static void add_signed(struct buf *out, int64_t value, unsigned decimals)
{
	uint64_t size = magnitude(value), scale = 1;
	unsigned i;

	for (i = 0; i < decimals; i++)
		scale *= 10;
	if (value < 0)
		buf_byte(out, '-');
	units_grouped(out, size / scale);
	add_decimals(out, size % scale, decimals);
}

const char *units_noun(const char *type, const char *unit)
{
	if (*unit && strcmp(unit, "count") != 0 &&
	    strncmp(unit, "count/1", 7) != 0)
		return unit;
	/* "inuse_objects" counts objects. */
	if (!strncmp(type, "inuse_", 6) || !strncmp(type, "alloc_", 6))
		type += 6;
	return type;
}

static void add_exact(struct buf *out, int64_t value, const char *type,
		      const char *unit)
{
	unsigned decimals;
	const char *word = units_noun(type, unit);
	size_t len = split_unit(word, &decimals);

	split_unit(unit, &decimals);
	add_signed(out, value, decimals);
	if (!len)
		return;
	buf_byte(out, ' ');
	/* "1 object" where the profile says "objects". */
	if ((value == 1 || value == -1) && len > 3 && word[len - 1] == 's')
		len--;
	buf_add(out, word, len);
}

size_t units_steps(const char *name, struct unit_step *ret_steps)
{
	const struct unit *from, *unit;
	const struct unit_family *family = find_family(name, &from);
	size_t nr = 0;

	for (unit = family ? family->units : NULL; unit && unit->name;
	     unit++) {
		ret_steps[nr].word = unit->word;
		ret_steps[nr++].factor = unit->factor / from->factor;
	}
	return nr;
}

/* The scaled part; false when the exact value says the same. */
static bool add_scaled(struct buf *out, int64_t value, const char *unit)
{
	const struct unit *from, *to;
	const struct unit_family *family = find_family(unit, &from);
	char text[64];
	double base;
	size_t len;

	if (!family)
		return false;
	base = size_of(value) * from->factor;
	to = fitting_unit(family, base);
	if (!to || to == from)
		return false;
	len = format_value(text, sizeof(text),
			   (value < 0 ? -1 : 1) * base / to->factor);
	buf_add(out, text, len);
	buf_byte(out, ' ');
	buf_str(out, to->word);
	return true;
}

void units_brief(struct buf *out, int64_t value, const char *type,
		 const char *unit)
{
	if (!add_scaled(out, value, unit))
		add_exact(out, value, type, unit);
}

void units_words(struct buf *out, int64_t value, const char *type,
		 const char *unit)
{
	if (!add_scaled(out, value, unit)) {
		add_exact(out, value, type, unit);
		return;
	}
	buf_str(out, " (");
	add_exact(out, value, type, unit);
	buf_byte(out, ')');
}

void units_share(struct buf *out, uint64_t value, uint64_t total)
{
	unsigned __int128 scaled = (unsigned __int128)value * 10000;

	units_fixed(out, total ? (int64_t)((scaled + total / 2) / total) : 0,
		    2);
	buf_byte(out, '%');
}

void units_fixed(struct buf *out, int64_t value, unsigned decimals)
{
	uint64_t size = magnitude(value), scale = 1;
	unsigned i;

	for (i = 0; i < decimals; i++)
		scale *= 10;
	if (value < 0)
		buf_byte(out, '-');
	buf_u64(out, size / scale);
	add_decimals(out, size % scale, decimals);
}
