/* SPDX-License-Identifier: Apache-2.0
 *
 * Small ELF files for tests: segments, a build ID, links to debug files and
 * a symbol table, without a compiler.
 */
#ifndef TESTS_UNIT_ELF_MAKER_H
#define TESTS_UNIT_ELF_MAKER_H

#include <elf.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "symbolize/elf.h"

#define MADE_SEGMENTS 4
#define MADE_SYMBOLS 6

/* A file to be made. Members that are 0 or NULL are left out. */
struct made_elf {
	uint16_t type;         /* 0: ET_DYN */
	uint16_t machine;      /* 0: EM_X86_64 */
	struct elf_segment segments[MADE_SEGMENTS];
	const char *build_id;  /* hex */
	const char *debuglink; /* name, with */
	uint32_t crc;
	const char *altlink;   /* name, with */
	const char *alt_id;    /* hex */
	bool has_dwarf;        /* a .debug_info of a few bytes */
	bool is_debug_only;    /* the text is not in the file */
	uint8_t fill;          /* of the code; 0: calls everywhere on x86 */
	struct {
		const char *name;
		uint64_t start, size;
	} symbols[MADE_SYMBOLS];
};

struct made_sections {
	struct buf file;
	struct buf names;
	Elf64_Shdr headers[12];
	size_t nr;
};

static inline void made_section(struct made_sections *out, const char *name,
				uint32_t type, uint64_t flags,
				const void *data, size_t nr_bytes)
{
	Elf64_Shdr *header = &out->headers[out->nr++];

	while (out->file.len % 8)
		buf_byte(&out->file, 0);
	memset(header, 0, sizeof(*header));
	header->sh_name = (Elf64_Word)out->names.len;
	header->sh_type = type;
	header->sh_flags = flags;
	header->sh_offset = out->file.len;
	header->sh_size = nr_bytes;
	header->sh_addralign = 1;
	buf_add(&out->names, name, strlen(name) + 1);
	if (type != SHT_NOBITS)
		buf_add(&out->file, data, nr_bytes);
}

static inline void made_hex(struct buf *out, const char *hex)
{
	unsigned byte;

	for (; hex[0] && hex[1]; hex += 2) {
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		buf_byte(out, (char)byte);
	}
}

static inline void made_note(struct made_sections *out, const char *hex)
{
	Elf64_Nhdr head = { 4, (Elf64_Word)(strlen(hex) / 2),
			    NT_GNU_BUILD_ID };
	struct buf note;

	buf_init(&note, 4096);
	buf_add(&note, &head, sizeof(head));
	buf_add(&note, "GNU", 4);
	made_hex(&note, hex);
	made_section(out, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC,
		     note.data, note.len);
	buf_fini(&note);
}

/* Name, NUL, padding up to a multiple of `align`, then bytes in hex. */
static inline void made_link(struct made_sections *out, const char *section,
			     const char *name, size_t align, const char *hex)
{
	struct buf link;

	buf_init(&link, 4096);
	buf_add(&link, name, strlen(name) + 1);
	while (link.len % align)
		buf_byte(&link, 0);
	made_hex(&link, hex);
	made_section(out, section, SHT_PROGBITS, 0, link.data, link.len);
	buf_fini(&link);
}

static inline void made_symbols(struct made_sections *out,
				const struct made_elf *elf, uint16_t text)
{
	struct buf table, names;
	size_t i;

	buf_init(&table, 65536);
	buf_init(&names, 65536);
	buf_byte(&names, 0);
	for (i = 0; i < sizeof(Elf64_Sym); i++)
		buf_byte(&table, 0);
	for (i = 0; i < MADE_SYMBOLS && elf->symbols[i].name; i++) {
		const Elf64_Sym symbol = {
			.st_name = (Elf64_Word)names.len,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = text,
			.st_value = elf->symbols[i].start,
			.st_size = elf->symbols[i].size,
		};

		buf_add(&table, &symbol, sizeof(symbol));
		buf_add(&names, elf->symbols[i].name,
			strlen(elf->symbols[i].name) + 1);
	}
	made_section(out, ".strtab", SHT_STRTAB, 0, names.data, names.len);
	made_section(out, ".symtab", SHT_SYMTAB, 0, table.data, table.len);
	out->headers[out->nr - 1].sh_link = (Elf64_Word)out->nr - 2;
	out->headers[out->nr - 1].sh_entsize = sizeof(Elf64_Sym);
	buf_fini(&table);
	buf_fini(&names);
}

static inline void made_segments(struct made_sections *out,
				 const struct made_elf *elf, size_t *ret_nr)
{
	size_t i;

	for (i = 0; i < MADE_SEGMENTS && elf->segments[i].memsz; i++) {
		const Elf64_Phdr header = {
			.p_type = PT_LOAD,
			.p_flags = elf->segments[i].flags,
			.p_offset = elf->segments[i].offset,
			.p_vaddr = elf->segments[i].vaddr,
			.p_paddr = elf->segments[i].vaddr,
			.p_filesz = elf->segments[i].filesz,
			.p_memsz = elf->segments[i].memsz,
			.p_align = elf->segments[i].align,
		};

		buf_add(&out->file, &header, sizeof(header));
	}
	*ret_nr = i;
}

/* .text covers the first executable segment. */
static inline void made_text(struct made_sections *out,
			     const struct made_elf *elf)
{
	size_t i;

	made_section(out, ".text",
		     elf->is_debug_only ? SHT_NOBITS : SHT_PROGBITS,
		     SHF_ALLOC | SHF_EXECINSTR, "\xcc", 1);
	for (i = 0; i < MADE_SEGMENTS; i++) {
		if (!(elf->segments[i].flags & PF_X))
			continue;
		out->headers[out->nr - 1].sh_addr = elf->segments[i].vaddr;
		out->headers[out->nr - 1].sh_size = elf->segments[i].memsz;
		break;
	}
}

/* Fill the file up to the end of its code. */
static inline void made_code(struct made_sections *out,
			     const struct made_elf *elf)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < MADE_SEGMENTS; i++)
		if (elf->segments[i].flags & PF_X)
			end = elf->segments[i].offset +
			      elf->segments[i].filesz;
	while (out->file.len < end)
		buf_byte(&out->file, (char)(elf->fill ? elf->fill : 0xe8));
}

/* Bytes of the file in out->file. buf_fini() both bufs afterwards. */
static inline void make_elf(struct made_sections *out,
			    const struct made_elf *elf)
{
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = elf->type ? elf->type : ET_DYN,
		.e_machine = elf->machine ? elf->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	char crc[9];
	size_t nr;

	memset(out, 0, sizeof(*out));
	buf_init(&out->file, 1 << 20);
	buf_init(&out->names, 4096);
	buf_add(&out->file, &head, sizeof(head));
	made_segments(out, elf, &nr);
	head.e_phnum = (Elf64_Half)nr;
	made_section(out, "", SHT_NULL, 0, "", 0);
	made_text(out, elf);
	if (elf->build_id)
		made_note(out, elf->build_id);
	snprintf(crc, sizeof(crc), "%08x", __builtin_bswap32(elf->crc));
	if (elf->debuglink)
		made_link(out, ".gnu_debuglink", elf->debuglink, 4, crc);
	if (elf->altlink)
		made_link(out, ".gnu_debugaltlink", elf->altlink, 1,
			  elf->alt_id);
	if (elf->has_dwarf)
		made_section(out, ".debug_info", SHT_PROGBITS, 0, "none", 4);
	if (elf->symbols[0].name)
		made_symbols(out, elf, 1);
	buf_add(&out->names, ".shstrtab", 10);
	/* The name that is added must not move the data. */
	assert_true(buf_reserve(&out->names, 16));
	made_section(out, "", SHT_STRTAB, 0, out->names.data, out->names.len);
	head.e_shstrndx = (Elf64_Half)(out->nr - 1);
	head.e_shnum = (Elf64_Half)out->nr;
	while (out->file.len % 8)
		buf_byte(&out->file, 0);
	head.e_shoff = out->file.len;
	buf_add(&out->file, out->headers, out->nr * sizeof(*out->headers));
	made_code(out, elf);
	assert_true(buf_ok(&out->file));
	memcpy(out->file.data, &head, sizeof(head));
}

/* Make the directories above `path`. */
static inline void made_dirs(const char *path)
{
	char dir[4096];
	size_t i;

	for (i = 1; path[i]; i++) {
		assert_true(i < sizeof(dir));
		if (path[i] != '/')
			continue;
		memcpy(dir, path, i);
		dir[i] = '\0';
		mkdir(dir, 0777);
	}
}

static inline void write_file(const char *path, const void *data, size_t nr)
{
	FILE *file;

	made_dirs(path);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, nr, file), nr);
	assert_int_equal(fclose(file), 0);
}

static inline void write_elf(const char *path, const struct made_elf *elf)
{
	struct made_sections out;

	make_elf(&out, elf);
	write_file(path, out.file.data, out.file.len);
	buf_fini(&out.file);
	buf_fini(&out.names);
}

static inline int remove_entry(const char *path, const struct stat *st,
			       int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Remove a directory with all that is in it, if it is there. */
static inline void remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
