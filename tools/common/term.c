/* SPDX-License-Identifier: Apache-2.0
 *
 * Terminal questions, asked of the kernel and the environment.
 */
#include <config.h>

#include "term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static enum term_color wanted_color = TERM_COLOR_AUTO;

bool term_is_tty(int fd)
{
	return isatty(fd) == 1;
}

bool term_has_cursor(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "dumb") != 0;
}

unsigned term_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

void term_set_color(enum term_color color)
{
	wanted_color = color;
}

bool term_has_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	if (wanted_color != TERM_COLOR_AUTO)
		return wanted_color == TERM_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return term_has_cursor() && term_is_tty(fd);
}
