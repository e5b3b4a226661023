/* SPDX-License-Identifier: Apache-2.0
 *
 * From debugging entries and symbols to names: references are followed,
 * names demangled, each once.
 */
#ifndef SYMBOLIZE_NAMER_H
#define SYMBOLIZE_NAMER_H

#include "base/buf.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "symbolize/dwarf_die.h"

/* A function that was named. */
struct namer_function {
	uint64_t offset;    /* of its entry, as a key */
	uint32_t file;      /* dwarf_file.id */
	bool has_linkage_name;
	bool is_named;      /* DWARF has some name for it */
	str_id name;        /* "??" when DWARF has none */
	str_id system_name; /* mangled, or as DWARF spells it */
	uint32_t start_line;
};

struct namer_facts;
struct namer_descent;

/* Belongs to one thread. */
struct namer {
	enum pprof_names names;
	struct dwarf_abbrev_cache *abbrevs; /* borrowed */
	struct strtab strings;
	struct buf scratch;
	struct namer_function *functions;
	size_t nr_functions, cap_functions;
	struct idmap by_entry;
	struct namer_facts *pending; /* functions that wait for names */
	size_t nr_pending, cap_pending;
	struct namer_descent *descent;
	str_id *readable; /* [nr_readable] by id of the mangled name */
	size_t nr_readable, cap_readable;
};

/* False when out of memory; namer_fini() in either case. */
bool namer_init(struct namer *namer, enum pprof_names names,
		struct dwarf_abbrev_cache *abbrevs);
void namer_fini(struct namer *namer);

/*
 * Give the function whose entry is `die` (unit NULL: unknown) a row, to be
 * named by namer_flush(). `language` is what to assume where the entry's
 * unit tells none. OK, NOMEM.
 */
enum pprof_status namer_add(struct namer *namer, const struct dwarf_die *die,
			    uint16_t language, uint32_t *ret_row);

/*
 * Name all rows that wait, in the order of their entries, since names below
 * scopes need a walk to them. Before the file of any closes. OK, NOMEM.
 */
enum pprof_status namer_flush(struct namer *namer);

/* Name by an ELF symbol; its version goes. OK, NOMEM. */
enum pprof_status namer_symbol(struct namer *namer, const char *symbol,
			       str_id *ret_name, str_id *ret_system_name);

#endif
