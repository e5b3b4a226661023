#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-merge: many files to one, in any order, and what it says about
# inputs that are bad, unrelated, or dumps of one process.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# profile NAME FOLDED: a pprof file of folded text, at a fixed time.
profile() {
  printf '%b' "$2" | pprof-convert --format=folded --time=1700000000 \
    -o "$1" -
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  profile a.pb.gz 'main;f 1\nmain;g 2\n'
  profile b.pb.gz 'main;f 10\nmain;h 20\n'
  profile c.pb.gz 'main;f 100\n'
}

@test "equal stacks add up, in any order and grouping the same bytes" {
  pprof-merge -o abc.pb.gz a.pb.gz b.pb.gz c.pb.gz
  expect "sum" "$(pprof-convert --to=folded abc.pb.gz)" 'main;f 111
main;g 2
main;h 20'
  pprof-merge -o cba.pb.gz c.pb.gz b.pb.gz a.pb.gz
  cmp abc.pb.gz cba.pb.gz
  pprof-merge -o ab.pb.gz a.pb.gz b.pb.gz
  pprof-merge c.pb.gz ab.pb.gz | cmp - abc.pb.gz
}

@test "one input comes out as the same profile" {
  pprof-merge -o one.pb.gz a.pb.gz
  cmp one.pb.gz a.pb.gz
}

@test "average, largest, labels" {
  pprof-merge --max -o out.pb.gz a.pb.gz b.pb.gz c.pb.gz
  expect "largest" "$(pprof-convert --to=folded out.pb.gz | head -n 1)" \
    'main;f 100'
  pprof-merge --avg -o out.pb.gz a.pb.gz b.pb.gz c.pb.gz
  expect "average" "$(pprof-convert --to=folded out.pb.gz | head -n 1)" \
    'main;f 37'
  pprof-merge --label=host -o out.pb.gz a.pb.gz b.pb.gz
  expect "of one host" \
    "$(pprof-convert --tagfocus=host=^a --to=folded out.pb.gz)" 'main;f 1
main;g 2'
}

@test "a list of files, many of them, from standard input" {
  for i in $(seq 300); do cp a.pb.gz "$i.pb.gz"; done
  find . -name '[0-9]*.pb.gz' -print0 |
    pprof-merge --files0-from=- -o out.pb.gz
  expect "sum" "$(pprof-convert --to=folded out.pb.gz)" 'main;f 300
main;g 600'
  printf 'a.pb.gz\0\0' >list
  run_tool pprof-merge --files0-from=list -o out
  expect "an empty name" "$tool_status" 2
}

@test "a bad input ends it, or is left out and still tells" {
  echo nonsense >bad
  run_tool pprof-merge -o out a.pb.gz bad b.pb.gz
  expect_refused "bad input" bad
  run_tool pprof-merge --keep-going -o out.pb.gz a.pb.gz bad missing b.pb.gz
  expect "exit status" "$tool_status" 2
  grep -q '2 of 4 inputs left out' stderr
  expect "the others" "$(pprof-convert --to=folded out.pb.gz | head -n 1)" \
    'main;f 11'
  run_tool pprof-merge --keep-going -o none bad missing
  expect "nothing is left" "$tool_status" 2
  [ ! -e none ]
}

@test "what cannot be one profile is refused, naming both" {
  printf 'main 1 2\n' | pprof-convert --format=folded -o cpu.pb.gz -
  need protoc
  protoc --encode=perftools.profiles.Profile \
    -I "$top_srcdir/lib/profile" profile.proto \
    <"$fixtures/good-small.textproto" >small.pb
  run_tool pprof-merge -o out a.pb.gz small.pb
  expect_refused "no type in common" small.pb
  grep -q 'a\.pb\.gz' stderr
}

@test "dumps of one process: a warning, or only the last" {
  for i in 0 1 10 2; do cp a.pb.gz "jeprof.7.$i.i$i.heap"; done
  cp b.pb.gz jeprof.8.0.f.heap
  run_tool pprof-merge -o out.pb.gz jeprof.*.heap
  expect "exit status" "$tool_status" 0
  grep -q 'dumps of one process' stderr
  cp c.pb.gz jeprof.7.10.i10.heap
  run_tool pprof-merge --last -o out.pb.gz jeprof.*.heap
  [ ! -s stderr ]
  expect "the last of each" "$(pprof-convert --to=folded out.pb.gz)" \
    'main;f 110
main;h 20'
  # Two processes are two.
  run_tool pprof-merge -o out.pb.gz jeprof.7.1.i1.heap jeprof.8.0.f.heap
  [ ! -s stderr ]
}

@test "standard input, -o, a full disk, a closed pipe, usage" {
  pprof-merge - b.pb.gz <a.pb.gz >out.pb.gz
  expect "stdin" "$(pprof-convert --to=folded out.pb.gz | head -n 1)" \
    'main;f 11'
  run_tool pprof-merge
  expect "no file" "$tool_status" 2
  run_tool pprof-merge --no-such-option a.pb.gz
  expect "unknown option" "$tool_status" 2
  [ -w /dev/full ] || skip "no /dev/full"
  run pprof-merge a.pb.gz b.pb.gz -o /dev/full
  expect "full" "$status" 2
}

@test "dumps of a real program under address space randomization" {
  need_corpus real/apps
  mapfile -t dumps < <(find "$corpus/real/apps" -name '*.heap' | sort |
    head -n 4)
  [ "${#dumps[@]}" -gt 1 ] || skip "no dumps"
  run_tool pprof-merge --unrelated -o x.pb.gz "${dumps[@]}"
  expect "exit status" "$tool_status" 0
  mapfile -t back < <(printf '%s\n' "${dumps[@]}" | tac)
  pprof-merge -q --unrelated "${back[@]}" | cmp - x.pb.gz
}
