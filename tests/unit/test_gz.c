/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip and zlib input: members, padding, garbage, damage, truncation at
 * every byte, bounds, and that the fast way agrees with the stream.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
#include "input/gz.h"
#include "input/input.h"

#define TEXT_BYTES 3000
#define MANY_BYTES ((size_t)80 << 20)

static char text[TEXT_BYTES];

/* Letters that compress, but not into nothing. */
static void fill_text(void)
{
	uint32_t state = 1;
	size_t i;

	for (i = 0; i < TEXT_BYTES; i++) {
		state = state * 1103515245 + 12345;
		text[i] = (char)('a' + (state >> 16) % 20);
	}
}

/* Compress nr bytes at data; window bits 31 gzip, 15 zlib. */
static size_t deflate_to(uint8_t *out, size_t cap, const void *data, size_t nr,
			 int bits)
{
	Bytef *copy = mem_alloc(nr, 1);
	z_stream z;
	size_t made;

	assert_non_null(copy);
	if (nr)
		memcpy(copy, data, nr);
	memset(&z, 0, sizeof(z));
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, 0), Z_OK);
	z.next_in = copy;
	z.avail_in = (uInt)nr;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	made = cap - z.avail_out;
	deflateEnd(&z);
	mem_free(copy);
	return made;
}

/* What reading some bytes to the end came to. */
struct outcome {
	enum pprof_status status;
	uint64_t nr;          /* bytes read */
	bool matches;         /* they repeat `text` */
	bool is_truncated;
	size_t nr_diags;
	struct pprof_error err;
};

static void read_all(struct input *input, struct outcome *ret)
{
	struct cursor *in = input_cursor(input);
	size_t have, i;

	ret->matches = true;
	while ((have = cursor_fill(in, 1))) {
		for (i = 0; i < have; i++)
			ret->matches &= in->p[i] ==
					(uint8_t)text[(ret->nr + i) %
						      TEXT_BYTES];
		ret->nr += have;
		in->p += have;
	}
	ret->status = cursor_status(in, &ret->err);
	ret->is_truncated = input_was_truncated(input);
}

static struct outcome read_bytes(const uint8_t *data, size_t nr,
				 const struct pprof_limits *limits)
{
	struct outcome ret = { .status = PPROF_OK };
	struct pprof_limits defaults;
	struct input *input = NULL;
	struct diags diags;

	pprof_limits_init(&defaults);
	diags_init(&diags, "test");
	ret.status = input_open_memory("test", data, nr,
				       limits ? limits : &defaults, &diags,
				       &input, &ret.err);
	if (!ret.status) {
		read_all(input, &ret);
		input_close(input);
	}
	ret.nr_diags = diags.nr_rows;
	return ret;
}

/* Layouts around compressed text, built in build_case(). */
enum layout {
	ONE, TWO_MEMBERS, ZERO_PADDED, ZEROS_BETWEEN, GARBAGE, GARBAGE_1F,
	NESTED, NESTED_4, NESTED_5, ZLIB, ZLIB_GARBAGE, EMPTY_MEMBER,
	BAD_CRC, BAD_SIZE, BAD_METHOD, BAD_BLOCK, HEADER_ONLY,
};

static size_t nest(uint8_t *out, size_t cap, size_t nr, int times)
{
	while (times--) {
		uint8_t *inner = mem_alloc(nr, 1);

		assert_non_null(inner);
		memcpy(inner, out, nr);
		nr = deflate_to(out, cap, inner, nr, 31);
		mem_free(inner);
	}
	return nr;
}

static size_t build_case(enum layout layout, uint8_t *out, size_t cap)
{
	size_t nr;

	if (layout == ZLIB || layout == ZLIB_GARBAGE)
		nr = deflate_to(out, cap, text, TEXT_BYTES, 15);
	else
		nr = deflate_to(out, cap, text, TEXT_BYTES, 31);
	switch (layout) {
	case TWO_MEMBERS:
	case ZEROS_BETWEEN:
		if (layout == ZEROS_BETWEEN) {
			memset(out + nr, 0, 100);
			nr += 100;
		}
		return nr + deflate_to(out + nr, cap - nr, text, TEXT_BYTES,
				       31);
	case ZERO_PADDED:
		memset(out + nr, 0, 512);
		return nr + 512;
	case GARBAGE:
	case ZLIB_GARBAGE:
		memcpy(out + nr, "garbage", 7);
		return nr + 7;
	case GARBAGE_1F:
		memcpy(out + nr, "\x1f\x8c", 2);
		return nr + 2;
	case NESTED:
		return nest(out, cap, nr, 1);
	case NESTED_4:
		return nest(out, cap, nr, 3);
	case NESTED_5:
		return nest(out, cap, nr, 4);
	case EMPTY_MEMBER:
		return nr + deflate_to(out + nr, cap - nr, "", 0, 31);
	case BAD_CRC:
		out[nr - 8] ^= 1;
		return nr;
	case BAD_SIZE:
		out[nr - 4] ^= 1;
		return nr;
	case BAD_METHOD:
		out[2] = 7;
		return nr;
	case BAD_BLOCK:
		out[10] |= 6;
		return nr;
	case HEADER_ONLY:
		return 10;
	default:
		return nr;
	}
}

static const struct {
	const char *name;
	enum layout layout;
	enum pprof_status status;
	unsigned copies;      /* of the text, when OK */
	size_t nr_diags;
	const char *message;  /* part of it, when not */
} cases[] = {
	{ "one member", ONE, PPROF_OK, 1, 0, NULL },
	{ "two members", TWO_MEMBERS, PPROF_OK, 2, 0, NULL },
	{ "zeros behind", ZERO_PADDED, PPROF_OK, 1, 0, NULL },
	{ "zeros between", ZEROS_BETWEEN, PPROF_OK, 2, 0, NULL },
	{ "garbage behind", GARBAGE, PPROF_OK, 1, 1, NULL },
	{ "garbage like gzip", GARBAGE_1F, PPROF_OK, 1, 1, NULL },
	{ "gzip in gzip", NESTED, PPROF_OK, 1, 0, NULL },
	{ "four layers", NESTED_4, PPROF_OK, 1, 0, NULL },
	{ "five layers", NESTED_5, PPROF_LIMIT, 0, 0, "4 times" },
	{ "zlib", ZLIB, PPROF_OK, 1, 0, NULL },
	{ "zlib and garbage", ZLIB_GARBAGE, PPROF_OK, 1, 1, NULL },
	{ "an empty member", EMPTY_MEMBER, PPROF_OK, 1, 0, NULL },
	{ "wrong checksum", BAD_CRC, PPROF_FORMAT, 0, 0, "data check" },
	{ "wrong length", BAD_SIZE, PPROF_FORMAT, 0, 0, "length check" },
	{ "wrong method", BAD_METHOD, PPROF_FORMAT, 0, 0, "method" },
	{ "wrong block", BAD_BLOCK, PPROF_FORMAT, 0, 0, "block type" },
	{ "header alone", HEADER_ONLY, PPROF_FORMAT, 0, 0, "10 bytes" },
};

static void test_layouts(void **state)
{
	uint8_t data[4 * TEXT_BYTES];
	struct outcome got;
	size_t i, nr;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("# %s\n", cases[i].name);
		nr = build_case(cases[i].layout, data, sizeof(data));
		got = read_bytes(data, nr, NULL);
		assert_int_equal(got.status, cases[i].status);
		if (cases[i].message) {
			assert_non_null(strstr(got.err.message,
					       cases[i].message));
			continue;
		}
		assert_int_equal(got.nr, cases[i].copies * TEXT_BYTES);
		assert_true(got.matches);
		assert_int_equal(got.nr_diags, cases[i].nr_diags);
		assert_false(got.is_truncated);
	}
}

/* Cut anywhere: what came out is a prefix, and it is said to be one. */
static void test_cut_everywhere(void **state)
{
	uint8_t data[2 * TEXT_BYTES];
	struct outcome got;
	size_t nr, cut, nr_recovered = 0;

	(void)state;
	nr = build_case(ONE, data, sizeof(data));
	for (cut = 2; cut < nr; cut++) {
		got = read_bytes(data, cut, NULL);
		assert_true(got.matches || got.status);
		if (got.status) {
			assert_int_equal(got.status, PPROF_FORMAT);
			assert_non_null(strstr(got.err.message, "end after"));
			assert_int_equal(nr_recovered, 0);
			continue;
		}
		assert_true(got.is_truncated);
		assert_int_equal(got.nr_diags, 1);
		assert_in_range(got.nr, nr_recovered, TEXT_BYTES);
		nr_recovered = got.nr;
	}
	assert_int_equal(nr_recovered, TEXT_BYTES);
}

static void test_bounds(void **state)
{
	uint8_t data[2 * TEXT_BYTES], *zeros, *bomb;
	struct pprof_limits limits;
	struct outcome got;
	size_t nr;

	(void)state;
	pprof_limits_init(&limits);
	limits.inflated_bytes = TEXT_BYTES - 1;
	nr = build_case(ONE, data, sizeof(data));
	got = read_bytes(data, nr, &limits);
	assert_int_equal(got.status, PPROF_LIMIT);
	assert_non_null(strstr(got.err.message, "inflated_bytes"));
	limits.inflated_bytes = TEXT_BYTES;
	got = read_bytes(data, nr, &limits);
	assert_int_equal(got.status, PPROF_OK);
	limits.input_bytes = nr - 1;
	got = read_bytes(data, nr, &limits);
	assert_int_equal(got.status, PPROF_LIMIT);
	assert_non_null(strstr(got.err.message, "input_bytes"));

	zeros = mem_zalloc(MANY_BYTES, 1);
	bomb = mem_alloc(MANY_BYTES / 100, 1);
	assert_non_null(zeros);
	assert_non_null(bomb);
	pprof_limits_init(&limits);
	nr = deflate_to(bomb, MANY_BYTES / 100, zeros, MANY_BYTES, 31);
	got = read_bytes(bomb, nr, &limits);
	assert_int_equal(got.status, PPROF_OK);
	assert_int_equal(got.nr, MANY_BYTES);
	limits.inflate_ratio = 500;
	got = read_bytes(bomb, nr, &limits);
	assert_int_equal(got.status, PPROF_LIMIT);
	assert_non_null(strstr(got.err.message, "inflate_ratio"));
	mem_free(zeros);
	mem_free(bomb);
}

static const struct {
	const char *name;
	const char *head;
	size_t nr;
	enum gz_kind kind;
} heads[] = {
	{ "nothing", "", 0, GZ_NONE },
	{ "one byte", "\x1f", 1, GZ_NONE },
	{ "gzip", "\x1f\x8b", 2, GZ_GZIP },
	{ "text like zlib", "x^2;y 3\n", 8, GZ_NONE },
	{ "not a zlib check", "\x78\x9d\x4b\x04\x00", 5, GZ_NONE },
	{ "not a zlib block", "\x78\x9c\xff\xff\xff", 5, GZ_NONE },
	{ "zlib of aaaa", "\x78\x9c\x4b\x4c\x4c\x4c\x04\x00", 8, GZ_ZLIB },
};

static void test_detect(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		print_message("# %s\n", heads[i].name);
		assert_int_equal(gz_detect((const uint8_t *)heads[i].head,
					   heads[i].nr), heads[i].kind);
	}
}

/* Whatever the claimed size says, the fast way tells the truth or nothing. */
static void test_whole(void **state)
{
	uint8_t data[4 * TEXT_BYTES];
	struct pprof_limits limits;
	void *pages = NULL;
	size_t nr, made = 0, flip;

	(void)state;
	pprof_limits_init(&limits);
	nr = build_case(ONE, data, sizeof(data));
#if defined(HAVE_LIBDEFLATE)
	assert_true(gz_inflate_whole(data, nr, &limits, &pages, &made));
	assert_int_equal(made, TEXT_BYTES);
	assert_memory_equal(pages, text, TEXT_BYTES);
	gz_free_whole(pages, made);
#endif
	for (flip = 0; flip < 8; flip++) {
		data[nr - 1 - flip] ^= 0x10;
		assert_false(gz_inflate_whole(data, nr, &limits, &pages,
					      &made));
		data[nr - 1 - flip] ^= 0x10;
	}
#if defined(HAVE_LIBDEFLATE)
	nr = build_case(TWO_MEMBERS, data, sizeof(data));
	assert_true(gz_inflate_whole(data, nr, &limits, &pages, &made));
	assert_int_equal(made, 2 * TEXT_BYTES);
	assert_memory_equal(pages, text, TEXT_BYTES);
	assert_memory_equal((char *)pages + TEXT_BYTES, text, TEXT_BYTES);
	gz_free_whole(pages, made);
#endif
	nr = build_case(GARBAGE, data, sizeof(data));
	assert_false(gz_inflate_whole(data, nr, &limits, &pages, &made));
}

/* Any allocation may fail: a status, nothing leaked (sanitizers watch). */
static void test_no_memory(void **state)
{
	uint8_t data[4 * TEXT_BYTES];
	struct outcome got;
	size_t nr;
	uint64_t n;

	(void)state;
	nr = build_case(NESTED, data, sizeof(data));
	for (n = 1; n < 100; n++) {
		mem_fail_nth(n, true);
		got = read_bytes(data, nr, NULL);
		mem_fail_nth(0, false);
		if (!got.status)
			break;
		assert_int_equal(got.status, PPROF_NOMEM);
	}
	assert_in_range(n, 3, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_detect),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_no_memory),
	};

	fill_text();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
