/* SPDX-License-Identifier: Apache-2.0
 *
 * The flame graph for a terminal or a log: a line of characters a row, the
 * root first. Colours, where wanted, are escape sequences of 256 colours;
 * without them every box begins with a bar.
 */
#include <config.h>

#include "output/flame.h"
#include "view/shorten.h"
#include "view/text.h"
#include "view/units.h"

#include <string.h>

/* Cells that a box needs to be more than a dot. */
#define BOX_LEAST 2

struct typist {
	struct buf *out;
	struct flame *flame;
	struct shortener shortener;
	struct buf name;
	struct buf label;
	size_t column; /* where the line has come to */
};

/* Column of a place in the graph. */
static size_t column_of(const struct flame *flame, uint32_t units)
{
	return (size_t)(((uint64_t)units * flame->opts->columns +
			 FLAME_UNITS / 2) / FLAME_UNITS);
}

static void add_blanks(struct buf *out, size_t nr)
{
	while (nr--)
		buf_byte(out, ' ');
}

/* Nearest of the 6 * 6 * 6 colours that terminals number from 16. */
static unsigned terminal_color(uint32_t color)
{
	unsigned red = (color >> 16 & 0xff) * 5 + 127;
	unsigned green = (color >> 8 & 0xff) * 5 + 127;
	unsigned blue = (color & 0xff) * 5 + 127;

	return 16 + 36 * (red / 255) + 6 * (green / 255) + blue / 255;
}

static void add_label(struct typist *t, const struct tree_node *node,
		      size_t cells)
{
	struct flame *flame = t->flame;
	size_t used;

	buf_reset(&t->name);
	buf_reset(&t->label);
	flame_node_name(&t->name, flame, node);
	buf_str(&t->label, "  ");
	if (flame->diff) {
		buf_reset(&t->label);
		flame_diff_suffix(&t->label, flame, node);
	} else if (node->kind == NODE_ROOT) {
		flame_value(&t->label, flame, node);
	} else {
		units_share(&t->label, node->weight,
			    flame->tree.nodes[0].weight);
	}
	if (!buf_ok(&t->name) || !buf_ok(&t->label)) {
		t->out->failed = true;
		return;
	}
	used = text_cells(t->name.data, t->name.len) +
	       text_cells(t->label.data, t->label.len);
	if (used <= cells) {
		buf_add(t->out, t->name.data, t->name.len);
		buf_add(t->out, t->label.data, t->label.len);
		add_blanks(t->out, cells - used);
		return;
	}
	buf_reset(&t->label);
	shorten_fit(&t->shortener, &t->label, t->name.data, t->name.len,
		    cells, SHORTEN_CUT_END);
	buf_add(t->out, t->label.data, t->label.len);
	add_blanks(t->out, cells - text_cells(t->label.data, t->label.len));
}

static void add_box(struct typist *t, const struct flame_box *box)
{
	struct flame *flame = t->flame;
	const struct tree_node *node = &flame->tree.nodes[box->node];
	size_t from = column_of(flame, box->x0);
	size_t to = column_of(flame, box->x1);
	unsigned class_id;

	if (from < t->column)
		from = t->column;
	if (to <= from)
		return;
	add_blanks(t->out, from - t->column);
	t->column = to;
	if (flame->opts->ansi) {
		class_id = flame_class_of(&flame->palette, node);
		buf_printf(t->out, "\033[38;5;16;48;5;%um",
			   terminal_color(flame->palette.light[class_id]));
	}
	if (to - from < BOX_LEAST) {
		buf_byte(t->out, flame->opts->ansi ? ' ' : '|');
	} else {
		buf_byte(t->out, flame->opts->ansi ? ' ' : '|');
		add_label(t, node, to - from - 1);
	}
	if (flame->opts->ansi)
		buf_str(t->out, "\033[0m");
}

/* Blanks at the end of a line say nothing. */
static void end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_byte(out, '\n');
}

static void add_rows(struct typist *t)
{
	const struct flame_layout *layout = &t->flame->layout;
	size_t row;
	uint32_t i;

	for (row = 0; row < layout->nr_rows; row++) {
		t->column = 0;
		for (i = layout->row_start[row];
		     i < layout->row_start[row + 1]; i++)
			add_box(t, &layout->boxes[i]);
		/* Deeper rows are narrower still. */
		if (!t->column)
			break;
		end_line(t->out);
	}
}

static void add_notes(struct buf *out, const struct flame *flame)
{
	const struct flame_lines *notes = &flame->notes;
	size_t start = 0, i;

	for (i = 0; i < notes->nr; i++) {
		buf_add(out, notes->text.data + start,
			notes->ends[i] - start);
		buf_byte(out, '\n');
		start = notes->ends[i];
	}
}

static void add_heading(struct buf *out, struct flame *flame)
{
	const char *subtitle = flame->diff ? buf_cstr(&flame->diff->subtitle)
					   : flame->opts->subtitle;

	if (flame->title.len) {
		text_mask(out, flame->title.data, flame->title.len);
		buf_byte(out, '\n');
	}
	if (subtitle && *subtitle) {
		text_mask(out, subtitle, strlen(subtitle));
		buf_byte(out, '\n');
	}
}

void flame_terminal(struct buf *out, struct flame *flame)
{
	struct typist t = { .out = out, .flame = flame };

	shortener_init(&t.shortener);
	buf_init(&t.name, PTRDIFF_MAX);
	buf_init(&t.label, PTRDIFF_MAX);
	add_heading(out, flame);
	if (flame->tree.nodes[0].weight) {
		add_rows(&t);
	} else {
		flame_nothing(out, flame);
		buf_byte(out, '\n');
	}
	if (flame->diff && flame->diff->gone_layout.nr_boxes) {
		flame_diff_heading(out, flame);
		buf_byte(out, '\n');
	}
	add_notes(out, flame);
	shortener_fini(&t.shortener);
	buf_fini(&t.name);
	buf_fini(&t.label);
}
