#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: NDPERF=PROGRAM terminal.sh [ARGUMENT...]
# Runs ndperf on a terminal, and passes on what comes out there.
set -euo pipefail
exec script -qec "$NDPERF $*" /dev/null
