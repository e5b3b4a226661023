/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 (FIPS 180-4), for the hashes by which a content security policy
 * allows a script or a style.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/buf.h"

#define SHA256_BYTES 32

void sha256(const void *data, size_t nr, uint8_t digest[SHA256_BYTES]);

/* Append "'sha256-BASE64'" of the bytes, as a policy has it. */
void sha256_source(struct buf *out, const void *data, size_t nr);

#endif
