/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocator frames of heap profiles: which names are an allocator's, what
 * goes from the leaf end of stacks, that totals stay, and that the
 * expression for viewers says the same and takes nothing more.
 */
#include <config.h>

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/builder.h"
#include "symbolize/allocator.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *name;
	bool is_allocator;
} names[] = {
	{ "malloc", true }, { "calloc", true }, { "__libc_calloc", true },
	{ "je_malloc", true }, { "_rjem_malloc", true },
	{ "__je_realloc", true }, { "_rjem_je_prof_backtrace", true },
	{ "_rjem_mallocx", true }, { "_rjem_anything", true },
	{ "prof_backtrace_impl", true }, { "je_malloc_default", true },
	{ "operator new", true }, { "operator new[]", true },
	{ "operator new(unsigned long)", true },
	{ "operator new[](unsigned long, std::nothrow_t const&)", true },
	{ "_Znwm", true }, { "_ZnamSt11align_val_t", true },
	{ "void* fallbackNewImpl<false>(unsigned long)", true },
	{ "void *newImpl<true>(unsigned long)", true },
	{ "fallbackNewImpl<true>", true },
	{ "_Z15fallbackNewImplILb0EEPvm", true },
	{ "tcmalloc::allocate_full_malloc_oom(unsigned long)", true },
	{ "TCMallocInternalNew", true }, { "tc_newarray_nothrow", true },
	{ "(anonymous namespace)::do_malloc(unsigned long)", true },
	{ ".malloc", true }, { "malloc_zone_malloc", true },
	{ "", false }, { "_", false }, { "main", false }, { "free", false },
	{ "mallocate", false }, { "my_malloc", false },
	{ "Arena::malloc(unsigned long)", false },
	{ "Foo::operator new(unsigned long)", false },
	{ "operator new_thing", false }, { "operator delete(void*)", false },
	{ "app::leak(int)", false }, { "je_suis()", false },
	{ "operator()(int) const", false }, { "malloc_stats", false },
	{ "std::vector<malloc>::push", false }, { "malloc<", false },
	{ "_ZN5Arena6mallocEm", false }, { "xmalloc", false },
};

/* A frame: names innermost first, separated by "--"; file of its mapping. */
struct frame {
	const char *names;
	const char *file;
};

static const struct {
	const char *name;
	struct frame stack[24]; /* leaf first */
	const char *kept;       /* "a;b" leaf first; "--" as above */
} stacks[] = {
	{ "by library, without names",
	  { { "", "/l/libjemalloc.so.2" }, { "", "/l/libjemalloc.so.2" },
	    { "leak", "/p" }, { "main", "/p" } }, "leak;main" },
	{ "a deleted library with a suffix",
	  { { "", "/l/libjemalloc_pic-5.so.2 (deleted)" }, { "leak", "/p" } },
	  "leak" },
	{ "tcmalloc's library",
	  { { "", "/l/libtcmalloc_minimal.so.4" }, { "leak", "/p" } },
	  "leak" },
	{ "library, and operator new above it",
	  { { "malloc_usable_size", "/l/libjemalloc.so.2" },
	    { "operator new(unsigned long)", "/l/libstdc++.so.6" },
	    { "leak", "/p" } }, "leak" },
	{ "static jemalloc by names",
	  { { "prof_backtrace_impl", "/p" }, { "prof_tctx_create", "/p" },
	    { "some_new_helper", "/p" }, { "imalloc_body", "/p" },
	    { "malloc", "/p" }, { "leak", "/p" }, { "main", "/p" } },
	  "leak;main" },
	{ "internals of 5.3 under operator new",
	  { { "prof_backtrace_impl", "/p" },
	    { "operator new(unsigned long)", "/p" },
	    { "app::leak(int)", "/p" } }, "app::leak(int)" },
	{ "allocator inlined into its caller",
	  { { "imalloc--malloc--leak", "/p" }, { "main", "/p" } },
	  "leak;main" },
	{ "allocator inlined into the allocator",
	  { { "imalloc--malloc", "/p" }, { "inner--outer", "/p" } },
	  "inner--outer" },
	{ "nothing to drop", { { "leak", "/p" }, { "main", "/p" } },
	  "leak;main" },
	{ "one frame stays",
	  { { "imalloc", "/p" }, { "malloc", "/p" } }, "malloc" },
	{ "one frame of the library stays",
	  { { "", "/l/libjemalloc.so.2" }, { "", "/l/libjemalloc.so.2" } },
	  "" },
	{ "an application's malloc far from the leaf stays",
	  { { "f1", "/p" }, { "f2", "/p" }, { "f3", "/p" }, { "f4", "/p" },
	    { "f5", "/p" }, { "f6", "/p" }, { "f7", "/p" }, { "f8", "/p" },
	    { "f9", "/p" }, { "f10", "/p" }, { "f11", "/p" },
	    { "f12", "/p" }, { "f13", "/p" }, { "f14", "/p" },
	    { "f15", "/p" }, { "f16", "/p" }, { "malloc", "/p" },
	    { "main", "/p" } },
	  "f1;f2;f3;f4;f5;f6;f7;f8;f9;f10;f11;f12;f13;f14;f15;f16;malloc;"
	  "main" },
	{ "with the library the names near it count",
	  { { "", "/l/libjemalloc.so.2" }, { "f1", "/p" }, { "f2", "/p" },
	    { "f3", "/p" }, { "f4", "/p" }, { "calloc", "/p" },
	    { "main", "/p" } }, "f1;f2;f3;f4;calloc;main" },
};

static struct builder builder;
static struct diags diags;
static struct pprof_limits limits;

static void start(const char *type)
{
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&builder, &limits, &diags));
	builder_type(&builder, builder_cstr(&builder, type),
		     builder_cstr(&builder, "bytes"));
}

static map_id add_mapping(const char *file)
{
	struct pprof_profile *p = builder.profile;
	struct mapping map = { .start = 0x1000, .limit = 0x2000 };
	size_t i;

	map.file = builder_cstr(&builder, file);
	for (i = 1; i < p->nr_mappings; i++)
		if (p->mappings[i].file == map.file)
			return (map_id)i;
	return builder_mapping(&builder, &map);
}

static loc_id add_frame(const struct frame *frame, uint64_t address)
{
	const char *p = frame->names, *next;
	struct line lines[4];
	size_t nr = 0;

	memset(lines, 0, sizeof(lines));
	while (*p) {
		struct function func = { .start_line = 0 };

		next = strstr(p, "--");
		func.name = builder_str(&builder, p,
					next ? (size_t)(next - p) : strlen(p));
		lines[nr++].func = builder_function(&builder, &func);
		p = next ? next + 2 : "";
	}
	return builder_location(&builder, address, add_mapping(frame->file),
				false, lines, nr);
}

static void add_stack(const struct frame *frames, size_t nr, int64_t value)
{
	loc_id locs[24];
	size_t i;

	for (i = 0; i < nr; i++)
		locs[i] = add_frame(&frames[i], 0x1000 + i);
	builder_sample(&builder, builder_stack(&builder, locs, nr), 0, &value,
		       PPROF_UNIT_NONE, 0);
	assert_int_equal(builder.status, PPROF_OK);
}

/* "a--b;c" of sample `i`. */
static void spell(const struct pprof_profile *p, size_t i, struct buf *out)
{
	const size_t depth = stacks_depth(&p->stacks, p->sample_stack[i]);
	loc_id locs[24];
	size_t j;
	uint32_t k;

	assert_true(depth <= NR_OF(locs));
	stacks_leaf_first(&p->stacks, p->sample_stack[i], locs);
	buf_reset(out);
	for (j = 0; j < depth; j++) {
		const struct location *loc = &p->locations[locs[j]];

		if (j)
			buf_byte(out, ';');
		for (k = 0; k < loc->nr_lines; k++) {
			const func_id func = p->lines[loc->lines + k].func;

			if (k)
				buf_str(out, "--");
			buf_str(out, profile_str(p, p->functions[func].name));
		}
	}
}

static void drop(struct buf *pattern)
{
	struct restacked restacked;

	assert_int_equal(allocator_drop(builder.profile, &diags, &restacked,
					pattern, NULL), PPROF_OK);
	profile_take_restacked(builder.profile, &restacked);
	restacked_fini(&restacked);
	assert_int_equal(profile_check(builder.profile, "test", NULL),
			 PPROF_OK);
}

static void test_names(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(names); i++)
		if (allocator_is_name(names[i].name, strlen(names[i].name)) !=
		    names[i].is_allocator)
			fail_msg("%s", names[i].name);
}

static size_t stack_length(const struct frame *stack)
{
	size_t nr = 0;

	while (nr < 24 && stack[nr].names)
		nr++;
	return nr;
}

static void test_stacks(void **state)
{
	struct buf pattern, text;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(stacks); i++) {
		buf_init(&pattern, 1 << 16);
		buf_init(&text, 1 << 16);
		start("inuse_space");
		add_stack(stacks[i].stack, stack_length(stacks[i].stack), 7);
		drop(&pattern);
		spell(builder.profile, 0, &text);
		if (strcmp(buf_cstr(&text), stacks[i].kept))
			fail_msg("%s: %s", stacks[i].name, buf_cstr(&text));
		assert_int_equal(pprof_profile_total(builder.profile, 0), 7);
		builder_fini(&builder);
		buf_fini(&pattern);
		buf_fini(&text);
	}
}

/* All at once: equal stacks add up, none is lost, whatever their order. */
static void test_totals(void **state)
{
	static const struct frame via_malloc[] = {
		{ "malloc", "/p" }, { "leak", "/p" }, { "main", "/p" },
	};
	static const struct frame via_calloc[] = {
		{ "imalloc", "/p" }, { "calloc", "/p" }, { "leak", "/q" },
		{ "main", "/q" },
	};
	struct buf pattern;
	size_t i;

	(void)state;
	buf_init(&pattern, 1 << 16);
	start("inuse_space");
	for (i = 0; i < NR_OF(stacks); i++)
		add_stack(stacks[i].stack, stack_length(stacks[i].stack),
			  (int64_t)1 << i);
	add_stack(via_malloc, NR_OF(via_malloc), (int64_t)1 << 40);
	add_stack(via_malloc, NR_OF(via_malloc), (int64_t)1 << 41);
	add_stack(via_calloc, NR_OF(via_calloc), (int64_t)1 << 42);
	assert_int_equal(builder.profile->nr_samples, NR_OF(stacks) + 2);
	drop(&pattern);
	assert_int_equal(pprof_profile_total(builder.profile, 0),
			 (INT64_C(1) << NR_OF(stacks)) - 1 +
				 (INT64_C(7) << 40));
	assert_true(builder.profile->nr_samples < NR_OF(stacks) + 2);
	assert_int_equal(diags.nr_rows, 0);
	builder_fini(&builder);
	buf_fini(&pattern);
}

static void test_equal_stacks_merge(void **state)
{
	static const struct frame a[] = { { "malloc", "/p" },
					  { "leak", "/p" } };
	static const struct frame b[] = { { "imalloc", "/p" },
					  { "malloc", "/p" },
					  { "leak", "/p" } };
	struct buf pattern;
	loc_id locs[3];
	int64_t value = INT64_MAX;

	(void)state;
	buf_init(&pattern, 1 << 16);
	start("space");
	add_stack(a, NR_OF(a), 5);
	/* The same call of malloc, however deep inside the sample was. */
	locs[0] = add_frame(&b[0], 0x1100);
	locs[1] = add_frame(&b[1], 0x1000);
	locs[2] = add_frame(&b[2], 0x1001);
	builder_sample(&builder, builder_stack(&builder, locs, 3), 0, &value,
		       PPROF_UNIT_NONE, 0);
	drop(&pattern);
	assert_int_equal(builder.profile->nr_samples, 1);
	assert_true(builder.profile->values[0][0] == INT64_MAX);
	assert_int_equal(diags.nr_rows, 1);
	builder_fini(&builder);
	buf_fini(&pattern);
}

static bool matches(const char *pattern, const char *name)
{
	char whole[8192];
	regex_t regex;
	bool found;

	/* POSIX extended is close enough to RE2 for what is used here. */
	snprintf(whole, sizeof(whole), "^(%s)$", pattern);
	assert_int_equal(regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB), 0);
	found = !regexec(&regex, name, 0, NULL, 0);
	regfree(&regex);
	return found;
}

/* As google/pprof cuts a name before it matches. */
static void cut(const char *name, char out[256])
{
	const char *p = name + (*name == '.');
	size_t nr = 0;

	while (*p && nr < 255) {
		if (!strncmp(p, "(anonymous namespace)", 21)) {
			memcpy(out + nr, p, 21);
			nr += 21;
			p += 21;
			continue;
		}
		if (*p == '(' && (nr < 8 || memcmp(out + nr - 8, "operator",
						   8)))
			break;
		out[nr++] = *p++;
	}
	out[nr] = '\0';
}

static void test_pattern_says_the_same(void **state)
{
	static const struct frame plain[] = { { "leak", "/p" } };
	struct buf pattern;
	char name[256];
	size_t i;

	(void)state;
	buf_init(&pattern, 1 << 16);
	start("inuse_space");
	add_stack(plain, 1, 1);
	drop(&pattern);
	for (i = 0; i < NR_OF(names); i++) {
		cut(names[i].name, name);
		/* Viewers do not demangle. */
		if (!strncmp(name, "_Z", 2) && strncmp(name, "_Zn", 3))
			continue;
		if (matches(buf_cstr(&pattern), name) !=
		    names[i].is_allocator)
			fail_msg("%s", name);
	}
	builder_fini(&builder);
	buf_fini(&pattern);
}

/* What was kept must not be cut by a viewer. */
static void test_pattern_spares_what_was_kept(void **state)
{
	static const struct frame alone[] = { { "valloc", "/p" } };
	static const struct frame inlined[] = {
		{ "f", "/p" }, { "f", "/p" }, { "f", "/p" }, { "f", "/p" },
		{ "f", "/p" }, { "f", "/p" }, { "f", "/p" }, { "f", "/p" },
		{ "f", "/p" }, { "f", "/p" }, { "f", "/p" }, { "f", "/p" },
		{ "f", "/p" }, { "f", "/p" }, { "f", "/p" }, { "f", "/p" },
		{ "calloc--hook", "/p" }, { "malloc", "/p" },
		{ "main", "/p" },
	};
	struct buf pattern;

	(void)state;
	buf_init(&pattern, 1 << 16);
	start("inuse_space");
	add_stack(alone, NR_OF(alone), 1);
	add_stack(inlined, NR_OF(inlined), 1);
	drop(&pattern);
	assert_false(matches(buf_cstr(&pattern), "malloc"));
	assert_false(matches(buf_cstr(&pattern), "calloc"));
	assert_true(matches(buf_cstr(&pattern), "realloc"));
	assert_true(matches(buf_cstr(&pattern), "operator new"));
	/* A frame with no user's frame above it is never cut. */
	assert_true(matches(buf_cstr(&pattern), "valloc"));
	builder_fini(&builder);
	buf_fini(&pattern);
}

static void test_applies(void **state)
{
	static const struct {
		const char *type;
		bool applies;
	} types[] = {
		{ "inuse_space", true }, { "alloc_objects", true },
		{ "objects", true }, { "space", true }, { "cpu", false },
		{ "samples", false }, { "delay", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(types); i++) {
		start(types[i].type);
		assert_int_equal(allocator_applies(builder.profile),
				 types[i].applies);
		builder_fini(&builder);
	}
}

static void test_out_of_memory(void **state)
{
	enum pprof_status status = PPROF_NOMEM;
	struct restacked restacked;
	struct buf pattern;
	uint64_t nth;
	size_t i;

	(void)state;
	buf_init(&pattern, 1 << 16);
	start("inuse_space");
	for (i = 0; i < NR_OF(stacks); i++)
		add_stack(stacks[i].stack, stack_length(stacks[i].stack), 1);
	for (nth = 1; status == PPROF_NOMEM; nth++) {
		mem_fail_nth(nth, false);
		status = allocator_drop(builder.profile, &diags, &restacked,
					&pattern, NULL);
		mem_fail_nth(0, false);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(nth > 10);
	restacked_fini(&restacked);
	builder_fini(&builder);
	buf_fini(&pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_equal_stacks_merge),
		cmocka_unit_test(test_pattern_says_the_same),
		cmocka_unit_test(test_pattern_spares_what_was_kept),
		cmocka_unit_test(test_applies),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
