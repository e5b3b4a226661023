/* SPDX-License-Identifier: Apache-2.0
 *
 * The symbolizer from end to end on small files with symbol tables: which
 * address gets which name, what is refused and how it is told, and that a
 * failed or repeated run changes nothing.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/builder.h"
#include "symbolize/calls.h"

#include "elf_maker.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define ID "00112233445566778899aabbccddeeff00112233"
#define OTHER_ID "ffffffffffffffffffffffffffffffffffffffff"
#define A UINT64_C(0x555500000000)
#define B UINT64_C(0x7f0000000000)

/* Code at 0x1000..0x5000, its offset in the file is another. */
#define SEGMENTS { { 0, 0, 0x800, 0x800, 0x1000, PF_R }, \
		   { 0x1000, 0x800, 0x4000, 0x4000, 0x800, PF_R | PF_X } }
/* The same in whole pages. */
#define PAGES { { 0, 0, 0x1000, 0x1000, 0x1000, PF_R }, \
		{ 0x2000, 0x1000, 0x4000, 0x4000, 0x1000, PF_R | PF_X } }
#define NAMES { { "one", 0x2000, 0x800 }, { "two", 0x2800, 0x800 }, \
		{ "malloc", 0x3000, 0x100 }, { "main", 0x4000, 0x1000 } }

static char root[64];

struct row {
	uint64_t start, limit, offset;
	const char *file; /* "@" is the test's directory */
	const char *build_id;
	uint32_t flags;
};

static const struct row plain_rows[] = {
	{ A, A + 0x1000, 0, "@/prog", "", MAP_NOT_CODE },
	{ A + 0x2000, A + 0x6000, 0x1000, "@/prog", "", MAP_MAIN },
};

static const struct made_elf plain_elf = { .segments = PAGES, .symbols = NAMES,
					   .build_id = ID };

static const char *expand(const char *text, char out[4096])
{
	snprintf(out, 4096, "%s%s", *text == '@' ? root : "",
		 text + (*text == '@'));
	return out;
}

static struct pprof_profile *make_profile(const struct row *rows, size_t nr,
					  const char *type,
					  const uint64_t *addresses,
					  size_t nr_addresses)
{
	struct pprof_profile *profile;
	struct pprof_limits limits;
	struct builder builder;
	struct diags diags;
	char path[4096];
	size_t i, j;

	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&builder, &limits, &diags));
	builder_type(&builder, builder_cstr(&builder, type),
		     builder_cstr(&builder, "bytes"));
	for (i = 0; i < nr; i++) {
		struct mapping map = { rows[i].start, rows[i].limit,
				       rows[i].offset, 0, 0, rows[i].flags,
				       0 };

		if (rows[i].file)
			map.file = builder_cstr(&builder,
						expand(rows[i].file, path));
		map.build_id = builder_cstr(&builder, rows[i].build_id);
		builder_mapping(&builder, &map);
	}
	for (i = 0; i < nr_addresses; i++) {
		const int64_t value = (int64_t)1 << i;
		map_id map = 0;
		loc_id loc;

		for (j = 0; j < nr; j++)
			if (addresses[i] >= rows[j].start &&
			    addresses[i] < rows[j].limit)
				map = (map_id)j + 1;
		loc = builder_location(&builder, addresses[i], map, false,
				       NULL, 0);
		builder_sample(&builder, builder_stack(&builder, &loc, 1), 0,
			       &value, PPROF_UNIT_NONE, 0);
	}
	assert_int_equal(builder_finish(&builder, "test", &profile, NULL),
			 PPROF_OK);
	builder_fini(&builder);
	return profile;
}

/* Name of the location with this address, "" when it has none. */
static const char *name_of(const struct pprof_profile *profile,
			   uint64_t address)
{
	size_t i;

	for (i = 1; i < profile->nr_locations; i++) {
		const struct location *loc = &profile->locations[i];

		if (loc->address != address)
			continue;
		if (!loc->nr_lines)
			return "";
		return profile_str(profile, profile->functions[
			profile->lines[loc->lines].func].name);
	}
	fail_msg("no location %#llx", (unsigned long long)address);
	return NULL;
}

static struct pprof_symbolizer *
make_symbolizer(const struct pprof_symbolize_opts *opts)
{
	struct pprof_symbolizer *symbolizer = NULL;

	assert_int_equal(pprof_symbolizer_new(opts, &symbolizer, NULL),
			 PPROF_OK);
	return symbolizer;
}

static void run(const struct pprof_symbolize_opts *opts,
		struct pprof_profile *profile, enum pprof_verdict verdict)
{
	struct pprof_symbolizer *symbolizer = make_symbolizer(opts);
	const int64_t total = pprof_profile_total(profile, 0);

	assert_int_equal(pprof_symbolizer_run(symbolizer, profile, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_symbolizer_verdict(symbolizer), verdict);
	assert_int_equal(profile_check(profile, "test", NULL), PPROF_OK);
	assert_int_equal(pprof_profile_total(profile, 0), total);
	pprof_symbolizer_free(symbolizer);
}

/* One file, one table of mappings, addresses and their names. */
static const struct {
	const char *name;
	struct made_elf elf;
	const char *path;      /* where the file is made */
	const char *given;     /* -e, or NULL */
	struct row rows[6];
	struct {
		uint64_t address;
		const char *name; /* "" none */
	} asks[6];
	enum pprof_verdict verdict;
} cases[] = {
	{ "at its path", { .segments = PAGES, .symbols = NAMES }, "@/prog",
	  NULL,
	  { { A, A + 0x1000, 0, "@/prog", "", MAP_NOT_CODE },
	    { A + 0x2000, A + 0x6000, 0x1000, "@/prog", "", 0 } },
	  { { A + 0x2000, "one" }, { A + 0x27ff, "one" },
	    { A + 0x2800, "two" }, { A + 0x5000, "" } },
	  PPROF_VERDICT_PARTIAL },
	{ "renamed, and given", { .segments = PAGES, .symbols = NAMES },
	  "@/prog2", "@/prog2",
	  { { A + 0x2000, A + 0x6000, 0x1000, "/srv/prog", "", MAP_MAIN } },
	  { { A + 0x2000, "one" } }, PPROF_VERDICT_OK },
	{ "given, and run by a loader",
	  { .segments = PAGES, .symbols = NAMES }, "@/prog", "@/prog",
	  { { B, B + 0x3000, 0, "/srv/ld-linux-x86-64.so.2", "", 0 },
	    { A + 0x2000, A + 0x6000, 0x1000, "/srv/dir/prog", "", 0 } },
	  { { A + 0x2000, "one" }, { B + 0x10, "" } },
	  PPROF_VERDICT_PARTIAL },
	{ "given, and found by build ID alone",
	  { .segments = PAGES, .symbols = NAMES, .build_id = ID }, "@/x",
	  "@/x",
	  { { B, B + 0x4000, 0x1000, "/srv/main", OTHER_ID, MAP_MAIN },
	    { A + 0x2000, A + 0x6000, 0x1000, "/srv/lib.so", ID, 0 } },
	  { { A + 0x2000, "one" }, { B + 0x10, "" } },
	  PPROF_VERDICT_PARTIAL },
	{ "two instances", { .segments = PAGES, .symbols = NAMES }, "@/prog",
	  NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog", "", 0 },
	    { B + 0x2000, B + 0x6000, 0x1000, "@/prog", "", 0 } },
	  { { A + 0x2000, "one" }, { B + 0x2000, "one" } },
	  PPROF_VERDICT_OK },
	{ "a hole within, one after the end",
	  { .segments = PAGES, .symbols = NAMES }, "@/prog", NULL,
	  { { A + 0x2000, A + 0x3000, 0x1000, "@/prog", "", 0 },
	    { A + 0x3000, A + 0x4000, 0, NULL, "", 0 },
	    { A + 0x4000, A + 0x5000, 0x3000, "@/prog", "", 0 },
	    { A + 0x5000, A + 0x6000, 0, "[anon:huge]", "", 0 } },
	  { { A + 0x3010, "malloc" }, { A + 0x4800, "main" },
	    { A + 0x5800, "" }, { A + 0x2800, "two" } },
	  PPROF_VERDICT_PARTIAL },
	{ "signed return addresses",
	  { .segments = PAGES, .symbols = NAMES, .machine = EM_AARCH64 },
	  "@/prog", NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog", "", 0 } },
	  { { A + 0x2000, "one" }, { (A + 0x2800) | UINT64_C(0x5c) << 56,
				     "two" },
	    { UINT64_C(0xd08800000000000), "" } },
	  PPROF_VERDICT_PARTIAL },
	{ "not signed on other machines",
	  { .segments = PAGES, .symbols = NAMES }, "@/prog", NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog", "", 0 } },
	  { { A + 0x2000, "one" }, { (A + 0x2800) | UINT64_C(0x5c) << 56,
				     "" } },
	  PPROF_VERDICT_PARTIAL },
	{ "link-time addresses",
	  { .segments = PAGES, .symbols = NAMES, .build_id = ID }, "@/prog",
	  NULL,
	  { { 0, UINT64_MAX, 0, "@/prog", ID, 0 } },
	  { { 0x2000, "one" }, { 0x4fff, "main" } }, PPROF_VERDICT_OK },
	{ "a range without a name, by build ID",
	  { .segments = PAGES, .symbols = NAMES, .build_id = ID }, "@/prog",
	  "@/prog",
	  { { A + 0x2000, A + 0x6000, 0x1000, NULL, ID, 0 } },
	  { { A + 0x2000, "one" } }, PPROF_VERDICT_OK },
	{ "another build ID at the path",
	  { .segments = PAGES, .symbols = NAMES, .build_id = ID }, "@/prog",
	  NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog", OTHER_ID, 0 } },
	  { { A + 0x2000, "" } }, PPROF_VERDICT_FAILED },
	{ "no build ID where one is known",
	  { .segments = PAGES, .symbols = NAMES }, "@/prog", NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog", OTHER_ID, 0 } },
	  { { A + 0x2000, "" } }, PPROF_VERDICT_FAILED },
	{ "replaced by a file of other segments",
	  { .segments = PAGES, .symbols = NAMES }, "@/prog", NULL,
	  { { A + 0x2000, A + 0x5000, 0x1000, "@/prog (deleted)", "", 0 } },
	  { { A + 0x2000, "" } }, PPROF_VERDICT_FAILED },
	{ "a build ID filled up with zeros",
	  { .segments = PAGES, .symbols = NAMES,
	    .build_id = "0011223344556677" }, "@/prog", NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog",
	      "00112233445566770000000000000000", 0 } },
	  { { A + 0x2000, "one" } }, PPROF_VERDICT_OK },
	{ "code of no file",
	  { .segments = PAGES, .symbols = NAMES }, "@/prog", NULL,
	  { { A + 0x2000, A + 0x6000, 0x1000, "@/prog", "", 0 },
	    { B, B + 0x1000, 0, "[vdso]", "", 0 },
	    { B + 0x4000, B + 0x5000, 0, NULL, "", 0 } },
	  { { B + 0x10, "" }, { B + 0x4010, "" }, { A + 0x2000, "one" } },
	  PPROF_VERDICT_OK },
	{ "pages of another size",
	  { .segments = SEGMENTS, .symbols = { { "one", 0x1000, 0x800 } } },
	  "@/prog", NULL,
	  { { A, A + 0x800, 0, "@/prog", "", MAP_NOT_CODE },
	    { A + 0x1000, A + 0x5000, 0x800, "@/prog", "", 0 } },
	  { { A + 0x1000, "one" } }, PPROF_VERDICT_OK },
};

static void test_cases(void **state)
{
	char path[4096], given[4096];
	const char *binaries[] = { given };
	struct pprof_profile *profile;
	uint64_t addresses[6];
	size_t i, j, nr;

	(void)state;
	for (i = 0; i < NR_OF(cases); i++) {
		struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;

		write_elf(expand(cases[i].path, path), &cases[i].elf);
		opts.binaries = binaries;
		if (cases[i].given) {
			expand(cases[i].given, given);
			opts.nr_binaries = 1;
		}
		for (nr = 0; nr < 6 && cases[i].rows[nr].limit; nr++)
			;
		for (j = 0; j < 6 && cases[i].asks[j].name; j++)
			addresses[j] = cases[i].asks[j].address;
		profile = make_profile(cases[i].rows, nr, "cpu", addresses,
				       j);
		run(&opts, profile, cases[i].verdict);
		for (j = 0; j < 6 && cases[i].asks[j].name; j++)
			if (strcmp(name_of(profile, addresses[j]),
				   cases[i].asks[j].name))
				fail_msg("%s: %zu: %s", cases[i].name, j,
					 name_of(profile, addresses[j]));
		assert_int_equal(profile->drop_frames, 0);
		pprof_profile_free(profile);
		remove(path);
	}
}

static struct pprof_profile *plain_profile(const char *build_id)
{
	static const uint64_t addresses[] = { A + 0x2100, A + 0x2101,
					      A + 0x3010 };
	struct row rows[2];
	size_t i;

	memcpy(rows, plain_rows, sizeof(rows));
	for (i = 0; i < 2; i++)
		rows[i].build_id = build_id;
	return make_profile(rows, 2, "inuse_space", addresses,
			    NR_OF(addresses));
}

static void test_mappings_are_marked(void **state)
{
	struct pprof_profile *profile = plain_profile("");
	char path[4096];

	(void)state;
	write_elf(expand("@/prog", path), &plain_elf);
	run(NULL, profile, PPROF_VERDICT_OK);
	assert_string_equal(profile_str(profile,
					profile->mappings[1].build_id), ID);
	assert_string_equal(profile_str(profile,
					profile->mappings[2].build_id), ID);
	assert_int_equal(profile->mappings[1].flags, MAP_NOT_CODE);
	assert_int_equal(profile->mappings[2].flags,
			 MAP_MAIN | MAP_HAS_FUNCTIONS);
	/* The two calls in one(). */
	assert_int_equal(profile->nr_functions, 3);
	pprof_profile_free(profile);
}

static void test_reports(void **state)
{
	struct pprof_profile *profile = plain_profile("");
	const struct pprof_image_report *report;
	struct pprof_symbolizer *symbolizer;
	char path[4096];

	(void)state;
	write_elf(expand("@/prog", path), &plain_elf);
	symbolizer = make_symbolizer(NULL);
	assert_int_equal(pprof_symbolizer_run(symbolizer, profile, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_symbolizer_nr_images(symbolizer), 1);
	report = pprof_symbolizer_image(symbolizer, 0);
	assert_string_equal(report->path, path);
	assert_string_equal(report->file, path);
	assert_string_equal(report->debug_file, "");
	assert_string_equal(report->build_id, ID);
	assert_string_equal(report->reason, "");
	assert_int_equal(report->nr_addresses, 3);
	assert_int_equal(report->nr_symbol, 3);
	assert_int_equal(report->nr_dwarf + report->nr_unresolved, 0);
	assert_int_equal(report->verdict, PPROF_VERDICT_OK);
	/* Again: nothing is asked, nothing changes. */
	assert_int_equal(pprof_symbolizer_run(symbolizer, profile, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_symbolizer_nr_images(symbolizer), 1);
	report = pprof_symbolizer_image(symbolizer, 0);
	assert_int_equal(report->verdict, PPROF_VERDICT_SKIPPED);
	assert_int_equal(pprof_symbolizer_verdict(symbolizer),
			 PPROF_VERDICT_SKIPPED);
	pprof_symbolizer_free(symbolizer);
	pprof_profile_free(profile);
}

/* Everything that a run may change, as bytes. */
static void snapshot(const struct pprof_profile *p, struct buf *out)
{
	size_t i;

	buf_reset(out);
	buf_add(out, p->mappings, p->nr_mappings * sizeof(*p->mappings));
	buf_add(out, p->functions, p->nr_functions * sizeof(*p->functions));
	buf_add(out, p->locations, p->nr_locations * sizeof(*p->locations));
	buf_add(out, p->lines, p->nr_lines * sizeof(*p->lines));
	buf_add(out, p->comments, p->nr_comments * sizeof(*p->comments));
	buf_add(out, &p->drop_frames, sizeof(p->drop_frames));
	buf_add(out, p->sample_stack, p->nr_samples * sizeof(stack_id));
	for (i = 0; i < p->nr_types; i++)
		buf_add(out, p->values[i], p->nr_samples * sizeof(int64_t));
	assert_true(buf_ok(out));
}

static void assert_same(struct buf *a, struct buf *b)
{
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->data, b->data, a->len);
}

static void test_repeated_runs(void **state)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	struct pprof_profile *profile = plain_profile("");
	struct buf before, after;
	char path[4096];

	(void)state;
	buf_init(&before, 1 << 16);
	buf_init(&after, 1 << 16);
	write_elf(expand("@/prog", path), &plain_elf);
	run(NULL, profile, PPROF_VERDICT_OK);
	assert_int_not_equal(profile->drop_frames, 0);
	snapshot(profile, &before);
	run(NULL, profile, PPROF_VERDICT_SKIPPED);
	snapshot(profile, &after);
	assert_same(&before, &after);
	opts.redo = true;
	run(&opts, profile, PPROF_VERDICT_OK);
	assert_string_equal(name_of(profile, A + 0x2100), "one");
	pprof_profile_free(profile);
	buf_fini(&before);
	buf_fini(&after);
}

static void test_wrong_binary_is_an_error(void **state)
{
	static const struct {
		const char *given, *build_id;
		enum pprof_status status;
		const char *says[2];
	} rows[] = {
		{ "@/prog", OTHER_ID, PPROF_MISMATCH, { ID, OTHER_ID } },
		{ "@/renamed", OTHER_ID, PPROF_MISMATCH, { ID, OTHER_ID } },
		{ "@/short", "", PPROF_MISMATCH, { "0x4000", "0x3000" } },
		{ "@/missing", "", PPROF_IO, { "No such file", "" } },
		{ "@", "", PPROF_IO, { "not a regular file", "" } },
		{ "@/text", "", PPROF_IO, { "not an ELF file", "" } },
	};
	struct made_elf cut = plain_elf;
	char path[4096], given[4096];
	const char *binaries[] = { given };
	struct buf before, after;
	struct pprof_error err;
	size_t i;

	(void)state;
	cut.segments[1].filesz = 0x3000;
	cut.segments[1].memsz = 0x3000;
	write_elf(expand("@/prog", path), &plain_elf);
	write_elf(expand("@/renamed", path), &plain_elf);
	write_elf(expand("@/short", path), &cut);
	write_file(expand("@/text", path), "text", 4);
	buf_init(&before, 1 << 16);
	buf_init(&after, 1 << 16);
	for (i = 0; i < NR_OF(rows); i++) {
		struct pprof_profile *profile =
			plain_profile(rows[i].build_id);
		struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
		struct pprof_symbolizer *symbolizer;

		expand(rows[i].given, given);
		opts.binaries = binaries;
		opts.nr_binaries = 1;
		symbolizer = make_symbolizer(&opts);
		snapshot(profile, &before);
		assert_int_equal(pprof_symbolizer_run(symbolizer, profile,
						      &err), rows[i].status);
		assert_int_equal(err.status, rows[i].status);
		assert_string_equal(err.source, given);
		assert_non_null(strstr(err.message, rows[i].says[0]));
		assert_non_null(strstr(err.message, rows[i].says[1]));
		snapshot(profile, &after);
		assert_same(&before, &after);
		pprof_symbolizer_free(symbolizer);
		pprof_profile_free(profile);
	}
	buf_fini(&before);
	buf_fini(&after);
}

static void count_diag(void *ctx, const struct pprof_diag *diag)
{
	int *nr = ctx;

	if (strstr(diag->message, "no calls"))
		++*nr;
}

/* Ranges that fit prove little; a heap profile's addresses follow calls. */
static void test_code_without_calls(void **state)
{
	static const struct {
		const char *mapped, *build_id;
		uint8_t fill;
		enum pprof_verdict verdict;
		int nr_diags;
	} rows[] = {
		{ "@/prog", "", 0xe8, PPROF_VERDICT_OK, 0 },
		{ "@/prog", "", 0x90, PPROF_VERDICT_OK, 1 },
		{ "@/prog (deleted)", "", 0xe8, PPROF_VERDICT_OK, 0 },
		{ "@/prog (deleted)", "", 0x90, PPROF_VERDICT_FAILED, 0 },
		{ "@/prog (deleted)", ID, 0x90, PPROF_VERDICT_OK, 0 },
	};
	char path[4096];
	size_t i, j;

	(void)state;
	for (i = 0; i < NR_OF(rows); i++) {
		const struct row row = { A + 0x2000, A + 0x6000, 0x1000,
					 rows[i].mapped, rows[i].build_id,
					 0 };
		struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
		struct made_elf elf = plain_elf;
		struct pprof_profile *profile;
		uint64_t addresses[20];
		int nr_diags = 0;

		for (j = 0; j < NR_OF(addresses); j++)
			addresses[j] = A + 0x2100 + 8 * j;
		elf.fill = rows[i].fill;
		write_elf(expand("@/prog", path), &elf);
		profile = make_profile(&row, 1, "inuse_space", addresses,
				       NR_OF(addresses));
		opts.diag = count_diag;
		opts.diag_ctx = &nr_diags;
		run(&opts, profile, rows[i].verdict);
		assert_int_equal(nr_diags, rows[i].nr_diags);
		pprof_profile_free(profile);
	}
}

static void test_calls(void **state)
{
	static const struct {
		unsigned machine;
		uint8_t bytes[8];
		bool is_call;
	} rows[] = {
		{ EM_X86_64, { 0, 0, 0, 0xe8, 1, 2, 3, 4 }, true },
		{ EM_X86_64, { 0, 0, 0xe8, 1, 2, 3, 4, 0 }, false },
		{ EM_X86_64, { 0, 0, 0xff, 0x15, 1, 2, 3, 4 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0, 0xff, 0xd0 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0x41, 0xff, 0xd4 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0xff, 0x50, 0x18 }, true },
		{ EM_X86_64, { 0, 0, 0xff, 0x90, 1, 2, 3, 4 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0, 0xff, 0x10 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0xff, 0x14, 0xc3 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0xff, 0x54, 0x24, 8 }, true },
		{ EM_X86_64, { 0, 0xff, 0x94, 0x24, 1, 2, 3, 4 }, true },
		{ EM_386, { 0, 0xff, 0x14, 0x85, 1, 2, 3, 4 }, true },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0, 0xff, 0xe0 }, false },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0, 0xff, 0x14 }, false },
		{ EM_X86_64, { 0, 0, 0, 0, 0, 0, 0, 0xff }, false },
		{ EM_AARCH64, { 0, 0, 0, 0, 1, 0, 0, 0x94 }, true },
		{ EM_AARCH64, { 0, 0, 0, 0, 0, 2, 0x3f, 0xd6 }, true },
		{ EM_AARCH64, { 0, 0, 0, 0, 0x11, 0x0a, 0x3f, 0xd7 }, true },
		{ EM_AARCH64, { 0, 0, 0, 0, 1, 0, 0, 0x14 }, false },
		{ EM_AARCH64, { 0, 0, 0, 0, 0, 2, 0x1f, 0xd6 }, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(rows); i++)
		if (calls_end_before(rows[i].machine, rows[i].bytes) !=
		    rows[i].is_call)
			fail_msg("row %zu", i);
}

static void test_force(void **state)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	struct pprof_profile *profile = plain_profile(OTHER_ID);
	char path[4096];
	const char *binaries[] = { path };

	(void)state;
	write_elf(expand("@/renamed", path), &plain_elf);
	opts.binaries = binaries;
	opts.nr_binaries = 1;
	opts.force = true;
	run(&opts, profile, PPROF_VERDICT_OK);
	assert_string_equal(name_of(profile, A + 0x2100), "one");
	assert_string_equal(profile_str(profile,
					profile->mappings[2].build_id),
			    OTHER_ID);
	assert_int_equal(profile->nr_comments, 1);
	assert_non_null(strstr(pprof_profile_comment(profile, 0), ID));
	assert_non_null(strstr(pprof_profile_comment(profile, 0), OTHER_ID));
	opts.redo = true;
	run(&opts, profile, PPROF_VERDICT_OK);
	assert_int_equal(profile->nr_comments, 1);
	pprof_profile_free(profile);
}

static void test_allocator_frames_can_stay(void **state)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	struct pprof_profile *profile = plain_profile("");
	char path[4096];

	(void)state;
	write_elf(expand("@/prog", path), &plain_elf);
	opts.keep_allocator_frames = true;
	run(&opts, profile, PPROF_VERDICT_OK);
	assert_int_equal(profile->drop_frames, 0);
	pprof_profile_free(profile);
}

static void test_options_are_checked(void **state)
{
	struct {
		struct pprof_symbolize_opts opts;
		char tail[8];
	} longer;
	struct pprof_symbolizer *symbolizer = NULL;

	(void)state;
	memset(&longer, 0, sizeof(longer));
	longer.opts.size = sizeof(longer);
	assert_int_equal(pprof_symbolizer_new(&longer.opts, &symbolizer,
					      NULL), PPROF_OK);
	pprof_symbolizer_free(symbolizer);
	symbolizer = NULL;
	longer.tail[7] = 1;
	assert_int_equal(pprof_symbolizer_new(&longer.opts, &symbolizer,
					      NULL), PPROF_USAGE);
	assert_null(symbolizer);
	pprof_symbolizer_free(NULL);
}

/* Each allocation fails once: an error, and the profile as it was. */
static void test_out_of_memory(void **state)
{
	struct pprof_profile *profile = plain_profile("");
	struct pprof_symbolizer *symbolizer = NULL;
	enum pprof_status status = PPROF_NOMEM;
	struct buf before, after;
	char path[4096];
	uint64_t nth;

	(void)state;
	write_elf(expand("@/prog", path), &plain_elf);
	buf_init(&before, 1 << 16);
	buf_init(&after, 1 << 16);
	snapshot(profile, &before);
	for (nth = 1; status == PPROF_NOMEM; nth++) {
		mem_fail_nth(nth, false);
		status = pprof_symbolizer_new(NULL, &symbolizer, NULL);
		if (!status)
			status = pprof_symbolizer_run(symbolizer, profile,
						      NULL);
		mem_fail_nth(0, false);
		pprof_symbolizer_free(symbolizer);
		symbolizer = NULL;
		if (!status)
			break;
		snapshot(profile, &after);
		assert_same(&before, &after);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(nth > 30);
	assert_string_equal(name_of(profile, A + 0x2100), "one");
	pprof_profile_free(profile);
	buf_fini(&before);
	buf_fini(&after);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_symbolize.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	remove_tree(root);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_mappings_are_marked),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_repeated_runs),
		cmocka_unit_test(test_wrong_binary_is_an_error),
		cmocka_unit_test(test_code_without_calls),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_force),
		cmocka_unit_test(test_allocator_frames_can_stay),
		cmocka_unit_test(test_options_are_checked),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
