#!/bin/bash
# SPDX-License-Identifier: MIT
# The layout of NDKPI and of its kernel primitives, against ndk.def and ndkwdm.def.
# usage: ndk.sh values WORK-DIR      every compiler agrees with every row
#        ndk.sh complete WORK-DIR    ndkpi.h, ndkinfo.h and wskndk.h define nothing that ndk.def lacks; nor do the
#                                    others define such status codes or pool flags
#        ndk.sh mutations WORK-DIR   each class of row is shown to fail: by a changed header, with the name
# CC and CXX are the native compilers; clang and MinGW are asked too where they are installed.
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
root=$here/../..
work=$2
rm -rf "$work"
mkdir -p "$work"
cc=${CC:-gcc}
cxx=${CXX:-g++}
check=(-Wall -Wextra -Werror -fsyntax-only)
mingw=x86_64-w64-mingw32

# tables INCLUDE-DIR C-COMPILER C++-COMPILER FLAG...
tables() {
    local include=$1 c=$2 cpp=$3 std
    shift 3
    # What the headers read of compat/, without its Windows-named headers.
    [[ $c == *mingw* ]] || set -- -I"$root/compat/include" "$@"
    "$c" -std=c11 "${check[@]}" -I"$include" "$@" "$here/ndk_table.c"
    for std in 11 20; do
        "$cpp" -std=c++$std "${check[@]}" -I"$include" "$@" "$here/ndk_table.cpp"
    done
}

values() {
    local headers=$root/ndk/include c cpp
    local compat=(-isystem "$root/compat/include" -isystem "$work/compat")
    cmake "-DINTO=$work/compat" -P "$root/compat/headers.cmake"
    for c in "$cc" clang; do
        cpp=$cxx
        [ "$c" != clang ] || cpp=clang++
        command -v "$c" "$cpp" >/dev/null || continue
        tables "$headers" "$c" "$cpp" -Wpedantic
        tables "$headers" "$c" "$cpp" "${compat[@]}"
        tables "$headers" "$c" "$cpp" "${compat[@]}" -include windows.h
        tables "$headers" "$c" "$cpp" "${compat[@]}" -include ndspi.h -I"$root/ndspi/include"
    done
    if ! command -v $mingw-gcc $mingw-g++ >/dev/null; then
        echo "no MinGW here: Windows' view was not looked at"
        return
    fi
    tables "$headers" $mingw-gcc $mingw-g++ -D_WIN32_WINNT=0x0A00
    # What MinGW has itself: it, too, agrees with the rows.
    for c in ndkinfo ndkpi; do
        echo "#include <$c.h>" > "$work/has.c"
        $mingw-gcc -M -include windows.h "$work/has.c" >/dev/null 2>&1 || { echo "MinGW has no $c.h"; continue; }
        if [ $c = ndkinfo ]; then
            $mingw-gcc -std=c11 "${check[@]}" -DNDK_OF_MINGW "$here/ndk_table.c"
            $mingw-g++ -std=c++11 "${check[@]}" -DNDK_OF_MINGW "$here/ndk_table.cpp"
        else
            $mingw-gcc -std=c11 "${check[@]}" -include "$root/ndk/include/ndktypes.h" "$here/ndk_table.c"
        fi
        echo "MinGW's $c.h agrees"
    done
}

# Names that the rows have, and those that the headers define.
complete() {
    local include=$1
    {
        for row in SIZE FIELD VALUE CODE TYPE CALL SLOT SLOTS ALIGN; do
            echo "#define NDK_$row(name, ...) @name@ @__VA_ARGS__@"
        done
        echo '#undef NDK_FIELD'
        echo '#define NDK_FIELD(type, field, ...) @type.field@'
        echo '#undef NDK_SLOT'
        echo '#define NDK_SLOT(type, field, ...) @type.field@'
        echo "#include \"$root/tests/support/spec_codes.h\""
        echo "#include \"$here/ndk.def\""
        echo "#include \"$here/ndkwdm.def\""
    } | "$cc" -E -P -I"$here" -xc - | grep -oE '@ *[A-Za-z_0-9]+ *(\. *[A-Za-z_0-9]+)? *@' | tr -d '@ ' |
        sort -u > "$work/listed"
    printf '#include <%s>\n' ndkpi.h wskndk.h ndkwdm.h > "$work/all.c"
    "$cc" -std=c11 -I"$include" -I"$root/compat/include" -E -dD "$work/all.c" > "$work/all.i"
    perl -ne '
        if (/^# \d+ "(.*?)"/) {
            $mine = $1 =~ m{/(ndkpi|ndkinfo|wskndk)\.h$};
            $codes = $1 =~ m{/(ndktypes|ndkwdm|ndkwdm/\w+)\.h$};
            next;
        }
        if ($codes && /^#define ((?:NDIS_)?STATUS_\w+|POOL_FLAG_\w+) /) { print "$1\n"; next }
        next unless $mine;
        if (/^#define (\w+) \S/) { print "$1\n"; next }
        next if /^#/;
        $text .= $_;
        END {
            print "$1\n" while $text =~ /\(\*((?:NDK_FN|PFN)_\w+)\)\(/g;
            while ($text =~ /(?:struct|enum)\s+_(\w+)\s*\{(.*?)\n\}/gs) {
                my ($type, $body) = ($1, $2);
                print "$type\n";
                if ($body =~ /;/) { print "$type.$1\n" while $body =~ /(\w+)(?:\[\d+\])?;/g }
                else { print "$1\n" while $body =~ /^\s*(\w+)/gm }
            }
        }' "$work/all.i" | sort -u > "$work/defined"
    # The functions, by what the library exports; those named after the project are no interface of Windows'.
    sed -nE 's/^    ([A-Za-z0-9]+);$/\1/p' "$root/ndk/ndk.map" |
        grep -vE '^Ndk|^PsThreadType$|16$' >> "$work/defined"
    sort -u -o "$work/defined" "$work/defined"
    [ "$(wc -l < "$work/defined")" -gt 350 ] || { echo "the headers were not read"; return 1; }
    comm -23 "$work/defined" "$work/listed" > "$work/missing"
    [ ! -s "$work/missing" ] && return
    echo "the headers define what ndk.def lacks:"
    cat "$work/missing"
    return 1
}

# mutation NAME HEADER SED-SCRIPT: a header changed so is objected to in both languages, by NAME
mutation() {
    local name=$1 header=$2 script=$3 include=$work/include language
    rm -rf "$include"
    cp -r "$root/ndk/include" "$include"
    cp -r "$root/compat/include/wincompat" "$include"
    cp "$include/$header" "$work/unchanged"
    sed -Ei "$script" "$include/$header"
    if cmp -s "$include/$header" "$work/unchanged"; then
        echo "no mutation: $script"
        return 1
    fi
    for language in c cpp; do
        local compiler=("$cc" -std=c11)
        [ $language = c ] || compiler=("$cxx" -std=c++11)
        if "${compiler[@]}" "${check[@]}" -I"$include" "$here/ndk_table.$language" > "$work/said" 2>&1; then
            echo "nobody objects ($language): $script"
            return 1
        fi
        grep -qF "$name" "$work/said" || { echo "$name is not named ($language): $script"; cat "$work/said"; return 1; }
    done
}

mutations() {
    mutation 'size of NDK_SGE' ndkpi.h 's/^( *)UINT32 MemoryRegionToken;.*/&\n    UINT64 More;/'
    mutation 'offset of NDK_RESULT_EX.ProviderErrorCode' ndkpi.h \
        '/^typedef struct _NDK_RESULT_EX/,/^\}/{
            s/NDK_OPERATION_TYPE Type/ULONG Spare/
            s/ULONG ProviderErrorCode/NDK_OPERATION_TYPE Type/
            s/ULONG Spare/ULONG ProviderErrorCode/
        }'
    mutation 'alignment of NDK_ADAPTER_INFO' ndkinfo.h 's/SIZE_T (MaxRegistrationSize|MaxWindowSize)/ULONG \1/'
    mutation 'value of NdkObjectTypeListener' ndkpi.h 's/NdkObjectTypeListener = 9/NdkObjectTypeListener = 8/'
    mutation 'value of NDK_OP_FLAG_DEFER' ndkpi.h 's/(define NDK_OP_FLAG_DEFER *)0x00000200/\10x00000100/'
    mutation 'value of STATUS_CANCELLED' wincompat/ntstatus.h 's/0xC0000120u/0xC0000121u/'
    mutation 'type of STATUS_CANCELLED' wincompat/ntstatus.h 's/\(\(NTSTATUS\)(0xC0000120u)\)/(\1)/'
    mutation 'slot of NDK_MR_DISPATCH.NdkGetLocalTokenFromMr' ndkpi.h \
        '/^typedef struct _NDK_MR_DISPATCH/,/^\}/{
            /NdkGetRemoteTokenFromMr;/d
            s/^.*NdkGetLocalTokenFromMr;/&\n    NDK_FN_GET_REMOTE_TOKEN_FROM_MR NdkGetRemoteTokenFromMr;/
        }'
    mutation 'type of NDK_QP_DISPATCH.NdkWrite' ndkpi.h 's/NDK_FN_WRITE NdkWrite;/NDK_FN_SEND NdkWrite;/'
    mutation 'slots in NDK_CONNECTOR_DISPATCH' ndkpi.h 's/^( *)NDK_FN_ACCEPT_EX NdkAcceptEx;/&\n    PVOID More;/'
    mutation 'type of NDK_FN_FAST_REGISTER' ndkpi.h 's/ULONG FBO, SIZE_T Length/SIZE_T Length, ULONG FBO/'
    mutation 'value of POOL_FLAG_PAGED' ndkwdm/pool2.h 's/0x0000000000000100ULL/0x0000000000000200ULL/'
    mutation 'offset of WSK_PROVIDER_DISPATCH.WskControlClient' ndkwdm/wsk.h \
        's/WskSocket, WskSocketConnect;/WskSocket;/'
    mutation 'type of PFN_WSK_NDK_OPEN_ADAPTER' wskndk.h 's/NDK_VERSION NdkVersion/NDK_VERSION *NdkVersion/'
    mutation 'type of KeSetTimerEx' ndkwdm/timer.h \
        's/(KeSetTimerEx\(PKTIMER timer), LARGE_INTEGER due/\1, LONG due/'
    mutation 'offset of DRIVER_OBJECT.DriverUnload' ndkwdm/driver.h \
        '/^typedef struct _DRIVER_OBJECT/,/^\}/s/ULONG DriverSize/&, DriverSize2[2]/'
    mutation 'offset of IO_STACK_LOCATION.CompletionRoutine' ndkwdm/irp.h \
        '/^typedef struct _IO_STACK_LOCATION/,/^\}/{/PFILE_OBJECT FileObject;/d}'
    mutation 'type of KeWaitForMultipleObjects' ndkwdm/event.h \
        's/(KeWaitForMultipleObjects\()ULONG count/\1USHORT count/'
    # The other direction: what is new has no row.
    local change
    for change in 's/^#define NDK_CQ_NOTIFY_ANY .*/&\n#define NDK_NEW 3/' \
        's/^    NdkObjectTypeMax = 11/&,\n    NdkObjectTypeNew = 12/' \
        's/^    UINT32 MemoryRegionToken;.*/&\n    UINT64 New;/' \
        's/^typedef VOID \(\*NDK_FN_FLUSH.*/&\ntypedef VOID (*NDK_FN_NEW)(NDK_QP *pNdkQp);/'; do
        rm -rf "$work/include"
        cp -r "$root/ndk/include" "$work/include"
        sed -Ei "$change" "$work/include/ndkpi.h"
        if complete "$work/include" > "$work/said" || ! grep -qi new "$work/said"; then
            echo "not missed: $change"
            return 1
        fi
    done
    cp "$root/ndk/include/ndkpi.h" "$work/include"
    echo '#define STATUS_NEW ((NTSTATUS)0xC0FFEE00u)' >> "$work/include/ndktypes.h"
    if complete "$work/include" > "$work/said" || ! grep -q STATUS_NEW "$work/said"; then
        echo "not missed: a status code"
        return 1
    fi
}

case $1 in
values) values ;;
complete) complete "$root/ndk/include" ;;
mutations) mutations ;;
*) echo "ndk.sh: values, complete or mutations" >&2; exit 2 ;;
esac
