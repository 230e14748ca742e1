#!/bin/bash
# SPDX-License-Identifier: MIT
# Each header of a directory compiles alone: C11 and C++11 to C++20, gcc and (where present) clang, all warnings errors. Those
# that programs put first also with the standard headers behind them. Other Windows headers are further down the path.
# usage: headers.sh INCLUDE-DIR CC CXX
set -u
cd "$1" || exit 2
include=$PWD
compilers=("$2 -xc -std=c11" "$2 -xc -std=gnu11")
for std in 11 14 17 20; do compilers+=("$3 -xc++ -std=c++$std"); done
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
    compilers+=("clang -xc -std=c11")
    for std in 11 14 17 20; do compilers+=("clang++ -xc++ -std=c++$std"); done
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Other Windows headers (Wine's, DirectX's) may be behind these on the path; none of theirs may be reached from ours.
mkdir "$scratch/foreign"
for header in *.h; do echo "#error foreign $header" >"$scratch/foreign/$header"; done

# Forwarders that differ in the spelling of their name alone are compiled once.
declare -A seen
number=0
while read -r header; do
    sum=$(sha256sum "$header")
    sum=${sum%% *}
    [ -n "${seen[$sum]:-}" ] && continue
    seen[$sum]=1
    for compiler in "${compilers[@]}"; do
        number=$((number + 1))
        {
            echo "#include <$header>"
            echo "#include <stdio.h>"
            case "$header $compiler" in
            windows.h\ *-xc++* | winsock2.h\ *-xc++* | unknwn.h\ *-xc++*) printf '#include <%s>\n' algorithm vector string iostream map thread random ;;
            esac
        } >"$scratch/$number.src"
        echo "$compiler -Wall -Wextra -Werror -fsyntax-only -I$include -I$scratch/foreign $scratch/$number.src || echo 'FAILED: $header with $compiler'"
    done
done < <(find . -name '*.h' -printf '%P\n' | LC_ALL=C sort -r) >"$scratch/commands"

tr '\n' '\0' <"$scratch/commands" | xargs -0 -n1 -P2 sh -c >"$scratch/log" 2>&1
cat "$scratch/log"
echo "$(wc -l <"$scratch/commands") compilations"
[ -s "$scratch/commands" ] && ! grep -q '^FAILED' "$scratch/log"
