/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any bytes, as a user hands them over: the container, every
 * sniffer on the head cut at several lengths, the reader that is chosen.
 */
#include <config.h>

#include "common.h"
#include "input/reader.h"

/* Sniff a copy of exactly `nr` bytes, so that reading past them shows. */
static void sniff_head(const uint8_t *data, size_t nr)
{
	uint8_t *head = mem_alloc(nr, 1);
	const struct reader *reader;
	size_t i;

	if (!head)
		return;
	if (nr)
		memcpy(head, data, nr);
	for (i = 0; (reader = reader_at(i)); i++) {
		int bits = reader->sniff(head, nr);

		fuzz_assert(bits >= 0 && bits == reader->sniff(head, nr));
	}
	mem_free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	size_t nr = size < SNIFF_BYTES ? size : SNIFF_BYTES;

	for (; nr; nr /= 2)
		sniff_head(data, nr);
	sniff_head(data, 0);
	fuzz_consume(fuzz_read(data, size, opts));
	return 0;
}
