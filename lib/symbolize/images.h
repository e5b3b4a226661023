/* SPDX-License-Identifier: Apache-2.0
 *
 * From the mappings of a profile to images: which ranges belong to one file.
 * Where that file was loaded is place.h's. Opens nothing.
 */
#ifndef SYMBOLIZE_IMAGES_H
#define SYMBOLIZE_IMAGES_H

#include "profile/profile.h"

/* No image. */
#define IMAGE_NONE UINT32_MAX

/* All mappings of one file name and build ID; one of both may be missing. */
struct image {
	str_id file;
	str_id build_id;   /* of the mappings, or 0 */
	uint32_t first;    /* index of the first in images.rows */
	uint32_t nr_rows;  /* sorted by start */
	bool is_main;      /* a mapping has MAP_MAIN */
	bool has_code;     /* a mapping holds code */
	bool is_pseudo;    /* no file stands behind it: [vdso], //anon, ... */
};

struct images {
	struct image *images;  /* [nr] in the order of their first mappings */
	size_t nr;
	map_id *rows;          /* [nr_rows] mappings of images, grouped */
	size_t nr_rows;
	uint32_t *of_map;      /* [nr_mappings] image, or IMAGE_NONE */
	uint32_t *row_of_map;  /* [nr_mappings] number within its image */
	map_id *by_start;      /* [nr_by_start] mappings of files, by start */
	size_t nr_by_start;
	uint64_t page_bytes;   /* what all boundaries are multiples of */
	const struct pprof_profile *profile; /* borrowed */
};

/* Group the mappings. NOMEM or OK; images_fini() after either. */
enum pprof_status images_init(struct images *images,
			      const struct pprof_profile *profile,
			      struct pprof_error *err);
void images_fini(struct images *images);

/* True for names that no file stands behind. */
bool image_name_is_pseudo(const char *name);

/*
 * True for a range whose addresses are link-time addresses already: 0 up to
 * 0 or to the end of the address space, at offset 0.
 */
bool mapping_is_normalised(const struct mapping *map);

/* The mapping of a file that holds `address`, or 0. */
map_id images_find(const struct images *images, uint64_t address);

/*
 * Images of the file mappings next below and above an address that is in
 * none; IMAGE_NONE where there is none.
 */
void images_neighbours(const struct images *images, uint64_t address,
		       uint32_t *ret_below, uint32_t *ret_above);

#endif
