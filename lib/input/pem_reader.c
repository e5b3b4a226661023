/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile in a PEM block, alone or in a short log, as one input. Logs
 * with several are for pprof-extract.
 */
#include <config.h>

#include "input/reader.h"

#include "base/buf.h"
#include "input/input.h"
#include "input/pem.h"
#include "input/text.h"

/* The first block that holds a profile. */
struct found {
	struct buf data;
	const struct reader *reader;
	char damage[192];
	uint64_t line;
	uint64_t nr; /* of such blocks */
};

static int sniff_pem(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *at;

	if (memchr(head, 0, nr))
		return 0;
	at = find_text(p, end, "-----BEGIN ");
	return at && find_text(at + 10, end, "-----") ? 40 : 0;
}

static const struct reader *find_reader(const char *name)
{
	const struct reader *reader;
	size_t i;

	for (i = 0; (reader = reader_at(i)); i++) {
		if (!strcmp(reader->name, name))
			return reader->read && reader != &reader_pem ?
			       reader : NULL;
	}
	return NULL;
}

static enum pprof_status take_block(void *ctx, const struct pprof_block *block,
				    struct pprof_error *err)
{
	struct found *found = ctx;
	const struct reader *reader = find_reader(block->format);

	if (!reader)
		return PPROF_OK;
	if (found->nr++)
		return PPROF_OK;
	found->reader = reader;
	found->line = block->first_line;
	snprintf(found->damage, sizeof(found->damage), "%s", block->damage);
	buf_add(&found->data, block->data, block->nr_bytes);
	return buf_ok(&found->data) ? PPROF_OK : error_nomem(err);
}

static enum pprof_status read_found(struct found *found,
				    const char *source,
				    const struct read_ctx *ctx,
				    struct pprof_error *err)
{
	enum pprof_status status;
	struct input *input;

	if (*found->damage)
		diag_count(ctx->diags, PPROF_UNIT_LINE, found->line,
			   "the block is damaged: %s", found->damage);
	status = input_open_memory(source, found->data.data, found->data.len,
				   ctx->out->limits, ctx->diags, &input, err);
	if (status)
		return status;
	status = found->reader->read(input_cursor(input), ctx, err);
	if (!status)
		status = cursor_status(input_cursor(input), err);
	input_close(input);
	return status;
}

static enum pprof_status read_pem(struct cursor *in,
				  const struct read_ctx *ctx,
				  struct pprof_error *err)
{
	struct found found = { .reader = NULL };
	enum pprof_status status;

	buf_init(&found.data, PTRDIFF_MAX);
	status = pem_extract(in, ctx->out->limits, take_block, &found, err);
	if (!status && !found.nr)
		status = error_plain(err, PPROF_FORMAT, in->source,
				     "holds no PEM block with a profile");
	else if (!status && found.nr > 1)
		status = error_plain(err, PPROF_UNSUPPORTED, in->source,
				     "holds %llu profiles as PEM blocks; take "
				     "them apart first: pprof-extract",
				     (unsigned long long)found.nr);
	else if (!status)
		status = read_found(&found, in->source, ctx, err);
	buf_fini(&found.data);
	return status;
}

const struct reader reader_pem = {
	.name = "pem",
	.description = "one profile as a PEM block; for logs see "
		       "pprof-extract",
	.sniff = sniff_pem,
	.read = read_pem,
};
