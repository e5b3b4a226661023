#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the header declares, the version script lists and the library exports
# are the same names, and each has its page in section 3.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
library=${top_builddir:-$top/build}/.libs/libpprof.so

# differ A B: names in one list but not in the other.
differ() {
  printf '%s\n' "$1" | sort >"$work/a"
  printf '%s\n' "$2" | sort >"$work/b"
  diff "$work/a" "$work/b" | grep '^[<>]'
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

map=$(grep -oE '^[[:blank:]]*pprof_[a-z0-9_]+;' "$top/lib/libpprof.map" |
  tr -d '\t ;')

# The header's function names, first of each declaration only.
header=$(tr '\n' ' ' <"$top/lib/include/pprof.h" | sed 's/PPROF_API/\n&/g' |
  grep '^PPROF_API' | sed -nE 's/^[^(]*[ *](pprof_[a-z0-9_]+)\(.*/\1/p')

expect_none "pprof.h and libpprof.map" "$(differ "$header" "$map")"

if [ -f "$library" ]; then
  exported=$(nm -D --defined-only "$library" |
    sed -nE 's/^[0-9a-f]+ [TRDBV] ([a-zA-Z0-9_]+)(@@?.*)?$/\1/p' |
    grep -v '^PPROF_')
  expect_none "libpprof.map and libpprof.so" "$(differ "$map" "$exported")"
else
  skip "libpprof.map and libpprof.so" "the library is not built"
fi

expect_none "every function has its page in section 3" "$(
  for name in $header; do
    grep -qE "^\.(Fn|Fo) $name( |\$)" "$top"/docs/man/*.3 || echo "$name"
  done
)"

finish
