/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 as FIPS 180-4 has it, section by section.
 */
#include <config.h>

#include "base/base64.h"
#include "base/sha256.h"

#include <string.h>

#define BLOCK_BYTES 64

/* Section 4.2.2. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
	0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7,
	0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
	0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
	0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
	0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
	0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* The message schedule of one block, section 6.2.2, step 1. */
static void expand(uint32_t w[64], const uint8_t *block)
{
	uint32_t s0, s1;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		       (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < 64; i++) {
		s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^
		     w[i - 15] >> 3;
		s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^
		     w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* Steps 2 to 4; v is a .. h. */
static void mix_block(uint32_t h[8], const uint8_t *block)
{
	uint32_t w[64], v[8], t1, t2;
	unsigned i;

	expand(w, block);
	memcpy(v, h, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^
			     rotate(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
		t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^
		      rotate(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h[i] += v[i];
}

/* The last block or two: a 1 bit, zeros, the length in bits. */
static void mix_end(uint32_t h[8], const uint8_t *rest, size_t nr_rest,
		    uint64_t nr)
{
	uint8_t end[2 * BLOCK_BYTES] = { 0 };
	size_t nr_end = nr_rest < BLOCK_BYTES - 8 ? BLOCK_BYTES
						  : 2 * BLOCK_BYTES;
	unsigned i;

	if (nr_rest)
		memcpy(end, rest, nr_rest);
	end[nr_rest] = 0x80;
	for (i = 0; i < 8; i++)
		end[nr_end - 1 - i] = (uint8_t)(nr * 8 >> 8 * i);
	mix_block(h, end);
	if (nr_end > BLOCK_BYTES)
		mix_block(h, end + BLOCK_BYTES);
}

void sha256(const void *data, size_t nr, uint8_t digest[SHA256_BYTES])
{
	/* Section 5.3.3. */
	uint32_t h[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};
	const uint8_t *bytes = data;
	size_t i;

	for (i = 0; nr - i >= BLOCK_BYTES; i += BLOCK_BYTES)
		mix_block(h, bytes + i);
	mix_end(h, nr - i ? bytes + i : NULL, nr - i, nr);
	for (i = 0; i < SHA256_BYTES; i++)
		digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_source(struct buf *out, const void *data, size_t nr)
{
	uint8_t digest[SHA256_BYTES];

	sha256(data, nr, digest);
	buf_str(out, "'sha256-");
	base64_add(out, digest, sizeof(digest));
	buf_byte(out, '\'');
}
