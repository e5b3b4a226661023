#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pprof-flame: the picture is well-formed, complete, the same each time, and
# other programs can draw it.

# Variables of the helpers; tests run in subshells.
# shellcheck disable=SC2030,SC2031,SC2154

load helpers

# titles FILE: the text of each frame, as a person sees it.
titles() {
  xmllint --xpath '//*[local-name()="g"]//*[local-name()="title"]/text()' \
    "$1" 2>/dev/null || :
}

@test "the picture of every fixture is well-formed and can be drawn" {
  need xmllint
  for file in "$fixtures"/good-*.heap "$fixtures"/good-*.folded; do
    for how in '' --icicle --reverse --theme=dark --colors=module \
      --by=module; do
      # shellcheck disable=SC2086 # one word or none
      pprof-flame -q $how -o out.svg "$file"
      xmllint --noout out.svg
    done
  done
  need rsvg-convert
  pprof-flame -q -o out.svg "$fixtures/good-plain.folded"
  rsvg-convert -o out.png out.svg
  expect "PNG" "$(head -c 4 out.png | tail -c 3)" PNG
}

@test "every frame has its name and value, the root the total" {
  need xmllint
  cat >in.folded <<'FOLDED'
main;read all;grow<int> 600
main;read all 100
main;write & close;"quoted" 250
main;write & close 40
lone 10
FOLDED
  pprof-flame -o out.svg in.folded
  xmllint --xpath '//*[local-name()="title"]/text()' out.svg >shown
  for frame in 'main' 'read all' 'grow&lt;int' 'write &amp; close' \
    '"quoted"' 'lone'; do
    grep -qF "$frame" shown || fail_with "no '$frame' in: $(cat shown)"
  done
  # Values with what is below: 990, 700, 600, 290, 250, 10; all 1000.
  for value in '1,000' 990 700 600 290 250 10; do
    grep -qE "(^|[^0-9,])$value([^0-9,]|\$)" shown ||
      fail_with "no value $value in: $(cat shown)"
  done
  grep -q 'data-total="1000"' out.svg
}

@test "the total is that of the dump" {
  for file in good-plain.heap:106496 good-mixed-sizes.heap:4798690080 \
    good-plain.folded:20; do
    pprof-flame -q -o out.svg "$fixtures/${file%:*}"
    grep -q "data-total=\"${file#*:}\"" out.svg || fail_with "$file"
  done
  pprof-flame -q --inuse_objects -o out.svg "$fixtures/good-plain.heap"
  grep -q 'data-total="28"' out.svg
}

@test "widths are shares of the parent" {
  need xmllint
  printf 'a;b 75\na;c 25\n' >in.folded
  pprof-flame -o out.svg in.folded
  grep -oE '<rect[^>]*>' out.svg | grep -oE ' width="[0-9.]+"' |
    tr -dc '0-9.\n' | sort -n | uniq >widths
  # Some frame is as wide as a and the root; others three quarters and one.
  awk '{ w[NR] = $1 } END {
    for (i in w)
      for (j in w) {
        b += w[i] > w[j] * 0.748 && w[i] < w[j] * 0.752
        c += w[i] > w[j] * 0.248 && w[i] < w[j] * 0.252
      }
    exit !(b && c)
  }' widths || fail_with "$(tr '\n' ' ' <widths)"
}

@test "two runs, two locales, another directory: the same bytes" {
  cp "$fixtures/good-plain.heap" x
  touch -d @1700000000 x
  LC_ALL=C pprof-flame -q -o 1.svg x
  LC_ALL=C.UTF-8 TZ=Asia/Tokyo pprof-flame -q x >2.svg
  mkdir d
  cp -p x d/
  (cd d && pprof-flame -q -o ../3.svg x)
  pprof-convert -q -o x.pb.gz x
  pprof-flame -q -o 4.svg x.pb.gz
  for i in 2 3 4; do
    cmp 1.svg $i.svg
  done
}

@test "hostile names are text, not markup, script or control bytes" {
  need xmllint
  printf '%s 5\n' '<script>alert(1)</script>' '"/><image href="x"/>' \
    ']]>' '&lt;' 'javascript:x' '--><b>' >in.folded
  printf 'c\001\033[0m\177 5\n\377\376 5\n\355\240\200 5\n' >>in.folded
  pprof-flame --format=folded -o out.svg in.folded
  xmllint --noout out.svg
  for tag in b image; do
    absent "<${tag}[ >]" out.svg
  done
  absent 'alert\(1\)</script>' out.svg
  expect "scripts" "$(xmllint --xpath 'count(//*[local-name()="script"])' \
    out.svg)" "$(pprof-flame "$fixtures/good-plain.folded" |
    xmllint --xpath 'count(//*[local-name()="script"])' -)"
  LC_ALL=C absent "$(printf '[\001-\010\033\177]')" out.svg
}

@test "title, subtitle, notes, sizes and limits" {
  need xmllint
  file=$fixtures/good-plain.folded
  pprof-flame --title='T & <t>' --subtitle=below --notes='a note' \
    --width=800 --fontsize=10 -o out.svg "$file" 2>/dev/null ||
    pprof-flame --title='T & <t>' --subtitle=below --width=800 \
      -o out.svg "$file"
  xmllint --noout out.svg
  grep -q 'T &amp; &lt;t' out.svg
  grep -q 'below' out.svg
  grep -q 'viewBox="0 0 800 ' out.svg
  # What is left out is said.
  seq 1 300 | sed 's/.*/root;f& 1/' >many.folded
  pprof-flame --max-frames=20 -o out.svg many.folded
  grep -qE 'frames drawn' out.svg
  run_tool pprof-flame --width=none -o out "$file"
  expect_refused "width" width
  run_tool pprof-flame --colors=pink -o out "$file"
  expect_refused "colors" colors
}

@test "an empty profile gives a picture that says so" {
  need xmllint
  pprof-flame -o out.svg "$fixtures/good-no-samples.heap"
  xmllint --noout out.svg
  grep -qi 'no samples' out.svg
}

@test "a real dump: totals of picture and folded text agree" {
  need_corpus real/ballast
  need xmllint rsvg-convert
  dump=$corpus/real/ballast/gcc-O2/s0/01-full.heap
  map=--path-map=/srv/build/corpus=$corpus/real
  pprof-flame -q "$map" -o out.svg "$dump"
  xmllint --noout out.svg
  rsvg-convert -o out.png out.svg
  grep -q 'data-total="74202877"' out.svg
  pprof-convert -q --to=folded "$map" -o out.folded "$dump"
  expect "folded" "$(awk '{ s += $NF } END { print s }' out.folded)" 74202877
  # Each stack once, no frame with a separator in it.
  expect "twice" "$(sed 's/ [0-9]*$//' out.folded | sort | uniq -d)" ""
  # Functions wide enough to be seen are in the picture.
  for name in big_block thread_leaf run_names; do
    grep -q "$name" out.svg || fail_with "$name"
  done
}

@test "a difference of two profiles" {
  need xmllint
  printf 'm;gone 1000\nm;kept 1000\n' >a.folded
  printf 'm;kept 1000\nm;new 500\n' >b.folded
  for how in --diff-base=a.folded --diff_base=a.folded \
    --base-profile=a.folded; do
    pprof-flame --normalize=none "$how" -o out.svg b.folded
    xmllint --noout out.svg
    grep -q 'only in A (gone): 1,000 samples' out.svg
    grep -q 'class="new"' out.svg
  done
  for how in --widths=a --widths=union --widths=delta --delta=self --both \
    --negate --icicle --reverse --normalize=1:2 --normalize=total; do
    pprof-flame -q "$how" --diff-base=a.folded -o out.svg b.folded
    xmllint --noout out.svg
  done
  run_tool pprof-flame --diff-base=none.folded -o out b.folded
  expect "status" "$tool_status" 2
  run_tool pprof-flame --both -o out b.folded
  expect "status" "$tool_status" 2
  run_tool pprof-flame --normalize=x --diff-base=a.folded -o out b.folded
  expect "status" "$tool_status" 2
}

@test "a sandwich has callers and callees of what matches" {
  need xmllint
  printf 'main;a;f;x 1\nmain;b;f;f;y 2\nmain;c 4\n' >in.folded
  pprof-flame --sandwich='^f$' -o out.svg in.folded
  xmllint --noout out.svg
  expect "totals" "$(grep -o 'data-total="[0-9]*"' out.svg | sort -u)" \
    'data-total="3"'
  grep -q '>callers<' out.svg
  grep -q '>callees<' out.svg
  expect "others" "$(grep -c '<title>c$' out.svg || :)" 0
}

@test "on a terminal and in a log" {
  printf 'main;a 30\nmain;b 10\n' >in.folded
  expect "text" "$(pprof-flame --text --width=40 in.folded)" \
    "Flame graph: samples
|all  40 samples
|main  100%
|a  75%                       |b  25%"
  pprof-flame --text --color=always in.folded | grep -q '48;5;'
  expect "colours" "$(NO_COLOR=1 pprof-flame --text in.folded |
    grep -c '48;5;' || :)" 0
}

@test "options of flamegraph.pl" {
  need xmllint
  printf 'main;a 30\nmain;b_[k] 10\n' >in.folded
  pprof-flame --title T --subtitle S --width 900 --minwidth 0.5% \
    --countname things --nametype Frame: --hash --reverse --inverted \
    --notes N --bgcolors blue --fonttype Verdana --fontsize 11 --height 18 \
    --negate -o out.svg in.folded 2>err
  xmllint --noout out.svg
  expect "no warning" "$(cat err)" ""
  grep -q '40 things' out.svg
  for colors in hot mem io red green blue yellow purple aqua orange java js \
    perl python rust wakeup chain; do
    pprof-flame --colors "$colors" -o out.svg in.folded
    xmllint --noout out.svg
  done
  pprof-flame --flamechart -o out.svg in.folded 2>err
  expect "one warning" "$(grep -c flamechart err)" 1
  run_tool pprof-flame --bgcolors '#000000' -o out in.folded
  expect "status" "$tool_status" 2
}

@test "the policy is that of the script, for every picture" {
  printf 'a 1\n' >a.folded
  printf 'b;c 1\n' >b.folded
  pprof-flame --csp a.folded >a
  pprof-flame --csp b.folded >b
  expect "script" "$(sed 's/;.*//' a)" "$(sed 's/;.*//' b)"
  pprof-flame --no-script -o out.svg a.folded
  expect "scripts" "$(grep -c '<script' out.svg || :)" 0
}

@test "--group-by=thread: a thread without a name goes by its number" {
  cat >threads.heap <<'EOF'
heap_v2/1
  t*: 3: 24 [0: 0]
  t0: 1: 8 [0: 0]
  t1: 1: 8 [0: 0] worker
  t2: 1: 8 [0: 0]
@ 0x1000
  t*: 3: 24 [0: 0]
  t0: 1: 8 [0: 0]
  t1: 1: 8 [0: 0]
  t2: 1: 8 [0: 0]
EOF
  pprof-convert --threads -o threads.pb.gz threads.heap
  pprof-convert --to=folded --tagroot=thread threads.pb.gz |
    sed 's/;.*//' >got
  printf 'thread 0\nthread 2\nworker\n' | cmp - got
  pprof-flame --group-by=thread -o out.svg threads.pb.gz
  for name in 'thread 0' 'thread 2' worker; do
    grep -q "<title>$name" out.svg
  done
}
