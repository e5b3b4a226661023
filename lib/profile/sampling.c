/* SPDX-License-Identifier: Apache-2.0
 *
 * The sampling error of one value; see docs/ARCHITECTURE.md for the formulas
 * of heaps. A count of independent ticks has itself as its variance.
 */
#include <config.h>

#include "profile/sampling.h"
#include "profile/stats.h"

#include <math.h>

/* Multiples of one unit that producers write periods and values in. */
static double unit_factor(const char *unit)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		{ "bytes", 1 }, { "byte", 1 }, { "B", 1 },
		{ "kilobytes", 0x1p10 }, { "kb", 0x1p10 },
		{ "megabytes", 0x1p20 }, { "mb", 0x1p20 },
		{ "nanoseconds", 1 }, { "ns", 1 },
		{ "microseconds", 1e3 }, { "us", 1e3 },
		{ "milliseconds", 1e6 }, { "ms", 1e6 },
		{ "seconds", 1e9 }, { "s", 1e9 }
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].factor;
	return 0;
}

/* The type with the name `name` up to `stem` and then `other`. */
static size_t find_partner(const struct pprof_profile *p, size_t type,
			   const char *stem, const char *other)
{
	const char *name = profile_str(p, p->types[type].type);
	size_t len = strlen(name) - strlen(stem), i;

	for (i = 0; i < p->nr_types; i++) {
		const char *have = profile_str(p, p->types[i].type);

		if (!strncmp(have, name, len) && !strcmp(have + len, other))
			return i;
	}
	return SIZE_MAX;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), nr = strlen(end);

	return len >= nr && !strcmp(text + len - nr, end);
}

/* Values that were not scaled up carry a note (see the heap reader). */
static bool is_raw(const struct pprof_profile *p)
{
	size_t i;

	for (i = 0; i < p->nr_comments; i++)
		if (!strncmp(profile_str(p, p->comments[i]), "raw counts:",
			     11))
			return true;
	return false;
}

static void set_heap(struct sampling *s, const struct pprof_profile *p)
{
	const char *name = profile_str(p, p->types[s->type].type);
	size_t bytes = s->type;
	enum sampling_kind kind = SAMPLING_HEAP_BYTES;

	if (ends_with(name, "space")) {
		s->partner = find_partner(p, s->type, "space", "objects");
	} else if (ends_with(name, "objects")) {
		s->partner = find_partner(p, s->type, "objects", "space");
		kind = SAMPLING_HEAP_COUNT;
		bytes = s->partner;
	}
	if (s->partner == SIZE_MAX)
		return;
	s->scale = unit_factor(profile_str(p, p->types[bytes].unit));
	if (s->scale > 0)
		s->kind = kind;
}

static void set_ticks(struct sampling *s, const struct pprof_profile *p)
{
	const char *name = profile_str(p, p->types[s->type].type);
	const char *unit = profile_str(p, p->types[s->type].unit);
	double factor = unit_factor(unit);

	if (!strcmp(name, "samples")) {
		s->rate = 1;
		s->kind = SAMPLING_TICKS;
	} else if (factor > 0 &&
		   p->types[s->type].type == p->period_type.type) {
		s->rate /= factor;
		s->kind = SAMPLING_TICKS;
	}
}

struct sampling sampling_of(const struct pprof_profile *p, size_t type)
{
	struct sampling s = { .type = type, .partner = SIZE_MAX };
	const char *period = profile_str(p, p->period_type.type);

	s.rate = (double)p->period *
		 unit_factor(profile_str(p, p->period_type.unit));
	if (!(s.rate > 1) || type >= p->nr_types || is_raw(p))
		return s;
	if (!strcmp(period, "space"))
		set_heap(&s, p);
	else if (!strcmp(period, "cpu") || !strcmp(period, "wall"))
		set_ticks(&s, p);
	return s;
}

double sampling_variance(const struct sampling *s,
			 const struct pprof_profile *p, size_t sample)
{
	double value = fabs((double)p->values[s->type][sample]);
	double other, mean, g;

	if (s->kind == SAMPLING_EXACT || !(value > 0))
		return 0;
	if (s->kind == SAMPLING_TICKS)
		return value * s->rate;
	other = fabs((double)p->values[s->partner][sample]);
	if (!(other > 0))
		return 0;
	if (s->kind == SAMPLING_HEAP_BYTES) {
		mean = value * s->scale / other;
		g = stats_variance_per_byte(mean, s->rate);
		return value * g / s->scale;
	}
	mean = other * s->scale / value;
	g = stats_variance_per_byte(mean, s->rate);
	return value * g / mean;
}
