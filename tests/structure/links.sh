#!/bin/bash
# SPDX-License-Identifier: MIT
# Each page that a page links to, and each page of docs/ that any file names, is there.
# usage: links.sh ROOT
set -euo pipefail
cd "$1"
bad=0
pages() { find . -path ./build -prune -o -name '*.md' -print; }
while IFS= read -r page; do
    while IFS= read -r link; do
        [ "$link" = https ] || [ -e "$(dirname "$page")/$link" ] || { echo "$page: no $link"; bad=1; }
    done < <(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)#:]+' | cut -c3- || true)
done < <(pages)
while IFS=: read -r file page; do
    [ -e "$page" ] || { echo "$file: no $page"; bad=1; }
done < <(grep -rIoE --exclude-dir=build --exclude-dir=.git 'docs/[a-z/-]+\.md' . | sort -u)
exit $bad
