# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the benchmark scripts: finds the tools, builds the generators,
# times commands in turn and prints medians.
#
# Variables: BUILD (folder where make was run; default: this one), REPS
# (repetitions; default 5), TMPDIR (needs the room that a script names),
# CC, CFLAGS (of the generators).
set -euo pipefail
export LC_ALL=C

bench_src=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(cd "${BUILD:-.}" && pwd)
REPS=${REPS:-5}
CC=${CC:-cc}
bench_tmp=$(mktemp -d "${TMPDIR:-/tmp}/pprof-bench.XXXXXX")
trap 'rm -rf "$bench_tmp"' EXIT

# tool NAME: the program itself, not libtool's wrapper; PATH when not built.
tool() {
  if [ -x "$BUILD/.libs/$1" ]; then
    echo "$BUILD/.libs/$1"
  elif [ -x "$BUILD/$1" ]; then
    echo "$BUILD/$1"
  else
    command -v "$1" || {
      echo "$1 is neither in $BUILD nor in PATH; set BUILD" >&2
      return 1
    }
  fi
}
[ ! -d "$BUILD/.libs" ] ||
  export LD_LIBRARY_PATH="$BUILD/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# generator NAME: build it, once.
generator() {
  [ -x "$bench_tmp/$1" ] && return
  [ -f "$bench_tmp/config.h" ] ||
    echo '#define _GNU_SOURCE 1' >"$bench_tmp/config.h"
  # shellcheck disable=SC2086 # a list
  "$CC" ${CFLAGS:--O2} -I"$bench_tmp" -o "$bench_tmp/$1" "$bench_src/$1.c"
}

have() {
  command -v "$1" >/dev/null
}

bytes_of() {
  stat -L -c %s "$1"
}

say_machine() {
  local model
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  printf 'machine: %s, %s CPUs; load %s\n' "$model" "$(nproc)" \
    "$(cut -d' ' -f1-3 /proc/loadavg)"
}

# sample LABEL COMMAND...: one run; its figures go to LABEL's file. Standard
# input comes from STDIN (default: nothing).
sample() {
  local label=$1
  shift
  generator measure
  "$bench_tmp/measure" "$bench_tmp/one" "$@" \
    <"${STDIN:-/dev/null}" >"$bench_tmp/$label.out" \
    2>"$bench_tmp/$label.err" || return 1
  local code
  read -r _ _ _ code <"$bench_tmp/one"
  if [ "$code" -gt "${ALLOW:-0}" ]; then
    echo "$label: exit status $code:" >&2
    tail -n 5 "$bench_tmp/$label.err" >&2
    return 1
  fi
  cat "$bench_tmp/one" >>"$bench_tmp/$label.runs"
}

# median LABEL COLUMN: 1 CPU seconds, 2 seconds, 3 KiB.
median() {
  sort -g -k"$2,$2" "$bench_tmp/$1.runs" | awk -v c="$2" '
    { v[NR] = $c }
    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# calc EXPRESSION [FORMAT]
calc() {
  awk "BEGIN { printf \"${2:-%.2f}\", $1 }"
}

# report LABEL [BYTES]: CPU, time, memory, and the rate over BYTES of input.
report() {
  local cpu line
  cpu=$(median "$1" 1)
  line=$(printf '  %-22s %8.3f s CPU  %8.3f s  %8.1f MiB' "$1" "$cpu" \
    "$(median "$1" 2)" "$(calc "$(median "$1" 3) / 1024")")
  [ $# = 1 ] ||
    line="$line  $(calc "$2 / 1e6 / ($cpu > 0 ? $cpu : 0.0001)" %.1f) MB/s"
  echo "$line"
}

# versus OURS PEER: ratios, peer to ours.
versus() {
  printf '  %s / %s: CPU %s x, memory %s x\n' "$2" "$1" \
    "$(calc "$(median "$2" 1) / $(median "$1" 1)" %.1f)" \
    "$(calc "$(median "$2" 3) / $(median "$1" 3)" %.1f)"
}
