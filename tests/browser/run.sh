#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh [SUITE]     (default: flame; see also report.sh)
#
# Pictures in a real browser: Debian's chromium, driven by playwright-core of
# the version that package-lock.json names. Skipped, saying so, where one of
# them cannot be had.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/../lint/tap.sh"
build=${top_builddir:-$top/build}
work=$build/tests/browser/modules

# leave_out WHY: all of it.
leave_out() {
  echo "1..0 # SKIP $1"
  exit 0
}

for command in node npm chromium; do
  command -v "$command" >/dev/null || leave_out "$command is not installed"
done
[ -x "$build/pprof-flame" ] || leave_out "the tools are not built"

mkdir -p "$work" || exit 99
if ! cmp -s "$top/tests/browser/package-lock.json" "$work/package-lock.json" ||
  [ ! -d "$work/node_modules/html-validate" ]; then
  cp "$top/tests/browser/package.json" "$top/tests/browser/package-lock.json" \
    "$work"
  (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund) \
    >"$work/npm.log" 2>&1 || {
    rm -f "$work/package-lock.json"
    leave_out "npm ci failed: $(tail -n 1 "$work/npm.log")"
  }
fi
# Modules are looked for beside the file that imports them.
cp "$top"/tests/browser/*.mjs "$work" || exit 99
CHROMIUM=${CHROMIUM:-$(command -v chromium)}
PATH=$build:$PATH
export CHROMIUM PATH
exec node "$work/${1:-flame}.mjs"
