#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: installer.sh PREFIX DISCOVERY.EXE SAMPLE...
# ndspi-wine, as installed in PREFIX, which the loader does not know, on a prefix of Wine's: a program finds the
# provider after `install`, also after the second one, and after Wine has updated the prefix; after `uninstall` the
# prefix is as before. The same with --system, in a folder that stands for Wine's own; for a user who may not write
# there, ndspi-wine says what to do. Status looks into files. The samples' Windows programs are installed, too.
set -euo pipefail
root=$1 installer=$1/bin/ndspi-wine discovery=$2
shift 2
unset LD_LIBRARY_PATH
# Makes the prefix, or skips this. Its name is one that a shell reads otherwise, unless it is quoted.
export WINEPREFIX="$WINE.installed, Jane's"
WINEDLLPATH='' "$(dirname "$0")/../support/wine.sh" "$WINEPREFIX"
export WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
unset WINEDLLPATH
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
server=$(command -v wineserver || echo /usr/lib/wine/wineserver)
exec 9> "$WINEPREFIX/installer.lock"
flock 9

fail() { echo "FAILED: $*"; exit 1; }
stop() { "$server" -k -w 2>/dev/null || true; }
# Wine's server and services, for all programs until stop: Debian's end with each program and start with the next.
# They hold the output of the program open that starts them.
start() { { "$server" -p60 && "$wine" cmd /c exit; } < /dev/null > /dev/null 2>&1 9>&- || true; }
trap stop EXIT
# What a prefix is, as far as an installation may touch it. The server writes the registry as it ends.
snapshot() {
    stop
    (cd "$WINEPREFIX/drive_c/windows/system32" && sha256sum ws2_32.dll && ls ndspi.dll ws2_nd.dll 2>/dev/null || true)
    ls "$WINEPREFIX/ndspi" 2>/dev/null || true
    grep -ihE 'ndspi|"ws2_32"' "$WINEPREFIX"/*.reg || true
    start
}

stop
start

"$installer" uninstall > /dev/null
before=$(snapshot)
"$installer" status && fail "status finds nothing missing before the installation"
"$installer" install
"$installer" status || fail "status after install"
"$installer" run "$discovery" || fail "the discovery after install"
"$installer" install > /dev/null
"$installer" status > /dev/null || fail "status after the second install"
# A library that the native side needs is not where it was: no program runs, and status says why.
library=$(find "$root" -name 'libwinobj.so.0')
mv "$library" "$library.away"
said=$("$installer" status) && fail "status finds nothing missing without a library"
grep "does not load for want of libwinobj.so.0" <<< "$said" || fail "without libwinobj.so.0 status says: $said"
grep "ndspi-wine install" <<< "$said" && fail "status recommends what does not help"
said=$("$installer" install 2>&1) && fail "install without a library"
grep "does not load for want of libwinobj.so.0: install ndspi again" <<< "$said" || fail "install says: $said"
"$installer" run "$discovery" > /dev/null && fail "the discovery without a library"
mv "$library.away" "$library"
"$installer" status > /dev/null || fail "status with the library"
# One of another build, in which a symbol is missing.
library=$(readlink -f "$(find "$root" -name 'libndspi.so.0')")
cp -p "$library" "$library.away"
LC_ALL=C sed -i 's/ndspi_nd_get_class_object/ndspi_nd_got_class_object/g' "$library"
said=$("$installer" status) && fail "status finds nothing missing without a symbol"
grep "for want of the symbol ndspi_nd_get_class_object" <<< "$said" || fail "without it status says: $said"
mv "$library.away" "$library"
# Files that are not what their names say.
for file in drive_c/windows/system32/ndspi.dll drive_c/windows/system32/ws2_nd.dll ndspi/x86_64-unix/ws2_nd.so; do
    cp -P "$WINEPREFIX/$file" "$WINEPREFIX/away"
    rm "$WINEPREFIX/$file"
    echo garbage > "$WINEPREFIX/$file"
    said=$("$installer" status) && fail "status finds nothing wrong with a garbage $file"
    grep "WRONG .*${file##*/}" <<< "$said" || fail "with a garbage $file status says: $said"
    grep "ndspi-wine install puts right" <<< "$said" || fail "status does not say what helps"
    "$installer" install > /dev/null
    "$installer" status > /dev/null || fail "install does not put $file right"
    rm "$WINEPREFIX/away"
done
# Programs that are installed; one that is not there.
for sample; do
    [ -x "$(find "$root" -path "*/ndspi/windows/$sample.exe")" ] || fail "$sample.exe is not installed"
done
"$installer" run "$(find "$root" -name ndadapterinfo.exe)" || fail "ndadapterinfo.exe as installed"
said=$("$installer" run nowhere.exe 2>&1) && fail "a program that is not there ran"
echo "of a program that is not there: $said"
# What Wine itself says when it refuses.
said=$(WINEARCH=win32 "$installer" status 2>&1) && fail "status for a Wine of 32 bits"
grep -E "says: wine: .*(64-bit installation|not supported in wow64 mode)" <<< "$said" ||
    fail "where Wine refuses it says: $said"
"$installer" run wineboot -u
"$installer" status > /dev/null || fail "status after Wine updated the prefix"
"$installer" run "$discovery" > /dev/null || fail "the discovery after Wine updated the prefix"
own=$(readlink "$WINEPREFIX/ndspi/x86_64-windows/ws2_nd.dll")
own=${own%/*/*}
"$installer" uninstall
after=$(snapshot)
[ "$before" = "$after" ] || fail "uninstall left something: $(diff <(echo "$before") <(echo "$after"))"
"$installer" uninstall > /dev/null || fail "uninstall where nothing is installed"

# Wine's own folder, for the installer: Wine itself is led there by WINEDLLPATH.
played=$(mktemp -d)
trap 'stop; chmod -R u+w "$played"; rm -rf "$played"' EXIT
mkdir "$played/x86_64-windows" "$played/x86_64-unix"
ln -s "$own/x86_64-windows/ws2_32.dll" "$played/x86_64-windows"
ln -s "$own/x86_64-unix/ws2_32.so" "$played/x86_64-unix"
export NDSPI_WINE_DLLS=$played
empty=$(ls -R "$played")
"$installer" install --system
"$installer" status | grep "links in Wine's own folder" || fail "status does not see the links"
WINEDLLPATH=$played "$wine" "$discovery" || fail "the discovery by links in Wine's folder"
"$installer" uninstall --prefix "$WINEPREFIX" --system # in any order
[ "$empty" = "$(ls -R "$played")" ] || fail "uninstall --system left something in Wine's folder"
[ "$before" = "$(snapshot)" ] || fail "uninstall --system left something in the prefix"

nobody=()
[ "$(id -u)" != 0 ] || nobody=(setpriv --bounding-set=-all --inh-caps=-all)
chmod a-w "$played"/* "$played"
said=$("${nobody[@]}" "$installer" install --system 2>&1) && fail "it writes where it must not"
grep "cannot be written: .*WINEDLLPATH" <<< "$said" || fail "without the right to write it says: $said"
said=$("${nobody[@]}" "$installer" install --prefix "$played/prefix" 2>&1) && fail "it makes a prefix where it must not"
grep "the prefix .* cannot be written" <<< "$said" || fail "without a prefix it may write it says: $said"
[ "$before" = "$(snapshot)" ] || fail "a refused installation changed the prefix"
# Another user's prefix is not touched: Wine takes one's own only.
if [ "$(id -u)" = 0 ]; then
    theirs=$WINEPREFIX/theirs
    mkdir -p "$theirs/ndspi" "$theirs/drive_c/windows/system32"
    touch "$theirs/drive_c/windows/system32/ndspi.dll"
    chown nobody "$theirs"
    for command in install status env stop uninstall; do
        said=$("$installer" $command --prefix "$theirs" 2>&1) && fail "$command in another user's prefix"
        grep "belongs to nobody: Wine takes one's own only" <<< "$said" || fail "in another's prefix it says: $said"
    done
    [ -e "$theirs/drive_c/windows/system32/ndspi.dll" ] || fail "a refused uninstall removed files"
    rm -r "$theirs"
fi
said=$("$installer" install | sed -n 's/^ *\(export WINEDLLPATH=.*\)    or .*/\1/p')
[ -n "$said" ] || fail "it does not say what to do without links"
[ "$(eval "$said"; echo "$WINEDLLPATH")" = "$WINEPREFIX/ndspi" ] || fail "a shell does not understand: $said"
"$installer" uninstall > /dev/null
