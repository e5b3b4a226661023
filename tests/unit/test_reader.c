/* SPDX-License-Identifier: Apache-2.0
 *
 * Choosing a reader by content, the messages for what is not read, options
 * of reading, and how files are opened.
 */
#include <config.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "input/reader.h"
#include "profile/profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define BYTES(text) text, sizeof(text) - 1

/* A pprof message: one sample of value 9 at address 0x2345, no mapping. */
#define PPROF_TEXT \
	"\x0a\x04\x08\x01\x10\x02" "\x12\x06\x0a\x01\x01\x12\x01\x09" \
	"\x22\x05\x08\x01\x18\xc5\x46" "\x32\x00" "\x32\x01" "a" "\x32\x01" "b"

static const struct {
	const char *name;
	const char *head;
	size_t nr;
	const char *reader; /* NULL: none */
} heads[] = {
	{ "jemalloc", BYTES("heap_v2/524288\n  t*: 1: 2 [0: 0]\n"),
	  "jemalloc" },
	{ "gperftools heap", BYTES("heap profile: 1: 2 [3: 4] @ heap_v2/1\n"),
	  "jemalloc" },
	{ "foreign line first", BYTES("<jemalloc>: Leak 1\nheap_v2/1\n"),
	  "jemalloc" },
	{ "pprof", BYTES(PPROF_TEXT), "pprof" },
	{ "folded", BYTES("main;run 3\nmain 1\n"), "folded" },
	{ "ELF", BYTES("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0"), "elf" },
	{ "HTML", BYTES("\r\n<!DOCTYPE HTML>\n<title>502</title>"), "html" },
	{ "XML", BYTES("<?xml version=\"1.0\"?>\n<svg>"), "html" },
	{ "perf.data", BYTES("PERFILE2h\0\0\0\0\0\0\0"), "perf" },
	{ "contention", BYTES("--- contention:\ncycles/second=1\n12 3 @ 0x4\n"),
	  "contention" },
	{ "thread dump", BYTES("--- threadz 1 ---\n\n"), "threads" },
	{ "goroutines", BYTES("goroutine profile: total 7\n7 @ 0x1 0x2\n"),
	  "counts" },
	{ "symbolized", BYTES("--- symbol\nbinary=/bin/prog\n"),
	  "symbolized" },
	{ "raw addresses", BYTES("0x1000 0x2000\n0x3000\n"), "raw" },
	{ "folded addresses", BYTES("0x1000;0x2000 5\n"), "raw" },
	{ "counted stacks", BYTES("12 0x5555 0x6666\n"), "raw" },
	{ "sanitizer", BYTES("    #0 0x55d0  (/bin/prog+0x12)\n"), "raw" },
	{ "perf script", BYTES("prog 7 1.5: 1 cycles: \n\t 10 f (/bin/p)\n"),
	  "perf-script" },
	{ "raw CBOR", BYTES("\xd9\xd9\xf7\x83\x00\x69pprof-raw\x01"),
	  "cbor" },
	{ "PEM", BYTES("INFO x\n-----BEGIN HEAP-----\nAAAA\n"), "pem" },
	{ "last allocations", BYTES("{\"sample_interval\":1,"),
	  "jemalloc-json" },
	{ "allocation log", BYTES("{\"info\":{\"duration\":1,"
	  "\"lg_sample_rate\":1"), "jemalloc-json" },
	{ "CPU, 64 bits", BYTES("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"
	  "\0\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "cpu" },
	{ "CPU, 64 bits, big-endian", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3"
	  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x27\x10\0\0\0\0\0\0\0\0"), "cpu" },
	{ "CPU, 32 bits", BYTES("\0\0\0\0\3\0\0\0\0\0\0\0\x10\x27\0\0"
	  "\0\0\0\0"), "cpu" },
	{ "CPU, 32 bits, big-endian", BYTES("\0\0\0\0\0\0\0\3\0\0\0\0"
	  "\0\0\x27\x10\0\0\0\0"), "cpu" },
	{ "zeros", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NULL },
	{ "prose", BYTES("Dear reader,\nthis is no profile.\n"), NULL },
	{ "JSON", BYTES("{\"a\": 5}\n"), NULL },
	{ "noise", BYTES("\xef\xde\xcd\xbc\xab\x9a\x89\x78"), NULL },
};

/* One reader is surest, and alone so. */
static void test_sniffs(void **state)
{
	size_t i, k, nr_best;
	int score, best;
	const char *name;

	(void)state;
	for (i = 0; i < NR_OF(heads); i++) {
		print_message("# %s\n", heads[i].name);
		best = 0;
		nr_best = 0;
		name = NULL;
		for (k = 0; reader_at(k); k++) {
			score = reader_at(k)->sniff(
				(const uint8_t *)heads[i].head, heads[i].nr);
			assert_true(score >= 0);
			if (score > best) {
				best = score;
				nr_best = 0;
				name = reader_at(k)->name;
			}
			nr_best += score && score == best;
		}
		assert_int_equal(nr_best, heads[i].reader != NULL);
		if (heads[i].reader)
			assert_string_equal(name, heads[i].reader);
	}
}

/* No sniffer reads beyond the head (sanitizers watch). */
static void test_short_heads(void **state)
{
	size_t i, k, len;
	uint8_t *copy;

	(void)state;
	for (i = 0; i < NR_OF(heads); i++) {
		for (len = 0; len <= heads[i].nr; len++) {
			copy = mem_alloc(len, 1);
			assert_non_null(copy);
			memcpy(copy, heads[i].head, len);
			for (k = 0; reader_at(k); k++)
				assert_true(reader_at(k)->sniff(copy, len) >=
					    0);
			mem_free(copy);
		}
	}
}

static const struct {
	const char *name;
	const char *data;
	size_t nr;
	enum pprof_status status;
	const char *message; /* part of it */
} refusals[] = {
	{ "nothing", "", 0, PPROF_FORMAT, "is empty" },
	{ "white space", BYTES(" \n\r\n\t"), PPROF_FORMAT, "white space" },
	{ "a byte order mark alone", BYTES("\xef\xbb\xbf"), PPROF_FORMAT,
	  "is empty" },
	{ "text", BYTES("Dear reader\nhello\n"), PPROF_FORMAT,
	  "begins with \"Dear reader\": no format that is read "
	  "(jemalloc, pprof, folded, cpu, " },
	{ "bytes", BYTES("\xef\xde\xcd\n"), PPROF_FORMAT,
	  "begins with ef de cd 0a:" },
	{ "ELF", BYTES("\177ELF\2\1\1\0"), PPROF_UNSUPPORTED, "ELF" },
	{ "web page", BYTES("<html>"), PPROF_UNSUPPORTED, "web page" },
	{ "perf.data", BYTES("PERFILE2"), PPROF_UNSUPPORTED, "perf script" },
#ifdef HAVE_LIBZSTD
	{ "zstd, damaged", BYTES("\x28\xb5\x2f\xfd\4\0"), PPROF_FORMAT,
	  "zstd stream ends before" },
#else
	{ "zstd", BYTES("\x28\xb5\x2f\xfd\4\0"), PPROF_UNSUPPORTED,
	  "zstd -d" },
#endif
	{ "xz", BYTES("\xfd" "7zXZ\0\0\4"), PPROF_UNSUPPORTED, "xz -d" },
	{ "bzip2", BYTES("BZh91AY&SY"), PPROF_UNSUPPORTED, "bzip2 -d" },
	{ "zip", BYTES("PK\3\4"), PPROF_UNSUPPORTED, "unzip" },
	{ "UTF-16", BYTES("\xff\xfeh\0e\0"), PPROF_UNSUPPORTED, "iconv" },
	{ "UTF-16, big-endian", BYTES("\xfe\xff\0h"), PPROF_UNSUPPORTED,
	  "iconv" },
};

static void test_refusals(void **state)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(refusals); i++) {
		print_message("# %s\n", refusals[i].name);
		assert_int_equal(pprof_profile_read_memory(
			refusals[i].data, refusals[i].nr, "data", NULL,
			&profile, &err), refusals[i].status);
		assert_string_equal(err.source, "data");
		assert_non_null(strstr(err.message, refusals[i].message));
		assert_null(profile);
	}
}

/* The two ways to write the magic of a tar archive. */
static const struct {
	const char *name;
	char magic[9];
} tars[] = {
	{ "POSIX", "ustar\0" "00" },
	{ "GNU", "ustar  \0" },
};

static void fill_tar(char head[512], const char *magic)
{
	unsigned sum = 0;
	size_t i;

	memset(head, 0, 512);
	memcpy(head, "prof.heap", 9);
	memcpy(head + 124, "00000000017", 11);
	memset(head + 148, ' ', 8);
	memcpy(head + 257, magic, 8);
	for (i = 0; i < 512; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
}

static void test_tar(void **state)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	char tar[512];
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(tars); i++) {
		print_message("# %s\n", tars[i].name);
		fill_tar(tar, tars[i].magic);
		assert_int_equal(pprof_profile_read_memory(
			tar, sizeof(tar), "data", NULL, &profile, &err),
			PPROF_UNSUPPORTED);
		assert_non_null(strstr(err.message, "tar -xO"));
	}
}

/* A name may hold what containers start with: that alone makes none. */
static void test_magic_in_names(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	char text[600];
	size_t i;

	(void)state;
	opts.format = "folded";
	for (i = 0; i < NR_OF(tars); i++) {
		memset(text, 'g', sizeof(text));
		memcpy(text + 257, tars[i].magic, 8);
		memcpy(text + 592, ";main 3\n", 8);
		assert_int_equal(pprof_profile_read_memory(
			text, sizeof(text), "data", &opts, &profile, &err),
			PPROF_OK);
		assert_int_equal(pprof_profile_total(profile, 0), 3);
		pprof_profile_free(profile);
	}
	assert_int_equal(pprof_profile_read_memory("BZhang;1AY 3\n", 13,
						   "data", &opts, &profile,
						   &err), PPROF_OK);
	assert_int_equal(pprof_profile_total(profile, 0), 3);
	pprof_profile_free(profile);
}

static size_t nr_told;

static void count_told(void *ctx, const struct pprof_diag *diag)
{
	(void)ctx;
	(void)diag;
	nr_told++;
}

static enum pprof_status read_with(const struct pprof_read_opts *opts,
				   const char *data, size_t nr,
				   struct pprof_profile **ret,
				   struct pprof_error *err)
{
	nr_told = 0;
	*ret = NULL;
	return pprof_profile_read_memory(data, nr, "data", opts, ret, err);
}

static void test_formats(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile;
	struct pprof_error err;
	const char *name, *description;
	size_t i;

	(void)state;
	opts.format = "nosuch";
	assert_int_equal(read_with(&opts, BYTES("a 1\n"), &profile, &err),
			 PPROF_NOTFOUND);
	assert_non_null(strstr(err.message, "jemalloc, pprof, folded"));
	opts.format = "elf"; /* known, but not to be asked for */
	assert_int_equal(read_with(&opts, BYTES("a 1\n"), &profile, &err),
			 PPROF_NOTFOUND);
	opts.format = "jemalloc";
	assert_int_equal(read_with(&opts, BYTES("a 1\n"), &profile, &err),
			 PPROF_FORMAT);
	opts.format = "folded"; /* what looks like another format */
	assert_int_equal(read_with(&opts, BYTES("heap_v2/1 5\n"), &profile,
				   &err), PPROF_OK);
	assert_int_equal(pprof_profile_total(profile, 0), 5);
	pprof_profile_free(profile);
	for (i = 0; pprof_reader_info(i, &name, &description); i++) {
		assert_true(*name && *description);
		opts.format = name;
		assert_int_not_equal(read_with(&opts, BYTES("?"), &profile,
					       &err), PPROF_NOTFOUND);
	}
	assert_true(i >= 13);
}

static void test_strict(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	static const char text[] = "a;b 1\noops\nc 2\n";
	struct pprof_profile *profile;
	struct pprof_error err;

	(void)state;
	opts.diag = count_told;
	assert_int_equal(read_with(&opts, BYTES(text), &profile, &err),
			 PPROF_OK);
	assert_int_equal(nr_told, 1);
	pprof_profile_free(profile);
	opts.strict = true;
	assert_int_equal(read_with(&opts, BYTES(text), &profile, &err),
			 PPROF_FORMAT);
	assert_null(profile);
	assert_int_equal(err.unit, PPROF_UNIT_LINE);
	assert_int_equal(err.where, 2);
	assert_int_equal(read_with(&opts, BYTES("a 1\n"), &profile, &err),
			 PPROF_OK);
	pprof_profile_free(profile);
}

/* Options of callers built with an older or a newer header. */
static void test_opts_size(void **state)
{
	struct {
		struct pprof_read_opts known;
		char newer[16];
	} wide;
	struct pprof_profile *profile;
	struct pprof_error err;

	(void)state;
	memset(&wide, 0, sizeof(wide));
	wide.known.size = sizeof(wide);
	assert_int_equal(read_with(&wide.known, BYTES("a 1\n"), &profile,
				   &err), PPROF_OK);
	pprof_profile_free(profile);
	wide.newer[3] = 1;
	assert_int_equal(read_with(&wide.known, BYTES("a 1\n"), &profile,
				   &err), PPROF_USAGE);
	/* An older caller's struct ends before `strict`. */
	wide.known.size = offsetof(struct pprof_read_opts, strict);
	wide.known.strict = true;
	assert_int_equal(read_with(&wide.known, BYTES("a;b 1\nx\nc 1\n"),
				   &profile, &err), PPROF_OK);
	pprof_profile_free(profile);
}

static void test_byte_order_mark(void **state)
{
	struct pprof_profile *profile;
	struct pprof_error err;

	(void)state;
	assert_int_equal(read_with(NULL, BYTES("\xef\xbb\xbfmain;run 1\n"),
				   &profile, &err), PPROF_OK);
	assert_int_not_equal(strtab_find(&profile->strings, "main", 4),
			     STR_NONE);
	pprof_profile_free(profile);
}

/* A file of our own in a fresh folder. */
struct file {
	char dir[32];
	char path[64];
};

static void make_file(struct file *file, const char *data, size_t nr)
{
	FILE *f;

	memcpy(file->dir, BYTES("/tmp/pprof-test-XXXXXX\0"));
	assert_non_null(mkdtemp(file->dir));
	snprintf(file->path, sizeof(file->path), "%s/data", file->dir);
	f = fopen(file->path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, nr, f), nr);
	assert_int_equal(fclose(f), 0);
}

static void remove_file(const struct file *file)
{
	unlink(file->path);
	rmdir(file->dir);
}

static void test_time(void **state)
{
	static const char timed[] = PPROF_TEXT "\x48\x05";
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct timespec times[2] = { { 7, 8 }, { 7, 8 } };
	struct pprof_profile *profile;
	struct pprof_error err;
	struct file file;

	(void)state;
	make_file(&file, BYTES("a 1\n"));
	assert_int_equal(utimensat(AT_FDCWD, file.path, times, 0), 0);
	assert_int_equal(pprof_profile_read(file.path, &opts, &profile, &err),
			 PPROF_OK);
	assert_int_equal(profile->time_ns, 7000000008);
	pprof_profile_free(profile);
	opts.time_ns = 3;
	assert_int_equal(pprof_profile_read(file.path, &opts, &profile, &err),
			 PPROF_OK);
	assert_int_equal(profile->time_ns, 3);
	pprof_profile_free(profile);
	remove_file(&file);
	assert_int_equal(read_with(NULL, BYTES("a 1\n"), &profile, &err),
			 PPROF_OK);
	assert_int_equal(profile->time_ns, 0);
	pprof_profile_free(profile);
	assert_int_equal(read_with(NULL, BYTES(timed), &profile, &err),
			 PPROF_OK);
	assert_int_equal(profile->time_ns, 5);
	pprof_profile_free(profile);
}

static void test_maps(void **state)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile;
	struct pprof_error err;
	struct file file;

	(void)state;
	make_file(&file, BYTES("2000-3000 r-xp 0 fe:00 1 /bin/prog\n"));
	opts.maps_path = file.path;
	opts.diag = count_told;
	assert_int_equal(read_with(&opts, BYTES(PPROF_TEXT), &profile, &err),
			 PPROF_OK);
	assert_int_equal(profile->nr_locations, 2);
	assert_int_equal(profile->locations[1].mapping, 1);
	assert_string_equal(profile_str(profile, profile->mappings[1].file),
			    "/bin/prog");
	assert_int_equal(nr_told, 0);
	pprof_profile_free(profile);
	/* Nothing there that needs maps: that is said. */
	assert_int_equal(read_with(&opts, BYTES("a 1\n"), &profile, &err),
			 PPROF_OK);
	assert_int_equal(nr_told, 1);
	pprof_profile_free(profile);
	remove_file(&file);
	assert_int_equal(read_with(&opts, BYTES(PPROF_TEXT), &profile, &err),
			 PPROF_IO);
	assert_string_equal(err.source, file.path);
}

static void test_paths(void **state)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	struct file file;

	(void)state;
	make_file(&file, "", 0);
	assert_int_equal(pprof_profile_read(file.path, NULL, &profile, &err),
			 PPROF_FORMAT);
	assert_int_equal(pprof_profile_read(file.dir, NULL, &profile, &err),
			 PPROF_IO);
	assert_non_null(strstr(err.message, "is a directory"));
	remove_file(&file);
	assert_int_equal(pprof_profile_read(file.path, NULL, &profile, &err),
			 PPROF_IO);
	assert_string_equal(err.source, file.path);
	assert_null(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sniffs),
		cmocka_unit_test(test_short_heads),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_tar),
		cmocka_unit_test(test_magic_in_names),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_opts_size),
		cmocka_unit_test(test_byte_order_mark),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
