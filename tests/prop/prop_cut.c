/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs cut at every byte, and with every byte changed: each gives a status
 * and never a crash; what is read nevertheless can be written, drawn and
 * read again with the same totals; a cut dump never counts half a number.
 */
#include <config.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "gen.h"

static const char threaded[] =
	"heap_v2/524288\n"
	"  t*: 28: 106496 [30: 114688]\n"
	"  t0: 12: 8192 [0: 0] main name\n"
	"  t3: 16: 98304 [16: 98304]\n"
	"@ 0x55d0c0001234 0x55d0c0002345 0x7f0011112222\n"
	"  t*: 12: 8192 [14: 16384]\n"
	"  t0: 12: 8192 [14: 16384]\n"
	"@ 0x55d0c0001300 0x7f0011112222\n"
	"  t*: 16: 98304 [16: 98304]\n"
	"  t0: 1: 4096 [1: 4096]\n"
	"  t3: 15: 94208 [15: 94208]\n"
	"@\n"
	"  t*: 1: 16 [0: 0]\n"
	"\n"
	"MAPPED_LIBRARIES:\n"
	"55d0c0000000-55d0c0001000 r--p 00000000 08:01 11   /srv/app\n"
	"55d0c0001000-55d0c0003000 r-xp 00001000 08:01 11   /srv/app\n"
	"7f0011110000-7f0011120000 r-xp 00010000 08:01 12   /lib/x y.so\n"
	"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0    [stack]\n";

static const char one_line[] =
	"heap profile:    6:     1280 [     9:     4096] @ heap_v2/4096\n"
	"     2:      256 [     5:     3072] @ 0x00401234 0x00402345\n"
	"     4:     1024 [     4:     1024] @ 0x00401300 0x7f0011112222\n"
	"\n"
	"MAPPED_LIBRARIES:\n"
	"00400000-00408000 r-xp 00000000 00:00 11     /srv/app\n";

static const char folded[] =
	"# events: bytes\n"
	"main;read_all;grow buffer 1024\n"
	"main;read_all;libc.so.6`malloc_[k] 16\n"
	"main;\303\266;x 17 3\n"
	";empty;;frames; 5\n";

/* An input of known format. */
struct sample_input {
	const char *name;
	struct buf bytes;
};

enum { THREADED, ONE_LINE, FOLDED, MESSAGE, GZIPPED, NR_INPUTS };

static struct sample_input inputs[NR_INPUTS] = {
	{ .name = "threaded dump" }, { .name = "one-line dump" },
	{ .name = "folded stacks" }, { .name = "message" },
	{ .name = "gzipped message" },
};

static void make_message(struct buf *message)
{
	struct gen_profile gen;
	uint64_t seed = gen_seed(), i;

	for (i = 0;; i++) {
		gen_profile(&gen, seed + i, false);
		if (gen.nr_samples < 5 || gen.nr_maps < 2 || !gen.nr_funcs)
			continue;
		gen.nr_samples = 5;
		buf_reset(message);
		gen_encode(&gen, seed, message);
		if (message->len < 2500)
			return;
	}
}

static void make_gzipped(const struct buf *message, struct buf *out)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_profile *profile;
	struct pprof_sink *sink;
	const void *bytes;
	size_t nr;

	assert_int_equal(pprof_profile_read_memory(message->data,
						   message->len, "x", NULL,
						   &profile, NULL), PPROF_OK);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_profile_write(profile, "pprof", &opts, sink,
					     NULL), PPROF_OK);
	bytes = pprof_sink_memory(sink, &nr);
	buf_add(out, bytes, nr);
	pprof_sink_close(sink);
	pprof_profile_free(profile);
}

static int make_inputs(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR_INPUTS; i++)
		buf_init(&inputs[i].bytes, 1 << 20);
	buf_str(&inputs[THREADED].bytes, threaded);
	buf_str(&inputs[ONE_LINE].bytes, one_line);
	buf_str(&inputs[FOLDED].bytes, folded);
	make_message(&inputs[MESSAGE].bytes);
	make_gzipped(&inputs[MESSAGE].bytes, &inputs[GZIPPED].bytes);
	return 0;
}

static int free_inputs(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR_INPUTS; i++)
		buf_fini(&inputs[i].bytes);
	return 0;
}

static void count_diag(void *ctx, const struct pprof_diag *diag)
{
	assert_true(diag->nr > 0 && diag->message[0]);
	*(uint64_t *)ctx += diag->nr;
}

/* What was read can be written; read again it has the same totals. */
static void visit(const struct pprof_profile *profile, const char *name,
		  size_t at)
{
	struct pprof_profile *again = NULL;
	struct pprof_sink *sink = NULL;
	struct pprof_error err;
	struct buf bytes;
	size_t i;

	buf_init(&bytes, 1 << 24);
	for (i = 0; i < profile->nr_types; i++)
		gen_write(profile, "folded", (int)i, &bytes);
	gen_write(profile, "pprof", -1, &bytes);
	if (pprof_profile_read_memory(bytes.data, bytes.len, "again", NULL,
				      &again, &err))
		fail_msg("%s at %zu, written and read: %s", name, at,
			 err.message);
	assert_int_equal(again->nr_types, profile->nr_types);
	assert_int_equal(again->nr_samples, profile->nr_samples);
	for (i = 0; i < profile->nr_types; i++)
		assert_int_equal(pprof_profile_total(again, i),
				 pprof_profile_total(profile, i));
	pprof_profile_free(again);
	assert_int_equal(pprof_sink_open_memory(&sink, NULL), PPROF_OK);
	assert_int_equal(pprof_report_top(profile, NULL, sink, NULL),
			 PPROF_OK);
	assert_int_equal(pprof_flame_write(profile, NULL, sink, NULL),
			 PPROF_OK);
	pprof_sink_close(sink);
	buf_fini(&bytes);
}

/* Read bytes in a block of exactly their size, so that a look beyond shows. */
static struct pprof_profile *try_read(const char *data, size_t nr,
				      const char *name, size_t at,
				      uint64_t *ret_nr_diags)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_profile *profile = NULL;
	char *copy = mem_alloc(nr, 1);
	enum pprof_status status;

	assert_non_null(copy);
	if (nr)
		memcpy(copy, data, nr);
	*ret_nr_diags = 0;
	opts.diag = count_diag;
	opts.diag_ctx = ret_nr_diags;
	opts.threads = at % 2;
	status = pprof_profile_read_memory(copy, nr, name, &opts, &profile,
					   &err);
	mem_free(copy);
	if (status) {
		assert_null(profile);
		assert_int_equal(err.status, status);
		assert_string_equal(err.source, name);
		if (!err.message[0] || (status != PPROF_FORMAT &&
					status != PPROF_UNSUPPORTED &&
					status != PPROF_LIMIT))
			fail_msg("%s at %zu: status %d, '%s'", name, at,
				 (int)status, err.message);
		return NULL;
	}
	visit(profile, name, at);
	return profile;
}

static void test_cut(void **state)
{
	size_t i, at, nr_read, nr_told;
	uint64_t nr_diags;

	(void)state;
	for (i = 0; i < NR_INPUTS; i++) {
		const struct buf *bytes = &inputs[i].bytes;
		struct pprof_profile *profile;

		nr_read = nr_told = 0;
		for (at = 0; at <= bytes->len; at++) {
			profile = try_read(bytes->data, at, inputs[i].name,
					   at, &nr_diags);
			nr_read += profile != NULL;
			nr_told += profile && nr_diags;
			pprof_profile_free(profile);
		}
		/* The whole is read. A message can be cut between records,
		 * compressed bytes cannot be cut and be whole. */
		assert_true(nr_read >= 1);
		if (i == GZIPPED)
			assert_true(nr_read - nr_told <= 1);
	}
}

/* Sums that a cut of the threaded dump may give: whole stacks only. */
static void test_cut_sums(void **state)
{
	static const int64_t objects[] = { 0, 12, 28, 29 };
	static const int64_t bytes[] = { 0, 8192, 106496, 106512 };
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile;
	size_t at, i, last = 0;

	(void)state;
	opts.raw_counts = true;
	for (at = 0; at < sizeof(threaded); at++) {
		size_t types;

		profile = NULL;
		if (pprof_profile_read_memory(threaded, at, "cut", &opts,
					      &profile, NULL))
			continue;
		types = profile->nr_types;
		for (i = 0; i < 4; i++)
			if (pprof_profile_total(profile, types - 1) ==
			    bytes[i] &&
			    pprof_profile_total(profile, types - 2) ==
			    objects[i])
				break;
		if (i == 4 || i < last)
			fail_msg("cut at %zu: %" PRId64 " bytes", at,
				 pprof_profile_total(profile, types - 1));
		last = i;
		pprof_profile_free(profile);
	}
	assert_int_equal(last, 3);
}

static void test_changed(void **state)
{
	static const unsigned char masks[] = { 0x01, 0x02, 0x10, 0x20, 0x80,
					       0xff };
	size_t i, at, m;
	uint64_t nr_diags;

	(void)state;
	for (i = 0; i < NR_INPUTS; i++) {
		struct buf *bytes = &inputs[i].bytes;

		for (at = 0; at < bytes->len; at++) {
			char old = bytes->data[at];

			for (m = 0; m < sizeof(masks); m++) {
				bytes->data[at] = (char)(old ^ masks[m]);
				pprof_profile_free(
					try_read(bytes->data, bytes->len,
						 inputs[i].name, at,
						 &nr_diags));
			}
			bytes->data[at] = old;
		}
	}
}

/* A run of bytes lost or doubled somewhere. */
static void test_holes(void **state)
{
	struct gen_random dice = { gen_seed() };
	uint64_t nr_diags;
	struct buf copy;
	size_t i;
	int run;

	(void)state;
	buf_init(&copy, 1 << 20);
	for (run = 0; run < 2000; run++) {
		for (i = 0; i < NR_INPUTS; i++) {
			const struct buf *bytes = &inputs[i].bytes;
			uint32_t len = (uint32_t)bytes->len;
			uint32_t from = gen_below(&dice, len + 1);
			uint32_t to = gen_below(&dice, len + 1);

			buf_reset(&copy);
			buf_add(&copy, bytes->data, from);
			buf_add(&copy, bytes->data + to, len - to);
			pprof_profile_free(try_read(copy.data, copy.len,
						    inputs[i].name, from,
						    &nr_diags));
		}
	}
	buf_fini(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_sums),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_holes),
	};

	return cmocka_run_group_tests_name("cut", tests, make_inputs,
					   free_inputs);
}
