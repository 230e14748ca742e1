#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: busy.sh NDPINGPONG NDMPIRUN OPTION...
# With a port taken in the middle of the range the ranks find others; with no other the run fails and says so.
set -uo pipefail
holder=$1
shift
scratch=$(mktemp -d)
mkfifo "$scratch/messages"
timeout 120 "$holder" -s 127.0.0.1:0 > /dev/null 2> "$scratch/messages" &
server=$!
trap 'kill "$server" 2> /dev/null; rm -rf "$scratch"' EXIT
exec 3< "$scratch/messages"
IFS= read -r -t 60 line <&3
port=${line##*:}
[ "$port" -gt 0 ] || { echo "no port: $line"; exit 1; }
first=$((port > 65000 ? port - 40 : port - 1))

timeout 60 "$@" -n 4 -p "$first-$((first + 60))" ndring -n 2 -m 100 || { echo "busy ports are not left out"; exit 1; }
said=$(timeout 60 "$@" -n 2 -p "$port-$port" ndring 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 1 ] || { echo "status $status, not 1"; exit 1; }
grep -q "none of the ports $port to $port of adapter 127.0.0.1 is free" <<< "$said"
