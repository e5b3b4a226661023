/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours of a flame graph as CSS classes: the ink stays legible on every
 * box in light, dark, print and forced colours.
 */
#ifndef OUTPUT_FLAME_COLOR_H
#define OUTPUT_FLAME_COLOR_H

#include "base/buf.h"
#include "output/flame_layout.h"

/* Classes that a scheme deals out: h0 .. h31, or those of differences. */
#define FLAME_BUCKETS 32

/* Classes after those. */
enum flame_class {
	FLAME_ROOT = FLAME_BUCKETS,
	FLAME_UNKNOWN,  /* no name, or a separator: grey */
	FLAME_PRUNED,   /* folded frames */
	FLAME_NEGATIVE, /* below zero: hatched */
	FLAME_NR_CLASSES
};

/* Buckets of a differential picture. */
enum flame_tint {
	TINT_GREW = 0,        /* 8 steps, the palest first */
	TINT_SHRANK = 8,      /* likewise */
	TINT_SAME = 16,
	TINT_NEW,
	TINT_GONE,
	TINT_NR
};
#define TINT_STEPS 8

/* An entry of the legend: text of the frames, or words of ours. */
struct flame_legend {
	str_id name;       /* in frames.strings, when words is NULL */
	const char *words;
	unsigned bucket;
	uint64_t weight;   /* sum of |self| of its frames */
};

struct flame_palette {
	enum pprof_colors colors;  /* never AUTO */
	enum pprof_colors strip;   /* likewise: the kind of profile */
	bool is_diff;              /* buckets are enum flame_tint */
	uint32_t light[FLAME_NR_CLASSES]; /* 0xrrggbb */
	uint32_t dark[FLAME_NR_CLASSES];
	bool used[FLAME_NR_CLASSES];
	uint8_t *bucket;           /* [frames.nr] class of each frame */
	struct flame_legend *legend; /* heaviest first; where keys are few */
	size_t nr_legend;
};

/* Ink on boxes, in every theme. */
#define FLAME_INK 0x1a1a1au

/* Colours by name that `type` and `unit` of the values suggest. */
enum pprof_colors flame_auto_colors(const char *type, const char *unit);

/*
 * OK, NOMEM; flame_palette_fini() after either. New strings may come into
 * `frames`.
 */
enum pprof_status flame_palette_init(struct flame_palette *palette,
				     enum pprof_colors colors,
				     enum pprof_colors strip,
				     struct frames *frames,
				     const struct tree *tree,
				     struct pprof_error *err);

/* The same for differences: each node's tint is its bucket. */
enum pprof_status flame_palette_diff(struct flame_palette *palette,
				     enum pprof_colors strip,
				     struct pprof_error *err);
void flame_palette_fini(struct flame_palette *palette);

/* flame_scheme.c: buckets of frames and the legend; false: out of memory. */
bool flame_scheme_init(struct flame_palette *palette, struct frames *frames,
		       const struct tree *tree);

/* Class of a node; marks it as used. */
unsigned flame_class_of(struct flame_palette *palette,
			const struct tree_node *node);

/* Append the class's name. */
void flame_class_name(struct buf *out, const struct flame_palette *palette,
		      unsigned class_id);

/* Append the style sheet, every rule under #id. */
void flame_css(struct buf *out, const struct flame_palette *palette,
	       const struct pprof_flame_opts *opts, const char *id,
	       const struct flame_size *size);

#endif
