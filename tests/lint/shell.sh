#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every script, as shellcheck sees it.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 99

if ! command -v shellcheck >/dev/null; then
  skip "scripts" "shellcheck is not installed"
  finish
fi

scripts=$(find . \( -name .git -o -path ./build -o -name _build \) -prune -o -type f \
  \( -name '*.sh' -o -name '*.bats' -o -path './.ci/run' \) \
  ! -name ltmain.sh ! -name tap-driver.sh -print | sort)
for script in $scripts; do
  expect_none "$script" "$(shellcheck -x -P "$top" "$script" 2>&1)"
done

finish
