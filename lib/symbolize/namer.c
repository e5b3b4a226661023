/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of functions: the linkage name where there is one, else the plain
 * name, for C++ and Rust put below the scopes that enclose its declaration.
 */
#include <config.h>

#include "symbolize/namer.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbolize/demangle.h"

/* abstract_origin and specification chains: two or three in real files. */
#define MAX_HOPS 16

/* Nesting of scopes around a declaration. */
#define MAX_SCOPES 256

/* All names of one thread, and one name being made. */
#define MAX_NAME_BYTES ((uint64_t)1 << 30)
#define MAX_SCRATCH ((size_t)8 << 20)

/* What the entries of one function say together. */
struct namer_facts {
	uint32_t row;                    /* of the function */
	const char *linkage_name, *name; /* NULL: none */
	struct dwarf_die named;          /* the entry that has `name` */
	uint32_t decl_line;
	uint16_t language;
};

bool namer_init(struct namer *namer, enum pprof_names names,
		struct dwarf_abbrev_cache *abbrevs)
{
	memset(namer, 0, sizeof(*namer));
	namer->names = names;
	namer->abbrevs = abbrevs;
	buf_init(&namer->scratch, MAX_SCRATCH);
	return strtab_init(&namer->strings, MAX_NAME_BYTES);
}

void namer_fini(struct namer *namer)
{
	strtab_fini(&namer->strings);
	buf_fini(&namer->scratch);
	mem_free(namer->functions);
	idmap_fini(&namer->by_entry);
	mem_free(namer->readable);
	mem_free(namer->pending);
	mem_free(namer->descent);
}

static uint64_t hash_entry(uint32_t file, uint64_t offset)
{
	return hash_u64(offset ^ (uint64_t)file << 48);
}

static uint64_t hash_function(const void *ctx, uint32_t id)
{
	const struct namer *namer = ctx;

	return hash_entry(namer->functions[id].file,
			  namer->functions[id].offset);
}

/* Read the attributes of any entry. OK, NOMEM, FORMAT. */
static enum pprof_status read_entry(struct namer *namer,
				    const struct dwarf_die *die,
				    struct dwarf_attrs *attrs, uint16_t *tag)
{
	struct dwarf_cursor cursor = dwarf_unit_at(die->unit, die->offset);
	const struct dwarf_abbrevs *table;
	const struct dwarf_abbrev *abbrev;
	enum pprof_status status;
	uint64_t code;

	status = dwarf_abbrev_cache_get(namer->abbrevs, die->unit, &table);
	if (status)
		return status;
	code = dwarf_uleb(&cursor);
	if (!code)
		return PPROF_FORMAT;
	abbrev = dwarf_abbrevs_find(table, code);
	if (!abbrev || !dwarf_read_attrs(die->unit, table, abbrev, &cursor,
					 attrs))
		return PPROF_FORMAT;
	*tag = abbrev->tag;
	return PPROF_OK;
}

static const char *text_or_null(const struct dwarf_die *die,
				const struct dwarf_attrs *attrs,
				enum dwarf_slot slot)
{
	const char *text;

	if (!dwarf_has(attrs, slot))
		return NULL;
	text = dwarf_value_text(die->unit, &attrs->values[slot]);
	return *text ? text : NULL;
}

/* Add what one entry says; true with *die moved when it refers to another. */
static bool add_facts(struct dwarf_die *die, const struct dwarf_attrs *attrs,
		      struct namer_facts *facts)
{
	const struct dwarf_value *values = attrs->values;

	if (!facts->linkage_name)
		facts->linkage_name = text_or_null(die, attrs,
						   SLOT_LINKAGE_NAME);
	if (!facts->name) {
		facts->name = text_or_null(die, attrs, SLOT_NAME);
		facts->named = *die;
	}
	if (!facts->decl_line)
		facts->decl_line = dwarf_value_u32(attrs, SLOT_DECL_LINE);
	if (die->unit->language)
		facts->language = die->unit->language;
	if (facts->linkage_name && facts->decl_line)
		return false;
	if (dwarf_has(attrs, SLOT_ORIGIN))
		return dwarf_value_die(die->unit, &values[SLOT_ORIGIN], die);
	if (dwarf_has(attrs, SLOT_SPECIFICATION))
		return dwarf_value_die(die->unit, &values[SLOT_SPECIFICATION],
				       die);
	return false;
}

static enum pprof_status gather(struct namer *namer, struct dwarf_die die,
				struct namer_facts *facts)
{
	enum pprof_status status;
	struct dwarf_attrs attrs;
	uint16_t tag;
	int hops;

	for (hops = 0; hops < MAX_HOPS; hops++) {
		status = read_entry(namer, &die, &attrs, &tag);
		if (status == PPROF_FORMAT)
			return PPROF_OK; /* what was gathered has to do */
		if (status)
			return status;
		if (!add_facts(&die, &attrs, facts))
			break;
	}
	return PPROF_OK;
}

static str_id intern(struct namer *namer, const char *text, size_t len)
{
	return strtab_add(&namer->strings, text, len);
}

/* The scratch text as a string; STR_NONE when it did not fit. */
static str_id intern_scratch(struct namer *namer)
{
	if (!buf_ok(&namer->scratch))
		return STR_NONE;
	return intern(namer, namer->scratch.data ? namer->scratch.data : "",
		      namer->scratch.len);
}

/* The readable form of a mangled name, made once. */
static str_id readable_of(struct namer *namer, str_id mangled)
{
	const char *text = strtab_text(&namer->strings, mangled);
	str_id id;

	if (mangled >= namer->nr_readable) {
		if (!mem_grow(namer->readable, namer->cap_readable,
			      (size_t)mangled + 1, UINT32_MAX))
			return STR_NONE;
		while (namer->nr_readable <= mangled)
			namer->readable[namer->nr_readable++] = STR_NONE;
	}
	if (namer->readable[mangled] != STR_NONE)
		return namer->readable[mangled];
	buf_reset(&namer->scratch);
	demangle(text, namer->names, &namer->scratch);
	id = intern_scratch(namer);
	namer->readable[mangled] = id;
	return id;
}

enum pprof_status namer_symbol(struct namer *namer, const char *symbol,
			       str_id *ret_name, str_id *ret_system_name)
{
	str_id system_name, name;

	system_name = intern(namer, symbol, demangle_unversioned(symbol));
	if (system_name == STR_NONE)
		return PPROF_NOMEM;
	name = readable_of(namer, system_name);
	if (name == STR_NONE)
		return PPROF_NOMEM;
	*ret_name = name;
	*ret_system_name = system_name;
	return PPROF_OK;
}

/* ---- names below their scopes ---- */

static bool is_scoped_language(uint16_t language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* DW_LANG_C_plus_plus_17 */
	case 0x2c: /* DW_LANG_C_plus_plus_20 */
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

/*
 * The way from a unit's root down to an entry. Kept for the next one, which
 * mostly lies behind it.
 */
struct namer_descent {
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *table;
	struct dwarf_cursor cursor;
	uint64_t wanted;             /* offset of the entry */
	uint64_t scopes[MAX_SCOPES]; /* entries around it, root first */
	size_t depth;
};

/* Over one entry before the wanted one, or into its children. */
static bool descend(struct namer_descent *descent)
{
	const struct dwarf_unit *unit = descent->unit;
	const uint64_t here = (uint64_t)(descent->cursor.p - unit->data);
	const struct dwarf_abbrev *abbrev;
	struct dwarf_cursor inside;
	uint64_t code;
	bool jumped;

	code = dwarf_uleb(&descent->cursor);
	if (!code)
		return descent->depth && descent->depth--;
	abbrev = dwarf_abbrevs_find(descent->table, code);
	if (!abbrev)
		return false;
	inside = descent->cursor;
	dwarf_skip_attrs(unit, descent->table, abbrev, &descent->cursor,
			 abbrev->has_children, &jumped);
	if (!abbrev->has_children || descent->cursor.failed)
		return true;
	if (jumped && (uint64_t)(descent->cursor.p - unit->data) <=
		      descent->wanted)
		return true;
	if (descent->depth == MAX_SCOPES)
		return false;
	descent->scopes[descent->depth++] = here;
	descent->cursor = inside;
	dwarf_skip_attrs(unit, descent->table, abbrev, &descent->cursor,
			 false, &jumped);
	return true;
}

/* Start at the root, unless the last descent ended before this entry. */
static enum pprof_status start_descent(struct namer *namer,
				       const struct dwarf_die *die)
{
	struct namer_descent *descent = namer->descent;
	const struct dwarf_unit *unit = die->unit;

	if (!descent) {
		descent = mem_alloc(1, sizeof(*descent));
		if (!descent)
			return PPROF_NOMEM;
		namer->descent = descent;
	} else if (descent->unit == unit && !descent->cursor.failed &&
		   descent->cursor.p <= unit->data + die->offset) {
		descent->wanted = die->offset;
		return PPROF_OK;
	}
	descent->unit = unit;
	descent->cursor = dwarf_unit_at(unit, unit->first_die);
	descent->wanted = die->offset;
	descent->depth = 0;
	return dwarf_abbrev_cache_get(namer->abbrevs, unit, &descent->table);
}

/* The entries around `die` to namer->descent; none when it is off the tree. */
static enum pprof_status find_scopes(struct namer *namer,
				     const struct dwarf_die *die,
				     size_t *ret_nr)
{
	const uint8_t *wanted = die->unit->data + die->offset;
	struct namer_descent *descent;
	enum pprof_status status;

	*ret_nr = 0;
	status = start_descent(namer, die);
	descent = namer->descent;
	if (status == PPROF_FORMAT) {
		descent->unit = NULL;
		return PPROF_OK;
	}
	while (!status && descent->cursor.p < wanted) {
		if (!descend(descent))
			dwarf_fail(&descent->cursor);
	}
	if (!status && !descent->cursor.failed && descent->cursor.p == wanted)
		*ret_nr = descent->depth;
	return status;
}

/*
 * What a scope without a name is called. Types with functions but without
 * name are lambdas' where they stand in a function, or can be called.
 */
static const char *unnamed_scope(uint16_t tag, bool may_be_lambda)
{
	switch (tag) {
	case DW_TAG_namespace:
		return "(anonymous namespace)";
	case DW_TAG_structure_type:
		return may_be_lambda ? "{lambda}" : "(anonymous struct)";
	case DW_TAG_class_type:
		return may_be_lambda ? "{lambda}" : "(anonymous class)";
	case DW_TAG_union_type:
		return "(anonymous union)";
	default:
		return "(anonymous type)";
	}
}

/* A type that is only referred to by its signature has its name there. */
static const char *signature_name(struct namer *namer,
				  const struct dwarf_die *die,
				  const struct dwarf_attrs *attrs)
{
	struct dwarf_attrs type_attrs;
	struct dwarf_die type;
	uint16_t tag;

	if (!dwarf_has(attrs, SLOT_SIGNATURE) ||
	    !dwarf_value_die(die->unit, &attrs->values[SLOT_SIGNATURE],
			     &type) ||
	    read_entry(namer, &type, &type_attrs, &tag))
		return NULL;
	return text_or_null(&type, &type_attrs, SLOT_NAME);
}

/* A function around: its readable name replaces what stands before. */
static enum pprof_status append_function(struct namer *namer,
					 const struct dwarf_die *die,
					 struct buf *out)
{
	struct namer_facts facts = { 0 };
	enum pprof_status status;

	status = gather(namer, *die, &facts);
	if (status)
		return status;
	if (facts.linkage_name) {
		buf_reset(out);
		demangle(facts.linkage_name, namer->names, out);
	} else {
		buf_str(out, facts.name ? facts.name : "(anonymous function)");
	}
	buf_str(out, "::");
	return PPROF_OK;
}

/* Sets *may_be_lambda for the scopes inside a function. */
static enum pprof_status append_scope(struct namer *namer,
				      const struct dwarf_die *die,
				      bool *may_be_lambda, struct buf *out)
{
	enum pprof_status status;
	struct dwarf_attrs attrs;
	const char *name;
	uint16_t tag;

	status = read_entry(namer, die, &attrs, &tag);
	if (status)
		return status == PPROF_FORMAT ? PPROF_OK : status;
	switch (tag) {
	case DW_TAG_subprogram:
		*may_be_lambda = true;
		return append_function(namer, die, out);
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		name = text_or_null(die, &attrs, SLOT_NAME);
		if (!name)
			name = signature_name(namer, die, &attrs);
		buf_str(out, name ? name : unnamed_scope(tag, *may_be_lambda));
		buf_str(out, "::");
		return PPROF_OK;
	default:
		return PPROF_OK;
	}
}

/* Put the qualified name of a function without linkage name on scratch. */
static enum pprof_status qualify(struct namer *namer,
				 const struct namer_facts *facts)
{
	struct buf *out = &namer->scratch;
	struct dwarf_die scope = facts->named;
	bool may_be_lambda = !strcmp(facts->name, "operator()");
	enum pprof_status status;
	struct buf full;
	size_t nr, i;

	buf_init(&full, MAX_SCRATCH);
	status = find_scopes(namer, &facts->named, &nr);
	for (i = 1; i < nr && !status; i++) {
		scope.offset = namer->descent->scopes[i];
		status = append_scope(namer, &scope, &may_be_lambda, &full);
	}
	buf_str(&full, facts->name);
	if (!buf_ok(&full))
		status = PPROF_NOMEM;
	if (!status && namer->names == PPROF_NAMES_SHORT)
		demangle_shorten(buf_cstr(&full), out);
	else if (!status)
		buf_add(out, full.data, full.len);
	buf_fini(&full);
	return status;
}

static enum pprof_status name_without_linkage(struct namer *namer,
					      const struct namer_facts *facts,
					      struct namer_function *row)
{
	enum pprof_status status = PPROF_OK;

	row->is_named = facts->name;
	if (!facts->name) {
		row->system_name = 0;
		row->name = intern(namer, "??", 2);
		return row->name == STR_NONE ? PPROF_NOMEM : PPROF_OK;
	}
	row->system_name = intern(namer, facts->name, strlen(facts->name));
	row->name = row->system_name;
	if (row->name == STR_NONE)
		return PPROF_NOMEM;
	if (namer->names == PPROF_NAMES_MANGLED ||
	    !is_scoped_language(facts->language))
		return PPROF_OK;
	buf_reset(&namer->scratch);
	status = qualify(namer, facts);
	if (status)
		return status;
	row->name = intern_scratch(namer);
	return row->name == STR_NONE ? PPROF_NOMEM : PPROF_OK;
}

static enum pprof_status name_function(struct namer *namer,
				       const struct namer_facts *facts)
{
	struct namer_function *row = &namer->functions[facts->row];

	row->start_line = facts->decl_line;
	row->has_linkage_name = facts->linkage_name;
	row->is_named = true;
	if (facts->linkage_name)
		return namer_symbol(namer, facts->linkage_name, &row->name,
				    &row->system_name);
	return name_without_linkage(namer, facts, row);
}

static int compare_pending(const void *a, const void *b)
{
	const struct namer_facts *x = a, *y = b;
	const struct dwarf_unit *u = x->named.unit, *v = y->named.unit;

	if (u != v && u && v && u->file == v->file)
		return u->offset < v->offset ? -1 : 1;
	if (u == v && x->named.offset != y->named.offset)
		return x->named.offset < y->named.offset ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

enum pprof_status namer_flush(struct namer *namer)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	if (namer->nr_pending)
		qsort(namer->pending, namer->nr_pending,
		      sizeof(*namer->pending), compare_pending);
	for (i = 0; i < namer->nr_pending && !status; i++)
		status = name_function(namer, &namer->pending[i]);
	namer->nr_pending = 0;
	/* The units may be gone when the next names are made. */
	if (namer->descent)
		namer->descent->unit = NULL;
	return status;
}

static enum pprof_status add_pending(struct namer *namer,
				     const struct dwarf_die *die,
				     uint16_t language, uint32_t row)
{
	struct namer_facts *facts;

	if (!mem_grow(namer->pending, namer->cap_pending,
		      namer->nr_pending + 1, UINT32_MAX))
		return PPROF_NOMEM;
	facts = &namer->pending[namer->nr_pending++];
	memset(facts, 0, sizeof(*facts));
	facts->row = row;
	facts->language = language;
	return die->unit ? gather(namer, *die, facts) : PPROF_OK;
}

static bool find_function(const struct namer *namer, uint32_t file,
			  uint64_t offset, uint64_t hash, uint32_t *ret_row)
{
	uint32_t id;
	size_t slot;

	for (slot = idmap_first(&namer->by_entry, hash);
	     (id = namer->by_entry.slots[slot]) != IDMAP_FREE;
	     slot = idmap_next(&namer->by_entry, slot)) {
		if (namer->functions[id].offset == offset &&
		    namer->functions[id].file == file) {
			*ret_row = id;
			return true;
		}
	}
	return false;
}

/* Where an entry is; the two sections with units are told apart by a bit. */
static uint64_t entry_offset(const struct dwarf_die *die)
{
	return (die->unit->offset + die->offset) << 1 |
	       die->unit->is_in_types;
}

enum pprof_status namer_add(struct namer *namer, const struct dwarf_die *die,
			    uint16_t language, uint32_t *ret_row)
{
	const uint32_t file = die->unit ? die->unit->file->id : UINT32_MAX;
	const uint64_t offset = die->unit ? entry_offset(die) : 0;
	const uint64_t hash = hash_entry(file, offset);
	struct namer_function *row;

	if (!idmap_reserve(&namer->by_entry, hash_function, namer))
		return PPROF_NOMEM;
	if (find_function(namer, file, offset, hash, ret_row))
		return PPROF_OK;
	if (!mem_grow(namer->functions, namer->cap_functions,
		      namer->nr_functions + 1, UINT32_MAX))
		return PPROF_NOMEM;
	row = &namer->functions[namer->nr_functions];
	memset(row, 0, sizeof(*row));
	row->offset = offset;
	row->file = file;
	*ret_row = (uint32_t)namer->nr_functions++;
	idmap_put(&namer->by_entry, hash, *ret_row);
	return add_pending(namer, die, language, *ret_row);
}
