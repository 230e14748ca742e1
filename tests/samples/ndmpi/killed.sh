#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: killed.sh met|later NDMPIRUN OPTION...        (of 4 ranks)
# Kills rank 2 before it has met the others, or when they are at work. The run has to end soon with status 1, and every
# other rank has to say why.
set -uo pipefail
when=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/rows" "$scratch/go"

if [ "$when" = met ]; then
    timeout 60 "$@" sh -c '[ "$NDMPI_RANK" != 2 ] || kill -9 $$; exec "$0" "$@"' "$(dirname "$1")/ndring" \
        > /dev/null 2> "$scratch/said"
    status=$?
else
    timeout 60 "$@" sh -c 'echo $$ > "$0.$NDMPI_RANK"; exec "$@"' "$scratch/pid" "$(dirname "$1")/ndring" -n 100000 \
        -m 4 \
        > "$scratch/rows" 2> "$scratch/said" &
    run=$!
    exec 3< "$scratch/rows"
    IFS= read -r -t 50 row <&3 || { echo "the ring has not begun"; cat "$scratch/said"; exit 1; }
    kill -9 "$(cat "$scratch/pid.2")"
    start=$SECONDS
    wait "$run"
    status=$?
    [ $((SECONDS - start)) -lt 20 ] || { echo "the end took $((SECONDS - start)) s"; exit 1; }
fi
cat "$scratch/said"
[ "$status" = 1 ] || { echo "status $status, not 1"; exit 1; }
grep -q "^ndmpirun: rank 2 (.*was killed by signal 9" "$scratch/said" || { echo "ndmpirun does not say it"; exit 1; }
for rank in 0 1 3; do
    grep -q "^ndring: rank $rank of 4: rank 2 (.*was killed by signal 9" "$scratch/said" ||
        { echo "rank $rank does not say it"; exit 1; }
done
