/* SPDX-License-Identifier: Apache-2.0
 *
 * .gnu_debugdata: a compressed ELF file with the symbols that were stripped
 * from the dynamic table (GDB manual, "MiniDebugInfo").
 */
#ifndef SYMBOLIZE_MINIDEBUG_H
#define SYMBOLIZE_MINIDEBUG_H

#include "symbolize/elf.h"

/*
 * Open the file inside `binary`; *ret_file is NULL when there is none. OK,
 * NOMEM, FORMAT, LIMIT, UNSUPPORTED.
 */
enum pprof_status minidebug_open(struct elf_file *binary,
				 struct elf_file **ret_file,
				 struct pprof_error *err);

#endif
