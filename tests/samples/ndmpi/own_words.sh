#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: own_words.sh LAUNCHER [ARGUMENT...] -- PROGRAM [ARGUMENT...]
# The launcher starts the program; then this prints what the ranks wrote to standard error, which they do by a file:
# now and then mpiexec.hydra loses the words of ranks that end at once. It ends with 1 if the launcher fails, whose
# status may be that of a rank which it has killed.
set -uo pipefail
launcher=()
while [ "$1" != -- ]; do launcher+=("$1"); shift; done
shift
said=$(mktemp)
trap 'rm -f "$said"' EXIT
"${launcher[@]}" sh -c 'exec "$@" 2>> "$0"' "$said" "$@"
status=$?
cat "$said"
[ "$status" = 0 ] || exit 1
