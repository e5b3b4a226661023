/* SPDX-License-Identifier: Apache-2.0
 *
 * Names as people may see them: decoding UTF-8, what is unsafe to show, and
 * how many cells of a fixed-width font a character takes.
 */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decode one character at text[0..len), len > 0. Returns its bytes, at least
 * 1, and sets *ret_code; UINT32_MAX for a byte that is not valid UTF-8.
 */
size_t text_decode(const char *text, size_t len, uint32_t *ret_code);

/*
 * True when the character must not be shown as it is: controls, line and
 * paragraph separators, bidirectional controls, zero-width and tag
 * characters, noncharacters, and bytes that are not UTF-8 (UINT32_MAX).
 */
bool text_is_hidden(uint32_t code);

/* Append text with what is hidden shown as \xNN (bytes) or \uNNNN. */
void text_mask(struct buf *out, const char *text, size_t len);

/* Cells of one character: 0 (combining), 1 or 2 (wide). */
unsigned text_cells_of(uint32_t code);

/* Cells of masked text. */
size_t text_cells(const char *text, size_t len);

/*
 * Bytes of the longest prefix of masked text that takes at most `cells` and
 * does not split a character from its combining marks; and where the longest
 * such suffix starts.
 */
size_t text_head(const char *text, size_t len, size_t cells);
size_t text_tail(const char *text, size_t len, size_t cells);

#endif
