# SPDX-License-Identifier: MIT
# For ksmbd.sh and mount.sh; sourced behind ../../foreign/lib.sh. Which device; what passed.

passed=0 failed=0

# softrdma in a namespace of its own, "soft", 10.0.2.2; at the other end of a pair siw2, 10.0.2.1.
soft_namespace() {
    ip netns add soft && ip link add w0 type veth peer name w1 && ip link set w1 netns soft &&
        ip addr add 10.0.2.1/24 dev w0 && ip link set w0 up mtu 4200 && ip -n soft addr add 10.0.2.2/24 dev w1 &&
        ip -n soft link set w1 up mtu 4200 && ip -n soft link set lo up && rdma link add siw2 type siw netdev w0 ||
        fail "the namespace cannot be made"
    neighbours 10.0.2.2 w0 "$(ip -n soft -br link show w1 | awk '{ print $3 }')"
    ip -n soft neigh replace 10.0.2.1 dev w1 lladdr "$(cat /sys/class/net/w0/address)"
}

# neighbours ADDRESS INTERFACE HARDWARE: the kernel's rdma_resolve_addr, which would wait for its time to be up when it
# has to ask on a veth pair (docs/testing.md), need not.
neighbours() { ip neigh replace "$1" dev "$2" lladdr "$3"; }

# in_soft COMMAND...: this shell becomes it there.
in_soft() {
    export NDSPI_DEVICE=soft NDSPI_SOFT_SHM=0 NDSPI_SOFT_CRC=1 NDSPI_SOFT_PATIENCE_MS=20000
    exec ip netns exec soft "$@"
}

# captured COMMAND...: does it, and has what passes between softrdma and siw meanwhile in $scratch/capture.
captured() {
    local recorder status=0
    dumpcap -q -i w0 -f "tcp port 5445 or udp port 9" -w "$scratch/capture" 2> "$scratch/dumpcap.log" &
    recorder=$!
    until grep -q '^File:' "$scratch/dumpcap.log"; do pause; done
    "$@" || status=$?
    echo end-of-the-capture > /dev/udp/10.0.2.2/9
    until grep -q end-of-the-capture "$scratch/capture"; do pause; done
    kill -INT $recorder
    wait $recorder
    return $status
}
# fields FIELD: a line for each time the field is in the capture. Without the first option tshark has another protocol
# on port 5445.
fields() {
    tshark -2 -r "$scratch/capture" -o tcp.try_heuristic_first:TRUE -o tcp.desegment_tcp_streams:TRUE -T fields \
        -e "$1" 2> "$scratch/tshark.log" | tr ',' '\n' | grep .
}
# opcodes WRITES READS INVALIDATIONS: whether the capture has at least so many RDMA Writes, RDMA Read Requests, and
# Sends with Invalidate, with Solicited Event or without (RFC 5040, 4.3).
opcodes() {
    local opcode
    local -a count=()
    fields iwarp_rdma.opcode > "$scratch/opcodes"
    for opcode in 0 1 4 6; do
        count[opcode]=$(grep -cE "^0x0?$opcode\$" "$scratch/opcodes")
    done
    [ "${count[0]}" -ge "$1" ] && [ "${count[1]}" -ge "$2" ] && [ $((count[4] + count[6])) -ge "$3" ] && return
    echo "Writes ${count[0]}, Reads ${count[1]}, Sends with Invalidate ${count[4]} and ${count[6]}"
    return 1
}

input() { [ -e "$scratch/$1" ] || head -c "$2" /dev/urandom > "$scratch/$1"; }

# run END SCENARIO...: the functions scenario_*, from that end, each after "begin".
run() {
    local start scenario
    end=$1
    shift
    for scenario; do
        start=$SECONDS
        begin
        if "scenario_$scenario" > "$scratch/log" 2>&1; then
            echo "ok: $scenario, from $end, $((SECONDS - start)) s"
            passed=$((passed + 1))
        else
            echo "FAILED: $scenario, from $end: $(tail -n 20 "$scratch/log")"
            failed=$((failed + 1))
            dmesg | tail -n 5
            grep -v '^0$' /sys/class/infiniband/"$kind"?/ports/1/hw_counters/* 2> /dev/null # what was lost
        fi
    done
}

# The end of the script.
report() {
    echo "$kind: $passed passed, $failed failed"
    [ $failed = 0 ]
}
