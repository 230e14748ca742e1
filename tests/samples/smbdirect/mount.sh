#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: toolchain/guest/run -s -d siw|rxe -t 1800 tests/samples/smbdirect/mount.sh BUILD siw|rxe [SCENARIO...]
# smbdserve with a client that nobody here wrote: cifs, the kernel's, over its own SMB Direct. siw: smbdserve is on
# softrdma; rxe: on rxe. The scenarios are the functions scenario_*; status 0 when all passed.
set -uo pipefail
. "$(dirname "$0")/../../foreign/lib.sh"
. "$(dirname "$0")/guest.sh"
build=$(readlink -f "$1") kind=$2
shift 2
store=$scratch/store there=$scratch/there
mkdir "$store" "$there" && mount -t tmpfs -o size=300m store "$store" || fail "no place for the files"
printf 'username=ann\npassword=Password01!\n' > "$scratch/ann"

host=10.0.1.1
if [ "$kind" = siw ]; then
    host=10.0.2.2
    soft_namespace
else
    neighbours 10.0.1.1 v0 "$(cat /sys/class/net/v1/address)"
    neighbours 10.0.0.1 v1 "$(cat /sys/class/net/v0/address)"
fi

# ---- the server ----
# serve [OPTION...]
serve() {
    local deadline=$((SECONDS + 60))
    (if [ "$kind" = siw ]; then
        in_soft "$build/bin/smbdserve" "$@" "$store" "$host:5445"
    else
        NDSPI_DEVICE=${kind}1 exec "$build/bin/smbdserve" "$@" "$store" "$host:5445"
    fi) 2> "$scratch/server.log" &
    server=$!
    until grep -q 'listening on ' "$scratch/server.log"; do
        kill -0 $server 2> /dev/null && [ $SECONDS -lt $deadline ] || { cat "$scratch/server.log"; return 1; }
        pause
    done
}
stop() {
    local status=0
    kill -TERM $server
    wait $server || status=$?
    server=''
    [ $status = 0 ] || { echo "the server: status $status: $(cat "$scratch/server.log")"; return 1; }
}

# ---- the client ----
# There is no mount.cifs, which asks for names and passwords: the kernel takes them as options.
attach() { timeout 120 mount -i -t cifs -o "rdma,ip=$host,port=5445,$1" "//$host/pub" "$there"; }
detach() { timeout 120 umount "$there"; }
guest='vers=3.1.1,username=,password='
user='vers=3.1.1,username=ann,password=Password01!'

sum() { sha256sum < "$1" | cut -d' ' -f1; }
same() { [ "$(sum "$1")" = "$(sum "$2")" ] || { echo "$1 and $2 differ"; return 1; }; }

server=''
# What a scenario that failed left.
begin() {
    mountpoint -q "$there" && umount -l "$there"
    [ -z "$server" ] || { kill -KILL $server && wait $server; } 2> /dev/null
    server=''
    rm -rf "${store:?}"/*
}

# In the mounted share.
listing() {
    local i
    mkdir "$store/folder" && echo inside > "$store/folder/file" && ln -s /etc/passwd "$store/link" &&
        for i in {1..700}; do : > "$store/folder/a-file-with-some-name-$i"; done
    [ "$(ls "$there")" = folder ] || { echo "ls: $(ls "$there")"; return 1; }
    [ "$(ls "$there/folder" | wc -l)" = 701 ] || { echo "$(ls "$there/folder" | wc -l) names"; return 1; }
    [ "$(cat "$there/folder/file")" = inside ] || { echo "another content"; return 1; }
    [ "$(stat -c %s "$there/folder/file")" = 7 ] || { echo "another size"; return 1; }
    ! cat "$there/link" > /dev/null 2>&1 || { echo "a link was followed"; return 1; }
    df "$there" > /dev/null
}
# writing BYTES: there and back, of which nothing is in the client's cache.
writing() {
    input "f$1" "$1"
    cp "$scratch/f$1" "$there/f$1" && sync -f "$there/f$1" && same "$scratch/f$1" "$store/f$1" || return 1
    echo 3 > /proc/sys/vm/drop_caches
    same "$scratch/f$1" "$there/f$1"
}
changes() {
    mkdir "$there/d" && echo one > "$there/a" && mv "$there/a" "$there/d/b" && echo two > "$there/a" &&
        mv "$there/a" "$there/d/b" && [ "$(cat "$store/d/b")" = two ] && [ ! -e "$store/a" ] || return 1
    ! rmdir "$there/d" 2> /dev/null && [ -d "$store/d" ] || { echo "a folder that is not empty is gone"; return 1; }
    truncate -s 100000 "$there/d/b" && [ "$(stat -c %s "$store/d/b")" = 100000 ] &&
        truncate -s 3 "$there/d/b" && [ "$(cat "$store/d/b")" = two ] || return 1
    echo three >> "$there/d/b" && [ "$(tail -n 1 "$store/d/b")" = twothree ] || { cat "$store/d/b"; return 1; }
    touch -d '2001-02-03 04:05:06 UTC' "$there/d/b" && [ "$(stat -c %Y "$store/d/b")" = 981173106 ] || return 1
    rm "$there/d/b" && rmdir "$there/d" && [ -z "$(ls -A "$store")" ]
}

# mounted OPTIONS COMMAND...
mounted() {
    local options=$1
    shift
    attach "$options" || { echo "mount: status $?: $(dmesg | tail -n 15)"; cat "$scratch/server.log"; return 1; }
    "$@" || { cat "$scratch/server.log"; return 1; }
    detach || { echo "umount: status $?"; return 1; }
}

scenario_listing() { serve && mounted "$guest" listing && stop; }
scenario_changes() { serve && mounted "$guest" changes && stop; }
scenario_large() { serve && mounted "$guest" writing 67108864 && stop; }
scenario_dialects() {
    serve && mounted "vers=3.0,username=,password=" writing 3000001 && rm "$store/f3000001" &&
        mounted "vers=3.02,username=,password=" writing 3000001 && stop
}
# Messages are signed only where the client wants it; then none of the data moves by RDMA. What such a client writes is
# one page at most: of more, smbd_send of Linux 6.1 sends other octets.
signed() {
    writing 3001 && input other 300001 && cp "$scratch/other" "$store/other" && same "$there/other" "$scratch/other"
}
scenario_user() {
    serve -a "$scratch/ann" && mounted "$user" writing 3000001 && mounted "$user,sign" signed && stop
}
scenario_refused() {
    serve -a "$scratch/ann" && ! attach "$guest" 2> /dev/null && ! attach "${user}x" 2> /dev/null && stop
}
# begun COMMAND...: writing, in the background, of which the server has a part.
begun() {
    dd if=/dev/zero "of=$there/half" bs=1M count=200 conv=fsync 2> "$scratch/dd.log" &
    writer=$!
    until [ -s "$store/half" ]; do
        kill -0 $writer 2> /dev/null || { echo "nothing was written: $(cat "$scratch/dd.log")"; return 1; }
        pause
    done
}
# The server is killed while the client writes; the next one serves the same mount, whose client comes back by itself.
scenario_server_killed() {
    local deadline
    serve && attach "$guest" && begun || return 1
    kill -KILL $server
    wait $server
    serve || return 1
    deadline=$((SECONDS + 300))
    while kill -0 $writer 2> /dev/null; do
        [ $SECONDS -lt $deadline ] || { echo "the writer waits still"; return 1; }
        pause
    done
    wait $writer || echo "the writer: status $?: $(cat "$scratch/dd.log")" # what it was told is the client's
    rm -f "$there/half"
    writing 3000001 || { cat "$scratch/server.log"; return 1; }
    detach && stop
}
# The program that writes is killed, and with it what the client waits for; the next one is served.
scenario_writer_killed() {
    local i
    serve && attach "$guest" || return 1
    for i in 1 2 3; do
        begun || return 1
        kill -KILL $writer
        wait $writer
        rm "$there/half" && writing 3000001 && rm "$there/f3000001" || { cat "$scratch/server.log"; return 1; }
    done
    detach && stop
}
# What passes between siw, whose end is the client's, and softrdma: the server's Reads, Writes, and answers that take
# the client's access back; the requests in them, decoded.
scenario_wire() {
    local command
    serve && captured mounted "$guest" writing 3000001 && stop && opcodes 1 1 2 || return 1
    fields smb2.cmd | sort -n | uniq -c > "$scratch/commands"
    for command in 0 1 3 5 6 8 9 4 2; do # [MS-SMB2] 2.2.1: each is asked for and answered
        grep -qE " $command\$" "$scratch/commands" || { cat "$scratch/commands"; return 1; }
    done
    ! fields _ws.malformed || { echo "malformed"; return 1; }
}

all=(listing changes large dialects user refused server_killed writer_killed)
[ $# = 0 ] || all=("$@")
run "$kind" "${all[@]}"
[ "$kind" != siw ] || [ $# != 0 ] || run "$kind" wire
begin
umount -l "$store"
report
