/* SPDX-License-Identifier: Apache-2.0
 *
 * Line number programs, DWARF 2 to 5, run once past sorted addresses; rows
 * are never stored. And the paths that their tables of files spell.
 */
#ifndef SYMBOLIZE_LINES_H
#define SYMBOLIZE_LINES_H

#include "base/buf.h"
#include "symbolize/dwarf_file.h"
#include "symbolize/text_areas.h"

struct line_row {
	uint32_t sequence; /* 0: no row covers the address */
	uint32_t file;     /* by the table's own numbering */
	uint32_t line;
	uint32_t column;
};

struct line_file {
	const char *name;
	uint64_t dir;
};

/* A program's header; lives as long as the unit's file. */
struct line_table {
	struct dwarf_unit unit; /* with the sizes of this program */
	struct dwarf_cursor program;
	const uint8_t *lengths; /* operands of the standard opcodes */
	uint16_t version;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	const char **dirs;
	size_t nr_dirs, cap_dirs;
	struct line_file *files;
	size_t nr_files, cap_files;
};

/*
 * Read the header of the unit's program. OK, NOMEM, FORMAT (no message);
 * lines_fini() after OK.
 */
enum pprof_status lines_init(struct line_table *table,
			     const struct dwarf_unit *unit);
void lines_fini(struct line_table *table);

/*
 * Find the row of each of the ascending vaddrs[nr]; rows[nr] is zeroed by
 * the caller. Sequences outside `text` are passed over. OK, NOMEM, FORMAT
 * (rows found before the damage stand).
 */
enum pprof_status lines_run(struct line_table *table,
			    const struct text_areas *text,
			    const uint64_t *vaddrs, size_t nr,
			    struct line_row *rows);

/* Append the path of a file by its number; nothing when there is none. */
void lines_path(const struct line_table *table, uint64_t file,
		struct buf *out);

#endif
