# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Loaded by the tests of the tools: where fixtures and real profiles are, and
# what a profile holds as an independent decoder (protoc) sees it.

top_srcdir=${top_srcdir:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
# shellcheck disable=SC2034 # for the tests
fixtures=$top_srcdir/tests/fixtures
corpus=${PPROF_CORPUS:-$top_srcdir/../shared/corpus}

# Each test has its own empty directory and stands in it.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
}

# need COMMAND...: skip the test where one is missing.
need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || skip "no $command here"
  done
}

# need_corpus FOLDER: skip where the real profiles are not at hand.
need_corpus() {
  [ -d "$corpus/$1" ] || skip "no profiles at $corpus/$1"
}

# fail_with TEXT...: the test is failed, and why.
fail_with() {
  printf '%s\n' "$@" >&2
  return 1
}

# expect NAME GOT EXPECTED
expect() {
  [ "$2" = "$3" ] || fail_with "$1: got '$2'" "expected '$3'"
}

# decode_plain: a message on standard input as text, by protoc. Strings need
# not be UTF-8.
decode_plain() {
  local proto=$BATS_RUN_TMPDIR/proto
  if [ ! -f "$proto/profile.proto" ]; then
    mkdir -p "$proto"
    sed 's/repeated string string_table/repeated bytes string_table/' \
      "$top_srcdir/lib/profile/profile.proto" >"$proto/profile.$$"
    mv "$proto/profile.$$" "$proto/profile.proto"
  fi
  protoc --decode=perftools.profiles.Profile -I "$proto" profile.proto
}

# decode FILE: the same of a pprof file, gzipped or not.
decode() {
  case $(head -c 2 "$1" | od -An -tx1) in
  *1f\ 8b*) gzip -dc -- "$1" | decode_plain ;;
  *) decode_plain <"$1" ;;
  esac
}

# sum_values: number of samples, then the sum of each value, of decoded text.
sum_values() {
  awk '
    /^sample \{/ { n++; k = 0 }
    /^sample_type/ { t++ }
    /^  value: / { sum[++k] += $2 }
    END {
      printf "%d", n
      for (i = 1; i <= t; i++)
        printf " %.0f", sum[i]
      print ""
    }'
}

# totals FILE: the same of a pprof file.
totals() {
  decode "$1" | sum_values
}

# facts OPTION... FILE: totals of what pprof-convert makes of a file.
facts() {
  pprof-convert -q --level=0 -o facts.pb "$@" &&
    decode_plain <facts.pb | sum_values
}

# errors FILE: a tool's standard error without warnings and the hint of usage.
errors() {
  grep -v -e ': warning: ' -e "^[a-z-]*: try '" "$1" || :
}

# absent PATTERN FILE...: no line of the files matches.
absent() {
  if grep -E -- "$@" >&2; then
    fail_with "unexpected: $1"
  fi
}

# expect_refused NAME [SOURCE]: the last `run_tool` ended with status 2, one
# line on standard error, nothing else, and no file "out".
expect_refused() {
  expect "$1: exit status" "$tool_status" 2
  expect "$1: lines of error" "$(errors stderr | wc -l)" 1
  [ ! -s stdout ] || fail_with "$1: something on standard output"
  [ ! -e out ] || fail_with "$1: an output file"
  [ -z "${2:-}" ] || grep -qF -- "$2" stderr ||
    fail_with "$1: no '$2' in: $(cat stderr)"
}

# run_tool COMMAND...: sets tool_status; output in the files stdout, stderr.
run_tool() {
  tool_status=0
  timeout 20 "$@" >stdout 2>stderr </dev/null || tool_status=$?
}
