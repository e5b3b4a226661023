/* SPDX-License-Identifier: Apache-2.0
 *
 * Placing boxes; see flame_layout.h.
 */
#include <config.h>

#include "base/mem.h"
#include "output/flame_layout.h"

#include <string.h>

/* The work of one placement. */
struct placer {
	struct flame_layout *layout;
	const struct tree *tree;
	uint64_t min_weight;
	uint64_t *next_x; /* [rows] weight left of the next box of a row */
	struct flame_box *placed; /* in pre-order */
	size_t nr_placed, cap_placed;
};

/* floor(v * U / T + 1/2): both ends are rounded, never a width. */
static uint32_t to_units(uint64_t weight, uint64_t whole)
{
	unsigned __int128 scaled = (unsigned __int128)weight * FLAME_UNITS;

	return (uint32_t)((scaled + whole / 2) / whole);
}

static size_t count_rows(const struct tree *tree)
{
	uint32_t deepest = 0;
	size_t i;

	for (i = 0; i < tree->nr; i++)
		if (tree->nodes[i].depth > deepest)
			deepest = tree->nodes[i].depth;
	return (size_t)deepest + 1;
}

static bool place_node(struct placer *p, size_t i)
{
	const struct tree_node *node = &p->tree->nodes[i];
	uint64_t whole = p->tree->nodes[0].weight, x = p->next_x[node->depth];
	struct flame_box *box;

	p->next_x[node->depth] = x + node->weight;
	p->next_x[node->depth + 1] = x;
	if (!node->weight ||
	    (node->kind == NODE_LIGHT && node->weight < p->min_weight))
		return true;
	if (!mem_grow(p->placed, p->cap_placed, p->nr_placed + 1, UINT32_MAX))
		return false;
	box = &p->placed[p->nr_placed++];
	box->node = (uint32_t)i;
	box->x0 = to_units(x, whole);
	box->x1 = to_units(x + node->weight, whole);
	p->layout->nr_drawn += node->kind == NODE_FRAME;
	return true;
}

/* Order the boxes by row; each row keeps its order from left to right. */
static bool sort_rows(struct placer *p, size_t nr_rows)
{
	struct flame_layout *layout = p->layout;
	uint32_t *start = mem_zalloc(nr_rows + 2, sizeof(*start));
	size_t i;

	layout->boxes = mem_alloc(p->nr_placed, sizeof(*layout->boxes));
	layout->row_start = start;
	if (!start || !layout->boxes)
		return false;
	/* Shifted by one more, so that filling leaves the starts behind. */
	for (i = 0; i < p->nr_placed; i++)
		start[p->tree->nodes[p->placed[i].node].depth + 2]++;
	for (i = 2; i < nr_rows + 2; i++)
		start[i] += start[i - 1];
	for (i = 0; i < p->nr_placed; i++) {
		uint32_t depth = p->tree->nodes[p->placed[i].node].depth;

		layout->boxes[start[depth + 1]++] = p->placed[i];
	}
	layout->nr_boxes = p->nr_placed;
	/* Rows that hold nothing but boxes too small to draw are no rows. */
	while (nr_rows && start[nr_rows - 1] == start[nr_rows])
		nr_rows--;
	layout->nr_rows = nr_rows;
	return true;
}

enum pprof_status flame_layout_init(struct flame_layout *layout,
				    const struct tree *tree,
				    uint64_t min_weight,
				    struct pprof_error *err)
{
	struct placer p = { .layout = layout, .tree = tree,
			    .min_weight = min_weight };
	size_t nr_rows = count_rows(tree), i;
	bool ok;

	memset(layout, 0, sizeof(*layout));
	p.next_x = mem_zalloc(nr_rows + 1, sizeof(*p.next_x));
	ok = p.next_x;
	for (i = 0; ok && tree->nodes[0].weight && i < tree->nr; i++)
		ok = place_node(&p, i);
	ok = ok && sort_rows(&p, nr_rows);
	mem_free(p.next_x);
	mem_free(p.placed);
	if (ok)
		return PPROF_OK;
	flame_layout_fini(layout);
	return error_nomem(err);
}

void flame_layout_fini(struct flame_layout *layout)
{
	mem_free(layout->boxes);
	mem_free(layout->row_start);
	memset(layout, 0, sizeof(*layout));
}

bool flame_is_monospace(const char *font)
{
	static const char *const words[] = { "ono", "ourier", "onsolas",
					     "enlo", "ixed", "erminal" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(font, words[i]))
			return true;
	return false;
}

void flame_layout_measure(struct flame_layout *layout,
			  const struct pprof_flame_opts *opts, bool has_title,
			  bool has_subtitle)
{
	struct flame_size *size = &layout->size;
	unsigned width = opts->width ? opts->width : 1200;
	unsigned font = opts->font_size;
	unsigned head = has_title ? 3 * font : 3 * font / 2;
	unsigned graph_height;

	size->width = width;
	size->graph = width - 2 * FLAME_PAD;
	size->font = font;
	size->small = font > 6 ? font - 2 : font;
	size->row = opts->row_height ? opts->row_height : font + 4;
	size->advance = !opts->font || flame_is_monospace(opts->font)
				? FLAME_ADVANCE
				: FLAME_ADVANCE_OTHER;
	if (has_subtitle)
		head += 2 * font;
	size->strip = head - 5;
	/* Rows for a viewer's tools and details, whichever side they are. */
	head += 2 * font;
	size->top = layout->icicle ? head + 2 * font : head;
	graph_height = (unsigned)layout->nr_rows * size->row;
	size->details = layout->icicle ? head + 3 * font / 2
				       : size->top + graph_height +
						 3 * font / 2;
	size->footer = size->top + graph_height +
		       (layout->icicle ? font / 2 : 2 * font);
}

unsigned flame_row_y(const struct flame_layout *layout, size_t depth)
{
	size_t row = layout->icicle ? depth : layout->nr_rows - 1 - depth;

	return (unsigned)row * layout->size.row;
}

uint32_t flame_gap(const struct flame_layout *layout)
{
	return FLAME_UNITS / 2 / layout->size.graph;
}

uint32_t flame_tenths(const struct flame_layout *layout, uint32_t units)
{
	uint64_t scaled = (uint64_t)units * layout->size.graph * 10;

	return (uint32_t)((scaled + FLAME_UNITS / 2) / FLAME_UNITS);
}
