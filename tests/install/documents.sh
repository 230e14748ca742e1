#!/bin/bash
# SPDX-License-Identifier: MIT
# `cmake --install` brings the documents and the license: each page of the tree that users read, with the sources of the
# samples, and what they link to is there, too.
# usage: documents.sh ROOT BUILD WORK
set -euo pipefail
source=$1 build=$2 work=$3 bad=0
rm -rf "$work"
cmake --install "$build" --prefix "$work" > /dev/null
documents=$work/share/doc/ndspi
[ -d "$documents" ] || { echo "no documents are installed"; exit 1; }
cd "$source"
count=0
while read -r file; do
    count=$((count + 1))
    cmp "$file" "$documents/$file" || bad=1
done < <(find LICENSE ./*.md docs samples '(' -name LICENSE -o -name '*.md' -o -name '*.svg' -o -name 'hello.c*' ')')
[ "$count" -gt 35 ] || { echo "only $count documents"; bad=1; }
"${0%/*}/../structure/links" "$documents" || bad=1
exit $bad
