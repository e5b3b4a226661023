/* SPDX-License-Identifier: Apache-2.0
 *
 * Streaming decoder of single records, over libcbor's stream decoder.
 */
#include <config.h>

#include "input/cbor_items.h"

#include <string.h>

#include <cbor.h>

#include "base/mem.h"

void items_init(struct items *items, size_t max_items, size_t max_text)
{
	memset(items, 0, sizeof(*items));
	items->max = max_items;
	items->text_start = SIZE_MAX;
	buf_init(&items->text, max_text);
}

void items_fini(struct items *items)
{
	mem_free(items->rows);
	buf_fini(&items->text);
}

static void fault(struct items *items, const char *what)
{
	if (!items->fault)
		items->fault = what;
}

/* An item is complete: so are the containers that it fills. */
static void close_full(struct items *items)
{
	struct open_container *open;

	while (items->nr_open) {
		open = &items->open[items->nr_open - 1];
		open->nr++;
		if (open->left == UINT64_MAX || --open->left)
			return;
		items->rows[open->item].len = open->nr;
		items->rows[open->item].next = (uint32_t)items->nr;
		items->nr_open--;
	}
}

static struct item *add(struct items *items, enum item_kind kind,
			uint64_t value)
{
	struct item *item;

	if (items->fault || items->is_out_of_memory)
		return NULL;
	if (items->text_start != SIZE_MAX) {
		fault(items, "expected a piece of a string");
		return NULL;
	}
	if (items->nr == items->max) {
		fault(items, "more items in one record than are allowed");
		return NULL;
	}
	if (!mem_grow(items->rows, items->cap, items->nr + 1, items->max)) {
		items->is_out_of_memory = true;
		return NULL;
	}
	item = &items->rows[items->nr++];
	item->value = value;
	item->len = 0;
	item->next = (uint32_t)items->nr;
	item->kind = kind;
	return item;
}

static void add_scalar(void *ctx, enum item_kind kind, uint64_t value)
{
	if (add(ctx, kind, value))
		close_full(ctx);
}

static void add_container(struct items *items, enum item_kind kind,
			  uint64_t nr)
{
	struct open_container *open;

	if (!add(items, kind, 0))
		return;
	if (!nr) {
		close_full(items);
		return;
	}
	if (items->nr_open == ITEMS_DEPTH_MAX) {
		fault(items, "containers are nested too deeply");
		return;
	}
	open = &items->open[items->nr_open++];
	open->item = (uint32_t)items->nr - 1;
	open->left = nr;
	open->nr = 0;
}

/* ------------------------------------------------- libcbor's callbacks */

static void on_uint8(void *ctx, uint8_t value)
{
	add_scalar(ctx, ITEM_UINT, value);
}

static void on_uint16(void *ctx, uint16_t value)
{
	add_scalar(ctx, ITEM_UINT, value);
}

static void on_uint32(void *ctx, uint32_t value)
{
	add_scalar(ctx, ITEM_UINT, value);
}

static void on_uint64(void *ctx, uint64_t value)
{
	add_scalar(ctx, ITEM_UINT, value);
}

static void on_negint8(void *ctx, uint8_t value)
{
	add_scalar(ctx, ITEM_NINT, value);
}

static void on_negint16(void *ctx, uint16_t value)
{
	add_scalar(ctx, ITEM_NINT, value);
}

static void on_negint32(void *ctx, uint32_t value)
{
	add_scalar(ctx, ITEM_NINT, value);
}

static void on_negint64(void *ctx, uint64_t value)
{
	add_scalar(ctx, ITEM_NINT, value);
}

static void on_string(void *ctx, cbor_data data, size_t len)
{
	struct items *items = ctx;
	size_t start = items->text.len;
	struct item *item;

	if (len > items->text.max - start || len > UINT32_MAX) {
		fault(items, "a string is longer than is allowed");
		return;
	}
	buf_add(&items->text, data, len);
	if (!buf_ok(&items->text)) {
		items->is_out_of_memory = true;
		return;
	}
	if (items->text_start != SIZE_MAX)
		return;
	item = add(items, ITEM_TEXT, start);
	if (!item)
		return;
	item->len = (uint32_t)len;
	close_full(items);
}

static void on_string_start(void *ctx)
{
	struct items *items = ctx;

	if (items->text_start != SIZE_MAX)
		fault(items, "a string in pieces within another");
	items->text_start = items->text.len;
}

static void on_array(void *ctx, size_t nr)
{
	add_container(ctx, ITEM_ARRAY, nr);
}

static void on_indef_array(void *ctx)
{
	add_container(ctx, ITEM_ARRAY, UINT64_MAX);
}

static void on_map(void *ctx, size_t nr)
{
	if (nr > UINT32_MAX)
		fault(ctx, "a map of more pairs than any input holds");
	else
		add_container(ctx, ITEM_MAP, (uint64_t)nr * 2);
}

static void on_indef_map(void *ctx)
{
	add_container(ctx, ITEM_MAP, UINT64_MAX);
}

static void on_tag(void *ctx, uint64_t tag)
{
	(void)ctx;
	(void)tag;
}

static void on_float(void *ctx, float value)
{
	(void)value;
	add_scalar(ctx, ITEM_OTHER, 0);
}

static void on_double(void *ctx, double value)
{
	(void)value;
	add_scalar(ctx, ITEM_OTHER, 0);
}

static void on_bool(void *ctx, bool value)
{
	add_scalar(ctx, ITEM_OTHER, value);
}

static void on_null(void *ctx)
{
	add_scalar(ctx, ITEM_NULL, 0);
}

static void on_break(void *ctx)
{
	struct items *items = ctx;
	struct open_container *open;
	size_t start = items->text_start;
	struct item *item;

	if (start != SIZE_MAX) {
		items->text_start = SIZE_MAX;
		item = add(items, ITEM_TEXT, start);
		if (!item)
			return;
		item->len = (uint32_t)(items->text.len - start);
		close_full(items);
		return;
	}
	open = items->nr_open ? &items->open[items->nr_open - 1] : NULL;
	if (!open || open->left != UINT64_MAX) {
		fault(items, "a break outside of any container");
		return;
	}
	if (items->rows[open->item].kind == ITEM_MAP && open->nr % 2)
		fault(items, "a map key without its value");
	items->rows[open->item].len = open->nr;
	items->rows[open->item].next = (uint32_t)items->nr;
	items->nr_open--;
	close_full(items);
}

static const struct cbor_callbacks callbacks = {
	.uint8 = on_uint8, .uint16 = on_uint16, .uint32 = on_uint32,
	.uint64 = on_uint64, .negint8 = on_negint8, .negint16 = on_negint16,
	.negint32 = on_negint32, .negint64 = on_negint64,
	.byte_string_start = on_string_start, .byte_string = on_string,
	.string = on_string, .string_start = on_string_start,
	.indef_array_start = on_indef_array, .array_start = on_array,
	.indef_map_start = on_indef_map, .map_start = on_map, .tag = on_tag,
	.float2 = on_float, .float4 = on_float, .float8 = on_double,
	.undefined = on_null, .null = on_null, .boolean = on_bool,
	.indef_break = on_break,
};

/* ------------------------------------------------------------- decoding */

/* Whether the record is complete. */
static bool is_done(const struct items *items)
{
	return items->nr && !items->nr_open && items->text_start == SIZE_MAX;
}

/* One CBOR head with what belongs to it. False: the input ends in it. */
static bool take_one(struct items *items, struct cursor *in)
{
	struct cbor_decoder_result result;
	size_t want = 16, have;

	for (;;) {
		have = cursor_fill(in, want);
		if (!have)
			return false;
		result = cbor_stream_decode(in->p, have, &callbacks, items);
		if (result.status == CBOR_DECODER_FINISHED) {
			in->p += result.read;
			return true;
		}
		if (result.status == CBOR_DECODER_ERROR) {
			fault(items, "no CBOR item begins so");
			return true;
		}
		if (result.required > items->text.max) {
			fault(items, "a string is longer than is allowed");
			return true;
		}
		if (result.required <= have || have < want)
			return false;
		want = result.required;
	}
}

enum items_result items_next(struct items *items, struct cursor *in)
{
	items->nr = 0;
	items->nr_open = 0;
	items->text_start = SIZE_MAX;
	buf_reset(&items->text);
	items->offset = cursor_offset(in);
	if (!cursor_fill(in, 1))
		return in->status ? ITEMS_FAILED : ITEMS_END;
	while (!is_done(items)) {
		if (!take_one(items, in))
			return in->status ? ITEMS_FAILED : ITEMS_CUT;
		if (items->is_out_of_memory) {
			cursor_fail(in, PPROF_NOMEM, PPROF_UNIT_BYTE,
				    "out of memory");
			return ITEMS_FAILED;
		}
		if (items->fault) {
			cursor_fail(in, PPROF_FORMAT, PPROF_UNIT_BYTE, "%s",
				    items->fault);
			return ITEMS_FAILED;
		}
	}
	return ITEMS_RECORD;
}

bool item_i64(const struct item *item, int64_t *ret)
{
	if (item->value > INT64_MAX ||
	    (item->kind != ITEM_UINT && item->kind != ITEM_NINT))
		return false;
	*ret = item->kind == ITEM_UINT ? (int64_t)item->value :
	       -1 - (int64_t)item->value;
	return true;
}
