#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Inputs of every format through pprof-convert, against facts that are known
# of them.

# shellcheck disable=SC2030,SC2031,SC2154

load helpers

@test "every reader is listed and can be asked for" {
  pprof-convert --list-formats >list
  for name in jemalloc pprof folded cpu contention counts threads symbolized \
    pem raw cbor jemalloc-json perf-script; do
    grep -q "^  $name " list || fail_with "no $name"
    run pprof-convert --format=$name -o out </dev/null
    expect "$name" "$status" 2
  done
}

@test "an input of one format becomes the same through others" {
  for input in "$fixtures"/good-*.heap "$fixtures"/good-*.folded; do
    pprof-convert -q --time=1 -o 1.pb.gz "$input" || continue
    for writer in cbor pem pprof; do
      pprof-convert -q --to=$writer -o x 1.pb.gz
      pprof-convert -q -o 2.pb.gz x
      cmp 1.pb.gz 2.pb.gz || fail_with "$input by $writer"
    done
  done
}

@test "legacy profiles have the samples and values that pprof has" {
  need protoc
  data=$corpus/public/google+pprof/profile/testdata
  [ -d "$data" ] || skip "no profiles at $data"
  # name, samples, sum of each value, as in NAME.string
  while read -r name expected; do
    pprof-convert -q -o out.pb.gz "$data/$name"
    expect "$name" "$(totals out.pb.gz)" "$expected"
  done <<'END'
cppbench.contention 6 3500 690508213
cppbench.cpu 50 712 7120000000
cppbench.growth 6 85 178257920
cppbench.thread 3 4
cppbench.thread.all 3 4
cppbench.thread.none 4 4
go.crc32.cpu 7 211 2110000000
go.godoc.thread 7 7
gobench.cpu 153 305 3050000000
java.contention 3 700 1900
java.cpu 8 7 70000000
END
}

@test "gperftools and Go: facts beside the files" {
  need protoc
  need_corpus real/gperftools
  pprof-convert -q -o out.pb.gz "$corpus/real/gperftools/cpu/cpu.prof"
  expect cpu.prof "$(totals out.pb.gz)" "8 259 1036000000"
  pprof-convert -q -o out.pb.gz "$corpus/real/go/s1/mutex.debug1.txt"
  expect mutex "$(totals out.pb.gz)" "1 199 252966885"
  decode out.pb.gz | grep -q 'sync.(\*Mutex).Unlock'
  pprof-convert -q --to=folded "$corpus/real/go/s1/heap.debug1.txt" >folded
  expect plainLeaf "$(awk '/main.plainLeaf/ { n += $NF } END { print n }' \
    folded)" 1024000
  expect größe "$(awk '/main.größe/ { n += $NF } END { print n }' folded)" \
    819200
}

@test "raw addresses: the same stacks in each shape" {
  need protoc
  need_corpus real/raw
  raw=$corpus/real/raw/backtrace
  pprof-convert -q -o a.pb.gz "$raw/stacks.raw"
  pprof-convert -q --maps="$raw/maps" -o b.pb.gz "$raw/stacks.counted.txt"
  pprof-convert -q --maps="$raw/maps" -o c.pb.gz "$raw/folded-addr.txt"
  expect stacks "$(totals a.pb.gz)" "8 437"
  decode a.pb.gz | grep -v time_nanos >a
  decode b.pb.gz | grep -v time_nanos | cmp - a
  decode c.pb.gz | grep -v time_nanos | cmp - a
  pprof-convert -q -o out.pb.gz "$corpus/real/raw/core/eu-stack.txt"
  expect eu-stack "$(totals out.pb.gz)" "2 7"
}

@test "perf script: every choice of fields has all samples" {
  need protoc
  need_corpus real/raw
  while read -r name expected; do
    pprof-convert -q -o out.pb.gz "$corpus/real/raw/perf/perf.script$name.txt"
    expect "$name" "$(totals out.pb.gz | cut -d ' ' -f 2)" "$expected"
  done <<'END'
.dso 511
.dwarf 503
.dwarf.mangled 503
.iponly 503
END
}

@test "jeprof reads what is written for it" {
  need jeprof
  printf 'main;run;leaf 3\nmain;other 4\n' >in.folded
  pprof-convert --to=jeprof -o out in.folded
  jeprof --text out 2>/dev/null >text
  expect leaf "$(awk '$NF == "leaf" { print $1 }' text)" 3
  expect main "$(awk '$NF == "main" { print $4 }' text)" 7
}
