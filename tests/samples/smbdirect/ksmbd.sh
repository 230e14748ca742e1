#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: toolchain/guest/run -s -d siw|rxe -t 1800 tests/samples/smbdirect/ksmbd.sh BUILD siw|rxe [SCENARIO...]
# smbdcat with a server that nobody here wrote: ksmbd, the kernel's, over its own SMB Direct. siw: from softrdma over a
# veth pair, and some from siw, which has no fast registration, so that its client registers by calls; rxe: from rxe.
# The scenarios are the functions scenario_*; status 0 when all passed.
set -uo pipefail
. "$(dirname "$0")/../../foreign/lib.sh"
. "$(dirname "$0")/guest.sh"
build=$(readlink -f "$1") kind=$2
shift 2
smbdcat=$build/bin/smbdcat
share=$scratch/share
password=Password01! patience=300

# ---- the server ----
# A guest is "nobody", who has to get there.
chmod 711 "$scratch" && mkdir "$share" && mount -t tmpfs -o size=300m share "$share" && chmod 777 "$share" ||
    fail "no place for the share"
cat > "$scratch/ksmbd.conf" << END
[global]
    map to guest = bad user
    guest account = nobody
[pub]
    path = $share
    guest ok = yes
    writeable = yes
[closed]
    path = $share
    writeable = yes
END
ksmbd.adduser -i "$scratch/users" -a root -p "$password" > "$scratch/adduser.log" 2>&1 || fail "no user"
printf 'username=root\npassword=%s\n' "$password" > "$scratch/root"
printf 'username=root\npassword=%sx\n' "$password" > "$scratch/wrong"

port=445
if [ "$kind" = siw ]; then
    port=5445
    soft_namespace
fi
ksmbd.mountd -c "$scratch/ksmbd.conf" -u "$scratch/users" > "$scratch/mountd.log" 2>&1 || fail "ksmbd does not start"
deadline=$((SECONDS + 60))
until rdma resource show cm_id 2> /dev/null | grep "state LISTEN.*:$port" > /dev/null; do
    [ $SECONDS -lt $deadline ] || fail "ksmbd does not listen on port $port: $(rdma resource show cm_id)"
    read -r -t 0.5 -u 9 || true
done

# ---- the client ----
# With several pieces under way, rxe's connection breaks or stands still after something was lost and sent again (Linux
# 6.1; its req_retry has binds done a second time, too).
pieces=8
[ "$kind" != rxe ] || pieces=1

# become COMMAND... ARGUMENT...: this shell becomes the client, by way of the command; the server's place is "@".
become() {
    case $end in
    soft) in_soft "${@//@/smb://10.0.2.1}" -n $pieces ;;
    *)
        export NDSPI_DEVICE=${kind}0
        exec "${@//@/smb://10.0.1.1}" -b 10.0.0.1 -n $pieces ;;
    esac
}
client() {
    local status=0
    (become timeout "$patience" "$smbdcat" "$@") || status=$?
    [ $status != 124 ] || echo "smbdcat $*: not within $patience s" >&2
    return $status
}

# says STATUS PATTERN ARGUMENT...: the client ends so, and says that.
says() {
    local expected=$1 pattern=$2 status=0
    shift 2
    client "$@" > "$scratch/out" 2> "$scratch/said" < /dev/null || status=$?
    [ $status = "$expected" ] || { echo "status $status, not $expected: $(cat "$scratch/said")"; return 1; }
    grep -Eq -- "$pattern" "$scratch/said" || { echo "nothing like $pattern: $(cat "$scratch/said")"; return 1; }
}

# there_and_back NAME [OPTION...]: a file, by checksum at the server, and what comes back of it. fetching: an option for
# that alone.
fetching=''
there_and_back() {
    local name=$1 sum
    shift
    sum=$(sha256sum < "$scratch/$name")
    client -p "$@" "@/pub/$name" < "$scratch/$name" || return 1
    [ "$(sha256sum < "$share/$name")" = "$sum" ] || { echo "another file is at the server"; return 1; }
    [ "$(client "$@" $fetching "@/pub/$name" | sha256sum)" = "$sum" ] || { echo "another file came back"; return 1; }
    rm "$share/$name"
}

# There is a file left of one that failed, which is root's if it was the user's.
begin() { rm -rf "${share:?}"/*; }

scenario_large() {
    input large 67108864
    there_and_back large
}
scenario_sizes() {
    local size
    for size in 0 1 1048576 3000001; do
        input "f$size" $size
        there_and_back "f$size" || return 1
    done
}
scenario_messages() {
    input some 3000001
    there_and_back some -i
}
scenario_dialects() {
    input some 3000001
    there_and_back some -m 3.0 && there_and_back some -m 3.0.2
}
# What passes between softrdma and siw: the server's Reads and Writes, and its answers, which take its access back.
scenario_wire() {
    input some 3000001
    captured there_and_back some && opcodes 3 3 6
}
# Each message is signed. ksmbd signs its answer to a Read by RDMA as if it had the data (Linux 6.1, smb3_set_sign_rsp).
scenario_user() {
    input some 3000001
    fetching=-i there_and_back some -a "$scratch/root" && fetching=-i there_and_back some -a "$scratch/root" -m 3.0
}
scenario_refused() {
    mkdir -p "$share/folder"
    says 1 '^smbdcat: smb://[0-9.]+/pub/nothing: open: STATUS_OBJECT_NAME_NOT_FOUND$' @/pub/nothing &&
        says 1 'share none: STATUS_BAD_NETWORK_NAME$' @/none/file &&
        says 1 'share closed: STATUS_[A-Z_]+$' @/closed/file &&
        says 1 'open: STATUS_FILE_IS_A_DIRECTORY$' @/pub/folder &&
        says 1 'log in: STATUS_LOGON_FAILURE$' -a "$scratch/wrong" @/pub/file
}
# Four clients at a time write a file each.
scenario_together() {
    local i status=0
    local -a writers=()
    for i in 1 2 3 4; do
        input "w$i" $((3000000 + i))
        client -p "@/pub/w$i" < "$scratch/w$i" &
        writers+=($!)
    done
    for i in "${writers[@]}"; do wait "$i" || status=$?; done
    [ $status = 0 ] || { echo "a writer: status $status"; return 1; }
    for i in 1 2 3 4; do
        cmp "$scratch/w$i" "$share/w$i" || return 1
    done
}
# A client that is killed in the middle leaves a server that serves the next one.
scenario_killed() {
    local i running
    input some 3000001
    for i in 1 2; do
        mkfifo "$scratch/feed"
        (become "$smbdcat" -p "@/pub/half") < "$scratch/feed" &
        running=$!
        exec 7> "$scratch/feed"
        cat "$scratch/some" >&7
        until [ -s "$share/half" ]; do read -r -t 0.2 -u 9 || true; done
        kill -KILL $running
        wait $running
        exec 7>&-
        rm "$scratch/feed" "$share/half"
        there_and_back some || return 1
    done
}

# ---- all of them ----
all=(large sizes messages dialects user refused together killed)
[ $# = 0 ] || all=("$@")
case $kind in
siw)
    run soft "${all[@]}"
    [ $# != 0 ] || run soft wire
    [ $# != 0 ] || run siw sizes refused together killed ;;
*) run "$kind" "${all[@]}" ;;
esac
umount -l "$share"
report
