/* SPDX-License-Identifier: Apache-2.0
 *
 * A binary with its debug information: opens what is needed when it is first
 * asked, joins symbols and units, and merges the threads' answers in the
 * order of the addresses.
 */
#include <config.h>

#include "symbolize/module.h"

#include <elf.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "symbolize/join.h"
#include "symbolize/minidebug.h"
#include "symbolize/split.h"

/* All strings of one batch. */
#define MAX_STRING_BYTES ((uint64_t)4 << 30)

/* dwarf_file.id of the shared files; the main one has 0. */
#define ALT_FILE_ID 1
#define PACKAGE_FILE_ID 2

/* Each is looked at for every range; real files have one or two. */
#define MAX_TEXT_AREAS 16

/* Addresses in one batch are numbered by 32 bits. */
#define MAX_ADDRESSES ((size_t)UINT32_MAX - 1)

struct module {
	struct elf_file *binary, *debug, *alt; /* owned; may be NULL */
	struct elf_file *mini;                 /* out of .gnu_debugdata */
	struct module_opts opts;
	struct text_areas text;
	struct dwarf_file dwarf, dwarf_alt;
	struct split_file *package;            /* .dwp */
	bool has_dwarf;
	bool is_ready;                         /* all of the above is set */
};

enum pprof_status module_new(struct elf_file *binary, struct elf_file *debug,
			     struct elf_file *alt,
			     const struct module_opts *opts,
			     struct module **ret_module,
			     struct pprof_error *err)
{
	struct module *module = NULL;

	if (binary || debug)
		module = mem_zalloc(1, sizeof(*module));
	if (!module) {
		elf_file_close(binary);
		if (debug != binary)
			elf_file_close(debug);
		elf_file_close(alt);
		if (!binary && !debug)
			return error_plain(err, PPROF_FORMAT, NULL,
					   "neither binary nor debug file");
		return error_nomem(err);
	}
	module->binary = binary;
	module->debug = debug == binary ? NULL : debug;
	module->alt = alt;
	module->opts = *opts;
	*ret_module = module;
	return PPROF_OK;
}

/* Widen `area` by another one. */
static void widen(struct text_area *area, uint64_t start, uint64_t limit)
{
	if (start < area->start)
		area->start = start;
	if (limit > area->limit)
		area->limit = limit;
}

/* Executable segments; a debug file tells their addresses as well. */
static enum pprof_status find_text(struct module *module)
{
	const struct elf_segment *segments;
	const struct elf_file *file;
	struct text_area area;
	size_t nr, i;

	file = module->binary ? module->binary : module->debug;
	segments = elf_file_segments(file, &nr);
	for (i = 0; i < nr; i++) {
		if (!(segments[i].flags & PF_X) ||
		    segments[i].memsz > UINT64_MAX - segments[i].vaddr)
			continue;
		area.start = segments[i].vaddr;
		area.limit = segments[i].vaddr + segments[i].memsz;
		if (module->text.nr == MAX_TEXT_AREAS) {
			widen(module->text.areas, area.start, area.limit);
			continue;
		}
		if (!mem_grow(module->text.areas, module->text.cap,
			      module->text.nr + 1, MAX_TEXT_AREAS))
			return PPROF_NOMEM;
		module->text.areas[module->text.nr++] = area;
	}
	return PPROF_OK;
}

static void open_mini(struct module *module)
{
	struct pprof_error why;
	enum pprof_status status;

	if (!module->binary || elf_file_has_symtab(module->binary) ||
	    (module->debug && elf_file_has_symtab(module->debug)))
		return;
	status = minidebug_open(module->binary, &module->mini, &why);
	if (status)
		diag_count(module->opts.diags, PPROF_UNIT_NONE, 0,
			   "%s: .gnu_debugdata left out: %s", why.source,
			   why.message);
}

/* PATH.dwp, if units are split at all. */
static enum pprof_status open_package(struct module *module, const char *path,
				      struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct buf name;
	size_t i;

	for (i = 0; i < module->dwarf.nr_units &&
		    !split_is_needed(&module->dwarf.units[i]); i++)
		;
	if (module->package || i == module->dwarf.nr_units)
		return PPROF_OK;
	buf_init(&name, SIZE_MAX / 2);
	buf_str(&name, path);
	buf_str(&name, ".dwp");
	status = buf_ok(&name) ?
		split_open_package(buf_cstr(&name), &module->dwarf,
				   PACKAGE_FILE_ID, module->opts.diags,
				   &module->package, err) : error_nomem(err);
	buf_fini(&name);
	return status;
}

static enum pprof_status open_dwarf(struct module *module,
				    struct pprof_error *err)
{
	struct diags *diags = module->opts.diags;
	const unsigned nr_threads = module->opts.nr_threads;
	struct elf_file *file = module->debug;
	enum pprof_status status = PPROF_OK;

	if (!file || !elf_file_has_dwarf(file))
		file = module->binary;
	/* Relocatable files have no addresses before they are linked. */
	if (!file || !elf_file_has_dwarf(file) ||
	    elf_file_type(file) == ET_REL)
		return PPROF_OK;
	if (module->alt) {
		status = dwarf_file_init(&module->dwarf_alt, module->alt,
					 false, nr_threads, diags, err);
		module->dwarf_alt.id = ALT_FILE_ID;
		if (!status)
			status = dwarf_file_read_roots(&module->dwarf_alt,
						       diags, err);
	}
	if (!status)
		status = dwarf_file_init(&module->dwarf, file, false,
					 nr_threads, diags, err);
	if (module->alt)
		module->dwarf.alt = &module->dwarf_alt;
	if (!status)
		status = dwarf_file_read_roots(&module->dwarf, diags, err);
	if (!status)
		status = open_package(module, elf_file_path(file), err);
	if (!status && module->binary && file != module->binary)
		status = open_package(module, elf_file_path(module->binary),
				      err);
	module->has_dwarf = !status;
	return status;
}

static void close_dwarf(struct module *module)
{
	dwarf_file_fini(&module->dwarf);
	dwarf_file_fini(&module->dwarf_alt);
	split_close(module->package);
	module->package = NULL;
}

void module_free(struct module *module)
{
	if (!module)
		return;
	close_dwarf(module);
	mem_free(module->text.areas);
	elf_file_close(module->mini);
	elf_file_close(module->binary);
	elf_file_close(module->debug);
	elf_file_close(module->alt);
	mem_free(module);
}

static enum pprof_status get_ready(struct module *module,
				   struct pprof_error *err)
{
	enum pprof_status status;

	if (module->is_ready)
		return PPROF_OK;
	module->text.nr = 0;
	if (find_text(module))
		return error_nomem(err);
	if (!module->mini)
		open_mini(module);
	status = open_dwarf(module, err);
	if (status)
		close_dwarf(module);
	else
		module->is_ready = true;
	return status;
}

/* The fullest symbol table first; a later one fills the gaps. */
static enum pprof_status join_symbols(struct module *module,
				      const uint64_t *vaddrs, size_t nr,
				      struct symbol_hit *hits,
				      struct pprof_error *err)
{
	const struct {
		struct elf_file *file;
		uint32_t type;
	} tables[] = {
		{ module->debug, SHT_SYMTAB },
		{ module->binary, SHT_SYMTAB },
		{ module->mini, SHT_SYMTAB },
		{ module->binary, SHT_DYNSYM }
	};
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		if (tables[i].file)
			symbols_join_sized(tables[i].file, tables[i].type,
					   vaddrs, nr, hits);
	}
	for (i = 0; i < sizeof(tables) / sizeof(*tables) && !status; i++) {
		if (tables[i].file)
			status = symbols_join_sizeless(tables[i].file,
						       tables[i].type, vaddrs,
						       nr, hits, err);
	}
	return status;
}

void answers_fini(struct answers *answers)
{
	strtab_fini(&answers->strings);
	mem_free(answers->start);
	mem_free(answers->source);
	mem_free(answers->frames);
	memset(answers, 0, sizeof(*answers));
}

/* Ids of a worker's strings among the answers'; 0 is not yet known. */
struct translation {
	const struct strtab *from;
	str_id *ids;
};

static bool translate(struct answers *answers,
		      struct translation *translation, str_id *id)
{
	const struct strtab *from = translation->from;

	if (!*id)
		return true;
	if (!translation->ids[*id])
		translation->ids[*id] = strtab_add(&answers->strings,
						   strtab_text(from, *id),
						   strtab_len(from, *id));
	*id = translation->ids[*id];
	return *id != STR_NONE;
}

static bool take_frames(struct answers *answers, const struct join *join,
			const struct join_answer *answer,
			struct translation *translations)
{
	struct translation *translation = &translations[answer->worker];
	const struct answer_frame *frames;
	size_t i;

	frames = join->workers[answer->worker].frames;
	for (i = 0; i < answer->nr_frames; i++) {
		struct answer_frame frame = frames[answer->first_frame + i];

		if (!translate(answers, translation, &frame.name) ||
		    !translate(answers, translation, &frame.system_name) ||
		    !translate(answers, translation, &frame.file))
			return false;
		answers->frames[answers->nr_frames++] = frame;
	}
	return true;
}

static bool merge(struct answers *answers, const struct join *join,
		  struct translation *translations)
{
	uint64_t nr_frames = 0;
	size_t i;

	for (i = 0; i < join->nr_workers; i++) {
		const struct strtab *from = &join->workers[i].namer.strings;

		translations[i].from = from;
		translations[i].ids = mem_zalloc(from->nr, sizeof(str_id));
		if (!translations[i].ids)
			return false;
	}
	for (i = 0; i < answers->nr; i++)
		nr_frames += join->answers[i].nr_frames;
	answers->frames = mem_alloc(nr_frames, sizeof(*answers->frames));
	if (!answers->frames || nr_frames > UINT32_MAX)
		return false;
	answers->cap_frames = nr_frames;
	for (i = 0; i < answers->nr; i++) {
		answers->start[i] = (uint32_t)answers->nr_frames;
		answers->source[i] = join->answers[i].source;
		if (!take_frames(answers, join, &join->answers[i],
				 translations))
			return false;
	}
	answers->start[i] = (uint32_t)answers->nr_frames;
	return true;
}

static enum pprof_status merge_answers(struct answers *answers,
				       const struct join *join, size_t nr,
				       struct pprof_error *err)
{
	struct translation *translations;
	bool is_done = false;
	size_t i;

	memset(answers, 0, sizeof(*answers));
	answers->nr = nr;
	translations = mem_zalloc(join->nr_workers, sizeof(*translations));
	answers->start = mem_zalloc(nr + 1, sizeof(*answers->start));
	answers->source = mem_zalloc(nr, sizeof(*answers->source));
	if (strtab_init(&answers->strings, MAX_STRING_BYTES) &&
	    translations && answers->start && answers->source)
		is_done = merge(answers, join, translations);
	for (i = 0; translations && i < join->nr_workers; i++)
		mem_free(translations[i].ids);
	mem_free(translations);
	return is_done ? PPROF_OK : error_nomem(err);
}

enum pprof_status module_resolve(struct module *module, const uint64_t *vaddrs,
				 size_t nr, struct answers *ret_answers,
				 struct pprof_error *err)
{
	struct join_input input = { 0 };
	struct symbol_hit *hits = NULL;
	struct join join = { 0 };
	struct answers answers = { 0 };
	enum pprof_status status;

	if (nr > MAX_ADDRESSES)
		return error_plain(err, PPROF_LIMIT, NULL,
				   "%zu addresses in one batch", nr);
	status = get_ready(module, err);
	if (status)
		return status;
	hits = mem_zalloc(nr, sizeof(*hits));
	if (!hits)
		return error_nomem(err);
	status = join_symbols(module, vaddrs, nr, hits, err);
	if (status)
		goto out;
	input.file = module->has_dwarf ? &module->dwarf : NULL;
	input.path = elf_file_path(module->binary ? module->binary
						  : module->debug);
	input.text = &module->text;
	input.vaddrs = vaddrs;
	input.nr = nr;
	input.hits = hits;
	input.names = module->opts.names;
	input.no_inlines = module->opts.no_inlines;
	input.nr_threads = module->opts.nr_threads;
	status = join_run(&join, &input, module->opts.diags, err);
	if (!status)
		status = merge_answers(&answers, &join, nr, err);
	if (!status)
		*ret_answers = answers;
	else
		answers_fini(&answers);
out:
	join_fini(&join);
	mem_free(hits);
	return status;
}
