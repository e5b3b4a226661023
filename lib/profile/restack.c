/* SPDX-License-Identifier: Apache-2.0
 *
 * Shorter stacks for a profile. Each distinct old stack is walked once; the
 * samples are then moved over by their new (stack, label set).
 */
#include <config.h>

#include "base/mem.h"
#include "profile/restack.h"

#include <string.h>

/* Work in progress. */
struct restacker {
	const struct pprof_profile *profile;
	restack_fn fn;
	void *ctx;
	struct diags *diags;
	struct restacked out;
	stack_id *moved;    /* [stacks.nr] new id of an old stack, or NONE */
	loc_id *leaf_first; /* scratch for one stack */
	loc_id *root_first;
	size_t cap_leaf_first, cap_root_first;
	struct idmap index; /* new samples by (stack, label set) */
};

static lset_id lset_of(const lset_id *lsets, size_t sample)
{
	return lsets ? lsets[sample] : 0;
}

static uint64_t hash_key(stack_id stack, lset_id lset)
{
	return hash_u64((uint64_t)stack << 32 | lset);
}

static uint64_t hash_sample(const void *ctx, uint32_t id)
{
	const struct restacked *out = ctx;

	return hash_key(out->sample_stack[id],
			lset_of(out->sample_lset, id));
}

static bool alloc_samples(struct restacker *r)
{
	const struct pprof_profile *p = r->profile;
	struct restacked *out = &r->out;
	size_t i;

	out->sample_stack = mem_alloc(p->nr_samples, sizeof(stack_id));
	if (!out->sample_stack)
		return false;
	if (p->sample_lset) {
		out->sample_lset = mem_alloc(p->nr_samples, sizeof(lset_id));
		if (!out->sample_lset)
			return false;
	}
	for (i = 0; i < p->nr_types; i++) {
		out->values[i] = mem_alloc(p->nr_samples, sizeof(int64_t));
		if (!out->values[i])
			return false;
	}
	r->moved = mem_alloc(p->stacks.nr, sizeof(*r->moved));
	if (!r->moved)
		return false;
	for (i = 0; i < p->stacks.nr; i++)
		r->moved[i] = STACK_NONE;
	return true;
}

/* The new stack for old stack `id`, STACK_NONE when out of memory. */
static stack_id shorten(struct restacker *r, stack_id id)
{
	const struct stacks *old = &r->profile->stacks;
	struct restack_cut cut = { 0, 0 };
	size_t depth = stacks_depth(old, id), kept, i;

	if (!depth)
		return 0;
	if (!mem_grow(r->leaf_first, r->cap_leaf_first, depth, UINT32_MAX) ||
	    !mem_grow(r->root_first, r->cap_root_first, depth, UINT32_MAX))
		return STACK_NONE;
	stacks_leaf_first(old, id, r->leaf_first);
	r->fn(r->ctx, r->leaf_first, depth, &cut);
	if (cut.nr_drop >= depth)
		cut.nr_drop = depth - 1;
	if (cut.nr_drop || cut.leaf)
		r->out.is_changed = true;
	if (cut.leaf)
		r->leaf_first[cut.nr_drop] = cut.leaf;
	kept = depth - cut.nr_drop;
	for (i = 0; i < kept; i++)
		r->root_first[i] = r->leaf_first[depth - 1 - i];
	return stacks_add(&r->out.stacks, r->root_first, kept);
}

static int64_t add_saturated(int64_t a, int64_t b, struct diags *diags)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	diag_count(diags, PPROF_UNIT_NONE, 0,
		   "sums beyond the 64-bit range were clamped");
	return a < 0 ? INT64_MIN : INT64_MAX;
}

/* New sample for the key, with zero values; UINT32_MAX: out of memory. */
static uint32_t find_sample(struct restacker *r, stack_id stack, lset_id lset)
{
	struct restacked *out = &r->out;
	const uint64_t hash = hash_key(stack, lset);
	uint32_t id;
	size_t i;

	if (!idmap_reserve(&r->index, hash_sample, out))
		return UINT32_MAX;
	for (i = idmap_first(&r->index, hash);
	     (id = r->index.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&r->index, i)) {
		if (out->sample_stack[id] == stack &&
		    lset_of(out->sample_lset, id) == lset)
			return id;
	}
	id = (uint32_t)out->nr_samples++;
	out->sample_stack[id] = stack;
	if (out->sample_lset)
		out->sample_lset[id] = lset;
	for (i = 0; i < r->profile->nr_types; i++)
		out->values[i][id] = 0;
	idmap_put(&r->index, hash, id);
	return id;
}

static bool move_sample(struct restacker *r, size_t sample)
{
	const struct pprof_profile *p = r->profile;
	stack_id old = p->sample_stack[sample];
	uint32_t id;
	size_t i;

	if (r->moved[old] == STACK_NONE) {
		r->moved[old] = shorten(r, old);
		if (r->moved[old] == STACK_NONE)
			return false;
	}
	id = find_sample(r, r->moved[old], lset_of(p->sample_lset, sample));
	if (id == UINT32_MAX)
		return false;
	for (i = 0; i < p->nr_types; i++)
		r->out.values[i][id] = add_saturated(r->out.values[i][id],
						     p->values[i][sample],
						     r->diags);
	return true;
}

enum pprof_status profile_restack(const struct pprof_profile *profile,
				  restack_fn fn, void *ctx,
				  struct diags *diags,
				  struct restacked *ret_restacked,
				  struct pprof_error *err)
{
	struct restacker r = { .profile = profile, .fn = fn, .ctx = ctx,
			       .diags = diags };
	bool ok;
	size_t i;

	ok = stacks_init(&r.out.stacks) && alloc_samples(&r);
	for (i = 0; ok && i < profile->nr_samples; i++)
		ok = move_sample(&r, i);
	stacks_freeze(&r.out.stacks);
	idmap_fini(&r.index);
	mem_free(r.moved);
	mem_free(r.leaf_first);
	mem_free(r.root_first);
	if (!ok) {
		restacked_fini(&r.out);
		return error_nomem(err);
	}
	*ret_restacked = r.out;
	return PPROF_OK;
}

void restacked_fini(struct restacked *restacked)
{
	size_t i;

	stacks_fini(&restacked->stacks);
	mem_free(restacked->sample_stack);
	mem_free(restacked->sample_lset);
	for (i = 0; i < SAMPLE_TYPES_MAX; i++)
		mem_free(restacked->values[i]);
	memset(restacked, 0, sizeof(*restacked));
}

void profile_take_restacked(struct pprof_profile *profile,
			    struct restacked *restacked)
{
	size_t i;

	stacks_fini(&profile->stacks);
	mem_free(profile->sample_stack);
	mem_free(profile->sample_lset);
	profile->stacks = restacked->stacks;
	profile->sample_stack = restacked->sample_stack;
	profile->sample_lset = restacked->sample_lset;
	for (i = 0; i < SAMPLE_TYPES_MAX; i++) {
		mem_free(profile->values[i]);
		profile->values[i] = restacked->values[i];
	}
	profile->nr_samples = restacked->nr_samples;
	profile->cap_samples = restacked->nr_samples;
	memset(restacked, 0, sizeof(*restacked));
}
