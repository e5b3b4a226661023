/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of symbol files: CBOR (RFC 8949) items, written and read through
 * libcbor's streaming interface, so that nothing large is copied.
 */
#include <config.h>

#include "symbolize/symfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cbor.h>

#include "base/mem.h"

/* "Self-described CBOR", RFC 8949, 3.4.6. */
#define CBOR_TAG 55799

static const char magic[] = "pprof-symbols";

/* Segments of one file. */
#define SEGMENTS_MAX 4096

static const char *const part_names[SYMFILE_NR_PARTS] = {
	[SYMFILE_STRINGS] = "strings",
	[SYMFILE_FUNCTIONS] = "functions",
	[SYMFILE_SCOPES] = "scopes",
	[SYMFILE_RANGES] = "ranges",
};

/*
 * FNV-1a over 64-bit little-endian words, the last one filled with zeros:
 * finds damage, proves nothing.
 */
static uint64_t add_checksum(uint64_t sum, struct elf_bytes bytes)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < bytes.size; i += sizeof(word)) {
		const size_t left = bytes.size - i;

		word = 0;
		memcpy(&word, bytes.data + i,
		       left < sizeof(word) ? left : sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		word = __builtin_bswap64(word);
#endif
		sum = (sum ^ word) * UINT64_C(0x100000001b3);
		sum ^= sum >> 32;
	}
	return sum;
}

static uint64_t sum_tables(const struct symfile_table *tables)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < SYMFILE_NR_PARTS; i++) {
		sum = add_checksum(sum ^ tables[i].nr, tables[i].data);
		sum = add_checksum(sum, tables[i].index);
		sum = add_checksum(sum, tables[i].starts);
	}
	return sum;
}

/* ---------------------------------------------------------------- writing */

/* Longest head of an item. */
#define HEAD_BYTES 9

static void put_uint(struct buf *out, uint64_t value)
{
	unsigned char head[HEAD_BYTES];

	buf_add(out, head, cbor_encode_uint(value, head, sizeof(head)));
}

static void put_text(struct buf *out, const char *text)
{
	unsigned char head[HEAD_BYTES];
	const size_t len = strlen(text);

	buf_add(out, head, cbor_encode_string_start(len, head, sizeof(head)));
	buf_add(out, text, len);
}

static void put_bytes(struct buf *out, struct elf_bytes bytes)
{
	unsigned char head[HEAD_BYTES];

	buf_add(out, head, cbor_encode_bytestring_start(bytes.size, head,
							sizeof(head)));
	buf_add(out, bytes.data, bytes.size);
}

static void put_array(struct buf *out, size_t nr)
{
	unsigned char head[HEAD_BYTES];

	buf_add(out, head, cbor_encode_array_start(nr, head, sizeof(head)));
}

static void put_map(struct buf *out, size_t nr)
{
	unsigned char head[HEAD_BYTES];

	buf_add(out, head, cbor_encode_map_start(nr, head, sizeof(head)));
}

static void put_header(struct buf *out, const struct symfile_header *header)
{
	size_t i;

	put_map(out, 6);
	put_text(out, "build_id");
	put_text(out, header->build_id);
	put_text(out, "name");
	put_bytes(out, (struct elf_bytes){ (const uint8_t *)header->name,
					   strlen(header->name) });
	put_text(out, "type");
	put_uint(out, header->type);
	put_text(out, "machine");
	put_uint(out, header->machine);
	put_text(out, "debug_only");
	put_uint(out, header->is_debug_only);
	put_text(out, "segments");
	put_array(out, header->nr_segments);
	for (i = 0; i < header->nr_segments; i++) {
		const struct elf_segment *segment = &header->segments[i];

		put_array(out, 6);
		put_uint(out, segment->vaddr);
		put_uint(out, segment->offset);
		put_uint(out, segment->filesz);
		put_uint(out, segment->memsz);
		put_uint(out, segment->align);
		put_uint(out, segment->flags);
	}
}

void symfile_encode(const struct symfile_header *header,
		    const struct symfile_table tables[SYMFILE_NR_PARTS],
		    struct buf *out)
{
	unsigned char head[HEAD_BYTES];
	size_t i;

	buf_add(out, head, cbor_encode_tag(CBOR_TAG, head, sizeof(head)));
	put_array(out, 5);
	put_text(out, magic);
	put_uint(out, SYMFILE_VERSION);
	put_header(out, header);
	put_map(out, SYMFILE_NR_PARTS);
	for (i = 0; i < SYMFILE_NR_PARTS; i++) {
		put_text(out, part_names[i]);
		put_array(out, 4);
		put_uint(out, tables[i].nr);
		put_bytes(out, tables[i].data);
		put_bytes(out, tables[i].index);
		put_bytes(out, tables[i].starts);
	}
	put_uint(out, sum_tables(tables));
}

/* ---------------------------------------------------------------- reading */

enum item_kind { ITEM_NONE, ITEM_UINT, ITEM_BYTES, ITEM_TEXT, ITEM_ARRAY,
		 ITEM_MAP, ITEM_TAG };

/* The item that was read last. */
struct item {
	enum item_kind kind;
	uint64_t number;        /* also the length of arrays and maps */
	struct elf_bytes bytes;
};

struct parser {
	const uint8_t *p, *end;
	struct cbor_callbacks callbacks;
	struct item item;
	bool failed;
};

static void set_item(void *ctx, enum item_kind kind, uint64_t number)
{
	struct item *item = ctx;

	item->kind = kind;
	item->number = number;
}

static void take_u8(void *ctx, uint8_t value)
{
	set_item(ctx, ITEM_UINT, value);
}

static void take_u16(void *ctx, uint16_t value)
{
	set_item(ctx, ITEM_UINT, value);
}

static void take_u32(void *ctx, uint32_t value)
{
	set_item(ctx, ITEM_UINT, value);
}

static void take_u64(void *ctx, uint64_t value)
{
	set_item(ctx, ITEM_UINT, value);
}

static void take_tag(void *ctx, uint64_t value)
{
	set_item(ctx, ITEM_TAG, value);
}

static void take_array(void *ctx, size_t nr)
{
	set_item(ctx, ITEM_ARRAY, nr);
}

static void take_map(void *ctx, size_t nr)
{
	set_item(ctx, ITEM_MAP, nr);
}

static void take_bytes(void *ctx, cbor_data data, size_t size)
{
	struct item *item = ctx;

	item->kind = ITEM_BYTES;
	item->bytes.data = data;
	item->bytes.size = size;
}

static void take_text(void *ctx, cbor_data data, size_t size)
{
	take_bytes(ctx, data, size);
	((struct item *)ctx)->kind = ITEM_TEXT;
}

static void parser_init(struct parser *parser, const uint8_t *data,
			size_t size)
{
	memset(parser, 0, sizeof(*parser));
	parser->p = data;
	parser->end = data + size;
	parser->callbacks = cbor_empty_callbacks;
	parser->callbacks.uint8 = take_u8;
	parser->callbacks.uint16 = take_u16;
	parser->callbacks.uint32 = take_u32;
	parser->callbacks.uint64 = take_u64;
	parser->callbacks.tag = take_tag;
	parser->callbacks.array_start = take_array;
	parser->callbacks.map_start = take_map;
	parser->callbacks.byte_string = take_bytes;
	parser->callbacks.string = take_text;
}

/* The next item, which has to be of this kind. */
static const struct item *next(struct parser *parser, enum item_kind kind)
{
	static const struct item nothing = { ITEM_NONE, 0, { NULL, 0 } };
	struct cbor_decoder_result result;

	if (parser->failed)
		return &nothing;
	parser->item = nothing;
	result = cbor_stream_decode(parser->p,
				    (size_t)(parser->end - parser->p),
				    &parser->callbacks, &parser->item);
	if (result.status != CBOR_DECODER_FINISHED ||
	    parser->item.kind != kind) {
		parser->failed = true;
		return &nothing;
	}
	parser->p += result.read;
	return &parser->item;
}

static uint64_t next_uint(struct parser *parser, uint64_t max)
{
	const uint64_t value = next(parser, ITEM_UINT)->number;

	if (value > max)
		parser->failed = true;
	return parser->failed ? 0 : value;
}

static void expect_length(struct parser *parser, enum item_kind kind,
			  uint64_t nr)
{
	if (next(parser, kind)->number != nr)
		parser->failed = true;
}

static void expect_text(struct parser *parser, const char *text)
{
	const struct item *item = next(parser, ITEM_TEXT);

	if (item->bytes.size != strlen(text) ||
	    memcmp(item->bytes.data, text, item->bytes.size) != 0)
		parser->failed = true;
}

/* True when the file is one of ours; then its version is read. */
static bool read_magic(struct parser *parser, uint64_t *ret_version)
{
	if (next(parser, ITEM_TAG)->number != CBOR_TAG)
		return false;
	expect_length(parser, ITEM_ARRAY, 5);
	expect_text(parser, magic);
	*ret_version = next_uint(parser, UINT64_MAX);
	return !parser->failed;
}

static void read_segments(struct parser *parser,
			  struct symfile_header *header)
{
	uint64_t nr = next(parser, ITEM_ARRAY)->number, i;

	if (nr > SEGMENTS_MAX) {
		parser->failed = true;
		return;
	}
	header->segments = mem_zalloc(nr, sizeof(*header->segments));
	for (i = 0; header->segments && i < nr && !parser->failed; i++) {
		struct elf_segment *segment = &header->segments[i];

		expect_length(parser, ITEM_ARRAY, 6);
		segment->vaddr = next_uint(parser, UINT64_MAX);
		segment->offset = next_uint(parser, UINT64_MAX);
		segment->filesz = next_uint(parser, UINT64_MAX);
		segment->memsz = next_uint(parser, UINT64_MAX);
		segment->align = next_uint(parser, UINT64_MAX);
		segment->flags = (uint32_t)next_uint(parser, UINT32_MAX);
		header->nr_segments++;
	}
}

static bool read_name(struct parser *parser, struct symfile *symfile)
{
	const struct item *item = next(parser, ITEM_BYTES);

	if (item->bytes.size > SYMFILE_STRING_MAX)
		parser->failed = true;
	if (parser->failed)
		return true;
	symfile->name = mem_strndup((const char *)item->bytes.data,
				    item->bytes.size);
	symfile->header.name = symfile->name;
	return symfile->name;
}

/* False when out of memory. */
static bool read_header(struct parser *parser, struct symfile *symfile)
{
	struct symfile_header *header = &symfile->header;
	const struct item *item;

	expect_length(parser, ITEM_MAP, 6);
	expect_text(parser, "build_id");
	item = next(parser, ITEM_TEXT);
	if (item->bytes.size < sizeof(header->build_id) && item->bytes.data)
		memcpy(header->build_id, item->bytes.data, item->bytes.size);
	else if (item->bytes.size)
		parser->failed = true;
	expect_text(parser, "name");
	if (!read_name(parser, symfile))
		return false;
	expect_text(parser, "type");
	header->type = (unsigned)next_uint(parser, UINT16_MAX);
	expect_text(parser, "machine");
	header->machine = (unsigned)next_uint(parser, UINT16_MAX);
	expect_text(parser, "debug_only");
	header->is_debug_only = next_uint(parser, 1);
	expect_text(parser, "segments");
	read_segments(parser, header);
	return header->segments || parser->failed;
}

/* A table is as long as its index says, and every record takes a byte. */
static bool is_consistent(const struct symfile_table *table, bool has_starts,
			  uint64_t block)
{
	const uint64_t nr_blocks = table->nr / block + !!(table->nr % block);

	return table->nr <= table->data.size && table->nr < UINT32_MAX &&
	       table->data.size <= UINT32_MAX &&
	       table->index.size == nr_blocks * 4 &&
	       table->starts.size == (has_starts ? nr_blocks * 8 : 0);
}

static void read_tables(struct parser *parser, struct symfile_table *tables)
{
	size_t i;

	expect_length(parser, ITEM_MAP, SYMFILE_NR_PARTS);
	for (i = 0; i < SYMFILE_NR_PARTS && !parser->failed; i++) {
		const bool is_ranges = i == SYMFILE_RANGES;

		expect_text(parser, part_names[i]);
		expect_length(parser, ITEM_ARRAY, 4);
		tables[i].nr = next_uint(parser, UINT64_MAX);
		tables[i].data = next(parser, ITEM_BYTES)->bytes;
		tables[i].index = next(parser, ITEM_BYTES)->bytes;
		tables[i].starts = next(parser, ITEM_BYTES)->bytes;
		if (!is_consistent(&tables[i], is_ranges,
				   is_ranges ? SYMFILE_RANGE_BLOCK
					     : SYMFILE_BLOCK))
			parser->failed = true;
	}
}

static enum pprof_status parse(struct symfile *symfile, const char *path,
			       bool *ret_mine, struct pprof_error *err)
{
	struct parser parser;
	uint64_t version;

	parser_init(&parser, symfile->map, symfile->map_size);
	*ret_mine = read_magic(&parser, &version);
	if (!*ret_mine)
		return PPROF_OK;
	if (version != SYMFILE_VERSION)
		return error_plain(err, PPROF_UNSUPPORTED, path,
				   "symbol file of version %llu; this is "
				   "version %d", (unsigned long long)version,
				   SYMFILE_VERSION);
	if (!read_header(&parser, symfile))
		return error_nomem(err);
	read_tables(&parser, symfile->tables);
	symfile->checksum = next_uint(&parser, UINT64_MAX);
	if (parser.failed || parser.p != parser.end)
		return error_plain(err, PPROF_FORMAT, path,
				   "damaged symbol file");
	return PPROF_OK;
}

/* Map what begins as CBOR of ours does; `map` stays NULL for other files. */
static enum pprof_status map_file(struct symfile *symfile, const char *path,
				  struct pprof_error *err)
{
	static const uint8_t head[] = { 0xd9, 0xd9, 0xf7 };
	enum pprof_status status = PPROF_OK;
	uint8_t found[sizeof(head)];
	struct stat st;
	void *map;
	int fd;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return PPROF_OK; /* whoever opens it next tells why */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    pread(fd, found, sizeof(found), 0) == (ssize_t)sizeof(found) &&
	    !memcmp(found, head, sizeof(head))) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
			   fd, 0);
		if (map == MAP_FAILED) {
			status = error_plain(err, PPROF_IO, path, "%s",
					     strerror(errno));
		} else {
			symfile->map = map;
			symfile->map_size = (size_t)st.st_size;
		}
	}
	close(fd);
	return status;
}

enum pprof_status symfile_open(const char *path, struct symfile **ret_symfile,
			       struct pprof_error *err)
{
	struct symfile *symfile = mem_zalloc(1, sizeof(*symfile));
	enum pprof_status status;
	bool is_mine = false;

	if (!symfile)
		return error_nomem(err);
	status = map_file(symfile, path, err);
	if (!status && symfile->map)
		status = parse(symfile, path, &is_mine, err);
	if (status || !is_mine) {
		symfile_close(symfile);
		symfile = NULL;
	}
	if (!status)
		*ret_symfile = symfile;
	return status;
}

void symfile_close(struct symfile *symfile)
{
	if (!symfile)
		return;
	if (symfile->map)
		munmap(symfile->map, symfile->map_size);
	mem_free(symfile->header.segments);
	mem_free(symfile->name);
	mem_free(symfile);
}

bool symfile_is_intact(struct symfile *symfile)
{
	if (!symfile->is_checked &&
	    sum_tables(symfile->tables) == symfile->checksum)
		symfile->is_checked = true;
	return symfile->is_checked;
}
