/* SPDX-License-Identifier: Apache-2.0
 *
 * Walk over samples in canonical order.
 */
#include <config.h>

#include "output/ordered.h"

#include "base/mem.h"

enum pprof_status ordered_init(struct ordered *o,
			       const struct pprof_profile *profile,
			       struct pprof_error *err)
{
	memset(o, 0, sizeof(*o));
	o->profile = profile;
	return canon_init(&o->canon, profile, err);
}

void ordered_fini(struct ordered *o)
{
	canon_fini(&o->canon);
	mem_free(o->frames);
}

/* The next node that has samples, and its stack; false at the end. */
static bool next_node(struct ordered *o)
{
	const struct stacks *stacks = &o->profile->stacks;
	stack_id node;

	do {
		if (o->next_node == stacks->nr)
			return false;
		node = o->next_node ? o->canon.preorder[o->next_node - 1] : 0;
		o->next_node++;
		o->next_slot = o->canon.sample_start[node];
		o->end_slot = o->canon.sample_start[node + 1];
	} while (o->next_slot == o->end_slot);
	o->nr_frames = stacks_depth(stacks, node);
	o->failed = !mem_grow(o->frames, o->cap_frames, o->nr_frames,
			      SIZE_MAX / sizeof(*o->frames));
	if (!o->failed)
		stacks_leaf_first(stacks, node, o->frames);
	return !o->failed;
}

bool ordered_next(struct ordered *o)
{
	if (o->failed || (o->next_slot == o->end_slot && !next_node(o)))
		return false;
	o->sample = o->canon.samples[o->next_slot++];
	return true;
}

const char *ordered_func_name(const struct pprof_profile *profile,
			      func_id func)
{
	const struct function *row = &profile->functions[func];

	return profile_str(profile, row->name ? row->name : row->system_name);
}

void ordered_put_line(struct buf *out, const char *text)
{
	const char *p;

	for (; *text; text = p) {
		for (p = text; (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
			;
		buf_add(out, text, (size_t)(p - text));
		if (*p) {
			buf_byte(out, ' ');
			p++;
		}
	}
}
