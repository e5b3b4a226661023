#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Manual pages: well formed, one a tool, with every option that --help shows
# and no other.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
build=${top_builddir:-$top/build}

pages=$(find "$top/docs/man" -name '*.[135]' | sort)

if command -v mandoc >/dev/null; then
  for page in $pages; do
    expect_none "${page##*/} is well formed" \
      "$(mandoc -T lint -W warning "$page" 2>&1)"
  done
else
  skip "pages are well formed" "mandoc is not installed"
fi

for source in "$top"/tools/*.c; do
  tool=$(basename "$source" .c)
  page=$top/docs/man/$tool.1
  if [ ! -x "$build/$tool" ]; then
    skip "$tool: options" "the tool is not built"
    continue
  fi
  shown=$("$build/$tool" --help | grep -oE '^  (-.,|   ) --[a-z-]+' |
    grep -oE '[a-z-]+$' | sed 's/^--//' | sort)
  written=$(sed -nE 's/^\.It .*Fl Fl ([a-z-]+).*/\1/p' "$page" | sort)
  expect_none "$tool: --help and the page have the same options" "$(
    [ "$shown" = "$written" ] || {
      echo "$shown" | while read -r name; do
        echo "$written" | grep -qx -e "$name" || echo "no page: --$name"
      done
      echo "$written" | while read -r name; do
        echo "$shown" | grep -qx -e "$name" || echo "no option: --$name"
      done
    }
  )"
done

finish
