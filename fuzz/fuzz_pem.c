/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: PEM blocks in logs, alone and as an input.
 */
#include <config.h>

#include "common.h"
#include "input/pem.h"

static enum pprof_status visit_block(void *ctx,
				     const struct pprof_block *block,
				     struct pprof_error *err)
{
	uint64_t *nr = ctx;

	(void)err;
	fuzz_assert(block->first_line >= 1 &&
		    block->last_line >= block->first_line);
	fuzz_use(fuzz_sum(block->data, block->nr_bytes) +
		 fuzz_sum(block->type, strlen(block->type)) +
		 fuzz_sum(block->damage, strlen(block->damage)) +
		 fuzz_sum(block->suffix, strlen(block->suffix)) +
		 fuzz_sum(block->format, strlen(block->format)));
	++*nr;
	return PPROF_OK;
}

/* The same blocks whether the log comes whole or in small pieces. */
static void extract(const uint8_t *data, size_t size)
{
	struct fuzz_feed feed = { .data = data, .size = size };
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_limits limits;
	uint64_t nr_whole = 0, nr_fed = 0;
	struct cursor in;

	fuzz_limits(&limits);
	cursor_init_memory(&in, "fuzz", data, size);
	fuzz_status(pem_extract(&in, &limits, visit_block, &nr_whole, &err),
		    &err);
	cursor_fini(&in);
	cursor_init_stream(&in, "fuzz", fuzz_feed_read, &feed,
			   limits.line_bytes);
	fuzz_status(pem_extract(&in, &limits, visit_block, &nr_fed, &err),
		    &err);
	cursor_fini(&in);
	fuzz_assert(nr_whole == nr_fed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	extract(data, size);
	opts.format = "pem";
	fuzz_consume(fuzz_read(data, size, opts));
	return 0;
}
