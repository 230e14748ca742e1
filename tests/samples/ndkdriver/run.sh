#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: run.sh NDK_HOST DRIVER [CLIENTS] [ROUNDS]
# A server and clients of the sample driver, each a process of ndk_host. Each has to say that all rounds were right, and
# to end with status 0 and unloaded when it is told to.
set -euo pipefail
host=$1 driver=$2 clients=${3:-1} rounds=${4:-200}
scratch=$(mktemp -d)
pids=()
trap 'for pid in "${pids[@]}"; do kill -9 "$pid" 2> /dev/null || true; done; rm -rf "$scratch"' EXIT
here=(-p Interface="$(< /sys/class/net/lo/ifindex)" -p Address=127.0.0.1)

# begin NAME ARGUMENT...: a process, whose words come through a pipe; await NAME PATTERN: until it says that, in line
declare -A words
begin() {
    local name=$1
    shift
    mkfifo "$scratch/$name"
    "$host" -t 150 "${here[@]}" "$@" "$driver" > "$scratch/$name" 2>&1 &
    pids+=($!)
    exec {words[$name]}< "$scratch/$name"
}
await() {
    local name=$1 pattern=$2
    until IFS= read -r -u "${words[$name]}" line && echo "$name: $line" && [[ $line == *$pattern* ]]; do
        [ -n "${line:-}" ] || { echo "$name ended before it said: $pattern"; exit 1; }
        [[ $line != *"status 0x"* ]] || exit 1
        line=
    done
}
begin server
await server "listening on port "
port=${line##* }
for ((i = 1; i <= clients; i++)); do
    begin "client$i" -p Connect=127.0.0.1 -p Port="$port" -p Rounds="$rounds"
done
for ((i = 1; i <= clients; i++)); do
    await "client$i" "$rounds rounds, all right"
done
# The clients first in every other run: a server that goes, and one whose clients have gone.
order=("${pids[@]}")
[ "${SERVER_LAST:-}" = "" ] || order=("${pids[@]:1}" "${pids[0]}")
for pid in "${order[@]}"; do
    kill -TERM "$pid"
done
await server unloaded
for ((i = 1; i <= clients; i++)); do
    await "client$i" unloaded
done
status=0
for pid in "${pids[@]}"; do
    wait "$pid" || { status=$?; echo "process $pid: status $status"; }
done
pids=()
exit "$status"
