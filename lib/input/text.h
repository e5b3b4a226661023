/* SPDX-License-Identifier: Apache-2.0
 *
 * Small steps over a line of text between two pointers, shared by the
 * readers of text formats. Nothing here reads at or beyond `end`.
 */
#ifndef INPUT_TEXT_H
#define INPUT_TEXT_H

#include "base/cursor.h"

#include <string.h>

static inline bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

/* Without blanks and CR at the end. */
static inline const char *trim_end(const char *p, const char *end)
{
	while (end > p && (is_space(end[-1]) || end[-1] == '\r'))
		end--;
	return end;
}

static inline bool starts(const char *p, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - p) >= len && !memcmp(p, word, len);
}

static inline bool ends(const char *p, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - p) >= len && !memcmp(end - len, word, len);
}

/* The whole of [p, end) is `word`. */
static inline bool equals(const char *p, const char *end, const char *word)
{
	return (size_t)(end - p) == strlen(word) && starts(p, end, word);
}

/* First place of `word` in [p, end), or NULL. */
static inline const char *find_text(const char *p, const char *end,
				    const char *word)
{
	return memmem(p, (size_t)(end - p), word, strlen(word));
}

/* Move over blanks and `c`; false when something else stands there. */
static inline bool skip_char(const char **pos, const char *end, char c)
{
	const char *p = skip_blanks(*pos, end);

	if (p == end || *p != c)
		return false;
	*pos = p + 1;
	return true;
}

/* The line that begins at p of a sniffed head. */
static inline const char *line_end(const char *p, const char *end)
{
	const char *lf = memchr(p, '\n', (size_t)(end - p));

	return lf ? lf : end;
}

/* Bytes that a[nr] and b[nr] begin with alike. */
static inline size_t text_common_prefix(const char *a, const char *b,
					size_t nr)
{
	uint64_t word_a, word_b;
	size_t i = 0;

	for (; nr - i >= sizeof(word_a); i += sizeof(word_a)) {
		memcpy(&word_a, a + i, sizeof(word_a));
		memcpy(&word_b, b + i, sizeof(word_b));
		if (word_a != word_b)
			break;
	}
	while (i < nr && a[i] == b[i])
		i++;
	return i;
}

/* "MAPPED_LIBRARIES:" or gperftools' "--- Memory map:". */
static inline bool text_is_maps_marker(const char *p, const char *end)
{
	p = skip_blanks(p, end);
	return starts(p, end, "MAPPED_LIBRARIES:") ||
	       starts(p, end, "--- Memory map:");
}

#endif
