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
	size_t i;

	memset(r, 0, sizeof(*r));
	r->profile = profile;
	/* Nothing grows beyond what was let in before. */
	pprof_limits_init(&r->limits);
	r->limits.samples = UINT32_MAX;
	r->limits.frames = UINT32_MAX;
	if (!builder_init(&r->fresh, &r->limits, diags))
		return error_nomem(err);
	for (i = 0; i < profile->nr_types; i++)
		builder_type(&r->fresh, 0, 0);
	return PPROF_OK;
}

void resample_fini(struct resample *r)
{
	builder_fini(&r->fresh);
	mem_free(r->frames);
	memset(r, 0, sizeof(*r));
}

static void fail_nomem(struct resample *r)
{
	if (!r->fresh.status)
		r->fresh.status = PPROF_NOMEM;
}

bool resample_reserve(struct resample *r, size_t nr)
{
	if (mem_grow(r->frames, r->cap_frames, nr + 1, MAX_ROWS))
		return true;
	fail_nomem(r);
	return false;
}

bool resample_load(struct resample *r, size_t sample)
{
	const struct pprof_profile *p = r->profile;
	stack_id stack = p->sample_stack[sample];

	r->nr_frames = stacks_depth(&p->stacks, stack);
	if (!resample_reserve(r, r->nr_frames))
		return false;
	stacks_leaf_first(&p->stacks, stack, r->frames);
	return true;
}

void resample_add(struct resample *r, size_t sample, lset_id lset)
{
	const struct pprof_profile *p = r->profile;
	int64_t values[SAMPLE_TYPES_MAX];
	size_t i;

	for (i = 0; i < p->nr_types; i++)
		values[i] = p->values[i][sample];
	builder_add(&r->fresh, r->frames, r->nr_frames, lset, values,
		    PPROF_UNIT_NONE, 0);
}

enum pprof_status resample_finish(struct resample *r, struct pprof_error *err)
{
	struct pprof_profile *p = r->profile, *q = r->fresh.profile;
	struct pprof_profile old = *p;

	builder_flush(&r->fresh);
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
	return PPROF_OK;
}
