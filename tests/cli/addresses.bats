#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-symbolize on single addresses, its report for machines, symbol files
# and maps of code made at run time.

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

# code FILE: each address of its functions named dumper_*, and of main.
code() {
  nm -S "$1" | awk '$4 ~ /^(dumper_.*|main)$/ { print $1, $2 }' |
    while read -r start size; do
      for ((i = 0; i < 16#$size; i++)); do
        printf '%x\n' $((16#$start + i))
      done
    done
}

@test "addresses are answered as addr2line -f -i -C does" {
  need addr2line nm
  build prog -g
  build bare
  for file in prog bare; do
    code $file >addresses
    printf '0\n0x1\nfffffffffffffff0\n' >>addresses
    [ "$(wc -l <addresses)" -gt 20 ]
    addr2line -f -i -C -e $file <addresses |
      sed 's/ (discriminator [0-9]*)$//' >expected
    pprof-symbolize -e $file <addresses >out
    cmp expected out
    # As arguments too, and with the binary before them.
    # shellcheck disable=SC2046 # words are wanted
    pprof-symbolize -e $file $(cat addresses) >out
    cmp expected out
    pprof-symbolize --vaddr -e $file -o named <addresses
    cmp expected named
  done
}

@test "addresses are answered as llvm-symbolizer does" {
  need llvm-symbolizer nm
  build prog -g
  code prog >addresses
  sed 's/^/0x/' addresses |
    llvm-symbolizer --output-style=GNU -f -i -C -e prog |
    sed 's/ (discriminator [0-9]*)$//' >expected
  pprof-symbolize -e prog <addresses >out
  cmp expected out
}

@test "a filter answers each line before the next one comes" {
  need nm mkfifo
  build prog -g
  address=$(nm prog | awk '$3 == "main" { print $1 }')
  mkfifo in out
  pprof-symbolize -e prog <in >out &
  exec 5>in 6<out
  for ((i = 0; i < 3; i++)); do
    echo "0x$address" >&5
    read -r -t 20 name <&6
    expect "function" "$name" main
    read -r -t 20 place <&6
    grep -q 'dumper.c:[0-9]*$' <<<"$place"
  done
  # What is no address is answered as well, so that lines stay in step.
  echo "no address" >&5
  read -r -t 20 name <&6
  expect "function" "$name" '??'
  read -r -t 20 place <&6
  expect "place" "$place" '??:0'
  exec 5>&-
  wait $!
}

@test "--json: a line an address, read back by another parser" {
  need nm python3
  build prog -g
  code prog >addresses
  pprof-symbolize --json -e prog <addresses >out
  pprof-symbolize -e prog <addresses >text
  python3 -c '
import json, sys
for line in open("out"):
    answer = json.loads(line)
    assert answer["source"] == "dwarf", answer
    for frame in answer["frames"]:
        print(frame["function"])
        print("%s:%s" % (frame["file"] or "??", frame["line"] or "?"))
' >again
  cmp text again
}

@test "--maps: run-time addresses; --vaddr: those of the file all the same" {
  need nm
  build prog -g
  address=$(nm prog | awk '$3 == "main" { print $1 }')
  sed -n '/^MAPPED_LIBRARIES/,$p' prog.heap | tail -n +2 >maps
  start=$(grep "$(pwd)/prog\$" maps | head -n 1 | cut -d- -f1)
  # Position-independent: the first mapping is the file's beginning.
  run_time=$(printf '%x' $((16#$start + 16#$address)))
  pprof-symbolize --maps maps "0x$run_time" >out
  expect "function" "$(head -n 1 out)" main
  pprof-symbolize --maps maps -e prog <<<"$run_time" >again
  cmp out again
  pprof-symbolize --vaddr --maps maps -e prog "$address" >again
  cmp out again
}

@test "addresses: what is wrong is said" {
  build prog -g
  run_tool pprof-symbolize --vaddr 1234
  expect "no binary: status" "$tool_status" 2
  run_tool pprof-symbolize -e nothing 1234
  expect "no file: status" "$tool_status" 2
  run_tool pprof-symbolize -e prog.heap 1234
  expect "no ELF: status" "$tool_status" 2
  [ ! -s stdout ]
  run_tool pprof-symbolize --strict -e prog 0
  expect "no name: status" "$tool_status" 1
  # A profile of that name is not an address.
  cp prog.heap 1234
  pprof-symbolize -q -e prog -o out.pb.gz 1234
  [ -s out.pb.gz ]
}

# stats: print the fields that do not depend on the place.
stats() {
  python3 -c '
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    total = row["overall"]
    assert total["addresses"] == sum(i["addresses"] for i in row["images"])
    assert total["addresses"] == sum(
        total[k] for k in ("dwarf", "symbol", "unresolved"))
    print(row["profile"], total["verdict"])
    for image in row["images"]:
        if image["path"].startswith(sys.argv[2]):
            assert image["path"] == image["file"], image
            assert len(image["build_id"]) == 40, image
            print(image["verdict"], image["dwarf"] > 0)
' "$@"
}

@test "--stats: what became of each file, a line a profile" {
  need python3
  build prog -g -Wl,--build-id
  build bare -Wl,--build-id
  pprof-symbolize -q --stats=stats -o out/ prog.heap bare.heap
  stats stats "$(pwd)/" >got
  expect "profiles" "$(grep -c heap got)" 2
  expect "with DWARF" "$(sed -n 2p got)" "OK True"
  expect "symbols alone" "$(sed -n 4p got)" "OK False"
  # Nothing is asked of what has its names; --strict is content with that.
  pprof-symbolize -q --strict --stats=stats -o again.pb.gz out/prog.heap.pb.gz
  cmp again.pb.gz out/prog.heap.pb.gz
  grep -q '"overall":{"verdict":"SKIPPED"' stats
}

@test "outputs of an earlier run are skipped" {
  build prog -g
  cp prog.heap a.heap
  pprof-symbolize -q -o . prog.heap a.heap
  cp a.heap.pb.gz before
  run_tool pprof-symbolize -v -o . ./*.heap ./*.pb.gz
  expect "status" "$tool_status" 0
  expect "skipped" "$(grep -c skipped stderr)" 2
  cmp before a.heap.pb.gz
  expect "files" "$(echo ./*.gz)" "./a.heap.pb.gz ./prog.heap.pb.gz"
  mkdir other
  cp a.heap other/
  run_tool pprof-symbolize -q -o out/ a.heap other/a.heap
  expect "two of one name: status" "$tool_status" 2
}

@test "symbol files give the same profiles as the binary" {
  need nm
  build prog -g -Wl,--build-id
  build bare -Wl,--build-id=none
  code prog >addresses
  pprof-symbolize --make-symbols -o symbols/ prog bare
  expect "files" "$(find symbols -name '*.sym' | wc -l)" 2
  [ -s symbols/bare.sym ]
  pprof-symbolize --json -e prog <addresses >expected
  pprof-symbolize --json \
    -e "$(find symbols -name '*.sym' ! -name bare.sym)" <addresses >got
  cmp expected got
  for name in prog bare; do
    for form in full short mangled; do
      pprof-symbolize -q --time=1 --names=$form -o $name.$form.pb.gz $name.heap
      mv $name away
      pprof-symbolize -q --time=1 --names=$form --symbols symbols/ \
        -o got.pb.gz $name.heap
      cmp $name.$form.pb.gz got.pb.gz
      mv away $name
    done
  done
  # Another build has another ID: its addresses get no names from these.
  build prog -g -Wl,--build-id -O2 -DOTHER
  pprof-convert -q --time=1 -o other.pb.gz -s prog.heap
  pprof-symbolize -q --names=mangled --force-symbolize --symbols symbols/ \
    -o got.pb.gz other.pb.gz
  pprof-symbolize -q --names=mangled --force-symbolize -o expected.pb.gz \
    other.pb.gz
  cmp expected.pb.gz got.pb.gz
}

@test "a damaged symbol file is not believed" {
  build prog -g -Wl,--build-id
  pprof-symbolize --make-symbols -o symbols/ prog
  file=$(echo symbols/*.sym)
  size=$(wc -c <"$file")
  printf '\377' | dd of="$file" bs=1 seek=$((size - 40)) conv=notrunc \
    status=none
  run_tool pprof-symbolize -e "$file" 1234
  expect "status" "$tool_status" 2
  grep -q 'damaged symbol file' stderr
  mv prog away
  run_tool pprof-symbolize --symbols "$file" -o out.pb.gz prog.heap
  grep -q 'damaged symbol file' stderr
  mv away prog
  pprof-symbolize -q --time=1 --symbols "$file" -o got.pb.gz prog.heap
  pprof-symbolize -q --time=1 -o expected.pb.gz prog.heap
  cmp expected.pb.gz got.pb.gz
}

@test "--perf-map names code that no file holds" {
  cat >jit.heap <<'END'
heap_v2/1
  t*: 2: 20 [0: 0]
@ 0x7f0000000011 0x7f0000000101 0x7f0000000201
  t*: 2: 20 [0: 0]

MAPPED_LIBRARIES:
7f0000000000-7f0000001000 rwxp 00000000 00:00 0
END
  cat >perf.map <<'END'
7f0000000000 20 old code
7f0000000000 40 LazyCompile:~outer /app/main.js:1
0x7f0000000100 0x10 inner
END
  pprof-convert -q --to=folded --perf-map perf.map -o out jit.heap
  expect "stack" "$(cut -d';' -f2- out)" \
    "inner;LazyCompile:~outer /app/main.js:1 20"
  run_tool pprof-symbolize --perf-map nothing -o out jit.heap
  expect "no file: status" "$tool_status" 2
}

# converter ADDRESS START LIMIT OFFSET: a profile as a converter made it that
# knew no names.
converter() {
  protoc --encode=perftools.profiles.Profile \
    -I "$top_srcdir/lib/profile" profile.proto <<END
sample_type { type: 4 unit: 5 }
sample { location_id: 1 value: 7 }
mapping { id: 1 memory_start: $2 memory_limit: $3 file_offset: $4
  filename: 1 build_id: 2 }
location { id: 1 mapping_id: 1 address: $1 }
comment: 3
string_table: ""
string_table: "$(pwd)/prog"
string_table: "$id"
string_table: "executableInfo=3;0;0"
string_table: "inuse_space"
string_table: "bytes"
END
}

@test "profiles of converters, in each of their address conventions" {
  need protoc nm readelf
  build prog -g -Wl,--build-id
  id=$(readelf -n prog | awk '/Build ID/ { print $3 }')
  vaddr=$((16#$(nm prog | awk '$3 == "main" { print $1 }')))
  read -r offset start size <<<"$(readelf -lW prog |
    awk '$1 == "LOAD" && / R E /{ print $2, $3, $6 }')"
  base=$((16#555500000000))
  # Run-time addresses, with the ranges of the segments.
  converter $((base + vaddr)) $((base + start)) \
    $((base + start + size)) $((offset)) >a.pb
  # Link-time addresses in a range without bounds, or from 0 to the end.
  converter $vaddr 0 0 0 >b.pb
  converter $vaddr 0 18446744073709551615 0 >c.pb
  for file in a b c; do
    expect "$file" "$(pprof-convert -q -s --to=folded $file.pb)" "main 7"
  done
}

@test "debuginfod: asked when wanted, and not otherwise" {
  need debuginfod readelf nm objcopy strip
  build prog -g -Wl,--build-id
  mkdir served bare
  cp prog served/prog
  strip -o bare/prog prog
  address=$(nm prog | awk '$3 == "main" { print $1 }')
  port=$((20000 + $$ % 20000))
  debuginfod -F -d :memory: -p $port served >log 2>&1 3>&- &
  server=$!
  export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=10
  # What libdebuginfod keeps to the end is not ours to free.
  export ASAN_OPTIONS=detect_leaks=0
  for ((i = 0; i < 100; i++)); do
    grep -q 'groomed' log && break
    kill -0 $server 2>/dev/null || skip "debuginfod does not run here"
    sleep 0.1
  done
  DEBUGINFOD_URLS=http://127.0.0.1:$port \
    pprof-symbolize -e bare/prog "$address" >without
  absent '/buildid/' log
  pprof-symbolize --debuginfod=http://127.0.0.1:$port -e bare/prog \
    "$address" >with || {
    kill $server
    fail_with "not answered"
  }
  # The program itself too, for a profile that knows its build ID.
  pprof-symbolize -q --time=1 -o named.pb.gz prog.heap
  mv prog away
  DEBUGINFOD_URLS=http://127.0.0.1:$port pprof-symbolize -q --debuginfod \
    --force-symbolize -o got.pb.gz named.pb.gz || :
  kill $server
  expect "without" "$(head -n 1 without)" '??'
  expect "with" "$(head -n 1 with)" main
  grep -q '/executable' log
  cmp named.pb.gz got.pb.gz
}
