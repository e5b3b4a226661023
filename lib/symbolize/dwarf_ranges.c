/* SPDX-License-Identifier: Apache-2.0
 *
 * Address ranges of entries and units: low and high, .debug_ranges of
 * DWARF 3 and 4, .debug_rnglists of DWARF 5.
 */
#include <config.h>

#include "symbolize/dwarf_die.h"

#include <dwarf.h>

enum {
	RANGES_NONE = 0,
	RANGES_PAIR,
	RANGES_V4,
	RANGES_V5
};

/* All bits of an address of this unit: selects a base, or marks the dead. */
static uint64_t max_address(const struct dwarf_unit *unit)
{
	return unit->addr_size >= 8 ? UINT64_MAX
				    : ((uint64_t)1 << 8 * unit->addr_size) - 1;
}

/* lld writes -1, and -2 where -1 has a meaning. */
static bool is_tombstone(const struct dwarf_unit *unit, uint64_t address)
{
	return address >= max_address(unit) - 1;
}

static void set_base(struct dwarf_ranges *ranges, uint64_t base)
{
	ranges->base = base;
	ranges->is_base_dead = is_tombstone(ranges->unit, base);
}

/* The position of a list in .debug_rnglists. */
static uint64_t rnglist_offset(const struct dwarf_unit *unit, uint16_t form,
			       uint64_t value)
{
	struct dwarf_cursor cursor;

	if (form != DW_FORM_rnglistx)
		return value;
	if (value > UINT32_MAX)
		return UINT64_MAX;
	cursor = dwarf_section_at(unit->file, DWARF_RNGLISTS,
				  unit->rnglists_base);
	dwarf_skip(&cursor, value * unit->off_size);
	value = dwarf_uint(&cursor, unit->off_size);
	return cursor.failed ? UINT64_MAX : unit->rnglists_base + value;
}

static void init_list(struct dwarf_ranges *ranges, uint16_t form,
		      uint64_t value)
{
	const struct dwarf_unit *unit = ranges->unit;
	const struct dwarf_unit *skeleton = unit->skeleton;

	set_base(ranges, skeleton ? skeleton->low : unit->low);
	if (unit->version >= 5) {
		ranges->kind = RANGES_V5;
		ranges->cursor = dwarf_section_at(unit->file, DWARF_RNGLISTS,
						  rnglist_offset(unit, form,
								 value));
		return;
	}
	ranges->kind = RANGES_V4;
	/* GNU's split units: lists stay behind, offsets are relative. */
	if (skeleton)
		ranges->cursor = dwarf_section_at(skeleton->file, DWARF_RANGES,
						  value +
						  skeleton->ranges_base);
	else
		ranges->cursor = dwarf_section_at(unit->file, DWARF_RANGES,
						  value);
}

/* High is an address, or a constant relative to low from DWARF 4 on. */
static bool high_address(const struct dwarf_unit *unit,
			 const struct dwarf_value *value, uint64_t low,
			 uint64_t *ret)
{
	if (dwarf_value_address(unit, value, ret))
		return true;
	if (value->form == DW_FORM_GNU_addr_index ||
	    value->form == DW_FORM_addrx)
		return false;
	*ret = low + value->u;
	return true;
}

void dwarf_ranges_init(struct dwarf_ranges *ranges,
		       const struct dwarf_unit *unit,
		       const struct dwarf_attrs *attrs)
{
	const struct dwarf_value *values = attrs->values;

	memset(ranges, 0, sizeof(*ranges));
	ranges->unit = unit;
	if (dwarf_has(attrs, SLOT_RANGES)) {
		init_list(ranges, values[SLOT_RANGES].form,
			  values[SLOT_RANGES].u);
	} else if (dwarf_has(attrs, SLOT_LOW_PC) &&
		   dwarf_has(attrs, SLOT_HIGH_PC) &&
		   dwarf_value_address(unit, &values[SLOT_LOW_PC],
				       &ranges->low) &&
		   high_address(unit, &values[SLOT_HIGH_PC], ranges->low,
				&ranges->high) &&
		   !is_tombstone(unit, ranges->low)) {
		ranges->kind = RANGES_PAIR;
	}
}

void dwarf_ranges_init_unit(struct dwarf_ranges *ranges,
			    const struct dwarf_unit *unit)
{
	memset(ranges, 0, sizeof(*ranges));
	ranges->unit = unit;
	if (unit->has_ranges) {
		init_list(ranges, unit->ranges_form, unit->ranges);
	} else if (unit->has_low && unit->has_high &&
		   !is_tombstone(unit, unit->low)) {
		ranges->kind = RANGES_PAIR;
		ranges->low = unit->low;
		ranges->high = unit->high;
	}
}

/* DWARF 4, 2.17.3: pairs relative to the base; (-1, x) sets the base. */
static bool next_v4(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	const uint64_t max = max_address(ranges->unit);
	struct dwarf_cursor *cursor = &ranges->cursor;

	for (;;) {
		*low = dwarf_uint(cursor, ranges->unit->addr_size);
		*high = dwarf_uint(cursor, ranges->unit->addr_size);
		if (cursor->failed || (!*low && !*high))
			return false;
		if (*low == max) {
			set_base(ranges, *high);
			continue;
		}
		/* ld.bfd leaves (1, 1) for what it discarded. */
		if (ranges->is_base_dead || is_tombstone(ranges->unit, *low) ||
		    *low >= *high)
			continue;
		*low = (*low + ranges->base) & max;
		*high = (*high + ranges->base) & max;
		if (*low < *high)
			return true;
	}
}

static uint64_t read_addrx(struct dwarf_ranges *ranges)
{
	struct dwarf_value value = { DW_FORM_addrx,
				     dwarf_uleb(&ranges->cursor), NULL };
	uint64_t address;

	if (!dwarf_value_address(ranges->unit, &value, &address))
		return UINT64_MAX; /* dead */
	return address;
}

/* One entry of DWARF 5, 7.25; false at the end of the list. */
static bool read_rle(struct dwarf_ranges *ranges, uint64_t *low,
		     uint64_t *high)
{
	struct dwarf_cursor *cursor = &ranges->cursor;
	const uint8_t addr_size = ranges->unit->addr_size;

	*low = *high = 0;
	switch (dwarf_u8(cursor)) {
	case DW_RLE_base_addressx:
		set_base(ranges, read_addrx(ranges));
		return true;
	case DW_RLE_startx_endx:
		*low = read_addrx(ranges);
		*high = read_addrx(ranges);
		return true;
	case DW_RLE_startx_length:
		*low = read_addrx(ranges);
		*high = *low + dwarf_uleb(cursor);
		return true;
	case DW_RLE_offset_pair:
		*low = ranges->base + dwarf_uleb(cursor);
		*high = ranges->base + dwarf_uleb(cursor);
		if (ranges->is_base_dead)
			*high = 0;
		return true;
	case DW_RLE_base_address:
		set_base(ranges, dwarf_uint(cursor, addr_size));
		return true;
	case DW_RLE_start_end:
		*low = dwarf_uint(cursor, addr_size);
		*high = dwarf_uint(cursor, addr_size);
		return true;
	case DW_RLE_start_length:
		*low = dwarf_uint(cursor, addr_size);
		*high = *low + dwarf_uleb(cursor);
		return true;
	default: /* DW_RLE_end_of_list, or damage */
		return false;
	}
}

static bool next_v5(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	const uint64_t max = max_address(ranges->unit);

	while (read_rle(ranges, low, high)) {
		if (ranges->cursor.failed)
			return false;
		*low &= max;
		*high &= max;
		if (*low < *high && !is_tombstone(ranges->unit, *low))
			return true;
	}
	return false;
}

bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_low,
		       uint64_t *ret_high)
{
	switch (ranges->kind) {
	case RANGES_PAIR:
		ranges->kind = RANGES_NONE;
		*ret_low = ranges->low;
		*ret_high = ranges->high;
		return ranges->low < ranges->high;
	case RANGES_V4:
		return next_v4(ranges, ret_low, ret_high);
	case RANGES_V5:
		return next_v5(ranges, ret_low, ret_high);
	default:
		return false;
	}
}
