/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: the container layer. What the fast way inflates, the
 * streaming way must inflate to the same bytes.
 */
#include <config.h>

#include "common.h"
#include "input/gz.h"
#include "input/input.h"

/* Compare the stream's bytes with whole[nr_whole], unless whole is NULL. */
static void read_stream(const uint8_t *data, size_t size, enum gz_kind kind,
			const struct pprof_limits *limits,
			const uint8_t *whole, size_t nr_whole)
{
	struct fuzz_feed feed = { .data = data, .size = size, .step = size };
	struct pprof_error err = { .status = PPROF_OK };
	uint64_t raw_bytes = size, total = 0;
	struct diags diags;
	struct gz_source source = {
		.kind = kind, .name = "fuzz", .pull = fuzz_feed_read,
		.pull_ctx = &feed, .raw_bytes = &raw_bytes, .limits = limits,
		.diags = &diags,
	};
	uint8_t out[4093];
	struct gz *gz;
	size_t nr;

	diags_init(&diags, "fuzz");
	fuzz_assert(!gz_new(&source, &gz, &err));
	while ((nr = gz_read(gz, out, sizeof(out), &err)) && nr != SIZE_MAX) {
		fuzz_assert(nr <= sizeof(out));
		fuzz_use(fuzz_sum(out, nr));
		if (whole)
			fuzz_assert(total + nr <= nr_whole &&
				    !memcmp(whole + total, out, nr));
		total += nr;
	}
	if (whole)
		fuzz_assert(!nr && total == nr_whole);
	fuzz_assert(total <= limits->inflated_bytes + sizeof(out));
	fuzz_status(err.status, &err);
	fuzz_use(gz_was_truncated(gz));
	gz_free(gz);
	diags_flush(&diags, fuzz_diag, NULL);
}

/* The same through the whole input layer, line by line. */
static void read_lines(const uint8_t *data, size_t size,
		       const struct pprof_limits *limits)
{
	struct pprof_error err = { .status = PPROF_OK };
	struct input *input = NULL;
	struct cursor_line line;
	enum pprof_status status;
	struct diags diags;

	diags_init(&diags, "fuzz");
	status = input_open_memory("fuzz", data, size, limits, &diags, &input,
				   &err);
	fuzz_status(status, &err);
	if (!status) {
		while (cursor_next_line(input_cursor(input), &line))
			fuzz_use(fuzz_sum(line.text, line.len));
		fuzz_status(cursor_status(input_cursor(input), &err), &err);
		fuzz_use(input_was_truncated(input));
		fuzz_assert(!input_mtime_ns(input));
	}
	input_close(input);
	diags_flush(&diags, fuzz_diag, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum gz_kind kind = gz_detect(data, size);
	struct pprof_limits limits;
	void *pages = NULL;
	size_t nr_pages = 0;

	fuzz_limits(&limits);
	if (kind == GZ_GZIP)
		gz_inflate_whole(data, size, &limits, &pages, &nr_pages);
	if (kind != GZ_NONE)
		read_stream(data, size, kind, &limits, pages, nr_pages);
	gz_free_whole(pages, nr_pages);
	read_lines(data, size, &limits);
	return 0;
}
