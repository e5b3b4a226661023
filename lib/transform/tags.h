/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions on the labels of samples, as --tagfocus has them: "RE,RE",
 * "KEY=RE,RE", or a range of numbers as "KEY=12kb:64mb", "4mb:", ":64kb".
 */
#ifndef TRANSFORM_TAGS_H
#define TRANSFORM_TAGS_H

#include "profile/tag_units.h"
#include "transform/family.h"
#include "transform/pattern.h"

/* Most expressions of one condition. */
#define TAG_PATTERNS_MAX 32

struct tag_filter {
	const char *option;    /* its name; borrowed */
	const char *key;       /* "KEY" of the condition, with key_len */
	size_t key_len;        /* 0: any key */
	bool is_set;
	bool is_range;
	double low, high;      /* inclusive, in the family's base unit */
	enum family family;    /* of the range's unit */
	const char *unit;      /* as written, with unit_len */
	size_t unit_len;
	struct pattern patterns[TAG_PATTERNS_MAX];
	size_t nr_patterns;
	bool matched;          /* some label set met it */
	struct buf text;       /* "key:value" */
};

/* Parse `text` (NULL: none), borrowed. OK, USAGE, NOMEM, LIMIT. */
enum pprof_status tag_filter_init(struct tag_filter *filter,
				  const char *option, const char *text,
				  struct pprof_error *err);
void tag_filter_fini(struct tag_filter *filter);

/* Does label set `id` meet the condition? */
bool tag_filter_match(struct tag_filter *filter,
		      const struct pprof_profile *profile,
		      const struct tag_units *units, lset_id id);

#endif
