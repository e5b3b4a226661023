#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The HTML report in a real browser; see run.sh.
exec "$(dirname "$0")/run.sh" report
