#!/bin/bash
# SPDX-License-Identifier: MIT
# The table of docs/internals/locks.md has the levels of enum lock_level, in their order: `| 10 | PROVIDER | ...`.
# usage: locks.sh ROOT
set -euo pipefail
cd "$1"
source=util/lock.h
page=docs/internals/locks.md
in_source() { sed -n '/^enum lock_level {/,/^}/p' "$source" | tr -d '\n' | grep -oE 'LOCK_[A-Z_]+ *= *[0-9]+' |
    sed -E 's/LOCK_([A-Z_]+) *= *([0-9]+)/\2 \1/'; }
in_page() { sed -nE 's/^\| ([0-9]+) \| ([A-Z_]+) \|.*/\1 \2/p' "$page"; }
[ "$(in_source | wc -l)" -gt 20 ] || { echo "$source: only few levels are found, the form is another"; exit 1; }
diff --label "$source" --label "$page" <(in_source) <(in_page)
