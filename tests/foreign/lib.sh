# SPDX-License-Identifier: MIT
# For the scripts here; sourced. Scratch folder, free ports, waiting for a listener.

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndspi-foreign.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

mkfifo "$scratch/silence"
exec 9<> "$scratch/silence"
# Waits between two looks at a state whose change raises no event.
pause() { read -r -t 0.05 -u 9 || true; }

# Says so and ends.
fail() {
    printf '%s\n' "$*" >&2
    for log in "$scratch"/*.log; do
        [ -s "$log" ] && { echo "--- ${log##*/}"; tail -n 40 "$log"; } >&2
    done
    exit 1
}

# Whether a TCP socket on the port listens (state 0A).
listens() {
    grep -qE "$(printf ': [0-9A-F]+:%04X [0-9A-F]+:0000 0A ' "$1")" /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# A port that no socket has; below the ephemeral ones.
free_port() {
    local port
    for _ in {1..100}; do
        port=$((10000 + RANDOM % 20000))
        grep -qE "$(printf ': [0-9A-F]+:%04X ' "$port")" /proc/net/tcp /proc/net/tcp6 2>/dev/null && continue
        echo "$port"
        return
    done
    return 1
}

# await_listener PORT PID NAME: until a program listens; fails when the process ends before, or after a minute.
await_listener() {
    local deadline=$((SECONDS + 60))
    until listens "$1"; do
        kill -0 "$2" 2>/dev/null || fail "$3 ended before it listened"
        [ $SECONDS -lt $deadline ] || fail "$3 does not listen on port $1"
        pause
    done
}

# flawed STATUS NAME: whether the program that ended with that status, and wrote NAME.log, did so by the flaw it is
# known for: FLAW="STATUS REGEX", a line of the log.
flawed() {
    [ -n "${FLAW:-}" ] && [ "$1" = "${FLAW%% *}" ] && grep -qE -- "${FLAW#* }" "$scratch/$2.log"
}
