/* SPDX-License-Identifier: Apache-2.0
 *
 * The SVG document: one rect with a title a frame, grouped by row, in a
 * viewport whose horizontal unit is a millionth of the graph; labels apart,
 * fitted to their boxes. Complete without its script.
 */
#include <config.h>

#include "output/flame.h"
#include "output/xml.h"
#include "view/shorten.h"
#include "view/text.h"
#include "view/units.h"

#include <string.h>

/* Blank between a box's edge and its label, px. */
#define LABEL_PAD 3

/* Labels of fewer cells say nothing. */
#define LABEL_LEAST 3

/* Boxes this wide, px, get an inlining mark. */
#define WIDE_PX 3

/* Entries of the legend that are shown. */
#define LEGEND_MAX 12

/* Scratch space for the texts of one box. */
struct pen {
	struct buf *out;
	struct flame *flame;
	const struct flame_layout *layout; /* of the rows being drawn */
	const struct tree *tree;
	struct shortener shortener;
	struct buf name;
	struct buf text;
};

static void add_attribute(struct buf *out, const char *name, uint64_t value)
{
	buf_byte(out, ' ');
	buf_str(out, name);
	buf_str(out, "=\"");
	buf_u64(out, value);
	buf_byte(out, '"');
}

static void add_buf(struct buf *out, const struct buf *text)
{
	if (text->len)
		xml_text(out, text->data, text->len);
	if (text->failed)
		out->failed = true;
}

static unsigned line_height(const struct flame *flame)
{
	return flame->layout.size.font * 7 / 5;
}

/* Legend entries and "+N more" flow in lines of this many. */
static size_t legend_columns(const struct flame *flame)
{
	size_t columns = flame->layout.size.graph /
			 (18 * flame->layout.size.font);

	return columns ? columns : 1;
}

static size_t legend_shown(const struct flame *flame)
{
	size_t nr = flame->palette.nr_legend;

	return nr < LEGEND_MAX ? nr : LEGEND_MAX;
}

static size_t legend_lines(const struct flame *flame)
{
	size_t nr = legend_shown(flame);

	nr += flame->palette.nr_legend > nr;
	return (nr + legend_columns(flame) - 1) / legend_columns(flame);
}

static unsigned note_lines(const struct flame *flame)
{
	return (unsigned)flame->notes.nr + (flame->nr_notes_left > 0);
}

/* Height of the picture, px. */
static unsigned total_height(const struct flame *flame)
{
	const struct flame_size *size = &flame->layout.size;
	unsigned lines = note_lines(flame) + (unsigned)legend_lines(flame);

	if (!flame->tree.nodes[0].weight && !size->band)
		return size->top + 6 * size->font;
	return size->footer + lines * line_height(flame) +
	       size->font * 4 / 5;
}

/* What the script cannot see in the picture. */
static void add_script_facts(struct buf *out, const struct flame *flame)
{
	add_attribute(out, "data-f", flame->layout.size.font);
	add_attribute(out, "data-g", flame_gap(&flame->layout));
	add_attribute(out, "data-det", flame->layout.size.details);
	if (flame->opts->font && !flame_is_monospace(flame->opts->font))
		buf_str(out, " data-font=\"1\"");
	if (flame->opts->name_type) {
		buf_str(out, " data-name=\"");
		xml_str(out, flame->opts->name_type);
		buf_byte(out, '"');
	}
	if (!flame->diff)
		return;
	buf_str(out, " data-diff=\"1\"");
	if (flame->opts->widths >= PPROF_WIDTHS_UNION)
		buf_str(out, " data-widths=\"1\"");
}

static void add_root_tag(struct buf *out, const struct flame *flame,
			 unsigned height)
{
	unsigned width = flame->layout.size.width;

	if (!flame->is_part)
		buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_str(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"");
	buf_str(out, flame->id);
	buf_str(out, "\" class=\"fg\"");
	if (flame->is_part)
		add_attribute(out, "y", flame->part_y);
	if (flame->opts->width)
		add_attribute(out, "width", width);
	else
		buf_str(out, " width=\"100%\"");
	add_attribute(out, "height", height);
	buf_str(out, " viewBox=\"0 0 ");
	buf_u64(out, width);
	buf_byte(out, ' ');
	buf_u64(out, height);
	buf_str(out, "\" preserveAspectRatio=\"xMinYMin\" role=\"img\" "
		     "aria-labelledby=\"");
	buf_str(out, flame->id);
	buf_str(out, "-t ");
	buf_str(out, flame->id);
	buf_str(out, "-d\" data-v=\"1\" data-total=\"");
	buf_i64(out, flame->tree.nodes[0].total);
	buf_str(out, "\" data-unit=\"");
	xml_str(out, flame->unit);
	buf_byte(out, '"');
	add_attribute(out, "data-u", FLAME_UNITS);
	buf_str(out, flame->opts->icicle ? " data-layout=\"icicle\""
					 : " data-layout=\"flame\"");
	if (!flame->opts->no_script)
		add_script_facts(out, flame);
	buf_str(out, ">\n");
}

/* Stripes for values below zero, upright in the scaled rows. */
static void add_hatch(struct buf *out, const struct flame *flame)
{
	unsigned graph = flame->layout.size.graph;

	buf_str(out, "<defs><pattern id=\"");
	buf_str(out, flame->id);
	buf_str(out, "-n\" width=\"8\" height=\"8\" "
		     "patternUnits=\"userSpaceOnUse\" "
		     "patternTransform=\"scale(");
	buf_u64(out, (FLAME_UNITS + graph / 2) / graph);
	buf_str(out, " 1)\"><rect class=\"nb\" width=\"8\" height=\"8\"/>"
		     "<path class=\"nl\" d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>"
		     "</pattern></defs>\n");
}

static void add_head(struct pen *pen)
{
	struct flame *flame = pen->flame;
	struct buf *out = pen->out;

	buf_str(out, "<title id=\"");
	buf_str(out, flame->id);
	buf_str(out, "-t\">");
	add_buf(out, &flame->title);
	buf_str(out, "</title>\n<desc id=\"");
	buf_str(out, flame->id);
	buf_str(out, "-d\">");
	buf_reset(&pen->text);
	flame_summary(&pen->text, flame);
	add_buf(out, &pen->text);
	buf_str(out, "</desc>\n<metadata>");
	flame_metadata(out, flame);
	buf_str(out, "</metadata>\n<style>");
	flame->style = out->len;
	buf_byte(out, '\n');
	flame_css(out, &flame->palette, flame->opts, flame->id,
		  &flame->layout.size);
	if (!flame->opts->no_script)
		flame_script_css(out, flame->id, flame->diff);
	flame->style_end = out->len;
	buf_str(out, "</style>\n");
	if (flame->palette.used[FLAME_NEGATIVE])
		add_hatch(out, flame);
}

/* Append text shortened to `px` at `font`, escaped. */
static void add_fitted(struct pen *pen, const char *text, size_t len,
		       unsigned px, unsigned font)
{
	size_t cells = (size_t)(px / (pen->flame->layout.size.advance * font));

	buf_reset(&pen->name);
	text_mask(&pen->name, text, len);
	buf_reset(&pen->text);
	shorten_plain(&pen->text, pen->name.data, pen->name.len, cells);
	add_buf(pen->out, &pen->text);
}

static void add_text_tag(struct buf *out, const char *class_name, unsigned x,
			 unsigned y)
{
	buf_str(out, "<text");
	if (*class_name) {
		buf_str(out, " class=\"");
		buf_str(out, class_name);
		buf_byte(out, '"');
	}
	add_attribute(out, "x", x);
	add_attribute(out, "y", y);
	buf_byte(out, '>');
}

/* Text in the middle, however wide the picture is. */
static void add_middle_tag(struct buf *out, const char *class_name,
			   unsigned y)
{
	buf_str(out, "<text class=\"");
	buf_str(out, class_name);
	buf_str(out, "\" x=\"50%\"");
	add_attribute(out, "y", y);
	buf_byte(out, '>');
}

static void add_header(struct pen *pen)
{
	const struct flame_size *size = &pen->flame->layout.size;
	struct flame_diff *diff = pen->flame->diff;
	const char *subtitle = diff ? buf_cstr(&diff->subtitle)
				    : pen->flame->opts->subtitle;
	struct buf *out = pen->out;

	buf_str(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
	if (pen->flame->title.len) {
		add_middle_tag(out, "tt", 2 * size->font);
		add_fitted(pen, pen->flame->title.data, pen->flame->title.len,
			   size->graph, size->font + 5);
		buf_str(out, "</text>\n");
	}
	if (subtitle && *subtitle) {
		add_middle_tag(out, "st", pen->flame->title.len
						  ? 4 * size->font
						  : 5 * size->font / 2);
		add_fitted(pen, subtitle, strlen(subtitle), size->graph,
			   size->font);
		buf_str(out, "</text>\n");
	}
	buf_str(out, "<rect class=\"ps\"");
	add_attribute(out, "y", size->strip);
	buf_str(out, " width=\"100%\" height=\"3\"/>\n");
	if (pen->flame->opts->no_script)
		return;
	add_text_tag(out, "hint", FLAME_PAD, size->strip + 2 * size->font);
	buf_str(out, "Open this file in a browser to zoom and to search."
		     "</text>\n");
}

/* Nothing for what only calls others. */
static void add_self(struct buf *text, const struct flame *flame,
		     const struct tree_node *node)
{
	if (!node->self)
		return;
	if (node->self == node->total) {
		buf_str(text, ", all self");
		return;
	}
	buf_str(text, ", self ");
	units_words(text, node->self, flame->noun, flame->unit);
}

static void add_value_words(struct buf *text, const struct flame *flame,
			    const struct tree_node *node)
{
	bool scaled;

	flame_value(text, flame, node);
	/* "1.2 KiB (1,234 bytes), 5%" but "1,234 samples (5%)". */
	scaled = text->len && text->data[text->len - 1] == ')';
	buf_str(text, scaled ? ", " : " (");
	units_share(text, node->weight, flame->tree.nodes[0].weight);
	buf_str(text, scaled ? "" : ")");
	if (node->kind == NODE_FRAME)
		add_self(text, flame, node);
}

/* Lines of our own: within a name a line end is masked. */
static void add_lines(struct buf *out, const struct buf *text)
{
	size_t at = 0, i;

	if (text->failed)
		out->failed = true;
	if (!text->len)
		return;
	for (i = 0; i < text->len; i++) {
		if (text->data[i] != '\n')
			continue;
		xml_text(out, text->data + at, i - at);
		buf_byte(out, '\n');
		at = i + 1;
	}
	xml_text(out, text->data + at, text->len - at);
}

/* What a pointer over the box tells. */
static void add_tooltip(struct pen *pen, const struct tree_node *node)
{
	const struct flame *flame = pen->flame;
	struct buf *text = &pen->text;
	uint32_t kind = 0;

	buf_reset(text);
	flame_node_name(text, flame, node);
	add_buf(pen->out, text);
	buf_byte(pen->out, '\n');
	buf_reset(text);
	if (flame->diff)
		flame_diff_words(text, flame, node);
	else
		add_value_words(text, flame, node);
	if (node->kind == NODE_FRAME)
		kind = flame->frames.rows[node->row].kind;
	if (node->kind == NODE_LIGHT)
		buf_str(text, ", pruned");
	if (node->inlined || kind & FRAME_INLINED)
		buf_str(text, node->called && !(kind & FRAME_INLINED)
				      ? ", partly inlined"
				      : ", inlined");
	if (kind & FRAME_KERNEL)
		buf_str(text, ", kernel");
	if (kind & FRAME_JIT)
		buf_str(text, ", JIT");
	add_lines(pen->out, text);
}

static bool is_wide(const struct flame_layout *layout,
		    const struct flame_box *box)
{
	return (uint64_t)(box->x1 - box->x0) * layout->size.graph >=
	       (uint64_t)WIDE_PX * FLAME_UNITS;
}

static bool is_inlined(const struct tree_node *node)
{
	return node->inlined && !node->called;
}

static void add_box(struct pen *pen, const struct flame_box *box)
{
	struct flame *flame = pen->flame;
	const struct flame_size *size = &pen->layout->size;
	const struct tree_node *node = &pen->tree->nodes[box->node];
	uint32_t width = box->x1 - box->x0, gap = flame_gap(pen->layout);
	struct buf *out = pen->out;

	/* From 2.5 px on a growing gap, so that the script can tell. */
	if (width > 7 * gap)
		width -= gap;
	else if (width > 5 * gap)
		width -= (width - 5 * gap) / 2;
	buf_str(out, "<rect class=\"");
	flame_class_name(out, &flame->palette,
			 flame_class_of(&flame->palette, node));
	buf_byte(out, '"');
	add_attribute(out, "x", box->x0);
	add_attribute(out, "width", width);
	/* Inlined code lies flush on what it was inlined into. */
	if (is_inlined(node)) {
		buf_str(out, pen->layout->icicle ? " y=\"-1\"" : "");
		add_attribute(out, "height", size->row);
	} else {
		add_attribute(out, "height", size->row - 1);
	}
	buf_str(out, "><title>");
	add_tooltip(pen, node);
	buf_str(out, "</title></rect>\n");
}

/* A dashed line where inlined code meets its caller; one path a row. */
static void add_inline_marks(struct pen *pen, size_t row)
{
	const struct flame_layout *layout = pen->layout;
	struct buf *out = pen->out;
	bool open = false;
	uint32_t i;

	for (i = layout->row_start[row]; i < layout->row_start[row + 1]; i++) {
		const struct flame_box *box = &layout->boxes[i];

		if (!is_inlined(&pen->tree->nodes[box->node]) ||
		    !is_wide(layout, box))
			continue;
		buf_str(out, open ? "" : "<path class=\"il\" d=\"");
		open = true;
		buf_byte(out, 'M');
		buf_u64(out, box->x0);
		buf_byte(out, ' ');
		if (layout->icicle)
			buf_str(out, "-.5h");
		else {
			buf_u64(out, layout->size.row - 1);
			buf_str(out, ".5h");
		}
		buf_u64(out, box->x1 - box->x0);
	}
	if (!open)
		return;
	/* 4 px on, 3 px off, in units. */
	buf_str(out, "\" stroke-dasharray=\"");
	buf_u64(out, 4 * FLAME_UNITS / layout->size.graph);
	buf_byte(out, ' ');
	buf_u64(out, 3 * FLAME_UNITS / layout->size.graph);
	buf_str(out, "\"/>\n");
}

/* Rows from `first` on. */
static void add_rows(struct pen *pen, size_t first)
{
	const struct flame_layout *layout = pen->layout;
	struct buf *out = pen->out;
	size_t row;
	uint32_t i;

	buf_str(out, "<g class=\"rows\" transform=\"scale(");
	units_fixed(out, layout->size.graph, 6);
	buf_str(out, " 1)\">\n");
	for (row = first; row < layout->nr_rows; row++) {
		buf_str(out, "<g transform=\"translate(0 ");
		buf_u64(out, flame_row_y(layout, row - first));
		buf_str(out, ")\" data-d=\"");
		buf_u64(out, row);
		buf_str(out, "\">\n");
		for (i = layout->row_start[row];
		     i < layout->row_start[row + 1]; i++)
			add_box(pen, &layout->boxes[i]);
		add_inline_marks(pen, row);
		buf_str(out, "</g>\n");
	}
	buf_str(out, "</g>\n");
}

/* What is written after a name that leaves room for it. */
static void add_suffix(struct buf *out, const struct flame *flame,
		       const struct tree_node *node)
{
	uint64_t whole = flame->tree.nodes[0].weight;
	unsigned __int128 tenths = (unsigned __int128)node->weight * 1000;

	if (flame->diff) {
		flame_diff_suffix(out, flame, node);
		return;
	}
	buf_str(out, "  ");
	if (node->kind == NODE_ROOT && !node->clamped) {
		units_brief(out, node->total, flame->noun, flame->unit);
		return;
	}
	units_fixed(out, (int64_t)((tenths + whole / 2) / whole), 1);
	buf_byte(out, '%');
}

/* Names of functions have scopes to drop, those of files have not. */
static bool has_scopes(const struct flame *flame, const struct tree_node *node)
{
	return node->kind == NODE_FRAME &&
	       flame->opts->granularity != PPROF_BY_MODULE &&
	       !(flame->frames.rows[node->row].kind & FRAME_UNKNOWN);
}

/* The label into pen->text; false when the box has no room for one. */
static bool fit_label(struct pen *pen, const struct tree_node *node,
		      uint32_t width_tenths)
{
	double cell = pen->layout->size.advance * 10 * pen->layout->size.font;
	double left = (double)width_tenths - 2 * 10 * LABEL_PAD;
	size_t cells, used;

	if (left < LABEL_LEAST * cell)
		return false;
	cells = (size_t)(left / cell);
	buf_reset(&pen->name);
	buf_reset(&pen->text);
	flame_node_name(&pen->name, pen->flame, node);
	used = text_cells(pen->name.data, pen->name.len);
	if (used > cells && !has_scopes(pen->flame, node)) {
		shorten_plain(&pen->text, pen->name.data, pen->name.len,
			      cells);
		return true;
	}
	if (used + 2 >= cells) {
		shorten_fit(&pen->shortener, &pen->text, pen->name.data,
			    pen->name.len, cells, SHORTEN_CUT_END);
		return true;
	}
	buf_add(&pen->text, pen->name.data, pen->name.len);
	add_suffix(&pen->text, pen->flame, node);
	if (text_cells(pen->text.data, pen->text.len) > cells)
		pen->text.len = pen->name.len;
	return true;
}

static void add_label(struct pen *pen, const struct flame_box *box, size_t row)
{
	const struct flame_layout *layout = pen->layout;
	const struct tree_node *node = &pen->tree->nodes[box->node];
	uint32_t x = flame_tenths(layout, box->x0);
	unsigned font = layout->size.font;
	struct buf *out = pen->out;

	if (!fit_label(pen, node, flame_tenths(layout, box->x1) - x))
		return;
	buf_str(out, "<text");
	if (node->kind == NODE_FRAME &&
	    pen->flame->frames.rows[node->row].kind & FRAME_UNKNOWN)
		buf_str(out, " class=\"u\"");
	buf_str(out, " x=\"");
	units_fixed(out, x + 10 * LABEL_PAD, 1);
	/* Half of the row and 0.35 em below it, to half a px. */
	buf_str(out, "\" y=\"");
	units_fixed(out, 10 * flame_row_y(layout, row) +
		    (10 * layout->size.row + 7 * font) / 10 * 5, 1);
	buf_str(out, "\">");
	add_buf(out, &pen->text);
	buf_str(out, "</text>\n");
}

static void add_labels(struct pen *pen, size_t first)
{
	const struct flame_layout *layout = pen->layout;
	size_t row;
	uint32_t i;

	buf_str(pen->out, "<g class=\"labels\" xml:space=\"preserve\">\n");
	for (row = first; row < layout->nr_rows; row++)
		for (i = layout->row_start[row];
		     i < layout->row_start[row + 1]; i++)
			add_label(pen, &layout->boxes[i], row - first);
	buf_str(pen->out, "</g>\n");
}

static void add_graph(struct pen *pen)
{
	const struct flame_layout *layout = &pen->flame->layout;
	struct buf *out = pen->out;

	pen->layout = layout;
	pen->tree = &pen->flame->tree;
	buf_str(out, "<svg class=\"vp\"");
	add_attribute(out, "x", FLAME_PAD);
	add_attribute(out, "y", layout->size.top);
	add_attribute(out, "width", layout->size.graph);
	add_attribute(out, "height", layout->nr_rows * layout->size.row);
	buf_str(out, ">\n");
	add_rows(pen, 0);
	add_labels(pen, 0);
	buf_str(out, "</svg>\n");
}

/* What is only in A, hanging from its heading. */
static void add_band(struct pen *pen)
{
	const struct flame_size *size = &pen->flame->layout.size;
	struct buf *out = pen->out;

	pen->layout = &pen->flame->diff->gone_layout;
	pen->tree = &pen->flame->diff->gone;
	add_text_tag(out, "", FLAME_PAD, size->band + 3 * size->font / 2);
	buf_reset(&pen->text);
	flame_diff_heading(&pen->text, pen->flame);
	add_buf(out, &pen->text);
	buf_str(out, "</text>\n<svg class=\"only\"");
	add_attribute(out, "x", FLAME_PAD);
	add_attribute(out, "y", size->band + 2 * size->font);
	add_attribute(out, "width", pen->layout->size.graph);
	add_attribute(out, "height", (pen->layout->nr_rows - 1) * size->row);
	buf_str(out, ">\n");
	add_rows(pen, 1);
	add_labels(pen, 1);
	buf_str(out, "</svg>\n");
}

static void add_notes(struct pen *pen)
{
	const struct flame *flame = pen->flame;
	const struct flame_lines *notes = &flame->notes;
	unsigned y = flame->layout.size.footer + flame->layout.size.font;
	struct buf *out = pen->out;
	size_t start = 0, i;

	if (!note_lines(flame))
		return;
	buf_str(out, "<g class=\"foot\">\n");
	for (i = 0; i < notes->nr; i++, y += line_height(flame)) {
		add_text_tag(out, "", FLAME_PAD, y);
		xml_text(out, notes->text.data + start,
			 notes->ends[i] - start);
		buf_str(out, "</text>\n");
		start = notes->ends[i];
	}
	if (flame->nr_notes_left) {
		add_text_tag(out, "", FLAME_PAD, y);
		buf_byte(out, '+');
		buf_u64(out, flame->nr_notes_left);
		buf_str(out, " more in metadata</text>\n");
	}
	buf_str(out, "</g>\n");
}

static void add_legend_name(struct pen *pen, const struct flame_legend *entry,
			    unsigned px)
{
	const struct strtab *strings = &pen->flame->frames.strings;
	unsigned font = pen->flame->layout.size.font;

	if (entry->words)
		add_fitted(pen, entry->words, strlen(entry->words), px, font);
	else
		add_fitted(pen, strtab_text(strings, entry->name),
			   strtab_len(strings, entry->name), px, font);
}

/* The colours of the heaviest keys. */
static void add_legend(struct pen *pen)
{
	const struct flame *flame = pen->flame;
	const struct flame_size *size = &flame->layout.size;
	size_t columns = legend_columns(flame), nr = legend_shown(flame), i;
	unsigned column = size->graph / (unsigned)columns, x, y;
	struct buf *out = pen->out;

	if (!nr)
		return;
	buf_str(out, "<g class=\"legend foot\">\n");
	for (i = 0; i <= nr; i++) {
		x = FLAME_PAD + (unsigned)(i % columns) * column;
		y = size->footer + size->font +
		    (note_lines(flame) + (unsigned)(i / columns)) *
			    line_height(flame);
		if (i == nr)
			break;
		buf_str(out, "<rect class=\"");
		flame_class_name(out, &flame->palette,
				 flame->palette.legend[i].bucket);
		buf_byte(out, '"');
		add_attribute(out, "x", x);
		add_attribute(out, "y", y - size->font * 4 / 5);
		add_attribute(out, "width", size->font);
		add_attribute(out, "height", size->font);
		buf_str(out, "/>");
		add_text_tag(out, "", x + 3 * size->font / 2, y);
		add_legend_name(pen, &flame->palette.legend[i],
				column - 2 * size->font);
		buf_str(out, "</text>\n");
	}
	if (flame->palette.nr_legend > nr) {
		add_text_tag(out, "", x, y);
		buf_byte(out, '+');
		buf_u64(out, flame->palette.nr_legend - nr);
		buf_str(out, " more</text>\n");
	}
	buf_str(out, "</g>\n");
}

static void add_nothing(struct pen *pen)
{
	const struct flame_size *size = &pen->flame->layout.size;

	buf_reset(&pen->text);
	flame_nothing(&pen->text, pen->flame);
	add_middle_tag(pen->out, "st", size->top + 2 * size->font);
	add_buf(pen->out, &pen->text);
	buf_str(pen->out, "</text>\n");
}

static void add_script(struct buf *out, struct flame *flame)
{
	buf_str(out, "<script><![CDATA[");
	flame->script = out->len;
	flame_script(out);
	flame->script_end = out->len;
	buf_str(out, "]]></script>\n");
}

/* Colours that are in use must be known before the style is written. */
static void use_classes(struct flame *flame)
{
	size_t i;

	for (i = 0; i < flame->layout.nr_boxes; i++)
		flame_class_of(&flame->palette,
			       &flame->tree.nodes[flame->layout.boxes[i].node]);
	for (i = 0; i < legend_shown(flame); i++)
		flame->palette.used[flame->palette.legend[i].bucket] = true;
	if (flame->diff && flame->diff->gone_layout.nr_boxes)
		flame->palette.used[FLAME_PRUNED] = true;
}

void flame_svg(struct buf *out, struct flame *flame)
{
	unsigned height = total_height(flame);
	struct pen pen = { .out = out, .flame = flame };

	shortener_init(&pen.shortener);
	buf_init(&pen.name, PTRDIFF_MAX);
	buf_init(&pen.text, PTRDIFF_MAX);
	use_classes(flame);
	flame->height = height;
	add_root_tag(out, flame, height);
	add_head(&pen);
	add_header(&pen);
	if (flame->tree.nodes[0].weight)
		add_graph(&pen);
	else
		add_nothing(&pen);
	if (flame->layout.size.band)
		add_band(&pen);
	if (flame->tree.nodes[0].weight) {
		add_notes(&pen);
		add_legend(&pen);
	}
	if (!flame->opts->no_script)
		add_script(out, flame);
	buf_str(out, "</svg>\n");
	shortener_fini(&pen.shortener);
	buf_fini(&pen.name);
	buf_fini(&pen.text);
}
