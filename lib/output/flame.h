/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the flame graph writer share: the picture under way.
 */
#ifndef OUTPUT_FLAME_H
#define OUTPUT_FLAME_H

#include "base/buf.h"
#include "output/flame_color.h"
#include "output/flame_layout.h"
#include "view/difftree.h"

/* Most bytes of a name in a tooltip; the rest is an ellipsis. */
#define FLAME_NAME_BYTES 4096

/* Lines of text, one after the other, each with its length. */
struct flame_lines {
	struct buf text;
	size_t *ends; /* [nr] */
	size_t nr, cap;
};

/* What a differential picture has in addition. */
struct flame_diff {
	struct diff sides;
	struct tree gone;   /* only in A; empty unless widths are B's */
	struct flame_layout gone_layout;
	double gone_shrink; /* > 1: drawn smaller than the graph */
	double scale;       /* of A's values */
	struct buf subtitle;
};

struct flame {
	const struct pprof_profile *profile;
	const struct pprof_profile *base; /* NULL: not given */
	const struct pprof_flame_opts *opts; /* no defaults left in it */
	const char *type;           /* of the values */
	const char *unit;
	const char *noun;           /* as units_noun() takes it */
	bool is_part;               /* of a larger picture */
	unsigned part_y;            /* top of it there, px */
	struct frames frames;
	struct tree tree;
	struct tree_cut cut;        /* weight 0: within the frame budget */
	struct flame_layout layout;
	struct flame_palette palette;
	struct buf title;           /* as shown, not yet escaped */
	struct flame_lines notes;   /* footer, wrapped to the width */
	size_t nr_notes_left;       /* wrapped lines beyond the last */
	char id[16];                /* of this picture: prefix of all ids */
	struct flame_diff *diff;    /* NULL: one profile */
	size_t style, style_end;    /* where they stand in the document */
	size_t script, script_end;
	unsigned height;            /* of the picture, px; once drawn */
};

/* flame.c: options with their defaults. OK, USAGE. */
enum pprof_status flame_take_opts(struct pprof_flame_opts *taken,
				  const struct pprof_flame_opts *opts,
				  struct pprof_error *err);

/* flame_text.c: words. */

/* Base name of the main binary, or "". */
const char *flame_binary_name(const struct pprof_profile *p);

/* Set title and notes; false when out of memory. */
bool flame_compose(struct flame *flame);
void flame_lines_fini(struct flame_lines *lines);

/* Append a node's value in words, "at least" when it was clamped. */
void flame_value(struct buf *out, const struct flame *flame,
		 const struct tree_node *node);

/* Append the name shown for a node, masked; never empty. */
void flame_node_name(struct buf *out, const struct flame *flame,
		     const struct tree_node *node);

/* Append the summary for <desc>, not escaped. */
void flame_summary(struct buf *out, const struct flame *flame);

/* Append the JSON of <metadata>, escaped. */
void flame_metadata(struct buf *out, const struct flame *flame);

/* Append why there is no graph, not escaped. */
void flame_nothing(struct buf *out, const struct flame *flame);

/* flame_diff.c: B against A. */

/* Set tree, frames and diff->gone. */
enum pprof_status flame_diff_trees(struct flame *flame,
				   const struct diff_side *base,
				   const struct diff_side *now, double share,
				   const struct frames_opts *frames_opts,
				   const struct tree_opts *tree_opts,
				   struct pprof_error *err);
void flame_diff_fini(struct flame_diff *diff);

/* Set the tint of every node. */
void flame_diff_tint(struct flame *flame);

/* Append both values and the change, three lines. */
void flame_diff_words(struct buf *out, const struct flame *flame,
		      const struct tree_node *node);

/* Append the change as it follows a name; nothing when it is noise. */
void flame_diff_suffix(struct buf *out, const struct flame *flame,
		       const struct tree_node *node);

/* Append both totals and what A was multiplied by. */
void flame_diff_subtitle(struct buf *out, const struct flame *flame);

/* Append what widths and colours mean. */
void flame_diff_note(struct buf *out, const struct flame *flame);

/* Append what stands over the frames that are only in A. */
void flame_diff_heading(struct buf *out, const struct flame *flame);

/* flame_svg.c: the document. */

/* flame_script.c: what makes it interactive. */

void flame_script_css(struct buf *out, const char *id, bool is_diff);

/* Frames that are drawn, those beside the graph with them. */
uint64_t flame_nr_drawn(const struct flame *flame);

/* Append the text of the <script> element. */
void flame_script(struct buf *out);

/* text_flame.c: the picture for a terminal. */

/* Append it; columns and colours as the options have them. */
void flame_terminal(struct buf *out, struct flame *flame);

/* Append all of the document. */
void flame_svg(struct buf *out, struct flame *flame);

#endif
