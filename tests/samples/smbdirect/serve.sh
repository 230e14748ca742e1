#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: serve.sh SMBDSERVE SMBDCAT RUDE SCENARIO
# smbdserve with clients: smbdcat, and those of serve_rude.c, which break the rules. The scenarios are the functions
# scenario_*.
set -euo pipefail
program=$1 smbdcat=$2 rude=$3 scenario=$4
. "$(dirname "$0")/../../foreign/lib.sh"
store=$scratch/store
mkdir "$store"
printf 'username=Ann\npassword=Password01!\n' > "$scratch/ann"
printf 'username=ANN\npassword=Password01!\ndomain=there\n' > "$scratch/same"
printf 'username=ann\npassword=password01!\n' > "$scratch/wrong"
printf 'username=anna\npassword=Password01!\n' > "$scratch/other"

# serve [OPTION...]: its share is $share.
serve() {
    local deadline=$((SECONDS + 60))
    : > "$scratch/server.log"
    "$program" "$@" "$store" 127.0.0.1:0 2> "$scratch/server.log" &
    pid=$!
    until grep -q 'listening on ' "$scratch/server.log"; do
        kill -0 $pid 2> /dev/null || fail "the server ended before it listened"
        [ $SECONDS -lt $deadline ] || fail "the server does not listen"
        pause
    done
    share=smb://$(sed -n 's/.*listening on //p' "$scratch/server.log")/pub
}
stop() {
    kill -TERM $pid
    wait $pid || fail "server: status $?"
}
client() { timeout 120 "$smbdcat" "$@"; }

# says STATUS PATTERN ARGUMENT...: the client ends so, and says that.
says() {
    local expected=$1 pattern=$2 status=0
    shift 2
    client "$@" > "$scratch/out" 2> "$scratch/client.log" < /dev/null || status=$?
    [ $status = "$expected" ] || fail "$*: status $status, not $expected"
    grep -Eq -- "$pattern" "$scratch/client.log" || fail "$*: it says nothing like: $pattern"
}

# there_and_back [OPTION...]: by what is at the server, and what comes back.
there_and_back() {
    local size
    for size in 0 1 65536 1048577 4000001; do
        head -c $size /dev/urandom > "$scratch/file"
        client -p "$@" "$share/file" < "$scratch/file" || fail "put: status $?"
        cmp "$store/file" "$scratch/file" || fail "$size bytes $*: another file is there"
        client "$@" "$share/file" | cmp - "$scratch/file" || fail "$size bytes $*: another file came back"
    done
}
scenario_guest() {
    serve
    there_and_back
    there_and_back -i
    there_and_back -m 3.0
    there_and_back -m 3.0.2
    stop
}
# All is signed, and checked at both ends.
scenario_user() {
    serve -a "$scratch/ann"
    there_and_back -a "$scratch/ann"
    there_and_back -a "$scratch/same" -i
    there_and_back -a "$scratch/ann" -m 3.0
    says 1 'log in: STATUS_LOGON_FAILURE$' -a "$scratch/wrong" "$share/file"
    says 1 'log in: STATUS_LOGON_FAILURE$' -a "$scratch/other" "$share/file"
    says 1 'log in: STATUS_LOGON_FAILURE$' "$share/file"
    stop
}
scenario_refused() {
    echo secret > "$scratch/secret"
    ln -s ../secret "$store/link"
    ln -s .. "$store/above"
    mkdir "$store/folder" "$store/closed"
    mkfifo "$store/fifo"
    serve
    says 1 'open: STATUS_OBJECT_NAME_INVALID$' "$share/../secret"
    says 1 'open: STATUS_OBJECT_NAME_INVALID$' "$share/folder/../../secret"
    says 1 'open: STATUS_OBJECT_NAME_INVALID$' -p "$share/../secret"
    says 1 'open: STATUS_OBJECT_NAME_INVALID$' "$share//etc/passwd"
    says 1 'open: STATUS_ACCESS_DENIED$' "$share/link"
    says 1 'open: STATUS_ACCESS_DENIED$' -p "$share/link"
    says 1 'open: STATUS_OBJECT_PATH_NOT_FOUND$' "$share/above/secret"
    says 1 'open: STATUS_OBJECT_PATH_NOT_FOUND$' -p "$share/above/new"
    says 1 'open: STATUS_ACCESS_DENIED$' "$share/fifo"
    says 1 'open: STATUS_FILE_IS_A_DIRECTORY$' "$share/folder"
    says 1 'open: STATUS_OBJECT_NAME_NOT_FOUND$' "$share/nothing"
    says 1 'share other: STATUS_BAD_NETWORK_NAME$' "${share%pub}other/file"
    says 1 'log in: the server does not know the user' -a "$scratch/ann" "$share/file"
    [ "$(cat "$scratch/secret")" = secret ] || fail "what is outside was changed"
    [ ! -e "$scratch/new" ] || fail "a file was made outside"
    stop
}
# Clients at the same time; one is killed in the middle, which the others do not notice.
scenario_together() {
    local clients=() name killed process status=0
    serve
    mkfifo "$scratch/feed"
    "$smbdcat" -p "$share/half" < "$scratch/feed" &
    killed=$!
    exec 7> "$scratch/feed"
    head -c 3000000 /dev/urandom >&7
    for name in a b c d; do
        head -c 8000001 /dev/urandom > "$scratch/$name"
        client -p "$share/$name" < "$scratch/$name" 2> "$scratch/$name.log" &
        clients+=($!)
    done
    until [ -s "$store/half" ]; do pause; done
    kill -KILL $killed
    wait $killed || true
    exec 7>&-
    for process in "${clients[@]}"; do wait "$process" || status=$?; done
    [ $status = 0 ] || fail "a client: status $status"
    for name in a b c d; do cmp "$scratch/$name" "$store/$name" || fail "$name: another file"; done
    client "$share/a" | cmp - "$scratch/a" || fail "another file came back"
    stop
}
scenario_rude() {
    mkdir "$store/folder"
    printf 'inside\n' | tee "$store/file" "$store/second" > "$store/folder/file"
    ln -s /etc/passwd "$store/link"
    ln -s /etc "$store/away"
    mkfifo "$store/fifo"
    serve
    port=${share##*:} port=${port%/pub}
    timeout 150 "$rude" "$port" > "$scratch/rude.log" 2>&1 || fail "rude clients: status $?"
    there_and_back
    stop
}
# What there is no room for. A client is told of it; the next one is served.
scenario_no_room() {
    ulimit -f 1024
    serve
    yes | client -p "$share/file" 2> "$scratch/client.log" && fail "it was written"
    grep -Eq 'write: STATUS_DISK_FULL$' "$scratch/client.log" || fail "it says something else"
    says 1 'open: STATUS_OBJECT_NAME_NOT_FOUND$' "$share/nothing"
    stop
}

"scenario_$scenario"
