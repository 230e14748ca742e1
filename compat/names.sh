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
headers="windows winsock2 ws2tcpip ws2spi unknwn objbase initguid tchar process ntstatus sal"
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
    sed -nE "s|^(/\* \| \* )$1\.h - ([^.:;,(]*)[.:;,(]?.*|\2|p" "compat/include/wincompat/$1.h" "compat/include/$1.h" 2>/dev/null | head -1 |
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

# docs/porting.md with the table in its place.
document() {
    table "$1" > "$scratch/table"
    awk -v table="$scratch/table" '
        /^<!-- names: begin/ { print; while ((getline line < table) > 0) print line; skip = 1 }
        /^<!-- names: end/ { skip = 0 }
        !skip { if ($0 !~ /^<!-- names: begin/) print }' docs/porting.md
}

# A function or spelling has to be used by a test; what is written in lists of the tests themselves counts as well.
uncalled() {
    cat tests/unit/compat/*.[ch]* tests/unit/winobj/*.[ch] | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u > "$scratch/words"
    awk '$2 == "function" || $2 == "spelling" { print $3 }' "$1" | sort -u | comm -23 - "$scratch/words"
}

case ${1:-} in
list) list ;;
update)
    list > "$scratch/names" && cp "$scratch/names" compat/names.txt
    document compat/names.txt > "$scratch/doc" && cp "$scratch/doc" docs/porting.md
    ;;
check)
    status=0
    list > "$scratch/names"
    diff -u compat/names.txt "$scratch/names" || { echo "compat/names.txt is not what the headers provide: compat/names.sh update"; status=1; }
    document compat/names.txt | diff -u docs/porting.md - || { echo "docs/porting.md does not show compat/names.txt: compat/names.sh update"; status=1; }
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
