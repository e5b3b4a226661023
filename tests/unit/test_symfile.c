/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbol files answer as the binary that they were made from, byte for byte
 * the same file comes out of every making, and damaged ones are refused.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/sink.h"
#include "symbolize/symfile.h"

#include "elf_maker.h"

#define ID "00112233445566778899aabbccddeeff00112233"

static char root[64];
static char elf_path[128], sym_path[256];

static const struct made_elf plain_elf = {
	.segments = { { 0, 0, 0x1000, 0x1000, 0x1000, PF_R },
		      { 0x2000, 0x1000, 0x4000, 0x4000, 0x1000,
			PF_R | PF_X } },
	.build_id = ID,
	.symbols = { { "one", 0x2000, 0x800 }, { "two", 0x2800, 0x700 },
		     { "_ZN3foo3barINS_1AEEEvT_", 0x3000, 0x100 },
		     { "main", 0x4000, 0x1000 } }
};

/* Everything about one answer as text. */
static enum pprof_status note_answer(void *ctx,
				     const struct pprof_resolved *resolved,
				     struct pprof_error *err)
{
	return pprof_resolved_write(resolved, true, ctx, err);
}

/* The answers of a file to addresses from `first`, every `step` bytes. */
static struct pprof_sink *answers_of(const char *path, uint64_t first,
				     uint64_t step, size_t nr,
				     enum pprof_names names, bool no_inlines)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	struct pprof_symbolizer *symbolizer;
	uint64_t *addresses = mem_alloc(nr, sizeof(*addresses));
	struct pprof_sink *sink;
	size_t i;

	opts.names = names;
	opts.no_inlines = no_inlines;
	opts.nr_threads = 1;
	assert_non_null(addresses);
	for (i = 0; i < nr; i++)
		addresses[i] = first + i * step;
	assert_int_equal(pprof_symbolizer_new(&opts, &symbolizer, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_symbolizer_resolve(symbolizer, path, addresses,
						  nr, note_answer, sink,
						  NULL), PPROF_OK);
	pprof_symbolizer_free(symbolizer);
	mem_free(addresses);
	return sink;
}

static void assert_same(const struct pprof_sink *a, const struct pprof_sink *b)
{
	size_t nr_a, nr_b;
	const void *x = pprof_sink_memory(a, &nr_a);
	const void *y = pprof_sink_memory(b, &nr_b);

	assert_int_equal(nr_a, nr_b);
	assert_memory_equal(x, y, nr_a);
}

/* Make the symbol file of `path` at `to`, and check its name. */
static void make(const char *path, const char *to, const char *name)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	struct pprof_symbols *symbols;
	struct pprof_sink *sink;

	opts.nr_threads = 1;
	assert_int_equal(pprof_symbols_make(path, &opts, &symbols, NULL),
			 PPROF_OK);
	if (name)
		assert_string_equal(pprof_symbols_name(symbols), name);
	assert_int_equal(pprof_sink_open(to, &sink, NULL), PPROF_OK);
	assert_int_equal(pprof_symbols_write(symbols, sink, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, NULL), PPROF_OK);
	pprof_sink_close(sink);
	pprof_symbols_free(symbols);
}

static const struct {
	const char *name;
	enum pprof_names names;
	bool no_inlines;
} forms[] = {
	{ "full", PPROF_NAMES_FULL, false },
	{ "short", PPROF_NAMES_SHORT, false },
	{ "mangled", PPROF_NAMES_MANGLED, false },
	{ "outermost", PPROF_NAMES_FULL, true },
};

static void compare_all(const char *binary, const char *symbols,
			uint64_t first, uint64_t step, size_t nr)
{
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct pprof_sink *a, *b;

		print_message("%s\n", forms[i].name);
		a = answers_of(binary, first, step, nr, forms[i].names,
			       forms[i].no_inlines);
		b = answers_of(symbols, first, step, nr, forms[i].names,
			       forms[i].no_inlines);
		assert_same(a, b);
		pprof_sink_close(a);
		pprof_sink_close(b);
	}
}

static void test_every_address(void **state)
{
	(void)state;
	compare_all(elf_path, sym_path, 0, 1, 0x7000);
}

/* This program: inlined calls, files and lines as the compiler left them. */
static void test_real_program(void **state)
{
	struct elf_file *file;
	const struct elf_segment *segments;
	uint64_t code = 0, size = 0;
	char path[128];
	size_t nr, i;

	(void)state;
	assert_int_equal(elf_file_open("/proc/self/exe", &file, NULL),
			 PPROF_OK);
	segments = elf_file_segments(file, &nr);
	for (i = 0; i < nr; i++) {
		if (segments[i].flags & PF_X) {
			code = segments[i].vaddr;
			size = segments[i].memsz;
		}
	}
	elf_file_close(file);
	assert_true(size > 0);
	snprintf(path, sizeof(path), "%s/self.sym", root);
	make("/proc/self/exe", path, NULL);
	compare_all("/proc/self/exe", path, code - 8, 7, size / 7 + 8);
}

static char *read_file(const char *path, size_t *ret_nr)
{
	char *data = mem_alloc(1, 1 << 20);
	FILE *file = fopen(path, "rb");

	assert_non_null(data);
	assert_non_null(file);
	*ret_nr = fread(data, 1, 1 << 20, file);
	fclose(file);
	return data;
}

static void test_same_bytes(void **state)
{
	char path[128], *a, *b;
	size_t nr_a, nr_b;

	(void)state;
	snprintf(path, sizeof(path), "%s/again.sym", root);
	make(elf_path, path, ID ".sym");
	a = read_file(sym_path, &nr_a);
	b = read_file(path, &nr_b);
	assert_int_equal(nr_a, nr_b);
	assert_memory_equal(a, b, nr_a);
	mem_free(a);
	mem_free(b);
}

/* Ask a file for some addresses; what it says does not matter. */
static enum pprof_status try_file(const char *path)
{
	uint64_t vaddrs[] = { 0, 0x2000, 0x27ff, 0x2800, 0x3000, 0x4fff,
			      UINT64_MAX };
	const struct module_opts opts = { .nr_threads = 1 };
	struct symfile *symfile = NULL;
	struct answers answers;
	enum pprof_status status;

	status = symfile_open(path, &symfile, NULL);
	if (status || !symfile)
		return status ? status : PPROF_NOTFOUND;
	status = symfile_resolve(symfile, path, vaddrs, 7, &opts, &answers,
				 NULL);
	if (!status)
		answers_fini(&answers);
	/* What lies behind the checksum has to hold as well. */
	symfile->is_checked = true;
	if (!symfile_resolve(symfile, path, vaddrs, 7, &opts, &answers, NULL))
		answers_fini(&answers);
	symfile_close(symfile);
	return status;
}

static void test_cut(void **state)
{
	char path[128], *data;
	size_t nr, len;

	(void)state;
	snprintf(path, sizeof(path), "%s/cut.sym", root);
	data = read_file(sym_path, &nr);
	for (len = 0; len < nr; len++) {
		write_file(path, data, len);
		assert_int_not_equal(try_file(path), PPROF_OK);
	}
	write_file(path, data, nr);
	assert_int_equal(try_file(path), PPROF_OK);
	mem_free(data);
}

/* Where the tables begin: what stands before is not under the checksum. */
static size_t find_tables(const char *data, size_t nr)
{
	const char *found = memmem(data, nr, "strings", 7);

	assert_non_null(found);
	return (size_t)(found - data);
}

static void test_flipped(void **state)
{
	static const char masks[] = { 1, 0x40, (char)0x80, (char)0xff };
	char path[128], *data;
	size_t nr, at, tables, i;

	(void)state;
	snprintf(path, sizeof(path), "%s/flipped.sym", root);
	data = read_file(sym_path, &nr);
	tables = find_tables(data, nr);
	for (at = 0; at < nr; at++) {
		for (i = 0; i < sizeof(masks); i++) {
			enum pprof_status status;

			data[at] = (char)(data[at] ^ masks[i]);
			write_file(path, data, nr);
			status = try_file(path);
			if (at >= tables)
				assert_int_not_equal(status, PPROF_OK);
			data[at] = (char)(data[at] ^ masks[i]);
		}
	}
	mem_free(data);
}

static void test_other_version(void **state)
{
	char path[128], *data, *version;
	struct symfile *symfile = NULL;
	struct pprof_error err;
	size_t nr;

	(void)state;
	snprintf(path, sizeof(path), "%s/version.sym", root);
	data = read_file(sym_path, &nr);
	version = memmem(data, nr, "pprof-symbols", 13);
	assert_non_null(version);
	assert_int_equal(version[13], SYMFILE_VERSION);
	version[13]++;
	write_file(path, data, nr);
	assert_int_equal(symfile_open(path, &symfile, &err),
			 PPROF_UNSUPPORTED);
	assert_non_null(strstr(err.message, "version 2"));
	assert_null(symfile);
	mem_free(data);
}

static void test_other_files(void **state)
{
	struct symfile *symfile = (void *)root;
	struct pprof_symbols *symbols;

	(void)state;
	assert_int_equal(symfile_open(elf_path, &symfile, NULL), PPROF_OK);
	assert_null(symfile);
	assert_int_equal(pprof_symbols_make("/nonexistent/file", NULL,
					    &symbols, NULL), PPROF_IO);
	assert_int_equal(pprof_symbols_make(sym_path, NULL, &symbols, NULL),
			 PPROF_FORMAT);
}

static void test_out_of_memory(void **state)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	enum pprof_status status = PPROF_NOMEM;
	struct pprof_symbols *symbols;
	uint64_t nth;

	(void)state;
	opts.nr_threads = 1;
	for (nth = 1; status == PPROF_NOMEM; nth++) {
		mem_fail_nth(nth, false);
		status = pprof_symbols_make(elf_path, &opts, &symbols, NULL);
		mem_fail_nth(0, false);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(nth > 10);
	pprof_symbols_free(symbols);
	status = PPROF_NOMEM;
	for (nth = 1; status == PPROF_NOMEM; nth++) {
		mem_fail_nth(nth, false);
		status = try_file(sym_path);
		mem_fail_nth(0, false);
	}
	assert_int_equal(status, PPROF_OK);
	assert_true(nth > 5);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_symfile.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(elf_path, sizeof(elf_path), "%s/prog", root);
	snprintf(sym_path, sizeof(sym_path), "%s/%s.sym", root, ID);
	write_elf(elf_path, &plain_elf);
	make(elf_path, sym_path, ID ".sym");
	return 0;
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
		cmocka_unit_test(test_every_address),
		cmocka_unit_test(test_real_program),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
