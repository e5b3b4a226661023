/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds stacks and samples anew beside the old ones, then swaps them in.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/resample.h"

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

enum pprof_status resample_init(struct resample *r,
				struct pprof_profile *profile,
				struct diags *diags, struct pprof_error *err)
{
	enum pprof_status status;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->profile = profile;
	/* Nothing grows beyond what was let in before. */
	pprof_limits_init(&r->limits);
	r->limits.samples = UINT32_MAX;
	r->limits.frames = UINT32_MAX;
	r->limits.labels = UINT32_MAX;
	status = descent_init(&r->descent, profile, err);
	if (status)
		return status;
	if (!builder_init(&r->fresh, &r->limits, diags))
		return error_nomem(err);
	for (i = 0; i < profile->nr_types; i++)
		builder_type(&r->fresh, 0, 0);
	return PPROF_OK;
}

void resample_fini(struct resample *r)
{
	descent_fini(&r->descent);
	builder_fini(&r->fresh);
	mem_free(r->frames);
	memset(r, 0, sizeof(*r));
}

bool resample_reserve(struct resample *r, size_t nr)
{
	if (mem_grow(r->frames, r->cap_frames, nr + 1, MAX_ROWS))
		return true;
	if (!r->fresh.status)
		r->fresh.status = PPROF_NOMEM;
	return false;
}

bool resample_next(struct resample *r)
{
	if (r->fresh.status ||
	    !descent_next(&r->descent, &r->samples, &r->nr_samples)) {
		if (r->descent.failed)
			r->fresh.status = PPROF_NOMEM;
		return false;
	}
	r->nr_frames = r->descent.nr_path;
	if (!resample_reserve(r, r->nr_frames))
		return false;
	if (r->nr_frames)
		memcpy(r->frames, r->descent.path,
		       r->nr_frames * sizeof(*r->frames));
	r->stack = STACK_NONE;
	return true;
}

lset_id resample_lset(struct resample *r, const struct label *labels,
		      size_t nr)
{
	return builder_lset(&r->fresh, labels, nr);
}

void resample_add(struct resample *r, uint32_t sample, lset_id lset)
{
	const struct pprof_profile *p = r->profile;
	int64_t values[SAMPLE_TYPES_MAX];
	size_t i;

	if (r->stack == STACK_NONE)
		r->stack = builder_stack_root_first(&r->fresh, r->frames,
						    r->nr_frames);
	for (i = 0; i < p->nr_types; i++)
		values[i] = p->values[i][sample];
	builder_sample(&r->fresh, r->stack, lset, values, PPROF_UNIT_NONE, 0);
}

/* Exchange the tables of label sets. */
static void swap_lsets(struct pprof_profile *p, struct pprof_profile *q)
{
	struct pprof_profile old = *p;

	p->labels = q->labels;
	p->nr_labels = q->nr_labels;
	p->cap_labels = q->cap_labels;
	p->lsets = q->lsets;
	p->nr_lsets = q->nr_lsets;
	p->cap_lsets = q->cap_lsets;
	q->labels = old.labels;
	q->lsets = old.lsets;
}

enum pprof_status resample_finish(struct resample *r, struct pprof_error *err)
{
	struct pprof_profile *p = r->profile, *q = r->fresh.profile;
	struct pprof_profile old = *p;

	if (r->fresh.status == PPROF_NOMEM)
		return error_nomem(err);
	if (r->fresh.status)
		return error_plain(err, r->fresh.status, NULL, "%s",
				   r->fresh.message);
	stacks_freeze(&q->stacks);
	p->stacks = q->stacks;
	p->sample_stack = q->sample_stack;
	p->sample_lset = q->sample_lset;
	memcpy(p->values, q->values, sizeof(p->values));
	p->nr_samples = q->nr_samples;
	p->cap_samples = q->cap_samples;
	q->stacks = old.stacks;
	q->sample_stack = old.sample_stack;
	q->sample_lset = old.sample_lset;
	memcpy(q->values, old.values, sizeof(q->values));
	if (r->relabels)
		swap_lsets(p, q);
	return PPROF_OK;
}
