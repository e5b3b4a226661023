/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files are tried for a mapped path, in which order, and which debug
 * files are taken or refused.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbolize/finder.h"

#include "elf_maker.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define ID "00112233445566778899aabbccddeeff00112233"
#define ID_REST "112233445566778899aabbccddeeff00112233"
#define OTHER_ID "ffffffffffffffffffffffffffffffffffffffff"

static char root[64];

/* `text` with every "@" replaced by the directory of this test. */
static const char *expand(const char *text, char out[4096])
{
	size_t nr = 0;

	for (; *text; text++) {
		assert_true(nr + sizeof(root) < 4096);
		if (*text != '@') {
			out[nr++] = *text;
			continue;
		}
		memcpy(out + nr, root, strlen(root));
		nr += strlen(root);
	}
	out[nr] = '\0';
	return out;
}

static void remove_below(const char *what)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", root, what);
	remove_tree(path);
}

static const struct {
	const char *name;
	const char *files[4];       /* made before; those that the judge sees */
	const char *seen[4];        /* are these, in this order */
	const char *path;           /* as in the maps */
	const char *build_id;
	const char *sysroot, *search, *map;
} searches[] = {
	{ "the path itself", { "@/a/prog" }, { "@/a/prog" }, "@/a/prog", "",
	  NULL, NULL, NULL },
	{ "nothing there", { "@/z/other" }, { NULL }, "@/z/prog", "", NULL,
	  NULL, NULL },
	{ "deleted", { "@/b/prog" }, { "@/b/prog" }, "@/b/prog (deleted)", "",
	  NULL, NULL, NULL },
	{ "a living file called so",
	  { "@/c/prog (deleted)", "@/c/prog" }, { "@/c/prog (deleted)" },
	  "@/c/prog (deleted)", "", NULL, NULL, NULL },
	{ "a newline as the kernel writes it", { "@/d\n/prog" },
	  { "@/d\n/prog" }, "@/d\\012/prog (deleted)", "", NULL, NULL, NULL },
	{ "blanks", { "@/my app/libsp ace.so" }, { "@/my app/libsp ace.so" },
	  "@/my app/libsp ace.so", "", NULL, NULL, NULL },
	{ "sysroot", { "@/e/srv/prog" }, { "@/e/srv/prog" }, "/srv/prog", "",
	  "@/e", NULL, NULL },
	{ "sysroot with a slash", { "@/e2/srv/prog" }, { "@/e2/srv/prog" },
	  "/srv/prog (deleted)", "", "@/e2/", NULL, NULL },
	{ "with a sysroot this machine's file is another",
	  { "@/f/prog" }, { NULL }, "@/f/prog", "", "@/empty", NULL, NULL },
	{ "unless a build ID can tell", { "@/f2/prog" }, { "@/f2/prog" },
	  "@/f2/prog", ID, "@/empty", NULL, NULL },
	{ "path map, then the path",
	  { "@/g/new/x/prog", "@/g/old/x/prog" },
	  { "@/g/new/x/prog", "@/g/old/x/prog" }, "@/g/old/x/prog", "", NULL,
	  NULL, "@/g/old=@/g/new" },
	{ "path map with slashes", { "@/h/new/prog" }, { "@/h/new/prog" },
	  "/h/old/prog", "", NULL, NULL, "/h/old/=@/h/new/" },
	{ "path map of whole names only", { "@/i/newer/prog" }, { NULL },
	  "/i/older/prog", "", NULL, NULL, "/i/old=@/i/new" },
	{ "by build ID first",
	  { "@/j/s/" ID "/prog", "@/j/s/.build-id/00/" ID_REST,
	    "@/j/a/prog", "@/j/s/prog" },
	  { "@/j/s/" ID "/prog", "@/j/s/.build-id/00/" ID_REST,
	    "@/j/a/prog", "@/j/s/prog" },
	  "@/j/a/prog", ID, NULL, "@/j/s", NULL },
	{ "by base name, deleted or not", { "@/k/s/prog" }, { "@/k/s/prog" },
	  "/nowhere/prog (deleted)", "", NULL, "@/k/s", NULL },
	{ "a debug file alone",
	  { "@/l/s/" ID "/prog.debug",
	    "@/l/s/.build-id/00/" ID_REST ".debug" },
	  { "@/l/s/" ID "/prog.debug",
	    "@/l/s/.build-id/00/" ID_REST ".debug" },
	  "/nowhere/prog", ID, NULL, "@/l/s", NULL },
	{ "a directory is no file", { "@/m/prog/x" }, { NULL }, "@/m/prog", "",
	  NULL, NULL, NULL },
};

/* What the judge saw. */
struct seen {
	const char *paths[8];
	size_t nr;
	size_t take; /* which one to take, from 1 */
};

static enum pprof_status judge(void *ctx, struct binary *binary,
			       bool *ret_taken, struct pprof_error *err)
{
	struct seen *seen = ctx;

	(void)err;
	assert_true(seen->nr < NR_OF(seen->paths));
	seen->paths[seen->nr++] = binary->path;
	*ret_taken = seen->nr == seen->take;
	return PPROF_OK;
}

/* Different content, so that no two files are one to the finder. */
static void make_files(const char *const *files, size_t nr)
{
	struct made_elf elf = { .build_id = ID };
	char path[4096];
	size_t i;

	for (i = 0; i < nr && files[i]; i++)
		write_elf(expand(files[i], path), &elf);
}

static void start(struct finder *finder, const char *sysroot,
		  const char *search, const char *map, const char *debug)
{
	char texts[4][4096];
	const char *lists[4] = { NULL, NULL, NULL, NULL };
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;

	opts.sysroots = &lists[0];
	opts.search_dirs = &lists[1];
	opts.path_maps = &lists[2];
	opts.debug_dirs = &lists[3];
	opts.nr_sysroots = sysroot != NULL;
	opts.nr_search_dirs = search != NULL;
	opts.nr_path_maps = map != NULL;
	opts.nr_debug_dirs = debug != NULL;
	if (sysroot)
		lists[0] = expand(sysroot, texts[0]);
	if (search)
		lists[1] = expand(search, texts[1]);
	if (map)
		lists[2] = expand(map, texts[2]);
	if (debug)
		lists[3] = expand(debug, texts[3]);
	assert_int_equal(finder_init(finder, &opts, NULL), PPROF_OK);
}

static void test_searches(void **state)
{
	char path[4096], want[4096];
	struct finder finder;
	struct seen seen;
	size_t i, j;

	(void)state;
	for (i = 0; i < NR_OF(searches); i++) {
		make_files(searches[i].files, NR_OF(searches[i].files));
		start(&finder, searches[i].sysroot, searches[i].search,
		      searches[i].map, NULL);
		memset(&seen, 0, sizeof(seen));
		assert_int_equal(finder_search(&finder,
					       expand(searches[i].path, path),
					       searches[i].build_id, judge,
					       &seen, NULL), PPROF_OK);
		for (j = 0; j < NR_OF(searches[i].seen) &&
			    searches[i].seen[j]; j++) {
			expand(searches[i].seen[j], want);
			if (j >= seen.nr || strcmp(seen.paths[j], want))
				fail_msg("%s: want %s, have %s",
					 searches[i].name, want,
					 j < seen.nr ? seen.paths[j] : "-");
		}
		if (seen.nr != j)
			fail_msg("%s: also %s", searches[i].name,
				 seen.paths[j]);
		finder_fini(&finder);
	}
}

static void test_search_ends_when_taken(void **state)
{
	static const char *const files[] = { "@/t/" ID "/prog", "@/t/prog",
					     "@/u/prog" };
	struct seen seen = { .take = 2 };
	struct finder finder;
	char path[4096];

	(void)state;
	make_files(files, NR_OF(files));
	start(&finder, NULL, "@/t", NULL, NULL);
	assert_int_equal(finder_search(&finder, expand("@/u/prog", path), ID,
				       judge, &seen, NULL), PPROF_OK);
	assert_int_equal(seen.nr, 2);
	/* Opened once, however often it is met. */
	seen.nr = 0;
	assert_int_equal(finder.nr_opened, 2);
	assert_int_equal(finder_search(&finder, expand("@/u/prog", path), ID,
				       judge, &seen, NULL), PPROF_OK);
	assert_int_equal(finder.nr_opened, 2);
	finder_fini(&finder);
}

static void test_fifo_is_never_opened(void **state)
{
	struct binary *binary;
	struct finder finder;
	char path[4096];

	(void)state;
	assert_int_equal(mkfifo(expand("@/fifo", path), 0600), 0);
	start(&finder, NULL, NULL, NULL, NULL);
	assert_int_equal(finder_open(&finder, path, &binary, NULL), PPROF_OK);
	assert_null(binary);
	write_file(expand("@/text", path), "hello", 5);
	assert_int_equal(finder_open(&finder, path, &binary, NULL), PPROF_OK);
	assert_non_null(binary);
	assert_int_equal(binary->status, PPROF_FORMAT);
	finder_fini(&finder);
}

/* CRC-32 bit by bit, to check the fast one against. */
static uint32_t slow_crc(const char *data, size_t nr)
{
	uint32_t crc = UINT32_MAX;
	size_t i, bit;

	for (i = 0; i < nr; i++) {
		crc ^= (uint8_t)data[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static const struct {
	const char *name;
	const char *binary_id;  /* of the binary, "" none */
	const char *debug_id;   /* of the debug file, "" none */
	const char *place;      /* of the debug file; the binary is @/N/prog */
	const char *debug_dir, *sysroot;
	bool has_dwarf;         /* in the binary */
	bool is_damaged;        /* the CRC does not match */
	bool is_taken;
} debugs[] = {
	{ "beside it", "", "", "@/x/prog.dbg", NULL, NULL, false, false,
	  true },
	{ "in .debug", "", "", "@/x/.debug/prog.dbg", NULL, NULL, false,
	  false, true },
	{ "below a debug directory", "", "", "@/dd@/x/prog.dbg", "@/dd", NULL,
	  false, false, true },
	{ "below a sysroot's", "", "",
	  "@/usr/lib/debug/x/prog.dbg", NULL, "@", false, false, true },
	{ "another CRC", "", "", "@/x/prog.dbg", NULL, NULL, false, true,
	  false },
	{ "no build ID in the debug file: the CRC counts", ID, "",
	  "@/x/prog.dbg", NULL, NULL, false, false, true },
	{ "the same build ID: the CRC does not", ID, ID, "@/x/prog.dbg", NULL,
	  NULL, false, true, true },
	{ "another build ID, the right CRC", ID, OTHER_ID, "@/x/prog.dbg",
	  NULL, NULL, false, false, false },
	{ "by build ID", ID, ID, "@/dd/.build-id/00/" ID_REST ".debug",
	  "@/dd", NULL, false, true, true },
	{ "by build ID in a sysroot", ID, ID,
	  "@/usr/lib/debug/.build-id/00/" ID_REST ".debug", NULL, "@", false,
	  true, true },
	{ "by build ID, but it is another", ID, OTHER_ID,
	  "@/dd/.build-id/00/" ID_REST ".debug", "@/dd", NULL, false, true,
	  false },
	{ "not needed", ID, ID, "@/x/prog.dbg", NULL, NULL, true, false,
	  false },
};

static void make_debug_case(size_t i, char path[4096])
{
	const char *id = debugs[i].debug_id;
	struct made_elf debug = { .build_id = *id ? id : NULL,
				  .has_dwarf = true };
	struct made_elf elf = { .has_dwarf = debugs[i].has_dwarf,
				.debuglink = "prog.dbg" };
	struct made_sections out;

	make_elf(&out, &debug);
	write_file(expand(debugs[i].place, path), out.file.data,
		   out.file.len);
	elf.crc = slow_crc(out.file.data, out.file.len) +
		  debugs[i].is_damaged;
	buf_fini(&out.file);
	buf_fini(&out.names);
	elf.build_id = *debugs[i].binary_id ? debugs[i].binary_id : NULL;
	write_elf(expand("@/x/prog", path), &elf);
}

static void test_debug_files(void **state)
{
	const struct module_opts opts = { .nr_threads = 1 };
	char path[4096], place[4096];
	struct binary *binary;
	struct finder finder;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(debugs); i++) {
		make_debug_case(i, path);
		start(&finder, debugs[i].sysroot, NULL, NULL,
		      debugs[i].debug_dir);
		assert_int_equal(finder_open(&finder, path, &binary, NULL),
				 PPROF_OK);
		assert_int_equal(finder_load(&finder, binary, &opts, NULL),
				 PPROF_OK);
		expand(debugs[i].place, place);
		if (!strcmp(binary->debug_path, place) != debugs[i].is_taken)
			fail_msg("%s: '%s'; %s", debugs[i].name,
				 binary->debug_path, binary->note);
		/* What was refused is told. */
		assert_int_equal(!binary->note[0], debugs[i].is_taken ||
				 debugs[i].has_dwarf);
		assert_int_equal(!binary->debug_path[0],
				 !debugs[i].is_taken && !debugs[i].has_dwarf);
		finder_fini(&finder);
		remove_below("/x");
		remove_below("/dd");
		remove_below("/usr");
	}
}

static const struct {
	const char *link;
	const char *place;
	const char *id;
	bool is_found;
} alts[] = {
	{ "../alt/common", "@/alt/common", ID, true },
	{ "/alt/common", "@/alt/common", ID, true }, /* in the sysroot */
	{ "nowhere", "@/dd/.build-id/00/" ID_REST ".debug", ID, true },
	{ "nowhere/common", "@/dd/.dwz/common", ID, true },
	{ "../alt/common", "@/alt/common", OTHER_ID, false },
	{ "nowhere", "@/alt/common", ID, false },
};

static void test_supplementary_files(void **state)
{
	const struct module_opts opts = { .nr_threads = 1 };
	struct binary *binary;
	struct finder finder;
	char path[4096];
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(alts); i++) {
		const struct made_elf elf = { .has_dwarf = true,
					      .altlink = alts[i].link,
					      .alt_id = ID };
		const struct made_elf alt = { .has_dwarf = true,
					      .build_id = alts[i].id };

		write_elf(expand(alts[i].place, path), &alt);
		write_elf(expand("@/x/prog", path), &elf);
		start(&finder, "@", NULL, NULL, "@/dd");
		assert_int_equal(finder_open(&finder, path, &binary, NULL),
				 PPROF_OK);
		assert_int_equal(finder_load(&finder, binary, &opts, NULL),
				 PPROF_OK);
		if (!binary->note[0] != alts[i].is_found)
			fail_msg("row %zu: %s", i, binary->note);
		finder_fini(&finder);
		remove_below("/x");
		remove_below("/dd");
		remove_below("/alt");
	}
}

static void test_names(void **state)
{
	const char *base;

	(void)state;
	assert_int_equal(path_base("/a/b", false, &base), 1);
	assert_string_equal(base, "b");
	assert_int_equal(path_base("b", false, &base), 1);
	assert_int_equal(path_base("/a/", false, &base), 0);
	assert_int_equal(path_base("/a/b (deleted)", true, &base), 1);
	assert_int_equal(path_base("/a (deleted)/b", true, &base), 1);
	assert_int_equal(path_undeleted_len(" (deleted)"), 10);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_finder.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	remove_below("");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_searches),
		cmocka_unit_test(test_search_ends_when_taken),
		cmocka_unit_test(test_fifo_is_never_opened),
		cmocka_unit_test(test_debug_files),
		cmocka_unit_test(test_supplementary_files),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
