/* SPDX-License-Identifier: Apache-2.0
 *
 * Output: a file appears whole or not at all, keeps its mode and its link,
 * and a failed write is told and stays told.
 */
#include <config.h>

#include <dirent.h>
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
#include "base/sink.h"

static char dir[64];
static char path[128];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_sink.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/out", dir);
	return 0;
}

static int tear_down(void **state)
{
	char name[400];
	struct dirent *entry;
	DIR *open = opendir(dir);

	(void)state;
	if (!open)
		return -1;
	while ((entry = readdir(open))) {
		snprintf(name, sizeof(name), "%s/%s", dir, entry->d_name);
		if (unlink(name))
			rmdir(name);
	}
	closedir(open);
	return rmdir(dir);
}

static size_t nr_files(void)
{
	DIR *open = opendir(dir);
	size_t nr = 0;

	assert_non_null(open);
	while (readdir(open))
		nr++;
	closedir(open);
	return nr - 2; /* . and .. */
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect_content(const char *name, const char *text)
{
	char got[256];
	FILE *file = fopen(name, "r");
	size_t nr;

	assert_non_null(file);
	nr = fread(got, 1, sizeof(got), file);
	fclose(file);
	assert_int_equal(nr, strlen(text));
	assert_memory_equal(got, text, nr);
}

static struct pprof_sink *open_sink(const char *name)
{
	struct pprof_sink *sink = NULL;
	struct pprof_error err;

	if (pprof_sink_open(name, &sink, &err))
		fail_msg("%s: %s", err.source, err.message);
	return sink;
}

static void test_memory(void **state)
{
	struct pprof_sink *sink = NULL;
	const char *bytes;
	size_t nr, i;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	pprof_sink_memory(sink, &nr);
	assert_int_equal(nr, 0);
	for (i = 0; i < 100000; i++)
		assert_int_equal(pprof_sink_write(sink, "0123456789", 10,
						  NULL), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, NULL), PPROF_OK);
	bytes = pprof_sink_memory(sink, &nr);
	assert_int_equal(nr, 1000000);
	assert_memory_equal(bytes + 999990, "0123456789", 10);
	pprof_sink_close(sink);
	pprof_sink_close(NULL);
}

static void test_commit(void **state)
{
	struct pprof_sink *sink = open_sink(path);

	(void)state;
	assert_int_equal(pprof_sink_write(sink, "hello", 5, NULL), PPROF_OK);
	assert_int_not_equal(access(path, F_OK), 0); /* not before */
	assert_int_equal(pprof_sink_commit(sink, NULL), PPROF_OK);
	pprof_sink_close(sink);
	expect_content(path, "hello");
	assert_int_equal(nr_files(), 1);
}

static void test_no_commit(void **state)
{
	char block[1000];
	struct pprof_sink *sink;
	size_t i;

	(void)state;
	put(path, "old");
	memset(block, 'x', sizeof(block));
	sink = open_sink(path);
	for (i = 0; i < 1000; i++) /* more than is buffered */
		assert_int_equal(pprof_sink_write(sink, block, sizeof(block),
						  NULL), PPROF_OK);
	assert_int_equal(nr_files(), 2);
	pprof_sink_close(sink);
	expect_content(path, "old");
	assert_int_equal(nr_files(), 1);
}

static void test_keeps_mode_and_link(void **state)
{
	char link_path[128];
	struct pprof_sink *sink;
	struct stat st;

	(void)state;
	put(path, "old");
	assert_int_equal(chmod(path, 0604), 0);
	snprintf(link_path, sizeof(link_path), "%s/link", dir);
	assert_int_equal(symlink("out", link_path), 0);
	sink = open_sink(link_path);
	assert_int_equal(pprof_sink_write(sink, "new", 3, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, NULL), PPROF_OK);
	pprof_sink_close(sink);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	expect_content(path, "new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	assert_int_equal(nr_files(), 2);
}

static void test_large_writes(void **state)
{
	const size_t nr = (size_t)3 << 20;
	char *block = mem_alloc(nr, 1);
	struct pprof_sink *sink = open_sink(path);
	struct stat st;

	(void)state;
	assert_non_null(block);
	memset(block, 'x', nr);
	assert_int_equal(pprof_sink_write(sink, "head", 4, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_write(sink, block, nr, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_write(sink, "tail", 4, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, NULL), PPROF_OK);
	pprof_sink_close(sink);
	mem_free(block);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, nr + 8);
}

static void test_cannot_open(void **state)
{
	static const char *const names[] = { "no/such/dir/out", "." };
	struct pprof_sink *sink = NULL;
	struct pprof_error err;
	char name[160];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		assert_int_equal(pprof_sink_open(name, &sink, &err),
				 PPROF_IO);
		assert_null(sink);
		assert_non_null(strstr(err.source, names[i]));
		assert_true(strlen(err.message) > 5);
	}
	assert_int_equal(nr_files(), 0);
}

/* The full device gives an error at the latest at the commit, and after. */
static void test_full(void **state)
{
	struct pprof_sink *sink = open_sink("/dev/full");
	struct pprof_error err = { .status = PPROF_OK };
	char block[4096];
	size_t i;
	int bad = 0;

	(void)state;
	memset(block, 'x', sizeof(block));
	assert_int_equal(pprof_sink_write(sink, "x", 1, NULL), PPROF_OK);
	for (i = 0; i < 200; i++)
		bad += pprof_sink_write(sink, block, sizeof(block), NULL) ==
		       PPROF_IO;
	assert_true(bad > 0);
	assert_int_equal(pprof_sink_commit(sink, &err), PPROF_IO);
	assert_string_equal(err.source, "/dev/full");
	assert_non_null(strstr(err.message, "No space left"));
	pprof_sink_close(sink);

	sink = open_sink("/dev/full");
	assert_int_equal(pprof_sink_write(sink, "x", 1, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, &err), PPROF_IO);
	pprof_sink_close(sink);

	sink = open_sink("/dev/null");
	assert_int_equal(pprof_sink_write(sink, "x", 1, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, &err), PPROF_OK);
	pprof_sink_close(sink);
}

/* A buf goes over whole; a failed one is told as out of memory. */
static void test_take_buf(void **state)
{
	struct pprof_sink *sink = NULL;
	struct buf buf;
	size_t nr;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	buf_init(&buf, 5);
	buf_str(&buf, "abc");
	assert_int_equal(sink_take_buf(sink, &buf, NULL), PPROF_OK);
	assert_int_equal(buf.len, 0);
	buf_str(&buf, "toolong");
	assert_int_equal(sink_take_buf(sink, &buf, NULL), PPROF_NOMEM);
	assert_int_equal(pprof_sink_write(sink, "x", 1, NULL), PPROF_NOMEM);
	assert_int_equal(pprof_sink_commit(sink, NULL), PPROF_NOMEM);
	pprof_sink_memory(sink, &nr);
	assert_int_equal(nr, 3);
	buf_fini(&buf);
	pprof_sink_close(sink);
}

static void test_no_memory(void **state)
{
	struct pprof_sink *sink = NULL;
	uint64_t n;

	(void)state;
	for (n = 1; n < 10; n++) {
		enum pprof_status status;

		mem_fail_nth(n, true);
		status = pprof_sink_open(path, &sink, NULL);
		mem_fail_nth(0, false);
		if (!status)
			break;
		assert_int_equal(status, PPROF_NOMEM);
		assert_int_equal(nr_files(), 0);
	}
	assert_in_range(n, 3, 9);
	pprof_sink_close(sink);
	assert_int_equal(nr_files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test_setup_teardown(test_commit, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_no_commit, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeps_mode_and_link,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_large_writes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_cannot_open, set_up,
						tear_down),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_take_buf),
		cmocka_unit_test_setup_teardown(test_no_memory, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
