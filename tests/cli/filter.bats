#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Filters, in all tools that take profiles, against go tool pprof.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# ours OPTION... FILE: the table without its header.
ours() {
  pprof-report --min-percent=0 "$@" 2>stderr | sed '1,/ flat%/d'
}

# theirs OPTION... FILE
theirs() {
  go tool pprof -symbolize=none -top -nodefraction=0 -nodecount=0 "$@" \
    2>/dev/null | sed '1,/ flat%/d'
}

@test "one dash, two dashes, underscores and hyphens" {
  printf 'a;b;c 1\nd 2\n' >in.folded
  for option in --show-from=b -show_from=b --show_from=b; do
    expect "$option" "$(pprof-convert --to=folded "$option" in.folded)" \
      'b;c 1'
  done
  expect "jeprof's word" "$(pprof-convert --to=folded --exclude='[bc]' \
    in.folded)" 'a 1
d 2'
}

@test "filters are stated, and what they leave out shows in percent" {
  printf 'a;b 1\nc 3\n' >in.folded
  pprof-report --focus=b in.folded >out
  grep -qx 'Active filters:' out
  grep -qx '   focus=b' out
  grep -q '25.00%.*b$' out
  pprof-report --focus=b --relative-percentages in.folded >out
  grep -q '100%.*b$' out
}

@test "an expression that matches nothing is told, exit status 0" {
  printf 'a 1\n' >in.folded
  run_tool pprof-report --focus=zz in.folded
  expect "exit status" "$tool_status" 0
  grep -q 'focus expression matched no samples' stderr
  run_tool pprof-report --focus='(' in.folded
  expect "a mistake" "$tool_status" 2
  grep -q 'focus: mistake' stderr
}

@test "stacks become coarser with --by" {
  need protoc
  protoc --encode=perftools.profiles.Profile \
    -I "$top_srcdir/lib/profile" profile.proto \
    <"$fixtures/good-small.textproto" >small.pb
  pprof-convert --by=function --level=0 -o by.pb small.pb
  expect "totals stay" "$(totals by.pb | cut -d' ' -f2-)" \
    "$(totals small.pb | cut -d' ' -f2-)"
  absent 'address: [1-9]' <(decode by.pb)
}

@test "every filter gives go tool pprof's table" {
  need go
  need_corpus pprof-small
  theirs "$corpus/pprof-small/a.pb.gz" >want
  [ -s want ] || skip "go has no pprof"
  for file in a b a_nosym e_notime; do
    file=$corpus/pprof-small/$file.pb.gz
    for filter in -focus=parse -focus=Vec -focus='vec.cc' -focus=server \
      -focus=nomatch -ignore=parse -ignore=push -hide=malloc -hide=Vec \
      -hide=src/vec.h -show_from=parse -show_from=push_all \
      -show_from=Vec -prune_from=push_all -prune_from=parse \
      '-prune_from=^ns::Vec<int>::grow$' -tagfocus=t0 \
      -tagfocus=thread=t1 -tagfocus=bytes=1kb -tagfocus=bytes=17b: \
      -tagfocus=:16b -tagfocus=1b:1mb -tagignore=t0 \
      -tagignore=bytes=16b -tagshow=thread -taghide=bytes -noinlines \
      -mean '-focus=(?i)PARSE' -lines -addresses -files \
      -sample_index=inuse_objects; do
      theirs "$filter" "$file" >want
      ours "$filter" "$file" >got
      diff want got || fail_with "$filter of $file"
    done
  done
}
