/* SPDX-License-Identifier: Apache-2.0
 *
 * Geometry of a flame graph: which boxes are drawn, where, and how large the
 * picture is. Horizontal places are integers in units of the graph's width,
 * so that neighbours abut and children never stick out.
 */
#ifndef OUTPUT_FLAME_LAYOUT_H
#define OUTPUT_FLAME_LAYOUT_H

#include "view/tree.h"

/* Units across the graph. */
#define FLAME_UNITS 1000000u

/* Blank at each side, px. */
#define FLAME_PAD 10u

/* Width of a cell of the widest common monospace font (DejaVu), in em. */
#define FLAME_ADVANCE 0.602

/* Of any other font, on the safe side for most names. */
#define FLAME_ADVANCE_OTHER 0.68

struct flame_box {
	uint32_t node; /* of the tree */
	uint32_t x0;   /* units */
	uint32_t x1;   /* units, beyond x0 */
};

struct flame_size {
	unsigned width;      /* of the picture, px */
	unsigned graph;      /* of the graph, px */
	unsigned font;       /* px */
	unsigned small;      /* font of the footer, px */
	unsigned row;        /* height of a row, px */
	double advance;      /* of a character cell, em */
	unsigned top;        /* of the first row, px */
	unsigned details;    /* baseline of the details line, px */
	unsigned footer;     /* top of the footer, px */
	unsigned strip;      /* top of the colour strip, px */
	unsigned band;       /* top of what is only in A, px; 0: nothing */
};

struct flame_layout {
	struct flame_size size;
	struct flame_box *boxes;  /* row by row, left to right */
	size_t nr_boxes;
	uint32_t *row_start;      /* [nr_rows + 1] into boxes */
	size_t nr_rows;
	uint64_t nr_drawn;        /* boxes that are a frame */
	bool icicle;
};

/*
 * Place the tree's nodes; folded ones that weigh less than `min_weight` are
 * left out. OK, NOMEM; flame_layout_fini() after either.
 */
enum pprof_status flame_layout_init(struct flame_layout *layout,
				    const struct tree *tree,
				    uint64_t min_weight,
				    struct pprof_error *err);
void flame_layout_fini(struct flame_layout *layout);

/* Set layout->size; needs the rows and what stands above the graph. */
void flame_layout_measure(struct flame_layout *layout,
			  const struct pprof_flame_opts *opts, bool has_title,
			  bool has_subtitle);

/* The font that opts->font names has characters of one width. */
bool flame_is_monospace(const char *font);

/* Top of the row of `depth` within the graph, px. */
unsigned flame_row_y(const struct flame_layout *layout, size_t depth);

/* Half a px in units: what wide boxes leave free at their right edge. */
uint32_t flame_gap(const struct flame_layout *layout);

/* Units as tenths of a px. */
uint32_t flame_tenths(const struct flame_layout *layout, uint32_t units);

#endif
