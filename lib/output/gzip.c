/* SPDX-License-Identifier: Apache-2.0
 *
 * Compression of output, a member at a time. The home of zlib and
 * libdeflate on the way out.
 */
#include <config.h>

#include "base/mem.h"
#include "output/gzip.h"

#include <string.h>

#ifdef HAVE_LIBDEFLATE
# include <libdeflate.h>
#endif
#include <zlib.h>

/* Slack for the records that are appended between two steps. */
#define MEMBER_SLACK ((size_t)1 << 20)

void gzip_writer_init(struct gzip_writer *writer, struct pprof_sink *sink,
		      int level)
{
	writer->sink = sink;
#ifdef HAVE_LIBDEFLATE
	writer->level = level < 0 ? 1 : level;
#else
	writer->level = level < 0 ? Z_BEST_SPEED : level;
#endif
	buf_init(&writer->buf, PTRDIFF_MAX);
}

void gzip_writer_fini(struct gzip_writer *writer)
{
	buf_fini(&writer->buf);
}

struct buf *gzip_writer_buf(struct gzip_writer *writer)
{
	return &writer->buf;
}

#ifdef HAVE_LIBDEFLATE

static enum pprof_status write_member(struct gzip_writer *writer,
				      const char *data, size_t nr,
				      struct pprof_error *err)
{
	struct libdeflate_compressor *compressor;
	enum pprof_status status;
	size_t bound, len;
	char *out;

	compressor = libdeflate_alloc_compressor(writer->level);
	bound = compressor ? libdeflate_gzip_compress_bound(compressor, nr) :
		0;
	out = bound ? mem_alloc(bound, 1) : NULL;
	if (!out) {
		libdeflate_free_compressor(compressor);
		return error_nomem(err);
	}
	len = libdeflate_gzip_compress(compressor, data, nr, out, bound);
	libdeflate_free_compressor(compressor);
	status = len ? pprof_sink_write(writer->sink, out, len, err) :
		 error_plain(err, PPROF_IO, NULL, "compression failed");
	mem_free(out);
	return status;
}

#else

/* Pass what deflate gives to the sink until it wants more input. */
static enum pprof_status drain(struct gzip_writer *writer, z_stream *stream,
			       int flush, struct pprof_error *err)
{
	char out[64 << 10];
	enum pprof_status status = PPROF_OK;

	do {
		stream->next_out = (Bytef *)out;
		stream->avail_out = sizeof(out);
		if (deflate(stream, flush) == Z_STREAM_ERROR)
			return error_plain(err, PPROF_IO, NULL,
					   "compression failed");
		status = pprof_sink_write(writer->sink, out, sizeof(out) -
					  stream->avail_out, err);
	} while (!status && !stream->avail_out);
	return status;
}

static enum pprof_status write_member(struct gzip_writer *writer,
				      const char *data, size_t nr,
				      struct pprof_error *err)
{
	enum pprof_status status;
	z_stream stream;

	memset(&stream, 0, sizeof(stream));
	/* 15 + 16: the largest window, gzip header with time 0. */
	if (deflateInit2(&stream, writer->level, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error_nomem(err);
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)nr;
	status = drain(writer, &stream, Z_FINISH, err);
	deflateEnd(&stream);
	return status;
}

#endif

/* Compress the first `nr` bytes and keep the rest. */
static enum pprof_status take_member(struct gzip_writer *writer, size_t nr,
				     struct pprof_error *err)
{
	struct buf *buf = &writer->buf;
	enum pprof_status status;

	status = writer->level ? write_member(writer, buf->data, nr, err) :
		 pprof_sink_write(writer->sink, buf->data, nr, err);
	if (status)
		return status;
	buf->len -= nr;
	if (buf->len)
		memmove(buf->data, buf->data + nr, buf->len);
	return PPROF_OK;
}

enum pprof_status gzip_writer_step(struct gzip_writer *writer,
				   struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;

	if (!buf_ok(&writer->buf))
		return error_nomem(err);
	if (!writer->buf.len &&
	    !writer->buf.cap && !buf_reserve(&writer->buf, MEMBER_SLACK))
		return error_nomem(err);
	while (!status && writer->buf.len > GZIP_MEMBER_BYTES)
		status = take_member(writer, GZIP_MEMBER_BYTES, err);
	return status;
}

enum pprof_status gzip_writer_finish(struct gzip_writer *writer,
				     struct pprof_error *err)
{
	enum pprof_status status = gzip_writer_step(writer, err);

	if (!status)
		status = take_member(writer, writer->buf.len, err);
	return status;
}
