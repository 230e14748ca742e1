#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: capture.sh RUN RECORDER
# Two rpings talk through the recorder; tshark decodes all of it as MPA, DDP and RDMAP, with nothing malformed. NDSPI_SOFT_CRC=1:
# and finds every checksum right.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
run=$1 recorder=$2 rounds=5
command -v tshark > /dev/null || { echo "tshark is not installed (./run deps test)"; exit 77; }
port=$(free_port) && between=$(free_port) || fail "no free port"
capture=$scratch/capture.pcap

timeout 60 "$run" rping -s -a 127.0.0.1 -p "$port" -C $rounds -S 40000 -V > "$scratch/server.log" 2>&1 &
server=$!
await_listener "$port" $server "rping -s"
timeout 60 "$recorder" "$between" "$port" "$capture" > "$scratch/recorder.log" 2>&1 &
relay=$!
await_listener "$between" $relay recorder
timeout 60 "$run" rping -c -a 127.0.0.1 -p "$between" -C $rounds -S 40000 -V > "$scratch/client.log" 2>&1 || fail "client: status $?"
wait $server || fail "server: status $?"
wait $relay || fail "recorder: status $?"

# One line for each frame: its protocols, then its RDMAP opcodes.
tshark -2 -r "$capture" -o tcp.desegment_tcp_streams:TRUE -T fields -e frame.protocols -e iwarp_mpa.req -e iwarp_mpa.rep \
    -e iwarp_rdma.opcode -e tcp.len -e tcp.reassembled_in -E separator=';' > "$scratch/frames" 2> "$scratch/tshark.log" ||
    fail "tshark: status $?"

# at_least COUNT REGEX WHAT, of the opcodes (one word each)
cut -d';' -f4 "$scratch/frames" | tr ',' '\n' > "$scratch/opcodes"
at_least() {
    local count
    count=$(grep -cE "$2" "$scratch/opcodes" || true)
    echo "$3: $count"
    [ "$count" -ge "$1" ] || fail "expected at least $1: $3"
}
at_least $rounds '^0x0?0$' "RDMA Writes"
at_least $rounds '^0x0?1$' "Read Requests"
at_least $rounds '^0x0?2$' "Read Responses"
at_least $((4 * rounds)) '^0x0?[3-6]$' "Sends"
[ "$(awk -F';' '$2 != "" && $3 == ""' "$scratch/frames" | wc -l)" = 1 ] || fail "not one MPA Request"
[ "$(awk -F';' '$3 != ""' "$scratch/frames" | wc -l)" = 1 ] || fail "not one MPA Reply"
if grep -E 'malformed' "$scratch/frames"; then
    fail "malformed frames"
fi
# Each octet belongs to an FPDU, at once or reassembled.
awk -F';' '$5 > 0 && $6 == "" && $1 !~ /iwarp_mpa/' "$scratch/frames" > "$scratch/found.log"
[ ! -s "$scratch/found.log" ] || fail "octets that are no part of an FPDU"
if [ "${NDSPI_SOFT_CRC:-0}" = 1 ]; then
    tshark -2 -r "$capture" -V 2> "$scratch/tshark.log" | grep 'CRC check:' > "$scratch/found.log" || fail "no checksums"
    ! grep -v 'Good CRC32' "$scratch/found.log" || fail "wrong checksums"
    echo "checksums: $(wc -l < "$scratch/found.log")"
fi
