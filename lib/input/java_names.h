/* SPDX-License-Identifier: Apache-2.0
 *
 * The table behind the samples of Java profiles in gperftools' formats:
 * samples hold ids in place of addresses, the table has their names.
 */
#ifndef INPUT_JAVA_NAMES_H
#define INPUT_JAVA_NAMES_H

#include "base/cursor.h"
#include "profile/builder.h"

/*
 * Read " 0xID name (file:line)" lines to the end of the input and give the
 * locations, whose addresses are the ids, their names. Comes after the last
 * builder_location(). OK, or a failure of the cursor or builder.
 */
enum pprof_status java_names_read(struct cursor *in, struct builder *out,
				  struct diags *diags);

#endif
