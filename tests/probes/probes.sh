#!/bin/bash
# SPDX-License-Identifier: MIT
# The probes of the libraries as built: each that docs/tracing.md lists is in the libraries' notes, with as many
# arguments, and the notes have no other; its lines for bpftrace name probes of the right library and no argument that
# these have not; bpftrace, where it is installed, lists the same.
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

# LIBRARY PROBE ARGUMENT of each use in the lines for bpftrace, LIBRARY as the page's variable; ARGUMENT -: none. What
# stands between a probe and the next, or the end of the line's quotes, is the probe's.
used()
{
    { sed -n '/^bpftrace -e/,/"$/p' "$1" | tr '\n' ' '; echo; } |
        sed 's/bpftrace -e/\n/g; s/usdt:/\nusdt:/g; s/interval:/\n&/g' |
        sed -n 's/^usdt:\$\([A-Z]*\):ndspi:\([a-z_]*\) /\1 \2 /p' | while read -r library name text; do
            grep -oE '\barg[0-9]+\b' <<< "$text" | sed "s/^arg/$library $name /" || echo "$library $name -"
        done
}

# check_lines PAGE
check_lines()
{
    local library name argument file count uses=0
    while read -r library name argument; do
        uses=$((uses + 1))
        file=$(sed -nE "s/.*\`$library=[^\`]*\/([a-z]*)\.so\.[0-9]+\`.*/\1/p" "$1")
        case $file in
        libndspi) notes "$ndspi" > "$work/notes" ;;
        libsoftrdma) notes "$soft" > "$work/notes" ;;
        *) echo "$name: the page does not say which library \$$library is" && continue ;;
        esac
        count=$(sed -n "s/^$name //p" "$work/notes" | sort -n | sed -n 1p)
        [ -n "$count" ] || { echo "$name: $file has no such probe"; continue; }
        [ "$argument" = - ] || [ "$argument" -lt "$count" ] ||
            echo "$name: has arg0 to arg$((count - 1)), no arg$argument"
    done < <(used "$1")
    [ "$uses" -ge 12 ] || echo "only $uses uses of probes are found: the form of the lines is another"
}

said=$(check_lines "$source/docs/tracing.md")
[ -z "$said" ] || wrong "docs/tracing.md: $said"
# Its own test: a page with these faults is told.
sed 's/:post { @octets\[arg2\]/:post { @octets[arg4]/; s/:notify {/:notified {/; s/\$S:ndspi:path/$L:ndspi:path/
    s/\$L:ndspi:error/$M:ndspi:error/' "$source/docs/tracing.md" > "$work/page.md"
said=$(check_lines "$work/page.md")
for fault in "post: has arg0 to arg3, no arg4" "notified: libndspi has no such probe" \
    "path: libndspi has no such probe" "error: the page does not say which library \$M is"; do
    [[ $said == *"$fault"* ]] || wrong "not found: $fault"
done

if command -v bpftrace > /dev/null; then
    while read -r name _; do
        bpftrace -l "usdt:$ndspi:*" | grep ":ndspi:$name\$" > /dev/null || wrong "bpftrace does not find $name"
    done < "$work/core"
else
    echo "bpftrace is not installed: what it lists was not looked at"
fi
exit "$bad"
