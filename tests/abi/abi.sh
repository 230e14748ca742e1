#!/bin/bash
# SPDX-License-Identifier: MIT
# What compiled programs depend on, against abi.def.
# usage: abi.sh values WORK-DIR TEST-ABI      every compiler's view, read from its object files
#        abi.sh complete WORK-DIR             the headers define nothing that abi.def lacks
#        abi.sh mutations WORK-DIR TEST-ABI   each class of check is shown to fail: by a changed header, with the name
# CC and CXX are the native compilers; clang and MinGW are asked too where they are installed.
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
root=$here/../..
command=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cc=${CC:-gcc}
cxx=${CXX:-g++}
warnings=(-Wall -Wextra -Werror)
cmake "-DINTO=$work/compat" -P "$root/compat/headers.cmake"
compat=(-I"$root/compat/include" -I"$work/compat")

# view NAME OBJCOPY COMPILER FLAG...: an object file's table, in NAME.bin
view() {
    local name=$1 objcopy=$2
    shift 2
    "$@" "${warnings[@]}" -c -o "$work/$name.o" && "$objcopy" -O binary -j .abi "$work/$name.o" "$work/$name.bin"
}

# views PREFIX OBJCOPY C-COMPILER C++-COMPILER FLAG...: both languages
views() {
    local prefix=$1 objcopy=$2 c=$3 cpp=$4 std
    shift 4
    view "$prefix.c11" "$objcopy" "$c" -std=gnu11 "$@" "$here/abi_table.c"
    for std in 11 20; do
        view "$prefix.c++$std" "$objcopy" "$cpp" -std=gnu++$std "$@" "$here/abi_table.cpp"
    done
}

native=(-I"$root/ndspi/include" "${compat[@]}")
windows=(-D_WIN32_WINNT=0x0A00 -I"$root/ndspi/include")
mingw=x86_64-w64-mingw32

values() {
    views native objcopy "$cc" "$cxx" "${native[@]}"
    if command -v clang clang++ >/dev/null; then
        views clang objcopy clang clang++ "${native[@]}"
    fi
    if command -v $mingw-gcc $mingw-g++ >/dev/null; then
        views mingw64 $mingw-objcopy $mingw-gcc $mingw-g++ "${windows[@]}"
        views mingw32 $mingw-objcopy $mingw-gcc $mingw-g++ "${windows[@]}" -m32
    else
        echo "no MinGW here: Windows' view was not looked at"
    fi
    "$1" "$work"/*.bin
}

# Rows of the table, as "KIND NAME".
listed() {
    {
        for row in SIZE INTEGER ALIGN; do echo "#define ABI_$row(T, ...) @type T@"; done
        echo '#define ABI_FIELD(T, F, ...) @field T.F@'
        for row in VALUE STATUS; do echo "#define ABI_$row(N, V) @constant N@"; done
        echo '#define ABI_IID(N, ...) @identifier N@'
        echo '#define ABI_FIRST_SLOT(I) @method I.QueryInterface@'
        echo '#define ABI_SLOT(I, M, S) @method I.M@'
        echo '#define ABI_SLOTS(I, ...) @interface I@ @type I@'
        echo '#define ABI_FUNCTION(N, ...) @function N@'
        echo "#include \"$root/tests/support/spec_codes.h\""
        echo "#include \"$here/abi.def\""
    } | "$cc" -E -P -xc - | tr '@' '\n' | grep -E '^(type|field|constant|identifier|method|interface|function) ' |
        sed -E 's/ *\. */./; s/\[.*\]//' | sort -u
}

# The same of the headers: everything between the line marks that name a file of ours.
defined() {
    local include=$1
    printf '#include <%s>\n' winsock2.h unknwn.h ndsupport.h ndprovider.h > "$work/all.c"
    "$cc" -std=gnu11 -I"$include" "${compat[@]}" -E -dD "$work/all.c" > "$work/all.i"
    awk -v ours="$include/" '
        /^# [0-9]+ "/ { file = $3; gsub(/"/, "", file); mine = index(file, ours) == 1; next }
        !mine { next }
        /^#undef / { delete constants[$2]; next }
        /^#define ND_HELPER_API / { next }                 # a calling convention, part of the functions
        /^#define / { if (NF > 2 && $2 !~ /\(/) constants[$2]; next }
        /^#/ { next }
        { text = text " " $0 }
        END {
            for (name in constants) print "constant", name
            gsub(/[ \t]+/, " ", text)
            while (match(text, /extern const GUID [A-Za-z_0-9]+/)) {
                print "identifier", substr(text, RSTART + 18, RLENGTH - 18)
                text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
            }
            rest = text
            while (match(rest, /(struct|enum) [A-Za-z_0-9]+ ?\{[^}]*\}[^;]*;/)) {
                one = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
                split(one, word, /[ {]/); tag = word[2]; body = one; sub(/^[^{]*\{/, "", body)
                names = body; sub(/^[^}]*\}/, "", names); sub(/\}.*/, "", body)
                if (tag ~ /Vtbl$/) {
                    sub(/Vtbl$/, "", tag); print "interface", tag
                    while (match(body, /\( ?\*[A-Za-z_0-9]+\)/)) {
                        method = substr(body, RSTART, RLENGTH); gsub(/[^A-Za-z_0-9]/, "", method)
                        print "method", tag "." method; body = substr(body, RSTART + RLENGTH)
                    }
                    continue
                }
                gsub(/[*; ]/, "", names); count = split(names, type, ",")
                for (i = 1; i <= count; i++) if (type[i] != "") print "type", type[i]
                if (one ~ /^enum/) { count = split(body, part, ","); kind = "constant " }
                else { count = split(body, part, ";"); kind = "field " type[1] "." }
                for (i = 1; i <= count; i++) {
                    sub(/ *=.*/, "", part[i]); sub(/ *\[.*/, "", part[i])
                    if (match(part[i], /[A-Za-z_0-9]+ *$/) && part[i] !~ /lpVtbl/) { name = substr(part[i], RSTART); gsub(/ /, "", name); print kind name }
                }
            }
            while (match(text, /typedef [A-Za-z_0-9 ]+ ?\*?[A-Za-z_0-9]+ ?;/)) {
                one = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
                if (one ~ /struct I?[A-Za-z0-9_]+Vtbl/) continue
                gsub(/[;*]/, " ", one); count = split(one, word, " "); print "type", word[count]
            }
        }' "$work/all.i"
    "$cc" -std=gnu11 -I"$include" "${compat[@]}" -fsyntax-only -aux-info "$work/prototypes" "$work/all.c"
    sed -nE "s|^/\* $include/[^:]*:[0-9]+:[A-Z]+ \*/ .*[ *]([A-Za-z_0-9]+) \(.*|function \1|p" "$work/prototypes"
}

# complete INCLUDE-DIR
complete() {
    defined "$1" | sort -u > "$work/defined"
    listed > "$work/listed"
    comm -23 "$work/defined" "$work/listed" > "$work/missing"
    [ "$(wc -l < "$work/defined")" -gt 300 ] || { echo "the headers were not read"; return 1; }
    [ ! -s "$work/missing" ] && return
    echo "the headers define what abi.def lacks:"
    cat "$work/missing"
    return 1
}

# mutation NAME HEADER SED-SCRIPT: with HEADER changed so, the check has to fail in both languages, naming NAME
mutation() {
    local name=$1 header=$2 script=$3 include=$work/include language
    rm -rf "$include"
    cp -r "$root/ndspi/include" "$include"
    sed -Ei "$script" "$include/$header"
    if cmp -s "$include/$header" "$root/ndspi/include/$header"; then
        echo "no mutation: $script"
        return 1
    fi
    for language in c cpp; do
        local compiler=("$cc" -std=gnu11)
        [ $language = c ] || compiler=("$cxx" -std=gnu++11)
        rm -f "$work/mutant.bin"
        if view mutant objcopy "${compiler[@]}" -I"$include" "${compat[@]}" "$here/abi_table.$language" \
            > "$work/said" 2>&1 && "$test_abi" "$work/mutant.bin" > "$work/said" 2>&1; then
            echo "nobody objects ($language): $script"
            return 1
        fi
        grep -q "$name" "$work/said" || { echo "$name is not named ($language): $script"; cat "$work/said"; return 1; }
    done
    echo "$name: $(tail -n +1 "$work/said" | grep "$name" | sed -n 1p)"
}

mutations() {
    test_abi=$1
    mutation ND2_SGE nddef.h 's/^( *)UINT32 MemoryRegionToken;.*/&\n    UINT64 More;/'                           # size
    mutation ND_MW_DESCRIPTOR nddef.h 's/pack\(push, 1\)/pack(push, 8)/'                                     # packing
    mutation ND2_RESULT.BytesTransferred nddef.h \
        '/^typedef struct _ND2_RESULT/,/^\}/{s/HRESULT Status/ULONG Spare/; s/ULONG BytesTransferred/HRESULT Status/; s/ULONG Spare/ULONG BytesTransferred/}' # offset
    mutation 'Nd2RequestTypeRead' nddef.h 's/^    Nd2RequestTypeBind,/&\n    Nd2RequestTypeMore,/'             # enum
    mutation ND_MR_FLAG_ALLOW_REMOTE_WRITE nddef.h 's/(ND_MR_FLAG_ALLOW_REMOTE_WRITE *)0x00000005/\10x00000004/' # constant
    mutation ND_IO_TIMEOUT ndstatus.h 's/(ND_IO_TIMEOUT .*)0xC00000B5U/\10xC00000B6U/'                       # code
    mutation ND_OP_FLAG_INLINE nddef.h '/define ND_OP_FLAG_INLINE/d'                                         # missing constant
    mutation IID_IND2QueuePair ndspi.h 's/0xbce3|0xbc, 0xe3/0xbc, 0xe4/'                                     # identifier
    mutation IND2QueuePair::Read ndspi.h '/DECLARE_INTERFACE_\(IND2QueuePair,/,/^\};/{s/IFACEMETHOD\(Read\)/IFACEMETHOD(Swap)/; s/IFACEMETHOD\(Write\)/IFACEMETHOD(Read)/; s/IFACEMETHOD\(Swap\)/IFACEMETHOD(Write)/}' # slot
    mutation IND2Listener ndspi.h '/DECLARE_INTERFACE_\(IND2Listener,/,/^\};/s/^\};/    IFACEMETHOD(More)(THIS) PURE;\n};/' # slots in all
    mutation NdCheckAddress ndsupport.h 's/(NdCheckAddress\(const struct sockaddr \*pAddress, )SIZE_T/\1ULONG/' # function
    # The other direction: a new constant, member, enumerator or method that has no row.
    local change
    for change in 's/^#define ND_VERSION_2 .*/&\n#define ND_VERSION_NEW 3/' 's/^    Nd2RequestTypeWrite$/&,\n    Nd2RequestTypeNew/' \
        's/^    UINT32 MemoryRegionToken;.*/&\n    UINT64 New;/' 's/^typedef VOID \*ND_MR_HANDLE;/&\ntypedef VOID *ND_NEW;/'; do
        rm -rf "$work/include"
        cp -r "$root/ndspi/include" "$work/include"
        sed -Ei "$change" "$work/include/nddef.h"
        if complete "$work/include" > "$work/said" || ! grep -qi 'new' "$work/said"; then
            echo "not missed: $change"
            return 1
        fi
    done
}

case $command in
values) values "$3" ;;
complete) complete "$root/ndspi/include" ;;
mutations) mutations "$3" ;;
*) echo "abi.sh: values, complete or mutations" >&2; exit 2 ;;
esac
