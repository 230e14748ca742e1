#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: pair.sh PROGRAM ADDRESS [ARGUMENT...]
# Runs a sample as server on ADDRESS (a port is chosen), then as client with the arguments (-b goes to both). Both have
# to end with status 0. With INPUT=FILE that is the client's input, and the server's output has to equal it. SERVER and
# CLIENT replace the two commands, NAME the address that the client is given, not its port; WINE=DIRECTORY runs Windows
# programs among them under Wine, with that prefix.
set -euo pipefail
program=$1 address=$2
shift 2

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
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/messages"
both=()
for argument; do
    case $argument in -b|-p) both+=("$argument") ;; esac
done

timeout 300 "${server_command[@]}" -s "$address:0" "${both[@]}" > "$scratch/output" 2> "$scratch/messages" &
server=$!
exec 3< "$scratch/messages"
until [[ ${line:-} == *"listening on "* ]]; do
    IFS=$'\r' read -r -t 300 line <&3 || { echo "the server ended before it listened: ${line:-}"; exit 1; }
done
cat <&3 >&2 &

[ -z "${NAME:-}" ] || line=$NAME:${line##*:}
status=0
timeout 300 "${client_command[@]}" -c "${line##* }" "$@" < "${INPUT:-/dev/null}" \
    || { status=$?; echo "client: status $status"; }
wait "$server" || { status=$?; echo "server: status $status"; }
if [ -n "${INPUT:-}" ]; then
    cmp "$INPUT" "$scratch/output" || status=1
fi
exit "$status"
