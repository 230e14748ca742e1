#!/bin/bash
# SPDX-License-Identifier: MIT
# What is a function on Windows is one here: a program may call it as ::NAME(), take its address, hand it on. Asked of
# MinGW's headers: each name of ours for which they have a function behind (NAME), so that no macro with arguments
# expands. In C the name has to be a function here, too, in C++ a function or a template of functions.
# usage: functions.sh [compare|mutations] WORK-DIR; CC and CXX are the native compilers
set -euo pipefail
export LC_ALL=C
root=$(dirname "$(readlink -f "$0")")/../..
command=$1 work=$2
mingw=(x86_64-w64-mingw32-gcc -xc -std=gnu11 -D_WIN32_WINNT=0x0A00)
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$root/compat/names.sh" list | awk '$2 != "type" && $2 != "annotation" { print $3 }' | sort -u > names
cp -r "$root/compat/include" include
cmake -DINTO=include -P "$root/compat/headers.cmake"

# Functions of MinGW that Microsoft's compiler has built in, so that it takes no address of them either (C2707); and one
# that has to see how wide its argument is, since programs pass a long of 64 bits.
sort > except << 'TEXT'
ioctlsocket
AbnormalTermination
GetExceptionCode
_abnormal_termination
_exception_code
_exception_info
TEXT

prologue() {
    echo '#define WIN32_NO_STATUS'
    for header in winsock2 windows ws2tcpip ws2spi unknwn objbase process rpc tchar strsafe mmsystem psapi winioctl \
        winternl intrin mstcpip conio crtdbg intsafe iphlpapi io stdio stdlib string wchar; do
        echo "#include <$header.h>"
    done
}

# failing LIST FORM COMPILER FLAG...: of the names those whose FORM, with the name for @, does not compile
failing() {
    local list=$1 form=$2 count
    shift 2
    prologue > source
    count=$(wc -l < source)
    awk -v form="$form" '{ line = form; gsub(/@/, $0, line); print line }' "$list" >> source
    "$@" -w -fmax-errors=0 -fsyntax-only source 2>&1 |
        sed -nE 's/^source:([0-9]+):[0-9]+: error.*/\1/p' | sort -nu > failing || true
    awk -v count="$count" 'NR == FNR { bad[$1]; next } (FNR + count) in bad' failing "$list"
}

# The functions behind what is no function in our headers.
missing() {
    local is='_Static_assert(__builtin_types_compatible_p(__typeof__(*(@)), __typeof__((@))), "");'
    # gcc looks long for a name that is like one that it does not know, so what they do not mention is left out.
    prologue | "${mingw[@]}" -E -dD - | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u | comm -12 - names > known
    failing known "$is" "${mingw[@]}" > no_function
    comm -23 known no_function | comm -23 - except > functions
    [ "$(wc -l < functions)" -gt 600 ] || { echo "MinGW's headers were not read"; return 1; }
    failing functions "$is" "${CC:-gcc}" -xc -std=gnu11 -D_GNU_SOURCE -Iinclude | sed 's/$/ in C/'
    failing functions 'namespace n { using ::@; }' "${CXX:-g++}" -xc++ -std=gnu++17 -Iinclude | sed 's/$/ in C++/'
}

case $command in
compare)
    missing > said
    sed 's/^/a function in MinGW, none here: /' said
    echo "$(wc -l < functions) functions of Windows"
    [ ! -s said ]
    ;;
mutations)
    cat >> include/wincompat/base.h << 'TEXT'
#undef Sleep
#define Sleep(ms) wincompat_sleep(ms)
#define wincompat_no_function 7
#define ReadFile wincompat_no_function
TEXT
    sed -i 's/^\(WINOBJ_API void WINAPI \)Sleep(DWORD/\1wincompat_sleep(DWORD/' include/wincompat/handle.h
    missing > said
    diff said - << 'TEXT'
ReadFile in C
Sleep in C
ReadFile in C++
Sleep in C++
TEXT
    ;;
esac
