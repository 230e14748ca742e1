#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: slow.sh NDMPIRUN [WORD...]     the words go in front of it, for a clock of its own
# Rank 1 has connected, and before it says which rank it is 80 strangers come who say nothing. It is not sent away with
# the oldest of them: both ranks hear where the other one is, and the run ends well.
set -uo pipefail
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndmpi-slow.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
first=$scratch/first crowd=$scratch/crowd # pipes: rank 1 has connected; the strangers have come
mkfifo "$first" "$crowd"
export first crowd
said=$(timeout 90 "${@:2}" "$1" -n 2 bash -c '
    unset LD_PRELOAD
    # meet ADDRESS: what a rank and ndmpirun say to each other
    meet() {
        echo "card $NDMPI_KEY $NDMPI_RANK $1" >&3
        for rank in 0 1; do
            read -r -t 60 -u 3 line || { echo "rank $NDMPI_RANK was sent away"; exit 1; }
            echo "rank $NDMPI_RANK hears: $line"
        done
        echo "done" >&3
        read -r -t 60 -u 3 line
        exit 0
    }
    if [ "$NDMPI_RANK" = 1 ]; then
        exec 3<> "/dev/tcp/${NDMPI_ROOT/://}"
        : > "$first"
        read -r < "$crowd"
        meet 127.0.0.1:1001
    fi
    read -r < "$first"
    for i in $(seq 80); do
        exec {stranger}<> "/dev/tcp/${NDMPI_ROOT/://}"
        strangers+=($stranger)
    done
    : > "$crowd"
    exec 3<> "/dev/tcp/${NDMPI_ROOT/://}"
    meet 127.0.0.1:1000' 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 0 ] || { echo "status $status"; exit 1; }
for rank in 0 1; do
    for other in 0 1; do
        grep -qx "rank $rank hears: at $other 127.0.0.1:100$other" <<< "$said" ||
            { echo "rank $rank does not hear of rank $other"; exit 1; }
    done
done
