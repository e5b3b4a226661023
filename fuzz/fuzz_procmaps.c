/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: memory maps. Read from memory and through a window of small
 * pieces, which must come to the same, with addresses to be assigned.
 */
#include <config.h>

#include "common.h"
#include "input/procmaps.h"

/* Every line by itself. */
static void parse_lines(const uint8_t *data, size_t size)
{
	struct procmaps_entry entry;
	struct cursor_line line;
	struct cursor in;

	cursor_init_memory(&in, "fuzz", data, size);
	while (cursor_next_line(&in, &line)) {
		if (!procmaps_parse_line(line.text, line.len, &entry))
			continue;
		fuzz_use(fuzz_sum(entry.path, entry.path_len) +
			 fuzz_sum(entry.build_id, entry.build_id_len));
	}
	cursor_fini(&in);
}

/* Addresses around every border that the text can name, and far off. */
static void add_locations(struct builder *out)
{
	static const uint64_t addresses[] = {
		1, 0x1000, 0x1fff, 0x400000, 0x401234, 0x7fffffffffff,
		0x555555555000, 0x7f0000001000, 0x7ffff7dd0000,
		0xffffffffff600000, UINT64_MAX,
	};
	size_t i;

	for (i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		builder_location(out, addresses[i], 0, false, NULL, 0);
}

/* What `in` holds, as a profile; NULL after a failure. */
static struct pprof_profile *read_maps(struct cursor *in)
{
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_profile *profile = NULL;
	struct pprof_limits limits;
	struct builder builder;
	struct diags diags;

	fuzz_limits(&limits);
	diags_init(&diags, "fuzz");
	fuzz_assert(builder_init(&builder, &limits, &diags));
	add_locations(&builder);
	if (!procmaps_read(in, &builder))
		fuzz_status(builder_finish(&builder, "fuzz", &profile, &err),
			    &err);
	fuzz_status(cursor_status(in, &err), &err);
	builder_fini(&builder);
	diags_flush(&diags, fuzz_diag, NULL);
	return profile;
}

static void compare(const struct pprof_profile *a,
		    const struct pprof_profile *b)
{
	size_t i;

	fuzz_assert(!a == !b);
	if (!a)
		return;
	fuzz_assert(a->nr_mappings == b->nr_mappings &&
		    a->nr_locations == b->nr_locations);
	for (i = 1; i < a->nr_mappings; i++)
		fuzz_assert(!memcmp(&a->mappings[i], &b->mappings[i],
				    sizeof(*a->mappings)));
	for (i = 1; i < a->nr_locations; i++)
		fuzz_assert(a->locations[i].mapping ==
			    b->locations[i].mapping);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_feed feed = { .data = data, .size = size, .step = size };
	struct pprof_profile *whole, *streamed;
	struct cursor in;

	parse_lines(data, size);
	cursor_init_memory(&in, "fuzz", data, size);
	whole = read_maps(&in);
	cursor_fini(&in);
	cursor_init_stream(&in, "fuzz", fuzz_feed_read, &feed,
			   (uint64_t)1 << 20);
	streamed = read_maps(&in);
	cursor_fini(&in);
	compare(whole, streamed);
	if (whole)
		fuzz_visit(whole);
	pprof_profile_free(whole);
	pprof_profile_free(streamed);
	return 0;
}
