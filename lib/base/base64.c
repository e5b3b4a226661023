/* SPDX-License-Identifier: Apache-2.0
 *
 * Three bytes are four characters; the last group is padded.
 */
#include <config.h>

#include "base/base64.h"

void base64_add(struct buf *out, const void *data, size_t nr)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const uint8_t *p = data;
	uint32_t bits;
	char text[4];
	size_t i;

	for (; nr; p += i, nr -= i) {
		i = nr < 3 ? nr : 3;
		bits = (uint32_t)p[0] << 16;
		bits |= i > 1 ? (uint32_t)p[1] << 8 : 0;
		bits |= i > 2 ? p[2] : 0;
		text[0] = digits[bits >> 18];
		text[1] = digits[bits >> 12 & 63];
		text[2] = i > 1 ? digits[bits >> 6 & 63] : '=';
		text[3] = i > 2 ? digits[bits & 63] : '=';
		buf_add(out, text, sizeof(text));
	}
}
