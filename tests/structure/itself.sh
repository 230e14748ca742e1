#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs `order` on small trees: it accepts the tree that keeps the rows, and names the place of each planted fault.
# usage: itself.sh WORK-DIR; CC: the compiler
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
rm -rf "$1"
mkdir -p "$1"
cd "$1"

# The tree anew: low, middle and high, each with one function; middle has besides an inline function and a macro that
# call low.
plant()
{
    rm -rf tree
    mkdir -p tree/{low,middle,high/part,include}
    cd tree
    cat > folders <<'TEXT'
# the lowest first
low:
middle: low

high: middle
    + low
high/part: high
TEXT
    echo 'int low(void);' > low/low.h
    printf '#include "low/low.h"\nint low(void)\n{\n    return 1; /* high() is above */\n}\n' > low/low.c
    cat > middle/middle.h <<'TEXT'
#include "low/low.h"
int middle(void);
int high(void); /* a declaration is no call */
static inline int inline_middle(void)
{
    if (low()) {
        return low();
    }
    return 0;
}
#define MACRO_MIDDLE() (inline_middle() + low())
TEXT
    printf '#include "middle/middle.h"\nint middle(void)\n{\n    return low();\n}\n' > middle/middle.c
    printf '#include "middle/middle.h"\nint high(void)\n{\n    return middle() + MACRO_MIDDLE();\n}\n' > high/high.c
    printf '#include "middle/middle.h"\nint part(void);\nint part(void)\n{\n    return high() + inline_middle();\n}\n' \
        > high/part/part.c
    sed -i 's/: high$/: high middle/' folders
    echo 'int anything(void);' > include/public.h # public headers are no part of it
}

# Objects where CMake puts them.
build()
{
    local source
    objects=()
    for source in low/low.c middle/middle.c high/high.c high/part/part.c "$@"; do
        mkdir -p "build/${source%%/*}/CMakeFiles/library.dir/$(dirname "${source#*/}")"
        objects+=("$PWD/build/${source%%/*}/CMakeFiles/library.dir/./${source#*/}.o")
        "${CC:-cc}" -O2 -I. -c "$source" -o "${objects[-1]}"
    done
}

# expect WHAT INCLUDES CALLS [SOURCE...]: what the two commands say, "" when all is well, and ends the case.
expect()
{
    local what=$1 includes=$2 calls=$3 said status
    shift 3
    build "$@"
    for command in includes calls; do
        status=0
        if [ "$command" = includes ]; then
            said=$("$here/order" includes folders . 2>&1) || status=$?
        else
            said=$("$here/order" calls folders . "$PWD/build" "${objects[@]}" 2>&1) || status=$?
        fi
        if [ "$said" != "${!command}" ] || [ $((status != 0)) != $((${#said} != 0)) ]; then
            printf '%s, %s: status %s, said "%s", not "%s"\n' "$what" "$command" "$status" "$said" "${!command}"
            failed=1
        fi
    done
    cd ..
}

failed=0
plant
expect "a tree that keeps the rows" "" ""

plant
echo '#include "high/high.h"' >> low/low.c
: > high/high.h
expect "an include upwards" "low/low.c includes high/high.h" ""

plant
echo '#include "side.h"' >> middle/middle.c
echo '#include "../high/high.h"' > middle/side.h
: > high/high.h
expect "an include upwards from a header, by a relative path" "middle/side.h includes middle/../high/high.h" ""

plant
sed -i 's/return 1;/return middle();/; 1i int middle(void);' low/low.c
expect "a call upwards" "" "low/low.c calls middle of middle"

plant
printf 'int high(void);\nstatic inline int inline_low(void)\n{\n    return high();\n}\n' >> low/low.h
expect "a call upwards in an inline function that no file of its folder calls" "" "low/low.h uses high of high"

plant
printf 'int high(void);\nstatic inline int inline_low(void)\n{\n    return high();\n}\n' >> low/low.h
sed -i 's/return 1;/return inline_low();/' low/low.c
expect "a call upwards through an inline function" "" $'low/low.h uses high of high\nlow/low.c calls high of high'

plant
printf '#define LOW() \\\n    (middle() + 1)\n' >> low/low.h
expect "a call upwards in a macro" "" "low/low.h uses middle of middle"

plant
printf 'static inline int inline_high(void)\n{\n    return 1;\n}\n' > high/high.h
sed -i 's/return low();/return inline_high();/; 1a #include "high/high.h"' middle/middle.c
expect "an inline function of a folder above" "middle/middle.c includes high/high.h" \
    "middle/middle.c uses inline_high of high"

plant
echo 'middle/middle.c: low' >> folders
expect "a row of a single file" "folders: there is no folder middle/middle.c" \
    "folders: there is no folder middle/middle.c"

plant
mkdir other
echo 'int other(void); int other(void) { return 0; }' > other/other.c
expect "an unknown folder" 'other/other.c: other has no row in folders' \
    'other/other.c: other has no row in folders' other/other.c

plant
echo 'other: low' >> folders
expect "a row without a folder" "folders: there is no folder other" "folders: there is no folder other"

plant
sed -i 's/^low:/low: middle/' folders
expect "a row that names one below it" "folders: low names middle, which has no row above it" \
    "folders: low names middle, which has no row above it"

plant
echo 'low: ' >> folders
expect "two rows" "folders: low has two rows" "folders: low has two rows"

plant
echo 'low' >> folders
expect "a row that cannot be read" 'folders: cannot read "low"' 'folders: cannot read "low"'

exit $failed
