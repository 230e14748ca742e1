#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: cat.sh SMBDCAT PEER SCENARIO
# smbdcat with the server of smb2_peer.c, which does well, or what no server may. The scenarios are the functions
# scenario_*.
set -euo pipefail
program=$1 peer=$2 scenario=$3
. "$(dirname "$0")/../../foreign/lib.sh"

# serve CASE: the URL of its file is $url.
serve() {
    local port
    mkfifo "$scratch/$1.in" "$scratch/$1.out"
    "$peer" "$1" < "$scratch/$1.in" > "$scratch/$1.out" 2> "$scratch/peer.log" &
    pid=$!
    exec 7> "$scratch/$1.in" 8< "$scratch/$1.out"
    read -r -t 60 port <&8 || fail "no server"
    url=smb://127.0.0.1:$port/pub/file
}
stop() {
    exec 7>&- 8<&-
    wait $pid || fail "the server: status $?"
    rm "$scratch"/*.in "$scratch"/*.out
}

client() { timeout 120 "$program" "$@"; }

# there_and_back [OPTION...]
there_and_back() {
    local size
    for size in 0 1 1048576 4000001; do
        head -c $size /dev/urandom > "$scratch/file"
        client -p "$@" "$url" < "$scratch/file" || fail "put: status $?"
        client "$@" "$url" | cmp - "$scratch/file" || fail "$size bytes $*: another file came back"
    done
}
scenario_well() {
    serve well
    there_and_back
    there_and_back -i
    there_and_back -m 3.0
    there_and_back -m 3.0.2
    there_and_back -n 1
    stop
}

# A client without fast registration has its data moved by RDMA, too; nobody invalidates then.
scenario_plain() {
    local size
    serve v1
    for size in 1 1048576 4000001; do
        head -c $size /dev/urandom > "$scratch/file"
        client -p "$url" < "$scratch/file" || fail "put: status $?"
        client "$url" | cmp - "$scratch/file" || fail "$size bytes: another file came back"
    done
    stop
}

# What is unusual, but right. Fetched by RDMA and in messages; put.
scenario_unusual() {
    local case sum
    for case in turned later small_requests keeps_access; do
        serve $case
        sum=$(client "$url" | md5sum)
        [ "$(client -i "$url" | md5sum)" = "$sum" ] || fail "$case: another file"
        head -c 5000000 /dev/urandom > "$scratch/file"
        client -p "$url" < "$scratch/file" || fail "$case, put: status $?"
        client "$url" | cmp - "$scratch/file" || fail "$case: another file came back"
        stop
    done
}

# lies CASE PATTERN [OPTION...]: the client ends with 1, and says that of the case.
lies() {
    local status=0
    serve "$1"
    client "${@:3}" "$url" < /dev/zero > "$scratch/out" 2> "$scratch/client.log" || status=$?
    [ $status = 1 ] || fail "$1: status $status"
    grep -Eq -- "^smbdcat: $url: $2" "$scratch/client.log" || fail "$1: it says nothing like: $2"
    stop
}
scenario_lies() {
    lies noise 'negotiate: the server sends what is no message of SMB2'
    lies structure 'negotiate: an answer that makes no sense'
    lies dialect 'negotiate: the server chose a dialect that was not offered'
    lies credits 'log in: the server grants no credits'
    lies token_outside 'log in: an answer that makes no sense'
    lies challenge 'log in: an answer that makes no sense'
    lies encrypts 'log in: the server wants encryption'
    lies wants_signatures 'log in: the server wants signatures, which a guest has not'
    printf 'username=u\npassword=p\n' > "$scratch/login"
    lies guest 'log in: the server does not know the user' -a "$scratch/login"
    lies user 'log in: an answer is not signed' -a "$scratch/login"
    lies refuses 'share pub: STATUS_BAD_NETWORK_NAME$'
    lies pipe 'share pub: it has no files'
    lies share_encrypts 'share pub: the server wants encryption'
    lies no_data 'read: the server takes no data'
    lies longer 'read: the file has become shorter meanwhile'
    lies shorter 'read: the file has become shorter meanwhile'
    lies shorter 'read: the file has become shorter meanwhile' -i
    lies more 'read: an answer that makes no sense'
    lies more 'read: an answer that makes no sense' -i
    lies outside 'read: an answer that makes no sense' -i
    lies other_id 'read: the server answers what was not asked'
    lies leaves 'read: the connection ended: '
    lies close 'close: STATUS_DISK_FULL$'
    lies writes_less 'write: the server wrote less than it was given' -p
    lies full 'write: STATUS_DISK_FULL$' -p
}

# What the client itself cannot do.
scenario_own() {
    local status=0
    serve file
    client "$url" > /dev/full 2> "$scratch/client.log" || status=$?
    [ $status = 1 ] && grep -q 'cannot write to standard output: No space left' "$scratch/client.log" ||
        fail "full: status $status"
    status=0
    client -p "$url" < / 2> "$scratch/client.log" || status=$?
    [ $status = 1 ] && grep -q 'standard input: Is a directory' "$scratch/client.log" || fail "folder: status $status"
    stop
}

"scenario_$scenario"
