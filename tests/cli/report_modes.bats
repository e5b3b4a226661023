#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-report's reports beside the table: against what a current pprof
# printed of the same files, and against go tool pprof.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

golden=$corpus/../golden/pprof

# small: fixtures/good-small.textproto as a profile.
small() {
  protoc --encode=perftools.profiles.Profile -I "$top_srcdir/lib/profile" \
    profile.proto <"$fixtures/good-small.textproto" >small.pb
}

# by_address FILE: a raw report whose locations are called by their address,
# not by a number: pprof keeps the file's, we count anew.
by_address() {
  awk '
    pass == 1 { if (/^Locations$/) on = 1
      else if (/^Mappings$/) on = 0
      else if (on && match($0, /^ *[0-9]+: 0x/)) {
        id = $1; sub(/:/, "", id); address[id] = $2 }
      next }
    /^ +-?[0-9]+.*: / && !/0x/ {
      split($0, half, ": "); n = split(half[2], ids, " ")
      line = half[1] ":"
      for (i = 1; i <= n; i++) line = line " " address[ids[i]]
      print line; next }
    { sub(/^ *[0-9]+: 0x/, "0x"); print }
  ' pass=1 "$1" pass=2 "$1"
}

@test "traces, tags and comments are printed as pprof prints them" {
  need_corpus pprof-small
  for name in a a_nosym b c_reordered_kb e_notime g_earlier; do
    for kind in traces tags comments; do
      run_tool pprof-report "$kind" "$corpus/pprof-small/$name.pb.gz"
      expect "$kind $name" "$tool_status" 0
      cmp stdout "$golden/$name.$kind.txt"
    done
  done
}

@test "raw has the same samples, locations and mappings as pprof's" {
  need_corpus pprof-small
  for name in a a_nosym b c_reordered_kb e_notime g_earlier; do
    run_tool pprof-report --raw "$corpus/pprof-small/$name.pb.gz"
    expect "raw $name" "$tool_status" 0
    by_address stdout | sort >ours
    by_address "$golden/$name.raw.txt" | sort >theirs
    grep -q '^ .*: 0x' ours # the comparison is not of nothing
    diff ours theirs
  done
}

@test "traces and comments agree with go tool pprof" {
  need protoc go
  go tool pprof -h >/dev/null 2>&1 || [ $? != 1 ] ||
    skip "no go tool pprof here"
  small
  for kind in traces comments; do
    run_tool pprof-report "$kind" small.pb
    expect "$kind" "$tool_status" 0
    go tool pprof -symbolize=none "-$kind" small.pb 2>/dev/null >theirs
    # How a time is spelled has changed between versions.
    diff <(sed '/^Time: /d' stdout) <(sed '/^Time: /d' theirs)
  done
}

@test "values of traces add up to the total, before and after a filter" {
  need protoc
  small
  run_tool pprof-report --traces --unit=exact small.pb
  # 1024 + 51200 - 100, by hand from the fixture
  expect "sum" "$(awk '/^ +-?[0-9]+B / { n += $1 } END { print n }' stdout)" 52124
  run_tool pprof-report traces --unit=exact --focus=inner small.pb
  expect "sum with inner" "$(awk '/^ +-?[0-9]+B / { n += $1 } END { print n }' stdout)" 1024
  grep -q 'focus=inner' stdout
}

@test "the kind's word stands before or after the file, or is a file" {
  need protoc
  small
  run_tool pprof-report small.pb traces
  cp stdout after
  run_tool pprof-report traces small.pb
  cmp after stdout
  pprof-report --traces - <small.pb >stdout
  cmp after stdout
  cp small.pb tags
  run_tool pprof-report tags
  grep -q 'flat%' stdout
}
