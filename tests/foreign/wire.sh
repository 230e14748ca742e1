#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: toolchain/guest/run -d siw -t 1200 tests/foreign/wire.sh BUILD [NAME...]
# Programs nobody here wrote with softrdma at one end and the kernel's siw at the other, over a veth pair between two network
# namespaces, in both directions where that is possible, with checksums; only those named, or all. Makes the pair, so it wants
# root and a kernel that is nobody else's. Prints a line for each; status 0 when all passed.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
build=$(readlink -f "$1") || exit 2
shift
only=("$@")
run=$build/bin/softrdma-run
kernel_address=10.0.2.1 soft_address=10.0.2.2
failed=0

ip netns add soft && ip link add w0 type veth peer name w1 && ip link set w1 netns soft &&
    ip addr add $kernel_address/24 dev w0 && ip link set w0 up mtu 4200 &&
    ip -n soft addr add $soft_address/24 dev w1 && ip -n soft link set w1 up mtu 4200 && ip -n soft link set lo up &&
    rdma link add siw2 type siw netdev w0 || fail "the namespaces cannot be made"

# at END COMMAND...: the command at one end
at() {
    local end=$1
    shift
    if [ "$end" = soft ]; then
        NDSPI_SOFT_CRC=1 NDSPI_SOFT_PATIENCE_MS=20000 NDSPI_LOG=info timeout 60 ip netns exec soft "$run" "$@"
    else
        timeout 60 "$@"
    fi
}

# Whether somebody at that end listens: softrdma's sockets are TCP's; siw's are not shown, its ports are librdmacm's.
listening() {
    if [ "$1" = soft ]; then
        ip netns exec soft grep -qE "$(printf ': [0-9A-F]+:%04X [0-9A-F]+:0000 0A ' "$2")" /proc/net/tcp /proc/net/tcp6
    else
        rdma resource show cm_id 2> /dev/null | grep -qE "state LISTEN.*:$2( |\$)" || listens "$2"
    fi
}

# pair NAME REGEX SERVER... -- CLIENT...: with the server's ADDRESS, PORT and DEVICE; the regex is of the client's output
pair() {
    local name=$1 says=$2 way port server_at client_at address device deadline pid status word
    shift 2
    [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $name "* ]] || return 0
    for way in ${ways:-soft-kernel kernel-soft}; do
        client_at=${way%-*} server_at=${way#*-}
        if [ "$server_at" = soft ]; then
            address=$soft_address device=softrdma0
        else
            address=$kernel_address device=siw2
        fi
        port=$(free_port)
        local server=() client=() side=server
        for word; do
            word=${word//PORT/$port} word=${word//ADDRESS/$address} word=${word//DEVICE/$device}
            if [ "$word" = -- ]; then
                side=client
            elif [ $side = server ]; then
                server+=("$word")
            else
                client+=("$word")
            fi
        done
        at "$server_at" "${server[@]}" > "$scratch/server.log" 2>&1 &
        pid=$!
        deadline=$((SECONDS + 60))
        until listening "$server_at" "$port" || [ $SECONDS -ge $deadline ] || ! kill -0 $pid 2> /dev/null; do
            pause
        done
        status=0
        at "$client_at" "${client[@]}" > "$scratch/client.log" 2>&1 || status="client's $?"
        wait $pid || status="$status, server's $?"
        [ "$status" != 0 ] || grep -qE -- "$says" "$scratch/client.log" || status="the client does not say: $says"
        if [ "$status" = 0 ]; then
            echo "ok      $name, $client_at to $server_at"
        else
            echo "FAILED  $name, $client_at to $server_at: $status"
            tail -n 15 "$scratch/client.log" "$scratch/server.log"
            failed=$((failed + 1))
        fi
    done
}

pair rping "ping data: rdma-ping-9" rping -s -a ADDRESS -p PORT -C 10 -S 9000 -V -- rping -c -a ADDRESS -p PORT -C 10 -S 9000 -V -v
pair rdma_client "rdma_client: end 0" rdma_server -s ADDRESS -p PORT -- rdma_client -s ADDRESS -p PORT
# Its server speaks first. siw as the initiator sends no ready-to-receive frame (RFC 6581 s4.2), and a responder must not send
# before it has heard from the initiator (RFC 5044 s7.1.2): with a kernel client both wait.
ways=soft-kernel pair ucmatose "return status 0" ucmatose -b ADDRESS -p PORT -C 10 -S 1000 -- ucmatose -s ADDRESS -p PORT -C 10 -S 1000
pair rstream "^custom +64k" rstream -b ADDRESS -p PORT -S 65536 -I 5 -C 5 -T v -- rstream -s ADDRESS -p PORT -S 65536 -I 5 -C 5 -T v
# perftest connects twice, the second time now and then before its server listens again; on a kernel device its client then
# crashes (softrdma's patience forgives it).
for kind in send write read; do
    pair ib_${kind}_bw "^ 65536 +50 " ib_${kind}_bw -R -p PORT -n 50 -- ib_${kind}_bw -R -p PORT -n 50 ADDRESS
done
# The other way libfabric's client finds no device of the kernel for the address (FI_ENODATA).
ways=soft-kernel pair fi_pingpong "^1m +10 +=10 " fi_pingpong -p verbs -e msg -c -I 10 -B PORT -d DEVICE -- fi_pingpong -p verbs -e msg -c -I 10 -P PORT ADDRESS
pair bad_stag "^terminated$" "$build/bin/foreign_bad_stag" -s ADDRESS PORT -- "$build/bin/foreign_bad_stag" -c ADDRESS PORT
[ $failed = 0 ] || echo "$failed failed"
[ $failed = 0 ]
