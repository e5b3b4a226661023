/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the debug information of a binary may lie, apart from the binary.
 */
#ifndef SYMBOLIZE_DEBUGFILES_H
#define SYMBOLIZE_DEBUGFILES_H

#include "base/buf.h"
#include "symbolize/finder.h"

/* Append DIR/.build-id/xx/restSUFFIX; `build_id` has at least 3 digits. */
void debug_path_by_id(struct buf *out, const char *dir, const char *build_id,
		      const char *suffix);

/*
 * Append the i-th place of a debug file with this build ID for a binary
 * called base[base_len]; false past the last one.
 */
bool debug_path_candidate(const struct finder *finder, size_t i,
			  const char *build_id, const char *base,
			  size_t base_len, struct buf *out);

#endif
