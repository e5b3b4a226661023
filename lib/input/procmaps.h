/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory maps as text, in every shape that dumps carry: /proc/PID/maps,
 * cooked "start-end: path", Go's brief form, FreeBSD's. Becomes mappings.
 */
#ifndef INPUT_PROCMAPS_H
#define INPUT_PROCMAPS_H

#include "base/cursor.h"
#include "profile/builder.h"

/* One parsed line. Texts point into the line. */
struct procmaps_entry {
	uint64_t start;
	uint64_t limit;       /* not checked against start */
	uint64_t offset;
	const char *path;     /* may hold blanks; \012 is not yet decoded */
	size_t path_len;
	const char *build_id; /* NULL: none on the line */
	size_t build_id_len;
	bool is_code;         /* x permission, or a shape without them */
};

/* False when the line is none of the shapes. A final CR is no part of it. */
bool procmaps_parse_line(const char *text, size_t len,
			 struct procmaps_entry *ret);

/*
 * Read lines up to the end of the input into `out` as mappings (ranges that
 * hold no code get MAP_NOT_CODE, the main binary MAP_MAIN), then give every
 * location without a mapping the one that holds its address. Lines that are
 * none are counted in out->diags. OK unless the builder or cursor failed;
 * FORMAT, in the cursor too, when a second profile begins.
 */
enum pprof_status procmaps_read(struct cursor *in, struct builder *out);

/*
 * Assign mappings to locations from what the builder holds already. Comes
 * after the last builder_location(): rows change under its index.
 */
enum pprof_status procmaps_assign(struct builder *out);

#endif
