#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A jemalloc dump without symbols to folded stacks: against jeprof on 20,000
# stacks, alone on 1,000,000 stacks of 40 frames.
# usage: convert.sh [STACKS [STACKS-ALONE]]
# Room in TMPDIR: 1.5 GB. Aims: 100 x jeprof, 150 MB/s, memory a third of
# the file.
# shellcheck source=tests/bench/bench.sh
. "$(dirname "$0")/bench.sh"

small=${1:-20000}
large=${2:-1000000}
convert=$(tool pprof-convert)
generator gen_heap
say_machine

"$bench_tmp/gen_heap" "$small" >"$bench_tmp/small.heap"
size=$(bytes_of "$bench_tmp/small.heap")
echo "$small stacks, $size bytes, to folded:"
have jeprof || echo "  jeprof is not installed: measured alone"
for ((i = 0; i < REPS; i++)); do
  sample pprof-convert "$convert" --to=folded "$bench_tmp/small.heap"
  # It wants a program, of which it asks nothing here.
  ! have jeprof || [ "$i" -ge "${PEER_REPS:-3}" ] ||
    sample jeprof jeprof --collapsed /bin/true "$bench_tmp/small.heap"
done
report pprof-convert "$size"
if have jeprof; then
  report jeprof "$size"
  versus pprof-convert jeprof
fi

[ "$large" != 0 ] || exit 0
"$bench_tmp/gen_heap" "$large" >"$bench_tmp/large.heap"
size=$(bytes_of "$bench_tmp/large.heap")
echo "$large stacks, $size bytes:"
for ((i = 0; i < REPS; i++)); do
  sample large-folded "$convert" --to=folded -o "$bench_tmp/large.out" \
    "$bench_tmp/large.heap"
  sample large-pprof "$convert" --to=pprof -o "$bench_tmp/large.out" \
    "$bench_tmp/large.heap"
  rm -f "$bench_tmp/large.out"
done
for label in large-folded large-pprof; do
  report "$label" "$size"
  printf '  memory / file size: %s\n' \
    "$(calc "$(median "$label" 3) * 1024 / $size")"
done
