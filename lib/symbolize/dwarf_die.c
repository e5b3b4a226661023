/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of attributes by form, and how to step over entries. Every offset
 * is checked where it is used.
 */
#include <config.h>

#include "symbolize/dwarf_die.h"

#include <dwarf.h>

/* Longest name or path taken from a file; a longer one counts as broken. */
#define MAX_TEXT ((size_t)1 << 20)

static uint64_t read_block(struct dwarf_cursor *cursor, uint64_t nr)
{
	dwarf_skip(cursor, nr);
	return nr;
}

void dwarf_read_form(const struct dwarf_unit *unit, uint16_t form,
		     struct dwarf_cursor *cursor, struct dwarf_value *value)
{
	value->form = form;
	value->u = 0;
	value->text = "";
	switch (form) { /* a table: DWARF 5, 7.5.6 */
	case DW_FORM_addr:
		value->u = dwarf_uint(cursor, unit->addr_size);
		break;
	case DW_FORM_ref_addr:
		value->u = dwarf_uint(cursor, unit->version == 2 ?
				      unit->addr_size : unit->off_size);
		break;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		value->u = dwarf_uint(cursor, unit->off_size);
		break;
	case DW_FORM_flag_present:
		value->u = 1;
		break;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		value->u = dwarf_u8(cursor);
		break;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		value->u = dwarf_u16(cursor);
		break;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		value->u = dwarf_u24(cursor);
		break;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		value->u = dwarf_u32(cursor);
		break;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		value->u = dwarf_u64(cursor);
		break;
	case DW_FORM_data16:
		value->u = read_block(cursor, 16);
		break;
	case DW_FORM_sdata:
		value->u = (uint64_t)dwarf_sleb(cursor);
		break;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		value->u = dwarf_uleb(cursor);
		break;
	case DW_FORM_string:
		value->text = dwarf_text(cursor);
		break;
	case DW_FORM_block1:
		value->u = read_block(cursor, dwarf_u8(cursor));
		break;
	case DW_FORM_block2:
		value->u = read_block(cursor, dwarf_u16(cursor));
		break;
	case DW_FORM_block4:
		value->u = read_block(cursor, dwarf_u32(cursor));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		value->u = read_block(cursor, dwarf_uleb(cursor));
		break;
	case 0x2001: /* DW_FORM_LLVM_addrx_offset */
		value->u = dwarf_uleb(cursor);
		dwarf_skip(cursor, 4);
		break;
	default:
		dwarf_fail(cursor);
		break;
	}
}

static uint16_t read_indirect(struct dwarf_cursor *cursor)
{
	uint64_t form = dwarf_uleb(cursor);

	/* Neither may stand behind DW_FORM_indirect twice or without value. */
	if (form > UINT16_MAX || form == DW_FORM_indirect ||
	    form == DW_FORM_implicit_const) {
		dwarf_fail(cursor);
		return 0;
	}
	return (uint16_t)form;
}

bool dwarf_read_attrs(const struct dwarf_unit *unit,
		      const struct dwarf_abbrevs *table,
		      const struct dwarf_abbrev *abbrev,
		      struct dwarf_cursor *cursor, struct dwarf_attrs *attrs)
{
	struct dwarf_value ignored, *value;
	uint32_t i;

	attrs->has = 0;
	for (i = 0; i < abbrev->nr_attrs; i++) {
		const struct dwarf_attr *attr = &table->attrs[abbrev->attr + i];
		uint16_t form = attr->form;

		value = attr->slot ? &attrs->values[attr->slot] : &ignored;
		attrs->has |= (uint32_t)1 << attr->slot;
		if (form == DW_FORM_implicit_const) {
			value->form = form;
			value->u = (uint64_t)attr->implicit;
			continue;
		}
		if (form == DW_FORM_indirect)
			form = read_indirect(cursor);
		dwarf_read_form(unit, form, cursor, value);
	}
	return !cursor->failed;
}

static void skip_indirect(const struct dwarf_unit *unit,
			  struct dwarf_cursor *cursor)
{
	struct dwarf_value ignored;

	dwarf_read_form(unit, read_indirect(cursor), cursor, &ignored);
}

static void run_op(const struct dwarf_unit *unit, const struct dwarf_op *op,
		   struct dwarf_cursor *cursor)
{
	switch ((enum dwarf_op_kind)op->kind) {
	case OP_FIXED:
	case OP_SIBLING:
		dwarf_skip(cursor, op->nr);
		break;
	case OP_LEB:
		dwarf_skip_leb(cursor);
		break;
	case OP_TEXT:
		dwarf_text(cursor);
		break;
	case OP_BLOCK:
		dwarf_skip(cursor, dwarf_uint(cursor, op->nr));
		break;
	case OP_BLOCK_LEB:
		dwarf_skip(cursor, dwarf_uleb(cursor));
		break;
	case OP_INDIRECT:
		skip_indirect(unit, cursor);
		break;
	}
}

void dwarf_skip_slow(const struct dwarf_unit *unit,
		     const struct dwarf_abbrevs *table,
		     const struct dwarf_abbrev *abbrev,
		     struct dwarf_cursor *cursor, bool to_sibling,
		     bool *ret_jumped)
{
	const struct dwarf_op *op = table->ops + abbrev->op;
	const struct dwarf_op *end = op + abbrev->nr_ops;

	for (; op < end; op++) {
		if (to_sibling && op->kind == OP_SIBLING) {
			dwarf_jump(unit, cursor, dwarf_uint(cursor, op->nr));
			*ret_jumped = true;
			return;
		}
		run_op(unit, op, cursor);
	}
}

bool dwarf_skip_children(const struct dwarf_unit *unit,
			 const struct dwarf_abbrevs *table,
			 struct dwarf_cursor *cursor)
{
	uint64_t depth = 1;

	while (depth) {
		uint64_t code = dwarf_uleb(cursor);
		const struct dwarf_abbrev *abbrev;
		bool jumped;

		if (cursor->failed)
			return false;
		if (!code) {
			depth--;
			continue;
		}
		abbrev = dwarf_abbrevs_find(table, code);
		if (!abbrev)
			return false;
		dwarf_skip_attrs(unit, table, abbrev, cursor,
				 abbrev->has_children, &jumped);
		if (abbrev->has_children && !jumped)
			depth++;
	}
	return true;
}

/* The string at `offset` of a section, or "". */
static const char *section_text(const struct dwarf_file *file,
				enum dwarf_section section, uint64_t offset)
{
	struct dwarf_cursor cursor;
	const char *text;

	if (!file)
		return "";
	cursor = dwarf_section_at(file, section, offset);
	if (dwarf_left(&cursor) > MAX_TEXT)
		cursor.end = cursor.p + MAX_TEXT;
	text = dwarf_text(&cursor);
	return text;
}

/* String `index` through .debug_str_offsets. */
static const char *indexed_text(const struct dwarf_unit *unit, uint64_t index)
{
	struct dwarf_cursor cursor;

	if (index > UINT32_MAX)
		return "";
	cursor = dwarf_section_at(unit->file, DWARF_STR_OFFSETS,
				  unit->str_offsets_base);
	dwarf_skip(&cursor, index * unit->off_size);
	index = dwarf_uint(&cursor, unit->off_size);
	return cursor.failed ? "" : section_text(unit->file, DWARF_STR, index);
}

const char *dwarf_value_text(const struct dwarf_unit *unit,
			     const struct dwarf_value *value)
{
	switch (value->form) {
	case DW_FORM_string:
		return value->text;
	case DW_FORM_strp:
		return section_text(unit->file, DWARF_STR, value->u);
	case DW_FORM_line_strp:
		return section_text(unit->file, DWARF_LINE_STR, value->u);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return section_text(unit->file->alt, DWARF_STR, value->u);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_text(unit, value->u);
	default:
		return "";
	}
}

/* Address `index` of .debug_addr, which stays in the skeleton's file. */
static bool indexed_address(const struct dwarf_unit *unit, uint64_t index,
			    uint64_t *ret)
{
	const struct dwarf_unit *owner = unit->skeleton ? unit->skeleton
							: unit;
	struct dwarf_cursor cursor;

	if (index > UINT32_MAX)
		return false;
	cursor = dwarf_section_at(owner->file, DWARF_ADDR, owner->addr_base);
	dwarf_skip(&cursor, index * unit->addr_size);
	*ret = dwarf_uint(&cursor, unit->addr_size);
	return !cursor.failed;
}

bool dwarf_value_address(const struct dwarf_unit *unit,
			 const struct dwarf_value *value, uint64_t *ret)
{
	switch (value->form) {
	case DW_FORM_addr:
		*ret = value->u;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return indexed_address(unit, value->u, ret);
	default:
		return false;
	}
}

/* An entry at an offset of a whole .debug_info section. */
static bool die_in_file(const struct dwarf_file *file, uint64_t offset,
			struct dwarf_die *ret)
{
	if (!file)
		return false;
	ret->unit = dwarf_file_find_unit(file, offset);
	if (!ret->unit)
		return false;
	ret->offset = offset - ret->unit->offset;
	return ret->offset >= ret->unit->first_die;
}

bool dwarf_value_die(const struct dwarf_unit *unit,
		     const struct dwarf_value *value, struct dwarf_die *ret)
{
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		ret->unit = unit;
		ret->offset = value->u;
		return value->u >= unit->first_die && value->u < unit->size;
	case DW_FORM_ref_addr:
		return die_in_file(unit->file, value->u, ret);
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return die_in_file(unit->file->alt, value->u, ret);
	case DW_FORM_ref_sig8:
		ret->unit = dwarf_file_find_type(unit->file, value->u);
		if (!ret->unit)
			return false;
		ret->offset = ret->unit->type_offset;
		return ret->offset >= ret->unit->first_die &&
		       ret->offset < ret->unit->size;
	default:
		return false;
	}
}

uint32_t dwarf_value_u32(const struct dwarf_attrs *attrs, enum dwarf_slot slot)
{
	uint64_t value = dwarf_has(attrs, slot) ? attrs->values[slot].u : 0;

	return value > UINT32_MAX ? 0 : (uint32_t)value;
}
