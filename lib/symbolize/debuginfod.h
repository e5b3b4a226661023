/* SPDX-License-Identifier: Apache-2.0
 *
 * Files from debuginfod servers, through libdebuginfod where it is
 * installed. Never used unless the caller asked for the network.
 */
#ifndef SYMBOLIZE_DEBUGINFOD_H
#define SYMBOLIZE_DEBUGINFOD_H

#include "base/buf.h"
#include "base/error.h"

/* A connection; opened by the first question. */
struct debuginfod {
	bool is_wanted;
	bool is_tried;  /* opening was */
	void *library;  /* of dlopen() */
	void *client;   /* debuginfod_client */
};

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUG };

/*
 * Path of the file with this build ID (hex) in libdebuginfod's cache, put
 * there if a server has it. False when there is none; a missing library is
 * told to `diags`.
 */
bool debuginfod_find(struct debuginfod *debuginfod, const char *build_id,
		     enum debuginfod_kind kind, struct diags *diags,
		     struct buf *ret_path);
void debuginfod_fini(struct debuginfod *debuginfod);

#endif
