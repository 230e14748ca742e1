#!/bin/bash
# SPDX-License-Identifier: MIT
# Every constant of compat/names.txt has the value, every type the size, that MinGW's headers give it. Read from object
# files.
# usage: mingw.sh CC WORK-DIR COMPAT-DIR
set -euo pipefail
export LC_ALL=C
cc=$1 work=$2 compat=$3
mingw=x86_64-w64-mingw32
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# Not in MinGW's headers, or no number there.
cat > lacking.known <<'TEXT'
CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
E_BOUNDS
LOAD_LIBRARY_SEARCH_ALL
MAXULONG
MAXUSHORT
TEXT
# struct timeval is the system's; the width of characters is the program's choice.
cat > different.known <<'TEXT'
type TIMEVAL
type WCHAR
TEXT

awk '$2 == "constant" && $1 !~ /^(tchar|com|crt)$/ || $2 == "type" && $1 != "tchar" { print $2, $3 }' "$compat/names.txt" |
    sort -u > rows

prologue() {
    echo '#define WIN32_NO_STATUS'
    for header in winsock2 windows ws2tcpip ws2spi unknwn objbase process rpc strsafe; do echo "#include <$header.h>"; done
    echo '#undef WIN32_NO_STATUS'
    echo '#include <ntstatus.h>'
}

# usable NAME COMPILER FLAG...: the rows this compiler can make a number of. One error may hide the next: until there
# are none.
usable() {
    local name=$1
    shift
    cp rows "$name.rows"
    while
        { prologue; awk '{ printf "const unsigned long long v%d = %s(%s);\n", NR, $1 == "type" ? "sizeof" : "(unsigned long long)", $2 }' "$name.rows"; } > "$name.c"
        "$@" -std=gnu11 -w -fmax-errors=0 -ftrack-macro-expansion=0 -fsyntax-only "$name.c" 2>&1 \
            | sed -nE "s/^$name.c:([0-9]+):[0-9]+: error.*/\1/p" | sort -nu > "$name.bad" || true
        [ -s "$name.bad" ]
    do
        awk -v skip="$(prologue | wc -l)" 'NR == FNR { bad[$1]; next } !(FNR + skip in bad)' "$name.bad" "$name.rows" \
            > "$name.good"
        mv "$name.good" "$name.rows"
    done
}

# numbers NAME OBJCOPY COMPILER FLAG...: of the rows of both, "VALUE ROW"
numbers() {
    local name=$1 objcopy=$2
    shift 2
    {
        prologue
        echo '__attribute__((section(".values"), used)) const unsigned long long values[] = {'
        awk '{ printf "%s(%s),\n", $1 == "type" ? "sizeof" : "(unsigned long long)", $2 }' common
        echo '};'
    } > "$name.values.c"
    "$@" -std=gnu11 -w -c "$name.values.c" -o "$name.o"
    "$objcopy" -O binary -j .values "$name.o" "$name.bin"
    od -An -v -t x8 -w8 "$name.bin" | awk -v count="$(wc -l < common)" 'NR <= count' | paste -d' ' - common \
        | sed 's/^ *//' > "$name.values"
}

usable here "$cc" "-I$compat/include"
usable mingw $mingw-gcc -D_WIN32_WINNT=0x0A00
comm -12 here.rows mingw.rows > common
numbers here objcopy "$cc" "-I$compat/include"
numbers mingw $mingw-objcopy $mingw-gcc -D_WIN32_WINNT=0x0A00

status=0
comm -23 here.rows mingw.rows | cut -d' ' -f2 | sort | diff lacking.known - \
    || { echo "^ other names than expected are not in MinGW's headers"; status=1; }
{ diff here.values mingw.values || true; } | sed -nE "s|^[<>] [0-9a-f]+ ||p" | sort -u | diff different.known - \
    || { echo "^ others than expected differ"; diff here.values mingw.values; status=1; }
echo "$(wc -l < common) names compared"
[ "$(wc -l < common)" -gt 550 ] || { echo "the headers were not read"; status=1; }
exit $status
