/* SPDX-License-Identifier: Apache-2.0
 *
 * What standard output and standard error are: a terminal or not, how wide,
 * and whether colour is wanted there.
 */
#ifndef TOOLS_TERM_H
#define TOOLS_TERM_H

#include <stdbool.h>

/* Values of --color. */
enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

bool term_is_tty(int fd);

/* False where TERM says that the cursor cannot be moved. */
bool term_has_cursor(void);

/* Columns of the terminal on `fd`, 0 when it is none. */
unsigned term_width(int fd);

/* What --color said; auto until then. */
void term_set_color(enum term_color color);

/*
 * Colour on `fd`? Auto: a terminal that is not "dumb", and NO_COLOR unset or
 * empty (no-color.org).
 */
bool term_has_color(int fd);

#endif
