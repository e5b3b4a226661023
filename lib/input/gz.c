/* SPDX-License-Identifier: Apache-2.0
 *
 * Inflating: zlib for streams, which gives precise diagnostics, libdeflate
 * for whole files, which is several times as fast. Owns what counts as
 * padding, garbage, damage and a bomb.
 */
#include <config.h>

#include "input/gz.h"

#include <string.h>
#include <sys/mman.h>

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>
#if defined(HAVE_LIBDEFLATE)
# include <libdeflate.h>
#endif

#include "base/mem.h"

#define IN_BYTES ((size_t)64 << 10)

/* Below this much output the ratio is not looked at: small files may be. */
#define RATIO_FREE_BYTES ((uint64_t)64 << 20)

/* inflateInit2() window bits: the largest window; 16 more mean gzip. */
#define ZLIB_WINDOW 15
#define GZIP_WINDOW (ZLIB_WINDOW + 16)

/* RFC 1952, 2.3.1: a checksum of the header, which libdeflate skips. */
#define FLG_FHCRC 0x02

/* Output of the trial that tells zlib data from text. */
#define TRIAL_BYTES 512

enum gz_state {
	GZ_IN_MEMBER = 0, /* inflating */
	GZ_BETWEEN,       /* after a member: another, padding or garbage */
	GZ_AT_END,
	GZ_FAILED         /* gz.err stands */
};

struct gz {
	struct gz_source source;
	z_stream z;
	bool z_ready;         /* inflateInit2() succeeded */
	enum gz_state state;
	bool source_ended;
	bool is_truncated;
	uint64_t in_total;    /* compressed bytes pulled */
	uint64_t out_total;   /* inflated bytes given */
	struct pprof_error err;
	uint8_t in[IN_BYTES];
};

/* zlib's allocator, through the gate. */
static void *alloc_for_zlib(void *opaque, uInt nr, uInt size)
{
	(void)opaque;
	return mem_alloc(nr, size);
}

static void free_for_zlib(void *opaque, void *ptr)
{
	(void)opaque;
	mem_free(ptr);
}

static bool is_text(const uint8_t *head, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (head[i] >= 0x7f || (head[i] < 0x20 && head[i] != '\n' &&
					head[i] != '\t' && head[i] != '\r'))
			return false;
	}
	return true;
}

/* Whether the bytes inflate as zlib data as far as they go. */
static bool inflates_as_zlib(const uint8_t *head, size_t nr)
{
	uint8_t out[TRIAL_BYTES];
	z_stream z;
	int ret;

	memset(&z, 0, sizeof(z));
	z.zalloc = alloc_for_zlib;
	z.zfree = free_for_zlib;
	if (inflateInit2(&z, ZLIB_WINDOW) != Z_OK)
		return false;
	z.next_in = head;
	z.avail_in = (uInt)nr;
	z.next_out = out;
	z.avail_out = sizeof(out);
	ret = inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return (ret == Z_OK || ret == Z_STREAM_END) && z.total_out;
}

enum gz_kind gz_detect(const uint8_t *head, size_t nr)
{
	if (nr < 2)
		return GZ_NONE;
	if (head[0] == 0x1f && head[1] == 0x8b)
		return GZ_GZIP;
	/* RFC 1950: deflate, 32 KiB window, header a multiple of 31. */
	if (head[0] == 0x78 && (head[0] << 8 | head[1]) % 31 == 0 &&
	    nr <= UINT32_MAX && !is_text(head, nr) &&
	    inflates_as_zlib(head, nr))
		return GZ_ZLIB;
	return GZ_NONE;
}

static const char *kind_name(const struct gz *gz)
{
	return gz->source.kind == GZ_GZIP ? "gzip" : "zlib";
}

enum pprof_status gz_new(const struct gz_source *source, struct gz **ret_gz,
			 struct pprof_error *err)
{
	struct gz *gz = mem_alloc(1, sizeof(*gz));
	int bits = source->kind == GZ_GZIP ? GZIP_WINDOW : ZLIB_WINDOW;

	if (!gz)
		return error_nomem(err);
	memset(gz, 0, offsetof(struct gz, in));
	gz->source = *source;
	gz->z.zalloc = alloc_for_zlib;
	gz->z.zfree = free_for_zlib;
	if (inflateInit2(&gz->z, bits) != Z_OK) {
		gz_free(gz);
		return error_nomem(err);
	}
	gz->z_ready = true;
	*ret_gz = gz;
	return PPROF_OK;
}

void gz_free(struct gz *gz)
{
	if (!gz)
		return;
	if (gz->z_ready)
		inflateEnd(&gz->z);
	mem_free(gz);
}

bool gz_was_truncated(const struct gz *gz)
{
	return gz->is_truncated;
}

/* Compressed offset of the next byte that inflate() would look at. */
static unsigned long long in_offset(const struct gz *gz)
{
	return (unsigned long long)(gz->in_total - gz->z.avail_in);
}

/* Make compressed bytes available; false at their end or after a failure. */
static bool pull_input(struct gz *gz)
{
	size_t nr;

	if (gz->z.avail_in)
		return true;
	if (gz->source_ended)
		return false;
	nr = gz->source.pull(gz->source.pull_ctx, gz->in, sizeof(gz->in),
			     &gz->err);
	if (nr == SIZE_MAX) {
		gz->state = GZ_FAILED;
		return false;
	}
	gz->source_ended = nr == 0;
	gz->in_total += nr;
	gz->z.next_in = gz->in;
	gz->z.avail_in = (uInt)nr;
	return nr != 0;
}

static void fail_format(struct gz *gz, const char *what)
{
	gz->state = GZ_FAILED;
	error_plain(&gz->err, PPROF_FORMAT, gz->source.name,
		    "damaged %s data at compressed byte %llu: %s",
		    kind_name(gz), in_offset(gz), what);
}

/* The compressed bytes ended inside a member. */
static void end_early(struct gz *gz)
{
	if (!gz->out_total) {
		gz->state = GZ_FAILED;
		error_plain(&gz->err, PPROF_FORMAT, gz->source.name,
			    "%s data end after %llu bytes, before any content",
			    kind_name(gz), (unsigned long long)gz->in_total);
		return;
	}
	gz->state = GZ_AT_END;
	gz->is_truncated = true;
	diag_count(gz->source.diags, PPROF_UNIT_NONE, 0,
		   "compressed data are truncated: %llu bytes were recovered",
		   (unsigned long long)gz->out_total);
}

/* Count what is left of the input after garbage began. */
static void skip_garbage(struct gz *gz)
{
	uint64_t nr = 0;

	while (pull_input(gz)) {
		nr += gz->z.avail_in;
		gz->z.avail_in = 0;
	}
	if (gz->state == GZ_FAILED)
		return;
	gz->state = GZ_AT_END;
	diag_count(gz->source.diags, PPROF_UNIT_NONE, 0,
		   "%llu bytes after the compressed data were ignored",
		   (unsigned long long)nr);
}

/*
 * After a member: zero padding (tar, tape) and the end are fine, 1f starts
 * the next member (RFC 1952, 2.2), anything else is garbage.
 */
static void look_past_member(struct gz *gz)
{
	bool starts_member;

	while (pull_input(gz) && !*gz->z.next_in) {
		gz->z.next_in++;
		gz->z.avail_in--;
	}
	if (gz->state == GZ_FAILED)
		return;
	if (!gz->z.avail_in) {
		gz->state = GZ_AT_END;
		return;
	}
	starts_member = gz->source.kind == GZ_GZIP && *gz->z.next_in == 0x1f;
	if (starts_member && gz->z.avail_in > 1)
		starts_member = gz->z.next_in[1] == 0x8b;
	if (!starts_member) {
		skip_garbage(gz);
		return;
	}
	inflateReset(&gz->z);
	gz->state = GZ_IN_MEMBER;
}

/* Whether `out` bytes from `raw` ones are more than any honest file's. */
static bool is_bomb(uint64_t out, uint64_t raw,
		    const struct pprof_limits *limits)
{
	uint64_t bound;

	if (out <= RATIO_FREE_BYTES ||
	    __builtin_mul_overflow(raw, limits->inflate_ratio, &bound))
		return false;
	return out > bound;
}

/* Refuse what grows beyond the limits. */
static void check_bounds(struct gz *gz)
{
	const struct pprof_limits *limits = gz->source.limits;

	if (gz->out_total > limits->inflated_bytes) {
		gz->state = GZ_FAILED;
		error_plain(&gz->err, PPROF_LIMIT, gz->source.name,
			    "inflates to more than %llu bytes "
			    "(limit inflated_bytes)",
			    (unsigned long long)limits->inflated_bytes);
		return;
	}
	if (!is_bomb(gz->out_total, *gz->source.raw_bytes, limits))
		return;
	gz->state = GZ_FAILED;
	error_plain(&gz->err, PPROF_LIMIT, gz->source.name,
		    "inflates to more than %llu times its size "
		    "(limit inflate_ratio)",
		    (unsigned long long)limits->inflate_ratio);
}

/* Move on by what inflate() said. */
static void take_result(struct gz *gz, int ret)
{
	switch (ret) {
	case Z_OK:
	case Z_BUF_ERROR: /* no progress: more input is needed */
		return;
	case Z_STREAM_END:
		gz->state = GZ_BETWEEN;
		return;
	case Z_MEM_ERROR:
		gz->state = GZ_FAILED;
		error_nomem(&gz->err);
		return;
	case Z_NEED_DICT:
		fail_format(gz, "needs a preset dictionary");
		return;
	default:
		fail_format(gz, gz->z.msg ? gz->z.msg : "invalid data");
	}
}

/* Inflate within one member into dst; returns the bytes made. */
static size_t inflate_some(struct gz *gz, uint8_t *dst, size_t cap)
{
	size_t made;
	int ret;

	if (!pull_input(gz)) {
		if (gz->state != GZ_FAILED)
			end_early(gz);
		return 0;
	}
	gz->z.next_out = dst;
	gz->z.avail_out = cap > UINT32_MAX ? UINT32_MAX : (uInt)cap;
	made = gz->z.avail_out;
	ret = inflate(&gz->z, Z_NO_FLUSH);
	made -= gz->z.avail_out;
	gz->out_total += made;
	take_result(gz, ret);
	if (gz->state != GZ_FAILED)
		check_bounds(gz);
	return made;
}

size_t gz_read(void *ctx, void *dst, size_t cap, struct pprof_error *err)
{
	struct gz *gz = ctx;
	size_t made = 0;

	while (!made && cap) {
		if (gz->state == GZ_IN_MEMBER)
			made = inflate_some(gz, dst, cap);
		else if (gz->state == GZ_BETWEEN)
			look_past_member(gz);
		else
			break;
	}
	/* What came before damage is given first, the failure next time. */
	if (!made && gz->state == GZ_FAILED) {
		if (err)
			*err = gz->err;
		return SIZE_MAX;
	}
	return made;
}

bool gz_whole_fits(const uint8_t trailer[4], size_t nr_bytes,
		   const struct pprof_limits *limits, size_t *ret_nr_bytes)
{
	uint32_t claim = (uint32_t)trailer[0] | (uint32_t)trailer[1] << 8 |
			 (uint32_t)trailer[2] << 16 |
			 (uint32_t)trailer[3] << 24;

	/* A deflate symbol of 258 bytes takes 2 bits: 1032 to 1 at most. */
	if (!claim || claim > GZ_WHOLE_MAX || claim / 1032 > nr_bytes ||
	    claim > limits->inflated_bytes || is_bomb(claim, nr_bytes, limits))
		return false;
	*ret_nr_bytes = claim;
	return true;
}

#if defined(HAVE_LIBDEFLATE)
static bool all_zero(const uint8_t *data, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (data[i])
			return false;
	}
	return true;
}

/* Inflate member after member; 0 when one does not fit or is damaged. */
static size_t inflate_members(const uint8_t *data, size_t nr_bytes,
			      uint8_t *pages, size_t room)
{
	struct libdeflate_decompressor *inflater =
		libdeflate_alloc_decompressor();
	size_t used, made, total = 0;
	bool done = inflater;

	do {
		done = done &&
		       libdeflate_gzip_decompress_ex(inflater, data, nr_bytes,
						     pages + total,
						     room - total, &used,
						     &made) ==
		       LIBDEFLATE_SUCCESS;
		if (!done)
			break;
		total += made;
		data += used;
		nr_bytes -= used;
	} while (nr_bytes && !all_zero(data, nr_bytes));
	libdeflate_free_decompressor(inflater);
	return done ? total : 0;
}

bool gz_inflate_whole(const uint8_t *data, size_t nr_bytes,
		      const struct pprof_limits *limits, void **ret_pages,
		      size_t *ret_nr_bytes)
{
	size_t claim, room = GZ_WHOLE_MAX, made;
	void *pages;

	if (nr_bytes < 18 || /* header and trailer, RFC 1952 */
	    data[3] & FLG_FHCRC ||
	    !gz_whole_fits(data + nr_bytes - 4, nr_bytes, limits, &claim))
		return false;
	/*
	 * The trailer speaks of the last member only, so room is reserved for
	 * all; pages that stay untouched cost nothing. Not from mem.h: the
	 * bound is checked, and pages can go singly.
	 */
	if (room > limits->inflated_bytes)
		room = (size_t)limits->inflated_bytes;
	pages = mmap(NULL, room, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		return false;
	made = inflate_members(data, nr_bytes, pages, room);
	if (!made || is_bomb(made, nr_bytes, limits)) {
		gz_free_whole(pages, room);
		return false;
	}
	/* Keep whole pages: gz_free_whole() gets the size told here. */
	*ret_pages = mremap(pages, room, made, 0);
	if (*ret_pages == MAP_FAILED)
		*ret_pages = pages;
	*ret_nr_bytes = made;
	return true;
}
#else
bool gz_inflate_whole(const uint8_t *data, size_t nr_bytes,
		      const struct pprof_limits *limits, void **ret_pages,
		      size_t *ret_nr_bytes)
{
	(void)data;
	(void)nr_bytes;
	(void)limits;
	(void)ret_pages;
	(void)ret_nr_bytes;
	return false;
}
#endif

void gz_free_whole(void *pages, size_t nr_bytes)
{
	if (pages)
		munmap(pages, nr_bytes);
}
