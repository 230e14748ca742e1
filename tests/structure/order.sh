#!/bin/bash
# SPDX-License-Identifier: MIT
# The order that docs/design.md tells under "Who includes whom", and the rule below its table.
# usage: order.sh includes ROOT       every include of a file of ours is one that the table of ROOT/docs/design.md allows
#        order.sh calls OBJECT...     no file calls one that, by whatever way, calls it
#        order.sh mutations WORK-DIR  both are shown to fail
set -euo pipefail
export LC_ALL=C
here=$(readlink -f "$0")

includes()
{
    cd "$1"
    find util softrdma winobj ndspi -name '*.[ch]' -print0 | sort -z | xargs -0 grep -HE '^#include "' |
        sed -E 's/^([^:]*):#include "([^"]*)".*/\1 \2/' |
        awk -v design=docs/design.md '
            function folder_of(file) { sub("/[^/]*$", "", file); return file }
            function exists(file,  found, line) { found = (getline line <file) > 0; close(file); return found }
            BEGIN {
                while ((getline row <design) > 0) {
                    if (row ~ /^## /) wanted = row == "## Who includes whom"
                    if (!wanted || row !~ /^\| `/) continue
                    gsub("[`, ]+", " ", row)
                    split(row, cell, "|")
                    n = split(cell[2], names, " ")
                    for (i = 1; i <= n; i++) { known[names[i]] = 1; allowed[names[i]] = " " cell[3] " " }
                }
            }
            {
                from = folder_of($1)
                target = exists($2) ? $2 : from "/" $2 # the public headers are no part of the order
                if (!exists(target)) next
                row = ($1 in known) ? $1 : from
                to = folder_of(target)
                seen++
                if (!(row in known)) { print from ": no row in the table"; bad = 1 }
                else if (to != from && !index(allowed[row], " " to " ")) { print $1 " includes " target; bad = 1 }
            }
            END {
                if (!seen) { print "nothing was looked at"; bad = 1 }
                exit bad
            }'
}

# Pairs of caller and called; tsort finds what is in a circle.
calls()
{
    nm -AP "$@" | awk '
        { sub(":$", "", $1) }
        $3 == "U" { uses[$1 " " $2] = 1; next }
        $3 ~ /^[A-Z]$/ { home[$2] = $1 }
        END {
            for (use in uses) {
                split(use, part, " ")
                if ((part[2] in home) && home[part[2]] != part[1]) print part[1], home[part[2]]
            }
        }' | sort -u | tsort >/dev/null
}

fails()
{
    if "$here" "$@" >/dev/null 2>&1; then
        echo "not found: $*"
        exit 1
    fi
}

mutations()
{
    rm -rf "$1"
    mkdir -p "$1"/{docs,util,softrdma,winobj,ndspi}
    cd "$1"
    printf '## Who includes whom\n| Folder | Includes |\n|---|---|\n| `util` | |\n| `winobj` | `util` |\n' >docs/design.md
    echo '#include "util/low.h"' >winobj/high.h
    : >util/low.c
    echo 'int low(void);' >util/low.h
    "$here" includes .
    echo '#include "winobj/high.h"' >util/low.c
    fails includes .
    : >util/low.c
    echo '#include "util/low.h"' >ndspi/stranger.c
    fails includes .

    echo 'int b(void); int a(void) { return b(); }' >a.c
    echo 'int c(void); int b(void) { return c(); }' >b.c
    echo 'int c(void) { return 0; }' >c.c
    ${CC:-cc} -c a.c b.c c.c
    "$here" calls a.o b.o c.o
    echo 'int a(void); int c(void) { return a(); }' >c.c
    ${CC:-cc} -c c.c
    fails calls a.o b.o c.o
}

command=$1
shift
case $command in
includes | calls | mutations) "$command" "$@" ;;
*) sed -n 's/^# \(usage\|  *order\)/\1/p' "$here"; exit 2 ;;
esac
