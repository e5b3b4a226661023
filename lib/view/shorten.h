/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of functions made shorter by their structure: first the parameters
 * go, then template arguments, then leading scopes one by one, and only what
 * is left is cut.
 */
#ifndef VIEW_SHORTEN_H
#define VIEW_SHORTEN_H

#include "base/buf.h"

/* Where the last resort cuts, marked by one ellipsis. */
enum shorten_cut {
	SHORTEN_CUT_END = 0,
	SHORTEN_CUT_START /* the end of the name is never lost */
};

/* Scratch space, reused from name to name. */
struct shortener {
	struct buf short_name;
};

void shortener_init(struct shortener *shortener);
void shortener_fini(struct shortener *shortener);

/*
 * Append to `out` the fullest form of the masked name (see text_mask()) that
 * takes at most `cells` cells; nothing when `cells` is 0.
 */
void shorten_fit(struct shortener *shortener, struct buf *out,
		 const char *name, size_t len, size_t cells,
		 enum shorten_cut cut);

/* The same for text without structure: cut at its end when too long. */
void shorten_plain(struct buf *out, const char *text, size_t len,
		   size_t cells);

/* Append the name without its parameters and template arguments. */
void shorten_strip(struct buf *out, const char *name, size_t len);

#endif
