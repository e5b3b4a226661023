#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A script, shortened by embed.awk, as a string in a C header.
# usage: embed.sh FILE.js NAME >HEADER
# AWK in the environment, if it is not to be awk.
set -eu

here=$(dirname "$0")
short=$(${AWK:-awk} -f "$here/embed.awk" "$1")
case $short in
*']]>'* | *'</'* | *'<!--'*)
  echo "embed.sh: $1: would end the element that holds it" >&2
  exit 1
  ;;
'')
  echo "embed.sh: $1: is empty" >&2
  exit 1
  ;;
esac

echo "/* Made from $(basename "$1") by embed.sh. */"
echo "static const char $2[] ="
# shellcheck disable=SC2016 # awk's variables
printf '%s\n' "$short" | ${AWK:-awk} '{
  for (i = 1; i <= length($0); i += 64) {
    part = substr($0, i, 64)
    gsub(/\\/, "\\\\\\\\", part)
    gsub(/"/, "\\\"", part)
    print "\t\"" part "\""
  }
  print "\t\"\\n\""
}'
echo "	;"
