/* SPDX-License-Identifier: Apache-2.0
 *
 * The samples of a profile one by one in canonical order, each with its
 * stack: what text writers walk over.
 */
#ifndef OUTPUT_ORDERED_H
#define OUTPUT_ORDERED_H

#include "base/buf.h"
#include "profile/canon.h"

struct ordered {
	const struct pprof_profile *profile;
	struct canon canon;
	size_t next_node;    /* into canon.preorder, plus 1; 0 the root */
	uint32_t next_slot;  /* into canon.samples */
	uint32_t end_slot;
	/* The present sample. */
	uint32_t sample;
	loc_id *frames;      /* leaf first */
	size_t nr_frames, cap_frames;
	bool failed;         /* out of memory: the walk ended early */
};

/* OK or NOMEM; ordered_fini() after either. */
enum pprof_status ordered_init(struct ordered *ordered,
			       const struct pprof_profile *profile,
			       struct pprof_error *err);
void ordered_fini(struct ordered *ordered);

/* The next sample; false at the end, or early with ordered.failed. */
bool ordered_next(struct ordered *ordered);

/* The label set of the present sample. */
static inline const struct lset *ordered_lset(const struct ordered *ordered)
{
	const struct pprof_profile *profile = ordered->profile;

	return &profile->lsets[profile->sample_lset ?
			       profile->sample_lset[ordered->sample] : 0];
}

/* Label i of that set, in canonical order. */
static inline const struct label *ordered_label(const struct ordered *ordered,
						const struct lset *lset,
						uint32_t i)
{
	return &ordered->profile->labels[ordered->canon.label_order[
		lset->labels + i]];
}

/* Name of a function, "" when it has none; never NULL. */
const char *ordered_func_name(const struct pprof_profile *profile,
			      func_id func);

/* Append a text on one line: control bytes become blanks. */
void ordered_put_line(struct buf *out, const char *text);

#endif
