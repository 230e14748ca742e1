#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: rows.sh BENCH DIRECTORY idioms|ndk
# One short round of a group. idioms: each way to wait has its row, by event and port, shared memory and TCP, and its
# ratio to sockets that block, with the aim. ndk: each measurement has a figure.
set -eu
bench=$1 results=$2/results.json group=$3
rm -rf "$2"
mkdir -p "$2"
"$bench" -q -r 1 "$2" "$group"
failed=0

expect() { # KEY
    grep -qE "^ *\"$1\": [0-9.]*[1-9][0-9.]*,?\$" "$results" || {
        echo "results.json has no figure $1" >&2
        failed=1
    }
}

if [ "$group" = ndk ]; then
    for key in register_16.us register_256.us write_1MiB.us smb_read_1MiB.us smb_read_over_write; do
        expect "soft.ndk.$key"
    done
    exit $failed
fi
expect tcp.blocking_8B.us
expect tcp.polling_8B.vs_blocking
for path in shm tcp; do
    for idiom in notify_first look_twice one_each two_queues beside; do
        for wait in event port; do
            [ "$idiom$wait" != two_queuesevent ] || continue # it is about a port
            key=soft.v2.idiom_${idiom}_${path}_${wait}
            expect "$key.us"
            expect "$key.vs_blocking"
            expect "$key.vs_blocking.aim"
        done
    done
done
exit $failed
