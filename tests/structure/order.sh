#!/bin/bash
# SPDX-License-Identifier: MIT
# The order that docs/design.md tells under "Who includes whom", the rule below its table, and the floors of a library.
# usage: order.sh includes ROOT       every include of a file of ours is one that the table of ROOT/docs/design.md
# allows
#        order.sh calls OBJECT...     no file calls one that, by whatever way, calls it
#        order.sh floors DESIGN HEADING OBJECT...
#                                     each is in the table below that heading of DESIGN (highest floor first, the files
#                                     of a floor lowest first), which has no others, and calls those below it
#        order.sh mutations WORK-DIR  all three are shown to fail
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

# Pairs of caller and called.
pairs()
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
        }' | sort -u
}

# tsort finds what is in a circle.
calls()
{
    pairs "$@" | tsort >/dev/null
}

floors()
{
    local design=$1 heading=$2
    shift 2
    { printf '%s\n' "$@"; pairs "$@"; } | awk -v design="$design" -v heading="## $heading" '
        function name_of(object) { sub(".*/", "", object); sub("[.].*", "", object); return object }
        BEGIN {
            while ((getline row <design) > 0) {
                if (row ~ /^## /) wanted = row == heading
                if (!wanted || row !~ /^\|/ || row ~ /^\| Floor|^\|---/) continue
                split(row, cell, "|")
                gsub("[` ]+", "", cell[4])
                n = split(cell[4], names, ",")
                floor--
                for (i = 1; i <= n; i++) {
                    if (names[i] in height) { print names[i] " is there twice"; bad = 1 }
                    height[names[i]] = floor * 1000 + i
                }
            }
        }
        NF == 1 {
            if (!(name_of($1) in height)) { print name_of($1) ": no place in \"" heading "\""; bad = 1 }
            built[name_of($1)] = 1
        }
        NF == 2 && height[name_of($2)] >= height[name_of($1)] {
            print name_of($1) " calls upwards: " name_of($2)
            bad = 1
        }
        END {
            for (name in height)
                if (!(name in built)) { print name ": no such file"; bad = 1 }
            if (!floor) { print "no floors: " heading; bad = 1 }
            exit bad
        }'
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
    printf '## Floors\n| Floor | What | Files |\n|---|---|---|\n| high | x | b, a |\n| low | y | c |\n' >floors.md
    "$here" floors floors.md Floors a.o b.o c.o
    fails floors floors.md Others a.o b.o c.o
    fails floors floors.md Floors a.o b.o
    sed 's/b, a/a, b/' floors.md >turned.md
    fails floors turned.md Floors a.o b.o c.o
    sed 's/b, a/a/' floors.md >short.md
    fails floors short.md Floors a.o b.o c.o
    echo 'int (*table)(void); int c(void) { return table(); }' >c.c # who is above registers
    echo 'int b(void); extern int (*table)(void); int a(void) { table = a; return b(); }' >a.c
    ${CC:-cc} -c a.c c.c
    "$here" calls a.o b.o c.o
    echo 'int a(void); int c(void) { return a(); }' >c.c
    ${CC:-cc} -c c.c
    fails calls a.o b.o c.o
    fails floors floors.md Floors a.o b.o c.o
}

command=$1
shift
case $command in
includes | calls | floors | mutations) "$command" "$@" ;;
*) sed -n 's/^# \(usage\|  *order\)/\1/p' "$here"; exit 2 ;;
esac
