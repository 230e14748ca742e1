#!/bin/bash
# SPDX-License-Identifier: MIT
# What the pages of docs/internals name is there: of `a/file.c` a file with that path at its end, of `a_name` the word
# in a source. A * in a path stands for anything.
# usage: pages.sh ROOT
set -euo pipefail
cd "$1"
bad=0
files=$(find . -path ./build -prune -o -path ./.git -prune -o -type f -print)
words=$(find util reactor softrdma winobj win32 ndspi ndk wine tools compat -name '*.[ch]' -exec cat {} + |
    grep -oE '[A-Za-z]\w*_\w+' | sort -u)
# The words in backticks of a page, without its pictures; one may go over the end of a line.
quoted() { sed '/^```/,/^```/d' "$1" | tr '\n' ' ' | grep -oE '`[^`]+`' | tr -d '`' | sort -u; }

for page in docs/internals/*.md; do
    count=0
    while IFS= read -r quote; do
        if [[ $quote =~ ^[A-Za-z0-9_/*-]+\.(c|h|pl|sh|md)$ ]]; then
            pattern="*/${quote}"
            [[ $'\n'$files$'\n' == *$'\n'$pattern$'\n'* ]] || { echo "$page: no file $quote"; bad=1; }
        elif [[ $quote =~ ^[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+$ ]]; then
            grep -qx "$quote" <<< "$words" || { echo "$page: no $quote in a source"; bad=1; }
        else
            continue
        fi
        count=$((count + 1))
    done < <(quoted "$page")
    [ "$count" -gt 5 ] || { echo "$page: only $count files and names are found, the form is another"; bad=1; }
done
exit $bad
