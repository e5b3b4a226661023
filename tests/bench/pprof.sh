#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A pprof file read and written, against `go tool pprof -proto`.
# usage: pprof.sh [SAMPLES]     (default: 1000000)
# Room in TMPDIR: 300 MB. Aims: 8 x as fast, a fifth of the memory.
# shellcheck source=tests/bench/bench.sh
. "$(dirname "$0")/bench.sh"

samples=${1:-1000000}
convert=$(tool pprof-convert)
generator gen_pprof
say_machine

in=$bench_tmp/in.pb.gz
"$bench_tmp/gen_pprof" "$samples" >"$bench_tmp/in.pb"
size=$(bytes_of "$bench_tmp/in.pb")
gzip -1 -n <"$bench_tmp/in.pb" >"$in"
rm "$bench_tmp/in.pb"
echo "$samples samples, $(bytes_of "$in") bytes, inflated $size:"

# The launcher `go tool` is no part of the peer's work.
peer=
if have go && [ -x "$(go env GOTOOLDIR)/pprof" ]; then
  peer=$(go env GOTOOLDIR)/pprof
  go version
  export PPROF_TMPDIR=$bench_tmp
else
  echo "  go tool pprof is not installed: measured alone"
fi
for ((i = 0; i < REPS; i++)); do
  sample pprof-convert "$convert" -o "$bench_tmp/ours.pb.gz" "$in"
  [ -z "$peer" ] || [ "$i" -ge "${PEER_REPS:-3}" ] ||
    sample go-pprof "$peer" -symbolize=none -proto \
      -output="$bench_tmp/peer.pb.gz" "$in"
done
report pprof-convert "$size"
printf '  written: %s bytes\n' "$(bytes_of "$bench_tmp/ours.pb.gz")"
if [ -n "$peer" ]; then
  report go-pprof "$size"
  printf '  written: %s bytes\n' "$(bytes_of "$bench_tmp/peer.pb.gz")"
  versus pprof-convert go-pprof
fi
