/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing profile.proto: what comes out is decoded with the generated code
 * and compared member by member; compression, members, failing sinks.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/gzip.h"
#include "profile/builder.h"
#include "profile/profile.pb-c.h"

static struct pprof_limits limits;
static struct diags diags;

static void start(struct builder *b)
{
	pprof_limits_init(&limits);
	diags_init(&diags, "test");
	assert_true(builder_init(b, &limits, &diags));
}

static struct pprof_profile *finish(struct builder *b)
{
	struct pprof_profile *profile = NULL;

	assert_int_equal(builder_finish(b, "test", &profile, NULL), PPROF_OK);
	builder_fini(b);
	return profile;
}

/* One of everything; the main binary is the second mapping. */
static struct pprof_profile *make_full(void)
{
	static const int64_t values[] = { INT64_MIN, 300 };
	struct function f = { .start_line = -1 };
	struct mapping map = { .start = 0x1000, .limit = 0x2000,
			       .offset = 0x300 };
	struct label labels[2];
	struct line lines[2];
	struct builder b;
	map_id lib;
	loc_id locs[2];

	start(&b);
	memset(labels, 0, sizeof(labels));
	memset(lines, 0, sizeof(lines));
	builder_type(&b, builder_cstr(&b, "objects"),
		     builder_cstr(&b, "count"));
	builder_type(&b, builder_cstr(&b, "space"), builder_cstr(&b, "bytes"));
	builder_cstr(&b, "a string that nothing uses");
	map.file = builder_cstr(&b, "/lib/a.so");
	lib = builder_mapping(&b, &map);
	map.file = builder_cstr(&b, "/bin/prog");
	map.build_id = builder_cstr(&b, "abcdef");
	map.flags = MAP_MAIN | MAP_HAS_FUNCTIONS | MAP_HAS_INLINE_FRAMES;
	builder_mapping(&b, &map);
	f.name = builder_cstr(&b, "inner");
	lines[0].func = builder_function(&b, &f);
	lines[0].line = 7;
	lines[0].column = 3;
	f.name = builder_cstr(&b, "outer");
	f.system_name = builder_cstr(&b, "_Z5outer");
	f.file = builder_cstr(&b, "o.c");
	lines[1].func = builder_function(&b, &f);
	lines[1].line = 9;
	locs[0] = builder_location(&b, 0x1010, lib, true, lines, 2);
	locs[1] = builder_location(&b, UINT64_MAX, 0, false, NULL, 0);
	labels[0].key = builder_cstr(&b, "k");
	labels[0].str = builder_cstr(&b, "v");
	labels[1].key = labels[0].key;
	labels[1].num = -5;
	labels[1].unit = builder_cstr(&b, "bytes");
	labels[1].is_num = 1;
	builder_sample(&b, builder_stack(&b, locs, 2),
		       builder_lset(&b, labels, 2), values, PPROF_UNIT_NONE,
		       0);
	builder_sample(&b, 0, 0, values, PPROF_UNIT_NONE, 0);
	b.profile->period_type.type = builder_cstr(&b, "space");
	b.profile->period_type.unit = builder_cstr(&b, "bytes");
	b.profile->period = 524288;
	b.profile->time_ns = 1;
	b.profile->duration_ns = 2;
	b.profile->default_type = builder_cstr(&b, "space");
	b.profile->drop_frames = builder_cstr(&b, "drop");
	b.profile->keep_frames = builder_cstr(&b, "keep");
	b.profile->doc_url = builder_cstr(&b, "http://x");
	builder_comment(&b, builder_cstr(&b, "one"));
	builder_comment(&b, 0);
	builder_comment(&b, builder_cstr(&b, "k"));
	return finish(&b);
}

static struct pprof_sink *write_profile(const struct pprof_profile *profile,
					int level)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_sink *sink = NULL;

	opts.level = level;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_profile_write(profile, "pprof", &opts, sink,
					     NULL), PPROF_OK);
	return sink;
}

static Perftools__Profiles__Profile *decode(const struct pprof_sink *sink)
{
	Perftools__Profiles__Profile *message;
	const void *bytes;
	size_t nr;

	bytes = pprof_sink_memory(sink, &nr);
	message = perftools__profiles__profile__unpack(NULL, nr, bytes);
	assert_non_null(message);
	return message;
}

static void expect_text(const Perftools__Profiles__Profile *m, int64_t index,
			const char *text)
{
	assert_true(index >= 0 && (size_t)index < m->n_string_table);
	assert_string_equal(m->string_table[index], text);
}

static void check_rows(const Perftools__Profiles__Profile *m)
{
	const Perftools__Profiles__Location *loc;

	assert_int_equal(m->n_mapping, 2);
	assert_int_equal(m->mapping[0]->id, 1);
	expect_text(m, m->mapping[0]->filename, "/bin/prog");
	expect_text(m, m->mapping[0]->build_id, "abcdef");
	assert_true(m->mapping[0]->has_functions);
	assert_false(m->mapping[0]->has_filenames);
	assert_false(m->mapping[0]->has_line_numbers);
	assert_true(m->mapping[0]->has_inline_frames);
	expect_text(m, m->mapping[1]->filename, "/lib/a.so");
	assert_int_equal(m->mapping[1]->memory_start, 0x1000);
	assert_int_equal(m->mapping[1]->memory_limit, 0x2000);
	assert_int_equal(m->mapping[1]->file_offset, 0x300);

	assert_int_equal(m->n_location, 2);
	loc = m->location[0]; /* no mapping sorts first */
	assert_int_equal(loc->id, 1);
	assert_int_equal(loc->mapping_id, 0);
	assert_true(loc->address == UINT64_MAX);
	assert_int_equal(loc->n_line, 0);
	loc = m->location[1];
	assert_int_equal(loc->mapping_id, 2);
	assert_true(loc->is_folded);
	assert_int_equal(loc->n_line, 2);
	assert_int_equal(loc->line[0]->function_id, 1);
	assert_int_equal(loc->line[0]->line, 7);
	assert_int_equal(loc->line[0]->column, 3);
	assert_int_equal(loc->line[1]->function_id, 2);

	assert_int_equal(m->n_function, 2);
	expect_text(m, m->function[0]->name, "inner");
	assert_int_equal(m->function[0]->start_line, -1);
	expect_text(m, m->function[1]->name, "outer");
	expect_text(m, m->function[1]->system_name, "_Z5outer");
	expect_text(m, m->function[1]->filename, "o.c");
}

static void check_samples(const Perftools__Profiles__Profile *m)
{
	const Perftools__Profiles__Sample *s;

	assert_int_equal(m->n_sample, 2);
	s = m->sample[0];
	assert_int_equal(s->n_location_id, 0);
	assert_int_equal(s->n_label, 0);
	assert_int_equal(s->n_value, 2);
	assert_true(s->value[0] == INT64_MIN);
	assert_int_equal(s->value[1], 300);
	s = m->sample[1];
	assert_int_equal(s->n_location_id, 2);
	assert_int_equal(s->location_id[0], 2); /* leaf first */
	assert_int_equal(s->location_id[1], 1);
	assert_int_equal(s->n_label, 2);
	expect_text(m, s->label[0]->key, "k");
	expect_text(m, s->label[0]->str, "v");
	expect_text(m, s->label[1]->key, "k");
	assert_int_equal(s->label[1]->str, 0);
	assert_int_equal(s->label[1]->num, -5);
	expect_text(m, s->label[1]->num_unit, "bytes");
}

static void check_header(const Perftools__Profiles__Profile *m)
{
	size_t i, j;

	assert_int_equal(m->n_sample_type, 2);
	expect_text(m, m->sample_type[0]->type, "objects");
	expect_text(m, m->sample_type[0]->unit, "count");
	expect_text(m, m->sample_type[1]->type, "space");
	expect_text(m, m->drop_frames, "drop");
	expect_text(m, m->keep_frames, "keep");
	expect_text(m, m->doc_url, "http://x");
	expect_text(m, m->default_sample_type, "space");
	expect_text(m, m->period_type->type, "space");
	expect_text(m, m->period_type->unit, "bytes");
	assert_int_equal(m->period, 524288);
	assert_int_equal(m->time_nanos, 1);
	assert_int_equal(m->duration_nanos, 2);
	assert_int_equal(m->n_comment, 3);
	expect_text(m, m->comment[0], "one");
	expect_text(m, m->comment[1], "");
	expect_text(m, m->comment[2], "k");
	/* Each string once, nothing unused. */
	assert_string_equal(m->string_table[0], "");
	assert_int_equal(m->n_string_table, 18);
	for (i = 0; i < m->n_string_table; i++)
		for (j = 0; j < i; j++)
			assert_string_not_equal(m->string_table[i],
						m->string_table[j]);
}

static void test_full(void **state)
{
	struct pprof_profile *profile = make_full();
	struct pprof_sink *sink = write_profile(profile, 0);
	Perftools__Profiles__Profile *m = decode(sink);

	(void)state;
	check_rows(m);
	check_samples(m);
	check_header(m);
	perftools__profiles__profile__free_unpacked(m, NULL);
	pprof_sink_close(sink);
	pprof_profile_free(profile);
}

static void test_empty(void **state)
{
	struct pprof_profile *profile;
	Perftools__Profiles__Profile *m;
	struct pprof_sink *sink;
	struct builder b;

	(void)state;
	start(&b);
	builder_type(&b, builder_cstr(&b, "space"), builder_cstr(&b, "bytes"));
	profile = finish(&b);
	sink = write_profile(profile, 0);
	m = decode(sink);
	assert_int_equal(m->n_sample_type, 1);
	assert_int_equal(m->n_sample + m->n_mapping + m->n_location +
			 m->n_function, 0);
	assert_int_equal(m->n_string_table, 3);
	assert_null(m->period_type);
	perftools__profiles__profile__free_unpacked(m, NULL);
	pprof_sink_close(sink);
	pprof_profile_free(profile);
}

/* Inflate with zlib, member by member; returns the number of members. */
static unsigned gunzip(const struct pprof_sink *sink, char *out, size_t cap,
		       size_t *ret_nr)
{
	unsigned members = 0;
	const void *bytes;
	z_stream z;
	size_t nr;

	bytes = pprof_sink_memory(sink, &nr);
	memset(&z, 0, sizeof(z));
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)nr;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)cap;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	while (z.avail_in) {
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(inflateReset(&z), Z_OK);
		members++;
	}
	*ret_nr = cap - z.avail_out;
	inflateEnd(&z);
	return members;
}

/* Every level holds the same message; the header tells no time or name. */
static void test_levels(void **state)
{
	static const int levels[] = { -1, 1, 5, 9 };
	struct pprof_profile *profile = make_full();
	struct pprof_sink *plain = write_profile(profile, 0);
	const unsigned char *bytes;
	const void *message;
	char out[2000];
	size_t i, nr, nr_plain;

	(void)state;
	message = pprof_sink_memory(plain, &nr_plain);
	for (i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		struct pprof_sink *sink = write_profile(profile, levels[i]);

		bytes = pprof_sink_memory(sink, &nr);
		assert_int_equal(bytes[0], 0x1f);
		assert_int_equal(bytes[1], 0x8b);
		assert_int_equal(bytes[3], 0); /* flags */
		assert_memory_equal(bytes + 4, "\0\0\0\0", 4);
		assert_int_equal(gunzip(sink, out, sizeof(out), &nr), 1);
		assert_int_equal(nr, nr_plain);
		assert_memory_equal(out, message, nr);
		pprof_sink_close(sink);
	}
	pprof_sink_close(plain);
	pprof_profile_free(profile);
}

static void test_members(void **state)
{
	const size_t nr = GZIP_MEMBER_BYTES * 2 + 1000;
	struct gzip_writer writer;
	struct pprof_sink *sink;
	char *out = mem_alloc(nr + 1, 1);
	size_t i, nr_out;

	(void)state;
	assert_non_null(out);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	gzip_writer_init(&writer, sink, -1);
	for (i = 0; i < nr; i++) {
		buf_byte(gzip_writer_buf(&writer), (char)(i * 7 / 1000));
		if (i % 1000 == 0)
			assert_int_equal(gzip_writer_step(&writer, NULL),
					 PPROF_OK);
	}
	assert_int_equal(gzip_writer_finish(&writer, NULL), PPROF_OK);
	gzip_writer_fini(&writer);
	assert_int_equal(gunzip(sink, out, nr + 1, &nr_out), 3);
	assert_int_equal(nr_out, nr);
	for (i = 0; i < nr; i += 997)
		assert_int_equal(out[i], (char)(i * 7 / 1000));
	pprof_sink_close(sink);
	mem_free(out);
}

static void test_full_disk(void **state)
{
	struct pprof_profile *profile = make_full();
	struct pprof_sink *sink = NULL;
	struct pprof_error err = { .status = PPROF_OK };
	enum pprof_status status;

	(void)state;
	assert_int_equal(pprof_sink_open("/dev/full", &sink, NULL), PPROF_OK);
	status = pprof_profile_write(profile, "pprof", NULL, sink, &err);
	if (!status)
		status = pprof_sink_commit(sink, &err);
	assert_int_equal(status, PPROF_IO);
	assert_string_equal(err.source, "/dev/full");
	pprof_sink_close(sink);
	pprof_profile_free(profile);
}

static void test_unknown_writer(void **state)
{
	struct pprof_profile *profile = make_full();
	struct pprof_sink *sink = NULL;
	struct pprof_error err;

	(void)state;
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_profile_write(profile, "pproof", NULL, sink,
					     &err), PPROF_NOTFOUND);
	assert_non_null(strstr(err.message, "pproof"));
	pprof_sink_close(sink);
	pprof_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_unknown_writer),
	};

	return cmocka_run_group_tests_name("pprof_writer", tests, NULL, NULL);
}
