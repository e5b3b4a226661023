#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-report: the table of functions.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# rows FILE: flat, cum and name of each row, one blank between.
rows() {
  sed '1,/^ *flat  flat%/d' "$1" | awk '{
    line = $1 " " $4
    for (i = 6; i <= NF; i++) line = line " " $i
    print line
  }'
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  need protoc
  protoc --encode=perftools.profiles.Profile \
    -I "$top_srcdir/lib/profile" profile.proto \
    <"$fixtures/good-small.textproto" >small.pb
}

@test "flat, cum and names of a small profile, worked out by hand" {
  pprof-report --unit=exact --min-percent=0 -o out small.pb
  expect "rows" "$(rows out)" '51200B 52224B outer
1024B 1024B inner <&> "quoted" (inline)
-100B 52124B main'
  # Percentages are of the sum of magnitudes: 52324.
  expect "outer" "$(awk '/outer/ { print $2, $3, $5 }' out)" \
    "97.85% 97.85% 99.81%"
}

@test "flat figures add up to the total in every unit and order" {
  for type in objects space; do
    for order in --flat --cum; do
      pprof-report --unit=exact --min-percent=0 $order \
        --sample-type=$type -o out small.pb
      case $type in
      objects) total=8 ;;
      space) total=52124 ;;
      esac
      expect "$type $order" "$(rows out |
        awk '{ gsub(/[^0-9-]/, "", $1); s += $1 } END { print s }')" "$total"
    done
  done
}

@test "rows are limited and sorted as asked" {
  pprof-report -n 1 --unit=exact -o out small.pb
  expect "one row" "$(rows out | wc -l)" 1
  grep -q 'Showing top 1 nodes out of' out
  pprof-report --cum --unit=exact -o out small.pb
  rows out | awk '{ gsub(/[^0-9]/, "", $2); print $2 }' >cums
  sort -rn cums | cmp - cums
  pprof-report --flat --unit=exact -o out small.pb
  rows out | awk '{ gsub(/[^0-9]/, "", $1); print $1 }' >flats
  sort -rn flats | cmp - flats
}

@test "the word top, the old options, and standard input" {
  pprof-report -o out1 small.pb
  pprof-report top small.pb >out2
  pprof-report small.pb top >out3
  pprof-report --top - <small.pb >out4
  for i in 2 3 4; do
    cmp out1 out$i
  done
}

@test "granularity: function, line, file, module, address" {
  pprof-report --by=line --unit=exact --min-percent=0 -o out small.pb
  grep -q 'src/a.c:34' out
  pprof-report --by=file --unit=exact --min-percent=0 -o out small.pb
  expect "file" "$(rows out | wc -l)" 1
  pprof-report --by=module --unit=exact --min-percent=0 -o out small.pb
  grep -q 'server' out
  pprof-report --by=address --unit=exact --min-percent=0 -o out small.pb
  grep -qi '4[0-9a-f]*' out
  run_tool pprof-report --by=colour small.pb
  expect "unknown" "$tool_status" 2
}

@test "an empty profile is a table without rows" {
  run_tool pprof-report "$fixtures/good-no-samples.heap"
  expect "status" "$tool_status" 0
  expect "rows" "$(rows stdout | wc -l)" 0
  grep -q '0 total' stdout
}

@test "locale and colour do not show in a file" {
  LC_ALL=C pprof-report -o out1 small.pb
  LC_ALL=C.UTF-8 pprof-report small.pb >out2
  NO_COLOR=1 pprof-report small.pb >out3
  cmp out1 out2
  cmp out1 out3
  absent "$(printf '\033')" out1
}

@test "names of any bytes stay on their line and drive no terminal" {
  printf 'a\033[31m;b\tc;\360\237\230\200 7\nx\177y 5\n' >odd.folded
  pprof-report --min-percent=0 -o out odd.folded
  absent "$(printf '[\033\177]')" out
  expect "rows" "$(rows out | wc -l)" 4
}

# sums FILE OPTION...: the members of the JSON that can be added up.
sums() {
  pprof-report --json --min-percent=0 "$@" | python3 -c '
import json, sys
d = json.load(sys.stdin)
rows = d["rows"]
assert all(abs(r["cum"]) >= abs(r["flat"]) for r in rows)
assert rows == sorted(rows, key=lambda r: (-r["flat"], r["name"]))
print(d["type"], d["unit"], d["total"], d["sum_flat"], d["left_out"],
      sum(r["flat"] for r in rows), max(r["cum"] for r in rows))'
}

@test "--json: exact values, that add up to the input's" {
  need python3
  printf 'main;f;g 5\nmain;f 2\nmain;h<&"> 9007199254740993\n' >in.folded
  expect "folded" "$(sums in.folded)" "samples count 9007199254741000 \
9007199254741000 0 9007199254741000 9007199254741000"
  expect "a heap" "$(sums --raw-counts "$fixtures/good-plain.heap")" \
    "inuse_space bytes 106496 106496 0 106496 106496"
  pprof-report --json --min-percent=0 -n 1 in.folded >out
  grep -qF '"left_out":3,"rows":[{"name":"h' out
  grep -qF '"flat":9007199254740993,"cum":9007199254740993,' out
  for wrong in traces tree --divide-by=2; do
    run_tool pprof-report --json "$wrong" in.folded
    expect "$wrong" "$tool_status" 2
    grep -q -- '--json' stderr
  done
}
