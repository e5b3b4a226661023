/* SPDX-License-Identifier: Apache-2.0
 *
 * Sample types that an input turns out to have after samples were read.
 */
#ifndef INPUT_COLUMNS_H
#define INPUT_COLUMNS_H

#include "profile/builder.h"

/*
 * One more sample type behind the others, 0 in all samples so far. False
 * when out of memory or at SAMPLE_TYPES_MAX.
 */
__attribute__((warn_unused_result))
bool columns_append(struct builder *out, const char *type, size_t type_len,
		    const char *unit);

#endif
