#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: toolchain/guest/run -d rxe|siw tests/ndinfo/guest.sh BUILD rxe|siw
# ndinfo on the kernel's devices: working ones, a probe over the veth pair, and set-ups that are really broken, each
# with the code, the reason and the remedy that ndinfo has to print. Breaks what it runs on, so it wants a guest. Status
# 0 when ndinfo printed all of them.
set -uo pipefail
build=$(readlink -f "$1") kind=$2 failed=0 passed=0
one=${kind}1 file=/dev/infiniband/uverbs1
ulimit -l unlimited
unset NDSPI_DEVICE
user=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)

# Where an ordinary user can run it.
scratch=$(mktemp -d) && chmod 755 "$scratch" \
    && cp -d "$build"/bin/ndinfo "$build"/lib/lib{ndspi,ndwin32,winobj,softrdma,ndreactor}.so* "$scratch" || exit 2
export LD_LIBRARY_PATH=$scratch
ndinfo=$scratch/ndinfo

# verdict NAME PROBLEM: prints; the problem is empty when all was as it should be.
verdict() {
    if [ -z "$2" ]; then
        echo "ok      $kind, $1"
        passed=$((passed + 1))
    else
        printf 'FAILED  %s, %s: %s\n' "$kind" "$1" "$2"
        printf '%s\n' "$said" | tail -n 40
        failed=$((failed + 1))
    fi
}

# says NAME STATUS COMMAND... -- LINE...: the command ends with the status, and says each of the lines: fixed text.
says() {
    local name=$1 wanted=$2 problem='' command=() status line
    shift 2
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    said=$("${command[@]}" 2>&1)
    status=$?
    [ $status = "$wanted" ] || problem="status $status instead of $wanted"
    for line; do
        grep -qF -- "$line" <<< "$said" || problem+="${problem:+; }it does not say: $line"
    done
    verdict "$name" "$problem"
}

# broken NAME SUBJECT CODE REASON REMEDY [COMMAND-PREFIX...]: what ndinfo says of a device or address.
broken() {
    local name=$1 subject=$2 code=$3 reason=$4 remedy=$5
    shift 5
    says "$name" 1 "$@" "$ndinfo" --json "$subject" \
        -- '"adapters": []' "\"$subject\"" "\"code\": \"$code\"" "\"reason\": \"$reason" \
        '"remedy": "' "$remedy"
}

# Whole.
transport=RoCE
[ "$kind" = rxe ] || transport=iWARP
says "two devices" 0 "$ndinfo" -- "${kind}0 port 1 (rdma-core, $kind, $transport)" "addresses: 10.0.0.1 fd00::1" \
    "$one port 1 (rdma-core" \
    "addresses: 10.0.1.1 fd00:1::1" "not used: device softrdma0" "reason: not needed: an RDMA device is in use"
says "two devices (--json)" 0 "$ndinfo" --json "$one" -- "\"device\": \"$one\"" '"address": "10.0.1.1"' \
    '"provider": "rdma-core"' \
    '"interface": "v1"' '"code": "used"' '"unusable": []'
[ "$kind" = rxe ] || says "its windows" 0 "$ndinfo" siw0 -- "note: Memory windows are emulated"
says "an ordinary user" 0 "${user[@]}" "$ndinfo" "$one" -- "addresses: 10.0.1.1"

# A probe, and a probe without an answer.
mkfifo "$scratch/served"
"$ndinfo" --serve 10.0.1.1 --count 1 --timeout 60 > "$scratch/served" 2>&1 &
server=$!
exec 8< "$scratch/served"
IFS= read -r -t 60 said <&8
problem=''
[[ $said == "ndinfo: listening on 10.0.1.1:"* ]] || problem="it does not listen"
verdict "it serves" "$problem"
says "a probe" 0 "$ndinfo" --probe 10.0.1.1 --rounds 20 --timeout 60 -- 10.0.1.1
problem=''
wait $server || problem="its status is $?"
verdict "the server's end" "$problem"
says "a probe that nobody answers" 1 "$ndinfo" --probe 10.0.1.1 --timeout 10 \
    -- "Connect failed" "ND_CONNECTION_REFUSED" "remedy: "

# Locked memory, for an unprivileged user. 64 KiB is what the trial registers.
says "64 KiB to be locked" 0 prlimit --memlock=65536 "${user[@]}" "$ndinfo" "$one" \
    -- "limit of locked memory, 64 KiB (ulimit -l)"
broken "16 KiB to be locked" "$one" memlock-limit "no memory for registered memory within the limit of 16 KiB" \
    "raise the limit of locked memory: ulimit -l unlimited" prlimit --memlock=16384 "${user[@]}"

# Device files.
chmod 600 $file
broken "an unreadable device file" "$one" no-permission "no permission on the device file $file: Permission denied" \
    "allow this user to read and write it: a udev rule, a group, or chmod a+rw $file" "${user[@]}"
chmod 666 $file
chmod 600 /dev/infiniband/rdma_cm
broken "an unreadable connection manager" "$one" no-permission \
    "no permission on the connection manager's device file /dev/infiniband/rdma_cm" \
    "chmod a+rw /dev/infiniband/rdma_cm" "${user[@]}"
chmod 666 /dev/infiniband/rdma_cm
mv $file /dev/infiniband/away
broken "no device file" "$one" device-file-missing "the device file $file does not exist" \
    "in a container, hand it in (--device=$file)"
mv /dev/infiniband/away $file

# libibverbs knows drivers by these files, and those it brings by itself.
drivers=$(dirname "$(find /etc/libibverbs.d -name "$kind.driver" 2> /dev/null)")
if [ -n "$drivers" ]; then
    mv "$drivers/$kind.driver" "$scratch"
    broken "no driver in user space" "$one" no-user-driver "libibverbs has no driver for it" \
        "install the package ibverbs-providers"
    mv "$scratch/$kind.driver" "$drivers"
fi

# The network below.
rdma link delete "$one"
broken "no device on the interface" 10.0.1.1 not-rdma "its network interface v1 is no RDMA device" \
    "rdma link add siw_v1 type siw netdev v1"
rdma link add "$one" type "$kind" netdev v1
says "the device again" 0 "$ndinfo" "$one" -- "addresses: 10.0.1.1"
ip addr flush dev v1
broken "no address" "$one" no-address "no IP address on its network interface v1" "give v1 an address of its network"
ip addr add 10.0.1.1/24 dev v1
says "the address again" 0 "$ndinfo" "$one" -- "addresses: 10.0.1.1"
ip link set v1 down
broken "an interface that is down" 10.0.1.1 interface-down "the network interface v1 is down" "ip link set v1 up"
broken "its device" "$one" port-down "its port is not active" "bring the network interface up: ip link set v1 up"
# siw takes no notice of the carrier.
[ "$kind" = siw ] \
    || broken "its peer, without a carrier" rxe0 port-down "its port is not active" \
        'check cable, switch and \"ip link show v0\"'
ip link set v1 up
says "the link again" 0 "$ndinfo" "$one" -- "addresses: 10.0.1.1"

# Modules; not to be had again.
rmmod rdma_ucm
broken "no connection manager" "$one" module-not-loaded \
    "no connection manager: the kernel module rdma_ucm is not loaded" "modprobe rdma_ucm"
rdma link delete "${kind}0"
rdma link delete "$one"
says "no device is left" 0 "$ndinfo" -- "softrdma0 port 1" "addresses: " "10.0.1.1"
says "a device that is named and not there" 1 env NDSPI_DEVICE="$one" "$ndinfo" -- "not used: device $one" \
    "reason: NDSPI_DEVICE names it, but there is no such device" "a kernel's device needs its module loaded"

echo "$kind: $passed passed, $failed failed"
[ $failed = 0 ]
