/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbol files: all that a binary and its debug information say about its
 * addresses, in one compact CBOR file (docs/pprof-symbols.cddl) that is
 * mapped and read where it lies. Their making is symfile_make.c's.
 */
#ifndef SYMBOLIZE_SYMFILE_H
#define SYMBOLIZE_SYMFILE_H

#include "base/buf.h"
#include "symbolize/module.h"

#define SYMFILE_VERSION 1

/* Entries between two places of a table that reading can start at. */
#define SYMFILE_BLOCK 16
#define SYMFILE_RANGE_BLOCK 64

/* Bytes of one string of a table. */
#define SYMFILE_STRING_MAX ((size_t)16 << 20)

enum symfile_part {
	SYMFILE_STRINGS,   /* front-coded, in byte order; 0 is "" */
	SYMFILE_FUNCTIONS,
	SYMFILE_SCOPES,    /* functions with the calls they are inlined at */
	SYMFILE_RANGES,    /* addresses of one answer, ascending */
	SYMFILE_NR_PARTS
};

/* Forms of one name: enum pprof_names is the index. */
#define SYMFILE_NR_NAMES 3

/* How a range's record begins: the source, and what is as before. */
enum symfile_flags {
	SYMFILE_SOURCE = 3,          /* enum answer_source */
	SYMFILE_SAME_SCOPE = 1 << 2,
	SYMFILE_SAME_FILE = 1 << 3,
	SYMFILE_SAME_COLUMN = 1 << 4
};

/* A table of records, delta-coded within blocks. */
struct symfile_table {
	uint64_t nr;          /* records */
	struct elf_bytes data;
	struct elf_bytes index;  /* offset in data of each block: 4 bytes LE */
	struct elf_bytes starts; /* ranges: first address, 8 bytes LE */
};

struct symfile_header {
	char build_id[2 * BUILD_ID_MAX + 1]; /* or "" */
	const char *name;                    /* base name of the binary */
	struct elf_segment *segments;        /* [nr_segments] */
	size_t nr_segments;
	unsigned type, machine;
	bool is_debug_only;
};

struct symfile {
	struct symfile_header header;
	struct symfile_table tables[SYMFILE_NR_PARTS];
	uint64_t checksum;
	char *name;      /* owned; header.name */
	void *map;       /* of the whole file */
	size_t map_size;
	bool is_checked; /* the checksum was right */
};

/*
 * Map the file if it is a symbol file. *ret_symfile is NULL when it is
 * something else. OK, NOMEM, IO, FORMAT, UNSUPPORTED (another version).
 */
enum pprof_status symfile_open(const char *path, struct symfile **ret_symfile,
			       struct pprof_error *err);
void symfile_close(struct symfile *symfile);

/* The tables are as they were written; reads all of them the first time. */
bool symfile_is_intact(struct symfile *symfile);

/*
 * As module_resolve(), with the same answers that the binary gave when the
 * file was made. FORMAT: the file is damaged.
 */
enum pprof_status symfile_resolve(struct symfile *symfile, const char *path,
				  const uint64_t *vaddrs, size_t nr,
				  const struct module_opts *opts,
				  struct answers *ret_answers,
				  struct pprof_error *err);

/* Append the file that header and tables make; checksum is filled in. */
void symfile_encode(const struct symfile_header *header,
		    const struct symfile_table tables[SYMFILE_NR_PARTS],
		    struct buf *out);

#endif
