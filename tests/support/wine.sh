#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a Windows test program under Wine. Without Wine the test is skipped, or fails where NDSPI_REQUIRE_WINE is set
# (CI).
# usage: wine.sh PREFIX [PROGRAM [ARGUMENT...]]
# Without a program the prefix is made, no more.
# With WINEDLLPATH set, the builtin libraries there can be loaded by name.
set -u
prefix=$1
shift
if [ -n "${NDSPI_WINE:-}" ] && ! [ -x "$NDSPI_WINE" ]; then
    echo "NDSPI_WINE names no program: $NDSPI_WINE"
    exit 1
fi
for wine in "${NDSPI_WINE:-}" "$(command -v wine64)" /usr/lib/wine/wine64 "$(command -v wine)"; do
    [ -n "$wine" ] && [ -x "$wine" ] && break
    wine=
done
if [ -z "$wine" ]; then
    echo "no Wine here (Debian: wine64); the Windows build of this test was not run"
    [ -n "${NDSPI_REQUIRE_WINE:-}" ] && exit 1
    exit 77
fi
export NDSPI_TEST_PID=$$ # of the program, natively
export WINEPREFIX=$prefix WINEDEBUG=-all WINEARCH=win64 WINEDLLOVERRIDES='mscoree,mshtml=' DISPLAY=
mkdir -p "$prefix"
for server in "${WINESERVER:-}" "${wine%/*}/wineserver64" "${wine%/*}/wineserver" "$(command -v wineserver)"; do
    [ -x "$server" ] && break
done
# One process makes the prefix; the others wait for it.
(
    flock 9
    [ -e "$prefix/ready" ] || { timeout 300 "$wine" wineboot -i >"$prefix/boot.log" 2>&1 9>&- \
        && touch "$prefix/ready"; }
    # Wine loads the original, but only of what it finds here.
    for dll in "${WINEDLLPATH:-}"/x86_64-windows/*.dll; do
        copy=$prefix/drive_c/windows/system32/${dll##*/}
        [ ! -e "$dll" ] || [ -e "$copy" ] || { cp "$dll" "$copy.new" && mv "$copy.new" "$copy"; }
    done
    # The server and Wine's services stay for the next test: to start them takes longer than most tests. They outlive
    # the program that starts them, and would hold its output open: so the first program is one that says nothing.
    [ $# = 0 ] || { "$server" -p30 && "$wine" cmd /c exit; } < /dev/null > "$prefix/server.log" 2>&1 9>&-
) 9>"$prefix/lock"
[ -e "$prefix/ready" ] || { cat "$prefix/boot.log"; echo "Wine's prefix $prefix could not be made"; exit 1; }
[ $# = 0 ] && exit
exec "$wine" "$@"
