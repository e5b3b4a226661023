/* SPDX-License-Identifier: Apache-2.0
 *
 * Abbreviation tables compiled for speed: what to do with an entry, and a
 * short program that skips its attributes.
 */
#ifndef SYMBOLIZE_DWARF_ABBREV_H
#define SYMBOLIZE_DWARF_ABBREV_H

#include "base/idmap.h"
#include "symbolize/dwarf_file.h"

/* What a walk for code does with an entry. */
enum dwarf_kind {
	DWARF_OTHER = 0,
	DWARF_FUNC,      /* function with addresses */
	DWARF_ABSTRACT,  /* function without */
	DWARF_INLINED,   /* inlined call */
	DWARF_BLOCK,     /* lexical block, try or catch block */
	DWARF_NAMESPACE
};

/* Attributes that somebody reads; a value has its slot's number. */
enum dwarf_slot {
	SLOT_NONE = 0,
	SLOT_NAME,
	SLOT_LINKAGE_NAME,
	SLOT_LOW_PC,
	SLOT_HIGH_PC,
	SLOT_RANGES,
	SLOT_ORIGIN,
	SLOT_SPECIFICATION,
	SLOT_SIGNATURE,
	SLOT_DECL_LINE,
	SLOT_CALL_FILE,
	SLOT_CALL_LINE,
	SLOT_CALL_COLUMN,
	SLOT_STMT_LIST,
	SLOT_COMP_DIR,
	SLOT_LANGUAGE,
	SLOT_DWO_NAME,
	SLOT_DWO_ID,
	SLOT_ADDR_BASE,
	SLOT_STR_OFFSETS_BASE,
	SLOT_RNGLISTS_BASE,
	SLOT_RANGES_BASE,
	SLOT_SIBLING,
	SLOT_NR
};

struct dwarf_attr {
	uint16_t form;
	uint8_t slot;
	int64_t implicit; /* DW_FORM_implicit_const */
};

enum dwarf_op_kind {
	OP_FIXED,    /* nr bytes */
	OP_LEB,
	OP_TEXT,
	OP_BLOCK,    /* length of nr bytes, then the block */
	OP_BLOCK_LEB,
	OP_INDIRECT,
	OP_SIBLING   /* reference of nr bytes to the next sibling */
};

struct dwarf_op {
	uint8_t kind;
	uint32_t nr;
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	uint8_t kind;
	bool has_children;
	bool has_pc;           /* DW_AT_low_pc or DW_AT_ranges */
	uint8_t sibling_bytes; /* size of a reference at fixed_sibling */
	int32_t fixed_sibling; /* its offset in the attributes, or -1 */
	int32_t fixed_bytes;   /* all attributes, or -1 when it varies */
	uint32_t attr, nr_attrs;
	uint32_t op, nr_ops;
};

struct dwarf_abbrevs {
	const struct dwarf_file *file;
	uint64_t offset;
	uint32_t key;     /* sizes the programs depend on */
	bool is_dense;    /* row i has code i + 1 */
	struct dwarf_abbrev *rows;
	size_t nr_rows, cap_rows;
	struct dwarf_attr *attrs;
	size_t nr_attrs, cap_attrs;
	struct dwarf_op *ops;
	size_t nr_ops, cap_ops;
};

/* Tables compiled so far. */
struct dwarf_abbrev_cache {
	struct dwarf_abbrevs **tables;
	size_t nr, cap;
	struct idmap map;
	uint64_t nr_bytes; /* read so far */
};

void dwarf_abbrev_cache_fini(struct dwarf_abbrev_cache *cache);

/* Forget the tables of one file, which is about to close. */
void dwarf_abbrev_cache_drop(struct dwarf_abbrev_cache *cache,
			     const struct dwarf_file *file);

/* The table of a unit. OK, NOMEM, FORMAT; FORMAT leaves no message. */
enum pprof_status dwarf_abbrev_cache_get(struct dwarf_abbrev_cache *cache,
					 const struct dwarf_unit *unit,
					 const struct dwarf_abbrevs **ret);

/*
 * Compile only the abbreviation of one code, into a table that is zeroed or
 * of earlier use. Adds the bytes read to *nr_bytes. OK, NOMEM, FORMAT (no
 * such code).
 */
enum pprof_status dwarf_abbrev_read_one(const struct dwarf_unit *unit,
					uint64_t code,
					struct dwarf_abbrevs *table,
					uint64_t *nr_bytes);
void dwarf_abbrevs_fini(struct dwarf_abbrevs *table);

const struct dwarf_abbrev *
dwarf_abbrevs_search(const struct dwarf_abbrevs *table, uint64_t code);

/* The abbreviation of `code` (not 0), or NULL. */
static inline const struct dwarf_abbrev *
dwarf_abbrevs_find(const struct dwarf_abbrevs *table, uint64_t code)
{
	if (table->is_dense)
		return code - 1 < table->nr_rows ? &table->rows[code - 1]
						 : NULL;
	return dwarf_abbrevs_search(table, code);
}

#endif
