#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: taken.sh NDPINGPONG NDMPIRUN
# With -i a port may be named for the ranks to come to. One that is taken is an error that says so, one that is free
# serves.
set -uo pipefail
scratch=$(mktemp -d)
mkfifo "$scratch/messages"
timeout 120 "$1" -s 127.0.0.1:0 > /dev/null 2> "$scratch/messages" &
server=$!
trap 'kill "$server" 2> /dev/null; rm -rf "$scratch"' EXIT
exec 3< "$scratch/messages"
IFS= read -r -t 60 line <&3
port=${line##*:}
[ "$port" -gt 0 ] || { echo "no port: $line"; exit 1; }
said=$(timeout 60 "$2" -n 2 -i "127.0.0.1:$port" ndring 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 1 ] || { echo "status $status, not 1"; exit 1; }
grep -q "^ndmpirun: listening for the ranks on 127.0.0.1:$port failed: the port is taken" <<< "$said" ||
    { echo "the port is not named"; exit 1; }
kill "$server"
wait "$server"
timeout 60 "$2" -n 2 -i "127.0.0.1:$port" sh -c '[ "$NDMPI_ROOT" = "$0" ] && exec "$@"' "127.0.0.1:$port" \
    "$(dirname "$2")/ndring" -n 2 -m 100
