/* SPDX-License-Identifier: Apache-2.0
 *
 * Out of memory at every place: whole jobs are run with the first allocation
 * failing, then the second, and so on until nothing fails any more. Each run
 * must end in PPROF_NOMEM or in success, and leave nothing behind (that the
 * address sanitizer sees).
 */
#include <config.h>

#include <execinfo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pprof.h"

/* More places than any job here has. */
#define MANY 200000

static const char threaded[] =
	"heap_v2/4096\n"
	"  t*: 3: 96 [4: 128]\n"
	"  t0: 3: 96 [4: 128] main\n"
	"@ 0x401000 0x402000 0x403000\n"
	"  t*: 1: 32 [2: 64]\n"
	"  t0: 1: 32 [2: 64]\n"
	"@ 0x401100 0x402000 0x403000\n"
	"  t*: 2: 64 [2: 64]\n"
	"  t0: 2: 64 [2: 64]\n"
	"\nMAPPED_LIBRARIES:\n"
	"00400000-00408000 r-xp 00000000 08:01 7 /bin/prog\n"
	"00608000-00609000 rw-p 00008000 08:01 7 /bin/prog\n";

static const char one_line[] =
	"heap profile: 2: 64 [3: 96] @ heapprofile\n"
	"2: 64 [3: 96] @ 0x401000 0x402000\n"
	"\nMAPPED_LIBRARIES:\n"
	"00400000-00408000 r-xp 00000000 08:01 7 /bin/prog\n";

static const char folded[] =
	"main;read;grow 1024\n"
	"main;read 16\n"
	"main;write_[i];libc.so`malloc 3\n";

/* Made of `threaded`: with rows of every kind, plain and compressed. */
static struct buf message, gzipped;

struct job {
	const char *name;
	/* One whole run; frees what it made. */
	enum pprof_status (*run)(const struct job *job);
	const void *data;
	size_t nr;
	const char *writer;
};

static enum pprof_status read_it(const struct job *job,
				 struct pprof_profile **ret_profile)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.threads = true;
	return pprof_profile_read_memory(job->data, job->nr, job->name, &opts,
					 ret_profile, NULL);
}

static enum pprof_status run_read(const struct job *job)
{
	struct pprof_profile *profile = NULL;
	enum pprof_status status = read_it(job, &profile);

	if (status)
		assert_null(profile);
	else
		assert_true(pprof_profile_nr_samples(profile) >= 1);
	pprof_profile_free(profile);
	return status;
}

/* A report of a profile and itself, packed. */
static enum pprof_status write_page(const struct pprof_profile *profile,
				    struct pprof_sink *sink)
{
	struct pprof_page_input inputs[2] = { { profile, "a" },
					      { profile, "b" } };
	struct pprof_page_opts opts = PPROF_PAGE_OPTS_INIT;

	opts.compress = true;
	return pprof_page_write(inputs, 2, &opts, sink, NULL);
}

/* Read with memory to spare; `job->writer` alone runs short. */
static enum pprof_status run_write(const struct job *job)
{
	static struct pprof_profile *profile;
	struct pprof_sink *sink = NULL;
	enum pprof_status status;

	status = pprof_sink_open_memory(&sink, NULL);
	if (!status)
		status = read_it(job, &profile);
	if (!status && !strcmp(job->writer, "top"))
		status = pprof_report_top(profile, NULL, sink, NULL);
	else if (!status && !strcmp(job->writer, "top-json"))
		status = pprof_report_top_json(profile, NULL, sink, NULL);
	else if (!status && !strcmp(job->writer, "flame"))
		status = pprof_flame_write(profile, NULL, sink, NULL);
	else if (!status && !strcmp(job->writer, "page"))
		status = write_page(profile, sink);
	else if (!status)
		status = pprof_profile_write(profile, job->writer, NULL, sink,
					     NULL);
	if (!status)
		status = pprof_sink_commit(sink, NULL);
	pprof_sink_close(sink);
	pprof_profile_free(profile);
	profile = NULL;
	return status;
}

/*
 * Run until nothing fails. Small n one by one; the places further on in
 * growing steps when a job has very many. Returns how many places there were.
 */
static uint64_t walk(const struct job *job, uint64_t dense)
{
	enum pprof_status status;
	uint64_t n, step = 1, met = 0;
	int sticky;

	for (n = 1; n < MANY; n += step) {
		for (sticky = 0; sticky < 2; sticky++) {
			mem_fail_nth(n, sticky);
			status = job->run(job);
			mem_fail_nth(0, false);
			if (status && status != PPROF_NOMEM)
				fail_msg("%s, allocation %llu: %s", job->name,
					 (unsigned long long)n,
					 pprof_status_text(status));
		}
		met += status == PPROF_NOMEM;
		/* With all later ones failing too, success is the end. */
		if (!status)
			break;
		if (n >= dense)
			step = 1 + (n - dense) / 40;
	}
	assert_true(n < MANY);
	return met;
}

static void test_read(void **state)
{
	const struct job jobs[] = {
		{ "threaded", run_read, threaded, strlen(threaded), NULL },
		{ "one line", run_read, one_line, strlen(one_line), NULL },
		{ "folded", run_read, folded, strlen(folded), NULL },
		{ "message", run_read, message.data, message.len, NULL },
		{ "gzipped", run_read, gzipped.data, gzipped.len, NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		assert_true(walk(&jobs[i], MANY) > 20);
}

static void test_write(void **state)
{
	static const char *const writers[] = { "pprof", "folded", "top",
					       "top-json",
					       "flame", "page" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		const struct job jobs[] = {
			{ "threaded", run_write, threaded, strlen(threaded),
			  writers[i] },
			{ "message", run_write, message.data, message.len,
			  writers[i] },
		};

		assert_true(walk(&jobs[0], MANY) > 40);
		assert_true(walk(&jobs[1], MANY) > 40);
	}
}

/* A dump of this very program, where it stands: its own calls and libc's. */
static struct buf self_dump;

static int make_self_dump(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	void *pcs[32];
	char line[4096];
	int nr = backtrace(pcs, 32), i;

	if (!maps || nr < 2)
		return -1;
	buf_init(&self_dump, 1 << 20);
	buf_str(&self_dump, "heap_v2/1\n@");
	for (i = 0; i < nr; i++)
		buf_printf(&self_dump, " %p", pcs[i]);
	buf_printf(&self_dump, "\n  t*: 1: 32 [0: 0]\n@ %p\n  t*: 2: 64 "
		   "[0: 0]\n\nMAPPED_LIBRARIES:\n", pcs[0]);
	while (fgets(line, sizeof(line), maps))
		buf_str(&self_dump, line);
	fclose(maps);
	return buf_ok(&self_dump) ? 0 : -1;
}

static enum pprof_status run_symbolize(const struct job *job)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	static const char *const binaries[] = { "/proc/self/exe" };
	struct pprof_symbolizer *symbolizer = NULL;
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	enum pprof_status status;

	opts.binaries = binaries;
	opts.nr_binaries = 1;
	opts.nr_threads = 1; /* the counter of failures knows no threads */
	status = pprof_symbolizer_new(&opts, &symbolizer, NULL);
	if (!status)
		status = read_it(job, &profile);
	if (!status)
		status = pprof_symbolizer_run(symbolizer, profile, &err);
	if (status && status != PPROF_NOMEM)
		fail_msg("%s", err.message);
	/* Whatever happened, the profile is whole. */
	if (profile)
		assert_int_equal(pprof_profile_total(profile, 1), 96);
	pprof_profile_free(profile);
	pprof_symbolizer_free(symbolizer);
	return status;
}

static void test_symbolize(void **state)
{
	const struct job job = { "symbolize", run_symbolize, self_dump.data,
				 self_dump.len, NULL };

	(void)state;
	assert_int_equal(run_symbolize(&job), PPROF_OK);
	assert_true(walk(&job, 150) > 50);
}

static void keep(const struct pprof_profile *profile, int level,
		 struct buf *out)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_sink *sink = NULL;
	const void *bytes;
	size_t nr;

	opts.level = level;
	buf_init(out, 1 << 20);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_profile_write(profile, "pprof", &opts, sink,
					     NULL), PPROF_OK);
	bytes = pprof_sink_memory(sink, &nr);
	buf_add(out, bytes, nr);
	pprof_sink_close(sink);
}

static int set_up(void **state)
{
	const struct job job = { "threaded", NULL, threaded,
				 strlen(threaded), NULL };
	struct pprof_profile *profile = NULL;

	(void)state;
	if (make_self_dump() || read_it(&job, &profile))
		return -1;
	keep(profile, 0, &message);
	keep(profile, -1, &gzipped);
	pprof_profile_free(profile);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	buf_fini(&message);
	buf_fini(&gzipped);
	buf_fini(&self_dump);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_symbolize),
	};

	return cmocka_run_group_tests_name("oom", tests, set_up, tear_down);
}
