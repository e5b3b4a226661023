/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64 (RFC 4648, section 4), writing.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Append data[nr], padded to whole groups of four characters. */
void base64_add(struct buf *out, const void *data, size_t nr);

#endif
