#!/bin/bash
# SPDX-License-Identifier: MIT
# The codes that tests expect (tests/support/spec_codes.h) against the headers that have a name of theirs: ours, and
# MinGW's where it is installed. A header that lacks a name stands in codes.absent, with the reason.
# usage: codes.sh compare WORK-DIR     every row, in every header
#        codes.sh mutations WORK-DIR   a changed number of each list is found to differ, by name; so is a lost name
# CC is the native compiler.
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
root=$here/../..
cc=${CC:-gcc}
mingw=x86_64-w64-mingw32
command=$1 work=$2
table=$root/tests/support/spec_codes.h
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake "-DINTO=$PWD/compat" -P "$root/compat/headers.cmake"

newer_headers() {
    [ "$(echo __MINGW64_VERSION_MAJOR | $mingw-gcc -E -P -include _mingw.h -xc - | tail -n 1)" -gt 10 ]
}

# rows TABLE: "NAME NUMBER" of each row; no header of Windows' is there, so a name stays one
rows() {
    { echo "#include \"$1\""; echo '#define ROW(name, value) @name value@'; echo 'SPEC_CODES(ROW)'; } |
        "$cc" -E -P -xc - | tr '@' '\n' |
        sed -nE 's/^ *([A-Z][A-Za-z_0-9]*) +(0x[0-9A-Fa-f]+|[0-9]+) *$/\1 \2/p'
}

# The headers that have the names; WIN32_NO_STATUS as programs do that want all of <ntstatus.h>.
prologue() {
    echo '#define WIN32_NO_STATUS'
    for header in winsock2 windows ws2tcpip objbase strsafe "$@"; do echo "#include <$header.h>"; done
    echo '#undef WIN32_NO_STATUS'
    echo '#include <ntstatus.h>'
}

# theirs SIDE OBJCOPY "HEADERS" COMPILER FLAG...: "NAME NUMBER" of the rows whose name that side has, in SIDE.has
theirs() {
    local side=$1 objcopy=$2 headers=$3 name
    shift 3
    cut -d' ' -f1 rows > names
    cmp -s names "$side.names" && return # as before: the headers are the same
    {
        # shellcheck disable=SC2086 # names of headers
        prologue $headers
        echo '__attribute__((section(".codes"), used)) const unsigned long long codes[] = {'
        # 1 above the 32 bits of the number: the name is there.
        while read -r name _; do
            printf '#ifdef %s\n0x100000000ull | (unsigned)(%s),\n#else\n0,\n#endif\n' "$name" "$name"
        done < rows
        echo '};'
    } > "$side.c"
    "$@" -std=gnu11 -w -c "$side.c" -o "$side.o"
    "$objcopy" -O binary -j .codes "$side.o" "$side.bin"
    od -An -v -t x8 -w8 "$side.bin" | awk -v count="$(wc -l < rows)" 'NR <= count' | paste -d' ' - rows |
        sed -nE 's/^ *00000001([0-9a-f]{8}) ([^ ]+) .*/\2 \1/p' > "$side.has"
    mv names "$side.names"
}

# disagree SIDE: rows whose number is another on that side; its names that are missing without a reason; reasons that
# are not needed
disagree() {
    local side=$1
    awk -v side="$side" '
        function number(digits,    i, n) {
            for (i = 1; i <= length(digits); i++) n = n * 16 + index("0123456789ABCDEF", substr(digits, i, 1)) - 1
            return n
        }
        # What the headers have, as the table writes that number.
        function written(row, digits) { return row ~ /^0x/ ? "0x" toupper(digits) : number(toupper(digits)) "" }
        FILENAME == "absent" { if ($1 == side) absent[$2]; next }
        FILENAME != "rows" { has[$1] = $2; next }
        $1 in has {
            theirs = written($2, has[$1])
            if ($2 "" != theirs) print $1 ": " $2 " in spec_codes.h, " theirs " in the headers of " side
            if ($1 in absent) print $1 ": codes.absent has it, but the headers of " side " have it, too"
            delete absent[$1]
            next
        }
        !($1 in absent) { print $1 ": not in the headers of " side ", and codes.absent does not say why" }
        { delete absent[$1] }
        END { for (name in absent) print name ": codes.absent has it, but spec_codes.h has not" }
    ' absent "$side.has" rows
}

# differences TABLE: all that is wrong, a line each
differences() {
    rows "$1" > rows
    [ "$(wc -l < rows)" -gt 200 ] || { echo "$1 was not read"; return; }
    cut -d' ' -f1 rows | sort | uniq -d | sed 's/$/: two rows/'
    # codes.absent as "SIDE NAME", a row each; a pattern is every row that it fits.
    awk '
        FILENAME == "rows" { names[++count] = $1; next }
        /^#/ { next }
        { sub(/ *\|.*/, "") }
        {
            for (i = 2; i <= NF; i++) {
                if (!sub(/\*$/, "", $i)) { print $1, $i; continue }
                for (j = 1; j <= count; j++) if (index(names[j], $i) == 1) print $1, names[j]
            }
        }' rows "$here/codes.absent" > absent
    sed -E '/^#|^$|^(ndspi|mingw) [^|]+ \| .+/d; s/^/of no known form, or without a reason: /' "$here/codes.absent"
    theirs ndspi objcopy "ndstatus ndktypes" "$cc" -D_GNU_SOURCE "-I$root/compat/include" -Icompat \
        "-I$root/ndspi/include" "-I$root/ndk/include"
    disagree ndspi
    if command -v $mingw-gcc > /dev/null; then
        theirs mingw $mingw-objcopy "" $mingw-gcc -D_WIN32_WINNT=0x0A00
        # Newer headers than 10, Debian 12's, have more names than codes.absent says.
        disagree mingw | if newer_headers; then sed '/codes.absent has it, but the headers of mingw/d'; else cat; fi
    else
        echo "no MinGW here: its headers were not looked at" >&2
    fi
}

compare() {
    differences "$table" > differing
    cat differing
    echo "$(wc -l < rows) codes, $(wc -l < ndspi.has) in our headers, $(cat mingw.has 2>/dev/null | wc -l) in MinGW's"
    [ ! -s differing ]
}

# mutation NAME SED-SCRIPT: the table changed so is objected to, with the name
mutation() {
    sed -E "$2" "$table" > changed.h
    ! cmp -s changed.h "$table" || { echo "no mutation: $2"; return 1; }
    differences "$work/changed.h" > differing
    grep -q "^$1: " differing || { echo "$1 is not named: $2"; cat differing; return 1; }
    grep "^$1: " differing
}

mutations() {
    mutation ERROR_PIPE_CONNECTED 's/(ERROR_PIPE_CONNECTED, )535/\1536/'
    mutation WAIT_TIMEOUT 's/(WAIT_TIMEOUT, )258/\1259/'
    mutation WSAEWOULDBLOCK 's/(WSAEWOULDBLOCK, )10035/\110036/'
    mutation STATUS_CANCELLED 's/(STATUS_CANCELLED, )0xC0000120/\10x80000120/'
    mutation NDIS_STATUS_BAD_VERSION 's/(NDIS_STATUS_BAD_VERSION, )0xC0010004/\10xC0010005/'
    mutation STATUS_DATA_ERROR 's/(STATUS_DATA_ERROR, )0xC000003E/\10xC000003F/'
    mutation E_POINTER 's/(E_POINTER, )0x80004003/\10x80004002/'
    mutation STRSAFE_E_INSUFFICIENT_BUFFER 's/0x8007007A/0x8007007B/'
    mutation ND_CANCELED 's/(ND_CANCELED, )0xC0000120/\10xC0000121/'
    mutation ERROR_NO_SUCH 's/ROW\(ERROR_BUSY, 170\)/ROW(ERROR_NO_SUCH, 170)/'
    mutation ERROR_CRC 's/ROW\(ERROR_CRC, 23\)/& ROW(ERROR_CRC, 23)/'
}

case $command in
compare) compare ;;
mutations) mutations ;;
*) echo "codes.sh: compare or mutations" >&2; exit 2 ;;
esac
