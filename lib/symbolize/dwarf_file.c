/* SPDX-License-Identifier: Apache-2.0
 *
 * Unit headers and root entries of a file's debug sections. Everything that
 * threads share later is settled here, once.
 */
#include <config.h>

#include "symbolize/dwarf_file.h"

#include <dwarf.h>

#include "base/mem.h"
#include "symbolize/dwarf_die.h"

/* Browsers have some 50,000 units. */
#define MAX_UNITS ((size_t)1 << 20)

static const char *const section_names[2][DWARF_NR_SECTIONS] = {
	{
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_str",
		".debug_line_str", ".debug_ranges", ".debug_rnglists",
		".debug_addr", ".debug_str_offsets", ".debug_types"
	},
	{
		".debug_info.dwo", ".debug_abbrev.dwo", ".debug_line.dwo",
		".debug_str.dwo", ".debug_line_str.dwo", ".debug_ranges.dwo",
		".debug_rnglists.dwo", ".debug_addr.dwo",
		".debug_str_offsets.dwo", ".debug_types.dwo"
	}
};

static enum pprof_status take_sections(struct dwarf_file *file,
				       unsigned nr_threads,
				       struct diags *diags,
				       struct pprof_error *err)
{
	const char *const *names = section_names[file->is_split];
	struct pprof_error why;
	enum pprof_status status;
	size_t i;

	elf_file_prefetch(file->elf, names, DWARF_NR_SECTIONS, nr_threads);
	for (i = 0; i < DWARF_NR_SECTIONS; i++) {
		status = elf_file_section(file->elf, names[i],
					  &file->sections[i], &why);
		if (status == PPROF_NOMEM)
			return error_nomem(err);
		if (status) {
			memset(&file->sections[i], 0,
			       sizeof(file->sections[i]));
			diag_count(diags, PPROF_UNIT_NONE, 0,
				   "%s: debug section left out: %s",
				   why.source, why.message);
		}
	}
	return PPROF_OK;
}

/* What stands between the version and the root entry. */
static void read_header(struct dwarf_cursor *cursor, struct dwarf_unit *unit)
{
	unit->version = dwarf_u16(cursor);
	if (unit->version >= 5) {
		unit->type = dwarf_u8(cursor);
		unit->addr_size = dwarf_u8(cursor);
		unit->abbrev_offset = dwarf_uint(cursor, unit->off_size);
	} else {
		unit->type = unit->is_in_types ? DW_UT_type : DW_UT_compile;
		unit->abbrev_offset = dwarf_uint(cursor, unit->off_size);
		unit->addr_size = dwarf_u8(cursor);
	}
	switch (unit->type) {
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		unit->dwo_id = dwarf_u64(cursor);
		break;
	case DW_UT_type:
	case DW_UT_split_type:
		unit->dwo_id = dwarf_u64(cursor);
		unit->type_offset = dwarf_uint(cursor, unit->off_size);
		break;
	default:
		break;
	}
}

static bool is_known(const struct dwarf_unit *unit)
{
	return unit->version >= 2 && unit->version <= 5 &&
	       (unit->addr_size == 8 || unit->addr_size == 4 ||
		unit->addr_size == 2);
}

static enum pprof_status scan_units(struct dwarf_file *file,
				    enum dwarf_section section,
				    struct dwarf_unit **units, size_t *nr,
				    size_t *cap, struct diags *diags,
				    struct pprof_error *err)
{
	struct dwarf_cursor cursor = dwarf_section_at(file, section, 0);
	const uint8_t *start = cursor.p;

	while (!cursor.failed && dwarf_left(&cursor)) {
		struct dwarf_unit unit = { 0 };
		struct dwarf_cursor head;
		uint64_t length;

		unit.file = file;
		unit.data = cursor.p;
		unit.offset = (uint64_t)(cursor.p - start);
		unit.is_in_types = section == DWARF_TYPES;
		length = dwarf_initial_length(&cursor, &unit.off_size);
		head = cursor;
		dwarf_skip(&cursor, length);
		if (cursor.failed) {
			diag_count(diags, PPROF_UNIT_BYTE, unit.offset,
				   "debug unit reaches beyond its section");
			break;
		}
		head.end = cursor.p;
		unit.size = (uint64_t)(cursor.p - unit.data);
		read_header(&head, &unit);
		unit.first_die = (uint64_t)(head.p - unit.data);
		if (head.failed || !is_known(&unit)) {
			/* Zeros between units are a linker's padding. */
			if (length)
				diag_count(diags, PPROF_UNIT_BYTE, unit.offset,
					   "debug unit of an unknown kind "
					   "(version %u)", unit.version);
			continue;
		}
		if (*nr == MAX_UNITS) {
			diag_count(diags, PPROF_UNIT_BYTE, unit.offset,
				   "more than %zu debug units", MAX_UNITS);
			break;
		}
		if (!mem_grow(*units, *cap, *nr + 1, MAX_UNITS))
			return error_nomem(err);
		(*units)[(*nr)++] = unit;
	}
	return PPROF_OK;
}

enum pprof_status dwarf_file_init(struct dwarf_file *file,
				  struct elf_file *elf, bool is_split,
				  unsigned nr_threads, struct diags *diags,
				  struct pprof_error *err)
{
	enum pprof_status status;

	memset(file, 0, sizeof(*file));
	file->elf = elf;
	file->is_swapped = elf_file_is_swapped(elf);
	file->is_split = is_split;
	status = take_sections(file, nr_threads, diags, err);
	if (status)
		return status;
	status = scan_units(file, DWARF_INFO, &file->units, &file->nr_units,
			    &file->cap_units, diags, err);
	if (status)
		return status;
	return scan_units(file, DWARF_TYPES, &file->type_units,
			  &file->nr_type_units, &file->cap_type_units, diags,
			  err);
}

void dwarf_file_fini(struct dwarf_file *file)
{
	mem_free(file->units);
	mem_free(file->type_units);
	file->units = file->type_units = NULL;
	file->nr_units = file->cap_units = 0;
	file->nr_type_units = file->cap_type_units = 0;
}

static uint64_t base_or(const struct dwarf_attrs *attrs, enum dwarf_slot slot,
			uint64_t otherwise)
{
	return dwarf_has(attrs, slot) ? attrs->values[slot].u : otherwise;
}

/*
 * Bases first: forms with indexes need them. Without an attribute the list
 * starts behind its header (DWARF 5, 7.3.2), or at 0 in GNU's older scheme.
 */
static void take_bases(struct dwarf_unit *unit,
		       const struct dwarf_attrs *attrs)
{
	const bool is_5 = unit->version >= 5;
	const uint64_t head = unit->off_size == 8 ? 16 : 8;

	unit->str_offsets_base = unit->str_offsets_start +
		base_or(attrs, SLOT_STR_OFFSETS_BASE, is_5 ? head : 0);
	unit->addr_base = base_or(attrs, SLOT_ADDR_BASE, is_5 ? head : 0);
	unit->rnglists_base = unit->rnglists_start +
		base_or(attrs, SLOT_RNGLISTS_BASE, is_5 ? head + 4 : 0);
	unit->ranges_base = base_or(attrs, SLOT_RANGES_BASE, 0);
}

static const char *text_of(const struct dwarf_unit *unit,
			   const struct dwarf_attrs *attrs,
			   enum dwarf_slot slot)
{
	return dwarf_has(attrs, slot) ?
		dwarf_value_text(unit, &attrs->values[slot]) : "";
}

static void take_root(struct dwarf_unit *unit, const struct dwarf_attrs *attrs)
{
	const struct dwarf_value *values = attrs->values;
	const struct dwarf_value *high = &values[SLOT_HIGH_PC];

	take_bases(unit, attrs);
	unit->name = text_of(unit, attrs, SLOT_NAME);
	unit->comp_dir = text_of(unit, attrs, SLOT_COMP_DIR);
	unit->dwo_name = text_of(unit, attrs, SLOT_DWO_NAME);
	unit->has_low = dwarf_has(attrs, SLOT_LOW_PC) &&
			dwarf_value_address(unit, &values[SLOT_LOW_PC],
					    &unit->low);
	if (unit->has_low && dwarf_has(attrs, SLOT_HIGH_PC)) {
		unit->has_high = true;
		if (!dwarf_value_address(unit, high, &unit->high))
			unit->high = unit->low + high->u;
	}
	unit->has_ranges = dwarf_has(attrs, SLOT_RANGES);
	if (unit->has_ranges) {
		unit->ranges = values[SLOT_RANGES].u;
		unit->ranges_form = values[SLOT_RANGES].form;
	}
	unit->has_stmt_list = dwarf_has(attrs, SLOT_STMT_LIST);
	if (unit->has_stmt_list)
		unit->stmt_list = values[SLOT_STMT_LIST].u;
	if (dwarf_has(attrs, SLOT_LANGUAGE))
		unit->language = (uint16_t)values[SLOT_LANGUAGE].u;
	if (dwarf_has(attrs, SLOT_DWO_ID))
		unit->dwo_id = values[SLOT_DWO_ID].u;
}

static enum pprof_status read_root(struct dwarf_unit *unit,
				   struct dwarf_abbrevs *scratch,
				   uint64_t *nr_bytes)
{
	struct dwarf_cursor cursor = dwarf_unit_at(unit, unit->first_die);
	uint64_t code = dwarf_uleb(&cursor);
	enum pprof_status status;
	struct dwarf_attrs attrs;

	unit->name = unit->comp_dir = unit->dwo_name = "";
	if (cursor.failed || !code)
		return PPROF_FORMAT;
	status = dwarf_abbrev_read_one(unit, code, scratch, nr_bytes);
	if (status)
		return status;
	if (!dwarf_read_attrs(unit, scratch, &scratch->rows[0], &cursor,
			      &attrs))
		return PPROF_FORMAT;
	take_root(unit, &attrs);
	/* What dwz shares has no code, whatever the header calls it. */
	if (scratch->rows[0].tag == DW_TAG_partial_unit)
		unit->type = DW_UT_partial;
	unit->is_readable = true;
	return PPROF_OK;
}

static enum pprof_status read_roots(struct dwarf_unit *units, size_t nr,
				    struct diags *diags)
{
	struct dwarf_abbrevs scratch = { 0 };
	enum pprof_status status = PPROF_OK;
	uint64_t nr_bytes = 0;
	size_t i;

	for (i = 0; i < nr && status != PPROF_NOMEM; i++) {
		status = read_root(&units[i], &scratch, &nr_bytes);
		if (status == PPROF_FORMAT)
			diag_count(diags, PPROF_UNIT_BYTE, units[i].offset,
				   "debug unit without a readable root entry");
	}
	dwarf_abbrevs_fini(&scratch);
	return status == PPROF_NOMEM ? status : PPROF_OK;
}

enum pprof_status dwarf_file_read_roots(struct dwarf_file *file,
					struct diags *diags,
					struct pprof_error *err)
{
	if (read_roots(file->units, file->nr_units, diags) ||
	    read_roots(file->type_units, file->nr_type_units, diags))
		return error_nomem(err);
	return PPROF_OK;
}

const struct dwarf_unit *dwarf_file_find_unit(const struct dwarf_file *file,
					      uint64_t offset)
{
	size_t lo = 0, hi = file->nr_units;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct dwarf_unit *unit = &file->units[mid];

		if (offset < unit->offset)
			hi = mid;
		else if (offset - unit->offset >= unit->size)
			lo = mid + 1;
		else
			return unit->is_readable ? unit : NULL;
	}
	return NULL;
}

static const struct dwarf_unit *find_signature(const struct dwarf_unit *units,
					       size_t nr, uint64_t signature)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (units[i].dwo_id == signature && units[i].is_readable &&
		    (units[i].type == DW_UT_type ||
		     units[i].type == DW_UT_split_type))
			return &units[i];
	}
	return NULL;
}

const struct dwarf_unit *dwarf_file_find_type(const struct dwarf_file *file,
					      uint64_t signature)
{
	const struct dwarf_unit *unit;

	unit = find_signature(file->type_units, file->nr_type_units,
			      signature);
	return unit ? unit : find_signature(file->units, file->nr_units,
					    signature);
}
