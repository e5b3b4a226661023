#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that a job needs and that are not there yet.
# usage: packages.sh build|demo|test...
set -eu

build='autoconf autoconf-archive automake gcc g++ libtool make pkg-config
  protobuf-c-compiler libprotobuf-c-dev zlib1g-dev libdw-dev libelf-dev
  libcbor-dev libiberty-dev libxxhash-dev libpcre2-dev libdeflate-dev
  libzstd-dev liblzma-dev'
demo='g++ libjemalloc2'
test='bats bsdextrautils clang elfutils golang-go graphviz jq libclang-rt-14-dev
  libcmocka-dev libjemalloc2 librsvg2-bin libxml2-utils llvm mandoc
  protobuf-compiler python3 shellcheck xz-utils zip zstd'

# The browser tests; some systems have npm with nodejs and some apart.
test="$test chromium"
command -v npm >/dev/null || test="$test nodejs npm"

wanted=
for job in "$@"; do
  case $job in
  build) wanted="$wanted $build" ;;
  demo) wanted="$wanted $demo" ;;
  test) wanted="$wanted $test" ;;
  *)
    echo "packages.sh: no such job: $job" >&2
    exit 2
    ;;
  esac
done

missing=
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || :)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  as_root=sudo
  command -v sudo >/dev/null || {
    echo "packages.sh: run as root, or install these:$missing" >&2
    exit 1
  }
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of names
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing
