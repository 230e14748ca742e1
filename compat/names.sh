#!/bin/bash
# SPDX-License-Identifier: MIT
# The names that the Windows-named headers provide: docs/windows-names.md lists them all, and those that
# compat/differs.txt says differ from Windows.
# usage: names.sh list     print the names as the headers are
#        names.sh update   write docs/windows-names.md
#        names.sh check    fail where that is another page, where differs.txt has a name that the headers have not,
#                          where no test calls a function, and where nothing says what takes or tells a constant
# CC is the compiler, which has to be gcc (-aux-info). A line of the list: part of the headers, kind, name.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
export LC_ALL=C
headers="SDKDDKVer windows winsock2 ws2tcpip ws2spi mswsock mstcpip unknwn objbase initguid tchar process ntstatus sal strsafe io mmsystem psapi ws2ipdef"
headers+=" winapifamily winioctl winternl conio crtdbg intsafe iphlpapi"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Of the headers that are made only what they bring counts: they have no name of their own.
cmake "-DINTO=$scratch/include" -P compat/headers.cmake

# Declarations and macros of our headers, as "HEADER KIND NAME". The preprocessor's line marks tell the header.
extract() {
    for header in $headers; do echo "#include <$header.h>"; done > "$scratch/all.c"
    local flags=(-std=gnu11 -D_GNU_SOURCE -Icompat/include "-I$scratch/include")
    "${CC:-gcc}" "${flags[@]}" -fsyntax-only -aux-info "$scratch/prototypes" "$scratch/all.c"
    sed -nE 's|^/\* compat/include/([^:]*):[0-9]+:[A-Z]+ \*/ [^(]*[ *]([A-Za-z_0-9]+) \(.*|\1 function \2|p' \
        "$scratch/prototypes" |
        sed -E 's/ function wincrt_/ function /'
    "${CC:-gcc}" "${flags[@]}" -E -dD "$scratch/all.c" | awk '
        /^# [0-9]+ "/ { file = $3; gsub(/"/, "", file); ours = sub(/^compat\/include\//, "", file); next }
        !ours { next }
        /^#undef / { next }
        /^#define .*wincompat_system/ { next }
        /^#define / {
            name = $2; called = sub(/\(.*/, "", name)
            body = $0; sub(/^#define [A-Za-z_0-9]+/, "", body)
            if (file ~ /sal1?(_[a-z]*)?\.h$/) kind = "annotation"
            else if (called) kind = "function"
            else if (body ~ /^ +WINCOMPAT_AW\(.*$/) kind = "spelling"
            else if (name ~ /[a-z]/ && body ~ /^ +[A-Za-z_][A-Za-z_0-9]*$/) kind = "spelling"
            else kind = "constant"
            print file, kind, name; next
        }
        # Types: a typedef ends at the semicolon outside all braces.
        { line = $0; if (!open && line !~ /^ *typedef/) next
          text = text " " line; open = 1
          depth += gsub(/{/, "{", line) - gsub(/}/, "}", line)
          if (depth > 0 || line !~ /; *$/) next
          while (gsub(/{[^{}]*}/, "", text)) ;
          if (match(text, /\( *\* *[A-Za-z_0-9]+ *\)/)) {
              name = substr(text, RSTART, RLENGTH); gsub(/[^A-Za-z_0-9]/, "", name); print file, "type", name
          } else {
              gsub(/\[[^]]*\]|__attribute__ *\(\(.*\)\)|;/, "", text); n = split(text, part, ",")
              for (i = 1; i <= n; i++) {
                  m = split(part[i], word, /[^A-Za-z_0-9]+/)
                  while (m && word[m] == "") m--
                  print file, "type", word[m]
              }
          }
          text = ""; open = 0; depth = 0 }'
}

list() {
    extract | sed -E 's|^wincompat/||; s|\.h | |' |
        grep -vE ' (WINCOMPAT_|WINCRT|WINOBJ_|_?NDSPI_|wincompat_|winobj_linux|PRI|SCN|[a-z0-9_]*_H$|IN6ADDR_.*_INIT$)|_H$' |
        grep -vE '^inttypes |^inaddr function | __USE_FORTIFY_LEVEL$' | sort -u
}

# What a part of the headers is, in one line: the first sentence of its first comment.
title() {
    local file
    for file in "compat/include/wincompat/$1.h" "compat/include/$1.h"; do
        [ -f "$file" ] || continue
        awk -v head="$1.h - " '
            /\/\*/ && !/SPDX/ { text = ""; open = 1 }
            open { line = $0; done = sub(/ *\*\/.*/, "", line); sub(/^ *\/?\*+ */, "", line); text = text " " line }
            open && done { found = 1; exit }
            END { if (!found) exit 1
                  sub(/^ */, "", text); if (index(text, head) == 1) text = substr(text, length(head) + 1)
                  if (match(text, /\. /)) text = substr(text, 1, RSTART - 1)
                  sub(/\.$/, "", text); gsub(/  +/, " ", text); print text "." }' "$file" && return
    done
    echo "no comment says what $1.h is" >&2
    return 1
}

# The Windows headers that bring the parts, as "PART HEADER": the first of $headers that does.
bringers() {
    local header
    for header in $headers; do
        echo "#include <$header.h>" > "$scratch/one.c"
        "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -Icompat/include "-I$scratch/include" -E "$scratch/one.c" |
            sed -nE "s|^# [0-9]+ \"compat/include/(wincompat/)?([^\"]*)\.h\".*|\2 $header.h|p" | sort -u
    done | awk '!($1 in seen) { seen[$1]; print }'
}

# Items of a list of Markdown that are too long are continued on lines of their own.
wrap() {
    awk '
        /^- / {
            row = $0
            while (length(row) > 118 && match(substr(row, 1, 119), /.* /)) {
                print substr(row, 1, RLENGTH - 1)
                row = "  " substr(row, RLENGTH + 1)
            }
            $0 = row
        }
        { print }'
}

# docs/windows-names.md, of a list of names and of compat/differs.txt.
document() {
    local part about
    local tests
    mapfile -t tests < <(grep -lrE '^#include "tests/unit/winobj/(flags|constants).h"' tests/unit | sort)
    bringers > "$scratch/bringers" || return 1
    perl compat/constants.pl "$1" "${tests[@]}" > "$scratch/about" || return 1
    cat << 'TEXT'
# Windows names

Every name of the Windows-named headers (`compat/include`), by the part of them that has it, and what it does here. A
part begins with a header that brings it. A name in one of its lists is provided: it does what it does on Windows. The
others are in the table behind the lists (constants in both):

| Here | Meaning |
|---|---|
| differs | works, with the difference that is named |
| refused | the use that is named fails with that code; every other use works |

With a constant stand the functions that take, tell or refuse it, and in brackets the parameter of those that have
several. A test calls each of these functions with each of these constants. `FormatMessage` has a text for each code of
an error.

A spelling is a macro that stands for another name, as `CreateEvent` does for `CreateEventA` or `CreateEventW`. A name
that is not on this page does not exist here: a program that uses it does not compile, and `GetProcAddress` does not
find it.

This page is generated (`docs/testing.md`, "Generated pages"): what differs stands in `compat/differs.txt`, constants
without a row in a test in `compat/constants.txt`.
TEXT
    while read -r part; do
        about=$(title "$part") || return 1
        printf '\n## %s\n`%s`: %s\n' "$part" "$(sed -n "s/^$part //p" "$scratch/bringers")" "$about" | fmt -s -w 119
        awk -v part="$part" '
            function item(    i) {
                if (names != "") print (listed++ ? "" : "\n") "- **" kind "s**: " names
                names = ""
                for (i = 1; i <= groups; i++)
                    print (listed++ ? "" : "\n") "- **constants" title[i] "**: " members[title[i]]
                groups = 0
            }
            # Constants stand together that the same functions take and tell.
            function constant(name,    of) {
                of = about[name] ~ /^(of|told|refused) / ? " " about[name] : ", " about[name]
                if (!(of in members)) title[++groups] = of
                members[of] = members[of] (members[of] == "" ? "" : ", ") "`" name "`"
            }
            FILENAME ~ /about$/ { split($0, field, "\t"); about[field[1]] = field[2]; next }
            FILENAME ~ /differs.txt$/ { if (/^#/) next
                split($0, field, / *\| */); n = split(field[1], name, " ")
                for (i = 1; i <= n; i++) here[name[i]] = field[2] ": " field[3]
                next }
            $1 != part { next }
            $3 in here { rows = rows "| `" $3 "` | " $2 " | " here[$3] " |\n"; if ($2 != "constant") next }
            $2 != kind { item(); kind = $2 }
            kind == "constant" { constant($3); next }
            { names = names (names == "" ? "" : ", ") "`" $3 "`" }
            END { item(); if (rows != "") printf "\n| Name | Kind | Here |\n|---|---|---|\n%s", rows }
        ' "$scratch/about" compat/differs.txt "$1" | wrap
    done < <(awk '{ print $1 }' "$1" | uniq)
    cat << 'TEXT'

## Where Wine does otherwise
The tests of the Windows functions are also built as Windows programs and run under Wine 8 with `msvcrt.dll`, the
measure for what Windows does. Below are the places where the two expectations differ, by test, and where a test does
not ask Wine. The tests also compare every constant, type, member and prototype with MinGW's headers;
`tests/abi/windows.differs` says where they differ. Tested here alone, because their files are NetworkDirect's:
`GetOverlappedResult`, `SetFileCompletionNotificationModes` and the order of a file's packets.

TEXT
    differences
}

# What differs.txt says of names that there are not, or twice, or in no known form.
mistaken() {
    awk -F' *[|] *' '/^#/ { next }
        NF != 3 || ($2 != "differs" && $2 != "refused") || $3 == "" { print "no such form: " $0 }' compat/differs.txt
    sed '/^#/d; s/|.*//' compat/differs.txt | tr ' ' '\n' | sed '/^$/d' | sort > "$scratch/differing"
    uniq -d "$scratch/differing" | sed 's/^/twice: /'
    awk '{ print $3 }' "$1" | sort -u | comm -13 - <(uniq "$scratch/differing") | sed 's/^/not provided: /'
}

# Where the tests of Windows functions expect something else of Wine, or do not ask it: DIFFERS(here, wine, why), and
# #ifndef _WIN32 with the reason in a comment. Prints a list; fails where a reason is missing.
differences() {
    awk '
        function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
        # A row of the page; the same one is printed once. Codes have their names of Windows, not those of the tests.
        function item(test, expected, why) {
            row = "- " test ", " expected ": " why "."
            gsub(/SPEC_/, "", row)
            if (row in printed) return
            printed[row]
            print row
        }
        # The arguments of the call that text begins with, in arg[1..].
        function arguments(text,    i, c, depth, quoted, n) {
            n = 1; arg[1] = ""; depth = 0; quoted = ""
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (quoted != "") {
                    if (c == "\\") { arg[n] = arg[n] c substr(text, ++i, 1); continue }
                    if (c == quoted) quoted = ""
                }
                else if (c == "\"" || c == "\047") quoted = c
                else if (c == "(") depth++
                else if (c == ")" && depth-- == 0) return n
                else if (c == "," && !depth) { n++; arg[n] = ""; continue }
                arg[n] = arg[n] c
            }
            return 0
        }
        FNR == 1 { file = FILENAME; sub(/.*\/test_/, "", file); sub(/\.c$/, "", file); inside = 0; test = "" }
        /^static / && match($0, /[a-z_0-9]+\(/) { test = substr($0, RSTART, RLENGTH - 1) }
        /^#ifndef _WIN32/ {
            if (match($0, /\/\* .* \*\//)) item(file, "not asked", trim(substr($0, RSTART + 3, RLENGTH - 6)))
            else { place = FILENAME ":" FNR; if (test != "main" && getline > 0 && !/^#include/) reasonless[place] }
        }
        /^int main/ { test = "main" }
        /DIFFERS(_BEFORE_10)?\(/ && !/#define/ {
            call = $0
            wine = call ~ /DIFFERS_BEFORE_10/ ? "Wine before 10" : "Wine"
            sub(/.*DIFFERS(_BEFORE_10)?\(/, "", call)
            while (!arguments(call)) { if ((getline line) <= 0) break; call = call " " trim(line) }
            arguments(call); why = trim(arg[3]); gsub(/^"|"$/, "", why)
            if (why != "both run at once") item(file, "`" trim(arg[1]) "`, " wine " `" trim(arg[2]) "`", why) }
        END {
            for (place in reasonless) { print place ": #ifndef _WIN32 without a reason" > "/dev/stderr"; bad = 1 }
            exit bad
        }
    ' $(win32_tests | sort) | wrap
}

# The sources of nd_win32_test: those that run under Wine too.
win32_tests() {
    for folder in tests/unit/compat tests/unit/winobj tests/unit/win32; do
        sed -n '/^set(win32_tests/,/)/p' "$folder/win32.cmake" | tr -s ' )' '\n' | grep -vE '^$|^set\(' |
            sed -E "s|[^/]+\$|test_&.c|; s|^|$folder/|"
    done
}

# A function or a spelling has to be used by a test: comments and texts are no use, nor is a longer word.
uncalled() {
    cat tests/unit/compat/*.{c,cpp,h} tests/unit/compat/*/*.[ch]* tests/unit/win{obj,32}/{*,*/*}.[ch] |
        sed -E 's/\\["\\]//g' | sed -E 's/"[^"]*"//g' |
        "${CC:-gcc}" -fpreprocessed -E -P -xc - 2>/dev/null |
            grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u > "$scratch/words"
    awk '$2 == "function" || $2 == "spelling" { print $3 }' "$1" | sort -u | comm -23 - "$scratch/words"
}

case ${1:-} in
list) list ;;
update)
    list > "$scratch/names"
    document "$scratch/names" > "$scratch/doc"
    cp "$scratch/doc" docs/windows-names.md
    ;;
check)
    status=0
    list > "$scratch/names"
    if ! document "$scratch/names" > "$scratch/doc"; then
        status=1
    elif ! diff -u docs/windows-names.md "$scratch/doc"; then
        echo "docs/windows-names.md is another page: compat/names.sh update"
        status=1
    fi
    mistaken "$scratch/names" > "$scratch/mistaken"
    if [ -s "$scratch/mistaken" ]; then
        echo "compat/differs.txt:"
        cat "$scratch/mistaken"
        status=1
    fi
    uncalled "$scratch/names" > "$scratch/uncalled"
    if [ -s "$scratch/uncalled" ]; then
        echo "no test in tests/unit/compat, winobj or win32 calls:"
        cat "$scratch/uncalled"
        status=1
    fi
    exit $status
    ;;
*) echo "usage: names.sh list|update|check" >&2; exit 2 ;;
esac
