#!/bin/bash
# SPDX-License-Identifier: MIT
# The probes of the libraries as built: each that docs/tracing.md lists is in the libraries' notes, with as many
# arguments, and the notes have no other; bpftrace, where it is installed, lists the same.
# usage: probes.sh SOURCE LIBNDSPI LIBNDK LIBSOFTRDMA
set -euo pipefail
export LC_ALL=C
source=$1 ndspi=$2 ndk=$3 soft=$4 bad=0
wrong() { echo "$*"; bad=1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME COUNT of each kind of probe; readelf prints Provider, Name and Arguments on lines of their own.
notes()
{
    readelf -n "$1" | awk '$1 == "Provider:" { provider = $2 } $1 == "Name:" { name = $2 }
        $1 == "Arguments:" { if (provider == "ndspi") print name, NF - 1 }' | sort -u
}

# NAME COUNT of the table: arguments are separated by commas, but not within parentheses.
listed()
{
    sed -n 's/^| `\([a-z]*\)` |[^|]*| \(.*\) |$/\1 \2/p' "$source/docs/tracing.md" |
        sed 's/([^)]*)//g' |
        awk '{ name = $1; $1 = ""; n = split($0, parts, ","); count = 0
               for (i = 1; i <= n; i++) if (parts[i] ~ /[a-z]/) count++
               print name, count }' | sort
}

listed > "$work/listed"
[ "$(wc -l < "$work/listed")" -eq 8 ] || wrong "docs/tracing.md lists $(wc -l < "$work/listed") probes"
grep -v '^path ' "$work/listed" > "$work/core"
grep '^path ' "$work/listed" > "$work/path"
for library in "$ndspi" "$ndk"; do
    notes "$library" > "$work/notes"
    diff "$work/core" "$work/notes" || wrong "$library: left docs/tracing.md, right its notes"
done
notes "$soft" > "$work/notes"
diff "$work/path" "$work/notes" || wrong "$soft: left docs/tracing.md, right its notes"
while read -r name _; do
    grep -q "^bpftrace -e .*:ndspi:$name " "$source/docs/tracing.md" || wrong "docs/tracing.md has no example of $name"
done < "$work/listed"
if command -v bpftrace > /dev/null; then
    while read -r name _; do
        bpftrace -l "usdt:$ndspi:*" | grep -q ":ndspi:$name\$" || wrong "bpftrace does not find $name"
    done < "$work/core"
else
    echo "bpftrace is not installed: what it lists was not looked at"
fi
exit "$bad"
