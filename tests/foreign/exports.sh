#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: exports.sh PRELOAD_LIBRARY PROGRAM...
# Every name the preload library has, rdma-core has with the same version; every name of rdma-core that a program (or a
# library given as its path) imports and that takes an object, the preload library has.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
library=$1
shift
# Names that take no object of the device, or only objects softrdma never makes: rdma-core's own functions do.
stateless='^(ibv_(wc_status|event_type|node_type|port_state)_str|ibv_fork_init|ibv_is_fork_initialized|ibv_rate_to_.*|ibv_(read_sysfs_file|get_sysfs_path)|ibv_copy_.*_(from|to)_kern|rdma_event_str|rdma_(get|free)addrinfo|(mbps|mult)_to_ibv_rate)@'

names() { nm -D "$@" | awk '{ print $NF }' | grep -E '^_?(ibv|rdma)_' | sed 's/@@/@/' | sort -u; }
real=()
for name in libibverbs.so.1 librdmacm.so.1; do
    path=$(ldconfig -p 2>/dev/null | awk -v name="$name" '$1 == name && !found++ { print $NF }')
    [ -n "$path" ] \
        || path=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk -v name="$name" '$1 == name && !found++ { print $NF }')
    real+=("$path")
done
names --defined-only "${real[@]}" > "$scratch/real"
names --defined-only "$library" > "$scratch/ours"
grep @ "$scratch/ours" > "$scratch/versioned"
comm -23 "$scratch/versioned" "$scratch/real" > "$scratch/unknown.log"
[ ! -s "$scratch/unknown.log" ] || fail "rdma-core has no such names"
for program; do
    path=$program
    [ -e "$path" ] || path=$(command -v "$program") || fail "$program is not installed (./run deps test)"
    nm -D --undefined-only "$path" | awk '{ print $NF }' | grep -E '^_?(ibv|rdma)_' | grep -vE "$stateless" | sort -u \
        > "$scratch/wanted"
    # We export rdma-core's private names without a version.
    sed 's/@IBVERBS_PRIVATE.*//' "$scratch/wanted" | sort -u | comm -23 - "$scratch/ours" > "$scratch/missing.log"
    [ ! -s "$scratch/missing.log" ] || fail "$program imports what the preload library does not have"
    echo "$program: $(wc -l < "$scratch/wanted") names"
done
