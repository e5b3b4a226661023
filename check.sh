#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what the tests need, builds in every way that must work, runs all
# tests and sums them up. The last line is "N passed, N failed, N skipped".
#
#   FUZZ_SECONDS=N  seconds a fuzz target (default: 20; 60 where CI is set;
#                   0 leaves fuzzing out)
#   CHECK_DIR=DIR   where builds go (default: build/check)
#   PPROF_CORPUS=DIR  profiles of real programs (default: beside the checkout)
set -u
cd "$(dirname "$0")" || exit 2
top=$PWD
dir=${CHECK_DIR:-$top/build/check}
jobs=$(nproc 2>/dev/null || echo 2)
passed=0
failed=0
skipped=0

if [ -z "${FUZZ_SECONDS:-}" ]; then
  FUZZ_SECONDS=20
  [ -n "${CI:-}" ] && FUZZ_SECONDS=60
fi
if [ -z "${PPROF_CORPUS:-}" ] && [ -d "$top/../shared/corpus" ]; then
  PPROF_CORPUS=$(cd "$top/../shared/corpus" && pwd)
fi
export PPROF_CORPUS=${PPROF_CORPUS:-$top/../shared/corpus}
export LC_ALL=C

say() {
  printf '== %s (%d s)\n' "$1" "$SECONDS"
}

# step NAME COMMAND...: one more test that is passed or failed.
step() {
  local name=$1 log
  shift
  log=$dir/${name//[^a-zA-Z0-9]/-}.log
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    return 0
  fi
  failed=$((failed + 1))
  echo "FAILED: $name; the end of $log:"
  tail -n 40 "$log"
  return 1
}

# count_results BUILD: add up the results of its make check.
count_results() {
  local results
  results=$(find "$1" -name '*.trs' -exec grep -h '^:test-result:' {} +)
  passed=$((passed + $(grep -c ': PASS' <<<"$results")))
  skipped=$((skipped + $(grep -c ': SKIP' <<<"$results")))
  failed=$((failed + $(grep -cE ': (FAIL|XPASS|ERROR)' <<<"$results")))
}

# show_failures BUILD: which tests failed, and the end of their logs.
show_failures() {
  local trs
  grep -lrE '^:test-result: (FAIL|XPASS|ERROR)' --include='*.trs' "$1" |
    while read -r trs; do
      echo "FAILED: ${trs#"$1"/}"
      grep -E '^(not ok|#|Bail out|.*ERROR)' "${trs%.trs}.log" | tail -n 30
    done
}

# build_and_check NAME CONFIGURE-ARGUMENTS...
build_and_check() {
  local name=$1 build=$dir/$1
  shift
  [ -d "$build" ] && chmod -R u+w "$build" # a failed distcheck leaves it so
  rm -rf "$build"
  mkdir -p "$build"
  cd "$build" || exit 2
  if step "$name configure" "$top/configure" "$@" &&
    step "$name make" make -j"$jobs" all &&
    step "$name make tests" make -j"$jobs" check TESTS=; then
    make -k -j"$jobs" check >"$dir/$name-check.log" 2>&1
    local code=$?
    local before=$failed
    count_results "$build"
    show_failures "$build"
    if [ "$code" != 0 ] && [ "$failed" = "$before" ]; then
      failed=$((failed + 1))
      echo "FAILED: $name make check; the end of $dir/$name-check.log:"
      tail -n 40 "$dir/$name-check.log"
    fi
  fi
  cd "$top" || exit 2
  say "$name: $passed passed, $failed failed, $skipped skipped so far"
}

fuzz() {
  local log=$dir/fuzz-run.log code crashed
  local -x CC=clang CXX=clang++ OUT=$dir/fuzz
  step "fuzz build" fuzz/build.sh || return
  fuzz/build.sh --run "$FUZZ_SECONDS" >"$log" 2>&1
  code=$?
  crashed=$(grep -c ': FAILED' "$log")
  [ "$code" = 0 ] || [ "$crashed" != 0 ] || crashed=1
  passed=$((passed + $(grep -c ', no crash$' "$log")))
  failed=$((failed + crashed))
  [ "$crashed" = 0 ] || tail -n 40 "$log"
}

# compare_tarball: it holds every file of the checkout that is not hidden.
# shellcheck disable=SC2317 # step calls it
compare_tarball() {
  local tarball
  tarball=$(ls "$dir"/gcc/libpprof-*.tar.xz) || return 1
  comm -23 <(git ls-files | grep -v '^\.' | sort) \
    <(tar tf "$tarball" | sed 's,^[^/]*/,,' | sort) >"$dir/left-out" || return 1
  cat "$dir/left-out"
  [ ! -s "$dir/left-out" ]
}

finish() {
  local sum="$passed passed, $failed failed"
  [ "$skipped" = 0 ] || sum="$sum, $skipped skipped"
  echo "$sum"
  [ "$failed" = 0 ]
  exit
}

mkdir -p "$dir"
say "packages"
step "packages" build-aux/packages.sh build test || finish
say "autoreconf"
step "autoreconf" ./autogen.sh || finish

say "gcc, warnings are errors: lint, unit, property, tools, fuzz replay"
build_and_check gcc --enable-werror --enable-hardening

say "clang, address and undefined behaviour sanitizers"
build_and_check clang-sanitizers CC=clang --enable-werror \
  --enable-sanitizers=address,undefined CFLAGS='-O1 -g'

if [ "$FUZZ_SECONDS" != 0 ]; then
  say "fuzzing, $FUZZ_SECONDS s a target"
  fuzz
fi

say "make distcheck"
if [ -f "$dir/gcc/Makefile" ]; then
  step "distcheck" make -C "$dir/gcc" distcheck \
    AM_COLOR_TESTS=no DISTCHECK_CONFIGURE_FLAGS= ||
    show_failures "$dir/gcc" # what the tarball's own tests say
  [ ! -d "$top/.git" ] || step "tarball" compare_tarball
fi

say "done"
finish
