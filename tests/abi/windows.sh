#!/bin/bash
# SPDX-License-Identifier: MIT
# Every public name of the Windows-named headers against MinGW's headers of the same names. The names, the members of
# the structures and the prototypes are read from our headers (compat/names.sh); nothing is listed here.
# usage: windows.sh compare WORK-DIR     each difference is explained in windows.differs, and each row there is needed
#        windows.sh mutations WORK-DIR   changed headers are found to differ, with the name
# CC is the native compiler, a gcc (-aux-info). A row: a kind, a blank, a name; a member is TYPE.MEMBER.
#   value, width, signed, class      of a constant; class: __builtin_classify_type, 1 a number, 5 a pointer
#   size, align, type-signed, type-class, target (of a pointer: the size of what it points to)      of a type
#   offset, member-size, member-signed      of a member
#   prototype      of a function: our prototype, in the words of Windows' types, is a declaration of theirs
#   present        MinGW has the name at all
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
root=$here/../..
cc=${CC:-gcc}
mingw=x86_64-w64-mingw32
windows=($mingw-gcc -D_WIN32_WINNT=0x0A00)
quiet=(-std=gnu11 -w -fmax-errors=0)

# The list of differences is of MinGW's headers 10, Debian 12's; others have more names, and other differences.
known_headers() {
    local major
    major=$(echo __MINGW64_VERSION_MAJOR | $mingw-gcc -E -P -include _mingw.h -xc - | tail -n 1)
    [ "$major" = 10 ] || { echo "windows.differs is of MinGW's headers 10; these are $major"; exit 77; }
}

command=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$root/compat/names.sh" list > names
cp -r "$root/compat/include" include
cmake -DINTO=include -P "$root/compat/headers.cmake"

# The Windows headers that have the names; WIN32_NO_STATUS as programs do that want all of <ntstatus.h>.
prologue() {
    echo '#define WIN32_NO_STATUS'
    for header in winsock2 windows ws2tcpip ws2spi unknwn objbase process rpc tchar strsafe mmsystem psapi \
        winioctl winternl conio crtdbg intsafe iphlpapi; do
        echo "#include <$header.h>"
    done
    echo '#undef WIN32_NO_STATUS'
    echo '#include <ntstatus.h>'
}

# members INCLUDE-DIR: every identifier in the body of a typedef that may be a member, as TYPE.IDENTIFIER
members() {
    prologue | "$cc" -std=gnu11 -I"$1" -E -xc - | awk -v ours="$1/" '
        /^# [0-9]+ "/ { file = $3; gsub(/"/, "", file); mine = index(file, ours) == 1; next }
        !mine { next }
        { if (!open && $0 !~ /^ *typedef (struct|union)/) next
          line = $0; text = text " " line; open = 1
          depth += gsub(/{/, "{", line) - gsub(/}/, "}", line)
          if (depth > 0 || line !~ /; *$/) next
          names = text; sub(/.*}/, "", names); gsub(/__attribute__ *\(\(.*\)\)|;/, "", names)
          split(names, part, ","); name = part[1]; gsub(/[ \t]/, "", name)
          if (text ~ /{/ && name ~ /^[A-Za-z_]/) {
              body = text; sub(/^[^{]*{/, "", body)
              while (match(body, /[A-Za-z_][A-Za-z_0-9]* *(\[[^]]*\])? *[,;]/)) {
                  member = substr(body, RSTART, RLENGTH); sub(/[^A-Za-z_0-9].*/, "", member)
                  print name "." member
                  body = substr(body, RSTART + RLENGTH)
              }
          }
          text = ""; open = 0; depth = 0 }' | sort -u
}

# rows INCLUDE-DIR: all that is asked, as "KIND NAME"
rows() {
    awk '
        function ask(kinds,    kind, i) {
            for (i = split(kinds, kind, " "); i; i--) print kind[i], $3
        }
        $2 == "constant" && $1 != "crt" && $1 != "com" { ask("value width signed class") }
        $2 == "type" { ask("size align type-signed type-class target") }
    ' "$work/names"
    members "$1" | awk '{ for (i = split("offset member-size member-signed", k, " "); i; i--) print k[i], $1 }'
}

# The C expression of each row, a constant each; a line that is no number for a compiler is an error there.
expressions() {
    awk '
        BEGIN {
            form["value"] = "(unsigned long long)(@N)"
            form["width"] = form["size"] = "sizeof(@N)"
            form["signed"] = "(__typeof__(@N))-1 < (__typeof__(@N))1"
            form["class"] = "__builtin_classify_type(@N)"
            form["align"] = "_Alignof(@N)"
            form["type-signed"] = "(@N)-1 < (@N)1"
            form["type-class"] = "__builtin_classify_type(*(@N *)0)"
            form["target"] = "sizeof(*(@N)0)"
            form["offset"] = "__builtin_offsetof(@T, @M)"
            form["member-size"] = "sizeof(((@T *)0)->@M)"
            form["member-signed"] = "(__typeof__(((@T *)0)->@M))-1 < (__typeof__(((@T *)0)->@M))1"
        }
        {
            expression = form[$1]; split($2, part, ".")
            gsub(/@N/, $2, expression); gsub(/@T/, part[1], expression); gsub(/@M/, part[2], expression)
            print expression
        }' "$1"
}

# compiled NAME COMPILER FLAG...: the headers, once for all sources with these flags that begin with include NAME
compiled() {
    local name=$1
    shift
    prologue > "$name.headers.h"
    "$@" "${quiet[@]}" -xc-header "$name.headers.h" -o "$name.headers.h.gch"
}
include() { echo "#include \"$1.headers.h\""; }

# usable NAME COMPILER FLAG...: of all.rows those that this compiler can make a number of, in NAME.rows. One error may
# hide the next: until there are none. gcc tells of an undeclared name once in each function, so each row is one; and it
# looks long for a name that is like it, so names that the headers do not so much as mention are left out first.
usable() {
    local name=$1
    shift
    "$@" "${quiet[@]}" -E -dD "$name.headers.h" | perl -e '
        while (<STDIN>) { $has{$_} = 1 for /\w+/g }
        while (<>) { my ($kind, @words) = split /[\s.]+/; print unless grep { !$has{$_} } @words }' all.rows \
        > "$name.rows"
    while
        {
            include "$name"
            expressions "$name.rows" |
                awk '{ printf "void f%d(void) { static const unsigned long long v = %s; }\n", NR, $0 }'
        } > "$name.c"
        "$@" "${quiet[@]}" -ftrack-macro-expansion=0 -fsyntax-only "$name.c" 2>&1 \
            | sed -nE "s/^$name.c:([0-9]+):[0-9]+: error.*/\1/p" | sort -nu > "$name.bad" || true
        [ -s "$name.bad" ]
    do
        awk 'NR == FNR { bad[$1]; next } !(FNR + 1 in bad)' "$name.bad" "$name.rows" > "$name.good"
        mv "$name.good" "$name.rows"
    done
}

# numbers NAME OBJCOPY COMPILER FLAG...: of the rows of both, "VALUE ROW"
numbers() {
    local name=$1 objcopy=$2
    shift 2
    {
        include "$name"
        echo '__attribute__((section(".values"), used)) const unsigned long long values[] = {'
        expressions common | sed 's/$/,/'
        echo '};'
    } > "$name.values.c"
    "$@" "${quiet[@]}" -c "$name.values.c" -o "$name.o"
    "$objcopy" -O binary -j .values "$name.o" "$name.bin"
    od -An -v -t x8 -w8 "$name.bin" | awk -v count="$(wc -l < common)" 'NR <= count' | paste -d' ' - common \
        | sed 's/^ *//' > "$name.values"
}

# prototypes INCLUDE-DIR: "present NAME" and "prototype NAME" of the functions that MinGW has not, or has otherwise
prototypes() {
    prologue > prototypes.c
    "$cc" -std=gnu11 -D_GNU_SOURCE -w -I"$1" -fsyntax-only -aux-info prototypes.all prototypes.c
    sed -nE "s|^/\* $1/[^:]*:[0-9]+:[A-Z]+ \*/ ([^;]*;).*|\1|p" prototypes.all | grep -vE 'wincrt_|wincompat_' |
        sed -E 's/^(extern|static) //' | sed -nE 's/^([^(]*[ *]([A-Za-z_0-9]+) \(.*)$/\2 \1/p' |
        sort -u > ours.prototypes
    [ "$(wc -l < ours.prototypes)" -gt 250 ] || { echo "the prototypes were not read" >&2; return 1; }
    {
        include mingw
        awk '{ printf "void *p%d = (void *)%s;\n", NR, $1 }' ours.prototypes
    } > present.c
    "${windows[@]}" "${quiet[@]}" -fsyntax-only present.c 2>&1 \
        | sed -nE 's/^present.c:([0-9]+):[0-9]+: error.*/\1/p' | sort -nu > present.bad || true
    awk 'NR == FNR { bad[$1]; next } FNR + 1 in bad { print "present", $1 }' \
        present.bad ours.prototypes
    awk 'NR == FNR { bad[$1]; next } !(FNR + 1 in bad)' present.bad ours.prototypes \
        > theirs.prototypes
    { include mingw; sed -E 's/^[^ ]+ //' theirs.prototypes; } > prototype.c
    "${windows[@]}" "${quiet[@]}" -fsyntax-only prototype.c 2>&1 \
        | sed -nE 's/^prototype.c:([0-9]+):[0-9]+: error.*/\1/p' | sort -nu > prototype.bad || true
    awk 'NR == FNR { bad[$1]; next } FNR + 1 in bad { print "prototype", $1 }' \
        prototype.bad theirs.prototypes
}

# differences INCLUDE-DIR: every row that differs, in differing
differences() {
    rows "$1" | sort -u > all.rows
    compiled here "$cc" -D_GNU_SOURCE "-I$1"
    compiled mingw "${windows[@]}"
    usable here "$cc" -D_GNU_SOURCE "-I$1"
    usable mingw "${windows[@]}"
    comm -12 here.rows mingw.rows > common
    numbers here objcopy "$cc" -D_GNU_SOURCE "-I$1"
    numbers mingw $mingw-objcopy "${windows[@]}"
    {
        # Of a name that MinGW has not, one row says so; of one that is no number there, its rows do.
        comm -23 here.rows mingw.rows | awk '
            NR == FNR { has[$2]; next }
            $2 in has { print; next }
            { split($2, part, "."); if (part[2] != "" && !(part[1] in has)) next; print "present", $2 }' mingw.rows -
        { diff here.values mingw.values || true; } | sed -nE 's|^[<>] [0-9a-f]+ ||p'
        prototypes "$1"
    } | sort -u > differing
    [ "$(wc -l < common)" -gt 3000 ] || { echo "the headers were not read: $(wc -l < common) rows"; return 1; }
}

# windows.differs: ROW... | reason; the rows of a line are separated by a comma.
explained() {
    sed '/^#/d; s/ *|.*//' "$here/windows.differs" | tr ',' '\n' | sed -E 's/^ +//; s/ +$//; /^$/d'
}

compare() {
    local status=0
    differences "$work/include"
    explained | sort > explained
    uniq -d explained | sed 's/^/explained twice: /'
    comm -23 differing <(uniq explained) > unexplained
    comm -13 differing <(uniq explained) > needless
    if [ -s unexplained ]; then
        echo "differs from MinGW's headers, and $here/windows.differs does not say why:"
        while read -r row; do
            echo "$row: $(grep -h " $row\$" here.values mingw.values | cut -d' ' -f1 | tr '\n' ' ')"
        done < unexplained
        status=1
    fi
    if [ -s needless ]; then
        echo "explained, but does not differ:"
        cat needless
        status=1
    fi
    grep -vE '^#|^$|^[^|]+ \| .+' "$here/windows.differs" && { echo "^ has no reason"; status=1; }
    echo "$(wc -l < common) rows compared, $(wc -l < ours.prototypes) prototypes"
    return $status
}

# mutation ROW HEADER SED-SCRIPT: changes a copy of HEADER so that ROW has to differ
mutation() {
    sed -Ei "$3" "include/$2"
    cmp -s "include/$2" "before/$2" && { echo "no mutation: $3"; exit 1; }
    cp "include/$2" "before/$2"
    explained | grep -xF "$1" > /dev/null && { echo "explained: $1"; exit 1; }
    echo "$1" >> mutated
}

mutations() {
    local status=0
    cp -r include before
    mutation 'value ERROR_BUSY' wincompat/error.h 's/(define ERROR_BUSY +)170/\1171/'
    mutation 'signed WAIT_TIMEOUT' wincompat/error.h 's/(define WAIT_TIMEOUT +258)/\1u/'
    mutation 'target HMODULE' wincompat/types.h 's/typedef HINSTANCE HMODULE;/typedef void *HMODULE;/'
    mutation 'align IN6_ADDR' wincompat/inaddr.h 's/(__u6_addr32\[4\]) __attribute__\(\(packed\)\)/\1/'
    mutation 'offset GROUP_AFFINITY.Group' wincompat/processor.h 's/^    KAFFINITY Mask;/    KAFFINITY Other;\n&/'
    mutation 'prototype ReleaseSemaphore' wincompat/objects.h 's/(ReleaseSemaphore\(HANDLE semaphore, )LONG/\1ULONG/'
    differences "$work/include"
    while read -r row; do
        grep -qxF "$row" differing || { echo "not found: $row"; status=1; }
    done < mutated
    return $status
}

known_headers
case $command in
compare) compare ;;
mutations) mutations ;;
*) echo "windows.sh: compare or mutations" >&2; exit 2 ;;
esac
