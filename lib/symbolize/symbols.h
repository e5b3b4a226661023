/* SPDX-License-Identifier: Apache-2.0
 *
 * ELF symbol tables joined with sorted addresses: each table is streamed
 * once past them, nothing is indexed.
 */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include "symbolize/elf.h"

/* The symbol found for an address; name NULL when there is none. */
struct symbol_hit {
	const char *name; /* lives in the file; may end in @VERSION */
	uint64_t start;
	uint64_t size;    /* 0: sizeless, taken by nearness */
	uint32_t rank;    /* among symbols of one size; higher wins */
};

/*
 * Give each of the ascending vaddrs[nr] that has no hit yet the smallest
 * code symbol of the table `section_type` (SHT_SYMTAB or SHT_DYNSYM) that
 * covers it by its size.
 */
void symbols_join_sized(const struct elf_file *file, uint32_t section_type,
			const uint64_t *vaddrs, size_t nr,
			struct symbol_hit *hits);

/*
 * The same with symbols of size 0, which reach up to the next symbol of
 * their section; in a dynamic table only their very start counts.
 */
enum pprof_status symbols_join_sizeless(const struct elf_file *file,
					uint32_t section_type,
					const uint64_t *vaddrs, size_t nr,
					struct symbol_hit *hits,
					struct pprof_error *err);

#endif
