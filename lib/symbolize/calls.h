/* SPDX-License-Identifier: Apache-2.0
 *
 * Proof by instructions that a file is the one a heap profile was taken
 * from: before a return address there is a call.
 */
#ifndef SYMBOLIZE_CALLS_H
#define SYMBOLIZE_CALLS_H

#include "symbolize/finder.h"

/* Addresses that are looked at; more prove nothing more. */
#define CALLS_MAX 64

/*
 * True unless most of vaddrs[nr] (link-time addresses of return addresses
 * minus 1; at most CALLS_MAX) lie in no call of the file's code. True as
 * well for machines whose calls are not known here.
 */
bool calls_agree(const struct binary *binary, const uint64_t *vaddrs,
		 size_t nr);

/* True when the 8 bytes before a return address end in a call. */
bool calls_end_before(unsigned machine, const uint8_t bytes[8]);

#endif
