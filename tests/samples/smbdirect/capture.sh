#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: capture.sh SMBDCOPY RECORDER
# smbdcopy in two processes with a recorder between; tshark decodes what passed as SMB Direct over iWARP: every Send,
# the negotiation, credits, fragments put together again, a Send with Invalidate for each piece that went by RDMA.
set -euo pipefail
. "$(dirname "$0")/../../foreign/lib.sh"
. "$(dirname "$0")/../../foreign/decode.sh"
program=$1 recorder=$2
command -v tshark > /dev/null || { echo "tshark is not installed (./run deps test)"; exit 77; }
mkdir "$scratch/store" "$scratch/out"
head -c 300000 /dev/urandom > "$scratch/long"
head -c 3000 /dev/urandom > "$scratch/short"

port=$(free_port) || fail "no free port"
timeout 120 "$program" -s "$scratch/store" "127.0.0.1:$port" 2> "$scratch/server.log" &
server=$!
await_listener "$port" $server "smbdcopy -s"

# recorded NAME ARGUMENT...: a client whose connection is in NAME.pcap.
recorded() {
    local capture=$scratch/$1.pcap between relay
    shift
    between=$(free_port) || fail "no free port"
    timeout 120 "$recorder" "$between" "$port" "$capture" mpa > "$scratch/recorder.log" 2>&1 &
    relay=$!
    await_listener "$between" $relay recorder
    timeout 60 "$program" -c "127.0.0.1:$between" "$@" > "$scratch/client.log" 2>&1 || fail "client: status $?"
    wait $relay || fail "recorder: status $?"
}

# expect COUNT REGEX WHAT: so many lines of $scratch/smbd, which has one for each frame with SMB Direct
expect() {
    local found
    found=$(grep -cE "$2" "$scratch/smbd" || true)
    echo "$3: $found"
    [ "$found" = "$1" ] || { cat "$scratch/smbd"; fail "expected $1 times: $3"; }
}

# check CAPTURE: what holds for both of them.
check() {
    local fields=() field
    decode "$1"
    for field in version.min version.max version.negotiated credits.requested credits.granted status \
        max_read_write_size preferred_send_size max_receive_size max_fragmented_size flags remaining_length \
        data_offset data_length reassembled.length fragment.error; do
        fields+=(-e "smb_direct.$field")
    done
    tshark -2 -r "$1" -T fields -E separator=';' -e iwarp_rdma.opcode -e frame.protocols "${fields[@]}" \
        2> "$scratch/tshark.log" |
        sed -E 's/;[^;]*:smb_direct[^;]*;/;smb_direct;/; s/;raw:[^;]*;/;none;/' > "$scratch/all"
    grep ';smb_direct;' "$scratch/all" > "$scratch/smbd" || fail "no SMB Direct"
    ! grep -E '^0x0?[3-6];none' "$scratch/all" || fail "Sends that are no SMB Direct"
    expect "$(wc -l < "$scratch/smbd")" '^0x0?[3-6];' "frames with a Send, and nothing else"
    expect 1 ';smb_direct;0x0100;0x0100;;255;;;;1364;8192;1048576;;;;;;$' "NegotiateRequest"
    expect 1 ';smb_direct;0x0100;0x0100;0x0100;255;255;0x00000000;1048576;1364;1364;1048576;;;;;;$' NegotiateResponse
    expect "$(($(wc -l < "$scratch/smbd") - 2))" ';smb_direct;;;;255;[0-9]+;;;;;;0x0000;[0-9]+;(24|0);[0-9]+;[0-9]*;$' \
        "DataMessages"
    # The message of 72 and 3000 bytes, in three fragments of one.
    expect 1 ';1732;24;1340;[0-9]*;$' "first fragments"
    expect 1 ';392;24;1340;[0-9]*;$' "middle fragments"
    expect 1 ';0;24;392;3072;$' "last fragments, with the message put together"
    expect 1 '^0x0?4;' "Sends with Invalidate"
}

recorded put "$scratch/long" "$scratch/short"
check "$scratch/put.pcap"
at_least 1 '^0x0?1$' "Read Requests"
at_least 1 '^0x0?2$' "Read Responses"

recorded get -g -o "$scratch/out" long short
check "$scratch/get.pcap"
[ "$(grep -cE '^0x0?[12]$' "$scratch/opcodes")" = 0 ] || fail "what is fetched is written, not read"
cmp "$scratch/long" "$scratch/out/long" && cmp "$scratch/short" "$scratch/out/short" || fail "the files differ"

kill -TERM $server
wait $server || fail "server: status $?"
