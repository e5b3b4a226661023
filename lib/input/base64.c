/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding of base64.
 */
#include <config.h>

#include "input/base64.h"

#define N4 255, 255, 255, 255
#define N16 N4, N4, N4, N4

const uint8_t base64_values[256] = {
	N16, N16,
	N4, N4, 255, 255, 255, 62, 255, 255, 255, 63,
	52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 255, 255, 255, 64, 255, 255,
	255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 255, 255, 255, 255, 255,
	255, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
	41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 255, 255, 255, 255, 255,
	N16, N16, N16, N16, N16, N16, N16, N16,
};

void base64_decode(struct base64 *state, const char *text, size_t len,
		   struct buf *out)
{
	size_t i;
	uint8_t value;

	if (!buf_reserve(out, len / 4 * 3 + 3))
		return;
	for (i = 0; i < len && !state->is_padded; i++) {
		value = base64_values[(unsigned char)text[i]];
		if (value >= 64) {
			state->is_padded = true;
			break;
		}
		state->bits = state->bits << 6 | value;
		state->nr_bits += 6;
		if (state->nr_bits < 8)
			continue;
		state->nr_bits -= 8;
		buf_byte(out, (char)(state->bits >> state->nr_bits));
	}
}
