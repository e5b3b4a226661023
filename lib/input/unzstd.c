/* SPDX-License-Identifier: Apache-2.0
 *
 * Streaming decompression with libzstd, bounded like that of gzip.
 */
#include <config.h>

#include "input/unzstd.h"

#include <string.h>

#ifdef HAVE_LIBZSTD
# include <zstd.h>
#endif

#include "base/mem.h"

#ifdef HAVE_LIBZSTD

/* Compressed bytes read at once. */
#define IN_BYTES ((size_t)64 << 10)

/* The ratio counts from here on: small inputs may be all zeros. */
#define RATIO_FROM ((uint64_t)64 << 20)

/* Largest window that a frame may ask for: 128 MiB, zstd's own default. */
#define WINDOW_LOG_MAX 27

struct unzstd {
	const char *name;
	cursor_refill_fn pull;
	void *pull_ctx;
	const uint64_t *raw_bytes;
	const struct pprof_limits *limits;
	struct diags *diags;
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	size_t left;          /* ZSTD_decompressStream()'s hint; 0: frame end */
	uint64_t nr_out;
	bool at_eof;
	bool was_truncated;
	uint8_t buffer[IN_BYTES];
};

bool unzstd_detect(const uint8_t *head, size_t nr)
{
	return nr >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4);
}

enum pprof_status unzstd_new(const char *name, cursor_refill_fn pull,
			     void *pull_ctx, const uint64_t *raw_bytes,
			     const struct pprof_limits *limits,
			     struct diags *diags, struct unzstd **ret_unzstd,
			     struct pprof_error *err)
{
	struct unzstd *unzstd = mem_zalloc(1, sizeof(*unzstd));

	if (!unzstd)
		return error_nomem(err);
	unzstd->stream = ZSTD_createDStream();
	if (!unzstd->stream) {
		mem_free(unzstd);
		return error_nomem(err);
	}
	ZSTD_DCtx_setParameter(unzstd->stream, ZSTD_d_windowLogMax,
			       WINDOW_LOG_MAX);
	unzstd->name = name;
	unzstd->pull = pull;
	unzstd->pull_ctx = pull_ctx;
	unzstd->raw_bytes = raw_bytes;
	unzstd->limits = limits;
	unzstd->diags = diags;
	unzstd->in.src = unzstd->buffer;
	*ret_unzstd = unzstd;
	return PPROF_OK;
}

void unzstd_free(struct unzstd *unzstd)
{
	if (!unzstd)
		return;
	ZSTD_freeDStream(unzstd->stream);
	mem_free(unzstd);
}

/* More compressed bytes; false after an error. */
static bool refill(struct unzstd *unzstd, struct pprof_error *err)
{
	size_t nr = unzstd->pull(unzstd->pull_ctx, unzstd->buffer, IN_BYTES,
				 err);

	if (nr == SIZE_MAX)
		return false;
	unzstd->at_eof = !nr;
	unzstd->in.size = nr;
	unzstd->in.pos = 0;
	return true;
}

static bool check_limits(struct unzstd *unzstd, struct pprof_error *err)
{
	const struct pprof_limits *limits = unzstd->limits;

	if (unzstd->nr_out > limits->inflated_bytes) {
		error_plain(err, PPROF_LIMIT, unzstd->name, "is longer than "
			    "%llu bytes when unpacked (limit inflated_bytes)",
			    (unsigned long long)limits->inflated_bytes);
		return false;
	}
	if (unzstd->nr_out > RATIO_FROM &&
	    unzstd->nr_out / limits->inflate_ratio > *unzstd->raw_bytes) {
		error_plain(err, PPROF_LIMIT, unzstd->name, "unpacks to more "
			    "than %llu times its size (limit inflate_ratio)",
			    (unsigned long long)limits->inflate_ratio);
		return false;
	}
	return true;
}

/* The compressed bytes are over: between frames, or too early. */
static size_t finish(struct unzstd *unzstd, struct pprof_error *err)
{
	if (!unzstd->left)
		return 0;
	if (!unzstd->nr_out) {
		error_plain(err, PPROF_FORMAT, unzstd->name,
			    "zstd stream ends before it gives anything");
		return SIZE_MAX;
	}
	if (!unzstd->was_truncated)
		diag_count(unzstd->diags, PPROF_UNIT_BYTE, unzstd->nr_out,
			   "zstd stream is truncated: what came before is "
			   "read");
	unzstd->was_truncated = true;
	return 0;
}

size_t unzstd_read(void *ctx, void *dst, size_t cap, struct pprof_error *err)
{
	struct unzstd *unzstd = ctx;
	ZSTD_outBuffer out = { .dst = dst, .size = cap };
	size_t ret;

	while (!out.pos) {
		if (unzstd->in.pos == unzstd->in.size && !unzstd->at_eof &&
		    !refill(unzstd, err))
			return SIZE_MAX;
		ret = ZSTD_decompressStream(unzstd->stream, &out,
					    &unzstd->in);
		if (ZSTD_isError(ret)) {
			error_set(err, PPROF_FORMAT, unzstd->name,
				  PPROF_UNIT_BYTE, unzstd->nr_out,
				  "zstd stream is damaged: %s",
				  ZSTD_getErrorName(ret));
			return SIZE_MAX;
		}
		if (unzstd->at_eof && !out.pos)
			return finish(unzstd, err);
		unzstd->left = ret;
	}
	unzstd->nr_out += out.pos;
	return check_limits(unzstd, err) ? out.pos : SIZE_MAX;
}

bool unzstd_was_truncated(const struct unzstd *unzstd)
{
	return unzstd->was_truncated;
}

#else

bool unzstd_detect(const uint8_t *head, size_t nr)
{
	(void)head;
	(void)nr;
	return false;
}

enum pprof_status unzstd_new(const char *name, cursor_refill_fn pull,
			     void *pull_ctx, const uint64_t *raw_bytes,
			     const struct pprof_limits *limits,
			     struct diags *diags, struct unzstd **ret_unzstd,
			     struct pprof_error *err)
{
	(void)pull;
	(void)pull_ctx;
	(void)raw_bytes;
	(void)limits;
	(void)diags;
	(void)ret_unzstd;
	return error_plain(err, PPROF_UNSUPPORTED, name,
			   "is zstd-compressed, which is not read here");
}

void unzstd_free(struct unzstd *unzstd)
{
	(void)unzstd;
}

size_t unzstd_read(void *ctx, void *dst, size_t cap, struct pprof_error *err)
{
	(void)ctx;
	(void)dst;
	(void)cap;
	(void)err;
	return SIZE_MAX;
}

bool unzstd_was_truncated(const struct unzstd *unzstd)
{
	(void)unzstd;
	return false;
}

#endif
