#!/bin/bash
# SPDX-License-Identifier: MIT
# The names that the Windows-named headers provide: compat/names.txt lists them all, docs/porting.md shows that list.
# usage: names.sh list     print the list as the headers are
#        names.sh update   write it to names.txt, and the table to docs/porting.md
#        names.sh check    fail where names.txt or the table differs, or a function is called by no test
# CC is the compiler, which has to be gcc (-aux-info). A line of the list: part of the headers, kind, name.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
export LC_ALL=C
headers="SDKDDKVer windows winsock2 ws2tcpip ws2spi unknwn objbase initguid tchar process ntstatus sal strsafe io mmsystem"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Declarations and macros of our headers, as "HEADER KIND NAME". The preprocessor's line marks tell the header.
extract() {
    for header in $headers; do echo "#include <$header.h>"; done > "$scratch/all.c"
    local flags=(-std=gnu11 -D_GNU_SOURCE -Icompat/include)
    "${CC:-gcc}" "${flags[@]}" -fsyntax-only -aux-info "$scratch/prototypes" "$scratch/all.c"
    sed -nE 's|^/\* compat/include/([^:]*):[0-9]+:[A-Z]+ \*/ .*[ *]([A-Za-z_0-9]+) \(.*|\1 function \2|p' "$scratch/prototypes" |
        sed -E 's/ function wincrt_/ function /'
    "${CC:-gcc}" "${flags[@]}" -E -dD "$scratch/all.c" | awk '
        /^# [0-9]+ "/ { file = $3; gsub(/"/, "", file); ours = sub(/^compat\/include\//, "", file); next }
        !ours { next }
        /^#undef / { next }
        /^#define .*wincompat_system/ { next }
        /^#define / {
            name = $2; called = sub(/\(.*/, "", name)
            body = $0; sub(/^#define [A-Za-z_0-9]+/, "", body)
            if (file ~ /sal1?\.h$/) kind = "annotation"
            else if (called) kind = "function"
            else if (name ~ /[a-z]/ && body ~ /^ +([A-Za-z_][A-Za-z_0-9]*|WINCOMPAT_AW\(.*)$/) kind = "spelling"
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
              for (i = 1; i <= n; i++) { m = split(part[i], word, /[^A-Za-z_0-9]+/); while (m && word[m] == "") m--; print file, "type", word[m] }
          }
          text = ""; open = 0; depth = 0 }'
}

list() {
    extract | sed -E 's|^wincompat/||; s|\.h | |' |
        grep -vE ' (WINCOMPAT_|WINCRT|WINOBJ_|_?NDSPI_|wincompat_|winobj_linux|PRI|SCN|[a-z0-9_]*_H$|IN6ADDR_.*_INIT$)|_H$' |
        grep -vE '^inttypes |^inaddr function ' | sort -u
}

# What a part of the headers is, from its first comment.
title() {
    sed -nE "s|^(/\* \| \* )$1\.h - ([^.:;,(]*)[.:;,(]?.*|\2|p" "compat/include/wincompat/$1.h" "compat/include/$1.h" 2>/dev/null | sed -n 1p |
        sed 's| *\(\*/\)\{0,1\}$||'
}

table() {
    local part kind
    echo "| Part | Kind | Names |"
    echo "|---|---|---|"
    while read -r part kind; do
        printf '| %s | %s | %s |\n' "$part: $(title "$part")" "$kind" \
            "$(awk -v p="$part" -v k="$kind" '$1 == p && $2 == k { printf "%s`%s`", n++ ? " " : "", $3 }' "$1")"
    done < <(awk '{ print $1, $2 }' "$1" | uniq)
}

# Where the tests of Windows functions expect something else of Wine, or do not ask it: DIFFERS(here, wine, why), and
# #ifndef _WIN32 with the reason in a comment. Prints the rows; fails where a reason is missing.
differences() {
    awk '
        function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); gsub(/[|]/, "\\|", s); return s }
        # The arguments of the call that text begins with, in arg[1..].
        function arguments(text,    i, c, depth, quoted, n) {
            n = 1; arg[1] = ""; depth = 0; quoted = ""
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (quoted != "") { if (c == "\\") { arg[n] = arg[n] c substr(text, ++i, 1); continue } if (c == quoted) quoted = "" }
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
            if (match($0, /\/\* .* \*\//)) print "| " file " | not asked | " trim(substr($0, RSTART + 3, RLENGTH - 6)) " |"
            else { place = FILENAME ":" FNR; if (test != "main" && getline > 0 && !/^#include/) reasonless[place] }
        }
        /^int main/ { test = "main" }
        /DIFFERS\(/ && !/#define/ { call = $0; sub(/.*DIFFERS\(/, "", call); while (!arguments(call)) { if ((getline line) <= 0) break; call = call " " trim(line) }
            arguments(call); why = trim(arg[3]); gsub(/^"|"$/, "", why)
            if (why != "both run at once") print "| " file " | `" trim(arg[1]) "`, Wine `" trim(arg[2]) "` | " why " |" }
        END { for (place in reasonless) { print place ": #ifndef _WIN32 without a reason" > "/dev/stderr"; bad = 1 } exit bad }
    ' $(win32_tests | sort) | uniq
}

# The sources of nd_win32_test: those that run under Wine too.
win32_tests() {
    for folder in tests/unit/compat tests/unit/winobj; do
        awk -v folder="$folder" '/^foreach\(name / { names = $0; sub(/^foreach\(name /, "", names); sub(/\).*/, "", names) }
            /nd_win32_test\(/ { n = split(names, name, " "); for (i = 1; i <= n; i++) print folder "/test_" name[i] ".c" }' \
            "$folder/CMakeLists.txt"
    done
}

# docs/porting.md with the tables in their places.
document() {
    table "$1" > "$scratch/names.table" || return 1
    { echo "| Test | Expected | Why |"; echo "|---|---|---|"; differences; } > "$scratch/differences.table" || return 1
    awk -v tables="$scratch/" '
        /^<!-- [a-z]*: begin/ { print; file = tables substr($2, 1, length($2) - 1) ".table"; while ((getline line < file) > 0) print line; skip = 1; next }
        /^<!-- [a-z]*: end/ { skip = 0 }
        !skip' docs/porting.md
}

# A function or spelling has to be used by a test: comments and texts are no use, nor is a longer word.
uncalled() {
    cat tests/unit/compat/*.[ch]* tests/unit/winobj/*.[ch] | sed -E 's/\\["\\]//g' | sed -E 's/"[^"]*"//g' |
        "${CC:-gcc}" -fpreprocessed -E -P -xc - 2>/dev/null | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u > "$scratch/words"
    awk '$2 == "function" || $2 == "spelling" { print $3 }' "$1" | sort -u | comm -23 - "$scratch/words"
}

case ${1:-} in
list) list ;;
update)
    list > "$scratch/names" && cp "$scratch/names" compat/names.txt
    document compat/names.txt > "$scratch/doc"
    cp "$scratch/doc" docs/porting.md
    ;;
check)
    status=0
    list > "$scratch/names"
    diff -u compat/names.txt "$scratch/names" || { echo "compat/names.txt is not what the headers provide: compat/names.sh update"; status=1; }
    document compat/names.txt > "$scratch/doc" || status=1
    diff -u docs/porting.md "$scratch/doc" || { echo "docs/porting.md does not show compat/names.txt: compat/names.sh update"; status=1; }
    uncalled compat/names.txt > "$scratch/uncalled"
    if [ -s "$scratch/uncalled" ]; then
        echo "no test in tests/unit/compat or tests/unit/winobj calls:"
        cat "$scratch/uncalled"
        status=1
    fi
    exit $status
    ;;
*) echo "usage: names.sh list|update|check" >&2; exit 2 ;;
esac
