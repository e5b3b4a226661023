/* SPDX-License-Identifier: Apache-2.0
 *
 * One ELF file, opened for reading: its segments, identity, links to debug
 * files, and sections inflated on demand. Knows nothing of profiles. A
 * handle belongs to one thread at a time.
 */
#ifndef SYMBOLIZE_ELF_H
#define SYMBOLIZE_ELF_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest build ID kept, in bytes; longer ones are cut. */
#define BUILD_ID_MAX 64

/* A PT_LOAD of the file, as in its program header. */
struct elf_segment {
	uint64_t vaddr;  /* link-time address */
	uint64_t offset; /* in the file */
	uint64_t filesz;
	uint64_t memsz;
	uint64_t align;
	uint32_t flags;  /* PF_X | PF_W | PF_R */
};

/* Bytes of a section, borrowed from the file; size 0 when it is absent. */
struct elf_bytes {
	const uint8_t *data;
	size_t size;
};

/* A section header, and its bytes once they were asked for. */
struct elf_section {
	const char *name; /* lives in the file */
	uint64_t vaddr;
	uint64_t offset;
	uint64_t size;    /* in the file, compressed or not */
	uint64_t flags;   /* SHF_* */
	uint64_t entsize;
	uint32_t type;    /* SHT_* */
	uint32_t link;
	uint8_t *inflated; /* owned; NULL until needed */
	size_t inflated_size;
};

struct elf_file;

/*
 * Open `path`: a regular file (never blocks on a fifo) that is ELF, 32 or 64
 * bit, either byte order. OK, NOMEM, IO, FORMAT (no ELF), LIMIT. A file that
 * another process cuts short while it is open raises SIGBUS.
 */
enum pprof_status elf_file_open(const char *path, struct elf_file **ret_file,
				struct pprof_error *err);

/* The same for an image in memory, which the file owns on success. */
enum pprof_status elf_file_open_memory(const char *name, uint8_t *image,
				       size_t nr_bytes,
				       struct elf_file **ret_file,
				       struct pprof_error *err);
void elf_file_close(struct elf_file *file);

const char *elf_file_path(const struct elf_file *file);

/* ET_EXEC, ET_DYN, ET_REL, ... and EM_*. */
unsigned elf_file_type(const struct elf_file *file);
unsigned elf_file_machine(const struct elf_file *file);

/* 64-bit class; byte order other than this machine's. */
bool elf_file_is_64(const struct elf_file *file);
bool elf_file_is_swapped(const struct elf_file *file);

/* PT_LOAD segments in file order. */
const struct elf_segment *elf_file_segments(const struct elf_file *file,
					    size_t *ret_nr);

/* All section headers, index 0 included; none after damage. */
const struct elf_section *elf_file_sections(const struct elf_file *file,
					    size_t *ret_nr);

/* Lower-case hex of NT_GNU_BUILD_ID (SHT_NOTE, else PT_NOTE), or "". */
const char *elf_file_build_id(const struct elf_file *file);

/* True when it carries .debug_info (or .zdebug_info) with content. */
bool elf_file_has_dwarf(const struct elf_file *file);

/* True when it has .symtab with at least one entry. */
bool elf_file_has_symtab(const struct elf_file *file);

/* Segment text is absent (an --only-keep-debug file). */
bool elf_file_is_debug_only(const struct elf_file *file);

/* .gnu_debuglink: base name and CRC-32; NULL when there is none. */
const char *elf_file_debuglink(const struct elf_file *file, uint32_t *ret_crc);

/*
 * .gnu_debugaltlink, or DWARF 5's .debug_sup: path and build ID in hex; NULL
 * when there is none.
 */
const char *elf_file_debugaltlink(const struct elf_file *file,
				  const char **ret_build_id);

/*
 * Bytes of the section `name` (as ".debug_line"; ".zdebug_line" is tried
 * next), inflated. size 0 when absent or without bytes in the file. OK,
 * NOMEM, FORMAT, UNSUPPORTED (compression), LIMIT.
 */
enum pprof_status elf_file_section(struct elf_file *file, const char *name,
				   struct elf_bytes *ret_bytes,
				   struct pprof_error *err);

/* Bytes of section `index`, uncompressed ones only; size 0 otherwise. */
struct elf_bytes elf_file_plain_section(const struct elf_file *file,
					size_t index);

/*
 * Inflate the sections `names[nr]` with up to `nr_threads` threads, so that
 * elf_file_section() has them at once. Failures show up there.
 */
void elf_file_prefetch(struct elf_file *file, const char *const *names,
		       size_t nr, unsigned nr_threads);

#endif
