/* SPDX-License-Identifier: Apache-2.0
 *
 * New tables for a profile that is being symbolized, beside the old ones:
 * a failure leaves the profile as it was, and the end cannot fail.
 */
#ifndef SYMBOLIZE_DRAFT_H
#define SYMBOLIZE_DRAFT_H

#include "profile/profile.h"
#include "profile/restack.h"
#include "symbolize/module.h"

struct draft {
	struct pprof_profile *profile; /* only strings grow before the end */
	/* Shares all with the profile but mappings, functions, locations,
	 * lines and comments, which are copies. */
	struct pprof_profile next;
	struct idmap functions;
	struct restacked restacked;
	bool has_restacked;
	str_id *str_map;  /* [answers.strings.nr] id here, or STR_NONE */
};

/* OK or NOMEM; draft_fini() after either. */
enum pprof_status draft_init(struct draft *draft,
			     struct pprof_profile *profile,
			     struct pprof_error *err);
void draft_fini(struct draft *draft);

/* The answers that the next frames come from. OK or NOMEM. */
enum pprof_status draft_answers(struct draft *draft,
				const struct answers *answers,
				struct pprof_error *err);

/*
 * Give location `loc` the frames of answer `i` (at least one), and its
 * mapping `map`, whose flags follow. OK, NOMEM, LIMIT.
 */
enum pprof_status draft_frames(struct draft *draft, loc_id loc, map_id map,
			       const struct answers *answers, size_t i,
			       struct pprof_error *err);

/* Text in the profile's strings; STR_NONE after filling *err. */
str_id draft_text(struct draft *draft, const char *text, size_t len,
		  struct pprof_error *err);

/* Append a comment unless it is there. OK, NOMEM, LIMIT. */
enum pprof_status draft_comment(struct draft *draft, const char *text,
				struct pprof_error *err);

/* Drop the allocator's frames; the pattern goes to drop_frames. */
enum pprof_status draft_drop_allocator(struct draft *draft,
				       struct diags *diags,
				       struct pprof_error *err);

/* Give the new tables to the profile; the draft must still be fini'd. */
void draft_commit(struct draft *draft);

#endif
