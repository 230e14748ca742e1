#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ndmpi.sh windows|mixed FOLDER VERSION WORDS PROGRAM [ARGUMENT...]
# A run of a program of samples/ndmpi, with ranks that are all Windows programs as ndmpirun is, or with native ones
# among them and the native ndmpirun (ranks.sh). It has to say the words. WINE names the prefix, CHANNEL what ndmpirun
# takes as -c.
set -eu
ranks=$1 folder=$2 version=$3 words=$4 program=$5
shift 5
here=$(dirname "$0")
wine=("$here/../support/wine.sh" "$WINE")
"${wine[@]}" || exit $? # 77: no Wine
case $ranks in
windows) run=("${wine[@]}" "$folder/windows/ndmpirun.exe" -c "${CHANNEL:-nd}" -v "$version" -n 2 "$program") ;;
mixed) run=("$folder/ndmpirun" -c "${CHANNEL:-nd}" -v "$version" -n 3 "$here/ranks.sh" "$folder" "$program") ;;
esac
exec "$here/../samples/says.sh" 0 "$words" "${run[@]}" "$@"
