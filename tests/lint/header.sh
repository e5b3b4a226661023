#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every header compiles alone; the public one in C11 and C++ as well.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 99
cc=${CC:-cc}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# compile COMPILER FLAGS... FILE: what the compiler complains about.
compile() {
  "$@" 2>&1
}

expect_none "headers of lib/ compile alone" "$(
  find lib -name '*.h' ! -name banned.h ! -name '*.pb-c.h' |
    while read -r header; do
      printf '#include "%s"\n' "${header#lib/}" >"$work/one.c"
      # shellcheck disable=SC2086 # CC may carry flags
      compile $cc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -fsyntax-only \
        -Ilib -Ilib/include "$work/one.c"
    done
)"

printf '#include <pprof.h>\nint main(void) { return 0; }\n' >"$work/c.c"
# shellcheck disable=SC2086
expect_none "pprof.h in C11" "$(compile $cc -std=c11 -Wall -Wextra -Wpedantic \
  -Werror -fsyntax-only -Ilib/include "$work/c.c")"

cp "$work/c.c" "$work/c.cc"
if command -v g++ >/dev/null; then
  expect_none "pprof.h in C++17" "$(compile g++ -std=c++17 -Wall -Wextra \
    -Wpedantic -Werror -fsyntax-only -Ilib/include "$work/c.cc")"
else
  skip "pprof.h in C++17" "g++ is not installed"
fi

finish
