#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: pair.sh PROGRAM TEST [SERVER-ARGUMENT...] -- [CLIENT-ARGUMENT...]
# Runs ndperf as server on ADDRESS (127.0.0.1; "any": without --bind), on a port that it chooses, then as its client.
# Both have to end with STATUS (0).
#   NAME                      what the client is given in the place of the address that the server prints
#   LINE                      which of the addresses that it prints the client is given (1)
#   SERVER_SAYS, CLIENT_SAYS  extended regular expressions that their outputs have to match somewhere; PEER in them
#                             stands for the address of the other end, with any port
#   CHECK                     a shell command that has to succeed, with the client's output as standard input
#   FIRST                     a program that is run before the client, with the server's address as its last argument;
#                             it has to fail
#   KILL=server|client        that one is killed when the client measures; the other one has to end with STATUS
#   STOP=server|client|terminal  the same by SIGTERM, or by Ctrl-C on the client's terminal
#   STOP_AT                   what the client says first (a regular expression; the names of the columns)
#   DURING                    a program that is run when the client measures, with the server's address as its last
#                             argument; it has to fail, and its output to match DURING_SAYS
#   CLIENT_OUTPUT             a file that the client's standard output goes to; "apart": it goes to CHECK alone; or
#                             "closed": it has neither that nor standard input
#   SERVER_PRELOAD, CLIENT_PRELOAD  LD_PRELOAD of one of them
#   SERVER_UNDER, CLIENT_UNDER      words in front of one of them
#   SERVER, CLIENT            other programs; WINE=DIRECTORY runs Windows programs under Wine, with that prefix
set -euo pipefail
program=$1 test=$2
shift 2
address=${ADDRESS:-127.0.0.1}
server_arguments=()
while [ "$1" != -- ]; do
    server_arguments+=("$1")
    shift
done
shift

# command_of PROGRAM: into "command"
command_of() {
    command=("$1")
    if [[ $1 == *.exe ]]; then
        command=("$(dirname "$0")/../support/wine.sh" "$WINE")
        "${command[@]}" || exit $? # 77: no Wine
        command+=("$1")
    fi
}
command_of "${SERVER:-$program}"
server_command=("${command[@]}")
command_of "${CLIENT:-$program}"
client_command=("${command[@]}")
# shellcheck disable=SC2206
server_command=(${SERVER_UNDER:-} ${SERVER_PRELOAD:+env "LD_PRELOAD=$SERVER_PRELOAD"} "${server_command[@]}")
# shellcheck disable=SC2206
client_command=(${CLIENT_UNDER:-} ${CLIENT_PRELOAD:+env "LD_PRELOAD=$CLIENT_PRELOAD"} "${client_command[@]}")
output=${CLIENT_OUTPUT:-} input=/dev/null
if [ "$output" = closed ]; then
    # shellcheck disable=SC2016
    client_command=(sh -c 'exec "$@" <&- >&-' sh "${client_command[@]}")
    output=
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndspi-ndperf.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

fail() {
    printf '%s\n' "$*"
    tail -n 40 "$scratch"/*.log
    exit 1
}
# await FILE REGEX PID: until the file has such a line, or a terminal would show one
await() {
    grep -qE -m 1 -- "$2" < <(tail -n +1 -f "$1" --pid="$3" 2> /dev/null | stdbuf -oL tr '\r' '\n') ||
        fail "${1##*/} does not say: $2"
}

: > "$scratch/server.log"
: > "$scratch/client.log"
[ "$output" != apart ] || output=$scratch/client.out
output=${output:-$scratch/client.log}
: >> "$output"
if [ "${STOP:-}" = terminal ]; then
    input=$scratch/keys
    mkfifo "$input"
    exec 4<> "$input"
fi
bind=(--bind "$address")
[ "$address" != any ] || bind=()
"${server_command[@]}" "$test" "${bind[@]}" -p 0 "${server_arguments[@]}" \
    > "$scratch/server.log" 2>&1 &
server=$!
await "$scratch/server.log" 'listening on ' $server
[ "${LINE:-1}" = 1 ] || await "$scratch/server.log" 'listening on \[' $server
line=$(grep 'listening on ' "$scratch/server.log" | sed -n "${LINE:-1}{s/\r//;p}")
[ -z "${NAME:-}" ] || line=$NAME:${line##*:}
if [ -n "${FIRST:-}" ]; then
    # shellcheck disable=SC2086
    ! timeout 60 $FIRST "${line##* }" > "$scratch/first.log" 2>&1 || fail "$FIRST succeeded"
fi
# Both append, so that neither overwrites the other's lines.
"${client_command[@]}" "${CLIENT_TEST:-$test}" "$@" "${line##* }" < "$input" >> "$output" 2>> "$scratch/client.log" &
client=$!
[ -z "${STOP:-}" ] || await "$output" "${STOP_AT:-^ *#bytes}" $client
if [ -n "${DURING:-}" ]; then
    # shellcheck disable=SC2086
    ! timeout 60 $DURING "${line##* }" > "$scratch/during.log" 2>&1 || fail "$DURING succeeded"
fi
case ${STOP:-} in
terminal) printf '\003' >&4 ;;
?*) kill -TERM "${!STOP}" ;;
esac
if [ -n "${KILL:-}" ]; then
    await "$scratch/client.log" '^ *#bytes' $client
    kill -KILL "${!KILL}"
fi
status=0
wait $client || status=$?
[ "$status" = "${STATUS:-0}" ] || [ "${KILL:-}" = client ] || fail "client: status $status"
status=0
wait $server || status=$?
[ "$status" = "${STATUS:-0}" ] || [ "${KILL:-}" = server ] || fail "server: status $status"

says() {
    local pattern=${2//PEER/${address//./\\.}:[0-9]+}
    # All is read: grep -q would end before tr has written, now and then, which pipefail takes for a failure.
    [ -z "$pattern" ] || tr -d '\r' < "$scratch/$1.log" | grep -E -- "$pattern" > /dev/null ||
        fail "the $1 does not say: $pattern"
}
says client "${CLIENT_SAYS:-}"
says server "${SERVER_SAYS:-}"
says during "${DURING_SAYS:-}"
checked=$scratch/client.log
[ ! -e "$scratch/client.out" ] || checked=$scratch/client.out
[ -z "${CHECK:-}" ] || sh -c "$CHECK" < "$checked" || fail "CHECK failed: $CHECK"
cat "$scratch/client.log"
