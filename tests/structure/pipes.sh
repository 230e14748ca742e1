#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No script reads a pipe with a program that stops early (grep -q, grep -m, head): what writes then dies of SIGPIPE, now
# and then, which pipefail takes for a failure of the whole. `grep ... > /dev/null` and `sed -n 1p` read all of it.
# usage: pipes.sh ROOT
set -euo pipefail

# early FILE...: lines with such a pipe, also where the pipe is at the end of the line before
early() {
    awk '
        FNR == 1 { piped = 0 }
        /^[ \t]*#/ { next }
        {
            line = piped ? "|" $0 : $0
            piped = line ~ /[^|]\|&?[ \t]*\\?$/
            if (line ~ /(^|[^|])\|&?[ \t]*([A-Z_]+=[^ ]* )?[ef]?grep[ \t]([^|"'\'']*[ \t])?-([a-zA-Z]*[qm]|-quiet)/ ||
                line ~ /(^|[^|])\|&?[ \t]*head([ \t]|$)/)
                print FILENAME ":" FNR ": " $0
        }' "$@"
}

# It finds what it is for, and nothing else.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndspi-pipes.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/bad" <<'TEXT'
seq 9 | grep -q 1
seq 9 | grep -i -qE "1 *2"
seq 9 2>&1 |& grep -sxq 1 || exit
seq 9 | sort |
    grep -m 1 1
seq 9 | head -n 1
x=$(seq 9 | head -1)
TEXT
cat > "$scratch/good" <<'TEXT'
seq 9 | grep 1 > /dev/null
grep -q 1 file || grep -q 2 file
seq 9 | grep -- "a -q"
seq 9 || head -n 1 file
# seq 9 | head -n 1
[ x ] ||
    grep -q 1 file
TEXT
[ "$(early "$scratch/bad" | wc -l)" = 6 ] || { echo "not all found:"; early "$scratch/bad"; exit 1; }
[ -z "$(early "$scratch/good")" ] || { echo "found, and right:"; early "$scratch/good"; exit 1; }

cd "$1"
mapfile -t scripts < <(find . '(' -path ./build -o -path ./.git ')' -prune -o -type f -size -200k -print0 |
    xargs -0 grep -IlE '^#!.*\b(ba)?sh\b' | grep -vxF ./tests/structure/pipes.sh | sort)
found=$(early "${scripts[@]}")
[ -z "$found" ] || { printf '%s\n' "$found" "These do not read all (tests/structure/pipes.sh)."; exit 1; }
