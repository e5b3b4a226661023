/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling abbreviation tables. A program of skips depends on the sizes of
 * offsets and addresses, so a table is keyed by them too.
 */
#include <config.h>

#include "symbolize/dwarf_abbrev.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/mem.h"

/* Bounds on one table; the largest seen have some thousand rows. */
#define MAX_ABBREVS ((size_t)1 << 20)
#define MAX_ATTRS ((size_t)1 << 22)

/*
 * Tables may overlap in the section. Reading more than this many times its
 * size means that they do so on purpose.
 */
#define MAX_REREAD 16
#define FREE_BYTES ((uint64_t)4 << 20)

#define FORM_LLVM_ADDRX_OFFSET 0x2001

static enum dwarf_slot slot_of(uint64_t name)
{
	switch (name) { /* a table: one row an attribute */
	case DW_AT_name: return SLOT_NAME;
	case DW_AT_linkage_name: return SLOT_LINKAGE_NAME;
	case DW_AT_MIPS_linkage_name: return SLOT_LINKAGE_NAME;
	case DW_AT_low_pc: return SLOT_LOW_PC;
	case DW_AT_high_pc: return SLOT_HIGH_PC;
	case DW_AT_ranges: return SLOT_RANGES;
	case DW_AT_abstract_origin: return SLOT_ORIGIN;
	case DW_AT_specification: return SLOT_SPECIFICATION;
	case DW_AT_signature: return SLOT_SIGNATURE;
	case DW_AT_decl_line: return SLOT_DECL_LINE;
	case DW_AT_call_file: return SLOT_CALL_FILE;
	case DW_AT_call_line: return SLOT_CALL_LINE;
	case DW_AT_call_column: return SLOT_CALL_COLUMN;
	case DW_AT_stmt_list: return SLOT_STMT_LIST;
	case DW_AT_comp_dir: return SLOT_COMP_DIR;
	case DW_AT_language: return SLOT_LANGUAGE;
	case DW_AT_dwo_name: return SLOT_DWO_NAME;
	case DW_AT_GNU_dwo_name: return SLOT_DWO_NAME;
	case DW_AT_GNU_dwo_id: return SLOT_DWO_ID;
	case DW_AT_addr_base: return SLOT_ADDR_BASE;
	case DW_AT_GNU_addr_base: return SLOT_ADDR_BASE;
	case DW_AT_str_offsets_base: return SLOT_STR_OFFSETS_BASE;
	case DW_AT_rnglists_base: return SLOT_RNGLISTS_BASE;
	case DW_AT_GNU_ranges_base: return SLOT_RANGES_BASE;
	case DW_AT_sibling: return SLOT_SIBLING;
	default: return SLOT_NONE;
	}
}

static struct dwarf_op make_op(enum dwarf_op_kind kind, uint32_t nr)
{
	struct dwarf_op op = { (uint8_t)kind, nr };

	return op;
}

/* How to skip a value of `form`; false when the form is unknown. */
static bool op_of(const struct dwarf_unit *unit, uint64_t form,
		  struct dwarf_op *op)
{
	switch (form) { /* a table: DWARF 5, 7.5.6, and GNU's own */
	case DW_FORM_addr:
		*op = make_op(OP_FIXED, unit->addr_size);
		return true;
	case DW_FORM_ref_addr: /* the size of an address in DWARF 2 */
		*op = make_op(OP_FIXED, unit->version == 2 ? unit->addr_size
							   : unit->off_size);
		return true;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		*op = make_op(OP_FIXED, unit->off_size);
		return true;
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		*op = make_op(OP_FIXED, 0);
		return true;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		*op = make_op(OP_FIXED, 1);
		return true;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		*op = make_op(OP_FIXED, 2);
		return true;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		*op = make_op(OP_FIXED, 3);
		return true;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		*op = make_op(OP_FIXED, 4);
		return true;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		*op = make_op(OP_FIXED, 8);
		return true;
	case DW_FORM_data16:
		*op = make_op(OP_FIXED, 16);
		return true;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		*op = make_op(OP_LEB, 0);
		return true;
	case DW_FORM_string:
		*op = make_op(OP_TEXT, 0);
		return true;
	case DW_FORM_block1:
		*op = make_op(OP_BLOCK, 1);
		return true;
	case DW_FORM_block2:
		*op = make_op(OP_BLOCK, 2);
		return true;
	case DW_FORM_block4:
		*op = make_op(OP_BLOCK, 4);
		return true;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		*op = make_op(OP_BLOCK_LEB, 0);
		return true;
	case DW_FORM_indirect:
		*op = make_op(OP_INDIRECT, 0);
		return true;
	default:
		return false;
	}
}

static enum dwarf_kind kind_of(uint64_t tag, bool has_pc)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
		return has_pc ? DWARF_FUNC : DWARF_ABSTRACT;
	case DW_TAG_inlined_subroutine:
		return DWARF_INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return DWARF_BLOCK;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return DWARF_NAMESPACE;
	default:
		return DWARF_OTHER;
	}
}

static enum pprof_status add_op(struct dwarf_abbrevs *table,
				struct dwarf_abbrev *abbrev,
				struct dwarf_op op)
{
	struct dwarf_op *last;

	if (op.kind == OP_FIXED && !op.nr)
		return PPROF_OK;
	if (op.kind == OP_FIXED && abbrev->nr_ops) {
		last = &table->ops[table->nr_ops - 1];
		if (last->kind == OP_FIXED) {
			last->nr += op.nr;
			return PPROF_OK;
		}
	}
	if (table->nr_ops == table->cap_ops &&
	    !mem_grow(table->ops, table->cap_ops, table->nr_ops + 1,
		      MAX_ATTRS))
		return PPROF_NOMEM;
	table->ops[table->nr_ops++] = op;
	abbrev->nr_ops++;
	return PPROF_OK;
}

/* Track the running size and where the sibling reference stands. */
static void note_layout(struct dwarf_abbrev *abbrev, uint64_t name,
			const struct dwarf_op *op)
{
	if (name == DW_AT_sibling && op->kind == OP_SIBLING) {
		abbrev->fixed_sibling = abbrev->fixed_bytes;
		abbrev->sibling_bytes = (uint8_t)op->nr;
	}
	if (abbrev->fixed_bytes < 0)
		return;
	if (op->kind == OP_FIXED || op->kind == OP_SIBLING)
		abbrev->fixed_bytes += (int32_t)op->nr;
	else
		abbrev->fixed_bytes = -1;
}

static enum pprof_status add_attr(const struct dwarf_unit *unit,
				  struct dwarf_abbrevs *table,
				  struct dwarf_abbrev *abbrev, uint64_t name,
				  uint64_t form, int64_t implicit)
{
	struct dwarf_attr attr = { (uint16_t)form, (uint8_t)slot_of(name),
				   implicit };
	enum pprof_status status;
	struct dwarf_op op;

	if (form == FORM_LLVM_ADDRX_OFFSET) {
		/* An index and a four-byte offset: two steps. */
		op = make_op(OP_LEB, 0);
		note_layout(abbrev, name, &op);
		status = add_op(table, abbrev, op);
		if (status)
			return status;
		op = make_op(OP_FIXED, 4);
	} else if (form > UINT16_MAX || !op_of(unit, form, &op)) {
		return PPROF_FORMAT;
	}
	if (name == DW_AT_sibling && op.kind == OP_FIXED &&
	    (op.nr == 1 || op.nr == 2 || op.nr == 4 || op.nr == 8) &&
	    form != DW_FORM_ref_addr)
		op.kind = OP_SIBLING;
	if (name == DW_AT_low_pc || name == DW_AT_ranges)
		abbrev->has_pc = true;
	note_layout(abbrev, name, &op);
	if (table->nr_attrs == table->cap_attrs &&
	    !mem_grow(table->attrs, table->cap_attrs, table->nr_attrs + 1,
		      MAX_ATTRS))
		return PPROF_NOMEM;
	table->attrs[table->nr_attrs++] = attr;
	abbrev->nr_attrs++;
	return add_op(table, abbrev, op);
}

/* Read the attribute list of one abbreviation. */
static enum pprof_status read_attrs(const struct dwarf_unit *unit,
				    struct dwarf_cursor *cursor,
				    struct dwarf_abbrevs *table,
				    struct dwarf_abbrev *abbrev)
{
	abbrev->attr = (uint32_t)table->nr_attrs;
	abbrev->op = (uint32_t)table->nr_ops;
	for (;;) {
		uint64_t name = dwarf_uleb(cursor);
		uint64_t form = dwarf_uleb(cursor);
		enum pprof_status status;
		int64_t implicit = 0;

		if (form == DW_FORM_implicit_const)
			implicit = dwarf_sleb(cursor);
		if (cursor->failed)
			return PPROF_FORMAT;
		if (!name && !form)
			return PPROF_OK;
		status = add_attr(unit, table, abbrev, name, form, implicit);
		if (status)
			return status;
	}
}

static enum pprof_status read_abbrev(const struct dwarf_unit *unit,
				     struct dwarf_cursor *cursor,
				     uint64_t code,
				     struct dwarf_abbrevs *table)
{
	struct dwarf_abbrev *abbrev;
	enum pprof_status status;
	uint64_t tag;

	if (!mem_grow(table->rows, table->cap_rows, table->nr_rows + 1,
		      MAX_ABBREVS))
		return PPROF_NOMEM;
	abbrev = &table->rows[table->nr_rows++];
	memset(abbrev, 0, sizeof(*abbrev));
	abbrev->code = code;
	abbrev->fixed_sibling = -1;
	tag = dwarf_uleb(cursor);
	abbrev->tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	abbrev->has_children = dwarf_u8(cursor);
	status = read_attrs(unit, cursor, table, abbrev);
	abbrev->kind = (uint8_t)kind_of(tag, abbrev->has_pc);
	if (code != table->nr_rows)
		table->is_dense = false;
	return status;
}

static int compare_codes(const void *a, const void *b)
{
	const struct dwarf_abbrev *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

const struct dwarf_abbrev *
dwarf_abbrevs_search(const struct dwarf_abbrevs *table, uint64_t code)
{
	struct dwarf_abbrev key;

	if (!table->nr_rows)
		return NULL;
	key.code = code;
	return bsearch(&key, table->rows, table->nr_rows, sizeof(key),
		       compare_codes);
}

static uint32_t key_of(const struct dwarf_unit *unit)
{
	return (uint32_t)(unit->off_size | unit->addr_size << 8 |
			  (unit->version == 2) << 16);
}

/* Empty, keeping the storage. */
static void reset_table(const struct dwarf_unit *unit,
			struct dwarf_abbrevs *table)
{
	table->nr_rows = 0;
	table->nr_attrs = 0;
	table->nr_ops = 0;
	table->file = unit->file;
	table->offset = unit->abbrev_offset;
	table->key = key_of(unit);
	table->is_dense = true;
}

void dwarf_abbrevs_fini(struct dwarf_abbrevs *table)
{
	mem_free(table->rows);
	mem_free(table->attrs);
	mem_free(table->ops);
}

/* Bytes that may be read from the abbreviations of `file` in all. */
static uint64_t byte_budget(const struct dwarf_file *file)
{
	return file->sections[DWARF_ABBREV].size * MAX_REREAD + FREE_BYTES;
}

enum pprof_status dwarf_abbrev_read_one(const struct dwarf_unit *unit,
					uint64_t code,
					struct dwarf_abbrevs *table,
					uint64_t *nr_bytes)
{
	struct dwarf_cursor cursor = dwarf_section_at(unit->file,
						      DWARF_ABBREV,
						      unit->abbrev_offset);
	const uint8_t *start = cursor.p;
	enum pprof_status status = PPROF_FORMAT;
	uint64_t here;

	reset_table(unit, table);
	if (*nr_bytes > byte_budget(unit->file))
		return PPROF_FORMAT;
	while (!cursor.failed) {
		here = dwarf_uleb(&cursor);
		if (!here)
			break;
		table->nr_rows = 0;
		table->nr_attrs = 0;
		table->nr_ops = 0;
		status = read_abbrev(unit, &cursor, here, table);
		if (here == code || status)
			break;
		status = PPROF_FORMAT;
	}
	*nr_bytes += (uint64_t)(cursor.p - start);
	table->is_dense = code == 1;
	return status;
}

static enum pprof_status compile(const struct dwarf_unit *unit,
				 struct dwarf_abbrevs *table,
				 uint64_t *nr_bytes)
{
	struct dwarf_cursor cursor = dwarf_section_at(unit->file,
						      DWARF_ABBREV,
						      unit->abbrev_offset);
	const uint8_t *start = cursor.p;
	enum pprof_status status = PPROF_OK;
	uint64_t code;

	reset_table(unit, table);
	while (!status) {
		code = dwarf_uleb(&cursor);
		if (!code)
			break;
		status = read_abbrev(unit, &cursor, code, table);
	}
	*nr_bytes += (uint64_t)(cursor.p - start);
	if (!status && cursor.failed)
		status = PPROF_FORMAT;
	if (!status && !table->is_dense)
		qsort(table->rows, table->nr_rows, sizeof(*table->rows),
		      compare_codes);
	return status;
}

static uint64_t hash_of(uint64_t offset, uint32_t key, uint32_t file)
{
	return hash_u64(offset ^ (uint64_t)key << 40 ^ (uint64_t)file << 57);
}

static uint64_t hash_table(const void *ctx, uint32_t id)
{
	const struct dwarf_abbrev_cache *cache = ctx;
	const struct dwarf_abbrevs *table = cache->tables[id];

	return hash_of(table->offset, table->key, table->file->id);
}

static enum pprof_status add_table(struct dwarf_abbrev_cache *cache,
				   const struct dwarf_unit *unit,
				   uint64_t hash,
				   const struct dwarf_abbrevs **ret)
{
	struct dwarf_abbrevs *table;
	enum pprof_status status;

	if (cache->nr_bytes > byte_budget(unit->file))
		return PPROF_FORMAT;
	if (!mem_grow(cache->tables, cache->cap, cache->nr + 1, UINT32_MAX))
		return PPROF_NOMEM;
	table = mem_zalloc(1, sizeof(*table));
	if (!table)
		return PPROF_NOMEM;
	status = compile(unit, table, &cache->nr_bytes);
	if (status) {
		dwarf_abbrevs_fini(table);
		mem_free(table);
		return status;
	}
	cache->tables[cache->nr] = table;
	idmap_put(&cache->map, hash, (uint32_t)cache->nr++);
	*ret = table;
	return PPROF_OK;
}

enum pprof_status dwarf_abbrev_cache_get(struct dwarf_abbrev_cache *cache,
					 const struct dwarf_unit *unit,
					 const struct dwarf_abbrevs **ret)
{
	const uint32_t key = key_of(unit);
	const uint64_t hash = hash_of(unit->abbrev_offset, key,
				      unit->file->id);
	uint32_t id;
	size_t slot;

	if (!idmap_reserve(&cache->map, hash_table, cache))
		return PPROF_NOMEM;
	for (slot = idmap_first(&cache->map, hash);
	     (id = cache->map.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&cache->map, slot)) {
		const struct dwarf_abbrevs *table = cache->tables[id];

		if (table->offset == unit->abbrev_offset &&
		    table->key == key && table->file == unit->file) {
			*ret = table;
			return PPROF_OK;
		}
	}
	return add_table(cache, unit, hash, ret);
}

static void free_tables(struct dwarf_abbrev_cache *cache, size_t from)
{
	while (cache->nr > from) {
		struct dwarf_abbrevs *table = cache->tables[--cache->nr];

		dwarf_abbrevs_fini(table);
		mem_free(table);
	}
}

void dwarf_abbrev_cache_drop(struct dwarf_abbrev_cache *cache,
			     const struct dwarf_file *file)
{
	size_t i, kept = 0;

	for (i = 0; i < cache->nr; i++) {
		struct dwarf_abbrevs *table = cache->tables[i];

		if (table->file == file) {
			dwarf_abbrevs_fini(table);
			mem_free(table);
		} else {
			cache->tables[kept++] = table;
		}
	}
	cache->nr = kept;
	/* The index is rebuilt by refilling it. */
	cache->map.nr = 0;
	for (i = 0; cache->map.slots && i <= cache->map.mask; i++)
		cache->map.slots[i] = IDMAP_FREE;
	for (i = 0; i < kept; i++)
		idmap_put(&cache->map, hash_table(cache, (uint32_t)i),
			  (uint32_t)i);
}

void dwarf_abbrev_cache_fini(struct dwarf_abbrev_cache *cache)
{
	free_tables(cache, 0);
	mem_free(cache->tables);
	idmap_fini(&cache->map);
}
