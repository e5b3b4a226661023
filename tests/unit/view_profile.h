/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles for tests of views and pictures: from folded text, and one small
 * heap with inlined code, recursion and addresses without names.
 */
#ifndef TESTS_UNIT_VIEW_PROFILE_H
#define TESTS_UNIT_VIEW_PROFILE_H

#include "profile/builder.h"

#include <string.h>

static inline struct pprof_profile *folded_profile(const char *text)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile = NULL;
	struct pprof_error err;

	opts.format = "folded";
	assert_int_equal(pprof_profile_read_memory(text, strlen(text), "test",
						   &opts, &profile, &err),
			 PPROF_OK);
	return profile;
}

static inline func_id named(struct builder *b, const char *name,
			    const char *file)
{
	struct function func = { .name = builder_cstr(b, name),
				 .file = builder_cstr(b, file) };

	return builder_function(b, &func);
}

static inline map_id mapped(struct builder *b, const char *file,
			    uint64_t start, uint32_t flags)
{
	struct mapping map = { .start = start, .limit = start + 0x10000,
			       .offset = 0x1000,
			       .file = builder_cstr(b, file),
			       .flags = flags };

	return builder_mapping(b, &map);
}

/*
 * Stacks (root first), objects and bytes:
 *   main  main  push>grow  malloc   1   100     recursion; grow is inlined
 *   main  grow  malloc              2   200     grow is called
 *   main  (libx, no name)           4   400
 *   (server, no name)               8   800
 *   (no stack)                     16  1600
 */
static inline struct pprof_profile *heap_profile(void)
{
	struct pprof_limits limits;
	struct builder b;
	struct diags diags;
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	map_id server, libx;
	struct line lines[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	loc_id main_loc, push_loc, grow_loc, malloc_loc, libx_loc, server_loc;
	loc_id stacks[5][4];
	static const size_t depths[5] = { 4, 3, 2, 1, 0 };
	int64_t values[2];
	size_t i;

	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&b, &limits, &diags));
	server = mapped(&b, "/opt/app/server", 0x400000, MAP_MAIN);
	libx = mapped(&b, "/usr/lib/libx.so", 0x7f0000000000, 0);
	builder_type(&b, builder_cstr(&b, "inuse_objects"),
		     builder_cstr(&b, "count"));
	builder_type(&b, builder_cstr(&b, "inuse_space"),
		     builder_cstr(&b, "bytes"));
	lines[0].func = named(&b, "main", "main.c");
	lines[0].line = 5;
	main_loc = builder_location(&b, 0x400100, server, false, lines, 1);
	lines[0].func = named(&b, "ns::grow(int)", "vec.h");
	lines[0].line = 42;
	lines[1].func = named(&b, "ns::push(int)", "vec.cc");
	lines[1].line = 7;
	push_loc = builder_location(&b, 0x400200, server, false, lines, 2);
	grow_loc = builder_location(&b, 0x400300, server, false, lines, 1);
	lines[0].func = named(&b, "malloc", "");
	lines[0].line = 0;
	malloc_loc = builder_location(&b, 0x400400, server, false, lines, 1);
	libx_loc = builder_location(&b, 0x7f0000000123, libx, false, NULL, 0);
	server_loc = builder_location(&b, 0x400500, server, false, NULL, 0);
	stacks[0][0] = main_loc;
	stacks[0][1] = main_loc;
	stacks[0][2] = push_loc;
	stacks[0][3] = malloc_loc;
	stacks[1][0] = main_loc;
	stacks[1][1] = grow_loc;
	stacks[1][2] = malloc_loc;
	stacks[2][0] = main_loc;
	stacks[2][1] = libx_loc;
	stacks[3][0] = server_loc;
	for (i = 0; i < 5; i++) {
		values[0] = 1 << i;
		values[1] = values[0] * 100;
		builder_sample(&b,
			       builder_stack_root_first(&b, stacks[i],
							depths[i]),
			       0, values, PPROF_UNIT_NONE, 0);
	}
	assert_int_equal(builder_finish(&b, "test", &profile, &err), PPROF_OK);
	builder_fini(&b);
	return profile;
}

#endif
