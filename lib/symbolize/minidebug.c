/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening .gnu_debugdata as a file of its own.
 */
#include <config.h>

#include "symbolize/minidebug.h"

#include "base/mem.h"
#include "symbolize/inflate.h"

enum pprof_status minidebug_open(struct elf_file *binary,
				 struct elf_file **ret_file,
				 struct pprof_error *err)
{
	const char *path = elf_file_path(binary);
	enum pprof_status status;
	struct elf_bytes packed;
	uint8_t *image = NULL;
	size_t nr_bytes = 0;

	status = elf_file_section(binary, ".gnu_debugdata", &packed, err);
	if (status)
		return status;
	if (!packed.size) {
		*ret_file = NULL;
		return PPROF_OK;
	}
	status = inflate_xz(packed, path, &image, &nr_bytes, err);
	if (status)
		return status;
	status = elf_file_open_memory(path, image, nr_bytes, ret_file, err);
	if (status)
		mem_free(image);
	return status;
}
