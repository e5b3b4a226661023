/* SPDX-License-Identifier: Apache-2.0
 *
 * Split debug information: .dwo files beside a binary, and packages of them
 * (.dwp).
 */
#ifndef SYMBOLIZE_SPLIT_H
#define SYMBOLIZE_SPLIT_H

#include "symbolize/dwarf_file.h"

/* An opened .dwo or .dwp. */
struct split_file {
	struct elf_file *elf;
	struct dwarf_file dwarf;
};

/* True when a unit of `file` is a skeleton that no package has filled. */
bool split_is_needed(const struct dwarf_unit *unit);

/*
 * Open `path` as a package and give the skeletons of `file` their units. A
 * missing file is no failure: *ret_split is NULL. OK, NOMEM.
 */
enum pprof_status split_open_package(const char *path,
				     struct dwarf_file *file, uint32_t id,
				     struct diags *diags,
				     struct split_file **ret_split,
				     struct pprof_error *err);

/*
 * Find and open the .dwo of a skeleton; `binary_path` tells where to look
 * besides. *ret_unit is its unit, NULL when none fits. OK, NOMEM.
 */
enum pprof_status split_open_dwo(const struct dwarf_unit *skeleton,
				 const char *binary_path, uint32_t id,
				 struct split_file **ret_split,
				 const struct dwarf_unit **ret_unit);
void split_close(struct split_file *split);

#endif
