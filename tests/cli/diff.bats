#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-diff: the profile as go tool pprof writes it, the table, the series.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

profile() {
  printf '%b' "$2" | pprof-convert --format=folded \
    --time="${3:-1700000000}" -o "$1" -
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  profile a.pb.gz 'main;f 10\nmain;g 20\nmain;same 5\n'
  profile b.pb.gz 'main;f 15\nmain;h 7\nmain;same 5\n'
}

@test "the table: new, gone, grown" {
  pprof-diff -o out a.pb.gz b.pb.gz
  expect "rows" "$(sed '1,/  function$/d' out | tr -s ' ')" \
    ' 20 0 -20 gone g
 0 7 +7 new h
 10 15 +5 +50% f'
  grep -q '^Total: 35 -> 27, -8 (-22.9%), exact$' out
  grep -q '2 did not change' out
}

@test "growth, shrink, order, limit" {
  expect "growth" "$(pprof-diff --growth --sort=name a.pb.gz b.pb.gz |
    sed '1,/  function$/d' | awk '{ print $NF }' | tr '\n' ' ')" 'f h '
  expect "shrink" "$(pprof-diff --shrink a.pb.gz b.pb.gz |
    sed '1,/  function$/d' | awk '{ print $NF }')" g
  expect "limit" "$(pprof-diff -n 1 a.pb.gz b.pb.gz |
    sed '1,/  function$/d' | wc -l)" 1
}

@test "--json is JSON with exact numbers" {
  need python3
  pprof-diff --json -o out a.pb.gz b.pb.gz
  expect "deltas" "$(python3 -c '
import json
d = json.load(open("out"))
print(sum(c["delta"] for c in d["changes"]), d["unchanged"])')" '-8 2'
}

@test "labelled halves and cancelled differences" {
  pprof-diff --proto -o half.pb.gz a.pb.gz b.pb.gz
  expect "new half" "$(pprof-convert --to=folded \
    --tagignore=pprof::base=true half.pb.gz)" "$(pprof-convert --to=folded \
    b.pb.gz)"
  expect "total" "$(totals half.pb.gz)" '6 -8'
  pprof-diff --cancel -o cancel.pb.gz a.pb.gz b.pb.gz
  expect "differences" "$(pprof-convert --to=folded cancel.pb.gz)" \
    'main;f 5
main;g -20
main;h 7'
  pprof-diff --cancel -o none.pb.gz a.pb.gz a.pb.gz
  expect "nothing" "$(totals none.pb.gz)" '0 0'
  pprof-diff --proto --normalize a.pb.gz b.pb.gz >norm.pb.gz
  expect "normalized" "$(pprof-convert --tagignore=pprof::base=true \
    --to=folded norm.pb.gz)" 'main;f 19
main;h 9
main;same 6'
}

@test "halves and differences as go tool pprof makes them" {
  need go
  need_corpus pprof-small
  local a=$corpus/pprof-small/a.pb.gz b=$corpus/pprof-small/b.pb.gz
  for how in diff_base base; do
    local mode=--proto
    [ $how = diff_base ] || mode=--cancel
    go tool pprof -symbolize=none -top -$how="$a" "$b" 2>/dev/null |
      sed '1,/ flat%/d' >want || skip "go has no pprof"
    pprof-diff $mode -o d.pb.gz "$a" "$b"
    pprof-report d.pb.gz | sed '1,/ flat%/d' >got
    diff want got
  done
}

@test "a series is put in order by the dump's number, not by its name" {
  for i in 1 2 3 4 5 6 7 8 9 10 11; do
    profile "jeprof.5.$i.i$i.heap" \
      "main;leak $((100 + i))\nmain;churn $((i * 7919 % 101))\n"
  done
  pprof-diff -o out jeprof.5.*.heap
  expect "first and last" "$(sed -n '1,2s/.*jeprof/jeprof/p' out)" \
    'jeprof.5.1.i1.heap
jeprof.5.11.i11.heap'
  expect "the leak comes first" "$(sed '1,/  function$/d' out |
    awk 'NR == 1 { print $1, $2, $3, $NF }')" '101 111 +10 leak'
}

@test "without numbers a series is in order of time" {
  profile x.pb.gz 'f 3\n' 1700000020
  profile y.pb.gz 'f 1\n' 1700000000
  profile z.pb.gz 'f 2\n' 1700000010
  expect "slope a second" "$(pprof-diff --json x.pb.gz y.pb.gz z.pb.gz |
    grep -o '"slope":[^,]*')" '"slope":1.00000000e-01'
}

@test "usage" {
  run_tool pprof-diff a.pb.gz
  expect "one file" "$tool_status" 2
  run_tool pprof-diff --proto a.pb.gz b.pb.gz a.pb.gz
  expect "three" "$tool_status" 2
  run_tool pprof-diff -o out a.pb.gz missing
  expect_refused "missing" missing
}
