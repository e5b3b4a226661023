/* SPDX-License-Identifier: Apache-2.0
 *
 * Summing the samples of each stack; see stack_values.h.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/sampling.h"
#include "view/stack_values.h"

#include <string.h>

/* The label set says that its samples were subtracted. */
static bool is_base_lset(const struct pprof_profile *p, lset_id id, str_id key)
{
	const struct lset *lset = &p->lsets[id];
	uint32_t i;

	for (i = 0; i < lset->nr; i++)
		if (p->labels[lset->labels + i].key == key)
			return true;
	return false;
}

static str_id find_base_key(const struct pprof_profile *p)
{
	return strtab_find(&p->strings, BASE_LABEL, strlen(BASE_LABEL));
}

bool walk_has_base(const struct pprof_profile *p)
{
	str_id key = find_base_key(p);
	size_t i;

	if (key == STR_NONE || !p->sample_lset)
		return false;
	for (i = 0; i < p->nr_samples; i++)
		if (is_base_lset(p, p->sample_lset[i], key))
			return true;
	return false;
}

/* What sample `i` adds to its stack on the side that counts. */
static __int128 side_value(const struct pprof_profile *p, enum walk_side side,
			   size_t i, int64_t value, str_id key)
{
	bool base = value < 0;

	if (side == WALK_ALL)
		return value;
	if (!base && key != STR_NONE && p->sample_lset)
		base = is_base_lset(p, p->sample_lset[i], key);
	if (base != (side == WALK_BASE))
		return 0;
	return value < 0 ? -(__int128)value : value;
}

/* Samples that were counted, without a word on the period: Poisson. */
static bool is_counted(const struct pprof_profile *p, size_t type)
{
	return !strcmp(profile_str(p, p->types[type].type), "samples") &&
	       !strcmp(profile_str(p, p->types[type].unit), "count");
}

/* Net value of each stack over its label sets. */
static void sum_values(struct stack_values *worth,
		       const struct pprof_profile *p,
		       const struct stack_values_opts *opts)
{
	const int64_t *values = p->values[opts->sample_type];
	str_id key = find_base_key(p);
	struct sampling sampling;
	bool counted;
	size_t i;

	sampling = sampling_of(p, opts->sample_type);
	counted = worth->vars && sampling.kind == SAMPLING_EXACT &&
		  is_counted(p, opts->sample_type);
	for (i = 0; i < p->nr_samples; i++) {
		int64_t *sum = &worth->values[p->sample_stack[i]];
		__int128 value = side_value(p, opts->side, i, values[i], key);

		*sum = clamp_i64(*sum + value);
		if (!worth->vars || !value)
			continue;
		worth->vars[p->sample_stack[i]] +=
			counted ? (double)magnitude_i64(values[i])
				: sampling_variance(&sampling, p, i);
	}
}

/* How far weights are scaled down so that their sum fits. */
static void sum_weights(struct stack_values *worth, size_t nr_stacks)
{
	unsigned __int128 weight = 0;
	size_t i;

	for (i = 0; i < nr_stacks; i++) {
		worth->nr_negative += worth->values[i] < 0;
		weight += magnitude_i64(worth->values[i]);
	}
	while (weight >> worth->shift > INT64_MAX)
		worth->shift++;
	worth->weight = (uint64_t)(weight >> worth->shift);
}

/* Mark the way from every stack with a value to the root. */
static void mark_live(struct stack_values *worth, const struct stacks *stacks)
{
	size_t i;
	stack_id id;

	worth->live[0] = 1;
	for (i = 1; i < stacks->nr; i++) {
		if (!worth->values[i])
			continue;
		for (id = (stack_id)i; !worth->live[id];
		     id = stacks->nodes[id].parent)
			worth->live[id] = 1;
	}
}

bool stack_values_init(struct stack_values *worth,
		       const struct pprof_profile *profile,
		       const struct stack_values_opts *opts)
{
	size_t nr = profile->stacks.nr;

	memset(worth, 0, sizeof(*worth));
	worth->values = mem_zalloc(nr, sizeof(*worth->values));
	worth->live = mem_zalloc(nr, sizeof(*worth->live));
	if (opts->with_noise)
		worth->vars = mem_zalloc(nr, sizeof(*worth->vars));
	if (!worth->values || !worth->live ||
	    (opts->with_noise && !worth->vars))
		return false;
	if (profile->nr_types)
		sum_values(worth, profile, opts);
	sum_weights(worth, nr);
	mark_live(worth, &profile->stacks);
	return true;
}

void stack_values_fini(struct stack_values *worth)
{
	mem_free(worth->values);
	mem_free(worth->vars);
	mem_free(worth->live);
	memset(worth, 0, sizeof(*worth));
}
