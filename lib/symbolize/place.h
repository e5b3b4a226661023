/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a file was loaded: its load bias in each of its instances, and
 * whether it can be the file that was mapped at all. One bias for a whole
 * image, checked against all its ranges and the file's PT_LOADs, because a
 * range alone is ambiguous (two segments can share a page of the file).
 */
#ifndef SYMBOLIZE_PLACE_H
#define SYMBOLIZE_PLACE_H

#include "symbolize/elf.h"
#include "symbolize/images.h"

/* No bias. */
#define BIAS_NONE UINT32_MAX

/* What is needed of a file to place it. */
struct elf_layout {
	const struct elf_segment *segments; /* borrowed */
	size_t nr_segments;
	unsigned type;      /* ET_EXEC, ET_DYN */
	bool no_offsets;    /* --only-keep-debug: offsets are invented */
};

/* Where the instances of one file lie. */
struct placement {
	uint64_t *biases;    /* [nr_biases] run-time minus link-time address */
	size_t nr_biases, cap_biases;
	uint32_t *row_bias;  /* [image.nr_rows] index into biases, BIAS_NONE */
	char reason[192];    /* why the file does not fit; "" when it does */
};

/*
 * Place a file in an image. `is_trusted`: it is known to be the right one
 * (same build ID, or forced), so one fitting range is enough; otherwise
 * the ranges of each instance must be those of its segments.
 * *ret_fits tells; placement_fini() after OK. NOMEM or OK.
 */
enum pprof_status images_place(const struct images *images, uint32_t image,
			       const struct elf_layout *layout,
			       bool is_trusted, struct placement *ret_placement,
			       bool *ret_fits, struct pprof_error *err);
void placement_fini(struct placement *placement);

/* True when link-time address `vaddr` lies in an executable segment. */
bool layout_has_code(const struct elf_layout *layout, uint64_t vaddr);

#endif
