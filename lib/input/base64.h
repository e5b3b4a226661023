/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64 (RFC 4648, section 4), decoded piece by piece.
 */
#ifndef INPUT_BASE64_H
#define INPUT_BASE64_H

#include "base/buf.h"

/* Bits that wait for the next piece. Zeroed at the start. */
struct base64 {
	uint32_t bits;
	unsigned nr_bits; /* 0, 2, 4 or 6 after whole characters */
	bool is_padded;   /* "=" was met: nothing more comes */
};

/* Value of a character, 64 for "=", 255 for all that are none. */
extern const uint8_t base64_values[256];

static inline bool base64_is_char(char c)
{
	return base64_values[(unsigned char)c] <= 64;
}

/* Append what text[len], all base64 characters, decodes to. */
void base64_decode(struct base64 *state, const char *text, size_t len,
		   struct buf *out);

/* True when the bits end where bytes end: nothing was cut off. */
static inline bool base64_is_whole(const struct base64 *state)
{
	return !state->nr_bits || state->is_padded;
}

#endif
