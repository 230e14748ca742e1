#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ndmpirun -n RANKS ranks.sh FOLDER PROGRAM [ARGUMENT...]
# A rank of a run that is native where its number is even (FOLDER/PROGRAM), and a Windows one
# (FOLDER/windows/PROGRAM.exe) where it is odd. WINE names the prefix.
set -eu
folder=$1 program=$2
shift 2
[ $((NDMPI_RANK % 2)) = 1 ] || exec "$folder/$program" "$@"
exec "$(dirname "$0")/../support/wine.sh" "$WINE" "$folder/windows/$program.exe" "$@"
