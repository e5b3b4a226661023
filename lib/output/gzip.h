/* SPDX-License-Identifier: Apache-2.0
 *
 * Compressing writer: bytes in, gzip members out into a sink. Modification
 * time 0 and no name, so that the same input gives the same bytes.
 */
#ifndef OUTPUT_GZIP_H
#define OUTPUT_GZIP_H

#include "base/buf.h"
#include "base/sink.h"

/*
 * Inflated bytes a member holds at most. Nearly every profile is one member;
 * larger ones become several, which gzip readers join (RFC 1952, 2.2).
 */
#define GZIP_MEMBER_BYTES ((size_t)16 << 20)

struct gzip_writer {
	struct pprof_sink *sink;
	struct buf buf; /* of the member that is being filled */
	int level;      /* 0: the bytes go through as they are */
};

/*
 * level -1: the default, 1. Samples in canonical order repeat their
 * neighbours' upper frames, so that higher levels gain little: 37.8 MB at 1,
 * 37.7 at 9 for a profile of 1,000,000 samples, at twice the whole time.
 */
void gzip_writer_init(struct gzip_writer *writer, struct pprof_sink *sink,
		      int level);

/* Where to append; call gzip_writer_step() now and then. */
struct buf *gzip_writer_buf(struct gzip_writer *writer);

/* Compress when a member is full. OK, NOMEM, IO. */
enum pprof_status gzip_writer_step(struct gzip_writer *writer,
				   struct pprof_error *err);

/* Compress the rest. OK, NOMEM, IO. */
enum pprof_status gzip_writer_finish(struct gzip_writer *writer,
				     struct pprof_error *err);
void gzip_writer_fini(struct gzip_writer *writer);

#endif
