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
for peer in flamegraph.pl inferno-flamegraph; do
  have "$peer" || continue
  report "$peer" "$size"
  printf '  picture: %s bytes\n' "$(bytes_of "$bench_tmp/$peer.out")"
  versus pprof-flame "$peer"
done
