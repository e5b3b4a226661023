/* SPDX-License-Identifier: Apache-2.0
 *
 * New stacks and samples for a profile that keeps its tables of rows:
 * what filters, aggregation and subtraction end with. Old stacks come one by
 * one, the caller edits each; the profile is changed at the end, at once.
 */
#ifndef TRANSFORM_RESAMPLE_H
#define TRANSFORM_RESAMPLE_H

#include "profile/builder.h"
#include "transform/descent.h"

struct resample {
	struct pprof_profile *profile; /* borrowed */
	struct descent descent;
	struct builder fresh;    /* only its stacks and samples count */
	struct pprof_limits limits;
	loc_id *frames;          /* the stack at hand, root first: edit it */
	size_t nr_frames;
	size_t cap_frames;
	const uint32_t *samples; /* [nr_samples] its samples */
	size_t nr_samples;
	stack_id stack;          /* STACK_NONE until it has a sample */
	bool relabels;           /* label sets are those of resample_lset() */
};

/* OK or NOMEM; resample_fini() after either. `diags` may be NULL. */
enum pprof_status resample_init(struct resample *resample,
				struct pprof_profile *profile,
				struct diags *diags,
				struct pprof_error *err);
void resample_fini(struct resample *resample);

/* Load the next stack that has samples; false at the end or on failure. */
bool resample_next(struct resample *resample);

/* Make room for `nr` frames; false: out of memory. */
bool resample_reserve(struct resample *resample, size_t nr);

/*
 * With `relabels`: number of a set of labels with strings of the profile;
 * ID_FAILED on failure.
 */
lset_id resample_lset(struct resample *resample, const struct label *labels,
		      size_t nr);

/* Add one of the samples to the stack as it now is. */
void resample_add(struct resample *resample, uint32_t sample, lset_id lset);

/*
 * Exchange stacks and samples once resample_next() has said that it is done.
 * OK, NOMEM, LIMIT: then nothing changes.
 */
enum pprof_status resample_finish(struct resample *resample,
				  struct pprof_error *err);

/* Label set of a sample. */
static inline lset_id sample_lset(const struct pprof_profile *profile,
				  uint32_t sample)
{
	return profile->sample_lset ? profile->sample_lset[sample] : 0;
}

#endif
