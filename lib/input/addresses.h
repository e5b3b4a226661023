/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of addresses as text readers meet them: parsing one address,
 * finding its location again without the builder's index, and collecting
 * the frames of the stack at hand.
 */
#ifndef INPUT_ADDRESSES_H
#define INPUT_ADDRESSES_H

#include "base/cursor.h"
#include "profile/builder.h"

/* What the first address of a stack is. */
enum leaf_kind {
	LEAF_EXACT,  /* the interrupted instruction: taken as it stands */
	LEAF_RETURN, /* a return address like all others */
	ALL_EXACT    /* as are all others: none is a return address */
};

struct address_slot {
	uint64_t address; /* of the location */
	map_id map;
	loc_id loc;       /* 0: free */
};

struct addresses {
	struct builder *out;
	struct address_slot *slots; /* [mask + 1] */
	size_t mask;
	size_t nr;
	loc_id *frames;             /* of the stack at hand, leaf first */
	size_t nr_frames;
	size_t cap_frames;
	uint64_t nr_null;           /* null addresses left out */
	enum pprof_unit null_unit;  /* where the first one was */
	uint64_t null_where;
};

void addresses_init(struct addresses *a, struct builder *out);
void addresses_fini(struct addresses *a);

/* Location of an address of a mapping, without lines. ID_FAILED: builder. */
loc_id addresses_find(struct addresses *a, uint64_t address, map_id map);

static inline loc_id addresses_get(struct addresses *a, uint64_t address,
				   map_id map)
{
	const struct address_slot *slot;

	if (a->slots) {
		slot = &a->slots[hash_u64(address) & a->mask];
		if (slot->loc && slot->address == address && slot->map == map)
			return slot->loc;
	}
	return addresses_find(a, address, map);
}

/* Forget the frames; make room for at least `nr`. False: out of memory. */
__attribute__((warn_unused_result))
bool addresses_start(struct addresses *a, size_t nr);

/* Put a location at the outer end of the stack. False: out of memory. */
__attribute__((warn_unused_result))
bool addresses_push_loc(struct addresses *a, loc_id loc);

/*
 * Put an address there: as it stands when it is exact, else the byte before
 * it. A null address is counted at (unit, where) and left out.
 */
__attribute__((warn_unused_result))
bool addresses_push(struct addresses *a, uint64_t pc, bool is_exact,
		    enum pprof_unit unit, uint64_t where);

/*
 * One address of up to 16 significant hexadecimal digits in either case,
 * with or without 0x, that ends at a blank or `end`. Moves *pos over it.
 */
__attribute__((warn_unused_result))
bool addresses_parse(const char **pos, const char *end, uint64_t *ret);

/* What addresses_take_line() came to. */
enum addresses_result {
	ADDRESSES_OK = 0,
	ADDRESSES_BAD,   /* *ret_bad is where no address stands */
	ADDRESSES_FAILED /* the builder knows why */
};

/* Blank-separated addresses up to `end` as one stack, in a->frames. */
enum addresses_result addresses_take_line(struct addresses *a, const char *p,
					  const char *end, uint64_t line,
					  enum leaf_kind leaf,
					  const char **ret_bad);

/* LIMIT and the cursor failed when the stack at hand is too deep. */
enum pprof_status addresses_check_depth(const struct addresses *a,
					struct cursor *in,
					enum pprof_unit unit, uint64_t where);

/* Count the null addresses that were left out. */
void addresses_tell(const struct addresses *a, struct diags *diags);

#endif
