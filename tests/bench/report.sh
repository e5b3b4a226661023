#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Folded stacks to an HTML report, and that report in a browser: size, time
# to open, to zoom and to search. There is no peer to pair it with here.
# usage: report.sh [LINES]     (default: 900000, about 990,000 frames)
# Needs node, chromium and what tests/browser/run.sh installs; without them
# only the writer is measured. Room in TMPDIR: 300 MB.
# shellcheck source=tests/bench/bench.sh
. "$(dirname "$0")/bench.sh"

lines=${1:-900000}
flame=$(tool pprof-flame)
generator gen_folded
say_machine

in=$bench_tmp/in.folded
"$bench_tmp/gen_folded" "$lines" >"$in"
size=$(bytes_of "$in")
echo "$lines lines, $size bytes:"
for ((i = 0; i < REPS; i++)); do
  sample report "$flame" -o "$bench_tmp/report.html" "$in"
done
report report "$size"
"$flame" --compress -o "$bench_tmp/packed.html" "$in"
grep -o '"nodes":[0-9]*,"frames":[0-9]*,"deepest":[0-9]*' \
  "$bench_tmp/report.html"
for page in report packed; do
  printf '  %s: %s bytes, %s gzipped\n' "$page" \
    "$(bytes_of "$bench_tmp/$page.html")" \
    "$(gzip -c "$bench_tmp/$page.html" | wc -c)"
done

modules=${BUILD:-.}/tests/browser/modules
if [ -d "$modules/node_modules/playwright-core" ] && have chromium; then
  cp "$(dirname "$0")/report.mjs" "$modules"
  CHROMIUM=${CHROMIUM:-$(command -v chromium)} REPS=$REPS \
    node "$modules/report.mjs" "$bench_tmp/packed.html"
else
  echo "  browser: not installed, left out"
fi
