/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof_profile_aggregate(): forgets what is finer than wanted, so that
 * stacks that then are alike become one.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/adder.h"
#include "transform/resample.h"

struct aggregate {
	struct pprof_profile *profile;
	struct adder adder;
	enum pprof_granularity by;
	bool no_inlines;
	loc_id *becomes; /* [nr] 0: not made yet */
	struct line *lines; /* scratch */
	size_t cap_lines;
};

/* A line with what the granularity keeps of it. */
static bool reduce_line(struct aggregate *a, struct line *line)
{
	struct function func = a->profile->functions[line->func];
	bool by_line = a->by == PPROF_BY_LINE || a->by == PPROF_BY_ADDRESS;

	if (by_line)
		return true;
	line->line = 0;
	line->column = 0;
	func.start_line = 0;
	if (a->by == PPROF_BY_FUNCTION)
		func.file = 0;
	if (a->by == PPROF_BY_FILE) {
		func.name = 0;
		func.system_name = 0;
	}
	line->func = adder_function(&a->adder, &func);
	return line->func != ID_FAILED;
}

/* The location that stands for `id`; ID_FAILED when out of memory. */
static loc_id reduce_location(struct aggregate *a, loc_id id)
{
	const struct pprof_profile *p = a->profile;
	struct location loc = p->locations[id];
	uint32_t nr = loc.nr_lines, skip = 0, i;

	if (!mem_grow(a->lines, a->cap_lines, (size_t)nr + 1, UINT32_MAX))
		return ID_FAILED;
	if (a->by == PPROF_BY_MODULE && loc.mapping)
		nr = 0;
	if (a->no_inlines && nr > 1)
		skip = nr - 1;
	nr -= skip;
	for (i = 0; i < nr; i++) {
		a->lines[i] = p->lines[loc.lines + skip + i];
		if (!reduce_line(a, &a->lines[i]))
			return ID_FAILED;
	}
	/* Bare addresses stay apart: nothing else tells them from others. */
	if (a->by != PPROF_BY_ADDRESS && (nr || a->by == PPROF_BY_MODULE))
		loc.address = 0;
	if (!loc.address)
		loc.is_folded = 0;
	return adder_location(&a->adder, &loc, a->lines, nr);
}

static bool reduce_stack(struct aggregate *a, struct resample *r)
{
	size_t i;

	for (i = 0; i < r->nr_frames; i++) {
		loc_id id = r->frames[i];

		if (!a->becomes[id])
			a->becomes[id] = reduce_location(a, id);
		if (a->becomes[id] == ID_FAILED)
			return false;
		r->frames[i] = a->becomes[id];
	}
	for (i = 0; i < r->nr_samples; i++)
		resample_add(r, r->samples[i],
			     sample_lset(a->profile, r->samples[i]));
	return true;
}

static enum pprof_status run(struct aggregate *a, struct pprof_error *err)
{
	enum pprof_status status;
	struct resample r;

	a->becomes = mem_zalloc(a->profile->nr_locations,
				sizeof(*a->becomes));
	if (!a->becomes || !adder_init(&a->adder, a->profile))
		return error_nomem(err);
	status = resample_init(&r, a->profile, NULL, err);
	while (!status && resample_next(&r))
		if (!reduce_stack(a, &r))
			status = error_nomem(err);
	if (!status)
		status = resample_finish(&r, err);
	resample_fini(&r);
	return status;
}

enum pprof_status pprof_profile_aggregate(struct pprof_profile *profile,
					  enum pprof_granularity granularity,
					  bool no_inlines,
					  struct pprof_error *err)
{
	struct aggregate a = { .profile = profile, .by = granularity,
			       .no_inlines = no_inlines };
	enum pprof_status status;

	if ((unsigned)granularity > PPROF_BY_MODULE)
		return error_plain(err, PPROF_USAGE, NULL,
				   "granularity unknown");
	status = run(&a, err);
	adder_fini(&a.adder);
	mem_free(a.becomes);
	mem_free(a.lines);
	return status;
}
