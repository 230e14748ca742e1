#!/bin/bash
# SPDX-License-Identifier: MIT
# libndwin32 exports only names that a public header has; one of 16-bit text has "16" behind it. Its map names none.
# usage: exports.sh LIBRARY INCLUDE-DIR
set -euo pipefail
export LC_ALL=C
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); sub(/16$/, "", $3); print $3 }' | sort -u)
[ "$(wc -l <<< "$exported")" -gt 300 ] || { echo "$1: only few names are found"; exit 1; }
undeclared=$(comm -23 <(echo "$exported") <(grep -rohE '\b[A-Za-z_][A-Za-z0-9_]*' "$2" | sort -u))
[ -z "$undeclared" ] || { echo "$1 exports, and no header of $2 declares:" "${undeclared//$'\n'/ }"; exit 1; }
