/* SPDX-License-Identifier: Apache-2.0
 *
 * Depth-first walk over the tree of stacks, without recursion.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/descent.h"

/* Samples by stack. */
static bool group_samples(struct descent *d)
{
	const struct pprof_profile *p = d->profile;
	uint32_t *start;
	size_t i;

	/* Shifted by one more, so that filling leaves the starts behind. */
	d->sample_start = mem_zalloc(p->stacks.nr + 2, sizeof(*start));
	d->samples = mem_alloc(p->nr_samples, sizeof(*d->samples));
	if (!d->sample_start || !d->samples)
		return false;
	start = d->sample_start;
	for (i = 0; i < p->nr_samples; i++)
		start[(size_t)p->sample_stack[i] + 2]++;
	for (i = 1; i < p->stacks.nr + 2; i++)
		start[i] += start[i - 1];
	for (i = 0; i < p->nr_samples; i++)
		d->samples[start[(size_t)p->sample_stack[i] + 1]++] =
			(uint32_t)i;
	return true;
}

enum pprof_status descent_init(struct descent *d,
			       const struct pprof_profile *profile,
			       struct pprof_error *err)
{
	memset(d, 0, sizeof(*d));
	d->profile = profile;
	if (!mem_grow(d->open, d->cap_open, 1, UINT32_MAX) ||
	    !stacks_children(&profile->stacks, NULL, 0, &d->child_start,
			     &d->children) ||
	    !group_samples(d))
		return error_nomem(err);
	d->open[0].node = 0;
	d->open[0].nr_above = 0;
	d->nr_open = 1;
	return PPROF_OK;
}

void descent_fini(struct descent *d)
{
	mem_free(d->child_start);
	mem_free(d->children);
	mem_free(d->sample_start);
	mem_free(d->samples);
	mem_free(d->open);
	mem_free(d->path);
	memset(d, 0, sizeof(*d));
}

/* Enter a node: put its frames on the path and its children on the list. */
static bool enter(struct descent *d, struct descent_step step)
{
	const struct stacks *stacks = &d->profile->stacks;
	const struct stack_node *node = &stacks->nodes[step.node];
	uint32_t first = d->child_start[step.node];
	uint32_t nr = d->child_start[step.node + 1] - first, i;
	size_t end = (size_t)step.nr_above + node->nr_locs;

	if (step.nr_above < d->nr_kept)
		d->nr_kept = step.nr_above;
	if (!mem_grow(d->path, d->cap_path, end + 1, UINT32_MAX) ||
	    !mem_grow(d->open, d->cap_open, d->nr_open + nr, UINT32_MAX))
		return false;
	if (node->nr_locs)
		memcpy(d->path + step.nr_above, stacks->locs + node->run,
		       node->nr_locs * sizeof(*d->path));
	d->nr_path = end;
	for (i = 0; i < nr; i++) {
		d->open[d->nr_open].node = d->children[first + i];
		d->open[d->nr_open++].nr_above = (uint32_t)end;
	}
	return true;
}

bool descent_next(struct descent *d, const uint32_t **ret_samples,
		  size_t *ret_nr)
{
	struct descent_step step;
	uint32_t first;

	d->nr_kept = d->nr_path;
	while (d->nr_open) {
		step = d->open[--d->nr_open];
		if (!enter(d, step)) {
			d->failed = true;
			return false;
		}
		first = d->sample_start[step.node];
		*ret_nr = d->sample_start[step.node + 1] - first;
		if (!*ret_nr)
			continue;
		*ret_samples = d->samples + first;
		return true;
	}
	return false;
}
