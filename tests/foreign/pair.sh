#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: pair.sh RUN SERVER... -- CLIENT...
# Runs two programs with RUN (softrdma-run); PORT in their arguments becomes a free port. Both have to end with status
# 0.
#   SERVER_SAYS, CLIENT_SAYS   extended regular expressions that their outputs have to match somewhere
#   SERVER_STAYS=1             the server does not end by itself: it is ended, and has to have lived so long
#   COUNT="N REGEX"            that many lines of the client's output match
#   FLAW="STATUS REGEX"        a program that ends with that status and has such a line counts as ended with 0
#   PATIENCE=SECONDS           for each of the two (100)
#   TRIES=N                    for programs that may hang by a fault of theirs: when one ends with 75 because it found
#                              that out (credits.c), both run again, N times in all
# Status 75 when one ended so.
set -euo pipefail
if [ "${TRIES:-1}" -gt 1 ]; then
    for ((try = 1; try <= TRIES; try++)); do
        status=0
        TRIES=1 "$0" "$@" || status=$?
        [ $status = 75 ] || exit $status
    done
    exit 1
fi
. "$(dirname "$0")/lib.sh"
run=$1
shift
port=$(free_port) || fail "no free port"
server=() client=()
while [ "$1" != -- ]; do
    server+=("${1//PORT/$port}")
    shift
done
shift
for argument; do
    client+=("${argument//PORT/$port}")
done

timeout "${PATIENCE:-100}" "$run" "${server[@]}" > "$scratch/server.log" 2>&1 &
pid=$!
await_listener "$port" $pid "${server[0]}"
status=0
timeout "${PATIENCE:-100}" "$run" "${client[@]}" > "$scratch/client.log" 2>&1 || status=$?
# When one ended so, the other may have waited in vain.
stood_still() {
    [ "$1" != 75 ] || { cat "$scratch"/*.log; exit 75; }
}
stood_still $status
if [ $status != 0 ] && ! flawed $status client; then
    # A server that ends has closed its connections before it is seen to have ended.
    timeout 10 tail --pid=$pid -f /dev/null || true
    [ -n "$(jobs -rp)" ] || wait $pid || stood_still $?
    fail "client: status $status"
fi
if [ -n "${SERVER_STAYS:-}" ]; then
    kill $pid || fail "the server did not stay"
    wait $pid || status=$?
    [ $status = 143 ] || [ $status = 124 ] || fail "server: status $status"
else
    status=0
    wait $pid || status=$?
    stood_still $status
    [ $status = 0 ] || flawed $status server || fail "server: status $status"
fi
says() {
    [ -z "$2" ] || grep -qE -- "$2" "$scratch/$1.log" || fail "the $1 does not say: $2"
}
says client "${CLIENT_SAYS:-}"
says server "${SERVER_SAYS:-}"
if [ -n "${COUNT:-}" ]; then
    count=$(grep -cE -- "${COUNT#* }" "$scratch/client.log" || true)
    [ "$count" = "${COUNT%% *}" ] || fail "the client says ${COUNT#* } $count times, not ${COUNT%% *}"
fi
cat "$scratch/client.log"
