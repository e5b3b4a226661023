/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole-section decompression. Sizes are checked against the compressed
 * bytes before anything is allocated.
 */
#include <config.h>

#include "symbolize/inflate.h"

#ifdef HAVE_LIBDEFLATE
# include <libdeflate.h>
#else
# include <zlib.h>
#endif
#ifdef HAVE_LIBZSTD
# include <zstd.h>
#endif
#ifdef HAVE_LZMA
# include <lzma.h>
#endif

#include "base/mem.h"

static enum pprof_status fail_broken(const char *source, const char *what,
				     struct pprof_error *err)
{
	return error_plain(err, PPROF_FORMAT, source,
			   "a section's %s data are broken", what);
}

/* Room for `size` bytes, if `nr_in` compressed bytes can make that many. */
static enum pprof_status make_room(size_t nr_in, uint64_t size,
				   const char *source, uint8_t **ret_data,
				   struct pprof_error *err)
{
	if (size > INFLATE_MAX_BYTES ||
	    (size > INFLATE_SLACK_BYTES &&
	     (size - INFLATE_SLACK_BYTES) / INFLATE_RATIO > nr_in))
		return error_plain(err, PPROF_LIMIT, source,
				   "a section of %zu bytes claims to hold %llu",
				   nr_in, (unsigned long long)size);
	*ret_data = mem_alloc(size, 1);
	return *ret_data ? PPROF_OK : error_nomem(err);
}

#ifdef HAVE_LIBDEFLATE
static bool unpack_zlib(struct elf_bytes in, uint8_t *out, size_t size)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	enum libdeflate_result result;

	if (!d)
		return false;
	result = libdeflate_zlib_decompress(d, in.data, in.size, out, size,
					    NULL);
	libdeflate_free_decompressor(d);
	return result == LIBDEFLATE_SUCCESS;
}
#else
/* zlib counts in 32 bits: feed it by slices. */
static bool unpack_zlib(struct elf_bytes in, uint8_t *out, size_t size)
{
	const size_t slice = (size_t)1 << 30;
	z_stream z = { 0 };
	size_t left = in.size, room = size;
	int rc;

	if (inflateInit(&z) != Z_OK)
		return false;
	z.next_in = (z_const Bytef *)(uintptr_t)in.data;
	z.next_out = out;
	do {
		uInt nr_in = (uInt)(left < slice ? left : slice);
		uInt nr_out = (uInt)(room < slice ? room : slice);

		z.avail_in = nr_in;
		z.avail_out = nr_out;
		rc = inflate(&z, Z_NO_FLUSH);
		left -= nr_in - z.avail_in;
		room -= nr_out - z.avail_out;
	} while (rc == Z_OK && (left || room));
	inflateEnd(&z);
	return rc == Z_STREAM_END && !room;
}
#endif

enum pprof_status inflate_zlib(struct elf_bytes in, uint64_t size,
			       const char *source, uint8_t **ret_data,
			       struct pprof_error *err)
{
	enum pprof_status status;
	uint8_t *out;

	status = make_room(in.size, size, source, &out, err);
	if (status)
		return status;
	if (!unpack_zlib(in, out, size)) {
		mem_free(out);
		return fail_broken(source, "zlib", err);
	}
	*ret_data = out;
	return PPROF_OK;
}

#ifdef HAVE_LIBZSTD
enum pprof_status inflate_zstd(struct elf_bytes in, uint64_t size,
			       const char *source, uint8_t **ret_data,
			       struct pprof_error *err)
{
	enum pprof_status status;
	uint8_t *out;

	status = make_room(in.size, size, source, &out, err);
	if (status)
		return status;
	if (ZSTD_decompress(out, size, in.data, in.size) != size) {
		mem_free(out);
		return fail_broken(source, "zstd", err);
	}
	*ret_data = out;
	return PPROF_OK;
}
#else
enum pprof_status inflate_zstd(struct elf_bytes in, uint64_t size,
			       const char *source, uint8_t **ret_data,
			       struct pprof_error *err)
{
	(void)in;
	(void)size;
	(void)ret_data;
	return error_plain(err, PPROF_UNSUPPORTED, source,
			   "zstd sections: built without libzstd");
}
#endif

#ifdef HAVE_LZMA
/* Memory the xz decoder may take: its largest preset needs 65 MiB. */
#define XZ_MEMORY_BYTES ((uint64_t)128 << 20)

/* First guess at the expansion of a symbol table; doubled until it fits. */
#define XZ_GUESS 4

enum pprof_status inflate_xz(struct elf_bytes in, const char *source,
			     uint8_t **ret_data, size_t *ret_size,
			     struct pprof_error *err)
{
	uint64_t size = (uint64_t)in.size * XZ_GUESS + 4096;
	enum pprof_status status;
	uint8_t *out;

	for (;;) {
		uint64_t memory = XZ_MEMORY_BYTES;
		size_t in_pos = 0, out_pos = 0;
		lzma_ret rc;

		status = make_room(in.size, size, source, &out, err);
		if (status)
			return status;
		rc = lzma_stream_buffer_decode(&memory, 0, NULL, in.data,
					       &in_pos, in.size, out,
					       &out_pos, size);
		if (rc == LZMA_OK) {
			*ret_data = out;
			*ret_size = out_pos;
			return PPROF_OK;
		}
		mem_free(out);
		if (rc != LZMA_BUF_ERROR)
			return fail_broken(source, "xz", err);
		size *= 2;
	}
}
#else
enum pprof_status inflate_xz(struct elf_bytes in, const char *source,
			     uint8_t **ret_data, size_t *ret_size,
			     struct pprof_error *err)
{
	(void)in;
	(void)ret_data;
	(void)ret_size;
	return error_plain(err, PPROF_UNSUPPORTED, source,
			   "xz sections: built without liblzma");
}
#endif
