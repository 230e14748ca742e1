#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: early.sh carded|half NDMPIRUN
# Rank 1 of 3 is killed while the ranks meet: when it has said where it listens, or in the middle of saying it. The run
# has to end soon with status 1, and the others have to say why.
set -uo pipefail
when=$1 run=$2
start=$SECONDS
said=$(timeout 60 "$run" -n 3 bash -c '
    if [ "$NDMPI_RANK" = 1 ]; then
        exec 3<> "/dev/tcp/${NDMPI_ROOT/://}"
        case $0 in
        carded) echo "card $NDMPI_KEY 1 127.0.0.1:9" >&3 ;;
        half) printf "card $NDMPI_KEY 1 127" >&3 ;;
        esac
        kill -9 $$
    fi
    exec "$1" -n 2 -m 100' "$when" "$(dirname "$run")/ndring" 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 1 ] || { echo "status $status, not 1"; exit 1; }
[ $((SECONDS - start)) -lt 20 ] || { echo "the end took $((SECONDS - start)) s"; exit 1; }
grep -q "^ndmpirun: rank 1 (.*was killed by signal 9" <<< "$said" || { echo "ndmpirun does not say it"; exit 1; }
for rank in 0 2; do
    grep -q "^ndring: rank $rank of 3: rank 1 (.*was killed by signal 9" <<< "$said" ||
        { echo "rank $rank does not say it"; exit 1; }
done
