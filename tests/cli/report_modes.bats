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

@test "tree, traces, tags and comments are printed as pprof prints them" {
  need_corpus pprof-small
  for name in a a_nosym b c_reordered_kb e_notime g_earlier; do
    for kind in tree traces tags comments; do
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

# same_as_go REPORT...: peek or tree of small.pb against go tool pprof.
same_as_go() {
  run_tool pprof-report "-$1" "${@:2}" small.pb
  expect "$*" "$tool_status" 0
  go tool pprof -symbolize=none "-$1" "${@:2}" small.pb >theirs 2>/dev/null
  diff <(sed '/^Time: /d' stdout) <(sed '/^Time: /d' theirs)
}

@test "tree and peek agree with go tool pprof" {
  need protoc go
  go tool pprof -h >/dev/null 2>&1 || [ $? != 1 ] ||
    skip "no go tool pprof here"
  small
  same_as_go tree -lines
  same_as_go tree -cum
  same_as_go tree -nodecount=2
  same_as_go peek=inner
  same_as_go peek=. -sample_index=0
}

# Stacks whose calls can be added up by hand: a calls b directly and through
# c, itself again, and what is below c is small.
calls() {
  printf '%s\n' 'a;b 600' 'a;c;b 300' 'a;a;b 90' 'a;c;d 9' 'e 1' >calls.folded
}

# call_lines: what a report says of calls, blanks joined.
call_lines() {
  sed -nE '/ \|   /{s/ +/ /g;p}' stdout
}

@test "calls of a tree count each stack once and pass over what is left out" {
  calls
  run_tool pprof-report tree --min-percent=0 calls.folded
  expect status "$tool_status" 0
  expect calls "$(call_lines)" "\
 690 69.70% | a
 300 30.30% | c
 9 100% | c
 690 69.07% | b
 309 30.93% | c
 309 100% | a
 300 97.09% | b
 9 2.91% | d"
  # Without c, its stacks are calls from a.
  run_tool pprof-report tree --min-percent=0 -n 1 --cum calls.folded
  expect "one row" "$(call_lines)" ""
  run_tool pprof-report tree --min-percent=50 calls.folded
  expect "without c" "$(call_lines)" "\
 990 100% | a
 990 99.10% | b"
}

@test "peek shows all calls of what matches, and says when nothing does" {
  calls
  run_tool pprof-report peek '^d$' calls.folded
  expect "before the file" "$(call_lines)" " 9 100% | c"
  cp stdout before
  run_tool pprof-report calls.folded peek '^d$'
  cmp before stdout
  run_tool pprof-report --peek='^d$' -o out calls.folded
  cmp before out
  run_tool pprof-report --peek='^x$' -o out calls.folded
  expect "no match" "$tool_status" 2
  grep -q "no function matches '^x\$'" stderr
  cmp before out
  run_tool pprof-report --peek='(' calls.folded
  expect "no expression" "$tool_status" 2
  run_tool pprof-report peek
  expect "none given" "$tool_status" 2
  run_tool pprof-report tree --mean calls.folded
  expect "a mean" "$tool_status" 2
  for kind in callgrind raw comments; do
    run_tool pprof-report "$kind" --mean calls.folded
    expect "$kind --mean" "$tool_status" 2
    grep -q "not for $kind" stderr
  done
}

# drawn FILE: boxes of functions, and the calls with how they are drawn,
# without the numbers of boxes and what is written in them.
drawn() {
  sed -nE -e 's/^N[0-9]+ \[label=.* id="node[0-9]+"//p' \
    -e '/^N[0-9]+ -> N[0-9]+ /s/.*( color="[^"]*") tooltip=("[^"]*").*/\1\2/p' \
    "$1" | sort
  grep -c 'style="dotted"' "$1" || :
}

@test "the graph has the boxes and calls that pprof draws" {
  need_corpus pprof-small
  for name in a a_nosym b c_reordered_kb e_notime g_earlier; do
    run_tool pprof-report dot "$corpus/pprof-small/$name.pb.gz"
    expect "dot $name" "$tool_status" 0
    drawn stdout >ours
    drawn "$golden/$name.dot.txt" >theirs
    grep -q 'shape=box' ours
    diff ours theirs
  done
}

@test "calls of a graph that pass over functions are dotted" {
  calls
  run_tool pprof-report dot --min-percent=50 calls.folded
  expect status "$tool_status" 0
  expect boxes "$(grep -c '^N[0-9]* \[' stdout)" 2
  grep -q '^N[12] -> N[12] .* tooltip="a ... b (990)" style="dotted"' stdout
  grep -q 'Dropped 3 nodes' stdout
}

@test "Graphviz takes the graph, whatever the names" {
  need dot
  printf '%s\n' 'a"b;c\d 2' 'a"b;x<y>::{z|w} 1' >odd.folded
  run_tool pprof-report dot odd.folded
  expect status "$tool_status" 0
  dot -Tsvg stdout >graph.svg
  grep -q '<svg' graph.svg
  grep -qF 'c\d' graph.svg
}

@test "callgrind is what pprof-convert writes, of what filters leave" {
  calls
  run_tool pprof-report callgrind calls.folded
  expect status "$tool_status" 0
  pprof-convert --to=callgrind -o theirs calls.folded
  cmp stdout theirs
  run_tool pprof-report --callgrind --focus=d calls.folded
  expect "d is called" "$(grep -c 'fn=.* d$' stdout)" 1
  expect "b is not" "$(grep -c 'fn=.* b$' stdout)" 0
}
