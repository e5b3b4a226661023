/* SPDX-License-Identifier: Apache-2.0
 *
 * Samplers that write how often they saw a stack, and not how often they
 * looked, leave their readers without time. Who knows the rate can say it.
 */
#include <config.h>

#include "input/cpu_time.h"

#include "base/mem.h"

#define NS_PER_S 1000000000

/* The one column that counts samples; nr_types when there is none. */
static size_t find_samples(const struct pprof_profile *p)
{
	size_t i, found = p->nr_types;

	for (i = 0; i < p->nr_types; i++) {
		if (strcmp(profile_str(p, p->types[i].unit), "count"))
			return p->nr_types;
		if (p->nr_types == 1 ||
		    !strcmp(profile_str(p, p->types[i].type), "samples"))
			found = i;
	}
	return found;
}

/* count * 10^9 / hz to the nearest, at the int64 limits beyond them. */
static int64_t time_of(int64_t count, uint64_t hz, bool *clamped)
{
	__int128 product = (__int128)count * NS_PER_S;
	__int128 half = (__int128)(hz / 2);
	__int128 time = (product < 0 ? product - half : product + half) /
			(__int128)hz;

	if (time >= INT64_MIN && time <= INT64_MAX)
		return (int64_t)time;
	*clamped = true;
	return count < 0 ? INT64_MIN : INT64_MAX;
}

static void fill(struct pprof_profile *p, size_t from, size_t to, uint64_t hz,
		 struct diags *diags)
{
	uint64_t nr_clamped = 0;
	size_t i;

	for (i = 0; i < p->nr_samples; i++) {
		bool clamped = false;

		p->values[to][i] = time_of(p->values[from][i], hz, &clamped);
		nr_clamped += clamped;
	}
	if (nr_clamped)
		diag_count_nr(diags, PPROF_UNIT_NONE, 0, nr_clamped,
			      "time beyond 64 bits is kept at the limit");
}

enum pprof_status cpu_time_add(struct pprof_profile *p, uint64_t hz,
			       struct diags *diags, const char *source,
			       struct pprof_error *err)
{
	size_t from = find_samples(p), to = p->nr_types;
	str_id cpu, unit;

	if (from == p->nr_types) {
		diag_count(diags, PPROF_UNIT_NONE, 0,
			   "not a profile that only counts samples: the rate "
			   "given was not used");
		return PPROF_OK;
	}
	if (to == SAMPLE_TYPES_MAX)
		return error_plain(err, PPROF_LIMIT, source,
				   "more than %d sample types",
				   SAMPLE_TYPES_MAX);
	cpu = strtab_add(&p->strings, "cpu", 3);
	unit = strtab_add(&p->strings, "nanoseconds", 11);
	p->values[to] = mem_alloc(p->cap_samples ? p->cap_samples : 1,
				  sizeof(*p->values[to]));
	if (cpu == STR_NONE || unit == STR_NONE || !p->values[to])
		return error_nomem(err);
	fill(p, from, to, hz, diags);
	p->types[to].type = cpu;
	p->types[to].unit = unit;
	p->nr_types++;
	p->default_type = cpu;
	p->period_type = p->types[to];
	p->period = (int64_t)((NS_PER_S + hz / 2) / hz);
	return PPROF_OK;
}
