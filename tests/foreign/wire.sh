#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: toolchain/guest/run -d siw -t 1200 tests/foreign/wire.sh BUILD [NAME...]
# Debian's verbs programs with softrdma at one end and the kernel's siw at the other, over a veth pair between two
# network namespaces, in both directions, with checksums; only those named, or all. What passes on the wire is captured
# for some and decoded by tshark. Makes the pair, so it wants root and a kernel of its own. Prints a table;
# status 0 when all passed.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/decode.sh"
build=$(readlink -f "$1") || exit 2
shift
only=("$@")
run=$build/bin/softrdma-run meet=$build/tests/libforeign_meet.so
kernel_address=10.0.2.1 soft_address=10.0.2.2
names=() failed=0
declare -A results

ip netns add soft && ip link add w0 type veth peer name w1 && ip link set w1 netns soft &&
    ip addr add $kernel_address/24 dev w0 && ip link set w0 up mtu 4200 &&
    ip -n soft addr add $soft_address/24 dev w1 && ip -n soft link set w1 up mtu 4200 && ip -n soft link set lo up &&
    rdma link add siw2 type siw netdev w0 || fail "the namespaces cannot be made"

# at END COMMAND...: the command at one end; with a meeting, meet.c's.
at() {
    local end=$1 with=()
    shift
    [ -z "${NDSPI_MEET:-}" ] || with=(sh -c 'exec env LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" "$@"' "$meet")
    if [ "$end" = soft ]; then
        NDSPI_SOFT_SHM=0 NDSPI_SOFT_CRC=1 NDSPI_SOFT_PATIENCE_MS=20000 NDSPI_LOG=info timeout 60 ip netns exec soft \
            "$run" "${with[@]}" "$@"
    else
        timeout 60 "${with[@]}" "$@"
    fi
}

# Whether a program listens at that end: softrdma's sockets are TCP's; siw's do not show, its ports are librdmacm's.
listening() {
    if [ "$1" = soft ]; then
        ip netns exec soft grep -qE "$(printf ': [0-9A-F]+:%04X [0-9A-F]+:0000 0A ' "$2")" /proc/net/tcp /proc/net/tcp6
    else
        rdma resource show cm_id 2> /dev/null | grep -E "state LISTEN.*:$2( |\$)" > /dev/null || listens "$2"
    fi
}

# Looks cost processor time here, which the programs need.
pause() { read -r -t 0.2 -u 9 || true; }

# await WHAT COMMAND...: until the command succeeds, a minute at most.
await() {
    local what=$1 deadline=$((SECONDS + 60))
    shift
    until "$@"; do
        [ $SECONDS -lt $deadline ] || { echo "$what: not within a minute"; return 1; }
        pause
    done
}

# record PORT: what passes on that port into $scratch/capture, until record_end, behind all that was sent before.
record() {
    rm -f "$scratch/capture"
    dumpcap -q -i w0 -f "tcp port $1 or udp port 9" -w "$scratch/capture" 2> "$scratch/dumpcap.log" &
    recorder=$!
    await dumpcap grep -q '^File:' "$scratch/dumpcap.log"
}
record_end() {
    echo end-of-the-capture > "/dev/udp/$soft_address/9"
    await "the capture's end" grep -q end-of-the-capture "$scratch/capture"
    kill -INT $recorder
    wait $recorder
}

# Of captures: check_NAME CLIENT-END SERVER-END
check_rping() {
    decode "$scratch/capture"
    at_least 10 '^0x0?0$' "RDMA Writes"
    at_least 10 '^0x0?1$' "Read Requests"
    at_least 10 '^0x0?2$' "Read Responses"
    at_least 40 '^0x0?[3-6]$' "Sends"
    checksums "$scratch/capture"
}
# The owner of the memory sends a Terminate for the Write that missed it.
check_bad_stag() {
    local owner=$kernel_address
    [ "$2" = kernel ] || owner=$soft_address
    decode "$scratch/capture" terminates
    bad_stag_terminates > "$scratch/terminates.log"
    [ "$(cat "$scratch/terminates.log")" = "$owner 0x01 0x01 0x00" ] || fail "not one Terminate from $owner"
}

# The server reads and writes by RDMA, also siw, which has no fast registration; a client on siw exposes nothing. Two
# connections, so nothing is looked at but the opcodes.
check_smbdcopy() {
    [ "$1" = soft ] || return 0
    tshark -2 -r "$scratch/capture" -o tcp.desegment_tcp_streams:TRUE -T fields -e iwarp_rdma.opcode \
        2> "$scratch/tshark.log" | tr ',' '\n' > "$scratch/opcodes"
    at_least 1 '^0x0?1$' "Read Requests"
    at_least 10 '^0x0?0$' "RDMA Writes"
}

# pair NAME REGEX SERVER... -- CLIENT...: replaces PORT, ADDRESS (the server's) and words that begin with "@" (each
# end's own device); the regex is of the client's output. check: a function for the capture; stays=1: the server does
# not end by itself; meets=1: see meet.c
pair() {
    local name=$1 says=$2 way port server_at client_at address pid recorder status word
    shift 2
    [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $name "* ]] || return 0
    names+=("$name")
    for way in soft-kernel kernel-soft; do
        client_at=${way%-*} server_at=${way#*-}
        address=$kernel_address
        [ "$server_at" = kernel ] || address=$soft_address
        port=$(free_port)
        local -A device=([soft]=softrdma0 [kernel]=siw2)
        local server=() client=() side=server end=$server_at
        for word; do
            word=${word//PORT/$port} word=${word//ADDRESS/$address} word=${word/#@/${device[$end]}}
            if [ "$word" = -- ]; then
                side=client end=$client_at
            elif [ $side = server ]; then
                server+=("$word")
            else
                client+=("$word")
            fi
        done
        rm -f "$scratch"/*.log
        local start=$SECONDS
        [ -z "${check:-}" ] || record "$port"
        if [ -n "${meets:-}" ]; then
            rm -f "$scratch/meeting"
            mkfifo "$scratch/meeting"
            exec 8<> "$scratch/meeting"
            export NDSPI_MEET=$scratch/meeting
        fi
        at "$server_at" "${server[@]}" > "$scratch/server.log" 2>&1 &
        pid=$!
        server_ready() { listening "$server_at" "$port" || ! kill -0 $pid 2> /dev/null; }
        await "the server" server_ready
        status=0
        at "$client_at" "${client[@]}" > "$scratch/client.log" 2>&1 || status="client's $?"
        if [ -n "${stays:-}" ]; then
            kill $pid || status="$status, the server did not stay"
            wait $pid
        else
            wait $pid || status="$status, server's $?"
        fi
        unset NDSPI_MEET
        [ "$status" != 0 ] || grep -qE -- "$says" "$scratch/client.log" || status="the client does not say: $says"
        if [ -n "${check:-}" ]; then
            record_end
            [ "$status" != 0 ] || (set -e; "$check" "$client_at" "$server_at") > "$scratch/check.log" 2>&1 \
                || status="the capture"
        fi
        if [ "$status" = 0 ]; then
            results[$name,$way]=ok
            echo "ok: $name, $client_at to $server_at, $((SECONDS - start)) s"
        else
            results[$name,$way]=FAILED
            echo "FAILED: $name, $client_at to $server_at: $status"
            tail -n 15 "$scratch"/*.log
            failed=$((failed + 1))
        fi
    done
}

check=check_rping pair rping "ping data: rdma-ping-9" rping -s -a ADDRESS -p PORT -C 10 -S 9000 -V \
    -- rping -c -a ADDRESS -p PORT -C 10 -S 9000 -V -v
pair rdma_client "rdma_client: end 0" rdma_server -s ADDRESS -p PORT -- rdma_client -s ADDRESS -p PORT
pair rdma_xclient "rdma_xclient: end 0" rdma_xserver -c r -p PORT -- rdma_xclient -c r -s ADDRESS -p PORT
# Its server speaks first, and siw as the initiator sends no ready-to-receive frame: that server gets on when
# NDSPI_SOFT_SPEAK_MS is over (softrdma-run sets it).
pair ucmatose "return status 0" ucmatose -b ADDRESS -p PORT -C 10 -S 1000 -- ucmatose -s ADDRESS -p PORT -C 10 -S 1000
stays=1 pair cmtime "^disconnect *:" cmtime -p PORT -c 10 -- cmtime -s ADDRESS -p PORT -c 10
pair rstream "^custom +64k" rstream -b ADDRESS -p PORT -S 65536 -I 5 -C 5 -T v \
    -- rstream -s ADDRESS -p PORT -S 65536 -I 5 -C 5 -T v
pair riostream "^custom +64k" riostream -b ADDRESS -p PORT -S 65536 -I 5 -C 5 -T v \
    -- riostream -s ADDRESS -p PORT -S 65536 -I 5 -C 5 -T v
for kind in send write read; do
    meets=1 pair ib_${kind}_lat "^ 64 +50 " ib_${kind}_lat -R -p PORT -n 50 -s 64 \
        -- ib_${kind}_lat -R -p PORT -n 50 -s 64 ADDRESS
    meets=1 pair ib_${kind}_bw "^ 65536 +50 " ib_${kind}_bw -R -p PORT -n 50 -- ib_${kind}_bw -R -p PORT -n 50 ADDRESS
done
# Its sender may not send more than its receiver has given credit for, and waits for completions alone, of each
# hundredth Send, even where a credit is what it has to wait for: with fewer rounds both ends wait for ever, on any
# device.
meets=1 pair ib_send_bw.events "^ 8192 +2400 " ib_send_bw -R -e -p PORT -n 600 -q 4 -s 8192 \
    -- ib_send_bw -R -e -p PORT -n 600 -q 4 -s 8192 ADDRESS
# Its server takes "localhost" for its own address where a device has that, as softrdma0 has by default.
pair fi_pingpong "^1m +10 +=10 " env NDSPI_SOFT_DEVICES=softrdma0=ADDRESS fi_pingpong -p verbs -e msg -c -I 10 -B PORT \
    -d @ \
    -- fi_pingpong -p verbs -e msg -c -I 10 -P PORT -d @ ADDRESS
check=check_bad_stag pair bad_stag "^terminated$" "$build/tests/foreign_bad_stag" -s ADDRESS PORT \
    -- "$build/tests/foreign_bad_stag" -c ADDRESS PORT
# Our own SMB Direct, which has the private data of Windows' providers: there and back again.
mkdir "$scratch/store" "$scratch/out"
head -c 300000 /dev/urandom > "$scratch/file"
# shellcheck disable=SC2016
check=check_smbdcopy stays=1 pair smbdcopy "^same\$" sh -c 'unset LD_PRELOAD; NDSPI_DEVICE=$0 exec "$@"' @ \
    "$build/bin/smbdcopy" -s "$scratch/store" ADDRESS:PORT \
    -- sh -ec 'unset LD_PRELOAD; export NDSPI_DEVICE=$0; "$1" -c "$2" "$3/file"; "$1" -c "$2" -g -o "$3/out" file
        cmp "$3/file" "$3/out/file"; echo same' @ "$build/bin/smbdcopy" ADDRESS:PORT "$scratch"

printf '%-20s %-18s %s\n' program "softrdma to siw" "siw to softrdma"
for name in "${names[@]}"; do
    printf '%-20s %-18s %s\n' "$name" "${results[$name,soft-kernel]}" "${results[$name,kernel-soft]}"
done
echo "$((2 * ${#names[@]} - failed)) passed, $failed failed"
[ ${#names[@]} -gt 0 ] && [ $failed = 0 ]
