/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding split units. Both kinds of index (GNU's version 2 and DWARF 5,
 * 7.3.5) say which slice of each section belongs to a unit.
 */
#include <config.h>

#include "symbolize/split.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

#define MAX_PATH_BYTES ((size_t)1 << 16)

/* Columns of an index; 2 to 8 are known. */
#define MAX_COLUMNS 32

/* Section numbers of an index; of 8, version 2 thinks otherwise. */
enum {
	COLUMN_INFO = 1,
	COLUMN_TYPES = 2,
	COLUMN_ABBREV = 3,
	COLUMN_STR_OFFSETS = 6,
	COLUMN_RNGLISTS = 8
};

bool split_is_needed(const struct dwarf_unit *unit)
{
	return unit->is_readable && *unit->dwo_name && !unit->split &&
	       !unit->file->is_split;
}

void split_close(struct split_file *split)
{
	if (!split)
		return;
	dwarf_file_fini(&split->dwarf);
	elf_file_close(split->elf);
	mem_free(split);
}

/* Open with unit headers read, roots not. OK with NULL: no such file. */
static enum pprof_status open_split(const char *path, uint32_t id,
				    struct diags *diags,
				    struct split_file **ret_split)
{
	struct split_file *split;
	enum pprof_status status;
	struct elf_file *elf;

	*ret_split = NULL;
	status = elf_file_open(path, &elf, NULL);
	if (status)
		return status == PPROF_NOMEM ? status : PPROF_OK;
	split = mem_zalloc(1, sizeof(*split));
	if (!split) {
		elf_file_close(elf);
		return PPROF_NOMEM;
	}
	split->elf = elf;
	status = dwarf_file_init(&split->dwarf, elf, true, 1, diags, NULL);
	split->dwarf.id = id;
	if (status) {
		split_close(split);
		return status;
	}
	*ret_split = split;
	return PPROF_OK;
}

/* An index section of a package. */
struct package_index {
	bool is_5;
	uint32_t nr_columns, nr_units, nr_slots;
	uint32_t columns[MAX_COLUMNS];
	struct dwarf_cursor rows;    /* slot -> row, from 1 */
	struct dwarf_cursor offsets; /* [nr_units][nr_columns] */
};

static bool read_index(const struct dwarf_file *file, const char *name,
		       struct package_index *index)
{
	struct dwarf_cursor cursor = { NULL, NULL, file->is_swapped, false };
	struct elf_bytes bytes;
	uint32_t version, i;

	if (elf_file_section(file->elf, name, &bytes, NULL) || !bytes.size)
		return false;
	cursor.p = bytes.data;
	cursor.end = bytes.data + bytes.size;
	version = dwarf_u16(&cursor);
	dwarf_skip(&cursor, 2);
	index->is_5 = version == 5;
	index->nr_columns = dwarf_u32(&cursor);
	index->nr_units = dwarf_u32(&cursor);
	index->nr_slots = dwarf_u32(&cursor);
	if (cursor.failed || (version != 5 && version != 2) ||
	    index->nr_columns > MAX_COLUMNS)
		return false;
	dwarf_skip(&cursor, (uint64_t)index->nr_slots * 8);
	index->rows = cursor;
	dwarf_skip(&cursor, (uint64_t)index->nr_slots * 4);
	for (i = 0; i < index->nr_columns; i++)
		index->columns[i] = dwarf_u32(&cursor);
	index->offsets = cursor;
	return !cursor.failed;
}

static struct dwarf_unit *unit_at(struct dwarf_unit *units, size_t nr,
				  uint64_t offset)
{
	size_t lo = 0;

	while (nr) {
		size_t half = nr / 2;

		if (units[lo + half].offset < offset) {
			lo += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return &units[lo];
}

/* The slices of one row; columns that are absent start at 0. */
struct slices {
	uint64_t info, types, abbrev, str_offsets, rnglists;
	bool has_types;
};

static void read_row(const struct package_index *index, uint32_t row,
		     struct slices *slices)
{
	struct dwarf_cursor cursor = index->offsets;
	uint32_t i;

	memset(slices, 0, sizeof(*slices));
	dwarf_skip(&cursor, (uint64_t)(row - 1) * index->nr_columns * 4);
	for (i = 0; i < index->nr_columns; i++) {
		uint64_t offset = dwarf_u32(&cursor);

		if (index->columns[i] == COLUMN_INFO) {
			slices->info = offset;
		} else if (index->columns[i] == COLUMN_TYPES) {
			slices->types = offset;
			slices->has_types = true;
		} else if (index->columns[i] == COLUMN_ABBREV) {
			slices->abbrev = offset;
		} else if (index->columns[i] == COLUMN_STR_OFFSETS) {
			slices->str_offsets = offset;
		} else if (index->columns[i] == COLUMN_RNGLISTS &&
			   index->is_5) {
			slices->rnglists = offset;
		}
	}
}

static void apply_row(struct dwarf_file *file, const struct slices *slices)
{
	struct dwarf_unit *units = file->units, *unit;
	uint64_t offset = slices->info;
	size_t nr = file->nr_units;

	if (slices->has_types) {
		units = file->type_units;
		nr = file->nr_type_units;
		offset = slices->types;
	}
	unit = unit_at(units, nr, offset);
	if (unit == units + nr || unit->offset != offset)
		return;
	unit->abbrev_offset += slices->abbrev;
	unit->str_offsets_start = slices->str_offsets;
	unit->rnglists_start = slices->rnglists;
}

static void apply_index(struct dwarf_file *file, const char *name)
{
	struct package_index index;
	struct slices slices;
	uint32_t i, row;

	if (!read_index(file, name, &index))
		return;
	for (i = 0; i < index.nr_slots; i++) {
		row = dwarf_u32(&index.rows);
		if (!row || row > index.nr_units)
			continue;
		read_row(&index, row, &slices);
		apply_row(file, &slices);
	}
}

static bool is_split_compile(const struct dwarf_unit *unit)
{
	return unit->is_readable && unit->type != DW_UT_type &&
	       unit->type != DW_UT_split_type;
}

/* Skeletons by identity, to be met by the units of a package. */
static int compare_ids(const void *a, const void *b)
{
	const struct dwarf_unit *const *x = a, *const *y = b;

	return ((*x)->dwo_id > (*y)->dwo_id) - ((*x)->dwo_id < (*y)->dwo_id);
}

static enum pprof_status pair_units(struct dwarf_file *file,
				    struct dwarf_file *package)
{
	struct dwarf_unit **skeletons, **found, *key;
	size_t nr = 0, i;

	skeletons = mem_alloc(file->nr_units, sizeof(struct dwarf_unit *));
	if (!skeletons)
		return PPROF_NOMEM;
	for (i = 0; i < file->nr_units; i++) {
		if (split_is_needed(&file->units[i]))
			skeletons[nr++] = &file->units[i];
	}
	if (nr)
		qsort(skeletons, nr, sizeof(*skeletons), compare_ids);
	for (i = 0; i < package->nr_units && nr; i++) {
		key = &package->units[i];
		if (!is_split_compile(key))
			continue;
		found = bsearch(&key, skeletons, nr, sizeof(*skeletons),
				compare_ids);
		if (!found || (*found)->split)
			continue;
		(*found)->split = key;
		key->skeleton = *found;
	}
	mem_free(skeletons);
	return PPROF_OK;
}

enum pprof_status split_open_package(const char *path,
				     struct dwarf_file *file, uint32_t id,
				     struct diags *diags,
				     struct split_file **ret_split,
				     struct pprof_error *err)
{
	struct split_file *split;
	enum pprof_status status;

	status = open_split(path, id, diags, &split);
	if (!status && split) {
		apply_index(&split->dwarf, ".debug_cu_index");
		apply_index(&split->dwarf, ".debug_tu_index");
		status = dwarf_file_read_roots(&split->dwarf, diags, err);
		if (!status)
			status = pair_units(file, &split->dwarf);
	}
	if (status) {
		split_close(split);
		return error_nomem(err);
	}
	*ret_split = split;
	return PPROF_OK;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The k-th place to look at; false when there are no more. */
static bool make_candidate(const struct dwarf_unit *skeleton,
			   const char *binary_path, int k, struct buf *path)
{
	const char *name = skeleton->dwo_name;
	const char *dir_end = base_name(binary_path);

	buf_reset(path);
	switch (k) {
	case 0: /* where the compiler put it */
		if (name[0] != '/' && *skeleton->comp_dir) {
			buf_str(path, skeleton->comp_dir);
			buf_byte(path, '/');
		}
		buf_str(path, name);
		return true;
	case 1: /* the same, moved along with the binary */
	case 2:
		buf_add(path, binary_path, (size_t)(dir_end - binary_path));
		buf_str(path, k == 1 && name[0] != '/' ? name
						       : base_name(name));
		return true;
	default:
		return false;
	}
}

/* Read roots and look for the unit with the skeleton's identity. */
static enum pprof_status adopt(struct split_file *split,
			       const struct dwarf_unit *skeleton,
			       const struct dwarf_unit **ret_unit)
{
	struct dwarf_file *file = &split->dwarf;
	enum pprof_status status;
	size_t i;

	status = dwarf_file_read_roots(file, NULL, NULL);
	for (i = 0; i < file->nr_units && !status; i++) {
		if (!is_split_compile(&file->units[i]) ||
		    file->units[i].dwo_id != skeleton->dwo_id)
			continue;
		file->units[i].skeleton = skeleton;
		*ret_unit = &file->units[i];
		break;
	}
	return status;
}

enum pprof_status split_open_dwo(const struct dwarf_unit *skeleton,
				 const char *binary_path, uint32_t id,
				 struct split_file **ret_split,
				 const struct dwarf_unit **ret_unit)
{
	enum pprof_status status = PPROF_OK;
	struct split_file *split = NULL;
	struct buf path;
	int k;

	*ret_unit = NULL;
	*ret_split = NULL;
	buf_init(&path, MAX_PATH_BYTES);
	for (k = 0; !status && !*ret_unit; k++) {
		if (!make_candidate(skeleton, binary_path, k, &path))
			break;
		if (!buf_ok(&path))
			continue;
		status = open_split(buf_cstr(&path), id, NULL, &split);
		if (!status && split)
			status = adopt(split, skeleton, ret_unit);
		if (*ret_unit && !status)
			*ret_split = split;
		else
			split_close(split);
		split = NULL;
	}
	buf_fini(&path);
	return status;
}
