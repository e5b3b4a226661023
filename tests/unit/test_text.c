/* SPDX-License-Identifier: Apache-2.0
 *
 * Masking, cell widths, and names shortened by their structure.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/shorten.h"
#include "view/text.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *text, *expected;
	size_t cells; /* of what is expected */
} masked[] = {
	{ "", "", 0 },
	{ "plain", "plain", 5 },
	{ "a\tb\nc\rd", "a\\x09b\\x0ac\\x0dd", 16 },
	{ "\x1b[0m", "\\x1b[0m", 7 },
	{ "\x7f", "\\x7f", 4 },
	{ "\xc2\x80", "\\u0080", 6 },
	{ "caf\xc3\xa9", "caf\xc3\xa9", 4 },
	{ "e\xcc\x81", "e\xcc\x81", 1 },
	{ "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac", 4 },
	{ "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5", 2 },
	{ "\xe2\x80\xae" "exe", "\\u202eexe", 9 },      /* RLO */
	{ "\xe2\x81\xa6x", "\\u2066x", 7 },             /* LRI */
	{ "a\xe2\x80\x8b" "b", "a\\u200bb", 8 },        /* ZWSP */
	{ "\xef\xbb\xbfx", "\\ufeffx", 7 },             /* BOM */
	{ "\xef\xbf\xbe", "\\ufffe", 6 },               /* no character */
	{ "\xf3\xa0\x81\x81", "\\U000e0041", 10 },      /* tag letter */
	{ "\xff\xfe", "\\xff\\xfe", 8 },
	{ "\xc0\x80", "\\xc0\\x80", 8 },                /* overlong */
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", 12 },      /* surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16 },
	{ "\xe6\x97", "\\xe6\\x97", 8 },                /* cut short */
	{ "\xe6\x97x", "\\xe6\\x97x", 9 }
};

static void test_mask(void **state)
{
	struct buf buf;
	size_t i;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(masked); i++) {
		text_mask(&buf, masked[i].text, strlen(masked[i].text));
		assert_string_equal(buf_cstr(&buf), masked[i].expected);
		assert_int_equal(text_cells(buf.data, buf.len),
				 masked[i].cells);
		buf_reset(&buf);
	}
	text_mask(&buf, "a\0b", 3);
	assert_string_equal(buf_cstr(&buf), "a\\x00b");
	buf_fini(&buf);
}

/* Every byte: what comes out is printable and tells bytes apart. */
static void test_mask_bytes(void **state)
{
	struct buf buf;
	size_t i, j;
	char byte;

	(void)state;
	buf_init(&buf, 4096);
	for (i = 0; i < 256; i++) {
		byte = (char)i;
		buf_reset(&buf);
		text_mask(&buf, &byte, 1);
		assert_true(buf.len == (i >= 0x20 && i < 0x7f ? 1 : 4));
		for (j = 0; j < buf.len; j++)
			assert_in_range(buf.data[j], 0x20, 0x7e);
	}
	buf_fini(&buf);
}

static void test_cut(void **state)
{
	/* e, acute; two wide characters; x */
	static const char text[] = "e\xcc\x81\xe6\x97\xa5\xe6\x9c\xacx";
	static const size_t heads[] = { 0, 3, 3, 6, 6, 9, 10, 10 };
	static const size_t tails[] = { 10, 9, 9, 6, 6, 3, 0, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(heads); i++) {
		assert_int_equal(text_head(text, sizeof(text) - 1, i),
				 heads[i]);
		assert_int_equal(text_tail(text, sizeof(text) - 1, i),
				 tails[i]);
	}
}

#define DOTS "\xe2\x80\xa6"

static const struct {
	const char *name;
	size_t cells;
	const char *expected;
} fitted[] = {
	{ "main", 10, "main" },
	{ "main", 4, "main" },
	{ "main", 3, "ma" DOTS },
	{ "main", 1, DOTS },
	{ "main", 0, "" },
	{ "ns::f(int, std::map<int, int>) const", 20, "ns::f" },
	{ "std::vector<std::pair<std::string,int>,std::allocator<std::pair<"
	  "std::string,int>>>::push_back(std::pair<std::string,int>&&)", 20,
	  "vector::push_back" },
	{ "github.com/acme/app/pkg/http.(*Server).ServeHTTP", 20,
	  "(*Server).ServeHTTP" },
	{ "github.com/acme/app/pkg/http.(*Server).ServeHTTP", 30,
	  "pkg/http.(*Server).ServeHTTP" },
	{ "github.com/acme/app/pkg/http.(*Server).ServeHTTP", 10,
	  "ServeHTTP" },
	{ "github.com/acme/app.(*T).run.func1", 10, "run.func1" },
	{ "pkg.Map[go.shape.int,go.shape.string].Get", 12, "pkg.Map.Get" },
	{ "com.acme.server.Handler.handle", 14, "Handler.handle" },
	{ "void ns::Bar<int>::operator()<char>(char) const", 20,
	  "ns::Bar::operator()" },
	{ "ns::Type::operator()(int)", 12, "operator()" },
	{ "bool ns::operator< <int>(A const&)", 16, "operator< <int>" },
	{ "ns::T::operator->()", 10, "operator->" },
	{ "(anonymous namespace)::g(int)", 23, "g" },
	{ "(anonymous namespace)::g(int)", 24, "(anonymous namespace)::g" },
	{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", 10, "drop" },
	{ "core::ptr::drop_in_place::<alloc::string::String>", 15,
	  "drop_in_place" },
	{ "a::Vec::<T>::push", 11, "Vec::push" },
	{ "m::<impl core::fmt::Debug for T>::fmt", 36,
	  "<impl core::fmt::Debug for T>::fmt" },
	{ "f(int)::{lambda(char)#1}::operator()(char) const", 28,
	  "{lambda(char)#1}::operator()" },
	{ "do_work.constprop.0", 10, "do_work.c" DOTS },
	{ "sh -c while true", 10, "sh -c whi" DOTS },
	{ "unbalanced<a::b(((", 12, "b(((" },
	{ "x>>>)))y::z", 4, "z" },
	{ "operator new(unsigned long)", 14, "operator new" }
};

static void test_fit(void **state)
{
	struct shortener shortener;
	struct buf buf;
	size_t i;

	(void)state;
	shortener_init(&shortener);
	buf_init(&buf, 4096);
	for (i = 0; i < NR_OF(fitted); i++) {
		buf_reset(&buf);
		shorten_fit(&shortener, &buf, fitted[i].name,
			    strlen(fitted[i].name), fitted[i].cells,
			    SHORTEN_CUT_END);
		assert_string_equal(buf_cstr(&buf), fitted[i].expected);
	}
	buf_reset(&buf);
	shorten_fit(&shortener, &buf, "a_long_function_name", 20, 8,
		    SHORTEN_CUT_START);
	assert_string_equal(buf_cstr(&buf), DOTS "on_name");
	buf_reset(&buf);
	shorten_plain(&buf, "ns::name.of.file", 16, 8);
	assert_string_equal(buf_cstr(&buf), "ns::nam" DOTS);
	buf_fini(&buf);
	shortener_fini(&shortener);
}

/* Whatever the name: never wider than asked. */
static void test_fit_bounds(void **state)
{
	static const char alphabet[] = "ab:<>()[]{}./ -~";
	struct shortener shortener;
	uint32_t seed = 42;
	char name[40];
	struct buf buf;
	size_t i, j, cells;

	(void)state;
	shortener_init(&shortener);
	buf_init(&buf, 4096);
	for (i = 0; i < 20000; i++) {
		for (j = 0; j < sizeof(name); j++) {
			seed = seed * 1664525 + 1013904223;
			name[j] = alphabet[seed >> 28];
		}
		cells = seed >> 8 & 31;
		buf_reset(&buf);
		shorten_fit(&shortener, &buf, name, sizeof(name), cells,
			    i & 1 ? SHORTEN_CUT_END : SHORTEN_CUT_START);
		assert_true(buf_ok(&buf));
		assert_true(text_cells(buf.data, buf.len) <= cells);
		assert_true(!cells == !buf.len);
	}
	buf_fini(&buf);
	shortener_fini(&shortener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_mask_bytes),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_fit_bounds)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
