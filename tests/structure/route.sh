#!/bin/bash
# SPDX-License-Identifier: MIT
# A new user's way: README.md -> man ndspi -> ndinfo -> ndperf -> ndstat -> man ndspi. Each page's SEE ALSO and the last
# line of each -h name the next; README.md and ndspi(7) have all of it, in order.
# usage: route.sh ROOT NDINFO NDPERF NDSTAT
set -euo pipefail
cd "$1"
bad=0
wrong() { echo "$*"; bad=1; }

# in_order FILE NAME TEXT...: each text begins a line of standard input, after the one before
in_order() {
    local name=$1 line
    shift
    while IFS= read -r line; do
        [ $# = 0 ] || [[ $line != "$1"* ]] || shift
    done
    [ $# = 0 ] || wrong "$name: no line begins with \"$1\" in its place"
}
in_order README.md "man ndspi" "ndinfo" "ndperf send_lat" "ndstat" < <(sed -n '/^man ndspi/,/^```/p' README.md)
in_order "ndspi(7), First steps" ".Xr ndinfo 1" ".Xr ndperf 1" ".Xr ndstat 1" \
    < <(sed -n '/^.Ss First steps/,/^.Ss Building/p' docs/man/ndspi.7)

# leads PAGE NEXT [PROGRAM]
leads() {
    sed -n '/^.Sh SEE ALSO/,$p' "$1" |
        grep -E "^\.Xr ${2% *} ${2#* }( ,)?\$" > /dev/null || wrong "$1: SEE ALSO lacks $2"
    [ $# = 2 ] || "$3" -h | tail -n 1 | grep -E "^Next: .*\(man ${2% *}\)\.\$" > /dev/null ||
        wrong "${3##*/} -h: its last line does not lead to man ${2% *}"
}
leads docs/man/ndspi.7 "ndinfo 1"
leads tools/info/ndinfo.1 "ndperf 1" "$2"
leads tools/perf/ndperf.1 "ndstat 1" "$3"
leads tools/stat/ndstat.1 "ndspi 7" "$4"
exit $bad
