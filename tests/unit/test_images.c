/* SPDX-License-Identifier: Apache-2.0
 *
 * Mappings to images, and files to load biases: every layout that linkers,
 * kernels and programs make, and files that must not be taken.
 */
#include <config.h>

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/builder.h"
#include "symbolize/place.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define ROWS_MAX 12
#define SEGMENTS_MAX 8
#define A UINT64_C(0x555500000000)
#define B UINT64_C(0x7f0000000000)
#define NO UINT64_MAX
#define CODE 0
#define DATA MAP_NOT_CODE

/* One mapping, and the bias that it must get (NO: none). */
struct row {
	uint64_t start, limit, offset;
	const char *file;
	uint32_t flags;
	uint64_t bias;
};

/* One file for the image /p. */
struct layout_case {
	const char *name;
	unsigned type;
	struct elf_segment segments[SEGMENTS_MAX];
	struct row rows[ROWS_MAX];
	bool no_offsets;
	bool is_trusted;
	bool fits;
};

/* GNU ld: R, RX, R, RW at p_vaddr = p_offset but for the last. */
#define BFD_SEGMENTS { \
	{ 0, 0, 0x1a00, 0x1a00, 0x1000, PF_R }, \
	{ 0x2000, 0x2000, 0x4f51, 0x4f51, 0x1000, PF_R | PF_X }, \
	{ 0x7000, 0x7000, 0x2100, 0x2100, 0x1000, PF_R }, \
	{ 0xadc8, 0x9dc8, 0x700, 0xa00, 0x1000, PF_R | PF_W } }

/* Two executable segments that begin in one page of the file. */
#define TWIN_SEGMENTS { \
	{ 0, 0, 0x7c0, 0x7c0, 0x1000, PF_R }, \
	{ 0x900000, 0x1000, 0x3e0, 0x3e0, 0x1000, PF_R | PF_X }, \
	{ 0x9023e0, 0x13e0, 0x200, 0x200, 0x1000, PF_R | PF_X }, \
	{ 0x9035e0, 0x15e0, 0x1a0, 0xa20, 0x1000, PF_R | PF_W } }

static const struct layout_case cases[] = {
	{ "pie of GNU ld", ET_DYN, BFD_SEGMENTS,
	  { { A, A + 0x2000, 0, "/p", DATA, A },
	    { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, A },
	    { A + 0x7000, A + 0xa000, 0x7000, "/p", DATA, A },
	    { A + 0xa000, A + 0xb000, 0x9000, "/p", DATA, A },
	    { A + 0xb000, A + 0xc000, 0xa000, "/p", DATA, A } },
	  false, false, true },
	{ "only the code is known", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, A } },
	  false, false, true },
	{ "another file: more code than was mapped", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x2000, A + 0x6000, 0x2000, "/p", CODE, NO } },
	  false, false, false },
	{ "another file: less code than was mapped", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x2000, A + 0x9000, 0x2000, "/p", CODE, NO } },
	  false, false, false },
	{ "another file: the same code, other data", ET_DYN, BFD_SEGMENTS,
	  { { A, A + 0x2000, 0, "/p", DATA, NO },
	    { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, NO },
	    { A + 0x7000, A + 0x9000, 0x7000, "/p", DATA, NO },
	    { A + 0x9000, A + 0xa000, 0x8000, "/p", DATA, NO } },
	  false, false, false },
	{ "known to be right: a piece is enough", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x3000, A + 0x4000, 0x3000, "/p", CODE, A } },
	  false, true, true },
	{ "known to be right, but no piece is there", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x3000, A + 0x4000, 0x30000, "/p", CODE, NO } },
	  false, true, false },
	{ "fixed addresses", ET_EXEC,
	  { { 0x400000, 0, 0x1a00, 0x1a00, 0x1000, PF_R },
	    { 0x402000, 0x2000, 0x4f51, 0x4f51, 0x1000, PF_R | PF_X } },
	  { { 0x400000, 0x402000, 0, "/p", DATA, 0 },
	    { 0x402000, 0x407000, 0x2000, "/p", CODE, 0 } },
	  false, false, true },
	{ "fixed addresses never move", ET_EXEC,
	  { { 0x400000, 0, 0x1a00, 0x1a00, 0x1000, PF_R },
	    { 0x402000, 0x2000, 0x4f51, 0x4f51, 0x1000, PF_R | PF_X } },
	  { { A, A + 0x2000, 0, "/p", DATA, NO },
	    { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, NO } },
	  false, true, false },
	{ "prelinked: the first address is not 0", ET_DYN,
	  { { 0x3a00000000, 0, 0x5f51, 0x5f51, 0x200000, PF_R | PF_X },
	    { 0x3a00206000, 0x6000, 0x600, 0x900, 0x200000, PF_R | PF_W } },
	  { { 0x3a00000000, 0x3a00006000, 0, "/p", CODE, 0 },
	    { 0x3a00006000, 0x3a00206000, 0x6000, "/p", DATA, NO },
	    { 0x3a00206000, 0x3a00207000, 0x6000, "/p", DATA, 0 } },
	  false, false, true },
	{ "lld: addresses are not offsets", ET_DYN,
	  { { 0, 0, 0x1640, 0x1640, 0x1000, PF_R },
	    { 0x2650, 0x1650, 0x1200, 0x1200, 0x1000, PF_R | PF_X },
	    { 0x4850, 0x2850, 0x200, 0x200, 0x1000, PF_R | PF_W } },
	  { { A, A + 0x2000, 0, "/p", DATA, A },
	    { A + 0x2000, A + 0x4000, 0x1000, "/p", CODE, A },
	    { A + 0x4000, A + 0x5000, 0x2000, "/p", DATA, A } },
	  false, false, true },
	{ "lld: two segments in one page of the file", ET_DYN, TWIN_SEGMENTS,
	  { { A, A + 0x1000, 0, "/p", DATA, A },
	    { A + 0x900000, A + 0x901000, 0x1000, "/p", CODE, A },
	    { A + 0x902000, A + 0x903000, 0x1000, "/p", CODE, A },
	    { A + 0x903000, A + 0x904000, 0x1000, "/p", DATA, A } },
	  false, false, true },
	{ "the same, and only code is known", ET_DYN, TWIN_SEGMENTS,
	  { { A + 0x900000, A + 0x901000, 0x1000, "/p", CODE, A },
	    { A + 0x902000, A + 0x903000, 0x1000, "/p", CODE, A } },
	  false, false, true },
	{ "text on huge pages, joined by the reader", ET_EXEC,
	  { { 0x400000, 0, 0x1bffe00, 0x1bffe00, 0x1000, PF_R | PF_X } },
	  { { 0x400000, 0x2000000, 0, "/p", CODE, 0 } },
	  false, false, true },
	{ "text on huge pages, a hole in the middle", ET_EXEC,
	  { { 0x400000, 0, 0x1bffe00, 0x1bffe00, 0x1000, PF_R | PF_X } },
	  { { 0x400000, 0x600000, 0, "/p", CODE, 0 },
	    { 0x600000, 0x1000000, 0, NULL, CODE, NO },
	    { 0x1000000, 0x2000000, 0xc00000, "/p", CODE, 0 } },
	  false, false, true },
	{ "text on huge pages, from its first byte on", ET_EXEC,
	  { { 0x400000, 0, 0x1bffe00, 0x1bffe00, 0x1000, PF_R | PF_X } },
	  { { 0x400000, 0x1000000, 0, "/anon_hugepage (deleted)", CODE, NO },
	    { 0x1000000, 0x2000000, 0xc00000, "/p", CODE, 0 } },
	  false, false, true },
	{ "a hole that nothing fills is another file", ET_EXEC,
	  { { 0x400000, 0, 0x1bffe00, 0x1bffe00, 0x1000, PF_R | PF_X } },
	  { { 0x1000000, 0x2000000, 0xc00000, "/p", CODE, NO } },
	  false, false, false },
	{ "all text on huge pages, below it joined", ET_DYN, BFD_SEGMENTS,
	  { { A, A + 0x7000, 0, "/p", CODE, A },
	    { A + 0x7000, A + 0xa000, 0x7000, "/p", DATA, A } },
	  false, false, true },
	{ "two instances", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, A },
	    { B, B + 0x2000, 0, "/p", DATA, B },
	    { B + 0x2000, B + 0x7000, 0x2000, "/p", CODE, B } },
	  false, false, true },
	{ "the whole file mapped as data beside it", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, A },
	    { B, B + 0x20000, 0, "/p", DATA, NO } },
	  false, false, true },
	{ "64 KiB pages", ET_DYN,
	  { { 0, 0, 0x1a00, 0x1a00, 0x10000, PF_R | PF_X },
	    { 0x1fdc8, 0xfdc8, 0x700, 0xa00, 0x10000, PF_R | PF_W } },
	  { { A, A + 0x10000, 0, "/p", CODE, A },
	    { A + 0x10000, A + 0x30000, 0, "/p", DATA, A } },
	  false, false, true },
	{ "no file offsets in the maps", ET_DYN,
	  { { 0, 0, 0x4f51, 0x4f51, 0x1000, PF_R | PF_X },
	    { 0x5dc8, 0x4dc8, 0x700, 0xa00, 0x1000, PF_R | PF_W } },
	  { { A, A + 0x5000, 0, "/p", CODE, A },
	    { A + 0x5000, A + 0x7000, 0, "/p", DATA, A } },
	  false, false, true },
	{ "no file offsets, code not first", ET_DYN, BFD_SEGMENTS,
	  { { A + 0x2000, A + 0x7000, 0, "/p", CODE, A } },
	  false, false, true },
	{ "a debug file alone", ET_DYN,
	  { { 0, 0, 0x1a00, 0x1a00, 0x1000, PF_R },
	    { 0x2000, 0x2000, 0, 0x4f51, 0x1000, PF_R | PF_X } },
	  { { A, A + 0x2000, 0, "/p", DATA, A },
	    { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, A } },
	  true, true, true },
	{ "unrounded ranges, as dl_iterate_phdr() gives", ET_DYN,
	  BFD_SEGMENTS,
	  { { A, A + 0x1a00, 0, "/p", CODE, A },
	    { A + 0x2000, A + 0x6f51, 0x2000, "/p", CODE, A },
	    { A + 0xadc8, A + 0xb7c8, 0x9dc8, "/p", CODE, A } },
	  false, false, true },
	{ "link-time addresses, 0 to the end", ET_DYN, BFD_SEGMENTS,
	  { { 0, UINT64_MAX, 0, "/p", CODE, 0 } }, false, false, true },
	{ "link-time addresses, 0 to 0", ET_DYN, BFD_SEGMENTS,
	  { { 0, 0, 0, "/p", CODE, 0 } }, false, false, true },
	{ "no code in the file", ET_DYN,
	  { { 0, 0, 0x8000, 0x8000, 0x1000, PF_R } },
	  { { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, NO } },
	  false, false, false },
	{ "nonsense segments", ET_DYN,
	  { { UINT64_MAX - 8, 8, UINT64_MAX, UINT64_MAX, 1, PF_X },
	    { 8, UINT64_MAX - 8, 64, 64, 1, PF_X } },
	  { { A + 0x2000, A + 0x7000, 0x2000, "/p", CODE, NO },
	    { 0x1000, UINT64_MAX - 0xfff, UINT64_MAX - 0xfff, "/p", CODE,
	      NO } },
	  false, true, false },
};

static struct builder builder;
static struct diags diags;
static struct pprof_limits limits;
static struct images images;

static void add_row(const struct row *row, const char *build_id)
{
	struct mapping map = { .start = row->start, .limit = row->limit,
			       .offset = row->offset, .flags = row->flags };

	if (row->file)
		map.file = builder_cstr(&builder, row->file);
	map.build_id = builder_cstr(&builder, build_id);
	assert_int_not_equal(builder_mapping(&builder, &map), ID_FAILED);
}

static void start(void)
{
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(&builder, &limits, &diags));
}

static void finish(void)
{
	images_fini(&images);
	builder_fini(&builder);
}

static void group(void)
{
	assert_int_equal(images_init(&images, builder.profile, NULL),
			 PPROF_OK);
}

static uint32_t image_of(const char *name)
{
	uint32_t i;

	for (i = 0; i < images.nr; i++)
		if (!strcmp(profile_str(builder.profile,
					images.images[i].file), name))
			return i;
	fail_msg("no image %s", name);
	return 0;
}

static size_t nr_segments(const struct layout_case *c)
{
	size_t nr = 0;

	while (nr < SEGMENTS_MAX && c->segments[nr].memsz)
		nr++;
	return nr;
}

static void check_rows(const struct layout_case *c,
		       const struct placement *placement)
{
	size_t i;

	for (i = 0; i < ROWS_MAX && (c->rows[i].start || c->rows[i].file);
	     i++) {
		const map_id map = (map_id)(i + 1);
		uint32_t bias;

		if (!c->rows[i].file || strcmp(c->rows[i].file, "/p"))
			continue;
		bias = placement->row_bias[images.row_of_map[map]];
		if (c->rows[i].bias == NO && bias != BIAS_NONE)
			fail_msg("%s: row %zu has bias %#llx", c->name, i,
				 (unsigned long long)placement->biases[bias]);
		if (c->rows[i].bias != NO &&
		    (bias == BIAS_NONE ||
		     placement->biases[bias] != c->rows[i].bias))
			fail_msg("%s: row %zu misses its bias", c->name, i);
	}
}

static void test_layouts(void **state)
{
	struct placement placement;
	bool fits;
	size_t i, j;

	(void)state;
	for (i = 0; i < NR_OF(cases); i++) {
		const struct layout_case *c = &cases[i];
		const struct elf_layout layout = {
			.segments = c->segments,
			.nr_segments = nr_segments(c), .type = c->type,
			.no_offsets = c->no_offsets,
		};

		start();
		for (j = 0; j < ROWS_MAX && (c->rows[j].start ||
					     c->rows[j].file); j++)
			add_row(&c->rows[j], "");
		group();
		assert_int_equal(images_place(&images, image_of("/p"),
					      &layout, c->is_trusted,
					      &placement, &fits, NULL),
				 PPROF_OK);
		if (fits != c->fits)
			fail_msg("%s: %s: %s", c->name, fits ? "fits"
				 : "does not fit", placement.reason);
		assert_int_equal(placement.reason[0] != '\0', !c->fits);
		if (fits)
			check_rows(c, &placement);
		placement_fini(&placement);
		finish();
	}
}

static void test_reason_names_both_sides(void **state)
{
	static const struct row row = { A + 0x2000, A + 0x6000, 0x2000, "/p",
					CODE, NO };
	static const struct elf_segment segments[] = BFD_SEGMENTS;
	const struct elf_layout layout = { segments, NR_OF(segments), ET_DYN,
					   false };
	struct placement placement;
	bool fits;

	(void)state;
	start();
	add_row(&row, "");
	group();
	assert_int_equal(images_place(&images, 0, &layout, false, &placement,
				      &fits, NULL), PPROF_OK);
	assert_false(fits);
	assert_string_equal(placement.reason, "does not fit: mapped were "
			    "0x4000 bytes of code from offset 0x2000, the "
			    "file has 0x4f51 at 0x2000");
	placement_fini(&placement);
	finish();
}

static void test_groups(void **state)
{
	static const struct {
		struct row row;
		const char *build_id;
	} rows[] = {
		{ { A, A + 0x1000, 0, "/p", DATA, 0 }, "" },
		{ { A + 0x1000, A + 0x2000, 0x1000, "/p", MAP_MAIN, 0 },
		  "aa" },
		{ { B, B + 0x1000, 0, "/q", CODE, 0 }, "bb" },
		{ { B + 0x2000, B + 0x3000, 0, "/q", CODE, 0 }, "cc" },
		{ { B + 0x4000, B + 0x5000, 0, "[vdso]", CODE, 0 }, "" },
		{ { B + 0x6000, B + 0x7000, 0, NULL, CODE, 0 }, "" },
		{ { B + 0x8000, B + 0x9000, 0, NULL, CODE, 0 }, "dd" },
	};
	static const uint32_t of_map[] = { IMAGE_NONE, 0, 0, 1, 2, 3,
					   IMAGE_NONE, 4 };
	size_t i;

	(void)state;
	start();
	for (i = 0; i < NR_OF(rows); i++)
		add_row(&rows[i].row, rows[i].build_id);
	group();
	assert_int_equal(images.nr, 5);
	for (i = 0; i < NR_OF(of_map); i++)
		assert_int_equal(images.of_map[i], of_map[i]);
	assert_true(images.images[0].is_main);
	assert_false(images.images[1].is_main);
	assert_int_equal(images.images[0].nr_rows, 2);
	assert_string_equal(profile_str(builder.profile,
					images.images[0].build_id), "aa");
	assert_true(images.images[3].is_pseudo);
	assert_false(images.images[4].is_pseudo);
	assert_int_equal(images.page_bytes, 0x1000);
	finish();
}

static void test_lookups(void **state)
{
	static const struct row rows[] = {
		{ B, B + 0x1000, 0, "/b", CODE, 0 },
		{ A, A + 0x1000, 0, "/a", CODE, 0 },
		{ A + 0x8000, A + 0x9000, 0x8000, "/a", CODE, 0 },
		{ A + 0x2000, A + 0x3000, 0, "[heap]", CODE, 0 },
	};
	static const struct {
		uint64_t address;
		map_id map;
		const char *below, *above;
	} asks[] = {
		{ A, 2, "/a", "/a" }, { A + 0xfff, 2, "/a", "/a" },
		{ A + 0x1000, 0, "/a", "/a" }, { A - 1, 0, NULL, "/a" },
		{ A + 0x2800, 0, "/a", "/a" }, { A + 0x9000, 0, "/a", "/b" },
		{ B + 0x800, 1, "/b", NULL }, { UINT64_MAX, 0, "/b", NULL },
	};
	uint32_t below, above;
	size_t i;

	(void)state;
	start();
	for (i = 0; i < NR_OF(rows); i++)
		add_row(&rows[i], "");
	group();
	for (i = 0; i < NR_OF(asks); i++) {
		assert_int_equal(images_find(&images, asks[i].address),
				 asks[i].map);
		images_neighbours(&images, asks[i].address, &below, &above);
		assert_int_equal(below, asks[i].below
				 ? image_of(asks[i].below) : IMAGE_NONE);
		assert_int_equal(above, asks[i].above
				 ? image_of(asks[i].above) : IMAGE_NONE);
	}
	finish();
}

static void test_pseudo_names(void **state)
{
	static const char *const pseudo[] = {
		"", "[vdso]", "[heap]", "[anon:jit]", "//anon",
		"/memfd:jit (deleted)", "/dev/zero (deleted)",
		"/SYSV00000000 (deleted)", "/anon_hugepage (deleted)",
	};
	static const char *const real[] = {
		"/bin/true", "a.out", "/tmp/[x]/lib.so", "/devel/prog",
		"/opt/x/plugin",
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(pseudo); i++)
		assert_true(image_name_is_pseudo(pseudo[i]));
	for (i = 0; i < NR_OF(real); i++)
		assert_false(image_name_is_pseudo(real[i]));
}

static void test_out_of_memory(void **state)
{
	static const struct elf_segment segments[] = BFD_SEGMENTS;
	const struct elf_layout layout = { segments, NR_OF(segments), ET_DYN,
					   false };
	enum pprof_status status = PPROF_NOMEM;
	struct placement placement;
	uint64_t nth;
	bool fits;

	(void)state;
	start();
	add_row(&cases[0].rows[1], "");
	for (nth = 1; status == PPROF_NOMEM; nth++) {
		mem_fail_nth(nth, false);
		status = images_init(&images, builder.profile, NULL);
		if (!status)
			status = images_place(&images, 0, &layout, false,
					      &placement, &fits, NULL);
		mem_fail_nth(0, false);
		if (status)
			images_fini(&images);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(nth > 6);
	assert_true(fits);
	placement_fini(&placement);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_reason_names_both_sides),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_lookups),
		cmocka_unit_test(test_pseudo_names),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
