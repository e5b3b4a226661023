/* SPDX-License-Identifier: Apache-2.0
 *
 * New stacks and samples for a profile that keeps its tables of rows:
 * what filters, aggregation and subtraction end with. The profile is only
 * changed at the end, at once.
 */
#ifndef TRANSFORM_RESAMPLE_H
#define TRANSFORM_RESAMPLE_H

#include "profile/builder.h"

struct resample {
	struct pprof_profile *profile; /* borrowed */
	struct builder fresh;          /* only its stacks and samples count */
	struct pprof_limits limits;
	loc_id *frames;  /* the stack at hand, leaf first */
	size_t nr_frames;
	size_t cap_frames;
};

/* OK or NOMEM; resample_fini() after OK. `diags` may be NULL. */
enum pprof_status resample_init(struct resample *resample,
				struct pprof_profile *profile,
				struct diags *diags,
				struct pprof_error *err);
void resample_fini(struct resample *resample);

/* Load frames[nr_frames] with the stack of a sample; false: out of memory. */
bool resample_load(struct resample *resample, size_t sample);

/* Make room for `nr` frames. */
bool resample_reserve(struct resample *resample, size_t nr);

/* Add frames[nr_frames] with the sample's values and these labels. */
void resample_add(struct resample *resample, size_t sample, lset_id lset);

/* Exchange stacks and samples. OK, NOMEM, LIMIT: then nothing changes. */
enum pprof_status resample_finish(struct resample *resample,
				  struct pprof_error *err);

/* Label set of a sample. */
static inline lset_id sample_lset(const struct pprof_profile *profile,
				  size_t sample)
{
	return profile->sample_lset ? profile->sample_lset[sample] : 0;
}

#endif
