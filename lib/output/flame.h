/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the flame graph writer share: the picture under way.
 */
#ifndef OUTPUT_FLAME_H
#define OUTPUT_FLAME_H

#include "base/buf.h"
#include "output/flame_color.h"
#include "output/flame_layout.h"

/* Most bytes of a name in a tooltip; the rest is an ellipsis. */
#define FLAME_NAME_BYTES 4096

/* Lines of text, one after the other, each with its length. */
struct flame_lines {
	struct buf text;
	size_t *ends; /* [nr] */
	size_t nr, cap;
};

struct flame {
	const struct pprof_profile *profile;
	const struct pprof_flame_opts *opts; /* no defaults left in it */
	const char *type;           /* of the values */
	const char *unit;
	struct frames frames;
	struct tree tree;
	struct tree_cut cut;        /* weight 0: within the frame budget */
	struct flame_layout layout;
	struct flame_palette palette;
	struct buf title;           /* as shown, not yet escaped */
	struct flame_lines notes;   /* footer, wrapped to the width */
	size_t nr_notes_left;       /* wrapped lines beyond the last */
	char id[16];                /* of this picture: prefix of all ids */
};

/* flame_text.c: words. */

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

/* flame_svg.c: the document. */

/* Append all of it. */
void flame_svg(struct buf *out, struct flame *flame);

#endif
