#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Dumps of real programs, against the facts that are written beside them.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# near NAME GOT EXPECTED TOLERANCE: whole numbers.
near() {
  awk -v a="$2" -v b="$3" -v t="$4" \
    'BEGIN { d = a - b; exit !(d <= t && -d <= t && a != "") }' ||
    printf '%s: got %s, expected %s +- %s\n' "$1" "$2" "$3" "$4" >>problems
}

# same NAME GOT EXPECTED
same() {
  [ "$2" = "$3" ] ||
    printf '%s: got %s, expected %s\n' "$1" "$2" "$3" >>problems
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  : >problems
  need protoc
}

no_problems() {
  if [ -s problems ]; then
    cat problems >&2
    return 1
  fi
}

# table EXPECT.MD: "dump rate stacks  raw objects, bytes, acc objects, acc
# bytes  objects, bytes" of each row, single blanks.
table() {
  awk -F'|' '/^\| [^|]+\.heap(\.gz)? \|/ {
    gsub(/[^0-9]/, " ", $9); gsub(/[^0-9]/, " ", $10)
    sub(/.*\//, "", $3)
    print $2, $3, $4, $9, $10
  }' "$1" | tr -s ' ' | sed 's/^ //'
}

# check_dump FILE RATE STACKS RAW... : one row of a table.
check_dump() {
  local file=$1 rate=$2 stacks=$3 raw=("${@:4:4}") scaled=("${@:8:2}") got
  if [ "${raw[2]} ${raw[3]}" = "0 0" ]; then
    raw=("${raw[@]:0:2}")
  else
    raw=("${raw[@]:2:2}" "${raw[@]:0:2}")
  fi
  same "$file raw" "$(facts --raw-counts "$file")" "$stacks ${raw[*]}"
  # Scaled: each stack is rounded, so sums may differ by half a stack each.
  read -r -a got <<<"$(facts "$file")"
  same "$file stacks" "${got[0]}" "$stacks"
  if [ "${#scaled[@]}" = 2 ]; then
    near "$file objects" "${got[-2]}" "${scaled[0]}" "$((stacks / 2 + 1))"
    near "$file bytes" "${got[-1]}" "${scaled[1]}" "$((stacks / 2 + 1))"
  fi
  [ "$rate" != heapprofile ] || rate=1
  period=$(decode_plain <facts.pb | awk '/^period:/ { print $2 }')
  same "$file period" "$period" "$rate"
}

# check_tables FOLDER...: every row whose dump is there.
check_tables() {
  local expect dump file nr=0
  while read -r expect; do
    while read -r dump rest; do
      file=$(dirname "$expect")/$dump
      [ -f "$file" ] || continue
      # shellcheck disable=SC2086 # numbers
      check_dump "$file" $rest
      nr=$((nr + 1))
    done < <(table "$expect" | awk -v skip="${SKIP:-^$}" '$1 !~ skip')
  done < <(find "$@" -name expect.md | sort)
  echo "$nr dumps" >&2
  [ "$nr" -ge "${AT_LEAST:-1}" ]
  no_problems
}

@test "a C++ program under every allocator: stacks and sums" {
  need_corpus real/ballast
  AT_LEAST=30 SKIP='^0[2-5]-' check_tables "$corpus/real/ballast/gcc-O2"
}

@test "a C++ program in every build: stacks and sums" {
  need_corpus real/ballast
  AT_LEAST=20 SKIP='^0[02-9]-' check_tables \
    "$corpus"/real/ballast/gcc-O[^2]* "$corpus"/real/ballast/gcc-O2-* \
    "$corpus"/real/ballast/clang*
}

@test "git, sqlite3, redis: stacks and sums" {
  need_corpus real/apps
  SKIP='\.i[0-9]*[1-46-9]\.' AT_LEAST=20 check_tables "$corpus/real/apps/git" \
    "$corpus/real/apps/sqlite3" "$corpus/real/apps/redis"
}

@test "python and clang, thousands of stacks: stacks and sums" {
  need_corpus real/apps
  # One of each size: the others are alike.
  SKIP='\.(i[1-9]|i1[0-3])\.|\.s5\.' AT_LEAST=5 check_tables "$corpus/real/apps/python" \
    "$corpus/real/apps/clang"
}

@test "rust: totals in both manglings" {
  need_corpus real/rust
  while read -r file; do
    same "$file" "$(facts "$file")" "41 640 2346576"
  done < <(find "$corpus/real/rust" -name '01-full.heap' -path '*s0*')
  no_problems
}

@test "gperftools: the last dump of the series" {
  need_corpus real/gperftools
  file=$(find "$corpus/real/gperftools/heap" -name '*0014*')
  same "$file" "$(facts "$file" | cut -d' ' -f2-)" \
    "1748 83536262 1153 83345997"
  no_problems
}

@test "public dumps: stacks and sums" {
  need_corpus public
  file=$corpus/public/google+pprof/profile/testdata/jemalloc.heap
  same "raw" "$(facts --raw-counts "$file")" "471 66836 154861406650"
  # shellcheck disable=SC2046 # numbers
  set -- $(facts "$file")
  same "stacks" "$1" 471
  near "objects" "$2" 12526533 471
  near "bytes" "$3" 182546748483 471
  # Threads kept apart: another rounding, nearly the same sum.
  # shellcheck disable=SC2046
  set -- $(facts --threads "$file")
  near "bytes by thread" "$3" 182525504450.7 6593

  file=$(find "$corpus/public" -name 'gtest_jemalloc_profile_source.heap')
  same "raw" "$(facts --raw-counts "$file")" "7 162 11166737"
  # shellcheck disable=SC2046
  set -- $(facts "$file")
  near "objects" "$2" 11792 7
  near "bytes" "$3" 90662471 7

  while read -r name raw scaled; do
    file=$corpus/public/issues/$name.heap
    same "$name raw" "$(facts --raw-counts "$file")" "$(echo "$raw" | tr , ' ')"
    same "$name" "$(facts "$file")" "$(echo "$scaled" | tr , ' ')"
  done <<'FACTS'
gnzlbg_jemallocator_115 2,1000001,16081920 2,1000001,16081920
jemalloc_jemalloc_1461 1,30,79763360 1,30,80267017
jemalloc_jemalloc_447 1,40,9175040 1,40,9175040
jemalloc_jemalloc_2561_trailing_blanks 1,1,32 1,32769,1048592
FACTS
  no_problems
}

@test "public pprof files: read, written, and the same samples" {
  need_corpus public
  nr=0
  while read -r file; do
    case $file in
    *malformed* | *crash*) continue ;;
    esac
    run_tool pprof-convert -q --level=0 -o out.pb "$file"
    if [ "$tool_status" != 0 ]; then
      same "$file" "$(cat stderr)" "read"
      continue
    fi
    decode "$file" >theirs 2>/dev/null || continue
    decode out.pb >ours
    for text in theirs ours; do
      # Sums of values, and how many types there are.
      awk '/^sample \{/ { k = 0 } /^sample_type/ { t++ }
        /^  value: / { s[++k] += $2 }
        END {
          for (i = 1; i <= t; i++) printf "%.6g ", s[i]
          print t " types"
        }' "$text" >"$text.sums"
      grep -E '^(period|duration_nanos): [^0]' "$text" >>"$text.sums" || :
      # Where the input tells no time the output has the file's.
      grep -q '^time_nanos' theirs &&
        grep '^time_nanos' "$text" >>"$text.sums"
    done
    same "$file" "$(cat ours.sums)" "$(cat theirs.sums)"
    nr=$((nr + 1))
  done < <(find "$corpus/public" "$corpus/pprof-small" -size -128k \
    \( -name '*.pprof' -o -name '*.pb.gz' -o -name '*.prof' -o -name '*.pb' \))
  echo "$nr files" >&2
  [ "$nr" -ge 40 ]
  no_problems
}

# Totals of the odd files that are read: samples, then each value's sum; "w"
# where something must be said.
odd_facts() {
  cat <<'FACTS'
good.heap 2 3 96
header-rate-0.heap 2 3 96
header-comment.heap 2 3 96 w
no-final-newline.heap 2 3 96
crlf.heap 2 3 96
tabs.heap 2 3 96
nul-tail.heap 2 3 96 w
truncated-after-total.heap 0 0 0 w
truncated-in-addresses.heap 0 0 0 w
truncated-before-maps.heap 2 3 96 w
truncated-in-maps.heap 2 3 96 w
count-2e63-1.heap 1 1 9223372036854775808
count-2e63.heap 1 1 9223372036854775808 w
count-2e64-1.heap 1 1 9223372036854775808 w
count-negative.heap 1 -1 -64 w
count-zero-objects.heap 1 0 4096
count-zero-bytes.heap 1 7 0
header-total-differs.heap 2 3 96
no-totals.heap 2 3 96
stack-without-counts.heap 1 1 32 w
counts-twice.heap 1 2 64 w
thread-sum-differs.heap 1 3 96
thread-names.heap 2 3 96
thread-name-latin1.heap 2 3 96
addr-none.heap 1 3 96
addr-zero.heap 1 3 96
addr-only-zero.heap 1 3 96
addr-vsyscall.heap 1 3 96
addr-no-0x.heap 1 3 96
addr-leading-zeros.heap 1 3 96
addr-10000-frames.heap 1 3 96
addr-same-1000.heap 1 3 96
maps-missing.heap 2 3 96 w
maps-overlap.heap 2 3 96
maps-zero-length.heap 2 3 96 w
maps-to-max.heap 2 3 96
maps-off-huge.heap 2 3 96
maps-nonhex.heap 2 3 96 w
maps-deleted.heap 2 3 96
maps-spaces.heap 2 3 96
maps-path-trav.heap 2 3 96
maps-path-fifo.heap 2 3 96
maps-path-long.heap 2 3 96
maps-memfd.heap 2 3 96
maps-anon-inode.heap 2 3 96
maps-hugepage.heap 2 3 96
maps-build-id.heap 2 3 96
maps-twice.heap 2 3 96
gp-good.heap 2 3 96 2 64
gp-je36.heap 2 49154 1572912 32770 1048608
gp-growth.heap 2 3 96 2 64
gp-no-at.heap 2 12290 393264 8194 262176 w
cpu-good.prof 2 4 40000000
gz.heap.gz 2 3 96
gz-wrong-name.heap 2 3 96
gz-trailing-junk.heap.gz 2 3 96 w
gz-trailing-zeros.heap.gz 2 3 96
gz-extra-name.heap.gz 2 3 96
gz-bomb-valid.heap.gz 3 8000003 256000096
pb-good.pb 1 64
pb-good.pb.gz 1 64
pb-map-missing.pb.gz 1 64 w
pb-value-min.pb.gz 1 -9223372036854775808
pb-value-neg.pb.gz 1 -64
pb-varint-10-overlong.pb.gz 1 64
pb-unpacked.pb.gz 1 64
pb-str-not-utf8.pb.gz 1 64
pb-str-html.pb.gz 1 64
pb-no-samples.pb.gz 0 0
pb-sample-no-loc.pb.gz 1 64
pb-sample-repeat.pb.gz 1 64
pb-line-order.pb.gz 1 64
pb-line-neg.pb.gz 1 64
pb-ids-huge.pb.gz 1 64
pb-labels.pb.gz 1 64
raw-one-per-line.txt 2 3
raw-counted.txt 2 15
folded.txt 3 16
FACTS
}

# Formats that one build reads and an older one does not.
not_read_yet() {
  case $1 in
  cpu-*) ! grep -q '^ *cpu\b' formats ;;
  raw-*) ! grep -q '^ *raw\b' formats ;;
  *) false ;;
  esac
}

# check_odd FILE VERDICT
check_odd() {
  local file=$1 verdict=$2 name=${1##*/} fact seconds=5
  rm -f out.pb
  tool_status=0
  # 290 MB come out of the bomb; all others are small.
  [ "$name" = gz-bomb-valid.heap.gz ] && seconds=60
  timeout "$seconds" pprof-convert --level=0 -o out.pb "$file" >stdout \
    2>stderr || tool_status=$?
  [ ! -s stdout ] || same "$name: standard output" "something" "nothing"
  not_read_yet "$name" && verdict=error
  case $verdict,$tool_status in
  ok,0 | either,0)
    fact=$(odd_facts | awk -v n="$name" '$1 == n { $1 = ""; print }')
    case $fact in
    *w) [ -s stderr ] || same "$name" "no warning" "a warning" ;;
    esac
    [ -z "$fact" ] || same "$name" "$(totals out.pb)" \
      "$(echo "$fact" | tr -d w | xargs)"
    ;;
  error,2 | either,2)
    same "$name: lines of error" "$(errors stderr | wc -l)" 1
    grep -qF "$name" stderr || same "$name" "$(cat stderr)" "its name"
    [ ! -e out.pb ] || same "$name" "an output file" "none"
    ;;
  *) same "$name: status" "$tool_status" "$verdict" ;;
  esac
}

@test "bad and odd inputs get their verdicts" {
  need_corpus real/bad
  pprof-convert --list-formats >formats
  nr=0
  while IFS=$'\t' read -r name verdict _; do
    check_odd "$corpus/real/bad/files/$name" "$verdict"
    nr=$((nr + 1))
  done < <(grep -v '^#' "$corpus/real/bad/files/index.tsv")
  [ "$nr" -ge 120 ]
  no_problems
}

@test "every tool has the same verdicts" {
  need_corpus real/bad
  pprof-convert --list-formats >formats
  while IFS=$'\t' read -r name verdict _; do
    case $name in
    *gz-bomb*) continue ;; # once is enough
    esac
    not_read_yet "$name" && continue
    for tool in pprof-flame pprof-report pprof-symbolize; do
      rm -f out
      tool_status=0
      timeout 5 "$tool" -q -o out "$corpus/real/bad/files/$name" \
        >/dev/null 2>stderr || tool_status=$?
      case $verdict,$tool_status in
      ok,0 | either,0) [ -s out ] || same "$tool $name" "no output" "some" ;;
      error,2 | either,2)
        same "$tool $name: lines" "$(wc -l <stderr)" 1
        [ ! -e out ] || same "$tool $name" "an output file" "none"
        ;;
      *) same "$tool $name: status" "$tool_status" "$verdict" ;;
      esac
    done
  done < <(grep -v '^#' "$corpus/real/bad/files/index.tsv")
  no_problems
}
