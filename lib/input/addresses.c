/* SPDX-License-Identifier: Apache-2.0
 *
 * Cache of locations by address, and stacks of addresses out of text.
 */
#include <config.h>

#include "input/addresses.h"

#include "base/mem.h"
#include "input/text.h"

#include <endian.h>

#define FIRST_SLOTS 1024

void addresses_init(struct addresses *a, struct builder *out)
{
	memset(a, 0, sizeof(*a));
	a->out = out;
}

void addresses_fini(struct addresses *a)
{
	mem_free(a->slots);
	mem_free(a->frames);
}

static bool grow_slots(struct addresses *a)
{
	size_t nr = a->slots ? (a->mask + 1) * 2 : FIRST_SLOTS, i, k;
	struct address_slot *slots = mem_zalloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (i = 0; a->slots && i <= a->mask; i++) {
		if (!a->slots[i].loc)
			continue;
		k = hash_u64(a->slots[i].address) & (nr - 1);
		while (slots[k].loc)
			k = (k + 1) & (nr - 1);
		slots[k] = a->slots[i];
	}
	mem_free(a->slots);
	a->slots = slots;
	a->mask = nr - 1;
	return true;
}

loc_id addresses_find(struct addresses *a, uint64_t address, map_id map)
{
	struct address_slot *slot;
	loc_id loc;
	size_t i;

	if (a->nr * 2 >= a->mask && !grow_slots(a))
		return ID_FAILED;
	i = hash_u64(address) & a->mask;
	for (; a->slots[i].loc; i = (i + 1) & a->mask) {
		slot = &a->slots[i];
		if (slot->address == address && slot->map == map)
			return slot->loc;
	}
	loc = builder_location(a->out, address, map, false, NULL, 0);
	if (loc == ID_FAILED)
		return ID_FAILED;
	slot = &a->slots[i];
	slot->address = address;
	slot->map = map;
	slot->loc = loc;
	a->nr++;
	return loc;
}

bool addresses_start(struct addresses *a, size_t nr)
{
	a->nr_frames = 0;
	return mem_grow(a->frames, a->cap_frames, nr,
			SIZE_MAX / sizeof(*a->frames));
}

bool addresses_push_loc(struct addresses *a, loc_id loc)
{
	if (loc == ID_FAILED ||
	    (a->nr_frames == a->cap_frames &&
	     !mem_grow(a->frames, a->cap_frames, a->nr_frames + 1,
		       SIZE_MAX / sizeof(*a->frames))))
		return false;
	a->frames[a->nr_frames++] = loc;
	return true;
}

bool addresses_push(struct addresses *a, uint64_t pc, bool is_exact,
		    enum pprof_unit unit, uint64_t where)
{
	if (!pc) {
		if (!a->nr_null++) {
			a->null_unit = unit;
			a->null_where = where;
		}
		return true;
	}
	return addresses_push_loc(a, addresses_get(a, is_exact ? pc : pc - 1,
						   0));
}

/* Value of a hexadecimal digit, 0x10 for every other byte. */
static const uint8_t hex_values[256] = {
#define NONE4 0x10, 0x10, 0x10, 0x10
#define NONE16 NONE4, NONE4, NONE4, NONE4
	NONE16, NONE16, NONE16,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x10, NONE4,
	0x10, 10, 11, 12, 13, 14, 15, 0x10, NONE4, NONE4,
	NONE16,
	0x10, 10, 11, 12, 13, 14, 15, 0x10, NONE4, NONE4,
	NONE16,
	NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16,
#undef NONE16
#undef NONE4
};

#define BYTES(value) (UINT64_C(0x0101010101010101) * (value))

/*
 * Eight hexadecimal digits at once, in the bytes of a word. False when one of
 * them is no digit. For bytes below 0x80, adding 0x80 - c sets the high bit
 * from c on.
 */
static bool parse_eight(const char *p, uint64_t *ret)
{
	uint64_t v, lower, digit, letter;

	memcpy(&v, p, sizeof(v));
	v = le64toh(v);
	lower = v | BYTES(0x20);
	digit = (v + BYTES(0x80 - '0')) & ~(v + BYTES(0x7f - '9'));
	letter = (lower + BYTES(0x80 - 'a')) & ~(lower + BYTES(0x7f - 'f'));
	if ((v & BYTES(0x80)) ||
	    ((digit | letter) & BYTES(0x80)) != BYTES(0x80))
		return false;
	v = (v & BYTES(0x0f)) + (v >> 6 & BYTES(0x01)) * 9;
	v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v << 8 | v >> 16) & UINT64_C(0x0000ffff0000ffff);
	*ret = (v << 16 | v >> 32) & UINT64_C(0xffffffff);
	return true;
}

/* The hottest loop of the text readers. */
bool addresses_parse(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos, *first;
	uint64_t value = 0;
	unsigned digit;

	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	first = p;
	if (end - p >= 8 && parse_eight(p, &value))
		p += 8;
	while (p < end) {
		digit = hex_values[(unsigned char)*p];
		if (digit > 15)
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
		p++;
	}
	if (p == first || (p < end && !is_space(*p)))
		return false;
	*pos = p;
	*ret = value;
	return true;
}

/* Addresses that are parsed before the first of them is looked up. */
#define PARSED_AHEAD 8

/* A parsed address whose slot is on its way into the cache. */
struct waiting_address {
	uint64_t pc;
	size_t slot;   /* its home, for a mask of `mask` */
	size_t mask;
	bool is_exact;
};

/* Put it at the outer end of the stack. False: the builder failed. */
static inline bool push_waiting(struct addresses *a,
				const struct waiting_address *w, uint64_t line)
{
	const struct address_slot *slot;

	if (a->slots && w->mask == a->mask && w->pc) {
		slot = &a->slots[w->slot];
		/* There is room: addresses_start() was told the most. */
		if (slot->loc && slot->address == w->pc - !w->is_exact &&
		    !slot->map) {
			a->frames[a->nr_frames++] = slot->loc;
			return true;
		}
	}
	return addresses_push(a, w->pc, w->is_exact, PPROF_UNIT_LINE, line);
}

enum addresses_result addresses_take_line(struct addresses *a, const char *p,
					  const char *end, uint64_t line,
					  enum leaf_kind leaf,
					  const char **ret_bad)
{
	struct waiting_address waiting[PARSED_AHEAD], *next;
	size_t nr = 0, i;
	uint64_t pc;

	/* A frame takes at least two bytes of a line: a blank and a digit. */
	if (!addresses_start(a, (size_t)(end - p) / 2 + 1))
		return ADDRESSES_FAILED;
	for (p = skip_blanks(p, end); p < end; p = skip_blanks(p, end)) {
		*ret_bad = p;
		if (!addresses_parse(&p, end, &pc))
			return ADDRESSES_BAD;
		next = &waiting[nr % PARSED_AHEAD];
		if (nr >= PARSED_AHEAD && !push_waiting(a, next, line))
			return ADDRESSES_FAILED;
		next->pc = pc;
		next->is_exact = leaf == ALL_EXACT ||
				 (leaf == LEAF_EXACT && !nr);
		next->mask = a->mask;
		next->slot = hash_u64(pc - !next->is_exact) & a->mask;
		if (a->slots)
			__builtin_prefetch(&a->slots[next->slot]);
		nr++;
	}
	for (i = nr > PARSED_AHEAD ? nr - PARSED_AHEAD : 0; i < nr; i++) {
		if (!push_waiting(a, &waiting[i % PARSED_AHEAD], line))
			return ADDRESSES_FAILED;
	}
	return ADDRESSES_OK;
}

enum pprof_status addresses_check_depth(const struct addresses *a,
					struct cursor *in,
					enum pprof_unit unit, uint64_t where)
{
	if (a->nr_frames <= a->out->limits->frames)
		return PPROF_OK;
	return cursor_fail_at(in, PPROF_LIMIT, unit, where,
			      "stack has %zu frames, more than the limit "
			      "frames (%u)", a->nr_frames,
			      a->out->limits->frames);
}

void addresses_tell(const struct addresses *a, struct diags *diags)
{
	diag_count_nr(diags, a->null_unit, a->null_where, a->nr_null,
		      "null frame is left out");
}
