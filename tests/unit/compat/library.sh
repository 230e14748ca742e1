#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header of the C++ library behind windows.h, and before it, in one source a standard, gnu++11 to gnu++20, by g++
# and by clang++ where it is there. The library's own sources are the measure: what they say without windows.h (a
# header that needs another compiler, or an option) is theirs, anything more is ours. What hardly depends on the
# standard is looked at in one, and in all only with NDSPI_TEST_LONG: headers before windows.h, experimental ones.
# usage: library.sh CXX INCLUDE-DIR GENERATED-INCLUDE-DIR
set -euo pipefail
export LC_ALL=C
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$(command -v "$1")" "$scratch/given++" # a name without a path, for files
compilers=(given++)
command -v clang++ > /dev/null && compilers+=(clang++)
PATH=$scratch:$PATH
ours=("-I$2" "-I$3") made=$3 windows=(windows.h winsock2.h)

# headers COMPILER: the names of the library's headers, of the folder that the compiler reads <vector> from
headers() {
    local folder
    folder=$(echo '#include <vector>' | "$1" -xc++ -E - | sed -nE 's|^# 1 "(.*)/vector".*|\1|p' | sed -n 1p)
    (cd "$folder" && find . experimental -maxdepth 1 -type f ! -name '*.h.in' 2> /dev/null) | sed 's|^\./||' | sort -u
}

# errors WHERE COMPILER STANDARD LIST: of the source with windows.h there (before, behind, none), as "FILE:LINE MESSAGE"
errors() {
    local source="$scratch/$2.$3.$1.cpp" flags=(-fmax-errors=0)
    "$2" --version | grep clang > /dev/null && flags=(-ferror-limit=0)
    {
        [ "$1" = behind ] && printf '#include <%s>\n' "${windows[@]}"
        cat "$4"
        [ "$1" = before ] && printf '#include <%s>\n' "${windows[@]}"
        # The words of Windows are there again.
        [ "$1" = none ] || echo 'void call(__in ULONG a, __out_opt ULONG *b, _In_ __range(1, 2) ULONG c);'
    } > "$source"
    "$2" "-std=gnu++$3" -Wall -Wextra -Werror -Wno-cpp -Wno-deprecated "${flags[@]}" -fsyntax-only "${ours[@]}" \
        "$source" > "$source.said" 2>&1 && return
    sed -nE 's/^([^ ]+:[0-9]+):[0-9]+: (fatal )?error: /\1 /p' "$source.said" | awk '!seen[$0]++' | grep . ||
        cat "$source.said"
}

# look COMPILER STANDARD WHERE: errors that are ours
look() {
    local ours_alone
    sed 's/.*/#include <&>/' "$scratch/$1.headers" > "$scratch/$1.$2.$3.list"
    [ "$2" = 20 ] || sed -i '/<coroutine>/d' "$scratch/$1.$2.$3.list"
    [ "$2" = 17 ] || [ -n "${NDSPI_TEST_LONG:-}" ] || sed -i '/<experimental/d' "$scratch/$1.$2.$3.list"
    errors "$3" "$1" "$2" "$scratch/$1.$2.$3.list" > "$scratch/$1.$2.$3"
    [ -s "$scratch/$1.$2.$3" ] || return 0
    errors none "$1" "$2" "$scratch/$1.$2.$3.list" > "$scratch/$1.$2.none"
    ours_alone=$(grep -vxFf "$scratch/$1.$2.none" "$scratch/$1.$2.$3" | sed 's/^/    /' || true)
    [ -z "$ours_alone" ] && return 0
    printf 'FAILED: the C++ library with windows.h %s, %s -std=gnu++%s\n%s\n' \
        "$([ "$3" = before ] && echo behind it || echo before it)" "$1" "$2" "$(head -5 <<< "$ours_alone")"
}

for compiler in "${compilers[@]}"; do
    headers "$compiler" > "$scratch/$compiler.headers"
    [ "$(wc -l < "$scratch/$compiler.headers")" -gt 90 ] || echo "the headers of $compiler were not found"
    # One that has no form of ours reads with the words of Windows, and shows nothing behind another one that has read
    # the same files without them. The library's .h are C's names, which include the others.
    while read -r header; do
        [ -f "$made/$header" ] || case $header in *.h) ;; *) echo "compat/headers.cmake lacks <$header>" ;; esac
    done < "$scratch/$compiler.headers"
    for standard in 11 14 17 20; do
        look "$compiler" $standard behind &
        [ $standard != 20 ] && [ -z "${NDSPI_TEST_LONG:-}" ] || look "$compiler" $standard before &
        wait
    done
done > "$scratch/said" 2>&1
cat "$scratch/said"
[ ! -s "$scratch/said" ]
