/* SPDX-License-Identifier: Apache-2.0
 *
 * One binary together with its debug information: answers link-time
 * addresses in batches. The batch is joined with the debug information in
 * one pass (docs/ARCHITECTURE.md), nothing is indexed beforehand.
 */
#ifndef SYMBOLIZE_MODULE_H
#define SYMBOLIZE_MODULE_H

#include "base/strtab.h"
#include "symbolize/elf.h"

/* Where an answer came from. */
enum answer_source {
	ANSWER_NONE = 0, /* no name: outside every function and symbol */
	ANSWER_SYMBOL,   /* an ELF symbol that covers the address */
	ANSWER_DWARF
};

/* One frame of an answer. Strings are ids in answers.strings. */
struct answer_frame {
	str_id name;        /* demangled per options; never "" */
	str_id system_name; /* as in the object file, or "" */
	str_id file;        /* joined path, or "" */
	uint32_t line;      /* 0 unknown */
	uint32_t column;    /* 0 unknown */
	uint32_t start_line;
};

/* Answers to a batch of nr addresses, in the order of the addresses. */
struct answers {
	struct strtab strings;
	uint32_t *start; /* [nr + 1]: frames of i are start[i]..start[i+1] */
	uint8_t *source; /* [nr] enum answer_source */
	size_t nr;
	struct answer_frame *frames; /* innermost first within an address */
	size_t nr_frames, cap_frames;
};

struct module_opts {
	enum pprof_names names;
	bool no_inlines;       /* outermost frame only */
	unsigned nr_threads;   /* 1: none beside the caller's */
	struct diags *diags;   /* borrowed; broken units are counted here */
};

struct module;

/*
 * Take the opened `binary` (may be NULL when only a debug file is there),
 * `debug` (the file with DWARF or the fuller symbol table; NULL: the binary
 * itself) and `alt` (dwz's supplementary file, or NULL). The module owns
 * them from now on, also when this fails. OK, NOMEM, FORMAT.
 */
enum pprof_status module_new(struct elf_file *binary, struct elf_file *debug,
			     struct elf_file *alt,
			     const struct module_opts *opts,
			     struct module **ret_module,
			     struct pprof_error *err);
void module_free(struct module *module);

/*
 * Answer vaddrs[nr]: link-time addresses, ascending, without repeats.
 * Damaged debug information costs the units it damages, counted in
 * opts.diags; the rest is answered. OK, NOMEM, LIMIT. answers_fini() after.
 */
enum pprof_status module_resolve(struct module *module, const uint64_t *vaddrs,
				 size_t nr, struct answers *ret_answers,
				 struct pprof_error *err);

void answers_fini(struct answers *answers);

#endif
