/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw dumps as a CBOR sequence, docs/pprof-raw.cddl: what a crash handler
 * appends record by record, and what the CBOR writer makes of any profile.
 */
#include <config.h>

#include "input/reader.h"

#include <stdarg.h>

#include "base/mem.h"
#include "input/addresses.h"
#include "input/cbor_items.h"
#include "input/procmaps.h"

#define FORMAT_NAME "pprof-raw"
#define FORMAT_VERSION 1

/* Items of a record beside frames and labels. */
#define EXTRA_ITEMS 4096

enum record {
	RECORD_HEADER, RECORD_IMAGE, RECORD_TYPE, RECORD_SAMPLE,
	RECORD_LOCATION, RECORD_COMMENT, NR_RECORDS
};

struct image {
	map_id map;      /* of its first range, or of the whole file */
	uint32_t nr_ranges;
};

struct raw_cbor {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	struct items items;
	struct addresses addresses;
	struct image *images;
	size_t nr_images, cap_images;
	loc_id *locations;
	size_t nr_locations, cap_locations;
	struct label *labels;
	size_t nr_labels, cap_labels;
	struct line *lines;
	size_t cap_lines;
	uint64_t nr_samples;
};

static int sniff_cbor(const uint8_t *head, size_t nr)
{
	/* The tag, any array of a few members, 0, the name. */
	static const char name[] = "\x00\x69" FORMAT_NAME;

	if (nr < 6 || memcmp(head, "\xd9\xd9\xf7", 3) || head[3] >> 5 != 4)
		return 0;
	nr -= 4;
	if (nr > sizeof(name) - 1)
		nr = sizeof(name) - 1;
	return memcmp(head + 4, name, nr) ? 0 : (int)(4 + nr) * 8;
}

/* -------------------------------------------------------------- members */

__attribute__((format(printf, 2, 3)))
static enum pprof_status bad(struct raw_cbor *r, const char *format, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return cursor_fail_at(r->in, PPROF_FORMAT, PPROF_UNIT_BYTE,
			      r->items.offset, "%s", text);
}

static enum pprof_status fail_builder(struct raw_cbor *r)
{
	if (r->out->status && r->out->status != PPROF_NOMEM)
		return cursor_fail_at(r->in, r->out->status, PPROF_UNIT_BYTE,
				      r->items.offset, "%s", r->out->message);
	return cursor_fail_at(r->in, PPROF_NOMEM, PPROF_UNIT_BYTE,
			      r->items.offset, "out of memory");
}

/* Member i of an array or map, NULL when there is none. */
static const struct item *member(const struct raw_cbor *r,
				 const struct item *parent, uint32_t i)
{
	uint32_t at = (uint32_t)(parent - r->items.rows) + 1;

	if ((parent->kind != ITEM_ARRAY && parent->kind != ITEM_MAP) ||
	    i >= parent->len)
		return NULL;
	while (i--)
		at = r->items.rows[at].next;
	return &r->items.rows[at];
}

/* The item behind this one and its children, among siblings. */
static const struct item *sibling(const struct raw_cbor *r,
				  const struct item *item)
{
	return &r->items.rows[item->next];
}

static bool is_text(const struct item *item)
{
	return item && item->kind == ITEM_TEXT;
}

static str_id take_str(struct raw_cbor *r, const struct item *item)
{
	return builder_str(r->out, item_text(&r->items, item), item->len);
}

/* The string member i of a record; 0 for null or none. */
static bool str_member(struct raw_cbor *r, const struct item *record,
		       uint32_t i, bool is_needed, str_id *ret)
{
	const struct item *item = member(r, record, i);

	*ret = 0;
	if (!is_text(item))
		return !is_needed && (!item || item->kind == ITEM_NULL);
	*ret = take_str(r, item);
	return true;
}

static bool is_named(const struct raw_cbor *r, const struct item *item,
		     const char *name)
{
	return is_text(item) && item->len == strlen(name) &&
	       !memcmp(item_text(&r->items, item), name, item->len);
}

/* --------------------------------------------------------------- header */

static bool header_member(struct raw_cbor *r, const struct item *key,
			  const struct item *value)
{
	struct pprof_profile *profile = r->out->profile;
	const struct {
		const char *name;
		int64_t *number;
		str_id *text;
	} members[] = {
		{ "time", &profile->time_ns, NULL },
		{ "duration", &profile->duration_ns, NULL },
		{ "period", &profile->period, NULL },
		{ "period-type", NULL, &profile->period_type.type },
		{ "period-unit", NULL, &profile->period_type.unit },
		{ "default-type", NULL, &profile->default_type },
		{ "doc-url", NULL, &profile->doc_url },
		{ "drop-frames", NULL, &profile->drop_frames },
		{ "keep-frames", NULL, &profile->keep_frames },
	};
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (!is_named(r, key, members[i].name))
			continue;
		if (members[i].number)
			return item_i64(value, members[i].number);
		if (is_text(value))
			*members[i].text = take_str(r, value);
		return is_text(value);
	}
	diag_count(r->diags, PPROF_UNIT_BYTE, r->items.offset,
		   "member of the header is not known: left out");
	return true;
}

static enum pprof_status take_header(struct raw_cbor *r,
				     const struct item *record)
{
	const struct item *version = member(r, record, 2), *key, *value;
	const struct item *map = member(r, record, 3);
	uint32_t i;

	if (!is_named(r, member(r, record, 1), FORMAT_NAME) || !version ||
	    version->kind != ITEM_UINT)
		return bad(r, "expected a header [0, \"" FORMAT_NAME
			   "\", version]");
	if (version->value != FORMAT_VERSION)
		return cursor_fail_at(r->in, PPROF_UNSUPPORTED,
				      PPROF_UNIT_BYTE, r->items.offset,
				      "is of version %llu, expected 1",
				      (unsigned long long)version->value);
	if (!map || map->kind != ITEM_MAP)
		return map ? bad(r, "header: expected a map of members") :
		       PPROF_OK;
	key = map + 1;
	for (i = 0; i + 1 < map->len; i += 2) {
		value = sibling(r, key);
		if (!header_member(r, key, value))
			return bad(r, "header: a member has a value of the "
				   "wrong kind");
		key = sibling(r, value);
	}
	return PPROF_OK;
}

/* --------------------------------------------------------------- images */

static bool take_range(struct raw_cbor *r, const struct item *range,
		       struct mapping *map)
{
	uint64_t numbers[4] = { 0, 0, 0, 0 };
	uint32_t i;

	if (range->kind != ITEM_ARRAY || range->len < 3)
		return false;
	for (i = 0; i < range->len && i < 4; i++) {
		if (member(r, range, i)->kind != ITEM_UINT)
			return false;
		numbers[i] = member(r, range, i)->value;
	}
	map->start = numbers[0];
	map->limit = numbers[1];
	map->offset = numbers[2];
	if (range->len > 3)
		map->flags = (uint32_t)numbers[3] & 63;
	return true;
}

static enum pprof_status take_image(struct raw_cbor *r,
				    const struct item *record)
{
	const struct item *ranges = member(r, record, 3), *range;
	const struct item *flags = member(r, record, 4);
	struct mapping map = { .limit = UINT64_MAX };
	struct image *image;
	uint32_t i;
	map_id id;

	if (!str_member(r, record, 1, true, &map.file) ||
	    !str_member(r, record, 2, false, &map.build_id) ||
	    !ranges || ranges->kind != ITEM_ARRAY)
		return bad(r, "expected an image [1, path, build ID, "
			   "ranges]");
	if (flags && flags->kind == ITEM_UINT)
		map.flags = (uint32_t)flags->value & 63;
	if (!mem_grow(r->images, r->cap_images, r->nr_images + 1,
		      UINT32_MAX))
		return fail_builder(r);
	image = &r->images[r->nr_images++];
	image->nr_ranges = ranges->len;
	image->map = 0;
	range = ranges + 1;
	for (i = 0; i < ranges->len || !i; i++) {
		if (ranges->len && !take_range(r, range, &map))
			return bad(r, "image: range %u is not [start, limit, "
				   "offset]", i);
		id = builder_mapping(r->out, &map);
		if (id == ID_FAILED)
			return fail_builder(r);
		if (!i)
			image->map = id;
		if (ranges->len)
			range = sibling(r, range);
	}
	return PPROF_OK;
}

/* The mapping of an address in the n-th image, 0 when there is no such. */
static map_id find_map(const struct raw_cbor *r, uint64_t n, uint64_t address)
{
	const struct mapping *maps = r->out->profile->mappings;
	const struct image *image;
	uint32_t i;

	if (n >= r->nr_images)
		return 0;
	image = &r->images[n];
	for (i = 0; i < image->nr_ranges; i++) {
		if (address >= maps[image->map + i].start &&
		    address < maps[image->map + i].limit)
			return image->map + i;
	}
	return image->map;
}

/* "[image, address]" or an address; false: it is neither. */
static bool take_place(struct raw_cbor *r, const struct item *item,
		       uint64_t *ret_address, map_id *ret_map)
{
	const struct item *image, *address;

	*ret_map = 0;
	*ret_address = item->value;
	if (item->kind == ITEM_UINT)
		return true;
	image = item->kind == ITEM_ARRAY ? member(r, item, 0) : NULL;
	address = image ? member(r, item, 1) : NULL;
	if (!address || image->kind != ITEM_UINT ||
	    address->kind != ITEM_UINT)
		return false;
	*ret_address = address->value;
	*ret_map = find_map(r, image->value, address->value);
	return *ret_map;
}

/* ------------------------------------------------------------ locations */

static bool take_line(struct raw_cbor *r, const struct item *item,
		      struct line *ret)
{
	struct function func = { .start_line = 0 };
	const struct item *column = member(r, item, 4);
	const struct item *start = member(r, item, 5);
	int64_t number = 0;

	memset(ret, 0, sizeof(*ret));
	if (item->kind != ITEM_ARRAY || item->len < 4 ||
	    !str_member(r, item, 0, true, &func.name) ||
	    !str_member(r, item, 1, true, &func.system_name) ||
	    !str_member(r, item, 2, true, &func.file) ||
	    !item_i64(member(r, item, 3), &ret->line) ||
	    (column && !item_i64(column, &number)) ||
	    (start && !item_i64(start, &func.start_line)) ||
	    number > INT32_MAX || number < INT32_MIN)
		return false;
	ret->column = (int32_t)number;
	ret->func = builder_function(r->out, &func);
	return true;
}

static enum pprof_status take_location(struct raw_cbor *r,
				       const struct item *record)
{
	const struct item *place = member(r, record, 1);
	const struct item *lines = member(r, record, 2), *line;
	const struct item *folded = member(r, record, 3);
	uint64_t address = 0;
	map_id map = 0;
	uint32_t i;
	loc_id loc;

	if (!lines || lines->kind != ITEM_ARRAY ||
	    (place->kind != ITEM_NULL &&
	     !take_place(r, place, &address, &map)))
		return bad(r, "expected a location [4, place, lines]");
	if (!mem_grow(r->lines, r->cap_lines, lines->len, UINT32_MAX) ||
	    !mem_grow(r->locations, r->cap_locations, r->nr_locations + 1,
		      UINT32_MAX))
		return fail_builder(r);
	line = lines + 1;
	for (i = 0; i < lines->len; i++) {
		if (!take_line(r, line, &r->lines[i]))
			return bad(r, "location: line %u is not [name, "
				   "system name, file, line]", i);
		if (r->lines[i].func == ID_FAILED)
			return fail_builder(r);
		line = sibling(r, line);
	}
	loc = builder_location(r->out, address, map, folded &&
			       folded->value, r->lines, lines->len);
	if (loc == ID_FAILED)
		return fail_builder(r);
	r->locations[r->nr_locations++] = loc;
	return PPROF_OK;
}

/* -------------------------------------------------------------- samples */

/* One more label, or false. */
static bool take_label(struct raw_cbor *r, const struct item *key,
		       const struct item *value)
{
	struct label *label;

	if (!is_text(key) ||
	    !mem_grow(r->labels, r->cap_labels, r->nr_labels + 1,
		      UINT32_MAX))
		return false;
	label = &r->labels[r->nr_labels++];
	memset(label, 0, sizeof(*label));
	label->key = take_str(r, key);
	if (is_text(value)) {
		label->str = take_str(r, value);
		return true;
	}
	label->is_num = 1;
	if (value->kind != ITEM_ARRAY)
		return item_i64(value, &label->num);
	return value->len == 2 && item_i64(value + 1, &label->num) &&
	       str_member(r, value, 1, true, &label->unit);
}

static enum pprof_status take_labels(struct raw_cbor *r,
				     const struct item *map, lset_id *ret)
{
	const struct item *key, *value;
	uint32_t i;

	r->nr_labels = 0;
	*ret = 0;
	if (!map)
		return PPROF_OK;
	if (map->kind != ITEM_MAP)
		return bad(r, "sample: expected a map of labels");
	if (map->len / 2 > r->out->limits->labels)
		return cursor_fail_at(r->in, PPROF_LIMIT, PPROF_UNIT_BYTE,
				      r->items.offset, "sample has more than "
				      "%u labels (limit labels)",
				      r->out->limits->labels);
	key = map + 1;
	for (i = 0; i + 1 < map->len; i += 2) {
		value = sibling(r, key);
		if (!take_label(r, key, value))
			return bad(r, "sample: label %u is none", i / 2);
		key = sibling(r, value);
	}
	*ret = builder_lset(r->out, r->labels, r->nr_labels);
	return *ret == ID_FAILED ? fail_builder(r) : PPROF_OK;
}

/* A frame of a sample onto the stack at hand. */
static enum pprof_status take_frame(struct raw_cbor *r,
				    const struct item *item, bool is_exact,
				    uint32_t i)
{
	uint64_t address;
	map_id map;
	loc_id loc;

	if (item->kind == ITEM_NINT) {
		if (item->value >= r->nr_locations)
			return bad(r, "sample: frame %u refers to location "
				   "%llu of %zu", i,
				   (unsigned long long)item->value,
				   r->nr_locations);
		loc = r->locations[item->value];
	} else {
		if (!take_place(r, item, &address, &map))
			return bad(r, "sample: frame %u is no address", i);
		if (!address) {
			r->addresses.null_unit = PPROF_UNIT_BYTE;
			if (!r->addresses.nr_null++)
				r->addresses.null_where = r->items.offset;
			return PPROF_OK;
		}
		loc = addresses_get(&r->addresses, is_exact ? address :
				    address - 1, map);
	}
	return addresses_push_loc(&r->addresses, loc) ? PPROF_OK :
	       fail_builder(r);
}

static enum pprof_status take_frames(struct raw_cbor *r,
				     const struct item *frames, uint64_t leaf)
{
	const struct item *frame = frames + 1;
	enum pprof_status status = PPROF_OK;
	uint32_t i;

	if (!addresses_start(&r->addresses, frames->len))
		return fail_builder(r);
	for (i = 0; !status && i < frames->len; i++) {
		status = take_frame(r, frame, leaf == 2 || (leaf && !i), i);
		frame = sibling(r, frame);
	}
	return status ? status :
	       addresses_check_depth(&r->addresses, r->in, PPROF_UNIT_BYTE,
				     r->items.offset);
}

static enum pprof_status take_sample(struct raw_cbor *r,
				     const struct item *record)
{
	const struct item *leaf = member(r, record, 1);
	const struct item *frames = member(r, record, 2);
	const struct item *values = member(r, record, 3), *value;
	int64_t numbers[SAMPLE_TYPES_MAX];
	enum pprof_status status;
	lset_id lset;
	uint32_t i;

	if (!values || leaf->kind != ITEM_UINT || leaf->value > 2 ||
	    frames->kind != ITEM_ARRAY || values->kind != ITEM_ARRAY)
		return bad(r, "expected a sample [3, leaf, frames, values]");
	if (values->len != r->out->profile->nr_types)
		return bad(r, "sample: has %u values for %zu types",
			   values->len, r->out->profile->nr_types);
	value = values + 1;
	for (i = 0; i < values->len; i++) {
		if (!item_i64(value, &numbers[i]))
			return bad(r, "sample: value %u is no number of 64 "
				   "bits", i);
		value = sibling(r, value);
	}
	status = take_labels(r, member(r, record, 4), &lset);
	if (!status)
		status = take_frames(r, frames, leaf->value);
	if (status)
		return status;
	r->nr_samples++;
	builder_add(r->out, r->addresses.frames, r->addresses.nr_frames, lset,
		    numbers, PPROF_UNIT_BYTE, r->items.offset);
	return r->out->status ? fail_builder(r) : PPROF_OK;
}

/* -------------------------------------------------------------- reading */

static enum pprof_status take_type(struct raw_cbor *r,
				   const struct item *record)
{
	str_id type, unit;

	if (!str_member(r, record, 1, true, &type) ||
	    !str_member(r, record, 2, true, &unit))
		return bad(r, "expected a sample type [2, type, unit]");
	if (r->nr_samples)
		return bad(r, "a sample type after the first sample");
	builder_type(r->out, type, unit);
	return r->out->status ? fail_builder(r) : PPROF_OK;
}

static enum pprof_status take_comment(struct raw_cbor *r,
				      const struct item *record)
{
	str_id text;

	if (!str_member(r, record, 1, true, &text))
		return bad(r, "expected a comment [5, text]");
	builder_comment(r->out, text);
	return r->out->status ? fail_builder(r) : PPROF_OK;
}

static enum pprof_status take_record(struct raw_cbor *r, bool *has_header)
{
	static enum pprof_status (*const takers[NR_RECORDS])(
		struct raw_cbor *r, const struct item *record) = {
		[RECORD_HEADER] = take_header, [RECORD_IMAGE] = take_image,
		[RECORD_TYPE] = take_type, [RECORD_SAMPLE] = take_sample,
		[RECORD_LOCATION] = take_location,
		[RECORD_COMMENT] = take_comment,
	};
	const struct item *record = r->items.rows, *kind;

	kind = record->kind == ITEM_ARRAY ? member(r, record, 0) : NULL;
	if (!kind || kind->kind != ITEM_UINT)
		return bad(r, "expected a record, an array that begins with "
			   "its kind");
	if (!*has_header && kind->value != RECORD_HEADER)
		return bad(r, "expected a header first");
	if (*has_header && kind->value == RECORD_HEADER)
		return bad(r, "a second dump starts here; expected one a "
			   "file");
	*has_header = true;
	if (kind->value < NR_RECORDS)
		return takers[kind->value](r, record);
	diag_count(r->diags, PPROF_UNIT_BYTE, r->items.offset,
		   "record of a kind that is not known: left out");
	return PPROF_OK;
}

static enum pprof_status read_records(struct raw_cbor *r)
{
	enum pprof_status status = PPROF_OK;
	bool has_header = false;

	while (!status) {
		switch (items_next(&r->items, r->in)) {
		case ITEMS_RECORD:
			status = take_record(r, &has_header);
			break;
		case ITEMS_CUT:
			if (!has_header)
				return bad(r, "the input ends inside its "
					   "header");
			diag_count(r->diags, PPROF_UNIT_BYTE,
				   r->items.offset, "input is truncated: its "
				   "last record is cut");
			r->in->p = r->in->end;
			return PPROF_OK;
		case ITEMS_END:
			return PPROF_OK;
		default:
			return r->in->status;
		}
	}
	return status;
}

static enum pprof_status read_cbor(struct cursor *in,
				   const struct read_ctx *ctx,
				   struct pprof_error *err)
{
	const struct pprof_limits *limits = ctx->out->limits;
	struct raw_cbor r = { .in = in, .out = ctx->out,
			      .diags = ctx->diags };
	enum pprof_status status;

	items_init(&r.items, (size_t)limits->frames * 3 + limits->labels +
		   EXTRA_ITEMS, limits->string_bytes);
	addresses_init(&r.addresses, ctx->out);
	status = read_records(&r);
	if (!status) {
		addresses_tell(&r.addresses, ctx->diags);
		status = procmaps_assign(ctx->out);
	}
	if (in->status)
		cursor_status(in, err);
	items_fini(&r.items);
	addresses_fini(&r.addresses);
	mem_free(r.images);
	mem_free(r.locations);
	mem_free(r.labels);
	mem_free(r.lines);
	return status;
}

const struct reader reader_cbor = {
	.name = "cbor",
	.description = "raw dumps as CBOR, see pprof-formats(5)",
	.has_time = true,
	.sniff = sniff_cbor,
	.read = read_cbor,
};
