#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: installer.sh NDSPI-WINE DISCOVERY.EXE
# ndspi-wine on a prefix: a program finds the provider after `install`, also after the second one, and after Wine has
# updated the prefix; after `uninstall` the prefix is as before.
set -euo pipefail
installer=$1 discovery=$2
# Makes the prefix, or skips this.
WINEDLLPATH='' "$(dirname "$0")/../support/wine.sh" "$WINE.installed"
export WINEPREFIX=$WINE.installed WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
unset WINEDLLPATH
server=$(command -v wineserver || echo /usr/lib/wine/wineserver)
exec 9> "$WINEPREFIX/installer.lock"
flock 9

fail() { echo "FAILED: $*"; exit 1; }
stop() { "$server" -k -w 2>/dev/null || true; }
trap stop EXIT
# What a prefix is, as far as an installation may touch it.
snapshot() {
    "$server" -w
    (cd "$WINEPREFIX/drive_c/windows/system32" && sha256sum ws2_32.dll && ls ndspi.dll ws2_nd.dll 2>/dev/null || true)
    ls "$WINEPREFIX/ndspi" 2>/dev/null || true
    grep -ihE 'ndspi|"ws2_32"' "$WINEPREFIX"/*.reg || true
}

"$installer" uninstall > /dev/null
before=$(snapshot)
"$installer" status && fail "status finds nothing missing before the installation"
"$installer" install
"$installer" status || fail "status after install"
"$installer" run "$discovery" || fail "the discovery after install"
"$installer" install > /dev/null
"$installer" status > /dev/null || fail "status after the second install"
"$installer" run wineboot -u
"$installer" status > /dev/null || fail "status after Wine updated the prefix"
"$installer" run "$discovery" > /dev/null || fail "the discovery after Wine updated the prefix"
"$installer" uninstall
after=$(snapshot)
[ "$before" = "$after" ] || fail "uninstall left something: $(diff <(echo "$before") <(echo "$after"))"
"$installer" uninstall > /dev/null || fail "uninstall where nothing is installed"
