/* SPDX-License-Identifier: Apache-2.0
 *
 * Carrying rows from a profile over to another one that is being built: each
 * row is looked up once, at its first use.
 */
#ifndef TRANSFORM_IMPORT_H
#define TRANSFORM_IMPORT_H

#include "profile/builder.h"

struct import {
	const struct pprof_profile *src;
	struct builder *dst;
	str_id *strings;     /* [src strings.nr] in dst; ID_FAILED: not yet */
	func_id *functions;  /* [src nr_functions] likewise */
	lset_id *lsets;      /* [src nr_lsets] likewise */
	const struct label *extra; /* of dst: joins each label set; or NULL */
	struct line *lines;  /* scratch of import_lines() */
	size_t cap_lines;
	struct label *labels; /* scratch */
	size_t cap_labels;
};

/* False when out of memory; import_fini() after either. */
__attribute__((warn_unused_result))
bool import_init(struct import *import, const struct pprof_profile *src,
		 struct builder *dst);
void import_fini(struct import *import);

/* The row in dst; ID_FAILED when dst has failed. */
str_id import_str(struct import *import, str_id id);
func_id import_function(struct import *import, func_id id);
lset_id import_lset(struct import *import, lset_id id);

/*
 * The lines of a location with functions of dst, valid until the next call;
 * NULL when dst has failed or memory is short.
 */
const struct line *import_lines(struct import *import,
				const struct location *loc);

#endif
