/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of folded stacks: a name to the location that stands for it.
 */
#ifndef INPUT_FOLDED_NAMES_H
#define INPUT_FOLDED_NAMES_H

#include "profile/builder.h"

/* A name met lately, in a cache line of its own. */
struct known_name {
	loc_id loc;    /* 0: none */
	uint32_t len;
	char text[56];
};

/*
 * Most frames of a file are found among the names met lately with one look
 * at memory; others are interned.
 */
struct folded_names {
	struct builder *out;      /* borrowed */
	struct known_name *known; /* by hash, a few a place */
	loc_id *loc_of_str;       /* [cap_locs] by name, 0 not yet made */
	size_t cap_locs;
};

/* A name that is being looked up; the text is borrowed. */
struct folded_name {
	const char *text;
	size_t len;
	struct known_name *known; /* its place, the one met last first */
};

/* False when out of memory; folded_names_fini() after either. */
bool folded_names_init(struct folded_names *names, struct builder *out);
void folded_names_fini(struct folded_names *names);

/*
 * Begin to look up a name, empty for the frame between two semicolons: its
 * place is on the way from memory while others are begun.
 */
void folded_names_meet(const struct folded_names *names,
		       struct folded_name *name, const char *text, size_t len);

/* Its location, made on first sight; ID_FAILED after a failure. */
loc_id folded_names_location(struct folded_names *names,
			     const struct folded_name *name);

/* The same of a name that the builder has; ID_FAILED for ID_FAILED. */
loc_id folded_names_add(struct folded_names *names, str_id id);

#endif
