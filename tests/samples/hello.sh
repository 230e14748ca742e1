#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: hello.sh LISTENER SENDER
# The smallest program, twice: one listens, the other sends it its message as soon as somebody listens. Each run has an
# address of its own, since the port is fixed.
set -euo pipefail
listener=$1 sender=$2
address=127.$((RANDOM % 254 + 1)).$((RANDOM % 256)).$((RANDOM % 254 + 1))
server=''
trap 'kill $server 2> /dev/null || true; rm -f "$PWD/hello.$$"' EXIT

fail() { echo "$*"; exit 1; }

# The listener ends as soon as it has the message: the sender's Send is complete all the same.
for _ in 1 2 3 4 5; do
    timeout 60 "$listener" listen "$address" > "$PWD/hello.$$" &
    server=$!
    until said=$(timeout 60 "$sender" send "$address" 2>&1); do
        [[ $said == *": 0xc0000236" ]] || fail "the sender said: $said" # refused
        kill -0 "$server" 2> /dev/null || fail "nobody listens"
    done
    wait "$server" || fail "the listener ended with status $?"
    [ "$said" = "send: hello over NetworkDirect" ] || fail "the sender said: $said"
    said=$(cat "hello.$$")
    [ "$said" = "listen: hello over NetworkDirect" ] || fail "the listener said: $said"
done

# What is wrong on the command line, and an address that no adapter here has.
for bad in "" "send" "send host.invalid"; do
    status=0
    # shellcheck disable=SC2086 # words
    timeout 60 "$sender" $bad > /dev/null 2>&1 || status=$?
    [ "$status" = 2 ] || fail "hello $bad: status $status, not 2"
done
