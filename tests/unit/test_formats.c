/* SPDX-License-Identifier: Apache-2.0
 *
 * From one format to another and back: nothing is lost where nothing may
 * be, and what the others keep is the same.
 */
#include <config.h>

#include "reader_rows.h"

/* Profiles with all that a format may lose. */
static const struct reader_row inputs[] = {
	{ "folded", TEXT("main;run;leaf 3\nmain;run 4\n"), ROW_SNIFF, 0, "" },
	{ "raw with maps", TEXT("0x1010 0x2020\n5 0x1010\n--- maps\n"
	  "1000-3000 r-xp 00000010 08:01 7 /srv/app\n"), ROW_SNIFF, 0, "" },
	{ "addresses of files", TEXT("/a+0x1010 /b+0x1010\n/b+0x1010\n"),
	  ROW_SNIFF, 0, "" },
	{ "labels and inlined calls", TEXT("x profile: total 2\n"
	  "2 @ 0x1010\n# labels: {\"a\":\"b\"}\n#\t0x100f\tf+0x1\t/a.c:3\n"
	  "#\t0x100f\tg+0x1\t/a.c:5\n"), ROW_SNIFF, 0, "" },
	{ "heap", TEXT("heap profile: 3: 96 [5: 160] @ heapprofile\n"
	  "1: 32 [2: 64] @ 0x1010 0x2020\n2: 64 [3: 96] @ 0x2020\n"
	  "MAPPED_LIBRARIES:\n1000-3000 r-xp 0 08:01 7 /srv/app\n"),
	  ROW_SNIFF, 0, "" },
	{ "contention", TEXT("--- mutex:\ncycles/second=1000000000\n"
	  "7 2 @ 0x1010 0x2020\n"), ROW_SNIFF, 0, "" },
	{ "no sample", TEXT("--- threadz 1 ---\n"), ROW_SNIFF, 0, "" },
};

/* The profile as `writer` has it, in a sink. */
static struct pprof_sink *write_as(const struct pprof_profile *profile,
				   const char *writer)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_sink *sink = NULL;
	struct pprof_error err;

	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_profile_write(profile, writer, &opts, sink,
					     &err), PPROF_OK);
	assert_int_equal(pprof_sink_commit(sink, &err), PPROF_OK);
	return sink;
}

static struct pprof_profile *read_input(const struct reader_row *row)
{
	struct pprof_profile *profile = NULL;
	struct reader_notes notes;
	struct pprof_error err;

	assert_int_equal(read_row(NULL, row, row->nr, &notes, &profile, &err),
			 PPROF_OK);
	return profile;
}

/* Through `writer` and back. */
static struct pprof_profile *pass_through(const struct pprof_profile *profile,
					  const char *writer)
{
	struct reader_row row = { .flags = ROW_SNIFF };
	struct pprof_sink *sink = write_as(profile, writer);
	struct pprof_profile *back;

	row.text = pprof_sink_memory(sink, &row.nr);
	back = read_input(&row);
	pprof_sink_close(sink);
	return back;
}

static void assert_same_as(const struct pprof_profile *a,
			   const struct pprof_profile *b, const char *writer)
{
	struct pprof_sink *sink_a = write_as(a, writer);
	struct pprof_sink *sink_b = write_as(b, writer);
	const void *data_a, *data_b;
	size_t nr_a, nr_b;

	data_a = pprof_sink_memory(sink_a, &nr_a);
	data_b = pprof_sink_memory(sink_b, &nr_b);
	assert_int_equal(nr_a, nr_b);
	assert_memory_equal(data_a, data_b, nr_a);
	pprof_sink_close(sink_a);
	pprof_sink_close(sink_b);
}

/* pprof, CBOR and PEM hold everything. */
static void test_lossless(void **state)
{
	static const char *const writers[] = { "pprof", "cbor", "pem" };
	struct pprof_profile *profile, *back;
	size_t i, k;

	(void)state;
	for (i = 0; i < NR_OF(inputs); i++) {
		profile = read_input(&inputs[i]);
		for (k = 0; k < NR_OF(writers); k++) {
			print_message("# %s by %s\n", inputs[i].name,
				      writers[k]);
			back = pass_through(profile, writers[k]);
			assert_same_as(profile, back, "pprof");
			pprof_profile_free(back);
		}
		pprof_profile_free(profile);
	}
}

/* jeprof's form keeps stacks, names, values and addresses. */
static void test_jeprof(void **state)
{
	struct pprof_profile *profile, *back;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(inputs); i++) {
		print_message("# %s by jeprof\n", inputs[i].name);
		profile = read_input(&inputs[i]);
		back = pass_through(profile, "jeprof");
		assert_int_equal(pprof_profile_nr_samples(back),
				 pprof_profile_nr_samples(profile));
		assert_int_equal(pprof_profile_total(back, 0),
				 pprof_profile_total(profile, 0));
		pprof_profile_free(back);
		pprof_profile_free(profile);
	}
}

/* What jeprof's reader looks for, byte for byte. */
static void test_jeprof_text(void **state)
{
	static const char expected[] = "--- symbol\nbinary=\n"
		"0x100f g--f\n0x1010 g--f\n---\n"
		"--- contention:\ncycles/second = 1000000000\n"
		"sampling period = 1\n7 2 @ 0x1010\n";
	static const struct reader_row row = { "", TEXT("--- mutex:\n"
		"cycles/second=1000000000\n7 2 @ 0x1010\n"
		"#\t0x100f\tf+0x1\t/a.c:3\n#\t0x100f\tg+0x1\t/a.c:5\n"),
		ROW_SNIFF, 0, "" };
	struct pprof_profile *profile = read_input(&row);
	struct pprof_sink *sink = write_as(profile, "jeprof");
	const void *data;
	size_t nr;

	(void)state;
	data = pprof_sink_memory(sink, &nr);
	assert_int_equal(nr, sizeof(expected) - 1);
	assert_memory_equal(data, expected, nr);
	pprof_sink_close(sink);
	pprof_profile_free(profile);
}

/* What other programs read, byte for byte, of two small profiles. */
static const struct {
	const char *writer;
	const char *expected;
} texts[] = {
	{ "csv", "contentions (count),delay (nanoseconds),labels,stack\n"
	  "2,7,,\"a\"\"b,c;f\"\n" },
	{ "tsv", "contentions (count)\tdelay (nanoseconds)\tlabels\tstack\n"
	  "2\t7\t\ta\"b,c;f\n" },
	{ "callgrind", "# callgrind format\nversion: 1\ncreator: libpprof\n"
	  "positions: line\nevent: contentions : contentions (count)\n"
	  "event: delay : delay (nanoseconds)\nevents: contentions delay\n"
	  "summary: 2 7\n\nob=(1) ???\nfl=(1) /a.c\nfn=(1) a\"b,c\n"
	  "cob=(1)\ncfi=(1)\ncfn=(2) f\ncalls=0 0\n5 2 7\n\n"
	  "ob=(1)\nfl=(1)\nfn=(2)\n3 2 7\n" },
	{ "speedscope", "{\"$schema\":\"https://www.speedscope.app/"
	  "file-format-schema.json\",\"exporter\":\"libpprof\",\"shared\":"
	  "{\"frames\":[{\"name\":\"[no stack]\"},{\"name\":\"a\\\"b,c\","
	  "\"file\":\"/a.c\"},{\"name\":\"f\",\"file\":\"/a.c\"}]},"
	  "\"activeProfileIndex\":1,\"profiles\":[{\"type\":\"sampled\","
	  "\"name\":\"contentions\",\"unit\":\"none\",\"startValue\":0,"
	  "\"samples\":[[1,2]],\"weights\":[2],\"endValue\":2},"
	  "{\"type\":\"sampled\",\"name\":\"delay\",\"unit\":"
	  "\"nanoseconds\",\"startValue\":0,\"samples\":[[1,2]],"
	  "\"weights\":[7],\"endValue\":7}]}\n" },
	{ "json", "{\"format\":\"libpprof\",\"version\":1,\"sampleTypes\":"
	  "[{\"type\":\"contentions\",\"unit\":\"count\"},{\"type\":"
	  "\"delay\",\"unit\":\"nanoseconds\"}],\"periodType\":{\"type\":"
	  "\"contentions\",\"unit\":\"count\"},\"period\":1,"
	  "\"timeNanos\":0,\"durationNanos\":0,\"comments\":[],"
	  "\"mappings\":[],\"functions\":[\n{\"id\":1,\"name\":"
	  "\"a\\\"b,c\",\"file\":\"/a.c\"},\n{\"id\":2,\"name\":\"f\","
	  "\"file\":\"/a.c\"}],\"locations\":[\n{\"id\":1,\"address\":"
	  "\"0x100f\",\"lines\":[{\"function\":2,\"line\":3},{\"function\":"
	  "1,\"line\":5}]}],\"samples\":[\n{\"locations\":[1],\"values\":"
	  "[2,7]}]}\n" },
};

static void test_texts(void **state)
{
	static const struct reader_row row = { "", TEXT("--- mutex:\n"
		"cycles/second=1000000000\n7 2 @ 0x1010\n"
		"#\t0x100f\tf+0x1\t/a.c:3\n#\t0x100f\ta\"b,c\t/a.c:5\n"),
		ROW_SNIFF, 0, "" };
	struct pprof_profile *profile = read_input(&row);
	struct pprof_sink *sink;
	const char *data;
	size_t i, nr;
	struct buf text;

	(void)state;
	buf_init(&text, SIZE_MAX);
	for (i = 0; i < NR_OF(texts); i++) {
		print_message("# %s\n", texts[i].writer);
		sink = write_as(profile, texts[i].writer);
		data = pprof_sink_memory(sink, &nr);
		buf_reset(&text);
		buf_add(&text, data, nr);
		assert_string_equal(buf_cstr(&text), texts[i].expected);
		pprof_sink_close(sink);
	}
	buf_fini(&text);
	pprof_profile_free(profile);
}

/* Each allocation fails in its turn, for every writer. */
static void test_no_memory(void **state)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_profile *profile = read_input(&inputs[3]);
	enum pprof_status status;
	const char *name, *text;
	struct pprof_sink *sink;
	struct pprof_error err;
	bool is_binary;
	uint64_t n;
	size_t i;

	(void)state;
	for (i = 0; pprof_writer_info(i, &name, &text, &is_binary); i++) {
		print_message("# %s\n", name);
		status = PPROF_NOMEM;
		for (n = 1; n < 1000 && status; n++) {
			assert_int_equal(pprof_sink_open_memory(&sink, &err),
					 PPROF_OK);
			mem_fail_nth(n, true);
			status = pprof_profile_write(profile, name, &opts,
						     sink, &err);
			mem_fail_nth(0, false);
			if (status)
				assert_int_equal(status, PPROF_NOMEM);
			pprof_sink_close(sink);
		}
		assert_in_range(n, 3, 999);
	}
	pprof_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lossless),
		cmocka_unit_test(test_jeprof),
		cmocka_unit_test(test_jeprof_text),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
