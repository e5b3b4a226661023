/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that an input gives its own addresses, in comments or in a symbol
 * section: collected while it is read, given to the locations at the end.
 */
#ifndef INPUT_ADDR_NAMES_H
#define INPUT_ADDR_NAMES_H

#include "profile/builder.h"

/* The names of one address. */
struct addr_name_row {
	uint64_t address;
	uint32_t first; /* in addr_names.lines */
	uint32_t nr;
};

struct addr_names {
	struct builder *out;
	struct addr_name_row *rows;
	size_t nr, cap;
	struct idmap index;  /* rows by address */
	struct line *lines;  /* innermost first within a row */
	size_t nr_lines, cap_lines;
};

void addr_names_init(struct addr_names *names, struct builder *out);
void addr_names_fini(struct addr_names *names);

/*
 * The address is `lines[nr]`, innermost first. What was said first about an
 * address stays. False when out of memory.
 */
__attribute__((warn_unused_result))
bool addr_names_add(struct addr_names *names, uint64_t address,
		    const struct line *lines, size_t nr);

/*
 * One function at an address; when the row made last is of the same address
 * it becomes its caller there (inlined code). False when out of memory.
 */
__attribute__((warn_unused_result))
bool addr_names_chain(struct addr_names *names, uint64_t address,
		      const struct line *line);

/* A struct line of a name and perhaps a file; func ID_FAILED on failure. */
struct line addr_names_line(struct addr_names *names, const char *name,
			    size_t name_len, const char *file,
			    size_t file_len, int64_t line);

/*
 * Go's comment "#	0xADDR	NAME+0xOFF	FILE:LINE" (src/runtime/pprof/
 * pprof.go, printStackRecord); other text after "#" is passed over. False
 * when out of memory.
 */
__attribute__((warn_unused_result))
bool addr_names_take_comment(struct addr_names *names, const char *p,
			     const char *end);

/*
 * Give each location without lines those of its address or, if asked to, of
 * the byte behind it, as where return addresses are named. Comes after the last
 * builder_location(): rows change under its index. OK or NOMEM.
 */
enum pprof_status addr_names_apply(struct addr_names *names, bool or_next);

#endif
