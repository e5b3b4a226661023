#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Names for addresses: of a small program that is built here in several ways,
# and of real ones that wrote down themselves where they allocated.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# build NAME FLAGS...: the dumper, and its dump NAME.heap.
build() {
  local name=$1
  shift
  need cc
  # shellcheck disable=SC2086 # may hold flags
  cc -O1 -fno-optimize-sibling-calls -o "$name" "$@" \
    "$fixtures/dumper.c" || skip "cannot build with $*"
  "./$name" >"$name.heap"
}

stack_of() {
  pprof-convert -q --to=folded "$@" |
    grep -o 'main;dumper.*' | sed 's/ [0-9]*$//'
}

whole='main;dumper_middle;dumper_inlined;dumper_leaf'

line_of() {
  grep -n "line of $1 " "$fixtures/dumper.c" | cut -d: -f1
}

@test "functions, inlined calls, files and lines of a program" {
  need protoc
  build prog -g
  expect "stack" "$(stack_of -s prog.heap)" "$whole"
  expect "without inlines" "$(stack_of -s --no-inlines prog.heap)" \
    "main;dumper_middle;dumper_leaf"
  pprof-symbolize --level=0 -o out prog.heap
  decode out >text
  for what in 'the leaf' 'the inlined call' 'the middle' main; do
    grep -q "^    line: $(line_of "$what")\$" text ||
      fail_with "line of $what"
  done
  grep -q '/dumper.c"' text
  grep -q 'has_inline_frames: true' text
}

@test "every way to build gives the same stack" {
  for flags in '-g -pie -fPIE' '-g -no-pie' '-g -gdwarf-4' '-g -gdwarf-5' \
    '-g -gz' '-g -Wl,--build-id=none' '-g -O2 -ffunction-sections' \
    '-g -Wl,-z,noseparate-code'; do
    # shellcheck disable=SC2086 # words
    build prog $flags
    expect "$flags" "$(stack_of -s prog.heap)" "$whole"
  done
}

@test "without debug information symbols serve; without symbols nothing" {
  build prog -g
  cp prog full
  strip -g prog
  ./prog >prog.heap
  expect "symbols" "$(stack_of -s prog.heap)" \
    "main;dumper_middle;dumper_leaf"
  strip -s prog
  ./prog >prog.heap
  expect "nothing" "$(stack_of -s prog.heap)" ""
  run_tool pprof-convert -s -o out prog.heap
  expect "status" "$tool_status" 0
  grep -q 'have no name' stderr
  run_tool pprof-convert -s --strict -o out prog.heap
  expect "strict" "$tool_status" 1
}

@test "separate debug files: by link, by build ID" {
  need objcopy
  build prog -g
  cp prog full
  objcopy --only-keep-debug full prog.debug
  objcopy --strip-all --add-gnu-debuglink=prog.debug full prog
  ./prog >prog.heap
  expect "beside" "$(stack_of -s prog.heap)" "$whole"
  mkdir .debug
  mv prog.debug .debug
  expect ".debug" "$(stack_of -s prog.heap)" "$whole"
  id=$(readelf -n full | sed -n 's/.*Build ID: //p')
  mkdir -p "dbg/.build-id/${id:0:2}"
  mv .debug/prog.debug "dbg/.build-id/${id:0:2}/${id:2}.debug"
  expect "lost" "$(stack_of -s prog.heap)" ""
  expect "by build ID" "$(stack_of --debug-dir=dbg prog.heap)" "$whole"
  # The full binary in place of the stripped one, whatever its name.
  expect "given" "$(stack_of -e full prog.heap)" "$whole"
}

@test "a program that has moved: -e, --search-dir, --sysroot, --path-map" {
  build prog -g
  here=$(pwd)
  mkdir -p new "root$here"
  cp prog "root$here/"
  mv prog new/renamed
  expect "lost" "$(stack_of -s prog.heap)" ""
  expect "-e" "$(stack_of -e new/renamed prog.heap)" "$whole"
  expect "BINARY FILE" "$(stack_of new/renamed prog.heap)" "$whole"
  expect "--sysroot" "$(stack_of --sysroot=root prog.heap)" "$whole"
  mv new/renamed new/prog
  expect "--search-dir" "$(stack_of --search-dir=new prog.heap)" "$whole"
  expect "--path-map" "$(stack_of --path-map="$here=$here/new" prog.heap)" \
    "$whole"
}

@test "a binary that does not fit is refused, both sides named" {
  build prog -g
  for given in /bin/true /bin/sh; do
    rm -f out
    run_tool pprof-symbolize -e "$given" -o out prog.heap
    expect_refused "$given" "$given"
    grep -qE 'prog|mapped|build ID' stderr
  done
  # Of the same name: what does not fit is told, and the file once.
  mkdir elsewhere
  cp /bin/true elsewhere/prog
  run_tool pprof-symbolize -e elsewhere/prog -o out prog.heap
  expect_refused "same name" elsewhere/prog
  expect "named" "$(grep -o elsewhere/prog stderr | wc -l)" 1
  echo text >no-elf
  run_tool pprof-symbolize -e no-elf -o out prog.heap
  expect_refused "no ELF" no-elf
  run_tool pprof-symbolize -e not-there -o out prog.heap
  expect_refused "not there" not-there
  # At the path of the maps lies another program by now: it is not used.
  cp /bin/true prog
  stack_of -s prog.heap >stack || :
  absent dumper stack
}

@test "pprof-symbolize and pprof-convert -s agree; twice changes nothing" {
  build prog -g
  pprof-convert --time=1 -o plain.pb.gz prog.heap
  pprof-convert --time=1 -s -o 1.pb.gz prog.heap
  pprof-symbolize -o 2.pb.gz plain.pb.gz
  pprof-symbolize --time=1 -o 3.pb.gz prog.heap
  pprof-symbolize -o 4.pb.gz 2.pb.gz
  pprof-symbolize -j 1 - <plain.pb.gz >5.pb.gz
  gzip -dc plain.pb.gz | pprof-symbolize >6.pb.gz
  for i in 2 3 4 5 6; do
    cmp 1.pb.gz $i.pb.gz
  done
}

@test "several profiles into a directory" {
  build prog -g
  cp prog.heap a.heap
  pprof-convert --time=1 -o b.pb.gz prog.heap
  pprof-symbolize --time=1 -o out/ a.heap b.pb.gz 2>/dev/null || {
    mkdir -p out
    pprof-symbolize --time=1 -o out/ a.heap b.pb.gz
  }
  expect "files" "$(echo out/*)" "out/a.heap.pb.gz out/b.pb.gz"
  cmp out/a.heap.pb.gz out/b.pb.gz
  # One that cannot be read does not keep the others from being done.
  rm -r out/*
  run_tool pprof-symbolize -o out/ "$fixtures/bad-version.heap" a.heap
  expect "status" "$tool_status" 2
  expect "files" "$(echo out/*)" "out/a.heap.pb.gz"
}

@test "-v says where names came from" {
  build prog -g
  run_tool pprof-symbolize -v -o out prog.heap
  expect "status" "$tool_status" 0
  grep -q 'verdict' stderr
  grep -qi ': ok  *[0-9]' stderr
  grep -q "$(pwd)/prog" stderr
}

@test "names: full, short, mangled" {
  need "${CXX:-c++}"
  { echo 'namespace ns { template<class T> struct Box { static void put(T); }; }'
    sed -e 's/__attribute__((noinline)) void dumper_leaf(void);//' \
      -e 's/^void dumper_leaf(void)/template<class T> __attribute__((noinline)) void ns::Box<T>::put(T)/' \
      -e 's/dumper_leaf();/ns::Box<int>::put(1);/' "$fixtures/dumper.c"
  } >prog.cc
  ${CXX:-c++} -O1 -fno-optimize-sibling-calls -g -o prog prog.cc ||
    skip "cannot build C++"
  ./prog >prog.heap
  leaf() {
    pprof-convert -q --to=folded -s "$@" prog.heap | sed 's/ [0-9]*$//; s/.*;//'
  }
  expect "full" "$(leaf)" "ns::Box<int>::put(int)"
  expect "short" "$(leaf --names=short)" "ns::Box::put"
  expect "mangled" "$(leaf --names=mangled)" "_ZN2ns3BoxIiE3putEi"
}

# ledger FLAVOUR [names] [OPTION...]: the program's own account is found.
ledger() {
  local dir=$corpus/real/ballast/$1 how=
  shift
  if [ "${1:-}" = names ]; then
    how=names
    shift
  fi
  pprof-convert -q --level=0 --path-map="/srv/build/corpus=$corpus/real" \
    "$@" -o out "$dir/s0/01-full.heap"
  decode_plain <out >text
  # shellcheck disable=SC2086
  python3 "$BATS_TEST_DIRNAME/ledger.py" "$dir/s0/ledger.01-full.tsv" $how \
    <text >differences || {
    sed "s/^/${dir##*/}: /" differences >&2
    return 1
  }
  # It follows a call that does not return: an address too far would name it.
  absent '"not_on_the_stack' text
}

@test "a real program in many builds: every place it allocates at is found" {
  need_corpus real/ballast
  need protoc python3
  for flavour in gcc-O0 gcc-O2 gcc-O3 gcc-O2-dwarf3 gcc-O2-dwarf4 \
    gcc-O2-dwarf4-types gcc-O2-dwz gcc-O2-debuglink gcc-O2-gold \
    gcc-O2-debuglink-stripall gcc-O2-gz-zlib gcc-O2-gz-zstd gcc-O2-highbase \
    gcc-O2-lto gcc-O2-nobuildid gcc-O2-nopie gcc-O2-sections \
    gcc-O2-splitdwarf4-dwp clang-O2 clang-O2-dwarf4 clang-O2-lld-icf; do
    ledger "$flavour"
  done
}

@test "a real program whose debug information is elsewhere or partly gone" {
  need_corpus real/ballast
  need protoc python3
  ledger gcc-O2-buildid-dir \
    --debug-dir="$corpus/real/ballast/gcc-O2-buildid-dir/bin/debugroot"
  # A debug file of another program lies beside: not a name comes from it.
  pprof-convert -q -s --to=folded -o out \
    --path-map="/srv/build/corpus=$corpus/real" \
    "$corpus/real/ballast/gcc-O2-debuglink-badcrc/s0/01-full.heap"
  absent 'run_plain|alloc_leaf' out
}

@test "allocator frames: dropped by default, kept on request" {
  need_corpus real/ballast
  dump=$corpus/real/ballast/gcc-O2/s0/01-full.heap
  map=--path-map=/srv/build/corpus=$corpus/real
  pprof-convert -q --to=folded "$map" -o dropped "$dump"
  pprof-convert -q --to=folded "$map" --keep-allocator-frames -o kept "$dump"
  grep -q 'libjemalloc' kept
  absent 'libjemalloc|;malloc|operator new' dropped
  for file in dropped kept; do
    expect "$file" "$(awk '{ s += $NF } END { print s }' $file)" 74202877
  done
}

@test "odd paths in the maps" {
  need_corpus real/ballast
  for case in s0-path1 s0-path2 s0-path3 s0-path4; do
    dump=$corpus/real/ballast/gcc-O2/$case/01-full.heap
    [ -f "$dump" ] || continue
    pprof-convert -q --to=folded -o out \
      -e "$corpus/real/ballast/gcc-O2/bin/ballast" "$dump"
    grep -q 'main;run_plain' out || fail_with "$case"
  done
}
