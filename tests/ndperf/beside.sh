#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: beside.sh NDPERF SOFTRDMA-RUN BENCH
# What ndperf measures agrees with what perftest and ndspi-bench measure on the same device. The machine may do other
# work: medians may differ by a factor of 3 either way, bandwidths, which any lost time slice lowers, of 5, mean
# latencies, which one spoils, of 30.
# Prints the ratios of the best of the turns so far, until one is right, after five turns at most; with
# NDSPI_TEST_LONG=1 that after five. On a machine so busy that ndspi-bench gives up, or finds TCP slow: status 77, if
# the rest is right.
set -euo pipefail
ndperf=$1 run=$2 bench=$3
here=$(dirname "$0")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ndspi-beside.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
status=0
QUIET=100 # us of TCP, at most

# Each prints one number: microseconds one way, or MiB/s.
ndperf_lat() { "$here/pair.sh" "$ndperf" send_lat -- -n 1000 -s 8 -e | awk '$1 == 8 { print $4 }'; }
ndperf_mean() { "$here/pair.sh" "$ndperf" send_lat -- -n 3000 -s 8 -e | awk '$1 == 8 { print $8 }'; }
ndperf_bw() { "$here/pair.sh" "$ndperf" write_bw -- -n 1000 | awk '$1 == 65536 { print $3 }'; }
perftest_lat() {
    "$here/../foreign/pair.sh" "$run" ib_send_lat -R -e -p PORT -n 1000 -s 8 \
        -- ib_send_lat -R -e -p PORT -n 1000 -s 8 127.0.0.1 | awk '$1 == 8 { print $5 }'
}
perftest_bw() {
    "$here/../foreign/pair.sh" "$run" ib_write_bw -R -p PORT -n 1000 \
        -- ib_write_bw -R -p PORT -n 1000 127.0.0.1 | awk '$1 == 65536 { print $4 }'
}
bench_lat() {
    if ! "$bench" -q -r 1 "$scratch" event_8B > "$scratch/said" 2>&1; then
        cat "$scratch/said" >&2
        grep -q 'took too long' "$scratch/said" || return 1
        return 77
    fi
    tcp=$(sed -n 's/.*"tcp\.event_8B\.us": *\([0-9.]*\).*/\1/p' "$scratch/results.json")
    if awk -v tcp="$tcp" -v most=$QUIET 'BEGIN { exit !(tcp > most) }'; then
        echo "TCP needs $tcp us one way: this machine is too busy to compare means" >&2
        return 77
    fi
    sed -n 's/.*"soft\.v2\.event_8B\.us": *\([0-9.]*\).*/\1/p' "$scratch/results.json"
}
bench_said() { cat "$scratch/bench"; }

# compare NAME MEASUREMENT OTHER least|most FACTOR: which of a measurement's turns is its best, and how far off
# it may be
compare() {
    local turn own other owns=() others=() order=-g
    [ "$4" = least ] || order=-rg
    for turn in 1 2 3 4 5; do
        own=$("$2") && other=$("$3") || { echo "$1: $2 or $3 failed"; status=1; return; }
        owns+=("$own")
        others+=("$other")
        own=$(printf '%s\n' "${owns[@]}" | sort "$order" | sed -n 1p)
        other=$(printf '%s\n' "${others[@]}" | sort "$order" | sed -n 1p)
        [ "${NDSPI_TEST_LONG:-}" != 1 ] || [ "$turn" = 5 ] || continue
        awk -v name="$1" -v factor="$5" -v own="$own" -v other="$other" 'BEGIN {
            if (!(own > 0 && other > 0)) { print name ": no figures: \"" own "\" and \"" other "\""; exit 1 }
            printf "%s: %s and %s, ratio %.2f\n", name, own, other, own / other
            exit own / other < 1 / factor || own / other > factor
        }' && return
    done
    status=1
}

compare "send_lat 8 bytes by events, beside ib_send_lat (us)" ndperf_lat perftest_lat least 3
compare "write_bw 65536 bytes, beside ib_write_bw (MiB/s)" ndperf_bw perftest_bw most 5
if [ -x "$bench" ]; then
    bench_lat > "$scratch/bench" || status_of_bench=$?
    case ${status_of_bench:-0} in
    0) compare "send_lat 8 bytes by events, beside ndspi-bench (us, mean)" ndperf_mean bench_said least 30 ;;
    77) [ $status != 0 ] || status=77 ;;
    *) status=1 ;;
    esac
fi
exit $status
