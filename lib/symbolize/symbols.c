/* SPDX-License-Identifier: Apache-2.0
 *
 * Streaming ELF symbol tables past sorted addresses. Only code counts:
 * never data, PLT stubs or mapping symbols.
 */
#include <config.h>

#include "symbolize/symbols.h"

#include <elf.h>
#include <string.h>

#include "base/mem.h"
#include "symbolize/text_areas.h"

/*
 * Address visits that a table may cost beyond one a symbol. Symbols hardly
 * overlap; a table that covers everything with everything stops here.
 */
#define MAX_VISITS ((uint64_t)1 << 28)

/* A symbol, whatever the class and byte order. */
struct symbol {
	const char *name;
	uint64_t start, size;
	uint32_t section;
	uint8_t type, bind;
};

struct table {
	const struct elf_file *file;
	const struct elf_section *sections;
	size_t nr_sections;
	struct elf_bytes entries, names;
	size_t entry_bytes, nr;
	bool is_64, is_swapped, is_arm;
	struct {
		uint32_t index;
		bool is_code;
	} last; /* one-entry memo of is_code_section() */
};

static bool open_table(const struct elf_file *file, uint32_t type,
		       struct table *table)
{
	size_t i;

	memset(table, 0, sizeof(*table));
	table->file = file;
	table->sections = elf_file_sections(file, &table->nr_sections);
	for (i = 0; i < table->nr_sections; i++) {
		if (table->sections[i].type == type)
			break;
	}
	if (i == table->nr_sections)
		return false;
	table->entries = elf_file_plain_section(file, i);
	table->names = elf_file_plain_section(file, table->sections[i].link);
	table->is_64 = elf_file_is_64(file);
	table->is_swapped = elf_file_is_swapped(file);
	table->is_arm = elf_file_machine(file) == EM_ARM;
	table->entry_bytes = table->is_64 ? sizeof(Elf64_Sym)
					  : sizeof(Elf32_Sym);
	table->nr = table->entries.size / table->entry_bytes;
	return true;
}

/* Executable, and not made of stubs. Remembers the last answer. */
static bool is_code_section(struct table *table, uint32_t index)
{
	const struct elf_section *section;

	if (index == table->last.index)
		return table->last.is_code;
	table->last.index = index;
	table->last.is_code = false;
	if (index >= SHN_LORESERVE || index >= table->nr_sections)
		return false;
	section = &table->sections[index];
	table->last.is_code = section->flags & SHF_ALLOC &&
			      section->flags & SHF_EXECINSTR &&
			      strncmp(section->name, ".plt", 4) &&
			      strncmp(section->name, ".iplt", 5);
	return table->last.is_code;
}

static void read_64(const struct table *table, size_t i, struct symbol *symbol,
		    uint32_t *name)
{
	Elf64_Sym sym;

	memcpy(&sym, table->entries.data + i * sizeof(sym), sizeof(sym));
	if (table->is_swapped) {
		sym.st_name = __builtin_bswap32(sym.st_name);
		sym.st_value = __builtin_bswap64(sym.st_value);
		sym.st_size = __builtin_bswap64(sym.st_size);
		sym.st_shndx = __builtin_bswap16(sym.st_shndx);
	}
	*name = sym.st_name;
	symbol->start = sym.st_value;
	symbol->size = sym.st_size;
	symbol->section = sym.st_shndx;
	symbol->type = ELF64_ST_TYPE(sym.st_info);
	symbol->bind = ELF64_ST_BIND(sym.st_info);
}

static void read_32(const struct table *table, size_t i, struct symbol *symbol,
		    uint32_t *name)
{
	Elf32_Sym sym;

	memcpy(&sym, table->entries.data + i * sizeof(sym), sizeof(sym));
	if (table->is_swapped) {
		sym.st_name = __builtin_bswap32(sym.st_name);
		sym.st_value = __builtin_bswap32(sym.st_value);
		sym.st_size = __builtin_bswap32(sym.st_size);
		sym.st_shndx = __builtin_bswap16(sym.st_shndx);
	}
	*name = sym.st_name;
	symbol->start = sym.st_value;
	symbol->size = sym.st_size;
	symbol->section = sym.st_shndx;
	symbol->type = ELF32_ST_TYPE(sym.st_info);
	symbol->bind = ELF32_ST_BIND(sym.st_info);
}

/* Read symbol i; false when it names no code. */
static bool read_symbol(struct table *table, size_t i, struct symbol *symbol)
{
	uint32_t name;

	if (table->is_64)
		read_64(table, i, symbol, &name);
	else
		read_32(table, i, symbol, &name);
	if (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC &&
	    symbol->type != STT_NOTYPE)
		return false;
	if (symbol->section == SHN_UNDEF ||
	    !is_code_section(table, symbol->section))
		return false;
	if (!name || name >= table->names.size)
		return false;
	symbol->name = (const char *)table->names.data + name;
	/* Bit 0 of a Thumb function's address is its state, not a place. */
	if (table->is_arm && symbol->type == STT_FUNC)
		symbol->start &= ~(uint64_t)1;
	/* "$x", "$d.1": where code and data begin (AAELF, 5.5.5). */
	return symbol->name[0] && symbol->name[0] != '$';
}

static bool is_terminated(const struct table *table, const char *name)
{
	const char *end = (const char *)table->names.data + table->names.size;

	return memchr(name, '\0', (size_t)(end - name));
}

/* GLOBAL before WEAK before LOCAL, then names without leading '_'. */
static uint32_t rank_symbol(const struct symbol *symbol)
{
	uint32_t rank = symbol->bind == STB_LOCAL ? 0 :
			symbol->bind == STB_WEAK ? 1 : 2;

	return 2 * rank + (symbol->name[0] != '_');
}

static void offer(const struct table *table, const struct symbol *symbol,
		  struct symbol_hit *hit)
{
	const uint32_t rank = rank_symbol(symbol);

	if (hit->name && (hit->size < symbol->size ||
			  (hit->size == symbol->size && hit->rank >= rank)))
		return;
	if (!is_terminated(table, symbol->name))
		return;
	hit->name = symbol->name;
	hit->start = symbol->start;
	hit->size = symbol->size;
	hit->rank = rank;
}

/* Marks hits of earlier tables, which stand. */
#define RANK_FINAL UINT32_MAX

void symbols_join_sized(const struct elf_file *file, uint32_t section_type,
			const uint64_t *vaddrs, size_t nr,
			struct symbol_hit *hits)
{
	uint64_t nr_visits = 0;
	struct symbol symbol;
	struct table table;
	size_t i, at;

	if (!nr || !open_table(file, section_type, &table))
		return;
	for (i = 1; i < table.nr && nr_visits < MAX_VISITS; i++) {
		if (!read_symbol(&table, i, &symbol) || !symbol.size ||
		    symbol.start > vaddrs[nr - 1])
			continue;
		at = vaddrs_lower_bound(vaddrs, nr, symbol.start);
		for (; at < nr && vaddrs[at] - symbol.start < symbol.size;
		     at++) {
			nr_visits++;
			if (hits[at].rank != RANK_FINAL)
				offer(&table, &symbol, &hits[at]);
		}
	}
	for (at = 0; at < nr; at++) {
		if (hits[at].name)
			hits[at].rank = RANK_FINAL;
	}
}

/* The nearest symbol at or before an address. */
struct nearest {
	const char *name; /* of the best sizeless one */
	uint64_t start;
	uint32_t section;
	uint32_t rank;
	bool is_set;
	bool is_sized;    /* a sized symbol starts there too */
};

static void note_nearest(const struct symbol *symbol, struct nearest *near)
{
	const uint32_t rank = rank_symbol(symbol);

	if (near->is_set && symbol->start < near->start)
		return;
	if (!near->is_set || symbol->start > near->start) {
		memset(near, 0, sizeof(*near));
		near->is_set = true;
		near->start = symbol->start;
		near->section = symbol->section;
	}
	if (symbol->size) {
		near->is_sized = true;
	} else if (!near->name || rank > near->rank) {
		near->name = symbol->name;
		near->rank = rank;
	}
}

static bool in_section(const struct table *table, uint32_t index,
		       uint64_t vaddr)
{
	const struct elf_section *section = &table->sections[index];

	return vaddr >= section->vaddr &&
	       vaddr - section->vaddr < section->size;
}

/* Carry the nearest symbol forward, and make hits of the sizeless ones. */
static void take_nearest(const struct table *table, bool only_start,
			 const uint64_t *vaddrs, size_t nr,
			 const struct nearest *nears, struct symbol_hit *hits)
{
	const struct nearest *near = NULL;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (nears[i].is_set)
			near = &nears[i];
		if (hits[i].name || !near || !near->name || near->is_sized ||
		    !in_section(table, near->section, vaddrs[i]) ||
		    (only_start && near->start != vaddrs[i]) ||
		    !is_terminated(table, near->name))
			continue;
		hits[i].name = near->name;
		hits[i].start = near->start;
		hits[i].size = 0;
		hits[i].rank = RANK_FINAL;
	}
}

enum pprof_status symbols_join_sizeless(const struct elf_file *file,
					uint32_t section_type,
					const uint64_t *vaddrs, size_t nr,
					struct symbol_hit *hits,
					struct pprof_error *err)
{
	struct nearest *nears;
	struct symbol symbol;
	struct table table;
	size_t i, at;

	for (i = 0; i < nr && hits[i].name; i++)
		;
	if (i == nr || !open_table(file, section_type, &table))
		return PPROF_OK;
	nears = mem_zalloc(nr, sizeof(*nears));
	if (!nears)
		return error_nomem(err);
	for (i = 1; i < table.nr; i++) {
		if (!read_symbol(&table, i, &symbol))
			continue;
		at = vaddrs_lower_bound(vaddrs, nr, symbol.start);
		if (at < nr)
			note_nearest(&symbol, &nears[at]);
	}
	take_nearest(&table, section_type == SHT_DYNSYM, vaddrs, nr, nears,
		     hits);
	mem_free(nears);
	return PPROF_OK;
}
