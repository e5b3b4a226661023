/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: symbol names, in each of the ways that they are written.
 */
#include <config.h>

#include "common.h"
#include "symbolize/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum pprof_names ways[] = {
		PPROF_NAMES_FULL, PPROF_NAMES_SHORT, PPROF_NAMES_MANGLED,
	};
	char *symbol = mem_strndup((const char *)data, size);
	struct buf out;
	size_t i;

	if (!symbol)
		return 0;
	fuzz_assert(demangle_unversioned(symbol) <= strlen(symbol));
	buf_init(&out, 2 * DEMANGLE_MAX_OUTPUT + 2 * size);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		buf_reset(&out);
		demangle(symbol, ways[i], &out);
		fuzz_assert(buf_ok(&out));
		fuzz_use(fuzz_sum(out.data, out.len));
		/* No name at all is no name for a frame. */
		fuzz_assert(out.len || !demangle_unversioned(symbol));
	}
	buf_reset(&out);
	demangle_shorten(symbol, &out);
	fuzz_assert(buf_ok(&out) && out.len <= strlen(symbol));
	fuzz_use(fuzz_sum(out.data, out.len));
	buf_fini(&out);
	mem_free(symbol);
	return 0;
}
