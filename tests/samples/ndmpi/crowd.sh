#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: crowd.sh NDMPIRUN [WORD...]     the words go in front of it, for a clock of its own
# While ndmpirun waits for its two ranks, 80 strangers connect and say nothing: 66 may stay, the oldest of more are sent
# away once they have had 10 s to speak, and the run goes on.
set -uo pipefail
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndmpi-crowd.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
came=$scratch/came # a pipe: rank 0 opens it when all strangers have come
mkfifo "$came"
export came
said=$(timeout 60 "${@:2}" "$1" -n 2 bash -c '
    unset LD_PRELOAD
    if [ "$NDMPI_RANK" = 0 ]; then
        for i in $(seq 80); do
            exec {stranger}<> "/dev/tcp/${NDMPI_ROOT/://}"
            strangers+=($stranger)
        done
        : > "$came"
        # The first 14 hear the end of their connection. A later one is still heard.
        for i in $(seq 0 13); do
            read -r -t 30 -u ${strangers[i]} line
            [ $? = 1 ] && echo "sent away"
        done
        echo hello >&${strangers[20]}
        read -r -t 30 -u ${strangers[20]} line
        [ $? = 1 ] && echo "was heard"
        for stranger in "${strangers[@]}"; do exec {stranger}>&-; done
    else # comes after them
        read -r < "$came"
    fi
    exec "$0" -n 2 -m 100' "$(dirname "$1")/ndring" 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 0 ] || { echo "status $status"; exit 1; }
[ "$(grep -c "^sent away" <<< "$said")" = 14 ] || { echo "14 should have been sent away"; exit 1; }
[ "$(grep -c "no rank of this run: ignored" <<< "$said")" = 1 ] || { echo "the others may stay"; exit 1; }
grep -q "^was heard" <<< "$said" || { echo "it was not answered"; exit 1; }
grep -q "all bytes are right" <<< "$said"
