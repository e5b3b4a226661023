/* SPDX-License-Identifier: Apache-2.0
 *
 * One record of a CBOR sequence (RFC 8742) as a flat list of items, each
 * before its children; the only user of the CBOR decoder.
 */
#ifndef INPUT_CBOR_ITEMS_H
#define INPUT_CBOR_ITEMS_H

#include "base/buf.h"
#include "base/cursor.h"

enum item_kind {
	ITEM_UINT,
	ITEM_NINT,  /* -1 - value */
	ITEM_TEXT,  /* text or bytes */
	ITEM_ARRAY,
	ITEM_MAP,   /* children are keys and values in turn */
	ITEM_NULL,
	ITEM_OTHER  /* a float, a bool, ... */
};

struct item {
	uint64_t value;  /* of a number; offset of a text */
	uint32_t len;    /* bytes of a text, children of a container */
	uint32_t next;   /* index behind this item and its children */
	enum item_kind kind;
};

/* Containers within containers in one record. */
#define ITEMS_DEPTH_MAX 8

struct open_container {
	uint32_t item;
	uint64_t left;   /* children that must come; UINT64_MAX: till break */
	uint32_t nr;     /* that came */
};

struct items {
	struct item *rows;
	size_t nr, cap;
	size_t max;       /* items in one record */
	struct buf text;  /* bytes of all texts of the record */
	uint64_t offset;  /* of the record in the input */
	struct open_container open[ITEMS_DEPTH_MAX];
	size_t nr_open;
	size_t text_start; /* of a string in pieces; SIZE_MAX outside one */
	const char *fault; /* what broke the rules, or NULL */
	bool is_out_of_memory;
};

void items_init(struct items *items, size_t max_items, size_t max_text);
void items_fini(struct items *items);

/* What items_next() found. */
enum items_result {
	ITEMS_RECORD, /* items->rows[0] is it */
	ITEMS_END,    /* the input ends between records */
	ITEMS_CUT,    /* it ends inside one */
	ITEMS_FAILED  /* the cursor tells why */
};

enum items_result items_next(struct items *items, struct cursor *in);

/* Text of an item; not NUL-terminated. */
static inline const char *item_text(const struct items *items,
				    const struct item *item)
{
	return item->len ? items->text.data + item->value : "";
}

/* The number of an item as int64; false: none, or it does not fit. */
bool item_i64(const struct item *item, int64_t *ret);

#endif
