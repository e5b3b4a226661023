#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-convert, and what all tools have in common.

# Variables of the helpers; tests run in subshells; pipes are on purpose.
# shellcheck disable=SC2002,SC2030,SC2031,SC2154

load helpers

tools='pprof-convert pprof-symbolize pprof-flame pprof-report'

@test "every tool has --help and --version, on standard output alone" {
  for tool in $tools; do
    run_tool "$tool" --help
    expect "$tool --help" "$tool_status" 0
    grep -qi '^usage' stdout
    [ ! -s stderr ]
    run_tool "$tool" --version
    expect "$tool --version" "$tool_status" 0
    grep -qE '[0-9]+\.[0-9]+\.[0-9]+' stdout
    [ ! -s stderr ]
  done
}

@test "a wrong option is one line, a hint and status 2" {
  for tool in $tools; do
    for wrong in --nonsense -Z --format '--time=never' \
      '--sample-type=x y' '--max=nothing=1'; do
      case $tool,$wrong in
      pprof-symbolize,--sample-type*) continue ;;
      *,--sample-type*) set -- "$wrong" "$fixtures/good-plain.heap" ;;
      *) set -- "$wrong" ;;
      esac
      run_tool "$tool" "$@" -o out
      expect "$tool $wrong" "$tool_status" 2
      [ ! -s stdout ]
      expect "$tool $wrong" "$(errors stderr | grep -c "^$tool: ")" 1
      case $wrong in
      --sample-type*) ;; # only the input can tell
      *) expect "$tool $wrong" "$(grep -c "try '$tool --help'" stderr)" 1 ;;
      esac
      [ ! -e out ]
    done
  done
}

@test "a file, '-', standard input and gzip give the same bytes" {
  for name in good-plain.heap good-plain.folded; do
    file=$fixtures/$name
    pprof-convert --time=1 -o 1.pb.gz "$file"
    pprof-convert --time=1 - <"$file" >2.pb.gz
    pprof-convert --time=1 <"$file" >3.pb.gz
    cat "$file" | pprof-convert --time=1 >4.pb.gz
    gzip -c "$file" >x
    pprof-convert --time=1 x >5.pb.gz
    gzip -c "$file" | pprof-convert --time=1 -o 6.pb.gz -
    pprof-convert --time=1 -o 7.pb.gz <(cat "$file")
    for i in 2 3 4 5 6 7; do
      cmp 1.pb.gz $i.pb.gz
    done
  done
}

@test "no input at all: standard input is read, empty is refused" {
  run_tool pprof-convert -o out
  expect_refused "empty standard input" "is empty"
}

@test "what was written is read again and written the same" {
  for file in "$fixtures"/good-*.heap "$fixtures"/good-*.folded; do
    pprof-convert -q --time=1 -o 1.pb.gz "$file"
    pprof-convert -q -o 2.pb.gz 1.pb.gz
    cmp 1.pb.gz 2.pb.gz
    for level in 0 1 9; do
      pprof-convert -q --level=$level -o 3.pb.gz 1.pb.gz
      pprof-convert -q -o 4.pb.gz 3.pb.gz
      cmp 1.pb.gz 4.pb.gz
    done
  done
}

@test "locale, time zone and path do not show in the output" {
  cp "$fixtures/good-plain.heap" x
  touch -d @1700000000 x
  LC_ALL=C TZ=UTC pprof-convert -o 1.pb.gz x
  mkdir other
  cp -p x other/y
  LC_ALL=C.UTF-8 TZ=America/New_York pprof-convert other/y >2.pb.gz
  cmp 1.pb.gz 2.pb.gz
}

@test "time: the file's, standard input's, or the one given" {
  need protoc
  cp "$fixtures/good-plain.heap" x
  touch -d @1700000000 x
  for how in "x" "--time=1700000000 x" "--time=2023-11-14T22:13:20Z x"; do
    # shellcheck disable=SC2086 # words
    pprof-convert -o out $how
    expect "$how" "$(decode out | grep '^time')" \
      "time_nanos: 1700000000000000000"
  done
  # A profile keeps its own time, whatever its file's.
  touch -d @1 out
  pprof-convert -o again out
  expect "kept" "$(decode again | grep '^time')" \
    "time_nanos: 1700000000000000000"
  pprof-convert --time=5 -o again out
  expect "replaced" "$(decode again | grep '^time')" "time_nanos: 5000000000"
  cat x | pprof-convert >out
  expect "none known" "$(decode out | grep -c '^time')" 0
}

@test "-o replaces a file only when all went well" {
  echo old >out
  chmod 640 out
  run_tool pprof-convert -o out "$fixtures/bad-two-dumps.heap"
  expect "status" "$tool_status" 2
  expect "content" "$(cat out)" old
  expect "files" "$(find . -type f | sort | tr '\n' ' ')" \
    "./out ./stderr ./stdout "
  run_tool pprof-convert -o out "$fixtures/good-plain.heap"
  expect "status" "$tool_status" 0
  expect "mode" "$(stat -c %a out)" 640
  expect "files" "$(find . -type f | sort | tr '\n' ' ')" \
    "./out ./stderr ./stdout "
}

@test "-o into nowhere, and input from nowhere" {
  plain=$fixtures/good-plain.heap
  run_tool pprof-convert -o no/such/out "$plain"
  expect_refused "no directory" no/such/out
  run_tool pprof-convert -o . "$plain"
  expect_refused "a directory" "is a directory"
  run_tool pprof-convert -o out no-such-file
  expect_refused "no file" "no-such-file: "
  mkdir dir
  run_tool pprof-convert -o out dir
  expect_refused "directory" "dir: "
  run_tool pprof-convert -o out "$plain" "$plain"
  expect_refused "a dump where the binary belongs" "good-plain.heap"
  run_tool pprof-convert --maps=no-such-maps -o out "$plain"
  expect_refused "no maps" "no-such-maps"
}

@test "a full disk is an error, whoever writes" {
  [ -c /dev/full ] || skip "no /dev/full here"
  for tool in $tools; do
    for how in to-stdout to-file; do
      if [ $how = to-stdout ]; then
        tool_status=0
        "$tool" "$fixtures/good-plain.heap" >/dev/full 2>stderr ||
          tool_status=$?
      else
        run_tool "$tool" -o /dev/full "$fixtures/good-plain.heap"
      fi
      expect "$tool $how" "$tool_status" 2
      grep -q 'No space left' stderr
      expect "$tool $how lines" "$(errors stderr | wc -l)" 1
    done
  done
  tool_status=0
  pprof-convert --help >/dev/full 2>stderr || tool_status=$?
  expect "--help" "$tool_status" 2
}

@test "a closed pipe ends a tool at once and quietly" {
  for tool in $tools; do
    set +e
    (sleep 0.3; exec "$tool" -q "$fixtures/good-plain.heap" 2>stderr) | true
    tool_status=${PIPESTATUS[0]}
    set -e
    # By SIGPIPE; or by the write's error where that signal is ignored.
    case $tool_status in
    141) [ ! -s stderr ] ;;
    2) grep -q 'Broken pipe' stderr ;;
    *) fail_with "$tool: $tool_status" ;;
    esac
  done
}

@test "binary output does not go to a terminal" {
  need script
  for tool in pprof-convert pprof-symbolize; do
    tool_status=0
    script -qec "$tool '$fixtures/good-plain.heap'" /dev/null >typed 2>&1 \
      </dev/null || tool_status=$?
    expect "$tool" "$tool_status" 2
    grep -q 'terminal' typed
  done
  script -qec "pprof-convert --to=folded '$fixtures/good-plain.heap'" \
    /dev/null >typed </dev/null
  grep -q 8192 typed
}

@test "messages: file, line, and no byte that drives a terminal" {
  run_tool pprof-convert -o out "$fixtures/bad-version.heap"
  expect_refused "version" \
    "pprof-convert: $fixtures/bad-version.heap:1: expected"
  name=$'odd\033[31m\tname'
  cp "$fixtures/bad-version.heap" "$name"
  run_tool pprof-convert -o out "$name"
  expect_refused "odd name" 'odd\x1b[31m\x09name:1:'
  absent "$(printf '\033')" stderr
  printf 'heap_v2/1\n@ \033]0;title\007zz\n  t*: 1: 1 [0: 0]\n' >x
  run_tool pprof-convert -o out x
  absent "$(printf '[\033\007]')" stderr
  # Warnings are summed up, and -q leaves them out, errors stay.
  { head -n 4 "$fixtures/good-plain.heap"; tail -n +5 \
    "$fixtures/good-plain.heap" | sed 's/^@ /junk\njunk\n&/'; } >x
  run_tool pprof-convert -o out x
  expect "warned" "$tool_status" 0
  grep -q 'warning: x:.*(. times)' stderr
  run_tool pprof-convert -q -o out x
  [ ! -s stderr ]
  run_tool pprof-convert --strict -o out2 x
  expect "strict" "$tool_status" 2
  [ ! -e out2 ]
}

@test "--list-formats names what --format and --to take" {
  run_tool pprof-convert --list-formats
  expect "status" "$tool_status" 0
  for name in jemalloc pprof folded; do
    grep -q "$name" stdout
  done
  run_tool pprof-convert --format=nonsense -o out "$fixtures/good-plain.heap"
  expect_refused "--format" nonsense
  run_tool pprof-convert --to=nonsense -o out "$fixtures/good-plain.heap"
  expect "--to" "$tool_status" 2
  grep -q "'nonsense' is not known" stderr
  run_tool pprof-convert --format=folded -o out "$fixtures/good-plain.heap"
  expect_refused "as folded" "good-plain.heap"
  run_tool pprof-convert --format=jemalloc -o out \
    "$fixtures/good-plain.folded"
  expect_refused "as a dump" "good-plain.folded"
}

@test "fixtures have the facts that are written beside them" {
  need protoc
  while read -r file options expected; do
    [ "$options" = - ] && options=
    # shellcheck disable=SC2086 # words
    expect "$file $options" "$(facts $options "$fixtures/$file")" "$expected"
  done <<'FACTS'
good-plain.heap - 2 28 106496
good-plain.heap --raw-counts 2 28 106496
good-plain.heap --threads 3 28 106496
good-accum.heap --raw-counts 3 9 262232 3 131080
good-accum.heap - 3 229413 4852438 65554 1639769
good-thread-names.heap - 1 7 224
good-thread-names.heap --threads 7 7 224
good-glued-names.heap - 1 2 64
good-glued-names.heap --threads 2 2 64
good-foreign-head.heap - 2 28 106496
good-crlf.heap - 2 28 106496
good-bom.heap - 2 28 106496
good-one-line.heap - 2 9 4112 2 56
good-one-line-sampled.heap - 1 1027 1056776
good-mixed-sizes.heap - 2 17273 4798690080
good-empty-stack.heap - 2 3 300
good-no-samples.heap - 0 0 0
good-plain.folded - 4 20
good-crlf-headers.folded - 3 5632
good-two-columns.folded - 3 12 13
good-number-in-name.folded - 2 17
FACTS
}

@test "numbers at the edge are clamped and told, never inf or nan" {
  need protoc
  run_tool pprof-convert --level=0 -o out "$fixtures/good-edge-counts.heap"
  expect "status" "$tool_status" 0
  grep -q '2^63-1' stderr
  grep -q 'not unsampled' stderr
  decode out | grep 'value:' | sort >values
  expect "values" "$(tr '\n' ' ' <values | tr -s ' ')" " value: 0 value: \
0 value: 1 value: 5000 value: 9223372036854775807 value: \
9223372036854775807 "
  pprof-report -q out >report
  pprof-flame -q -o x.svg out
  absent '\b(nan|NaN|inf|Inf)\b' report x.svg
  for rate in 0 1 9223372036854775808 18446744073709551615; do
    sed "1s,.*,heap_v2/$rate," "$fixtures/good-plain.heap" >x
    run_tool pprof-convert --level=0 -o out x
    expect "rate $rate" "$tool_status" 0
    expect "rate $rate" "$(decode out | grep -c '^period: [0-9]')" 1
  done
}

@test "a dump cut anywhere keeps what is whole and says so" {
  need protoc
  plain=$fixtures/good-plain.heap
  at=$(grep -abo '0x55d0c0002345 0x7f' "$plain" | tail -n 1)
  head -c "${at%%:*}" "$plain" >in-addresses
  head -n 9 "$plain" | head -c -17 >in-counts # "  t*: 16"
  sed '/^$/,$d' "$plain" >before-maps
  head -c -75 "$plain" >in-maps
  { head -c 260 "$plain"; tail -c +300 "$plain"; } >hole
  while read -r file expected; do
    run_tool pprof-convert --level=0 -o out "$file"
    expect "$file: status" "$tool_status" 0
    expect "$file" "$(totals out)" "$expected"
    expect "$file: warns" "$(grep -c ': warning: ' stderr | sed 's/[1-9].*/1/')" 1
    run_tool pprof-convert --strict -o out3 "$file"
    expect "$file: strict" "$tool_status" 2
  done <<'FACTS'
in-addresses 1 12 8192
in-counts 1 12 8192
before-maps 2 28 106496
in-maps 2 28 106496
FACTS
  # Somewhere in the middle: an error, or a part of the whole.
  run_tool pprof-convert --level=0 -o out "$(pwd)/hole"
  case $tool_status,$(totals out) in
  2,*) ;;
  0,"1 12 8192" | 0,"1 16 98304" | 0,"0 0 0") [ -s stderr ] ;;
  *) fail_with "hole: $tool_status $(totals out)" ;;
  esac
}

@test "wrong rates, versions and doubled dumps are refused" {
  for file in "$fixtures"/bad-*.heap; do
    rm -f out
    run_tool pprof-convert -o out "$file"
    expect_refused "$file" "$(basename "$file"):"
  done
}

@test "containers: zstd, cut gzip is told, gzip members are joined" {
  need protoc zstd
  plain=$fixtures/good-plain.heap
  zstd -q -c "$plain" >x.zst
  run_tool pprof-convert --level=0 -o out x.zst
  # Read, or named as what it is.
  case $tool_status in
  0) expect "zstd" "$(totals out)" "2 28 106496" ;;
  *) expect_refused "zstd" "zstd" ;;
  esac
  gzip -c "$plain" | head -c -60 >cut.gz
  run_tool pprof-convert --level=0 -o cut.pb cut.gz
  case $tool_status in
  2) expect "cut gzip" "$(errors stderr | wc -l)" 1 ;;
  0) grep -q 'warning: cut.gz' stderr ;;
  *) fail_with "cut gzip: $tool_status" ;;
  esac
  { gzip -c <(head -n 7 "$plain"); gzip -c <(tail -n +8 "$plain"); } >two.gz
  expect "two members" "$(facts two.gz)" "2 28 106496"
}

@test "threads are labels when asked for, with the bytes of their names" {
  need protoc
  pprof-convert --threads --level=0 -o out "$fixtures/good-plain.heap"
  decode out >text
  expect "strings" "$(grep -cE '"(main|worker 3|thread|thread_id)"' text)" 4
  expect "numbers" "$(grep -c '^    num: 3' text)" 1
  pprof-convert --threads --level=0 -o out "$fixtures/good-thread-names.heap"
  decode out >text
  for name in '@ 0x12' '] x' ' lead' 'tab\\there' 'a  b ' '\\377\\376' \
    '\\033\[31mred'; do
    grep -q "^string_table: \"$name\"" text || fail_with "no '$name'"
  done
  pprof-convert --level=0 -o out "$fixtures/good-plain.heap"
  decode out >text
  absent 'label \{' text
}

@test "header: types, period, default, mappings, addresses one before" {
  need protoc
  pprof-convert --level=0 -o out "$fixtures/good-accum.heap"
  decode out >text
  awk '/^string_table:/ { print n++ " " $2 }' text >table
  name() {
    awk -v i="$1" '$1 == i { gsub(/"/, "", $2); print $2 }' table
  }
  types=$(awk '/^sample_type/ { getline; print $2 }' text |
    while read -r i; do name "$i"; done | tr '\n' ' ')
  expect "types" "$types" \
    "alloc_objects alloc_space inuse_objects inuse_space "
  expect "default" \
    "$(name "$(awk '/^default_sample_type/ { print $2 }' text)")" inuse_space
  expect "period" "$(grep '^period:' text)" "period: 524288"
  expect "period type" \
    "$(name "$(awk '/^period_type/ { getline; print $2 }' text)")" space
  # Only mappings that are used; the first is the main binary.
  expect "main" "$(name "$(awk '/filename/ { print $2; exit }' text)")" \
    /srv/app/server
  expect "address" "$(grep -c "address: $((0x55d0c0001233))" text)" 1
}

@test "--maps stands in for maps that are not there" {
  need protoc
  sed '/^$/,$d' "$fixtures/good-plain.heap" >bare
  sed '1,/^MAPPED/d' "$fixtures/good-plain.heap" >maps
  run_tool pprof-convert --time=1 --maps=maps -o 1.pb.gz bare
  expect "status" "$tool_status" 0
  [ ! -s stderr ]
  pprof-convert --time=1 -o 2.pb.gz "$fixtures/good-plain.heap"
  cmp 1.pb.gz 2.pb.gz
}

@test "fractions of folded stacks come back as they were" {
  printf 'main;f 3.5\nmain;g 0.25\nmain;h -1\n' >in.folded
  pprof-convert -o in.pb.gz in.folded
  expect "folded" "$(pprof-convert --to=folded in.pb.gz)" "$(cat in.folded)"
  pprof-report -q in.pb.gz >top
  grep -qE '^ +3\.50 73\.68% +73\.68% +3\.50 73\.68%  f$' top
  grep -q 'accounting for 2\.75, 57\.89% of 4\.75 total' top
}

@test "--hz: what only counts samples is given time" {
  # 3 and 96 of 99 ticks a second: to the nearest nanosecond.
  printf 'a;b 3\na;c 96\n' >in.folded
  expect "time" "$(pprof-convert --hz=99 --to=folded in.folded)" \
    "$(printf 'a;b 30303030\na;c 969696970')"
  expect "counts" \
    "$(pprof-convert --hz=99 --to=folded --sample-type=samples in.folded)" \
    "$(printf 'a;b 3\na;c 96')"
  pprof-convert --hz=99 -o out.pb.gz in.folded
  run_tool pprof-report raw out.pb.gz
  grep -q '^PeriodType: cpu nanoseconds$' stdout
  grep -q '^Period: 10101010$' stdout
  # Beyond 64 bits.
  printf 'a %s\n' 9223372036854775807 >big.folded
  run_tool pprof-convert --hz=1 --to=folded -o - big.folded
  expect "limit" "$(cat stdout)" 'a 9223372036854775807'
  grep -q 'kept at the limit' stderr
  # What has its own measure stays as it is, and that is told.
  run_tool pprof-convert --hz=99 -o 1.pb.gz "$fixtures/good-plain.heap"
  expect "status" "$tool_status" 0
  grep -q 'rate given was not used' stderr
  pprof-convert -o 2.pb.gz "$fixtures/good-plain.heap"
  cmp 1.pb.gz 2.pb.gz
  run_tool pprof-convert --hz=99 --strict -o 3.pb.gz \
    "$fixtures/good-plain.heap"
  expect "strict" "$tool_status" 2
  [ ! -e 3.pb.gz ]
  for wrong in 0 -1 9.9 x 1000000001; do
    run_tool pprof-convert --hz="$wrong" -o out in.folded
    expect "--hz=$wrong" "$tool_status" 2
    grep -q -- '--hz: expected' stderr
  done
}

@test "folded: totals of any value, by name, number or old option" {
  file=$fixtures/good-accum.heap
  sum() {
    pprof-convert --to=folded "$@" | awk '{ s += $NF } END { print s }'
  }
  expect "default" "$(sum --raw-counts "$file")" 131080
  expect "space" "$(sum --raw-counts --sample-type=space "$file")" 131080
  expect "objects" "$(sum --raw-counts --inuse_objects "$file")" 3
  expect "number" "$(sum --raw-counts --sample-type=0 "$file")" 9
  expect "alloc" "$(sum --raw-counts --alloc_space "$file")" 262232
  expect "alloc" "$(sum --raw-counts -sample_index=alloc_space "$file")" \
    262232
  run_tool pprof-convert --to=folded --alloc_space -o out \
    "$fixtures/good-plain.heap"
  expect_refused "no such value" "inuse_objects, inuse_space"
}

@test "an option of limits is taken and named in the message" {
  run_tool pprof-convert --max=frames=2 -o out "$fixtures/good-plain.heap"
  expect_refused "frames" frames
  pprof-convert --max=frames=3 -o out "$fixtures/good-plain.heap"
}

@test "a limit is told as one by every reader, not as a lack of memory" {
  told=0
  for file in "$top_srcdir"/fuzz/corpus/*/*; do
    run_tool pprof-convert --max=locations=1 -o out "$file"
    if grep -q 'out of memory' stderr; then
      echo "$file: $(cat stderr)"
      false
    fi
    ! grep -q 'limit locations' stderr || told=$((told + 1))
  done
  [ "$told" -gt 50 ]
}

@test "-o through a chain of links rewrites what is at its end" {
  echo old >c
  ln -s c b
  ln -s b a
  pprof-convert --to=folded -o a "$fixtures/good-plain.heap"
  [ -L a ] && [ -L b ] && [ ! -L c ]
  pprof-convert --to=folded "$fixtures/good-plain.heap" | cmp - c
}

@test "-o takes the names of open files, and goes on where they are" {
  pprof-convert --to=folded "$fixtures/good-plain.heap" >want
  echo first >out
  pprof-convert --to=folded -o /dev/stdout "$fixtures/good-plain.heap" >>out
  { echo first && cat want; } | cmp - out
  pprof-convert --to=folded -o /dev/fd/5 "$fixtures/good-plain.heap" 5>out
  cmp want out
}

@test "a dump cut anywhere in its stacks gives what is whole, and says so" {
  file=$fixtures/good-plain.heap
  start=$(grep -abo -m 1 '^@' "$file" | cut -d: -f1)
  end=$(grep -abo '^MAPPED' "$file" | cut -d: -f1)
  for ((at = start + 1; at < end; at++)); do
    head -c "$at" "$file" >partial
    run_tool pprof-convert --to=folded -o out partial
    expect "status at $at" "$tool_status" 0
    [ -s stderr ] || fail_with "nothing said of a cut at $at"
  done
}

@test "a name that is empty, and a division by nothing, are said" {
  run_tool pprof-convert -o '' "$fixtures/good-plain.heap"
  expect "status" "$tool_status" 2
  grep -qF -- "--output: expected the name of a file, found ''" stderr
  for divisor in 0 0.0 -1; do
    run_tool pprof-convert --divide-by="$divisor" -o out \
      "$fixtures/good-plain.heap"
    expect "divided by $divisor" "$tool_status" 2
    grep -q -- '--divide-by: expected a number' stderr
    [ ! -e out ]
  done
}

@test "a time of a file's own, or none: only dumps without one take the file's" {
  cp "$fixtures/good-plain.folded" plain.folded
  touch -d '2024-02-03 04:05:06 UTC' plain.folded
  run_tool pprof-convert -o a.pb.gz plain.folded
  expect "folded" "$(decode a.pb.gz | grep '^time_nanos')" \
    'time_nanos: 1706933106000000000'
  printf 'sample_type { type: 1 unit: 2 }\nstring_table: ""\n%s\n%s\n' \
    'string_table: "space"' 'string_table: "bytes"' |
    protoc --encode=perftools.profiles.Profile -I "$top_srcdir/lib/profile" \
      profile.proto >timeless.pb
  run_tool pprof-convert -o b.pb.gz timeless.pb
  expect "status" "$tool_status" 0
  expect "pprof" "$(decode b.pb.gz | grep -c "^time_nanos")" 0
}
