#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes ./configure from a fresh clone.
set -eu
cd "$(dirname "$0")"
exec autoreconf --install --force "$@"
