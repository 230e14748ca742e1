#!/bin/bash
# SPDX-License-Identifier: MIT
# libndk exports what its map names, no less and no more, and each name is declared in a public header.
# usage: exports.sh LIBRARY MAP HEADERS...
set -euo pipefail
export LC_ALL=C
in_map() { sed -nE 's/^    ([A-Za-z0-9_]+);$/\1/p' "$1" | sort; }
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort; }
[ "$(in_map "$2" | wc -l)" -gt 20 ] || { echo "$2: only few names are found, the form is another"; exit 1; }
diff --label "$2" --label "$1" <(in_map "$2") <(exported "$1")
bad=0
for name in $(in_map "$2"); do
    grep -rqE "\b$name(\(|;)|WINCOMPAT_WIDE\(\"${name%16}\"\)" "${@:3}" || { echo "no header declares $name"; bad=1; }
done
exit $bad
