#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Form of the sources, as far as a line tool can see it.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 99

code=$(find lib tools tests fuzz -name '*.[ch]' ! -name '*.pb-c.[ch]' |
  grep -v -e /fixtures/ -e /golden/ | sort)

# shellcheck disable=SC2086 # a list of names without blanks
{
  expect_none "every source names its licence in the first line" "$(
    for file in $code; do
      head -n 1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        echo "$file"
    done
  )"

  expect_none "lines of code end at column 80" "$(
    for file in $code; do
      expand "$file" |
        awk -v f="$file" 'length > 80 { print f ":" NR ": " length }'
    done
  )"

  # The public header is one file by intent, and mostly comments.
  expect_none "files have at most 800 lines" "$(
    wc -l $code | awk '$1 > 800 && $2 != "total" &&
      $2 != "lib/include/pprof.h" { print $2 ": " $1 }'
  )"

  expect_none "no blanks at the ends of lines" "$(
    grep -nE '[[:blank:]]+$' $code
  )"

  expect_none "no comment to the end of a line" "$(
    grep -nE '^[[:blank:]]*//' $code
  )"

  expect_none "every header has a guard" "$(
    for file in $code; do
      case $file in
      *.h) grep -qE '^#ifndef [A-Z0-9_]+_H$' "$file" || echo "$file" ;;
      esac
    done
  )"
}

expect_none "the heap is reached through mem.c and msg.c only" "$(
  grep -rnE '\b(malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|vasprintf)\(' \
    lib tools --include='*.[ch]' |
    grep -vE '^lib/base/mem\.[ch]:|^tools/common/msg\.[ch]:|pb-c' |
    grep -vE ':[[:blank:]]*/?\*'
)"

expect_none "free() in lib/ is mem_free()" "$(
  grep -rnE '(^|[^_a-z])free\(' lib --include='*.c' |
    grep -vE '^lib/base/mem\.c:|pb-c' | grep -vE ':[[:blank:]]*/?\*' |
    grep -vE '(demangle|debuginfod)\.c:.*free\((text|name|demangled|plain|readable|out|path)\)'
)"

expect_none "numbers are parsed by text_u64() and cli_u64()" "$(
  grep -rnE '\b(strto[a-z]+|sscanf|ato[ilf]l?)\(' lib tools \
    --include='*.[ch]' | grep -vE '^tools/common/cli\.c:.*strtod' |
    grep -vE ':[[:blank:]]*/?\*'
)"

expect_none "the library does not print, exit, abort or read the environment" "$(
  grep -rnE '\b(printf|puts|putchar|perror|exit|abort|getenv|secure_getenv)\(' \
    lib --include='*.c' | grep -vE ':[[:blank:]]*/?\*|pb-c|buf_printf'
)"

finish
