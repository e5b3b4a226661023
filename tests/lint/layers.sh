#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Who may include whom, as two tables: our layers, and the one home of each
# foreign header.
set -u
# shellcheck source=tests/lint/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 99

# includes FILE...: "FILE HEADER" for each quoted include. A tarball holds
# what protoc-c made, which includes its own header by its bare name.
includes() {
  grep -HE '^# *include "' "$@" 2>/dev/null |
    sed -E '/\.pb-c\.c:/d; s/^([^:]*):# *include "([^"]*)".*/\1 \2/'
}

# check_layer LAYER ALLOWED...: its files include these folders and pprof.h.
check_layer() {
  layer=$1
  shift
  bad=
  for pair in $(includes "lib/$layer"/*.[ch] | tr ' ' '>'); do
    header=${pair#*>}
    folder=${header%%/*}
    [ "$header" = pprof.h ] && continue
    case " $* " in
    *" $folder "*) ;;
    *) bad="$bad${pair%%>*} includes $header
" ;;
    esac
  done
  expect_none "lib/$layer includes only: $*" "$bad"
}

check_layer base base
check_layer profile base profile
check_layer input base profile input
check_layer symbolize base profile symbolize
check_layer transform base profile transform
check_layer view base profile view
check_layer output base profile view output

# check_home HEADER-REGEX FILE-REGEX: foreign headers stay where they belong.
check_home() {
  expect_none "<$1> only in $2" "$(
    grep -rnE "^# *include [<\"]($1)[>\"]" lib tools --include='*.[ch]' |
      grep -vE "^($2):"
  )"
}

check_home '(elfutils/.*|dwarf|gelf|libelf|elf)\.h' 'lib/symbolize/[a-z_]+\.[ch]'
check_home '(profile/)?profile\.pb-c\.h' \
  'lib/input/pprof_[a-z]+\.[ch]|lib/output/pprof_[a-z]+\.[ch]|lib/profile/profile\.pb-c\.c'
check_home '(libdeflate|zlib)\.h' \
  'lib/input/gz\.c|lib/output/[a-z_]*gz[a-z_]*\.c|lib/symbolize/inflate\.c'
check_home '(zstd|lzma)\.h' 'lib/symbolize/(inflate|minidebug)\.c|lib/input/unzstd\.c'
check_home 'cbor\.h' 'lib/(input|output)/cbor_[a-z]+\.c|lib/symbolize/symfile\.c'
check_home '(libiberty/)?demangle\.h' 'lib/symbolize/demangle\.c'
check_home 'pcre2\.h' 'lib/transform/pattern\.c'
check_home 'xxhash\.h' 'lib/base/[a-z]+\.[ch]|lib/profile/[a-z]+\.[ch]'

expect_none "tools include <pprof.h> and nothing else of the library" "$(
  grep -rnE '^# *include "(base|profile|input|symbolize|transform|view|output)/' \
    tools
  grep -rnE '^# *include ".*pprof\.h"' tools
)"

expect_none "config.h is included first by every .c and by no header" "$(
  find lib tools -name '*.c' ! -name '*.pb-c.c' | while read -r file; do
    first=$(grep -m 1 -E '^# *include' "$file")
    [ "$first" = '#include <config.h>' ] || echo "$file: $first"
  done
  grep -rn 'config\.h' lib tools --include='*.h' | grep -v '^lib/banned.h'
)"

finish
