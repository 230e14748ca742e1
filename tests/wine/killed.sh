#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: killed.sh NATIVE WINDOWS NDSTAT
# A native and a Windows ndpingpong exchange messages, and the process of the Windows one is killed: the native one ends
# with a failed call and the status of a lost connection, both as client and as server. Before, ndstat shows the Windows
# one by its program's name.
set -euo pipefail
native=$1 windows=$2 ndstat=$3
run_windows() { exec "$(dirname "$0")/../support/wine.sh" "$WINE" "$windows" "$@"; }
"$(dirname "$0")/../support/wine.sh" "$WINE" # or skips this
scratch=$(mktemp -d)
victim=
trap 'rm -rf "$scratch"; [ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || true' EXIT
fail() { echo "FAILED: $*"; cat "$scratch"/* 2>/dev/null; exit 1; }

# await PATTERN FIFO-DESCRIPTOR: reads lines until one matches; it is in "line"
await() {
    line=
    until [[ $line =~ $1 ]]; do
        IFS=$'\r' read -r -t 60 -u "$2" line || fail "nothing like \"$1\" was said"
    done
}

# Send (no connection any more), a result, or both at once report the dead connection.
expect_lost() {
    local status=0
    wait "$1" || status=$?
    [ -z "${2:-}" ] || wait "$2"
    [ "$status" = 1 ] || fail "the native end's status is $status"
    grep -qE 'failed: ND_(CANCELED|IO_TIMEOUT|CONNECTION_(INVALID|ABORTED)|REMOTE_ERROR)' "$scratch/messages" ||
        fail "the native end does not tell of a lost connection"
    sed 's/^/as told: /' "$scratch/messages"
}

# Rounds enough for seconds, most of them for large messages; the first row of the table shows that messages flow.
row='^ +1 +'
mkfifo "$scratch/victim" "$scratch/native"

run_windows -b -s 127.0.0.1:0 2> "$scratch/victim" &
victim=$!
exec 3< "$scratch/victim"
await 'listening on ' 3
shown=$("$ndstat")
grep "^ndpingpong\.exe\[$victim\]  softrdma0" <<< "$shown" || fail "ndstat shows no ndpingpong.exe[$victim]: $shown"
timeout 100 "$native" -c "${line##* }" -b -n 300 > "$scratch/native" 2> "$scratch/messages" &
peer=$!
exec 4< "$scratch/native"
await "$row" 4
kill -9 "$victim"
expect_lost "$peer"
exec 3<&- 4<&-

timeout 100 "$native" -b -s 127.0.0.1:0 2> "$scratch/native" &
peer=$!
exec 4< "$scratch/native"
await 'listening on ' 4
run_windows -c "${line##* }" -b -n 300 > "$scratch/victim" &
victim=$!
cat <&4 > "$scratch/messages" &
messages=$!
exec 3< "$scratch/victim"
await "$row" 3
kill -9 "$victim"
expect_lost "$peer" "$messages"
