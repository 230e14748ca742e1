#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: copy.sh SMBDCOPY SCENARIO [ADDRESS]
# RUDE: the program of rude.c, for the scenarios that begin with "rude"; NAME: the host that clients are given in the
# place of the server's address; FAULTS: the library of file_faults.c, for server and clients
# A server and clients of smbdcopy in processes of their own. The scenarios are the functions scenario_*.
set -euo pipefail
program=$1 scenario=$2 address=${3:-127.0.0.1}
. "$(dirname "$0")/../../foreign/lib.sh"
mkdir "$scratch/store" "$scratch/in" "$scratch/out"

# start_server: where it listens is $server, its process $pid, what it says server.log.
start_server() {
    local deadline=$((SECONDS + 60))
    : > "$scratch/server.log" # what the server before it said is gone before anybody looks
    LD_PRELOAD=${LD_PRELOAD:-}${FAULTS:+:$FAULTS} "$program" -s "$scratch/store" "$address:0" 2> "$scratch/server.log" &
    pid=$!
    until grep -q 'listening on ' "$scratch/server.log"; do
        kill -0 $pid 2> /dev/null || fail "the server ended before it listened"
        [ $SECONDS -lt $deadline ] || fail "the server does not listen"
        pause
    done
    server=$(sed -n 's/.*listening on //p' "$scratch/server.log")
    [ -z "${NAME:-}" ] || server=$NAME:${server##*:}
}

stop_server() {
    kill -TERM $pid
    wait $pid || fail "server: status $?"
}

# client STATUS [ARGUMENT...]: a client, which has to end with that status; what it says is client.log.
client() {
    local expected=$1 status=0
    shift
    LD_PRELOAD=${LD_PRELOAD:-}${FAULTS:+:$FAULTS} timeout 120 "$program" -c "$server" "$@" \
        > "$scratch/client.log" 2>&1 || status=$?
    [ $status = "$expected" ] || fail "client $*: status $status, not $expected"
}

# says LOG PATTERN
says() { grep -Eq -- "$2" "$scratch/$1.log" || fail "$1 says nothing like: $2"; }

# await_line LOG PATTERN: until it says so.
await_line() {
    local deadline=$((SECONDS + 60))
    until grep -Eq -- "$2" "$scratch/$1.log"; do
        [ $SECONDS -lt $deadline ] || fail "$1 never says: $2"
        pause
    done
}

input() { head -c "$2" /dev/urandom > "$scratch/in/$1"; }
same() { cmp "$scratch/in/$1" "$scratch/$2/$1" || fail "$1: another file in $2"; }

# Nothing but the files named is in a folder: no part of another.
holds() {
    local folder=$1
    shift
    [ "$(ls -A "$scratch/$folder" | tr '\n' ' ')" = "$*${*:+ }" ] || fail "$folder holds $(ls -A "$scratch/$folder")"
}

# both_ways OPTION...: each of the sizes there and back; those around what goes in a message, a fragment, a piece.
both_ways() {
    local sizes=(0 1 1339 1340 4096 4097 1048576 1048577 9000001) size names=()
    for size in "${sizes[@]}"; do
        input "f$size" "$size"
        names+=("f$size")
    done
    start_server
    client 0 "$@" "${names[@]/#/$scratch/in/}"
    client 0 "$@" -g -o "$scratch/out" "${names[@]}"
    for size in "${names[@]}"; do
        same "$size" store
        same "$size" out
    done
    says client "^f9000001: fetched 9000001 bytes in .* xxh128 [0-9a-f]{32}\$"
    says server "f9000001: stored 9000001 bytes, xxh128 $(sed -n 's/^f9000001: .* xxh128 //p' "$scratch/client.log")\$"
    stop_server
}
# One piece at a time over rxe, which does a Bind again after a loss (quirk BIND_REPEATED).
scenario_rdma() {
    local options=()
    [ "${NDSPI_CONFORMANCE_DEVICE:-}" != rxe ] || options=(-n 1)
    both_ways "${options[@]}"
}
scenario_messages() { both_ways -i; }

# A file takes the place of the one that had its name.
scenario_replace() {
    start_server
    input f 50000
    client 0 "$scratch/in/f"
    input f 100
    client 0 "$scratch/in/f"
    same f store
    holds store f
    stop_server
}

# Clients at the same time, of one server.
scenario_together() {
    local clients=() name status=0
    start_server
    for name in a b c d; do
        input $name 3000000
        timeout 120 "$program" -q -c "$server" "$scratch/in/$name" > "$scratch/$name.log" 2>&1 &
        clients+=($!)
    done
    for process in "${clients[@]}"; do
        wait "$process" || status=$?
    done
    [ $status = 0 ] || fail "a client: status $status"
    for name in a b c d; do
        same $name store
    done
    stop_server
}

# What leads out of the directory, or is no file; the next one is copied all the same.
scenario_names() {
    input f 100
    echo secret > "$scratch/secret"
    ln -s ../secret "$scratch/store/link"
    mkdir "$scratch/store/folder"
    start_server
    for name in ../secret /etc/passwd store/f . .. ''; do
        client 1 -g -o "$scratch/out" "$name"
        says client "a name without a directory is needed"
    done
    client 1 -g -o "$scratch/out" link folder nothing
    says client "^smbdcopy: link: the server says: it is a link\$"
    says client "^smbdcopy: folder: the server says: Is a directory\$"
    says client "^smbdcopy: nothing: the server says: No such file or directory\$"
    mkfifo "$scratch/store/fifo"
    ln -s f "$scratch/in/link"
    client 1 -g -o "$scratch/out" fifo
    says client "^smbdcopy: fifo: the server says: it is a device, a FIFO or a socket, no file\$"
    client 1 /dev/null "$scratch/store/fifo" "$scratch/in/link"
    says client "/dev/null: it is a device, a FIFO or a socket, no file\$"
    says client "store/fifo: it is a device, a FIFO or a socket, no file\$"
    says client "in/link: it is a link\$"
    client 1 "$scratch/in/nothing" "$scratch" "$scratch/in/f"
    says client "in/nothing: No such file or directory\$"
    says client "Is a directory\$"
    same f store
    client 1 "$scratch/in/" # has no name
    [ "$(cat "$scratch/store/link")" = secret ] || fail "the link was followed"
    holds out
    # The server's terminal gets no control characters of a client's.
    local odd=$'a\e[31mb\nc\xc2\x9b'
    input "$odd" 10
    client 0 "$scratch/in/$odd"
    says server ': a\\x1b\[31mb\\x0ac\\xc2\\x9b: stored 10 bytes'
    stop_server
}

# A file replaces a link, not what that points to.
scenario_link() {
    input f 100
    echo secret > "$scratch/secret"
    ln -s ../secret "$scratch/store/f"
    start_server
    client 0 "$scratch/in/f"
    same f store
    [ ! -L "$scratch/store/f" ] || fail "it is a link"
    [ "$(cat "$scratch/secret")" = secret ] || fail "the link was followed"
    stop_server
}

scenario_wrong_address() {
    server="$address:$(free_port)"
    input f 100
    client 1 "$scratch/in/f"
    says client "^smbdcopy: $server: no connection: STATUS_CONNECTION_REFUSED \(does smbdcopy -s run there\?\)\$"
    server=203.0.113.77:5445
    client 1 -b "$address" "$scratch/in/f"
    says client "^smbdcopy: 203.0.113.77:5445: .*STATUS_[A-Z_]+"
    for port in 65536 99999 100005445 18446744073709557061; do
        server=$address:$port
        client 2 "$scratch/in/f"
        says client "^smbdcopy: $server: no address of the form ADDRESS:PORT: "
    done
    server=203.0.113.77:5445
    client 1 -b 203.0.113.77 "$scratch/in/f"
    says client "no adapter with the local address 203.0.113.77:0: NDIS_STATUS_ADAPTER_NOT_READY"
}

# large FOLDER: a file that takes no room, and longer to copy than until it is interrupted
large() { truncate -s 1T "$scratch/$1/large"; }

# started PROCESS: until it has copied some of a file.
started() {
    local deadline=$((SECONDS + 60))
    until [ "$(moved "$1")" -gt 50000000 ]; do
        kill -0 "$1" 2> /dev/null || fail "it ended before it was interrupted"
        [ $SECONDS -lt $deadline ] || fail "nothing is copied"
        pause
    done
}
# Bytes that a process has read from files and written to them.
moved() { awk '/^[rw]char:/ { sum += $2 } END { printf "%d", sum }' "/proc/$1/io"; }

# begin_client ARGUMENT...: in the background, as $running; returns when it copies.
begin_client() {
    "$program" -c "$server" "$@" > "$scratch/client.log" 2>&1 &
    running=$!
    started $running
}

scenario_server_killed_while_fetching() {
    large store
    start_server
    begin_client -g -o "$scratch/out" large
    kill -KILL $pid
    local status=0
    wait $running || status=$?
    [ $status = 1 ] || fail "client: status $status"
    says client "^smbdcopy: $server: .*: STATUS_[A-Z_]+\$"
    says client "^smbdcopy: large: not copied\$"
    holds out
}

scenario_server_killed_while_sending() {
    large in
    start_server
    begin_client "$scratch/in/large"
    kill -KILL $pid
    local status=0
    wait $running || status=$?
    [ $status = 1 ] || fail "client: status $status"
    says client "^smbdcopy: $server: .*: STATUS_[A-Z_]+\$"
    says client "in/large: not copied\$"
    holds store
}

# The server loses that client alone, and keeps nothing of its file.
scenario_client_killed() {
    large in
    input f 3000000
    start_server
    begin_client "$scratch/in/large"
    kill -KILL $running
    wait $running || true
    await_line server "large: incomplete: not kept\$"
    client 0 "$scratch/in/f"
    same f store
    holds store f
    large store
    begin_client -g -o "$scratch/out" large
    kill -KILL $running
    wait $running || true
    await_line server "large: not fetched as a whole\$"
    client 0 -g -o "$scratch/out" f
    same f out
    holds out f
    stop_server
}

# A server that is told to end in the middle of a file ends its connections.
scenario_server_stopped() {
    large store
    start_server
    begin_client -g -o "$scratch/out" large
    stop_server
    local status=0
    wait $running || status=$?
    [ $status = 1 ] || fail "client: status $status"
    says server "this side is ending: STATUS_CANCELLED\$"
    holds out
    rm "$scratch/store/large"
    large in
    start_server
    begin_client "$scratch/in/large"
    stop_server
    status=0
    wait $running || status=$?
    [ $status = 1 ] || fail "client: status $status"
    says server "this side is ending: STATUS_CANCELLED\$"
    says server "large: incomplete: not kept\$"
    holds store
}

# The server may not write so much: it says so, and goes on.
scenario_no_room() {
    trap '' XFSZ
    ulimit -S -f 1000 # KiB
    start_server
    ulimit -S -f unlimited
    input f 3000000
    client 1 "$scratch/in/f"
    says client "in/f: the server says: File too large\$"
    says server "f: not stored: File too large\$"
    input g 1000
    client 0 "$scratch/in/g"
    same g store
    holds store g
    stop_server
}

# The client may not.
scenario_no_room_here() {
    start_server
    input f 3000000
    input g 1000
    client 0 "$scratch/in/f" "$scratch/in/g"
    trap '' XFSZ
    ulimit -S -f 1000 # KiB
    for option in -q -i; do
        client 1 $option -g -o "$scratch/out" f g
        says client "^smbdcopy: f: File too large\$"
        same g out
        holds out g
    done
    ulimit -S -f unlimited
    stop_server
}

# An error in the middle of a file reaches the other side in words; the next file is copied all the same.
scenario_file_faults() {
    local option
    input f 9000000
    input g 1000
    start_server
    client 0 "$scratch/in/f"
    for option in -q -i; do
        FAULT=pread:5000000 client 1 $option "$scratch/in/f" "$scratch/in/g"
        says client "in/f: Input/output error\$"
        same g store
        rm "$scratch/store/g"
        FAULT=pwrite:5000000 client 1 $option -g -o "$scratch/out" f
        says client "^smbdcopy: f: Input/output error\$"
        holds out
        holds store f
    done
    stop_server
    export FAULT=pwrite:5000000
    start_server
    unset FAULT
    for option in -q -i; do
        client 1 $option "$scratch/in/f" "$scratch/in/g"
        says client "in/f: the server says: Input/output error\$"
        says server "f: not stored: Input/output error\$"
        same g store
        same f store # that of before
    done
    stop_server
    export FAULT=pread:5000000
    start_server
    unset FAULT
    for option in -q -i; do
        client 1 $option -g -o "$scratch/out" f g
        says client "^smbdcopy: f: the server says: Input/output error\$"
        same g out
        holds out g
    done
    stop_server
}

# Clients that break the rules of smbdcopy's protocol: the server answers, or disconnects, and keeps nothing.
scenario_rude_clients() {
    input f 1000
    echo secret > "$scratch/secret"
    start_server
    client 0 "$scratch/in/f"
    timeout 120 "$RUDE" -c "${server##*:}" > "$scratch/rude.log" 2>&1 || fail "rude: status $?"
    client 0 -g -o "$scratch/out" f
    same f out
    holds store f
    says server "x: the checksum is wrong: not kept\$"
    stop_server
}

# Servers that do: the client says so, and keeps nothing.
scenario_rude_servers() {
    local case complaint
    while IFS=: read -r case complaint; do
        : > "$scratch/rude.log" # else the line of the one before may be found
        timeout 120 "$RUDE" -s "$case" >> "$scratch/rude.log" 2>&1 &
        pid=$!
        await_line rude "listening on "
        server=$(sed -n 's/.*listening on //p' "$scratch/rude.log")
        client 1 -g -o "$scratch/out" f
        says client "$complaint"
        wait $pid || fail "rude: status $?"
        holds out
    done << 'CASES'
checksum:f. the checksums differ. not kept$
short:f. the server sent another piece than was asked for$
id:an answer that makes no sense$
tail:an answer that makes no sense$
CASES
}

"scenario_$scenario"
