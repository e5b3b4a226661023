/* SPDX-License-Identifier: Apache-2.0
 *
 * Canonical order of a profile, as permutations: strings by bytes, rows by
 * what they say, stacks as a tree whose children follow their locations.
 */
#include <config.h>

#include "base/mem.h"
#include "profile/canon.h"

#include <stdlib.h>
#include <string.h>

/* What is sorted and how: the work of one canon_init(). */
struct sorter {
	const struct pprof_profile *profile;
	struct canon *canon;
};

/* A string with its first bytes as a number, to compare without a miss. */
struct string_key {
	uint64_t head;
	str_id id;
};

static int compare_strings(const void *a, const void *b, void *ctx)
{
	const struct string_key *ka = a, *kb = b;

	if (ka->head != kb->head)
		return ka->head < kb->head ? -1 : 1;
	return strtab_compare(ctx, ka->id, kb->id);
}

static uint64_t string_head(const struct strtab_row *row)
{
	uint64_t head = 0;
	uint32_t i;

	for (i = 0; i < 8; i++)
		head = head << 8 |
		       (i < row->len ? (unsigned char)row->text[i] : 0);
	return head;
}

static bool rank_strings(struct canon *canon, const struct strtab *strings)
{
	struct string_key *keys = mem_alloc(strings->nr, sizeof(*keys));
	size_t i;

	canon->str_rank = mem_alloc(strings->nr, sizeof(*canon->str_rank));
	if (!keys || !canon->str_rank) {
		mem_free(keys);
		return false;
	}
	for (i = 0; i < strings->nr; i++) {
		keys[i].head = string_head(&strings->rows[i]);
		keys[i].id = (str_id)i;
	}
	qsort_r(keys, strings->nr, sizeof(*keys), compare_strings,
		(void *)(uintptr_t)strings);
	for (i = 0; i < strings->nr; i++)
		canon->str_rank[keys[i].id] = (uint32_t)i;
	mem_free(keys);
	return true;
}

static void reach_location(struct canon *canon,
			   const struct pprof_profile *p, loc_id id)
{
	const struct location *loc = &p->locations[id];
	uint32_t i;

	if (canon->loc_number[id])
		return;
	canon->loc_number[id] = 1;
	canon->map_number[loc->mapping] = 1;
	for (i = 0; i < loc->nr_lines; i++)
		canon->func_number[p->lines[loc->lines + i].func] = 1;
}

/* [stacks.nr] 1: a sample ends in the node or below it; NULL: no memory. */
static uint8_t *mark_live(const struct pprof_profile *p)
{
	uint8_t *live = mem_zalloc(p->stacks.nr, 1);
	stack_id id;
	size_t i;

	for (i = 0; live && i < p->nr_samples; i++)
		for (id = p->sample_stack[i]; id && !live[id];
		     id = p->stacks.nodes[id].parent)
			live[id] = 1;
	return live;
}

/* Set the numbers of every row that a sample leads to, to 1. */
static bool reach_rows(struct canon *canon, const struct pprof_profile *p)
{
	const struct stack_node *node;
	uint8_t *live;
	size_t i;
	uint32_t k;

	canon->map_number = mem_zalloc(p->nr_mappings, sizeof(uint32_t));
	canon->func_number = mem_zalloc(p->nr_functions, sizeof(uint32_t));
	canon->loc_number = mem_zalloc(p->nr_locations, sizeof(uint32_t));
	if (!canon->map_number || !canon->func_number || !canon->loc_number)
		return false;
	for (i = 1; i < p->nr_mappings; i++)
		if (p->mappings[i].flags & MAP_MAIN)
			canon->map_number[i] = 1;
	live = mark_live(p);
	if (!live)
		return false;
	for (i = 1; i < p->stacks.nr; i++) {
		node = &p->stacks.nodes[i];
		for (k = 0; live[i] && k < node->nr_locs; k++)
			reach_location(canon, p, p->stacks.locs[node->run + k]);
	}
	mem_free(live);
	canon->map_number[0] = 0;
	return true;
}

/* Rows with number 1 as a list, to be sorted. */
static bool collect(uint32_t **ret_order, size_t *ret_nr,
		    const uint32_t *number, size_t nr_rows)
{
	uint32_t *order = mem_alloc(nr_rows, sizeof(*order));
	size_t i, nr = 0;

	if (!order)
		return false;
	for (i = 1; i < nr_rows; i++)
		if (number[i])
			order[nr++] = (uint32_t)i;
	*ret_order = order;
	*ret_nr = nr;
	return true;
}

static void number_rows(uint32_t *number, const uint32_t *order, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		number[order[i]] = (uint32_t)i + 1;
}

static int order_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int order_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_maps(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const struct mapping *ma = &s->profile->mappings[*(const uint32_t *)a];
	const struct mapping *mb = &s->profile->mappings[*(const uint32_t *)b];
	const uint32_t *rank = s->canon->str_rank;
	int order = order_u64(mb->flags & MAP_MAIN, ma->flags & MAP_MAIN);

	if (!order)
		order = order_u64(rank[ma->file], rank[mb->file]);
	if (!order)
		order = order_u64(rank[ma->build_id], rank[mb->build_id]);
	if (!order)
		order = order_u64(ma->start, mb->start);
	if (!order)
		order = order_u64(ma->offset, mb->offset);
	return order ? order : order_u64(ma->limit, mb->limit);
}

static int compare_functions(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const struct function *fa =
		&s->profile->functions[*(const uint32_t *)a];
	const struct function *fb =
		&s->profile->functions[*(const uint32_t *)b];
	const uint32_t *rank = s->canon->str_rank;
	int order = order_u64(rank[fa->name], rank[fb->name]);

	if (!order)
		order = order_u64(rank[fa->system_name],
				  rank[fb->system_name]);
	if (!order)
		order = order_u64(rank[fa->file], rank[fb->file]);
	return order ? order : order_i64(fa->start_line, fb->start_line);
}

static int compare_lines(const struct sorter *s, const struct location *la,
			 const struct location *lb)
{
	const struct line *a = s->profile->lines + la->lines;
	const struct line *b = s->profile->lines + lb->lines;
	const uint32_t *number = s->canon->func_number;
	int order = 0;
	uint32_t i;

	for (i = 0; !order && i < la->nr_lines && i < lb->nr_lines; i++) {
		order = order_u64(number[a[i].func], number[b[i].func]);
		if (!order)
			order = order_i64(a[i].line, b[i].line);
		if (!order)
			order = order_i64(a[i].column, b[i].column);
	}
	return order ? order : order_u64(la->nr_lines, lb->nr_lines);
}

static int compare_locations(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const struct location *la =
		&s->profile->locations[*(const uint32_t *)a];
	const struct location *lb =
		&s->profile->locations[*(const uint32_t *)b];
	int order = order_u64(s->canon->map_number[la->mapping],
			      s->canon->map_number[lb->mapping]);

	if (!order)
		order = order_u64(la->address, lb->address);
	if (!order)
		order = compare_lines(s, la, lb);
	return order ? order : order_u64(la->is_folded, lb->is_folded);
}

static bool order_rows(struct sorter *s)
{
	const struct pprof_profile *p = s->profile;
	struct canon *c = s->canon;

	if (!collect(&c->map_order, &c->nr_maps, c->map_number,
		     p->nr_mappings) ||
	    !collect(&c->func_order, &c->nr_funcs, c->func_number,
		     p->nr_functions) ||
	    !collect(&c->loc_order, &c->nr_locs, c->loc_number,
		     p->nr_locations))
		return false;
	qsort_r(c->map_order, c->nr_maps, sizeof(uint32_t), compare_maps, s);
	number_rows(c->map_number, c->map_order, c->nr_maps);
	qsort_r(c->func_order, c->nr_funcs, sizeof(uint32_t),
		compare_functions, s);
	number_rows(c->func_number, c->func_order, c->nr_funcs);
	qsort_r(c->loc_order, c->nr_locs, sizeof(uint32_t),
		compare_locations, s);
	number_rows(c->loc_number, c->loc_order, c->nr_locs);
	return true;
}

static int compare_label_rows(const struct sorter *s, const struct label *a,
			      const struct label *b)
{
	const uint32_t *rank = s->canon->str_rank;
	int order = order_u64(rank[a->key], rank[b->key]);

	if (!order)
		order = order_u64(a->is_num, b->is_num);
	if (!order)
		order = order_u64(rank[a->str], rank[b->str]);
	if (!order)
		order = order_i64(a->num, b->num);
	return order ? order : order_u64(rank[a->unit], rank[b->unit]);
}

static int compare_label_ids(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;

	return compare_label_rows(s,
				  &s->profile->labels[*(const uint32_t *)a],
				  &s->profile->labels[*(const uint32_t *)b]);
}

static int compare_lsets(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const struct lset *sa = &s->profile->lsets[*(const uint32_t *)a];
	const struct lset *sb = &s->profile->lsets[*(const uint32_t *)b];
	const uint32_t *oa = s->canon->label_order + sa->labels;
	const uint32_t *ob = s->canon->label_order + sb->labels;
	int order = 0;
	uint32_t i;

	for (i = 0; !order && i < sa->nr && i < sb->nr; i++)
		order = compare_label_rows(s, &s->profile->labels[oa[i]],
					   &s->profile->labels[ob[i]]);
	return order ? order : order_u64(sa->nr, sb->nr);
}

static bool rank_lsets(struct sorter *s)
{
	const struct pprof_profile *p = s->profile;
	uint32_t *order = mem_alloc(p->nr_lsets, sizeof(*order));
	struct canon *c = s->canon;
	size_t i;

	c->label_order = mem_alloc(p->nr_labels, sizeof(*c->label_order));
	c->lset_rank = mem_alloc(p->nr_lsets, sizeof(*c->lset_rank));
	if (!order || !c->label_order || !c->lset_rank) {
		mem_free(order);
		return false;
	}
	for (i = 0; i < p->nr_labels; i++)
		c->label_order[i] = (uint32_t)i;
	for (i = 0; i < p->nr_lsets; i++) {
		if (p->lsets[i].nr > 1)
			qsort_r(c->label_order + p->lsets[i].labels,
				p->lsets[i].nr, sizeof(uint32_t),
				compare_label_ids, s);
		order[i] = (uint32_t)i;
	}
	qsort_r(order, p->nr_lsets, sizeof(*order), compare_lsets, s);
	for (i = 0; i < p->nr_lsets; i++)
		c->lset_rank[order[i]] = (uint32_t)i;
	mem_free(order);
	return true;
}

static int compare_samples(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const lset_id *lsets = s->profile->sample_lset;

	return order_u64(s->canon->lset_rank[lsets[*(const uint32_t *)a]],
			 s->canon->lset_rank[lsets[*(const uint32_t *)b]]);
}

/* Samples by stack, those of one stack by label set. */
static bool group_samples(struct sorter *s)
{
	const struct pprof_profile *p = s->profile;
	struct canon *c = s->canon;
	uint32_t *start;
	size_t i;

	c->sample_start = mem_zalloc(p->stacks.nr + 2, sizeof(uint32_t));
	c->samples = mem_alloc(p->nr_samples, sizeof(uint32_t));
	if (!c->sample_start || !c->samples)
		return false;
	start = c->sample_start;
	for (i = 0; i < p->nr_samples; i++)
		start[(size_t)p->sample_stack[i] + 2]++;
	for (i = 1; i < p->stacks.nr + 2; i++)
		start[i] += start[i - 1];
	for (i = 0; i < p->nr_samples; i++)
		c->samples[start[(size_t)p->sample_stack[i] + 1]++] =
			(uint32_t)i;
	for (i = 0; p->sample_lset && i < p->stacks.nr; i++)
		if (start[i + 1] - start[i] > 1)
			qsort_r(c->samples + start[i],
				start[i + 1] - start[i], sizeof(uint32_t),
				compare_samples, s);
	return true;
}

/* Children of one node whose rows are fetched ahead. */
#define PREFETCH_CHILDREN 8

/*
 * Depth-first order without recursion: the pending nodes are a stack whose
 * free room is the array's own, as yet unfilled, end.
 */
static bool order_nodes(struct canon *c, const struct stacks *stacks)
{
	size_t nr = stacks->nr - 1, done = 0, top = nr, n;
	stack_id *order = mem_alloc(nr, sizeof(*order));
	stack_id node = 0;
	size_t i;

	c->preorder = order;
	if (!order)
		return false;
	for (;;) {
		n = c->child_start[node + 1] - c->child_start[node];
		top -= n;
		if (n)
			memcpy(order + top, c->children +
			       c->child_start[node], n * sizeof(*order));
		/* Their turn comes soon, and their rows lie anywhere. */
		for (i = 0; i < n && i < PREFETCH_CHILDREN; i++)
			__builtin_prefetch(&c->child_start[order[top + i]]);
		if (top == nr)
			return true;
		node = order[top++];
		order[done++] = node;
	}
}

enum pprof_status canon_init(struct canon *canon,
			     const struct pprof_profile *profile,
			     struct pprof_error *err)
{
	struct sorter sorter = { profile, canon };

	memset(canon, 0, sizeof(*canon));
	if (rank_strings(canon, &profile->strings) &&
	    reach_rows(canon, profile) && order_rows(&sorter) &&
	    rank_lsets(&sorter) &&
	    stacks_children(&profile->stacks, canon->loc_number,
			    canon->nr_locs + 1, &canon->child_start,
			    &canon->children) &&
	    order_nodes(canon, &profile->stacks) &&
	    group_samples(&sorter))
		return PPROF_OK;
	canon_fini(canon);
	return error_nomem(err);
}

void canon_fini(struct canon *canon)
{
	mem_free(canon->str_rank);
	mem_free(canon->map_order);
	mem_free(canon->map_number);
	mem_free(canon->func_order);
	mem_free(canon->func_number);
	mem_free(canon->loc_order);
	mem_free(canon->loc_number);
	mem_free(canon->label_order);
	mem_free(canon->lset_rank);
	mem_free(canon->child_start);
	mem_free(canon->children);
	mem_free(canon->sample_start);
	mem_free(canon->samples);
	mem_free(canon->preorder);
	memset(canon, 0, sizeof(*canon));
}
