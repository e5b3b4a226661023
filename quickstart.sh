#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh clone on Debian 12 to a flame graph of a real heap: installs
# what the build needs, builds in build/, runs a demo program under jemalloc
# with heap profiling on, and turns its dump into pictures and numbers in
# quickstart-out/.
set -eu
cd "$(dirname "$0")"
top=$PWD
out=$top/quickstart-out
log=$out/build.log
jobs=$(nproc 2>/dev/null || echo 2)

# logged COMMAND...: runs it into the log; shows the log's end on failure.
logged() {
  if ! "$@" >>"$log" 2>&1; then
    tail -n 25 "$log" >&2
    echo "quickstart: '$*' failed; see $log" >&2
    exit 1
  fi
}

mkdir -p "$out" build
: >"$log"

echo "1/4 packages"
logged build-aux/packages.sh build demo

echo "2/4 build (in build/)"
[ -x configure ] || logged ./autogen.sh
cd build
[ -f Makefile ] || logged ../configure
logged make -j"$jobs"

echo "3/4 demo program under jemalloc, with heap profiling on"
demo=$out/heapdemo
dump=$out/demo.heap
logged g++ -O2 -g -pthread -o "$demo" "$top/docs/examples/heapdemo.cc"
logged env MALLOC_CONF=prof:true,lg_prof_sample:13 \
  LD_PRELOAD=libjemalloc.so.2 "$demo" "$dump"

echo "4/4 names, picture, table"
./pprof-convert -s -q --names=short -o "$out/heap.pb.gz" "$dump"
./pprof-flame --title 'Heap of the demo program' -o "$out/heap.svg" \
  "$out/heap.pb.gz"

echo
./pprof-report -n 10 "$out/heap.pb.gz"
cat <<TEXT

Made, all from $dump:
  $out/heap.svg
    flame graph: open it in any browser (firefox "$out/heap.svg")
  $out/heap.pb.gz
    profile with names: ./build/pprof-report "$out/heap.pb.gz", or
    go tool pprof "$out/heap.pb.gz"
  the table above
    made by: ./build/pprof-report -n 10 "$out/heap.pb.gz"
TEXT
