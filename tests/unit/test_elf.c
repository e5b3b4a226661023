/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening ELF files: identity, links, sections plain and compressed, and
 * files that are broken or no ELF at all.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbolize/elf.h"

#include "elf_maker.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define ID "00112233445566778899aabbccddeeff00112233"

static char root[64];
static char path[128];

static const struct made_elf full = {
	.segments = {
		{ .vaddr = 0x1000, .offset = 0x1000, .filesz = 0x10,
		  .memsz = 0x10, .align = 0x1000, .flags = PF_R | PF_X },
		{ .vaddr = 0x3000, .offset = 0x2000, .filesz = 0x8,
		  .memsz = 0x80, .align = 0x1000, .flags = PF_R | PF_W },
	},
	.build_id = ID,
	.debuglink = "full.debug",
	.crc = 0x12345678,
	.altlink = "../alt.debug",
	.alt_id = "aabb",
	.has_dwarf = true,
	.symbols = { { "main", 0x1000, 8 } },
};

static struct elf_file *open_made(const struct made_elf *elf)
{
	struct elf_file *file = NULL;

	write_elf(path, elf);
	assert_int_equal(elf_file_open(path, &file, NULL), PPROF_OK);
	return file;
}

static void test_full(void **state)
{
	struct elf_file *file = open_made(&full);
	const struct elf_segment *segments;
	const char *alt_id = NULL;
	uint32_t crc = 0;
	size_t nr;

	(void)state;
	assert_string_equal(elf_file_path(file), path);
	assert_int_equal(elf_file_type(file), ET_DYN);
	assert_int_equal(elf_file_machine(file), EM_X86_64);
	assert_true(elf_file_is_64(file));
	segments = elf_file_segments(file, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(segments[0].vaddr, 0x1000);
	assert_int_equal(segments[0].flags, PF_R | PF_X);
	assert_int_equal(segments[1].offset, 0x2000);
	assert_int_equal(segments[1].memsz, 0x80);
	assert_string_equal(elf_file_build_id(file), ID);
	assert_true(elf_file_has_dwarf(file));
	assert_true(elf_file_has_symtab(file));
	assert_false(elf_file_is_debug_only(file));
	assert_string_equal(elf_file_debuglink(file, &crc), "full.debug");
	assert_int_equal(crc, 0x12345678);
	assert_string_equal(elf_file_debugaltlink(file, &alt_id),
			    "../alt.debug");
	assert_string_equal(alt_id, "aabb");
	elf_file_close(file);
}

static void test_bare(void **state)
{
	const struct made_elf bare = { .is_debug_only = true,
				       .segments = { full.segments[0] } };
	struct elf_file *file = open_made(&bare);
	const char *alt_id = NULL;
	struct elf_bytes bytes;
	uint32_t crc = 0;

	(void)state;
	assert_string_equal(elf_file_build_id(file), "");
	assert_false(elf_file_has_dwarf(file));
	assert_false(elf_file_has_symtab(file));
	assert_true(elf_file_is_debug_only(file));
	assert_null(elf_file_debuglink(file, &crc));
	assert_null(elf_file_debugaltlink(file, &alt_id));
	assert_int_equal(elf_file_section(file, ".debug_line", &bytes, NULL),
			 PPROF_OK);
	assert_int_equal(bytes.size, 0);
	elf_file_close(file);
}

static void test_no_elf(void **state)
{
	static const char *const contents[] = {
		"", "\x7f", "\x7f" "ELF", "#!/bin/sh\n", "!<arch>\n",
		"\x7f" "ELF\2\1\1\0\0\0\0\0\0\0\0\0"
	};
	struct pprof_error err;
	struct elf_file *file = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(contents); i++) {
		write_file(path, contents[i], strlen(contents[i]));
		assert_int_equal(elf_file_open(path, &file, &err),
				 PPROF_FORMAT);
		assert_string_equal(err.source, path);
	}
	assert_int_equal(elf_file_open(root, &file, &err), PPROF_FORMAT);
	assert_int_equal(elf_file_open("/nonexistent", &file, &err),
			 PPROF_IO);
	assert_null(file);
	elf_file_close(NULL);
}

static void test_fifo_does_not_block(void **state)
{
	struct elf_file *file = NULL;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(elf_file_open(path, &file, NULL), PPROF_FORMAT);
	unlink(path);
}

/* A file whose one interesting section has these bytes. */
static struct elf_file *open_section(const char *name, uint64_t flags,
				     const char *hex)
{
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3,
		.e_shstrndx = 2,
	};
	struct elf_file *file = NULL;
	struct made_sections out;
	struct buf bytes;

	memset(&out, 0, sizeof(out));
	buf_init(&out.file, 1 << 20);
	buf_init(&out.names, 4096);
	buf_init(&bytes, 4096);
	buf_add(&out.file, &head, sizeof(head));
	made_section(&out, "", SHT_NULL, 0, "", 0);
	made_hex(&bytes, hex);
	made_section(&out, name, SHT_PROGBITS, flags, buf_cstr(&bytes),
		     bytes.len);
	buf_add(&out.names, ".shstrtab", 10);
	/* The name that is added must not move the data. */
	assert_true(buf_reserve(&out.names, 16));
	made_section(&out, "", SHT_STRTAB, 0, out.names.data, out.names.len);
	while (out.file.len % 8)
		buf_byte(&out.file, 0);
	head.e_shoff = out.file.len;
	buf_add(&out.file, out.headers, out.nr * sizeof(*out.headers));
	memcpy(out.file.data, &head, sizeof(head));
	write_file(path, out.file.data, out.file.len);
	assert_int_equal(elf_file_open(path, &file, NULL), PPROF_OK);
	buf_fini(&bytes);
	buf_fini(&out.names);
	buf_fini(&out.file);
	return file;
}

/* "hello" as a zlib stream, made by python3's zlib.compress(). */
#define HELLO_ZLIB "789ccb48cdc9c90700062c0215"
#define CHDR(type, size) type "000000" "00000000" size "0100000000000000"
#define FIVE "0500000000000000"

static const struct {
	const char *name;
	const char *section;
	uint64_t flags;
	const char *hex;
	enum pprof_status status;
	const char *text;
} rows[] = {
	{ "plain", ".debug_str", 0, "68656c6c6f", PPROF_OK, "hello" },
	{ "zlib", ".debug_str", SHF_COMPRESSED,
	  CHDR("01", FIVE) HELLO_ZLIB, PPROF_OK, "hello" },
	{ "zlib-gnu", ".zdebug_str", 0,
	  "5a4c4942" "0000000000000005" HELLO_ZLIB, PPROF_OK, "hello" },
	{ "a shorter promise", ".debug_str", SHF_COMPRESSED,
	  CHDR("01", "0400000000000000") HELLO_ZLIB, PPROF_FORMAT, NULL },
	{ "a longer promise", ".debug_str", SHF_COMPRESSED,
	  CHDR("01", "0600000000000000") HELLO_ZLIB, PPROF_FORMAT, NULL },
	{ "an impossible promise", ".debug_str", SHF_COMPRESSED,
	  CHDR("01", "0000000000000010") HELLO_ZLIB, PPROF_LIMIT, NULL },
	{ "an impossible promise, zlib-gnu", ".zdebug_str", 0,
	  "5a4c4942" "7fffffffffffffff" HELLO_ZLIB, PPROF_LIMIT, NULL },
	{ "zlib, cut off", ".debug_str", SHF_COMPRESSED,
	  CHDR("01", FIVE) "789ccb48", PPROF_FORMAT, NULL },
	{ "unknown compression", ".debug_str", SHF_COMPRESSED,
	  CHDR("63", FIVE) HELLO_ZLIB, PPROF_UNSUPPORTED, NULL },
	{ "no room for the header", ".debug_str", SHF_COMPRESSED,
	  "0100", PPROF_FORMAT, NULL },
	{ "zlib-gnu without magic", ".zdebug_str", 0,
	  "5a4c4943" "0000000000000005" HELLO_ZLIB, PPROF_FORMAT, NULL },
};

static void test_sections(void **state)
{
	static const char *const name = ".debug_str";
	enum pprof_status status;
	struct elf_bytes bytes;
	struct elf_file *file;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(rows); i++) {
		file = open_section(rows[i].section, rows[i].flags,
				    rows[i].hex);
		elf_file_prefetch(file, &name, 1, 2);
		status = elf_file_section(file, name, &bytes, NULL);
		if (status != rows[i].status)
			print_message("row: %s\n", rows[i].name);
		assert_int_equal(status, rows[i].status);
		if (rows[i].text) {
			assert_int_equal(bytes.size, strlen(rows[i].text));
			assert_memory_equal(bytes.data, rows[i].text,
					    bytes.size);
		}
		elf_file_close(file);
	}
}

static void test_debug_sup(void **state)
{
	const char *alt_id = NULL;
	struct elf_file *file;

	(void)state;
	file = open_section(".debug_sup", 0, "0500" "00" "6100" "02" "abcd");
	assert_string_equal(elf_file_debugaltlink(file, &alt_id), "a");
	assert_string_equal(alt_id, "abcd");
	elf_file_close(file);
	/* The supplementary file itself refers to none. */
	file = open_section(".debug_sup", 0, "0500" "01" "6100" "02" "abcd");
	assert_null(elf_file_debugaltlink(file, &alt_id));
	elf_file_close(file);
	file = open_section(".debug_sup", 0, "0500" "00" "6161");
	assert_null(elf_file_debugaltlink(file, &alt_id));
	elf_file_close(file);
}

/* Cut anywhere, and any byte of the headers wrong: a status, no crash. */
static void test_damage(void **state)
{
	struct made_sections out;
	struct elf_file *file;
	struct elf_bytes bytes;
	const char *alt_id;
	uint8_t *image;
	uint32_t crc;
	size_t i;

	(void)state;
	make_elf(&out, &full);
	for (i = 0; i < 2 * out.file.len; i++) {
		const size_t at = i / 2;

		image = mem_alloc(out.file.len, 1);
		assert_non_null(image);
		memcpy(image, out.file.data, out.file.len);
		if (i % 2)
			image[at] = (uint8_t)~image[at];
		if (elf_file_open_memory("made", image,
					 i % 2 ? out.file.len : at, &file,
					 NULL)) {
			mem_free(image);
			continue;
		}
		elf_file_debuglink(file, &crc);
		elf_file_debugaltlink(file, &alt_id);
		(void)!elf_file_section(file, ".debug_info", &bytes, NULL);
		assert_true(strlen(elf_file_build_id(file)) <=
			    2 * BUILD_ID_MAX);
		elf_file_close(file);
	}
	buf_fini(&out.file);
	buf_fini(&out.names);
}

static void test_out_of_memory(void **state)
{
	enum pprof_status status = PPROF_NOMEM;
	struct elf_file *file;
	uint64_t nth;

	(void)state;
	write_elf(path, &full);
	for (nth = 1; status; nth++) {
		assert_int_equal(status, PPROF_NOMEM);
		mem_fail_nth(nth, true);
		status = elf_file_open(path, &file, NULL);
		mem_fail_nth(0, false);
		assert_true(nth < 100);
	}
	assert_true(nth > 3);
	elf_file_close(file);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_elf.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/file", root);
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	remove_tree(root);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_fifo_does_not_block),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_debug_sup),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
