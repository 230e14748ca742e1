#!/bin/bash
# SPDX-License-Identifier: MIT
# Sources for Microsoft's compiler are compiled and run: dialect/words.cpp, seh.cpp and seh.c by g++ and gcc with
# -fms-extensions, and with microsoft.cpp by clang++ in its Microsoft modes; what windows.h reads of the C++ library.
# usage: dialect.sh WORK-DIR LIBRARY-DIR PROJECT-DIR CLANG-FLAG...
set -euo pipefail
export LC_ALL=C
work=$1 libraries=$2 project=$3
shift 3
here=$(dirname "$(readlink -f "$0")")
rm -rf "$work"
mkdir -p "$work"
cmake "-DINTO=$work/include" -P "$project/compat/headers.cmake"
warnings=(-Wall -Wextra -Werror "-I$project/compat/include" "-I$work/include" "-I$project/ndspi/include")
link=("-L$libraries" "-Wl,-rpath,$libraries" -lndwin32 -lwinobj -lndspi_compat)
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}

# runs SOURCE COMPILER FLAG...: it compiles without a warning, and its program returns 0
runs() {
    local source=$here/dialect/$1
    shift
    rm -f "$work/program"
    "$@" "${warnings[@]}" "$source" -o "$work/program" "${link[@]}" || { fail "$* $source"; return 0; }
    "$work/program" || fail "status $? of $source by $*"
}

# refuses HOW...: of the program just built: the way out is named, and the program ends by SIGABRT
refuses() {
    local how status
    for how; do
        status=0
        "$work/program" "$how" 2> "$work/said" || status=$?
        [ $status = 134 ] && grep -q '__try was left without its end or __leave' "$work/said" \
            || fail "$how out of __try: status $status, \"$(cat "$work/said")\""
    done
}

# unhandled: of the program just built: what RaiseException throws, and nobody takes, gets to the last filter
unhandled() {
    local status=0
    "$work/program" raise || status=$?
    [ $status = 42 ] || fail "an exception that nobody takes: status $status"
}

# reads COMPILER FLAG...: windows.h brings headers of the C library alone
c_headers='cstdlib|cstdio|cstring|cwchar|cinttypes|cstdint|stdlib\.h|pstl/pstl_config\.h'
c_headers+='|bits/(std_abs|cxxabi_forced|os_defines|cpu_defines|c\+\+config|version)\.h'
reads() {
    echo '#include <windows.h>' > "$work/alone.cpp"
    "$@" "${warnings[@]}" -M "$work/alone.cpp" | tr ' ' '\n' | grep -E '/c\+\+/[0-9]+/' |
        grep -vE "/($c_headers)\$" && fail "windows.h reads these by $*"
    return 0
}

for std in "gnu++11 -O0" "gnu++20 -O2"; do
    read -ra gxx <<< "g++ -fms-extensions -Wno-narrowing -std=$std"
    runs words.cpp "${gxx[@]}"
    runs words.cpp "${gxx[@]}" -DNDSPI_LIMITS -fshort-wchar
    runs seh.cpp "${gxx[@]}"
    refuses return goto break continue throw
    unhandled
    reads "${gxx[@]}"
done
runs seh.c gcc -std=gnu11 -O2 -fms-extensions
refuses return
if command -v clang++ > /dev/null; then
    for std in 11 20; do
        clang=(clang++ "-std=gnu++$std" -O1 "$@")
        runs words.cpp "${clang[@]}"
        runs words.cpp "${clang[@]}" -DNDSPI_LIMITS
        runs seh.cpp "${clang[@]}"
        refuses return goto break continue throw
        unhandled
        runs microsoft.cpp "${clang[@]}" -DWIDTH=4
        runs microsoft.cpp "${clang[@]}" -fshort-wchar -DWIDTH=2
        reads "${clang[@]}"
    done
    runs seh.c clang -std=gnu11 -fms-extensions
    refuses return
else
    echo "no clang here: its Microsoft modes were not looked at"
fi
exit $failed
