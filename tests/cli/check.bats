#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-check: verdicts, with figures worked out by hand.

# Variables of the helpers.
# shellcheck disable=SC2154

load helpers

# heap FILE RATE COUNT: COUNT sampled blocks of one byte each: with z bytes a
# block far below the rate R a total of COUNT * R and a variance of
# COUNT * R * R.
heap() {
  printf 'heap_v2/%s\n  t*: %s: %s [0: 0]\n@ 0x1000 0x2000\n' \
    "$2" "$3" "$3" >"$1"
  printf '  t*: %s: %s [0: 0]\n' "$3" "$3" >>"$1"
}

# verdict STATUS OPTION...
verdict() {
  local want=$1
  shift
  run_tool pprof-check "$@"
  expect "$*: status ($(cat stdout stderr))" "$tool_status" "$want"
}

# One block more is 1 / sqrt(100 + 101) standard errors, 50 more are
# 50 / sqrt(250) = 3.16: beyond 2.576, the bound of 99%, within 3.29, that of
# 99.9%; 30 more are 30 / sqrt(230) = 1.98.
@test "growth is told from noise at the confidence" {
  heap a.heap 1048576 100
  heap b.heap 1048576 101
  heap c.heap 1048576 150
  heap d.heap 1048576 130
  verdict 0 --base=a.heap a.heap
  verdict 0 --base=a.heap b.heap
  verdict 0 --base=a.heap d.heap
  verdict 1 --base=a.heap --confidence=95 d.heap
  verdict 1 --base=a.heap c.heap
  grep -q '^FAIL  no growth: total 100 MiB -> 150 MiB (+50%)' stdout
  verdict 0 --base=a.heap --confidence=99.9 c.heap
  verdict 0 --base=c.heap a.heap
}

# 200 after 100, 5% allowed: 95 / sqrt(200 + 1.1025 * 100) = 5.39. 110 after
# 100: 5 / sqrt(110 + 110.25) = 0.34, no verdict. 50 after 100:
# -55 / sqrt(50 + 110.25) = -4.34.
@test "a limit has three answers" {
  heap a.heap 1048576 100
  heap b.heap 1048576 200
  heap c.heap 1048576 110
  heap d.heap 1048576 50
  verdict 1 --base=a.heap --max-growth=5% b.heap
  verdict 3 --base=a.heap --max-growth=5% c.heap
  verdict 0 --base=a.heap --max-growth=5% d.heap
}

# 40 after 100, half may go: 10 / sqrt(40 + 0.25 * 100) = 1.24, no verdict; 10
# after 100: 40 / sqrt(10 + 25) = 6.8; 90 after 100: -40 / sqrt(90 + 25) = -3.7.
@test "a ballast that is gone fails" {
  heap a.heap 1048576 100
  heap b.heap 1048576 40
  heap c.heap 1048576 10
  heap d.heap 1048576 90
  verdict 3 --base=a.heap --max-shrink=50% b.heap
  verdict 1 --base=a.heap --max-shrink=50% c.heap
  grep -q '^FAIL  max-shrink: total 100 MiB -> 10 MiB (-90%)' stdout
  verdict 0 --base=a.heap --max-shrink=50% d.heap
  verdict 0 --base=a.heap --max-shrink=50% --max-growth=50% d.heap
  verdict 1 --base=d.heap --max-shrink=50% --max-growth=0 \
    --confidence=10 a.heap
}

@test "a real program: full, half gone, leaking, and reset" {
  need_corpus real/ballast
  cd "$corpus/real/ballast/gcc-O2-strip-g/s0" || return 1
  out=$BATS_TEST_TMPDIR
  for row in '0 01-full 01-full' '1 00-base 01-full' '0 01-full 02-half' \
    '1 01-full 03-regressed' '3 01-full 05-reset-empty' \
    '3 01-full 06-reset-16-bytes' '1 01-full 06-reset-16-bytes 50%'; do
    # shellcheck disable=SC2086 # words
    set -- $row
    status=0
    pprof-check --base="$2.heap" ${4:+--max-shrink=$4} "$3.heap" \
      >"$out/stdout" 2>"$out/stderr" || status=$?
    expect "$row: $(cat "$out/stdout" "$out/stderr")" "$status" "$1"
  done
}

@test "what cannot be judged does not pass" {
  heap a.heap 1048576 100
  heap rate.heap 524288 100
  printf 'heap_v2/1048576\n  t*: 0: 0 [0: 0]\n' >empty.heap
  verdict 3 --base=a.heap rate.heap
  grep -q 'same rate' stdout
  verdict 3 --base=empty.heap a.heap
  verdict 3 --base=a.heap empty.heap
  verdict 3 --base=a.heap --floor=1G a.heap
}

@test "exact profiles: any growth counts" {
  printf 'main;f 100\nmain;g 5\n' >a.folded
  printf 'main;f 100\nmain;g 6\n' >b.folded
  verdict 0 --base=a.folded a.folded
  verdict 1 --base=a.folded b.folded
  grep -q '^FAIL  function: 5 .* -> 6 .*: g$' stdout
  absent ': f$' stdout
  verdict 0 --base=a.folded --max-growth=1% b.folded
}

@test "usage" {
  heap a.heap 1048576 100
  verdict 2 a.heap
  verdict 2 --base=a.heap
  verdict 2 --base=a.heap --max-growth=5x a.heap
  verdict 2 --base=a.heap --confidence=100 a.heap
  verdict 2 --base=absent.heap a.heap
}

# dump FILE STACKS BYTES: so many stacks, the last one has what is missing.
dump() {
  awk -v n="$2" -v sum="$3" 'BEGIN {
    print "heap_v2/524288\n  t*: 9: 999999999999 [0: 0]\n  t0: 9: 9 [0: 0]"
    for (i = 1; i <= n; i++) {
      bytes = i < n ? int(sum / n) : sum - (n - 1) * int(sum / n)
      printf "@ 0x%x 0x1000\n  t*: 1: %.0f [0: 0]\n", 4096 + i, bytes
      printf "  t0: 1: %.0f [0: 0]\n", bytes
    }
  }' >"$1"
}

# The figures of a real service before and after prof.reset.
@test "--raw: half of the bytes in the dumps themselves, or prof.reset" {
  dump before.heap 111 103487710
  dump after.heap 1 16
  verdict 1 --raw --base=before.heap after.heap
  grep -qx 'base: 103487710 bytes in 111 stacks' stdout
  grep -qx 'new: 16 bytes in 1 stack' stdout
  grep -q '^FAIL .* at least 51743855 bytes$' stdout
  grep -q 'looks like prof.reset' stdout
  # Half, by division down to whole bytes; a million at least.
  dump odd.heap 3 1000001
  dump half.heap 2 500000
  dump less.heap 2 499999
  verdict 0 --raw --base=odd.heap half.heap
  verdict 1 --raw --base=odd.heap less.heap
  absent reset stdout
  dump small.heap 3 999999
  verdict 3 --raw --base=small.heap small.heap
  grep -q 'nothing was captured' stdout
  verdict 0 --raw --floor=999999 --base=small.heap small.heap
  # Other limits, standard input, gzip.
  verdict 1 --raw --max-growth=5% --base=odd.heap before.heap
  verdict 0 --raw --max-shrink=60% --base=odd.heap less.heap
  gzip -c half.heap >half.gz
  verdict 0 --raw --base=odd.heap half.gz
  verdict 2 --raw --confidence=99 --base=odd.heap half.heap
  verdict 2 --raw --base=odd.heap nothing.heap
}

@test "--raw: which lines count" {
  printf '%s\n' 't*: 1: 5000000 [0: 0]' '@ 0x1' 'noise' \
    '  t*: 1: 700000 [0: 0]' \
    '  t*: 1: 9 [0: 0]' '@ 0x2' '@ 0x3' ' t1: 4: 4 [0: 0]' \
    '  t*: 2: 300000 [0: 0]' 'MAPPED_LIBRARIES:' >lines.heap
  verdict 0 --raw --base=lines.heap lines.heap
  grep -qx 'base: 1000000 bytes in 3 stacks' stdout
  printf '@ 0x1\n  t*: 1: x [0: 0]\n' >bad.heap
  verdict 2 --raw --base=lines.heap bad.heap
  grep -q "bad.heap:2: expected the bytes of a stack, found 'x" stderr
  printf '@ 1\nt*: 1: 18446744073709551615\n@ 2\nt*: 1: 1\n' >sum.heap
  verdict 2 --raw --base=lines.heap sum.heap
  grep -q 'sum.heap:4: .*beyond 64 bits' stderr
}

@test "--raw: the sums of real dumps are those of a few lines of awk" {
  need_corpus real/ballast
  seen=0
  for file in "$corpus"/real/ballast/*/s0/*.heap \
    "$corpus"/real/apps/*/*.heap; do
    want=$(awk '/^@/ { n++; p = 1 } p && /^ *t\*:/ { s += $3; p = 0 }
      END { printf "%.0f bytes in %d", s, n }' "$file")
    run_tool pprof-check --raw --floor=0 --base="$file" "$file"
    expect "$file" "$(sed -n 's/^base: \(.*\) stacks*$/\1/p' stdout)" "$want"
    seen=$((seen + 1))
  done
  [ "$seen" -gt 20 ]
}
