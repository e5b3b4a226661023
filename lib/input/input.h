/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes in: a file, standard input or memory, with containers (gzip) taken
 * off, as one cursor.
 */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include "base/cursor.h"

struct input;

/*
 * Open `path` ("-": standard input; a directory or a terminal is refused).
 * OK, NOMEM, IO, FORMAT, UNSUPPORTED, LIMIT.
 */
enum pprof_status input_open(const char *path,
			     const struct pprof_limits *limits,
			     struct diags *diags, struct input **ret_input,
			     struct pprof_error *err);
enum pprof_status input_open_memory(const char *source, const void *data,
				    size_t nr_bytes,
				    const struct pprof_limits *limits,
				    struct diags *diags,
				    struct input **ret_input,
				    struct pprof_error *err);
void input_close(struct input *input);

/* The cursor over the content; lives as long as the input. */
struct cursor *input_cursor(struct input *input);

/* Modification time of the file in ns since the epoch, 0 when it has none. */
int64_t input_mtime_ns(const struct input *input);

/* True when the compressed stream ended early: what came was recovered. */
bool input_was_truncated(const struct input *input);

#endif
