/* SPDX-License-Identifier: Apache-2.0
 *
 * All that a tool says on standard error: "tool: FILE:LINE: text", one
 * write a line, control bytes shown as \xNN. Also where running out of
 * memory ends a tool.
 */
#ifndef TOOLS_MSG_H
#define TOOLS_MSG_H

#include <pprof.h>

#include <stddef.h>

enum msg_level {
	MSG_QUIET,  /* errors only */
	MSG_NORMAL, /* and warnings */
	MSG_VERBOSE /* and what was done */
};

void msg_init(const char *tool);
void msg_set_level(enum msg_level level);
enum msg_level msg_level(void);

__attribute__((format(printf, 1, 2)))
void msg_error(const char *format, ...);
__attribute__((format(printf, 1, 2)))
void msg_warning(const char *format, ...);
__attribute__((format(printf, 1, 2)))
void msg_note(const char *format, ...); /* verbose only */

/* The library's error with its place. */
void msg_pprof_error(const struct pprof_error *err);

/* A pprof_diag_fn: a warning with its place and how often. */
void msg_diag(void *ctx, const struct pprof_diag *diag);

/* realloc() for nr * size bytes that ends the program on failure. */
__attribute__((warn_unused_result))
void *msg_xrealloc(void *ptr, size_t nr, size_t size);

#endif
