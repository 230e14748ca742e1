#!/bin/bash
# SPDX-License-Identifier: MIT
# ndk_host runs a driver, of either width of text, and says what is wrong with one.
# usage: host.sh NDK_HOST DRIVER DRIVER-OF-16-BITS
set -uo pipefail
host=$1 bad=0
# runs STATUS ARGUMENT...: said has what it says
runs() {
    local wanted=$1 status
    shift
    said=$(timeout 60 "$host" "$@" 2>&1 < /dev/null)
    status=$?
    [ $status = "$wanted" ] || { echo "ndk_host $*: status $status, not $wanted: $said"; bad=1; }
}
says() {
    local line
    for line; do
        grep -qF -- "$line" <<< "$said" || { echo "not said: $line; but: $said"; bad=1; }
    done
}
for driver in "$2" "$3"; do
    name=$(basename "$driver" .so)
    path="\\Registry\\Machine\\System\\CurrentControlSet\\Services\\$name"
    runs 0 -p Number=0x10 -p TEXT=192.0.2.1 "$driver"
    says "path $path, ${#path} characters" "number 16, text 192.0.2.1, other 7" "ndk_host: $driver runs" \
        "unloads \\Driver\\$name at IRQL 0"
    runs 0 -p Number=1 -p Number=2 -p Other=3 -p Keep=1 "$driver"
    says "number 2, text none, other 3" "ndk_host: DriverUnload left the device"
    runs 0 -p Number=1 -p Stay=1 -t 60 "$driver"
    says "sets no DriverUnload"
    runs 1 -p Number=1 -p Fail=0xC0000001 "$driver"
    says "DriverEntry of $driver failed with status 0xc0000001"
    runs 1 "$driver" # STATUS_OBJECT_NAME_NOT_FOUND
    says "failed with status 0xc0000034"
    runs 1 -p Number=1 -p Keep=yes "$driver" # STATUS_OBJECT_TYPE_MISMATCH
    says "failed with status 0xc0000024"
done
runs 0 -h
says "usage: ndk_host"
runs 2
says "usage: ndk_host"
runs 2 -x
says 'no such option: "-x"'
runs 2 a.so b.so
says 'one driver, not also "b.so"'
runs 2 -p Name "$2"
says "-p wants NAME=VALUE"
runs 2 -p
for time in 0 -1 1x "" 99999999999; do
    runs 2 -t "$time" "$2"
    says "-t wants a number of seconds"
done
runs 1 /nowhere/driver.so
says "/nowhere/driver.so: No such file or directory"
runs 1 "$0"
says "cannot load the driver: "
exit $bad
