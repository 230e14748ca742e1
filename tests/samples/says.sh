#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: says.sh STATUS PATTERN PROGRAM [ARGUMENT...]
# The program has to end with this status and say what the pattern (grep -E) describes, on any of its outputs.
set -uo pipefail
expected=$1 pattern=$2
shift 2
said=$(timeout 300 "$@" 2>&1 < /dev/null)
status=$?
printf '%s\n' "$said"
[ "$status" = "$expected" ] || { echo "status $status, not $expected"; exit 1; }
grep -Eq -- "$pattern" <<< "$said" || { echo "says nothing like: $pattern"; exit 1; }
