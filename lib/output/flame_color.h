/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours of a flame graph as CSS classes: the ink stays legible on every
 * box in light, dark, print and forced colours.
 */
#ifndef OUTPUT_FLAME_COLOR_H
#define OUTPUT_FLAME_COLOR_H

#include "base/buf.h"
#include "output/flame_layout.h"

/* Hashed classes h0 .. h31. */
#define FLAME_BUCKETS 32

/* Classes after the hashed ones. */
enum flame_class {
	FLAME_ROOT = FLAME_BUCKETS,
	FLAME_UNKNOWN,  /* no name, or a separator: grey */
	FLAME_PRUNED,   /* folded frames */
	FLAME_NEGATIVE, /* below zero: hatched */
	FLAME_NR_CLASSES
};

/* A module in the legend. */
struct flame_legend {
	str_id module;   /* in frames.strings */
	unsigned bucket;
	uint64_t weight; /* sum of |self| of its frames */
};

struct flame_palette {
	enum pprof_colors colors;  /* never AUTO */
	enum pprof_colors strip;   /* likewise: the kind of profile */
	uint32_t light[FLAME_NR_CLASSES]; /* 0xrrggbb */
	uint32_t dark[FLAME_NR_CLASSES];
	bool used[FLAME_NR_CLASSES];
	uint8_t *bucket;           /* [frames.nr] class of each frame */
	struct flame_legend *legend; /* heaviest first; module colours only */
	size_t nr_legend;
};

/* Ink on boxes, in every theme. */
#define FLAME_INK 0x1a1a1au

/* Colours by name that `type` and `unit` of the values suggest. */
enum pprof_colors flame_auto_colors(const char *type, const char *unit);

/* OK, NOMEM; flame_palette_fini() after either. */
enum pprof_status flame_palette_init(struct flame_palette *palette,
				     enum pprof_colors colors,
				     enum pprof_colors strip,
				     const struct frames *frames,
				     const struct tree *tree,
				     struct pprof_error *err);
void flame_palette_fini(struct flame_palette *palette);

/* Class of a node; marks it as used. */
unsigned flame_class_of(struct flame_palette *palette,
			const struct tree_node *node);

/* Append the class's name. */
void flame_class_name(struct buf *out, unsigned class_id);

/* Append the style sheet, every rule under #id. */
void flame_css(struct buf *out, const struct flame_palette *palette,
	       enum pprof_theme theme, const char *id,
	       const struct flame_size *size);

#endif
