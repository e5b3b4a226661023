/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of struct pprof_sink: a buffered byte stream to memory, standard
 * output, or a file that is written beside its name and renamed.
 */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include "base/buf.h"
#include "base/error.h"

struct pprof_sink {
	struct buf buf;      /* pending bytes; all of them for memory */
	char *path;          /* final name; NULL for memory and stdout */
	char *temp_path;     /* beside it; NULL when none is open */
	const char *name;    /* for messages */
	int fd;              /* -1 for memory */
	bool is_memory;
	bool is_borrowed;    /* fd is the caller's: not closed */
	bool committed;
	enum pprof_status status; /* first failure, sticky */
	struct pprof_error err;
};

/* Append a buf's content and reset it. */
enum pprof_status sink_take_buf(struct pprof_sink *sink, struct buf *buf,
				struct pprof_error *err);

#endif
