#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Words that do not belong into the tree: paths of one machine, marks of
# unfinished work.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 99

# search REGEX: in every text file that ships, this one left out.
search() {
  find . \( -name .git -o -name autom4te.cache -o -path ./build -o -name _build \
    -o -name fixtures -o -name golden -o -path ./fuzz/corpus \) -prune \
    -o -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.md' \
    -o -name '*.sh' -o -name '*.bats' -o -name '*.[13]' -o -name '*.ac' \
    -o -name '*.inc' -o -name '*.am' -o -name run -o -name NEWS \) \
    ! -name words.sh ! -name ltmain.sh ! -name tap-driver.sh -print | sort | xargs grep -nE "$1" /dev/null
}

expect_none "no path of one machine" "$(search '/(work|root|home)/[a-z.]')"
expect_none "no mark of unfinished work" \
  "$(search '\b(TODO|FIXME|XXX|HACK)\b|not implemented')"

finish
