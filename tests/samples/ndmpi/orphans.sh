#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: orphans.sh NDMPIRUN OPTION...        (of 4 ranks)
# Kills ndmpirun while the ranks are at work: each of them has to say so and end.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/rows" "$scratch/said"
"$@" "$(dirname "$1")/ndring" -n 100000 -m 4 > "$scratch/rows" 2> "$scratch/said" &
run=$!
exec 4< "$scratch/rows" 3< "$scratch/said" # in the order they are opened above
IFS= read -r -t 60 row <&4 || { echo "the ring has not begun"; exit 1; }
kill -9 "$run"
said=$(timeout 60 cat <&3) || { echo "ranks have stayed"; exit 1; } # to its end: until the last rank has ended
printf '%s\n' "$said"
[ "$(grep -c "^ndring: rank [0-3] of 4: ndmpirun has ended" <<< "$said")" = 4 ] \
    || { echo "four should have said why"; exit 1; }
