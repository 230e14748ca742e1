#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: capture.sh RUN RECORDER
# Two rpings talk through the recorder; tshark decodes all of it as MPA, DDP and RDMAP, with nothing malformed.
# NDSPI_SOFT_CRC=1: and finds every checksum right.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/decode.sh"
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
timeout 60 "$run" rping -c -a 127.0.0.1 -p "$between" -C $rounds -S 40000 -V > "$scratch/client.log" 2>&1 ||
    { status=$?; flawed $status client || fail "client: status $status"; }
wait $server || { status=$?; flawed $status server || fail "server: status $status"; }
wait $relay || fail "recorder: status $?"

decode "$capture"
at_least $rounds '^0x0?0$' "RDMA Writes"
at_least $rounds '^0x0?1$' "Read Requests"
at_least $rounds '^0x0?2$' "Read Responses"
at_least $((4 * rounds)) '^0x0?[3-6]$' "Sends"
if [ "${NDSPI_SOFT_CRC:-0}" = 1 ]; then
    checksums "$capture"
fi
