/* SPDX-License-Identifier: Apache-2.0
 *
 * Composes each message in memory and writes it at once, so that lines of
 * several processes do not mix.
 */
#include <config.h>

#include "msg.h"

#include "cli.h"
#include "infile.h"
#include "progress.h"
#include "term.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest message; what is beyond is cut. */
#define MSG_BYTES 4096

static const char *tool_name = "pprof";
static enum msg_level level_now = MSG_NORMAL;

void msg_init(const char *tool)
{
	tool_name = tool;
}

void msg_set_level(enum msg_level level)
{
	level_now = level;
}

enum msg_level msg_level(void)
{
	return level_now;
}

/*
 * Copy text to out[size], control bytes and DEL as \xNN; returns the length.
 * Bytes above 0x7f stay: names are UTF-8.
 */
static size_t mask_controls(char *out, size_t size, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	size_t len = 0;

	for (; *text && len + 5 < size; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte >= 0x20 && byte != 0x7f) {
			out[len++] = *text;
			continue;
		}
		out[len++] = '\\';
		out[len++] = 'x';
		out[len++] = hex[byte >> 4];
		out[len++] = hex[byte & 15];
	}
	return len;
}

static void write_all(const char *data, size_t len)
{
	while (len) {
		ssize_t nr = write(STDERR_FILENO, data, len);

		if (nr <= 0)
			return; /* nowhere left to complain */
		data += nr;
		len -= (size_t)nr;
	}
}

/* "tool: label: text\n"; `label` may be "". `color` is an SGR number. */
static void write_message(const char *label, int color, const char *text)
{
	char line[MSG_BYTES + 256];
	char masked[MSG_BYTES];
	bool colored = *label && term_has_color(STDERR_FILENO);
	size_t len = mask_controls(masked, sizeof(masked), text);
	int total;

	if (colored)
		total = snprintf(line, sizeof(line),
				 "%s: \033[1;%dm%s\033[0m%.*s\n", tool_name,
				 color, label, (int)len, masked);
	else
		total = snprintf(line, sizeof(line), "%s: %s%.*s\n",
				 tool_name, label, (int)len, masked);
	if (total < 0)
		return;
	progress_lock();
	write_all(line, (size_t)total < sizeof(line) ? (size_t)total
						     : sizeof(line) - 1);
	progress_unlock();
}

__attribute__((format(printf, 3, 0)))
static void write_formatted(const char *label, int color, const char *format,
			    va_list args)
{
	char text[MSG_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	write_message(label, color, text);
}

void msg_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_formatted("", 31, format, args);
	va_end(args);
}

void msg_warning(const char *format, ...)
{
	va_list args;

	if (level_now < MSG_NORMAL)
		return;
	va_start(args, format);
	write_formatted("warning: ", 35, format, args);
	va_end(args);
}

void msg_note(const char *format, ...)
{
	va_list args;

	if (level_now < MSG_VERBOSE)
		return;
	va_start(args, format);
	write_formatted("", 0, format, args);
	va_end(args);
}

/* "FILE:LINE: ", "FILE: byte 0x1f40: ", "FILE: " or "". */
static void format_place(char *out, size_t size, const char *source,
			 enum pprof_unit unit, uint64_t where)
{
	const char *name = infile_name(source);

	out[0] = '\0';
	if (!*source)
		return;
	switch (unit) {
	case PPROF_UNIT_LINE:
		snprintf(out, size, "%s:%" PRIu64 ": ", name, where);
		break;
	case PPROF_UNIT_BYTE:
		snprintf(out, size, "%s: byte 0x%" PRIx64 ": ", name, where);
		break;
	case PPROF_UNIT_NONE:
		snprintf(out, size, "%s: ", name);
		break;
	}
}

void msg_pprof_error(const struct pprof_error *err)
{
	char place[MSG_BYTES];

	format_place(place, sizeof(place), err->source, err->unit, err->where);
	msg_error("%s%s", place, err->message);
}

void msg_diag(void *ctx, const struct pprof_diag *diag)
{
	char place[MSG_BYTES];

	(void)ctx;
	format_place(place, sizeof(place), diag->source ? diag->source : "",
		     diag->unit, diag->where);
	if (diag->nr > 1)
		msg_warning("%s%s (%" PRIu64 " times)", place, diag->message,
			    diag->nr);
	else
		msg_warning("%s%s", place, diag->message);
}

void *msg_xrealloc(void *ptr, size_t nr, size_t size)
{
	void *block = NULL;

	if (size && nr <= SIZE_MAX / size)
		block = realloc(ptr, nr && size ? nr * size : 1);
	if (!block) {
		msg_error("%s", pprof_status_text(PPROF_NOMEM));
		exit(CLI_EXIT_TROUBLE);
	}
	return block;
}
