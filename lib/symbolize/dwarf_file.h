/* SPDX-License-Identifier: Apache-2.0
 *
 * The debug sections of one file and its units: headers and root entries
 * are read once, when the file is opened.
 */
#ifndef SYMBOLIZE_DWARF_FILE_H
#define SYMBOLIZE_DWARF_FILE_H

#include "symbolize/dwarf_cursor.h"
#include "symbolize/elf.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ADDR,
	DWARF_STR_OFFSETS,
	DWARF_TYPES,
	DWARF_NR_SECTIONS
};

struct dwarf_file;

/* A unit of .debug_info or .debug_types. Constant once the file is open. */
struct dwarf_unit {
	const struct dwarf_file *file;
	const uint8_t *data;    /* of the unit header */
	uint64_t offset;        /* of data in its section */
	uint64_t size;          /* header included */
	uint64_t abbrev_offset;
	uint64_t dwo_id;        /* or the signature of a type unit */
	uint64_t type_offset;   /* of the type, in a type unit */
	uint64_t first_die;     /* of the root entry, in the unit */
	uint16_t version;
	uint8_t off_size;       /* 4, or 8 in 64-bit DWARF */
	uint8_t addr_size;
	uint8_t type;           /* DW_UT_*, also for versions before 5 */
	bool is_in_types;       /* in .debug_types */

	/* From the root entry. */
	bool is_readable;       /* all below was read */
	bool has_low, has_high, has_ranges, has_stmt_list;
	uint16_t ranges_form;
	uint16_t language;
	uint64_t low, high;
	uint64_t ranges;        /* offset or index, by ranges_form */
	uint64_t stmt_list;
	uint64_t addr_base, str_offsets_base, rnglists_base;
	uint64_t ranges_base;   /* DW_AT_GNU_ranges_base, for split entries */
	const char *name;       /* "" when there is none */
	const char *comp_dir;
	const char *dwo_name;

	/* Where a package keeps the unit's own part of two sections. */
	uint64_t str_offsets_start, rnglists_start;

	/* A split unit takes addresses and lines from its skeleton. */
	const struct dwarf_unit *skeleton;
	/* The split unit of a skeleton, when a package has it. */
	const struct dwarf_unit *split;
};

struct dwarf_file {
	struct elf_file *elf; /* borrowed */
	struct elf_bytes sections[DWARF_NR_SECTIONS];
	bool is_swapped;
	bool is_split;        /* .dwo sections */
	uint32_t id;          /* tells files apart in keys */
	const struct dwarf_file *alt;  /* dwz's supplementary file, or NULL */
	struct dwarf_unit *units;      /* by offset */
	size_t nr_units, cap_units;
	struct dwarf_unit *type_units; /* of .debug_types */
	size_t nr_type_units, cap_type_units;
};

/*
 * Take the debug sections of `elf` (borrowed), which may have none, and
 * read all unit headers. Sections that cannot be read count as absent and
 * are told to `diags`, as are broken headers. OK, NOMEM.
 */
enum pprof_status dwarf_file_init(struct dwarf_file *file,
				  struct elf_file *elf, bool is_split,
				  unsigned nr_threads, struct diags *diags,
				  struct pprof_error *err);

/* Read the root entries; `alt` was set before. OK, NOMEM. */
enum pprof_status dwarf_file_read_roots(struct dwarf_file *file,
					struct diags *diags,
					struct pprof_error *err);
void dwarf_file_fini(struct dwarf_file *file);

/* The unit of .debug_info that holds the entry at `offset`, or NULL. */
const struct dwarf_unit *dwarf_file_find_unit(const struct dwarf_file *file,
					      uint64_t offset);

/* The type unit with this signature, or NULL. */
const struct dwarf_unit *dwarf_file_find_type(const struct dwarf_file *file,
					      uint64_t signature);

/* A cursor over `section` from `offset`; failed when that is outside. */
static inline struct dwarf_cursor
dwarf_section_at(const struct dwarf_file *file, enum dwarf_section section,
		 uint64_t offset)
{
	static const uint8_t nothing; /* a place, so that steps of 0 have one */
	const struct elf_bytes *bytes = &file->sections[section];
	struct dwarf_cursor cursor = { &nothing, &nothing, file->is_swapped,
				       true };

	if (offset > bytes->size || !bytes->data)
		return cursor;
	cursor.p = bytes->data + offset;
	cursor.end = bytes->data + bytes->size;
	cursor.failed = false;
	return cursor;
}

/* A cursor over the unit from the entry at `offset` in it. */
static inline struct dwarf_cursor dwarf_unit_at(const struct dwarf_unit *unit,
						uint64_t offset)
{
	struct dwarf_cursor cursor = { unit->data, unit->data + unit->size,
				       unit->file->is_swapped, false };

	dwarf_skip(&cursor, offset);
	return cursor;
}

#endif
