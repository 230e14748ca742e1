#!/bin/bash
# SPDX-License-Identifier: MIT
# No object file of a library uses a name that only a library defines which is not below it. `folders` orders the
# folders; this has the libraries, whatever its rows allow.
# usage: below.sh BUILD LIBRARY OBJECT... [-- LIBRARY OBJECT...]...; BUILD: CMake's folder of the objects
set -euo pipefail
declare -A below=(
    [util]=''
    [compat]=''
    [reactor]='util'
    [softrdma]='util reactor'
    [winobj]='util reactor'
    [core]='util reactor softrdma winobj'
    [ndspi]='util reactor softrdma winobj core'
    [ndk]='util compat reactor softrdma winobj core'
    [win32]='util compat reactor winobj'
)
build=$1
shift
list=$(mktemp)
trap 'rm -f "$list"' EXIT
library=
for one; do
    if [ "$one" = -- ]; then
        library=
    elif [ -z "$library" ]; then
        library=$one
        [ -v "below[$library]" ] || { echo "$library: not in the table of this script"; exit 1; }
    else
        [[ $one != *' '* ]] || { echo "$one: a blank in a name"; exit 1; }
        echo "object $one $library"
        objects+=("$one")
    fi
done > "$list"
for library in "${!below[@]}"; do echo "library $library ${below[$library]}"; done >> "$list"
nm -AP "${objects[@]}" | awk -v build="$build/" '
    $1 == "library" { for (i = 2; i <= NF; i++) may[$2, $i] = 1; next }
    $1 == "object" { of[$2 ":"] = $3; next }
    $3 == "U" { user[++uses] = $1; used[uses] = $2; next }
    $3 ~ /[A-Z]/ { homes[$2] = homes[$2] " " of[$1]; defines[of[$1]] = 1 }
    END {
        for (i = 1; i <= uses; i++) {
            n = split(homes[used[i]], home, " ")
            for (k = 1; k <= n && !((of[user[i]], home[k]) in may); k++)
                ;
            if (k <= n || !n)
                continue
            sub(build, "", user[i])
            print user[i], of[build user[i]], "uses", used[i], "of" homes[used[i]]
            bad = 1
        }
        for (pair in may) {
            split(pair, both, SUBSEP)
            if (!(both[1] in defines)) {
                print both[1] ": defines no names"
                bad = 1
            }
        }
        exit bad
    }' "$list" -
