/* SPDX-License-Identifier: Apache-2.0
 *
 * Grows a profile row by row, interning each. Failure is sticky: adders give
 * ID_FAILED from then on and builder_finish() tells why.
 */
#ifndef PROFILE_BUILDER_H
#define PROFILE_BUILDER_H

#include "profile/profile.h"

/* A sample that waits for its batch to fill. */
struct pending_sample {
	lset_id lset;
	enum pprof_unit unit;
	uint64_t where;
	int64_t values[SAMPLE_TYPES_MAX];
};

struct builder {
	struct pprof_profile *profile; /* under construction, owned */
	struct idmap functions;
	struct idmap locations;
	struct idmap lsets;
	uint32_t *sample_head; /* [cap_heads] by stack id, UINT32_MAX none */
	size_t cap_heads;
	uint32_t *sample_next; /* same stack, other label set; lazily made */
	size_t cap_next;
	struct label *scratch; /* labels being sorted */
	size_t cap_scratch;
	loc_id *frames;        /* reversal of a stack */
	size_t cap_frames;
	loc_id *queue;         /* frames of the pending samples, root first */
	size_t nr_queue, cap_queue;
	struct stack_span spans[STACKS_BATCH];
	struct pending_sample pending[STACKS_BATCH];
	size_t nr_pending;
	const struct pprof_limits *limits; /* borrowed */
	struct diags *diags;   /* borrowed: saturations are counted here */
	enum pprof_status status;
	char message[128];     /* which limit */
};

/* False when out of memory. `limits` and `diags` must outlive the builder. */
__attribute__((warn_unused_result))
bool builder_init(struct builder *builder, const struct pprof_limits *limits,
		  struct diags *diags);
void builder_fini(struct builder *builder);

str_id builder_str(struct builder *builder, const char *text, size_t len);
str_id builder_cstr(struct builder *builder, const char *text);

/* Appends a mapping (never unified here). */
map_id builder_mapping(struct builder *builder, const struct mapping *map);

/* Interned by all members. `reserved` must be 0. */
func_id builder_function(struct builder *builder, const struct function *func);

/* Interned by address, mapping, is_folded and lines[nr_lines]. */
loc_id builder_location(struct builder *builder, uint64_t address,
			map_id mapping, bool is_folded,
			const struct line *lines, size_t nr_lines);

/* Interned; the order of `labels` does not matter. */
lset_id builder_lset(struct builder *builder, const struct label *labels,
		     size_t nr);

/* Interned; leaf first or root first. */
stack_id builder_stack(struct builder *builder, const loc_id *leaf_first,
		       size_t nr);
stack_id builder_stack_root_first(struct builder *builder,
				  const loc_id *root_first, size_t nr);

/* One more sample type; before the first sample. */
void builder_type(struct builder *builder, str_id type, str_id unit);

/*
 * Add values[nr_types] to the sample (stack, lset). Sums saturate at the
 * int64 limits with a counted diagnostic at (unit, where).
 */
void builder_sample(struct builder *builder, stack_id stack, lset_id lset,
		    const int64_t *values, enum pprof_unit unit,
		    uint64_t where);

/*
 * builder_stack() and builder_sample() in one, for the many: queued, so that
 * the work of several overlaps in memory. Samples keep their order.
 */
void builder_add(struct builder *builder, const loc_id *leaf_first, size_t nr,
		 lset_id lset, const int64_t *values, enum pprof_unit unit,
		 uint64_t where);

/* The same without labels. */
void builder_add_root_first(struct builder *builder,
			    const loc_id *root_first, size_t nr,
			    const int64_t *values, enum pprof_unit unit,
			    uint64_t where);

/* Fail for a stack that is longer than the limit frames. */
void builder_fail_frames(struct builder *builder);

/* Put what builder_add() queued into the profile. */
void builder_flush(struct builder *builder);

void builder_comment(struct builder *builder, str_id text);

/*
 * Check the profile and hand it over; the builder must still be fini'd.
 * OK, NOMEM, LIMIT or FORMAT.
 */
enum pprof_status builder_finish(struct builder *builder, const char *source,
				 struct pprof_profile **ret_profile,
				 struct pprof_error *err);

#endif
