#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: confined.sh REFUSE PROGRAM [ROW...]
# Two processes on one host, one or both of which lack a system call, or a resource, as in a container or under a
# service manager. Each row: the connection works, is on the path that is expected, and where that is TCP one of them
# logs why. Status 77: the kernel takes no filter of system calls.
# REFUSE and PROGRAM: the programs refuse (tests/support/refuse_main.c) and ndpingpong. ROW: only the rows so named.
set -uo pipefail
refuse=$1 program=$2
shift 2
only=("$@")
"$refuse" getcpu:EPERM -- true || exit 77 # no seccomp filters here
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export NDSPI_DEVICE=soft NDSPI_SOFT_SHM=1 NDSPI_LOG=info,cm
failed=0

# What a row may put before a command.
plain() { "$@"; }
files_of() { ulimit -f "$1" && shift && "$@"; }          # KiB
no_places() { env -u HOME -u XDG_RUNTIME_DIR -u TMPDIR "$@"; }

# row NAME PATH REASON WHERE PREFIX...: WHERE is active, passive or both; REASON a pattern (grep -E), or "" for none.
row() {
    local name=$1 path=$2 reason=$3 where=$4 status=0 line=''
    shift 4
    [ "${#only[@]}" = 0 ] || [[ " ${only[*]} " == *" $name "* ]] || return 0
    local server=("$@") client=("$@")
    case $where in
        active) server=(plain) ;;
        passive) client=(plain) ;;
    esac
    mkfifo "$scratch/messages"
    ( "${server[@]}" timeout 30 "$program" -s 127.0.0.1:0 -b > "$scratch/output" 2> "$scratch/messages" ) &
    local pid=$!
    exec 3< "$scratch/messages"
    : > "$scratch/said"
    while IFS= read -r -t 30 line <&3; do
        printf '%s\n' "$line" >> "$scratch/said"
        [[ $line == *"listening on "* ]] && break
    done
    cat <&3 >> "$scratch/said" &
    local reader=$!
    ( "${client[@]}" timeout 30 "$program" -c "${line##* }" -b -n 20 -m 65536 ) \
        > "$scratch/output.client" 2> "$scratch/said.client" || status=$?
    [ "$status" = 0 ] || { echo "$name: the active end ends with status $status"; failed=1; kill "$pid" 2> /dev/null; }
    wait "$pid" || { echo "$name: the passive end ends with status $?"; failed=1; }
    wait "$reader"
    exec 3<&-
    rm "$scratch/messages"
    local shared=tcp
    ! grep -q 'connection from .*: through shared memory' "$scratch/said" || shared=shm
    [ "$shared" = "$path" ] || { echo "$name: the path is $shared, not $path"; failed=1; }
    if [ -n "$reason" ] && ! grep -Eq -- "$reason" "$scratch/said" "$scratch/said.client"; then
        echo "$name: nobody says: $reason"
        failed=1
    fi
    if [ "$failed" = 1 ]; then
        sed 's/^/  passive: /' "$scratch/said"
        sed 's/^/  active: /' "$scratch/said.client"
        exit 1
    fi
    echo "$name: $path"
}

# --- system calls that are refused: memory and descriptors
not_offered='no memory is offered to 127\.0\.0\.1:'
refused='an offer of memory by 127\.0\.0\.1:[0-9]+ is refused:'
add_seals=1033 get_seals=1034 unix=1 populate=23

row plain shm '' both plain
row memfd_eperm tcp "$not_offered.*Operation not permitted" both "$refuse" memfd_create:EPERM --
row memfd_enosys tcp "$not_offered.*Function not implemented" active "$refuse" memfd_create:ENOSYS --
row memfd_passive shm '' passive "$refuse" memfd_create:EPERM --
row seals tcp "$not_offered.*Operation not permitted" both "$refuse" "fcntl/1=$add_seals:EPERM" --
row seals_unread tcp "$refused Operation not permitted" passive "$refuse" "fcntl/1=$get_seals:EPERM" --
row no_unix_active tcp "$not_offered.*Address family not supported" active "$refuse" "socket/0=$unix:EAFNOSUPPORT" --
row no_unix_passive tcp 'connections to 127\.0\.0\.1:.* share no memory: Address family' passive \
    "$refuse" "socket/0=$unix:EAFNOSUPPORT" --
row no_populate shm '' both "$refuse" "madvise/2=$populate:EPERM" --
row no_pages tcp "$not_offered.*Operation not supported" active "$refuse" madvise:EPERM fallocate:EOPNOTSUPP --
row no_pages_passive tcp "$refused Operation not supported" passive "$refuse" madvise:EPERM fallocate:EOPNOTSUPP --
row no_advice shm '' both "$refuse" madvise:ENOSYS --
row no_hints shm '' both "$refuse" getcpu:EPERM sched_getaffinity:EPERM process_vm_readv:EPERM io_uring_setup:EPERM \
    prlimit64:EPERM --

# fails NAME PATTERN CALL...: nothing goes without these system calls, and the log says what is in the way.
fails() {
    local name=$1 pattern=$2 said=''
    shift 2
    [ "${#only[@]}" = 0 ] || [[ " ${only[*]} " == *" $name "* ]] || return 0
    said=$(timeout 30 "$refuse" "$@" -- "$program" -s 127.0.0.1:0 -b 2>&1) && { echo "$name: it works"; exit 1; }
    grep -Eq -- "$pattern" <<< "$said" || { printf '%s: nobody says: %s\n%s\n' "$name" "$pattern" "$said"; exit 1; }
    echo "$name: says why it fails"
}
netlink=16
fails no_netlink 'RestrictAddressFamilies=' "socket/0=$netlink:EAFNOSUPPORT"
fails no_threads 'cannot be opened: .*ulimit -u' clone3:EAGAIN clone:EAGAIN

# --- resources and places
row file_size tcp "$not_offered.*ulimit -f" both files_of 64
row no_places shm '' both no_places
exit "$failed"
