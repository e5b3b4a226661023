/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing a symbol file: numbers become distances, strings are sorted and
 * lose what they share with the one before (docs/pprof-symbols.cddl).
 */
#include <config.h>

#include "symbolize/symfile_make.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void put_uleb(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_byte(out, (char)(value | 0x80));
	buf_byte(out, (char)value);
}

static void put_sleb(struct buf *out, int64_t value)
{
	uint64_t bits = (uint64_t)value;
	const uint64_t sign = value < 0 ? UINT64_MAX : 0;

	while (bits >> 6 != sign >> 6) {
		buf_byte(out, (char)(bits | 0x80));
		bits = bits >> 7 | (sign << 57);
	}
	buf_byte(out, (char)(bits & 0x7f));
}

static void put_delta(struct buf *out, uint32_t value, uint32_t base)
{
	put_sleb(out, (int64_t)value - (int64_t)base);
}

static void put_le(struct buf *out, uint64_t value, unsigned nr_bytes)
{
	for (; nr_bytes; nr_bytes--, value >>= 8)
		buf_byte(out, (char)value);
}

/* A table under construction. */
struct encoded {
	struct buf data, index, starts;
};

struct encoder {
	const struct maker *maker;
	str_id *sorted;   /* [strings.nr] ids in byte order */
	uint32_t *ranks;  /* [strings.nr] place of an id in that order */
	struct encoded parts[SYMFILE_NR_PARTS];
};

static void start_block(struct encoded *part)
{
	put_le(&part->index, part->data.len, 4);
}

static int compare_strings(const void *a, const void *b, void *ctx)
{
	const str_id *x = a, *y = b;

	return strtab_compare(ctx, *x, *y);
}

static size_t count_shared(const struct strtab *strings, str_id a, str_id b)
{
	const size_t len_a = strtab_len(strings, a);
	const size_t len_b = strtab_len(strings, b);
	const char *x = strtab_text(strings, a), *y = strtab_text(strings, b);
	size_t i;

	for (i = 0; i < len_a && i < len_b && x[i] == y[i]; i++)
		;
	return i;
}

static bool encode_strings(struct encoder *e, struct strtab *strings)
{
	struct encoded *part = &e->parts[SYMFILE_STRINGS];
	size_t i, shared;

	e->sorted = mem_alloc(strings->nr, sizeof(*e->sorted));
	e->ranks = mem_alloc(strings->nr, sizeof(*e->ranks));
	if (!e->sorted || !e->ranks)
		return false;
	for (i = 0; i < strings->nr; i++)
		e->sorted[i] = (str_id)i;
	qsort_r(e->sorted, strings->nr, sizeof(*e->sorted), compare_strings,
		strings);
	for (i = 0; i < strings->nr; i++) {
		const str_id id = e->sorted[i];

		e->ranks[id] = (uint32_t)i;
		shared = 0;
		if (i % SYMFILE_BLOCK)
			shared = count_shared(strings, e->sorted[i - 1], id);
		else
			start_block(part);
		put_uleb(&part->data, shared);
		put_uleb(&part->data, strtab_len(strings, id) - shared);
		buf_add(&part->data, strtab_text(strings, id) + shared,
			strtab_len(strings, id) - shared);
	}
	return true;
}

static void encode_functions(struct encoder *e)
{
	struct encoded *part = &e->parts[SYMFILE_FUNCTIONS];
	const uint32_t *ranks = e->ranks;
	uint32_t before = 0;
	size_t i;

	for (i = 0; i < e->maker->nr_functions; i++) {
		const struct made_function *f = &e->maker->functions[i];

		if (i % SYMFILE_BLOCK == 0) {
			start_block(part);
			before = 0;
		}
		put_delta(&part->data, ranks[f->names[0]], before);
		before = ranks[f->names[0]];
		put_delta(&part->data, ranks[f->names[1]], before);
		put_delta(&part->data, ranks[f->names[2]], before);
		put_delta(&part->data, ranks[f->system_name],
			  ranks[f->names[2]]);
		put_uleb(&part->data, f->start_line);
	}
}

static void encode_scopes(struct encoder *e)
{
	struct encoded *part = &e->parts[SYMFILE_SCOPES];
	uint32_t function = 0, file = 0, line = 0;
	size_t i;

	for (i = 0; i < e->maker->nr_scopes; i++) {
		const struct made_scope *s = &e->maker->scopes[i];

		if (i % SYMFILE_BLOCK == 0) {
			start_block(part);
			function = file = line = 0;
		}
		put_delta(&part->data, s->function, function);
		function = s->function;
		put_uleb(&part->data, s->outer ? i + 1 - s->outer : 0);
		if (!s->outer)
			continue;
		put_delta(&part->data, e->ranks[s->file], file);
		put_delta(&part->data, s->line, line);
		put_uleb(&part->data, s->column);
		file = e->ranks[s->file];
		line = s->line;
	}
}

/* One range after `before`, which it then becomes. */
static void encode_range(struct buf *out, const struct made_range *range,
			 uint32_t file, struct made_range *before)
{
	unsigned flags = range->source;

	if (range->source) {
		flags |= range->scope == before->scope ? SYMFILE_SAME_SCOPE
						       : 0;
		flags |= file == before->file ? SYMFILE_SAME_FILE : 0;
		flags |= range->column == before->column ? SYMFILE_SAME_COLUMN
							 : 0;
	}
	buf_byte(out, (char)flags);
	if (!range->source)
		return;
	if (!(flags & SYMFILE_SAME_SCOPE))
		put_delta(out, range->scope, before->scope);
	if (!(flags & SYMFILE_SAME_FILE))
		put_delta(out, file, before->file);
	put_delta(out, range->line, before->line);
	if (!(flags & SYMFILE_SAME_COLUMN))
		put_uleb(out, range->column);
	*before = *range;
	before->file = file;
}

static void encode_ranges(struct encoder *e)
{
	struct encoded *part = &e->parts[SYMFILE_RANGES];
	const struct made_range *ranges = e->maker->ranges;
	struct made_range before;
	size_t i;

	memset(&before, 0, sizeof(before));
	for (i = 0; i < e->maker->nr_ranges; i++) {
		if (i % SYMFILE_RANGE_BLOCK == 0) {
			start_block(part);
			put_le(&part->starts, ranges[i].start, 8);
			memset(&before, 0, sizeof(before));
		} else {
			put_uleb(&part->data,
				 ranges[i].start - ranges[i - 1].start);
		}
		encode_range(&part->data, &ranges[i],
			     e->ranks[ranges[i].file], &before);
	}
}

static struct elf_bytes bytes_of(const struct buf *buf)
{
	const struct elf_bytes bytes = { (const uint8_t *)buf->data,
					 buf->len };

	return bytes;
}

/* The name without directories. */
static const char *name_of(const struct binary *binary)
{
	const char *base;

	path_base(binary->path, false, &base);
	return base;
}

static bool is_encoded(const struct encoder *e)
{
	size_t i;

	for (i = 0; i < SYMFILE_NR_PARTS; i++) {
		if (!buf_ok(&e->parts[i].data) ||
		    !buf_ok(&e->parts[i].index) ||
		    !buf_ok(&e->parts[i].starts))
			return false;
	}
	return true;
}

static bool encode_all(struct encoder *e, struct strtab *strings,
		       const struct binary *binary, struct buf *out)
{
	const size_t counts[SYMFILE_NR_PARTS] = {
		strings->nr, e->maker->nr_functions, e->maker->nr_scopes,
		e->maker->nr_ranges
	};
	struct symfile_table tables[SYMFILE_NR_PARTS];
	struct symfile_header header;
	size_t i;

	if (!encode_strings(e, strings))
		return false;
	encode_functions(e);
	encode_scopes(e);
	encode_ranges(e);
	if (!is_encoded(e))
		return false;
	for (i = 0; i < SYMFILE_NR_PARTS; i++) {
		tables[i].nr = counts[i];
		tables[i].data = bytes_of(&e->parts[i].data);
		tables[i].index = bytes_of(&e->parts[i].index);
		tables[i].starts = bytes_of(&e->parts[i].starts);
	}
	memset(&header, 0, sizeof(header));
	memcpy(header.build_id, binary->build_id, sizeof(header.build_id));
	header.name = name_of(binary);
	header.segments = binary->segments;
	header.nr_segments = binary->nr_segments;
	header.type = binary->type;
	header.machine = binary->machine;
	header.is_debug_only = binary->is_debug_only;
	symfile_encode(&header, tables, out);
	return buf_ok(out);
}

bool symfile_pack(struct maker *maker, const struct binary *binary,
		  struct buf *out)
{
	struct encoder e = { .maker = maker };
	bool is_good;
	size_t i;

	for (i = 0; i < SYMFILE_NR_PARTS; i++) {
		buf_init(&e.parts[i].data, UINT32_MAX);
		buf_init(&e.parts[i].index, UINT32_MAX);
		buf_init(&e.parts[i].starts, UINT32_MAX);
	}
	is_good = encode_all(&e, &maker->strings, binary, out);
	for (i = 0; i < SYMFILE_NR_PARTS; i++) {
		buf_fini(&e.parts[i].data);
		buf_fini(&e.parts[i].index);
		buf_fini(&e.parts[i].starts);
	}
	mem_free(e.sorted);
	mem_free(e.ranks);
	return is_good;
}
