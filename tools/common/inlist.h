/* SPDX-License-Identifier: Apache-2.0
 *
 * Many inputs: those that the command line names and those of a list, and
 * which of them are dumps of one process.
 */
#ifndef TOOLS_INLIST_H
#define TOOLS_INLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What jemalloc's file names tell: PREFIX.PID.SEQUENCE.WHY[N].heap, whatever
 * follows (.gz, .pb.gz).
 */
struct dump_name {
	size_t process_len; /* bytes of the path up to and with PID */
	uint64_t sequence;
};

struct inlist {
	const char **paths; /* [nr] borrowed from argv or from `text` */
	size_t nr;
	char *text;         /* content of the list file */
};

/*
 * argv[first..argc) and, unless `list_path` is NULL, the NUL-terminated
 * names in that file ("-": standard input). Ends the tool after a message
 * when the list cannot be read.
 */
void inlist_init(struct inlist *list, int argc, char **argv, int first,
		 const char *list_path);
void inlist_fini(struct inlist *list);

/* False when `path` is not named as a dump. */
bool inlist_parse_dump(const char *path, struct dump_name *ret_name);

/*
 * Two inputs that are dumps of one process, or false. Needs the paths as
 * they are, in any order.
 */
bool inlist_find_snapshots(const struct inlist *list, const char **ret_a,
			   const char **ret_b);

/* Keep of each process its last dump; returns how many inputs went. */
size_t inlist_keep_last(struct inlist *list);

/* Put the dumps of one process in the order they were taken. */
void inlist_sort_dumps(struct inlist *list);

#endif
