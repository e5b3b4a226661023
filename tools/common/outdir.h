/* SPDX-License-Identifier: Apache-2.0
 *
 * One output a file below a directory, for tools that take many inputs:
 * their names, and which inputs are such outputs themselves.
 */
#ifndef TOOLS_OUTDIR_H
#define TOOLS_OUTDIR_H

#include <stdbool.h>
#include <stddef.h>

struct outdir {
	char **outputs; /* [nr], of each input; NULL: it is to be skipped */
	size_t nr;
};

/* "DIR/", or a directory that is there. */
bool outdir_is_directory(const char *path);

/* Make the directory "DIR/" unless it is there; false after a message. */
bool outdir_make(const char *dir);

/*
 * DIR/NAME.pb.gz for each of paths[nr]; .gz and .pb are not doubled. Inputs
 * that are the outputs of others are skipped. False after a message when two
 * inputs would have one output. outdir_fini() in either case.
 */
bool outdir_init(struct outdir *outdir, const char *dir,
		 const char *const *paths, size_t nr);
void outdir_fini(struct outdir *outdir);

#endif
