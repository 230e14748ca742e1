#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: stranger.sh NDMPIRUN
# A stranger sends ndmpirun nonsense while it waits for its ranks: an endless line, another run's card, and the card of
# a rank that does not exist; then nonsense again and again, which does not fill the output.
set -uo pipefail
said=$(timeout 60 "$1" -n 2 bash -c '
    if [ "$NDMPI_RANK" = 0 ]; then
        to=/dev/tcp/${NDMPI_ROOT/://}
        head -c 100000 /dev/zero 2> /dev/null > "$to"
        echo "GET / HTTP/1.0" > "$to"
        echo "card 0123456789abcdef 1 127.0.0.1:1" > "$to"
        echo "card $NDMPI_KEY 2 127.0.0.1:1" > "$to"
        for i in $(seq 40); do echo nonsense > "$to"; done
    fi
    exec "$0" -n 2 -m 100' "$(dirname "$1")/ndring" 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 0 ] || { echo "status $status"; exit 1; }
[ "$(grep -c "no rank of this run: ignored" <<< "$said")" = 10 ] || { echo "ten should be told"; exit 1; }
grep -q "^ndmpirun: 33 more programs connected that are no rank of this run" <<< "$said" ||
    { echo "33 more should be counted"; exit 1; }
grep -q "all bytes are right" <<< "$said"
