/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompression of whole ELF sections: zlib, zstd and xz.
 */
#ifndef SYMBOLIZE_INFLATE_H
#define SYMBOLIZE_INFLATE_H

#include "base/error.h"
#include "symbolize/elf.h"

/*
 * A section that promises more than this many bytes a compressed byte, and
 * INFLATE_SLACK_BYTES besides, lies: deflate cannot exceed 1032:1.
 */
#define INFLATE_RATIO 1032
#define INFLATE_SLACK_BYTES ((uint64_t)64 << 20)
#define INFLATE_MAX_BYTES ((uint64_t)16 << 30)

/*
 * Inflate `in` to exactly `size` bytes, as the section header promised. The
 * caller frees *ret_data with mem_free(). OK, NOMEM, FORMAT, LIMIT,
 * UNSUPPORTED (built without that library). `source` names the file.
 */
enum pprof_status inflate_zlib(struct elf_bytes in, uint64_t size,
			       const char *source, uint8_t **ret_data,
			       struct pprof_error *err);
enum pprof_status inflate_zstd(struct elf_bytes in, uint64_t size,
			       const char *source, uint8_t **ret_data,
			       struct pprof_error *err);

/* The same for an xz stream, whose size shows on the way. */
enum pprof_status inflate_xz(struct elf_bytes in, const char *source,
			     uint8_t **ret_data, size_t *ret_size,
			     struct pprof_error *err);

#endif
