#!/bin/bash
# SPDX-License-Identifier: MIT
# A library exports only names that a public header has (one of 16-bit text has "16" behind it), or that have a prefix
# of ours: a program's own function of that name would be called in its place, by any library in the process.
# usage: exports.sh ROOT LIBRARY...
set -euo pipefail
export LC_ALL=C
root=$1
shift
declared=$(grep -rohE '\b[A-Za-z_][A-Za-z0-9_]*' "$root"/{compat,ndspi,ndk}/include | sort -u)
bad=0
for library; do
    exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); sub(/16$/, "", $3); print $3 }' |
        sort -u)
    [ "$(wc -l <<< "$exported")" -gt 20 ] || { echo "$library: only few names are found"; exit 1; }
    undeclared=$(comm -23 <(grep -vE '^(ndspi|srd)_' <<< "$exported") <(echo "$declared"))
    [ -z "$undeclared" ] || { echo "$library exports, and no public header has:" "${undeclared//$'\n'/ }"; bad=1; }
done
exit $bad
