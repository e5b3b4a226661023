/* SPDX-License-Identifier: Apache-2.0
 *
 * Grouping of mappings by file, and look-ups by address. Addresses are those
 * of one or several processes: a merged profile holds many tables of maps.
 */
#include <config.h>

#include "base/mem.h"
#include "symbolize/images.h"

#include <stdlib.h>
#include <string.h>

/* Largest page that Linux runs with on the machines of today. */
#define MAX_PAGE_BYTES (UINT64_C(64) << 10)

/* One row while grouping. */
struct sort_row {
	str_id file;
	str_id build_id;
	uint64_t start;
	map_id map;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;
	int order = compare_u64(x->file, y->file);

	if (!order)
		order = compare_u64(x->build_id, y->build_id);
	if (!order)
		order = compare_u64(x->start, y->start);
	return order ? order : compare_u64(x->map, y->map);
}

/* Within one file, whatever the build ID. */
static int compare_starts(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;
	int order = compare_u64(x->start, y->start);

	return order ? order : compare_u64(x->map, y->map);
}

/* By the first mapping: `map` is that, `file` the image's old number. */
static int compare_firsts(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;

	return compare_u64(x->map, y->map);
}

bool image_name_is_pseudo(const char *name)
{
	static const char *const prefixes[] = {
		"[", "//anon", "/memfd:", "/dev/", "/SYSV", "/anon_hugepage",
		"anon_inode:", "/drm",
	};
	size_t i;

	if (!*name)
		return true;
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool mapping_is_normalised(const struct mapping *map)
{
	return !map->start && !map->offset &&
	       (!map->limit || map->limit == UINT64_MAX);
}

/* Lowest bit set in any boundary: the page size, or a multiple of it. */
static uint64_t find_page_bytes(const struct pprof_profile *profile)
{
	uint64_t bits = MAX_PAGE_BYTES;
	size_t i;

	for (i = 1; i < profile->nr_mappings; i++) {
		const struct mapping *map = &profile->mappings[i];

		if (mapping_is_normalised(map))
			continue;
		bits |= map->start | map->limit;
		if (map->file)
			bits |= map->offset;
	}
	return bits & -bits;
}

static struct sort_row *sort_mappings(const struct pprof_profile *profile,
				      size_t *ret_nr)
{
	struct sort_row *rows = mem_alloc(profile->nr_mappings, sizeof(*rows));
	size_t nr = 0, i;

	if (!rows)
		return NULL;
	for (i = 1; i < profile->nr_mappings; i++) {
		const struct mapping *map = &profile->mappings[i];

		/* A nameless range can still be told by its build ID. */
		if (!map->file && !map->build_id &&
		    !mapping_is_normalised(map))
			continue;
		rows[nr].file = map->file;
		rows[nr].build_id = map->build_id;
		rows[nr].start = map->start;
		rows[nr++].map = (map_id)i;
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_rows);
	*ret_nr = nr;
	return rows;
}

/*
 * Rows of one file that are one image: those with the build ID of the first,
 * or all when no two IDs contradict each other (data mappings have none).
 */
static size_t image_length(const struct sort_row *rows, size_t nr)
{
	size_t file_end, same_end, rest_end;

	for (file_end = 1; file_end < nr; file_end++)
		if (rows[file_end].file != rows->file)
			break;
	for (same_end = 1; same_end < file_end; same_end++)
		if (rows[same_end].build_id != rows->build_id)
			break;
	if (rows->build_id || same_end == file_end)
		return same_end;
	for (rest_end = same_end + 1; rest_end < file_end; rest_end++)
		if (rows[rest_end].build_id != rows[same_end].build_id)
			break;
	return rest_end == file_end ? file_end : same_end;
}

static void fill_image(struct images *images, struct image *image,
		       struct sort_row *rows, size_t nr)
{
	const struct mapping *mappings = images->profile->mappings;
	size_t i;

	image->file = rows->file;
	image->build_id = rows[nr - 1].build_id;
	image->first = (uint32_t)images->nr_rows;
	image->nr_rows = (uint32_t)nr;
	image->is_pseudo = rows->file && image_name_is_pseudo(
		profile_str(images->profile, rows->file));
	qsort(rows, nr, sizeof(*rows), compare_starts);
	for (i = 0; i < nr; i++) {
		const struct mapping *map = &mappings[rows[i].map];

		images->rows[images->nr_rows++] = rows[i].map;
		image->is_main |= (map->flags & MAP_MAIN) != 0;
		image->has_code |= !(map->flags & MAP_NOT_CODE);
	}
}

static map_id first_mapping(const struct images *images,
			    const struct image *image)
{
	map_id first = UINT32_MAX;
	uint32_t i;

	for (i = 0; i < image->nr_rows; i++)
		if (images->rows[image->first + i] < first)
			first = images->rows[image->first + i];
	return first;
}

/* Order the images by their first mappings; `rows` is scratch. */
static bool order_images(struct images *images, struct sort_row *rows)
{
	struct image *ordered = mem_alloc(images->nr, sizeof(*ordered));
	size_t i, j;

	if (!ordered)
		return false;
	for (i = 0; i < images->nr; i++) {
		rows[i].file = (str_id)i;
		rows[i].map = first_mapping(images, &images->images[i]);
	}
	qsort(rows, images->nr, sizeof(*rows), compare_firsts);
	for (i = 0; i < images->nr; i++)
		ordered[i] = images->images[rows[i].file];
	mem_free(images->images);
	images->images = ordered;
	for (i = 0; i < images->nr; i++) {
		for (j = 0; j < ordered[i].nr_rows; j++) {
			const map_id map = images->rows[ordered[i].first + j];

			images->of_map[map] = (uint32_t)i;
			images->row_of_map[map] = (uint32_t)j;
		}
	}
	return true;
}

/* Ranges of files at run-time addresses, for look-ups. */
static void index_by_start(struct images *images, struct sort_row *rows)
{
	const struct pprof_profile *profile = images->profile;
	size_t nr = 0, i;

	for (i = 1; i < profile->nr_mappings; i++) {
		const struct mapping *map = &profile->mappings[i];
		uint32_t image = images->of_map[i];

		if (image == IMAGE_NONE || images->images[image].is_pseudo ||
		    mapping_is_normalised(map))
			continue;
		rows[nr].start = map->start;
		rows[nr++].map = (map_id)i;
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_starts);
	for (i = 0; i < nr; i++)
		images->by_start[i] = rows[i].map;
	images->nr_by_start = nr;
}

static bool group_rows(struct images *images, struct sort_row *rows, size_t nr)
{
	size_t i, length, cap = 0;

	images->rows = mem_alloc(nr, sizeof(*images->rows));
	images->by_start = mem_alloc(nr, sizeof(*images->by_start));
	images->of_map = mem_alloc(images->profile->nr_mappings,
				   sizeof(*images->of_map));
	images->row_of_map = mem_zalloc(images->profile->nr_mappings,
					sizeof(*images->row_of_map));
	if (!images->rows || !images->by_start || !images->of_map ||
	    !images->row_of_map)
		return false;
	for (i = 0; i < images->profile->nr_mappings; i++)
		images->of_map[i] = IMAGE_NONE;
	for (i = 0; i < nr; i += length) {
		if (!mem_grow(images->images, cap, images->nr + 1, UINT32_MAX))
			return false;
		memset(&images->images[images->nr], 0, sizeof(struct image));
		length = image_length(rows + i, nr - i);
		fill_image(images, &images->images[images->nr++], rows + i,
			   length);
	}
	if (nr && !order_images(images, rows))
		return false;
	index_by_start(images, rows);
	return true;
}

enum pprof_status images_init(struct images *images,
			      const struct pprof_profile *profile,
			      struct pprof_error *err)
{
	struct sort_row *rows;
	size_t nr = 0;
	bool ok;

	memset(images, 0, sizeof(*images));
	images->profile = profile;
	images->page_bytes = find_page_bytes(profile);
	rows = sort_mappings(profile, &nr);
	ok = rows && group_rows(images, rows, nr);
	mem_free(rows);
	return ok ? PPROF_OK : error_nomem(err);
}

void images_fini(struct images *images)
{
	mem_free(images->images);
	mem_free(images->rows);
	mem_free(images->of_map);
	mem_free(images->row_of_map);
	mem_free(images->by_start);
	memset(images, 0, sizeof(*images));
}

/* Number of rows in by_start that start at or below `address`. */
static size_t count_below(const struct images *images, uint64_t address)
{
	const struct mapping *mappings = images->profile->mappings;
	size_t low = 0, high = images->nr_by_start, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (mappings[images->by_start[middle]].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

map_id images_find(const struct images *images, uint64_t address)
{
	size_t below = count_below(images, address);
	map_id map;

	if (!below)
		return 0;
	map = images->by_start[below - 1];
	return address < images->profile->mappings[map].limit ? map : 0;
}

void images_neighbours(const struct images *images, uint64_t address,
		       uint32_t *ret_below, uint32_t *ret_above)
{
	size_t below = count_below(images, address);

	*ret_below = below ? images->of_map[images->by_start[below - 1]]
			   : IMAGE_NONE;
	*ret_above = below < images->nr_by_start
			     ? images->of_map[images->by_start[below]]
			     : IMAGE_NONE;
}
