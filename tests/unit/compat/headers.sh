#!/bin/bash
# SPDX-License-Identifier: MIT
# The public headers under gcc and (where present) clang, C11 and C++11 to C++20, all warnings errors: each alone, with
# parts of the C library before and behind it; all of them in one source, in either order; each Interlocked function as
# a statement. Other Windows headers are further down the path, and none of theirs is reached.
# All headers in one source are compiled by each compiler for each standard. The rest hardly depends on these: one of C
# and one of C++ do it, and all only with NDSPI_TEST_LONG.
# usage: headers.sh CC CXX INCLUDE-DIR...
set -u
export LC_ALL=C
compilers=("$1 -xc -std=c11" "$1 -xc -std=gnu11")
for std in 11 14 17 20; do compilers+=("$2 -xc++ -std=c++$std"); done
if command -v clang clang++ >/dev/null; then
    compilers+=("clang -xc -std=c11")
    for std in 11 14 17 20; do compilers+=("clang++ -xc++ -std=c++$std"); done
fi
few=("$1 -xc -std=c11" "$2 -xc++ -std=c++20")
[ -z "${NDSPI_TEST_LONG:-}" ] || few=("${compilers[@]}")
shift 2
ours=("${@/#/-I}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$(dirname "$(readlink -f "$0")")/../../../compat/names.sh" list >"$scratch/names"

# A header of another's with one of our names must never be read; those with other names come from Wine and DirectX.
mkdir "$scratch/foreign"
foreign=("-I$scratch/foreign")
for folder in /usr/include/wine/wine/windows /usr/include/wine/windows /usr/include/directx /usr/include/wsl \
    /usr/include/wsl/stubs; do
    [ -d "$folder" ] && foreign+=("-I$folder")
done
paths=()
# Those that change how all behind them is packed are in test_sdk.c.
mapfile -t headers < <(for folder in "$@"; do
    find "$folder" -name '*.h' ! -name 'p[so]*pack*.h' -printf '%P\n'
done | sort -r)
for header in "${headers[@]}"; do
    case $header in */*) mkdir -p "$scratch/foreign/${header%/*}" ;; esac
    echo "#error foreign $header" >"$scratch/foreign/$header"
    for folder in "$@"; do [ -f "$folder/$header" ] && path=$folder/$header; done
    paths+=("$path")
done

number=0
# compile WHAT COMPILER LINE...: a source of these lines, for later
compile() {
    local what=$1 compiler=$2
    shift 2
    number=$((number + 1))
    printf '%s\n' "$@" >"$scratch/$number.src"
    echo "$compiler -Wall -Wextra -Werror -fsyntax-only -MD -MF $scratch/$number.d ${ours[*]} ${foreign[*]} $scratch/$number.src || echo 'FAILED: $what with $compiler'" \
        >>"$scratch/commands"
}
include() { printf '#include <%s>\n' "$@"; }
# Calls of all that there are, the results unused.
interlocked() {
    awk '$1 == "interlocked" && $3 ~ /^_?Interlocked/ {
        operand = $3 ~ /Pointer/ ? "pointer" : $3 ~ /64/ ? "wide" : "narrow"
        value = $3 ~ /(In|De)crement/ ? "" : $3 ~ /Pointer/ ? ", NULL" : ", 1"
        print $3 "(" operand value ($3 ~ /CompareExchange/ ? value : "") ");"
        seen++
    } END { exit !seen }' "$scratch/names"
}

# Alone: forwarders that differ in the spelling of their name only are compiled once, parts of the base by one compiler;
# as C, which asks for more of them than C++.
declare -A seen
mapfile -t sums < <(sha256sum "${paths[@]}")
for index in "${!headers[@]}"; do
    header=${headers[index]} sum=${sums[index]%% *}
    [ -n "${seen[$sum]:-}" ] && continue
    seen[$sum]=1
    for compiler in "${few[@]}"; do
        case $header:$compiler in
        *gnu11 | *++14 | *++17 | wincompat/*:clang* | wincompat/*++20) ;;
        *) compile "$header" "$compiler" "$(include "$header" stdio.h)" ;;
        esac
    done
done
for compiler in "${compilers[@]}"; do
    case $compiler in *-xc++*) continue ;; esac # library.sh
    compile "system headers on both sides" "$compiler" \
        "$(include stdlib.h sys/socket.h windows.h winsock2.h ndsupport.h stdio.h wchar.h netdb.h regex.h)"
done
for compiler in "${few[@]}"; do
    # What programs were found to rely on: words and types, each header the only one of its source.
    compile "annotations behind ndspi.h alone" "$compiler" "#include <ndspi.h>" \
        "HRESULT call(__in ULONG a, __out_opt ULONG *b, __inout_bcount(a) PVOID c, _In_ ULONG d);"
    compile "annotations of counts" "$compiler" "#include <sal.h>" "#include <rpcsal.h>" \
        "void call(_Out_opt_bytecap_post_bytecount_(b, *c) void *a, unsigned b, unsigned *c, _In_count_(b) const char *d);" \
        "_Ret_ char *first(_Deref_out_z_cap_c_(4) char **a, __RPC__in_opt const char *b, __in_awcount(1, 2) void *c);" \
        "_Ret_maybenull_z_ char *text(_Inout_cap_(b) char *a, unsigned b, _Outptr_result_maybenull_z_ char **c) _Post_equals_last_error_;"
    compile "versions" "$compiler" "#include <SDKDDKVer.h>" \
        "#if _WIN32_WINNT < _WIN32_WINNT_WIN7 || NTDDI_VERSION < NTDDI_WIN7" "#error old" "#endif" "int versions;"
    compile "limits of paths" "$compiler" "#include <windows.h>" \
        "char path[_MAX_PATH], drive[_MAX_DRIVE], folder[_MAX_DIR], name[_MAX_FNAME], extension[_MAX_EXT];" \
        "LPPROCESS_HEAP_ENTRY block; PROCESS_HEAP_ENTRY blocks[2]; struct DECLSPEC_CACHEALIGN line { int i; };"
    compile "interfaces by wtypes.h" "$compiler" "#include <wtypes.h>" "IUnknown *unknown; HRESULT status;"
    compile "addresses by ws2ipdef.h" "$compiler" "#include <ws2ipdef.h>" \
        "SOCKADDR_INET address; struct sockaddr_in6 other;"
    for header in ws2tcpip.h Ws2tcpip.h WS2tcpip.h; do
        compile "names of hosts by $header" "$compiler" "#include <$header>" \
            "#ifndef _WS2IPDEF_" "#error does not include ws2ipdef.h" "#endif" "PADDRINFOW hosts;"
    done
done
for compiler in "${compilers[@]}"; do
    compile "Interlocked functions as statements" "$compiler" "#include <windows.h>" \
        "void calls(volatile LONG *narrow, volatile LONG64 *wide, volatile PVOID *pointer);" \
        "void calls(volatile LONG *narrow, volatile LONG64 *wide, volatile PVOID *pointer)" "{" \
        "$(interlocked || echo no names)" "}"
    compile "all headers" "$compiler" "$(include "${headers[@]}")"
    compile "all headers, the other way round" "$compiler" "$(include "${headers[@]}" | tac)"
done

tr '\n' '\0' <"$scratch/commands" | xargs -0 -n1 -P2 sh -c >"$scratch/log" 2>&1
cat "$scratch/log"
status=0
if cat "$scratch"/*.d | grep -E 'foreign/|/wine/|/directx/|/wsl/'; then
    echo "FAILED: these were read"
    status=1
fi
echo "$(wc -l <"$scratch/commands") compilations; on the path behind: ${foreign[*]}"
[ -s "$scratch/commands" ] && ! grep -q '^FAILED' "$scratch/log" || status=1
exit $status
