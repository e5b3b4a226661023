/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading one debugging entry: its attribute values, references, strings and
 * address ranges; and skipping entries that are not wanted.
 */
#ifndef SYMBOLIZE_DWARF_DIE_H
#define SYMBOLIZE_DWARF_DIE_H

#include "symbolize/dwarf_abbrev.h"

/* A raw value: what it means depends on the form. */
struct dwarf_value {
	uint16_t form;
	uint64_t u;       /* number, offset or index */
	const char *text; /* DW_FORM_string */
};

/* The attributes of an entry that have slots. */
struct dwarf_attrs {
	uint32_t has; /* bit 1 << slot */
	struct dwarf_value values[SLOT_NR];
};

static inline bool dwarf_has(const struct dwarf_attrs *attrs,
			     enum dwarf_slot slot)
{
	return attrs->has >> slot & 1;
}

/* An entry: `offset` counts from the unit's header. */
struct dwarf_die {
	const struct dwarf_unit *unit;
	uint64_t offset;
};

/* Read one value; `form` is neither indirect nor an implicit constant. */
void dwarf_read_form(const struct dwarf_unit *unit, uint16_t form,
		     struct dwarf_cursor *cursor, struct dwarf_value *value);

/* Read the attributes at the cursor, which moves behind them. */
bool dwarf_read_attrs(const struct dwarf_unit *unit,
		      const struct dwarf_abbrevs *table,
		      const struct dwarf_abbrev *abbrev,
		      struct dwarf_cursor *cursor, struct dwarf_attrs *attrs);

/* Go to a sibling at `offset` of the unit, which must lie ahead. */
static inline void dwarf_jump(const struct dwarf_unit *unit,
			      struct dwarf_cursor *cursor, uint64_t offset)
{
	if (offset >= unit->size || unit->data + offset <= cursor->p)
		dwarf_fail(cursor);
	else
		cursor->p = unit->data + offset;
}

/* dwarf_skip_attrs() where the layout varies. */
void dwarf_skip_slow(const struct dwarf_unit *unit,
		     const struct dwarf_abbrevs *table,
		     const struct dwarf_abbrev *abbrev,
		     struct dwarf_cursor *cursor, bool to_sibling,
		     bool *ret_jumped);

/*
 * Skip the attributes at the cursor; with `to_sibling`, and a sibling
 * reference there, the whole entry with its children. Sets *ret_jumped then.
 */
static inline void dwarf_skip_attrs(const struct dwarf_unit *unit,
				    const struct dwarf_abbrevs *table,
				    const struct dwarf_abbrev *abbrev,
				    struct dwarf_cursor *cursor,
				    bool to_sibling, bool *ret_jumped)
{
	*ret_jumped = false;
	if (to_sibling && abbrev->fixed_sibling >= 0) {
		dwarf_skip(cursor, (uint64_t)abbrev->fixed_sibling);
		dwarf_jump(unit, cursor,
			   dwarf_uint(cursor, abbrev->sibling_bytes));
		*ret_jumped = true;
	} else if (abbrev->fixed_bytes >= 0) {
		dwarf_skip(cursor, (uint64_t)abbrev->fixed_bytes);
	} else {
		dwarf_skip_slow(unit, table, abbrev, cursor, to_sibling,
				ret_jumped);
	}
}

/*
 * Skip what is left of the children after attributes were read or skipped:
 * up to and with the terminating null entry. False on damage.
 */
bool dwarf_skip_children(const struct dwarf_unit *unit,
			 const struct dwarf_abbrevs *table,
			 struct dwarf_cursor *cursor);

/* The unit's string, or "" where it is absent or broken. */
const char *dwarf_value_text(const struct dwarf_unit *unit,
			     const struct dwarf_value *value);

/* An address of class address; false when it cannot be looked up. */
bool dwarf_value_address(const struct dwarf_unit *unit,
			 const struct dwarf_value *value, uint64_t *ret);

/* The entry referred to; false for dangling references. */
bool dwarf_value_die(const struct dwarf_unit *unit,
		     const struct dwarf_value *value, struct dwarf_die *ret);

/* A number that fits a line or column, else 0. */
uint32_t dwarf_value_u32(const struct dwarf_attrs *attrs,
			 enum dwarf_slot slot);

/* Walks over the ranges of an entry; empty ones are passed over. */
struct dwarf_ranges {
	const struct dwarf_unit *unit;
	struct dwarf_cursor cursor;
	uint64_t low, high;
	uint64_t base;
	uint8_t kind;
	bool is_base_dead; /* the base is a linker's tombstone */
};

void dwarf_ranges_init(struct dwarf_ranges *ranges,
		       const struct dwarf_unit *unit,
		       const struct dwarf_attrs *attrs);

/* The same from what the unit's root entry said. */
void dwarf_ranges_init_unit(struct dwarf_ranges *ranges,
			    const struct dwarf_unit *unit);

/* Next range with low < high; false at the end. */
bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_low,
		       uint64_t *ret_high);

#endif
