#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every example of the manual pages, --help and README.md is run: on a heap
# dump that a small program, "server", writes of itself.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
build=${top_builddir:-$top/build}
compile=${TEST_CC:-${CC:-cc}}
if [ ! -x "$build/pprof-convert" ]; then
  skip "examples" "the tools are not built"
  finish
fi
PATH=$build:$PATH
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# quietly COMMAND...: its output, only if it fails.
quietly() {
  "$@" >log 2>&1 || cat log
}

# run_lines: those of standard input, as a user would type them.
run_lines() {
  nr=0
  while read -r line; do
    nr=$((nr + 1))
    sh -c "$line" >log 2>&1 </dev/null || {
      echo "status $?: $line"
      cat log
    }
  done
  [ "$nr" != 0 ] || echo "no example found"
}

# A new folder with what examples name: a program and its dump NAME.
prepare() {
  rm -rf "$work/here"
  mkdir -p "$work/here/build" "$work/here/rootfs" "$work/here/dbg"
  cd "$work/here" || exit 99
  cp ../server .
  cp ../server build
  ./server >"$1"
}

cat >server.c <<'END'
#include <stdint.h>
#include <stdio.h>

/* An address behind a call, as stacks have them. */
__attribute__((noinline)) static uintptr_t caller(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

int main(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c;

	printf("heap_v2/524288\n  t*: 3: 3072 [0: 0]\n"
	       "  t0: 3: 3072 [0: 0]\n@ %#jx\n  t*: 3: 3072 [0: 0]\n"
	       "  t0: 3: 3072 [0: 0]\n\nMAPPED_LIBRARIES:\n",
	       (uintmax_t)caller());
	while (maps && (c = getc(maps)) != EOF)
		putchar(c);
	return !maps || fclose(maps) || fflush(stdout);
}
END
# shellcheck disable=SC2086 # a compiler with flags
expect_none "a program that dumps itself" "$(
  quietly ${CC:-cc} -g -o server server.c)"

for page in convert diff extract merge symbolize flame report; do
  prepare jeprof.1.0.f.heap
  pprof-convert -s -o heap.pb.gz jeprof.1.0.f.heap
  pprof-convert --to=pem -o server.log heap.pb.gz
  mkdir host1 host2
  for copy in before after host1 host2 host1/heap host2/heap; do
    cp heap.pb.gz "$copy.pb.gz"
  done
  for copy in 4711.0.f 4711.1.i1; do
    cp jeprof.1.0.f.heap "jeprof.$copy.heap"
  done
  expect_none "examples of pprof-$page.1" "$(
    sed -n 's/^\.Dl \(pprof-.*\)/\1/p' "$top/docs/man/pprof-$page.1" |
      run_lines
  )"
  expect_none "examples of pprof-$page --help" "$(
    "pprof-$page" --help | sed -n '/^Examples:/,$s/^  \(pprof-.*\)/\1/p' |
      run_lines
  )"
done

prepare jeprof.1234.0.f.heap
cp jeprof.1234.0.f.heap before.heap
cp jeprof.1234.0.f.heap after.heap
expect_none "examples of README.md" "$(
  sed -n 's/^    \(pprof-.*\)/\1/p' "$top/README.md" | run_lines
)"
cd "$work" || exit 99

sed -n '/^\.Bd -literal/,/^\.Ed/{/^\./!p}' "$top/docs/man/libpprof.3" |
  sed 's/\\e/\\/g' >top.c
# shellcheck disable=SC2086 # a compiler with flags
expect_none "the example of libpprof.3 compiles" "$(
  quietly $compile -Wall -Wextra -Werror -I"$top/lib/include" -o top top.c \
    -L"$build/.libs" -lpprof -Wl,-rpath,"$build/.libs"
)"
expect_none "the example of libpprof.3 prints a table" "$(
  ./top here/jeprof.1234.0.f.heap >log 2>&1
  grep -q main log || cat log
)"

finish
