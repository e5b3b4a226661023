/* SPDX-License-Identifier: Apache-2.0
 *
 * Names as people write them: schemes, suffixes, shortening, hostile input.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbolize/demangle.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *name, *symbol, *full, *brief, *mangled;
} symbols[] = {
	{ "C", "main", "main", "main", "main" },
	{ "version", "malloc@@GLIBC_2.2.5", "malloc", "malloc", "malloc" },
	{ "old version", "gets@GLIBC_2", "gets", "gets", "gets" },
	{ "clone of C", "sum.constprop.0", "sum", "sum", "sum.constprop.0" },
	{ "clones of C", "sum.isra.0.part.1.cold", "sum", "sum",
	  "sum.isra.0.part.1.cold" },
	{ "thin LTO", "sum.llvm.1367994997", "sum", "sum",
	  "sum.llvm.1367994997" },
	{ "numbers belong to names of Go", "main.init.0", "main.init.0",
	  "main.init.0", "main.init.0" },
	{ "Go method", "main.(*T[...]).Run", "main.(*T[...]).Run",
	  "main.(*T[...]).Run", "main.(*T[...]).Run" },
	{ "Fortran", "__stack_MOD_push", "__stack_MOD_push",
	  "__stack_MOD_push", "__stack_MOD_push" },
	{ "D", "_D4main3fooFiZi", "_D4main3fooFiZi", "_D4main3fooFiZi",
	  "_D4main3fooFiZi" },
	{ "C++", "_ZN3foo3barEi", "foo::bar(int)", "foo::bar",
	  "_ZN3foo3barEi" },
	{ "C++ clone", "_ZN3foo3barEi.cold", "foo::bar(int)", "foo::bar",
	  "_ZN3foo3barEi.cold" },
	{ "C++ copy", "_ZL3foov.123", "foo()", "foo", "_ZL3foov.123" },
	{ "C++ template", "_ZN1AIiE1fIcEEvT_", "void A<int>::f<char>(char)",
	  "A::f", "_ZN1AIiE1fIcEEvT_" },
	{ "C++ operator", "_ZN1AlsIiEERS_T_", "A& A::operator<< <int>(int)",
	  "A::operator<<", "_ZN1AlsIiEERS_T_" },
	{ "C++ unnamed namespace", "_ZN12_GLOBAL__N_11fEv",
	  "(anonymous namespace)::f()", "(anonymous namespace)::f",
	  "_ZN12_GLOBAL__N_11fEv" },
	{ "C++ lambda", "_ZZ4mainENKUliE_clEi",
	  "main::{lambda(int)#1}::operator()(int) const",
	  "main::{lambda(int)#1}::operator()", "_ZZ4mainENKUliE_clEi" },
	{ "Rust, legacy",
	  "_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
	  "core::ptr::drop_in_place", "core::ptr::drop_in_place",
	  "_ZN4core3ptr13drop_in_place17h0123456789abcdefE" },
	{ "Rust, legacy, beyond ASCII",
	  "_ZN9rsballast13gr$uf6$$udf$e17h0123456789abcdefE",
	  "rsballast::gr\xc3\xb6\xc3\x9f" "e",
	  "rsballast::gr\xc3\xb6\xc3\x9f" "e",
	  "_ZN9rsballast13gr$uf6$$udf$e17h0123456789abcdefE" },
	{ "Rust, legacy, escapes",
	  "_ZN36_$LT$T$u20$as$u20$core..fmt..Fmt$GT$3fmt"
	  "17h0123456789abcdefE",
	  "<T as core::fmt::Fmt>::fmt", "<T as core::fmt::Fmt>::fmt",
	  "_ZN36_$LT$T$u20$as$u20$core..fmt..Fmt$GT$3fmt"
	  "17h0123456789abcdefE" },
	{ "Rust, v0", "_RNvCs1234_7mycrate3foo", "mycrate::foo",
	  "mycrate::foo", "_RNvCs1234_7mycrate3foo" },
	{ "Rust, v0, cloned", "_RNvCs1234_7mycrate3foo.llvm.99",
	  "mycrate::foo", "mycrate::foo",
	  "_RNvCs1234_7mycrate3foo.llvm.99" },
	{ "not mangled after all", "_Zebra", "_Zebra", "_Zebra",
	  "_Zebra" },
	{ "cut off", "_ZN3foo3ba", "_ZN3foo3ba", "_ZN3foo3ba",
	  "_ZN3foo3ba" },
	{ "only a suffix", ".cold", ".cold", ".cold", ".cold" },
	{ "at first", "@foo", "@foo", "@foo", "@foo" },
	{ "empty", "", "", "", "" },
};

static void check(const char *name, const char *symbol,
		  enum pprof_names names, const char *expected)
{
	struct buf out;

	buf_init(&out, (size_t)1 << 24);
	buf_str(&out, "before ");
	demangle(symbol, names, &out);
	assert_true(buf_ok(&out));
	if (strcmp(buf_cstr(&out) + strlen("before "), expected))
		print_message("row: %s\n", name);
	assert_string_equal(buf_cstr(&out) + strlen("before "), expected);
	buf_fini(&out);
}

static void test_symbols(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(symbols); i++) {
		check(symbols[i].name, symbols[i].symbol, PPROF_NAMES_FULL,
		      symbols[i].full);
		check(symbols[i].name, symbols[i].symbol, PPROF_NAMES_SHORT,
		      symbols[i].brief);
		check(symbols[i].name, symbols[i].symbol,
		      PPROF_NAMES_MANGLED, symbols[i].mangled);
	}
}

static const struct {
	const char *full, *brief;
} shortened[] = {
	{ "foo", "foo" },
	{ "foo()", "foo" },
	{ "foo(int, std::vector<int>)", "foo" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
	  "std::vector::push_back" },
	{ "void foo<int>(int)", "foo" },
	{ "unsigned long foo<int>(int)", "foo" },
	{ "bool operator< <int>(X const&)", "operator<" },
	{ "A::operator()(int) const", "A::operator()" },
	{ "A::operator->() const", "A::operator->" },
	{ "A<(b)1>::f<(x>y)>() const", "A::f" },
	{ "A::operator std::vector<int>() const",
	  "A::operator std::vector<int>" },
	{ "operator new[](unsigned long)", "operator new[]" },
	{ "operator\"\" _ms(unsigned long long)", "operator\"\" _ms" },
	{ "my_operator<int>(int)", "my_operator" },
	{ "foo(int) const::{lambda(auto:1)#2}::operator()<int>(int) const",
	  "foo::{lambda(auto:1)#2}::operator()" },
	{ "(anonymous namespace)::A<int>::f() const &",
	  "(anonymous namespace)::A::f" },
	{ "decltype ((a)+(b)) foo<int>(int, int)", "foo" },
	{ "decltype(auto) foo<int>(int)", "foo" },
	{ "foo[abi:cxx11](int)", "foo[abi:cxx11]" },
	{ "non-virtual thunk to A<int>::f(int)",
	  "non-virtual thunk to A::f" },
	{ "int (*foo<int>(char))(double)", "int (*foo<int>(char))(double)" },
	{ "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt",
	  "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt" },
	{ "alloc::vec::<impl X for Y<Z>>::f::{{closure}}",
	  "alloc::vec::<impl X for Y<Z>>::f::{{closure}}" },
	{ "<alloc::vec::Vec<T>>::push", "alloc::vec::Vec::push" },
	{ "<[u8]>::len", "<[u8]>::len" },
	{ "<dyn core::any::Any>::is::<T>", "<dyn core::any::Any>::is" },
	{ "core::ptr::drop_in_place::<Foo<T>>", "core::ptr::drop_in_place" },
	{ "", "" },
	{ "<", "<" },
	{ "f(((", "f" },
	{ "(", "(" },
	{ "operator", "operator" },
	{ ">>>", ">>>" },
};

static void test_shortened(void **state)
{
	struct buf out;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(shortened); i++) {
		buf_init(&out, 4096);
		demangle_shorten(shortened[i].full, &out);
		assert_string_equal(buf_cstr(&out), shortened[i].brief);
		buf_fini(&out);
	}
}

/* Patterns repeated up to the longest name: deep nesting, growth. */
static const char *const repeated[] = {
	"P", "I", "1aI", "XadL", "NvNv", "pl", "DT", "N1aI", "S_", "IJEE",
	"F", "MS_", "_Z1f", "$LT$", "T_", "L_Z"
};

static void test_hostile(void **state)
{
	static const char *const starts[] = { "_Z1f", "_ZN", "_R", "_RNv" };
	char symbol[DEMANGLE_MAX_BYTES + 64];
	struct buf out;
	size_t i, k, len;

	(void)state;
	for (i = 0; i < NR_OF(starts) * NR_OF(repeated); i++) {
		const char *unit = repeated[i % NR_OF(repeated)];

		len = strlen(starts[i / NR_OF(repeated)]);
		memcpy(symbol, starts[i / NR_OF(repeated)], len);
		for (k = 0; len < sizeof(symbol) - 1; k++)
			symbol[len++] = unit[k % strlen(unit)];
		/* Too long, the longest tried, and short. */
		for (k = len; k > 8; k = k > DEMANGLE_MAX_BYTES ?
			     DEMANGLE_MAX_BYTES : k / 2) {
			symbol[k] = '\0';
			buf_init(&out, DEMANGLE_MAX_OUTPUT * 2);
			demangle(symbol, PPROF_NAMES_SHORT, &out);
			assert_true(buf_ok(&out));
			assert_true(out.len > 0);
			buf_fini(&out);
		}
	}
}

/* Each step doubles what the name stands for: 2^30 pairs in the end. */
static void test_growth_is_bounded(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct buf symbol, out;
	int i;

	(void)state;
	buf_init(&symbol, 4096);
	buf_init(&out, DEMANGLE_MAX_OUTPUT * 2);
	buf_str(&symbol, "_Z1fSt4pairIiiE");
	for (i = 0; i < 30; i++)
		buf_printf(&symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
	demangle(buf_cstr(&symbol), PPROF_NAMES_FULL, &out);
	assert_true(buf_ok(&out));
	assert_string_equal(buf_cstr(&out), buf_cstr(&symbol));
	/* The same with three steps is a name like any other. */
	buf_reset(&out);
	symbol.len = strlen("_Z1fSt4pairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_E");
	demangle(buf_cstr(&symbol), PPROF_NAMES_FULL, &out);
	assert_memory_equal(buf_cstr(&out), "f(std::pair<int, int>, ", 23);
	buf_fini(&symbol);
	buf_fini(&out);
}

static void test_full_buffer(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 4);
	demangle("_ZN3foo3barEi", PPROF_NAMES_FULL, &out);
	assert_false(buf_ok(&out));
	buf_fini(&out);
}

static void test_out_of_memory(void **state)
{
	uint64_t nth;
	bool ok = false;
	struct buf out;

	(void)state;
	for (nth = 1; !ok; nth++) {
		buf_init(&out, 4096);
		mem_fail_nth(nth, true);
		demangle("_ZN1AIiE1fIcEEvT_", PPROF_NAMES_SHORT, &out);
		mem_fail_nth(0, false);
		ok = buf_ok(&out);
		if (ok)
			assert_string_equal(buf_cstr(&out), "A::f");
		buf_fini(&out);
		assert_true(nth < 100);
	}
	assert_true(nth > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_shortened),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_growth_is_bounded),
		cmocka_unit_test(test_full_buffer),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
