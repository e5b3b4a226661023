#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-extract: blocks out of logs, files, rows and exit statuses.

# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# block TYPE FILE: a PEM block.
block() {
  printf -- '-----BEGIN %s-----\n' "$1"
  base64 -w 64 "$2"
  printf -- '-----END %s-----\n' "$1"
}

# a pprof file and blocks of it
prepare() {
  pprof-convert --time=1 -o heap.pb.gz "$fixtures/good-plain.heap"
  block 'PPROF MEM' heap.pb.gz >pem
}

@test "one file a block, named by type, never replaced" {
  prepare
  cat pem pem >log
  echo text | gzip >text.gz
  block CPU text.gz >>log
  mkdir out
  pprof-extract -C out log >rows
  cmp heap.pb.gz out/pprof_mem.pb.gz
  cmp heap.pb.gz out/pprof_mem.1.pb.gz
  cmp text.gz out/cpu.bin.gz
  expect files "$(find out -type f | wc -l)" 3
  expect rows "$(cut -f 2 rows | tr '\n' ',')" 'PPROF MEM,PPROF MEM,CPU,'
  expect rows "$(cut -f 6 rows | sort -u)" ok
  pprof-extract -C out log >rows
  expect files "$(find out -type f | wc -l)" 6
}

@test "what collectors do to lines" {
  prepare
  mkdir out
  while read -r name script; do
    sed "$script" pem >log
    rm -f out/*
    pprof-extract -C out log >rows
    cmp heap.pb.gz out/pprof_mem.pb.gz || fail_with "$name"
  done <<'END'
plain s/^//
crlf s/$/\r/
indented s/^/    /
cri s/^/2024-01-01T00:00:00.123Z stderr F /
syslog s/^/Jan 31 10:00:00 host app[17]: /
pod s/^/[pod\/server-0] /
json s/.*/{"t":1,"msg":"&"}/;s,/,\\/,g
foreign s/^/2024 INFO done\ndone\n/
END
  tr '\n' '~' <pem | sed 's/~/\\n/g; s/.*/{"log":"&"}\n/' >log
  rm -f out/*
  pprof-extract -C out log >rows
  cmp heap.pb.gz out/pprof_mem.pb.gz
}

@test "two processes at once, standard input, gzip" {
  prepare
  paste -d '\n' <(sed 's/^/[a] /' pem) <(sed 's/^/[b] /' pem) |
    gzip | pprof-extract >rows
  cmp heap.pb.gz pprof_mem.pb.gz
  cmp heap.pb.gz pprof_mem.1.pb.gz
}

@test "exit status: 0 all good, 1 some damaged, 2 none" {
  prepare
  head -n 3 pem >part
  cat pem part >log
  run pprof-extract --list log
  expect status "$status" 1
  run pprof-extract --list pem
  expect status "$status" 0
  echo hello >log
  run pprof-extract --list log
  expect status "$status" 2
  run pprof-extract --list /nonexistent
  expect status "$status" 2
  run pprof-extract -C /nonexistent pem
  expect status "$status" 2
  run pprof-extract --to=nonsense pem
  expect status "$status" 2
}

@test "conversion on the way, and the writer of PEM" {
  prepare
  pprof-convert --time=1 --to=pem heap.pb.gz >log
  grep -q '^-----BEGIN PPROF MEM-----$' log
  pprof-extract log >rows
  cmp heap.pb.gz pprof_mem.pb.gz
  pprof-extract --to=folded log >rows
  pprof-convert --to=folded heap.pb.gz >folded
  cmp folded pprof_mem.folded
  pprof-convert log >direct.pb.gz
  decode direct.pb.gz | grep -v time_nanos >direct
  decode heap.pb.gz | grep -v time_nanos | cmp - direct
}

@test "a log of a collector with six blocks: what its bytes allow" {
  log=$corpus/public/kopia+kopia/tools/kats/pems/testdata/Spark_2k.pems.lst
  [ -f "$log" ] || skip "no log at $log"
  run pprof-extract --list "$log"
  expect status "$status" 1
  expect blocks "${#lines[@]}" 6
  expect whole "$(grep -c -P '\t761\t' <<<"$output")" 4
}
