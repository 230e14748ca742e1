#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/internals/life.md names functions with their files, as `function`, `file`: each is defined in that file.
# usage: life.sh ROOT
set -euo pipefail
cd "$1"
page=docs/internals/life.md
bad=0
count=0
while IFS=' ' read -r function file; do
    count=$((count + 1))
    # Defined: at the beginning of a line or behind its type, not followed by a semicolon alone.
    grep -qE "^([A-Za-z_].*[ *])?$function\(" "$file" 2>/dev/null || { echo "$page: no $function in $file"; bad=1; }
done < <(tr '\n' ' ' < "$page" | grep -oE '`[a-z][A-Za-z_0-9]*`, `[a-z][a-z0-9_/]*\.[ch]`' | tr -d '`,')
[ "$count" -gt 50 ] || { echo "$page: only $count functions are found, the form is another"; bad=1; }
exit $bad
