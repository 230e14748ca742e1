#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: slurm.sh FOLDER
# Runs programs in FOLDER as ranks under Slurm's srun, by PMIx. The cluster is a private one of one node in a temporary
# folder: its daemons are not the system's, and end with this script. Status 77 where Slurm is missing; with
# NDSPI_REQUIRE_SLURM=1 that is an error.
set -uo pipefail
folder=$(readlink -f "$1")
PATH=$PATH:/usr/sbin:/sbin

missing() {
    echo "Slurm: $1 (./run deps test)"
    [ -z "${NDSPI_REQUIRE_SLURM:-}" ] || exit 1
    exit 77
}
for program in munged slurmctld slurmd srun scontrol; do
    command -v $program > /dev/null || missing "there is no $program"
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndmpi-slurm.XXXXXX")
export SLURM_CONF=$scratch/slurm.conf
unset "${!SLURM_JOB@}" "${!SLURM_STEP@}"
daemons=()

# Processes of the cluster that are no children of this script: slurmstepd leaves its parent, and has ranks.
strays() {
    local environ process
    for environ in /proc/[0-9]*/environ; do
        process=${environ//[!0-9]/}
        [ "$process" != $$ ] && [ "$process" != "$BASHPID" ] || continue
        ! grep -qzxsF "SLURM_CONF=$SLURM_CONF" "$environ" || echo "$process"
    done
}
leave() {
    local process
    trap '' HUP INT TERM
    [ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2> /dev/null
    for _ in {1..100}; do # 10 s to end in order
        [ -n "$(jobs -rp)" ] || break
        pause 0.1
    done
    for process in $(jobs -rp) $(strays); do kill -KILL "$process" 2> /dev/null; done
    rm -rf "$scratch"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM
mkfifo "$scratch/silence"
exec 9<> "$scratch/silence"
# Waits between two looks at a state whose change raises no event.
pause() { read -r -t "$1" -u 9; }

fail() {
    echo "$*"
    tail -n 40 "$scratch"/*.log
    exit 1
}
# await SECONDS COMMAND...: until it succeeds
await() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" > "$scratch/await.log" 2>&1; do
        [ $SECONDS -lt $deadline ] || return 1
        pause 0.2
    done
    return 0
}
# daemon NAME COMMAND...: as a job that ends with this script, even if that is killed
daemon() {
    setpriv --pdeathsig TERM "${@:2}" < /dev/null > "$scratch/$1.log" 2>&1 9>&- &
    daemons+=($!)
}

# configure SLURMCTLD-PORT SLURMD-PORT: no plugin that needs cgroups, no accounting
configure() {
    mkdir -p "$scratch/state" "$scratch/spool"
    # By default in /tmp, by the job's number, which other clusters have, too.
    echo "PMIxCliTmpDirBase=$scratch" > "$scratch/mpi.conf"
    # Newer ones want control groups even so, which a machine in a machine need not have.
    [ "$(slurmd -V | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -lt 23 ] || echo "CgroupPlugin=disabled" > "$scratch/cgroup.conf"
    cat > "$SLURM_CONF" << TEXT
ClusterName=ndmpi
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$scratch/munge
CredType=cred/munge
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
TEXT
}
# A port that no socket has; below the ephemeral ones.
free_port() {
    local port
    for _ in {1..100}; do
        port=$((10000 + RANDOM % 20000))
        grep -qE "$(printf ': [0-9A-F]+:%04X ' $port)" /proc/net/tcp /proc/net/tcp6 2> /dev/null || break
    done
    echo $port
}

idle() { scontrol show node node | grep 'State=IDLE ' > /dev/null; }
# Whether slurmctld and slurmd run on these ports. The log of the one that does not says why.
started() {
    configure "$1" "$2"
    daemon slurmctld slurmctld -D -f "$SLURM_CONF"
    daemon slurmd slurmd -D -N node -f "$SLURM_CONF"
    until idle > "$scratch/idle.log" 2>&1; do
        kill -0 "${daemons[@]}" 2> /dev/null && [ $SECONDS -lt $deadline ] || return 1
        pause 0.2
    done
    return 0
}

chmod 755 "$scratch" # munged wants to be reached by all
head -c 1024 /dev/urandom > "$scratch/key"
chmod 400 "$scratch/key"
daemon munged munged -F --key-file="$scratch/key" --socket="$scratch/munge" --pid-file="$scratch/munged.pid" \
    --seed-file="$scratch/seed" --log-file="$scratch/munged.own.log"
await 60 munge --socket="$scratch/munge" -n || fail "munged does not answer"

deadline=$((SECONDS + 120))
until started "$(free_port)" "$(free_port)"; do
    ! grep -qs 'Unable to initialize cgroup plugin' "$scratch/slurmd.log" ||
        missing "slurmd finds no control groups here"
    # Another program may have taken a port since.
    grep -qs 'Address already in use' "$scratch"/slurm*.log && [ $SECONDS -lt $deadline ] || fail "Slurm does not start"
    kill "${daemons[@]:1}" 2> /dev/null
    wait "${daemons[@]:1}"
    daemons=("${daemons[0]}")
done
srun --mpi=list 2>&1 | grep -w pmix > /dev/null || missing "srun has no PMIx"

# run STATUS REGEX SRUN-ARGUMENT...: 0, or another than 0
run() {
    local said status
    said=$(timeout -k 10 120 srun --mpi=pmix --quit-on-interrupt "${@:3}" 2>&1 9>&-)
    status=$?
    printf '== srun %s\n%s\n' "${*:3}" "$said"
    [ $((status != 0)) = "$1" ] || fail "status $status"
    grep -qE -- "$2" <<< "$said" || fail "srun does not say: $2"
}
run 0 "all bytes are right" -n 4 "$folder/ndring" -n 2 -m 16384
run 0 "all bytes are right" -n 1 "$folder/ndring" -n 2 -m 16384
NDMPI_VERSION=1 run 0 "4 ranks exchanged .* all are right" -n 4 "$folder/ndalltoall" -n 2 -m 8192
NDMPI_CHANNEL=shm run 0 "memory shared with 3 of 3 ranks" -n 4 "$folder/ndlatency" -n 2 -m 16384
run 1 "byte 8192 of a message of 16384 bytes from rank 0 is damaged" -n 3 "$folder/ndring" -n 2 -m 16384 -x
