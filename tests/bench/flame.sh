#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Folded stacks to an SVG flame graph, against flamegraph.pl and
# inferno-flamegraph where they are installed.
# usage: flame.sh [LINES]     (default: 200000)
# Room in TMPDIR: 300 MB.
# shellcheck source=tests/bench/bench.sh
. "$(dirname "$0")/bench.sh"

lines=${1:-200000}
flame=$(tool pprof-flame)
generator gen_folded
say_machine

in=$bench_tmp/in.folded
"$bench_tmp/gen_folded" "$lines" >"$in"
size=$(bytes_of "$in")
echo "$lines lines, $size bytes:"
for peer in flamegraph.pl inferno-flamegraph; do
  have "$peer" || echo "  $peer is not installed: left out"
done
for ((i = 0; i < REPS; i++)); do
  sample pprof-flame "$flame" -o "$bench_tmp/ours.svg" "$in"
  for peer in flamegraph.pl inferno-flamegraph; do
    ! have "$peer" || sample "$peer" "$peer" "$in"
  done
done
report pprof-flame "$size"
printf '  picture: %s bytes\n' "$(bytes_of "$bench_tmp/ours.svg")"
# Bytes of a frame: those of the rows, as style and script are there once.
sed -n '/<g class="rows"/,/<g class="labels"/p' "$bench_tmp/ours.svg" \
  >"$bench_tmp/rows"
gzip -9 -c "$bench_tmp/rows" >"$bench_tmp/rows.gz"
frames=$(grep -c '<rect' "$bench_tmp/rows")
printf '  a drawn frame: %s bytes, %s gzipped\n' \
  "$(($(bytes_of "$bench_tmp/rows") / frames))" \
  "$(($(bytes_of "$bench_tmp/rows.gz") / frames))"
sample diff "$flame" --diff-base="$in" -o "$bench_tmp/diff.svg" "$in"
report diff "$((2 * size))"
for peer in flamegraph.pl inferno-flamegraph; do
  have "$peer" || continue
  report "$peer" "$size"
  printf '  picture: %s bytes\n' "$(bytes_of "$bench_tmp/$peer.out")"
  versus pprof-flame "$peer"
done
