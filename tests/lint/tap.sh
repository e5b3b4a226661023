# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the lint scripts: TAP in three functions. A check collects what
# it finds wrong and hands it to `expect_none`.

tap_nr=0
tap_failed=0
# shellcheck disable=SC2034 # for the script that sources this
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}

# expect_none NAME FINDINGS: passes when FINDINGS is empty.
expect_none() {
  tap_nr=$((tap_nr + 1))
  if [ -z "$2" ]; then
    echo "ok $tap_nr - $1"
    return
  fi
  tap_failed=1
  echo "not ok $tap_nr - $1"
  printf '%s\n' "$2" | sed 's/^/# /'
}

# skip NAME WHY
skip() {
  tap_nr=$((tap_nr + 1))
  echo "ok $tap_nr - $1 # SKIP $2"
}

finish() {
  echo "1..$tap_nr"
  exit "$tap_failed"
}
