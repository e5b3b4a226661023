#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the fuzz targets with libFuzzer, for a desk and for OSS-Fuzz, whose
# variables it honours: CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE OUT. All
# files go to OUT (default: build-fuzz): each target with its dictionary,
# options and zipped seeds.
#
#   fuzz/build.sh                  build
#   fuzz/build.sh --run SECONDS [TARGET]...
#                                  build, then fuzz each target that long;
#                                  status 1 when one of them crashed
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
run_seconds=0
if [ "${1:-}" = --run ]; then
  [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || {
    echo "build.sh: --run wants a number of seconds" >&2
    exit 2
  }
  run_seconds=$2
  shift 2
elif [ $# != 0 ]; then
  echo "usage: build.sh [--run SECONDS [TARGET]...]" >&2
  exit 2
fi
wanted=("$@")

OUT=${OUT:-$PWD/build-fuzz}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
work=$OUT/work
CC=${CC:-clang}
CXX=${CXX:-clang++}
sanitize="-fsanitize=address,undefined -fno-sanitize=pointer-overflow"
if [ -z "${CFLAGS+set}" ]; then
  CFLAGS="-O1 -g -fno-omit-frame-pointer $sanitize -fsanitize=fuzzer-no-link"
  CFLAGS="$CFLAGS -fno-sanitize-recover=all"
fi
CXXFLAGS=${CXXFLAGS:-$CFLAGS}
LIB_FUZZING_ENGINE=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
jobs=$(nproc 2>/dev/null || echo 1)

# The libraries that configure found, and config.h.
configure() {
  mkdir -p "$work"
  [ -f "$top/configure" ] || (cd "$top" && ./autogen.sh >&2)
  if [ ! -f "$work/Makefile" ] || [ "$top/configure" -nt "$work/Makefile" ]
  then
    (cd "$work" && "$top/configure" CC="$CC" CFLAGS= >configure.log) || {
      tail -n 20 "$work/configure.log" >&2
      return 1
    }
  fi
}

# variable NAME...: as the configured Makefile has them.
variable() {
  local name
  for name in "$@"; do
    sed -n "s/^$name = //p" "$work/Makefile"
  done
}

# Every object of the library, with our flags and not with configure's.
make_objects() {
  local source object objects=
  {
    echo 'all: libcore.a'
    while read -r source; do
      object=objects/$(tr / - <<<"${source#"$top/"}")
      object=${object%.c}.o
      objects="$objects $object"
      echo "$object: $source stamp"
      printf '\t%s %s %s -c -o %s %s\n' "$CC" "$CFLAGS" "$includes" \
        "$object" "$source"
    done < <(sources)
    printf 'libcore.a: %s\n\trm -f $@\n\tar rc $@ $^\n' "$objects"
  } >"$work/objects.mk"
  mkdir -p "$work/objects"
  make -s -C "$work" -f objects.mk -j"$jobs"
}

sources() {
  find "$top/lib" -name '*.c' ! -name '*.pb-c.c' | sort
  echo "$work/proto/profile/profile.pb-c.c"
}

# A header that changed makes everything again; so do other flags.
make_stamp() {
  local stamp=$work/stamp
  echo "$CC $CFLAGS $includes" >"$work/flags"
  if ! cmp -s "$work/flags" "$stamp" ||
    [ -n "$(find "$top/lib" -name '*.h' -newer "$stamp")" ]; then
    cp "$work/flags" "$stamp"
  fi
}

# Scripts and styles as headers, by the rules of the Makefile.
make_scripts() {
  make -s -C "$work" embedded-headers
}

make_proto() {
  mkdir -p "$work/proto/profile"
  [ "$work/proto/profile/profile.pb-c.c" -nt \
    "$top/lib/profile/profile.proto" ] || protoc-c \
    --proto_path="$top/lib/profile" --c_out="$work/proto/profile" \
    "$top/lib/profile/profile.proto"
}

# make_target NAME: the program and what libFuzzer takes beside it.
make_target() {
  local name=$1 seeds=$top/fuzz/corpus/${1#fuzz_}
  # shellcheck disable=SC2086 # flags are lists
  "$CC" $CFLAGS $includes -c -o "$work/objects/$name.o" \
    "$top/fuzz/$name.c"
  # shellcheck disable=SC2086
  "$CXX" $CXXFLAGS -o "$OUT/$name" "$work/objects/$name.o" \
    "$work/libcore.a" $LIB_FUZZING_ENGINE $libs
  for extra in dict options; do
    [ ! -f "$top/fuzz/$name.$extra" ] ||
      cp "$top/fuzz/$name.$extra" "$OUT"
  done
  if [ -d "$seeds" ] && command -v zip >/dev/null; then
    rm -f "$OUT/${name}_seed_corpus.zip"
    zip -q -j -r "$OUT/${name}_seed_corpus.zip" "$seeds"
  fi
}

# option TARGET NAME DEFAULT: from the target's .options file.
option() {
  local value=
  [ ! -f "$top/fuzz/$1.options" ] ||
    value=$(sed -n "s/^$2 *= *//p" "$top/fuzz/$1.options")
  echo "${value:-$3}"
}

# run_target NAME: bounded, from the seeds, in a folder that goes again.
run_target() {
  local name=$1 corpus artifacts=$OUT/crashes/$1- log=$OUT/$1.log args
  corpus=$(mktemp -d)
  mkdir -p "$OUT/crashes"
  # One seed, so that a change is what makes the difference between runs.
  args=(-seed="${FUZZ_SEED:-1}" -max_total_time="$run_seconds"
    -rss_limit_mb=2048 -timeout=20
    -max_len="$(option "$name" max_len 65536)" -print_final_stats=1
    -artifact_prefix="$artifacts")
  [ ! -f "$top/fuzz/$name.dict" ] || args+=(-dict="$top/fuzz/$name.dict")
  args+=("$corpus")
  [ ! -d "$top/fuzz/corpus/${name#fuzz_}" ] ||
    args+=("$top/fuzz/corpus/${name#fuzz_}")
  if "$OUT/$name" "${args[@]}" >"$log" 2>&1; then
    printf '%s: %s executions, no crash\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    rm -rf "$corpus"
    return 0
  fi
  rm -rf "$corpus"
  printf '%s: FAILED, see %s\n' "$name" "$log"
  sed -n 's/.*Test unit written to /  input: /p' "$log"
  return 1
}

configure
includes="-std=gnu11 -I$work -I$top/lib -I$top/lib/include -I$work/proto \
-I$work/lib"
includes="$includes $(variable PROTOBUF_C_CFLAGS ZLIB_CFLAGS \
  LIBDEFLATE_CFLAGS LIBDW_CFLAGS LIBELF_CFLAGS LIBCBOR_CFLAGS PCRE2_CFLAGS \
  LIBZSTD_CFLAGS LZMA_CFLAGS JANSSON_CFLAGS XXHASH_CFLAGS | tr '\n' ' ')"
libs=$(variable PROTOBUF_C_LIBS LIBDEFLATE_LIBS LIBDW_LIBS LIBELF_LIBS \
  LIBCBOR_LIBS PCRE2_LIBS JANSSON_LIBS LIBZSTD_LIBS LZMA_LIBS ZLIB_LIBS IBERTY_LIBS LIBS | tr '\n' ' ')
make_proto
make_scripts
make_stamp
make_objects

targets=()
for source in "$top"/fuzz/fuzz_*.c; do
  name=$(basename "$source" .c)
  [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || continue
  make_target "$name"
  targets+=("$name")
done
echo "${#targets[@]} targets in $OUT"

failed=0
if [ "$run_seconds" != 0 ]; then
  for name in "${targets[@]}"; do
    run_target "$name" || failed=1
  done
fi
exit "$failed"
