/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof as a PEM block for logs: "-----BEGIN PPROF MEM-----", base64 in
 * lines of 64 characters.
 */
#include <config.h>

#include "base/base64.h"
#include "base/sink.h"
#include "output/writer.h"

#define LINE_CHARS 64
#define LINE_BYTES (LINE_CHARS / 4 * 3)

/* The words behind BEGIN: what kind of profile it is. */
static void put_type(struct buf *out, const struct pprof_profile *profile)
{
	const char *type = "", *p;
	size_t i;

	if (profile->nr_types) {
		i = profile_default_type(profile);
		type = profile_str(profile, profile->types[i].type);
	}
	buf_str(out, "PPROF ");
	if (strstr(type, "space") || strstr(type, "objects")) {
		buf_str(out, "MEM");
		return;
	}
	for (p = type; *p && p - type < 32; p++) {
		if (*p >= 'a' && *p <= 'z')
			buf_byte(out, (char)(*p - 'a' + 'A'));
		else
			buf_byte(out, (*p >= 'A' && *p <= 'Z') ||
				 (*p >= '0' && *p <= '9') ? *p : ' ');
	}
	if (p == type)
		buf_str(out, "PROFILE");
}

static void put_block(struct buf *out, const struct pprof_profile *profile,
		      const uint8_t *data, size_t nr)
{
	size_t i;

	buf_str(out, "-----BEGIN ");
	put_type(out, profile);
	buf_str(out, "-----\n");
	for (; nr; data += i, nr -= i) {
		i = nr < LINE_BYTES ? nr : LINE_BYTES;
		base64_add(out, data, i);
		buf_byte(out, '\n');
	}
	buf_str(out, "-----END ");
	put_type(out, profile);
	buf_str(out, "-----\n");
}

static enum pprof_status write_pem(const struct pprof_profile *profile,
				   const struct pprof_write_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	struct pprof_sink *inner = NULL;
	enum pprof_status status;
	const void *data;
	struct buf out;
	size_t nr;

	status = pprof_sink_open_memory(&inner, err);
	if (status)
		return status;
	buf_init(&out, PTRDIFF_MAX);
	status = writer_pprof.write(profile, opts, inner, err);
	if (!status) {
		data = pprof_sink_memory(inner, &nr);
		put_block(&out, profile, data, nr);
		status = buf_ok(&out) ? sink_take_buf(sink, &out, err) :
			 error_nomem(err);
	}
	buf_fini(&out);
	pprof_sink_close(inner);
	return status;
}

const struct writer writer_pem = {
	.name = "pem",
	.description = "pprof as a PEM block, for logs",
	.write = write_pem,
};
