#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Programs that are not ours read what we write, and agree: go tool pprof on
# totals, names and the table, protoc on the message.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export HOME=$BATS_TEST_TMPDIR PPROF_TMPDIR=$BATS_TEST_TMPDIR
  export PPROF_BINARY_PATH=/nonexistent
}

need_go() {
  need go
  go tool pprof -h >/dev/null 2>&1 || [ $? != 1 ] ||
    skip "no go tool pprof here"
}

theirs() {
  go tool pprof -symbolize=none "$@" 2>go-errors ||
    fail_with "go tool pprof: $(cat go-errors)"
}

# raw_facts FILE: number of samples and the sums, by go tool pprof -raw.
raw_facts() {
  theirs -raw "$1" | awk '
    /^Samples:/ { on = 1; getline; t = NF; next }
    /^Locations/ { on = 0 }
    on && /^ *-?[0-9]+ .*:|^ *-?[0-9]+:/ {
      n++
      for (i = 1; i <= t; i++) { v = $i; sub(/:.*/, "", v); s[i] += v }
    }
    END {
      printf "%d", n
      for (i = 1; i <= t; i++) printf " %.0f", s[i]
      print ""
    }'
}

@test "go tool pprof reads every fixture with the same samples and sums" {
  need_go
  need protoc
  for file in "$fixtures"/good-*.heap "$fixtures"/good-*.folded; do
    pprof-convert -q --threads -o out.pb.gz "$file"
    [ -s out.pb.gz ]
    [ "$(totals out.pb.gz | cut -d' ' -f1)" != 0 ] || continue
    expect "$file" "$(raw_facts out.pb.gz)" "$(totals out.pb.gz)"
  done
}

# same_table FILE OPTION...: our table and theirs, from "Showing" on.
same_table() {
  local file=$1
  shift
  theirs -top "$@" "$file" | sed -n '/^Showing/,$p' >their-table
  pprof-report -q "$@" -o report "$file"
  sed -n '/^Showing/,$p' report >our-table
  diff their-table our-table >&2 || fail_with "$file $*"
}

@test "go tool pprof prints the same table: small profiles" {
  need_go
  need protoc
  protoc --encode=perftools.profiles.Profile \
    -I "$top_srcdir/lib/profile" profile.proto \
    <"$fixtures/good-small.textproto" >small.pb
  pprof-convert -o small.pb.gz small.pb
  for file in small.pb small.pb.gz; do
    same_table $file
    same_table $file -cum
    same_table $file -sample_index=objects
    same_table $file -nodecount=1
  done
}

@test "go tool pprof prints the same table: a symbolized heap" {
  need_go
  need_corpus real/ballast
  for flavour in gcc-O2 clang-O2 gcc-O0; do
    pprof-convert -q --path-map="/srv/build/corpus=$corpus/real" \
      -o out.pb.gz "$corpus/real/ballast/$flavour/s0/01-full.heap"
    same_table out.pb.gz
    same_table out.pb.gz -cum
    same_table out.pb.gz -inuse_objects
    same_table out.pb.gz -nodecount=10
  done
}

@test "go tool pprof reads symbolized heaps with the same sums" {
  need_go
  need protoc
  need_corpus real/ballast
  for flavour in gcc-O2 gcc-O2-lto gcc-O2-m32 clang-O2-lld-icf; do
    dump=$corpus/real/ballast/$flavour/s0/01-full.heap
    pprof-convert -q --threads -o out.pb.gz \
      --path-map="/srv/build/corpus=$corpus/real" "$dump"
    expect "$flavour" "$(raw_facts out.pb.gz)" "$(totals out.pb.gz)"
    theirs -raw out.pb.gz >raw
    for name in run_plain alloc_leaf größe_in_bytes; do
      grep -q "$name" raw || fail_with "$flavour: $name"
    done
    grep -qE 'thread:\[' raw
  done
}

@test "go tool pprof reads thousands of stacks with the same sums" {
  need_go
  need protoc
  need_corpus real/apps
  for dump in apps/python/py.17509.15.i15.heap apps/clang/clang.s12.f.heap; do
    pprof-convert -q -o out.pb.gz "$corpus/real/$dump"
    [ -s out.pb.gz ]
    expect "$dump" "$(raw_facts out.pb.gz)" "$(totals out.pb.gz)"
  done
}

@test "protoc agrees with profile.proto, strings included" {
  need protoc
  for file in good-plain.heap good-accum.heap good-plain.folded; do
    pprof-convert -q --level=0 -o out.pb "$fixtures/$file"
    protoc --decode=perftools.profiles.Profile -I "$top_srcdir/lib/profile" \
      profile.proto <out.pb >text
    # No field that the message does not have.
    absent '^ *[0-9]+[: ]' text
    protoc --encode=perftools.profiles.Profile -I "$top_srcdir/lib/profile" \
      profile.proto <text >again.pb
    pprof-convert --level=0 -o third.pb again.pb
    cmp out.pb third.pb
  done
}

@test "what protoc writes is read: the small profile" {
  need protoc
  protoc --encode=perftools.profiles.Profile \
    -I "$top_srcdir/lib/profile" profile.proto \
    <"$fixtures/good-small.textproto" >small.pb
  expect "facts" "$(facts small.pb)" "3 8 52124"
  pprof-convert --to=folded -o out small.pb
  expect "folded" "$(cat out)" 'main -100
main;outer 51200
main;outer;inner <&> "quoted" 1024'
  decode facts.pb >text
  grep -q '"worker; 3"' text
  grep -q 'num: 512' text
}

@test "gzip, and only gzip, takes the compression off" {
  need protoc
  pprof-convert --time=1 -o out.pb.gz "$fixtures/good-plain.heap"
  pprof-convert --time=1 --level=0 -o out.pb "$fixtures/good-plain.heap"
  gzip -t out.pb.gz
  gzip -dc out.pb.gz | cmp - out.pb
}
