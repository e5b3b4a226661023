#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Merging and subtracting pprof files, against `go tool pprof`, and how cost
# grows with the number of samples.
# usage: merge.sh [SAMPLES [INPUTS]]     (default: 100000 10)
# Room in TMPDIR: 500 MB. Aims: 10 x as fast, a tenth of the memory.
# shellcheck source=tests/bench/bench.sh
. "$(dirname "$0")/bench.sh"

samples=${1:-100000}
inputs=${2:-10}
merge=$(tool pprof-merge)
diff=$(tool pprof-diff)
report=$(tool pprof-report)
generator gen_pprof
say_machine

# profile SAMPLES RUN: its path.
profile() {
  local file=$bench_tmp/$1.$2.pb.gz
  [ -f "$file" ] || "$bench_tmp/gen_pprof" "$1" "$2" | gzip -1 -n >"$file"
  echo "$file"
}

files=()
for ((i = 1; i <= inputs; i++)); do
  files+=("$(profile "$samples" "$i")")
done
big=$((samples * inputs))
base=$(profile "$big" 1)
new=$(profile "$big" 2)

# The launcher `go tool` is no part of the peer's work.
peer=
if have go && [ -x "$(go env GOTOOLDIR)/pprof" ]; then
  peer=$(go env GOTOOLDIR)/pprof
  go version
  export PPROF_TMPDIR=$bench_tmp
else
  echo "  go tool pprof is not installed: measured alone"
fi

# pair TITLE LABEL OURS... -- THEIRS...: ours REPS times, theirs PEER_REPS.
pair() {
  local title=$1 label=$2 i
  shift 2
  local ours=() theirs=()
  while [ "$1" != -- ]; do
    ours+=("$1")
    shift
  done
  shift
  theirs=("$@")
  echo "$title:"
  for ((i = 0; i < REPS; i++)); do
    sample "$label" "${ours[@]}"
    [ -z "$peer" ] || [ "$i" -ge "${PEER_REPS:-1}" ] ||
      sample "$label-go" "$peer" -symbolize=none "${theirs[@]}"
  done
  report "$label"
  [ -z "$peer" ] || {
    report "$label-go"
    versus "$label" "$label-go"
  }
}

pair "merge of $inputs x $samples samples" merge \
  "$merge" -o "$bench_tmp/out.pb.gz" "${files[@]}" -- \
  -proto -output="$bench_tmp/peer.pb.gz" "${files[@]}"
pair "the same, not compressed" merge-plain \
  "$merge" --level=0 -o "$bench_tmp/out.pb" "${files[@]}" -- \
  -proto -output="$bench_tmp/peer.pb.gz" "${files[@]}"
pair "difference of $big / $big samples, a profile" diff \
  "$diff" --proto -o "$bench_tmp/out.pb.gz" "$base" "$new" -- \
  -proto -output="$bench_tmp/peer.pb.gz" -diff_base="$base" "$new"
pair "difference of $samples / $samples samples, a table" table \
  "$diff" -o "$bench_tmp/out" "${files[0]}" "${files[1]}" -- \
  -top -output="$bench_tmp/peer" -diff_base="${files[0]}" "${files[1]}"
pair "top of $big samples" top \
  "$report" -o "$bench_tmp/out" "$base" -- \
  -top -output="$bench_tmp/peer" "$base"
pair "top of $big samples, filtered" focus \
  "$report" --focus=module1 --ignore=module11 -o "$bench_tmp/out" \
  "$base" -- \
  -top -focus=module1 -ignore=module11 -output="$bench_tmp/peer" "$base"

echo "growth: CPU of the merge for $inputs x the samples"
small=()
for ((i = 1; i <= inputs; i++)); do
  small+=("$(profile "$((samples / 10))" "$i")")
done
for ((i = 0; i < REPS; i++)); do
  sample merge-small "$merge" --level=0 -o "$bench_tmp/out.pb" "${small[@]}"
done
report merge-small
printf '  10 x the samples: %s x the CPU\n' \
  "$(calc "$(median merge-plain 1) / $(median merge-small 1)" %.1f)"
