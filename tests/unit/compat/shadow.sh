#!/bin/bash
# SPDX-License-Identifier: MIT
# Our libraries shadow nothing of the C library: none defines a name that libc, libm or the C++ library has, and a
# source without a Windows-named header calls libc's functions.
# usage: shadow.sh CC INCLUDE-DIR GENERATED-INCLUDE-DIR LIBRARY...; the folders of the Windows-named headers
set -euo pipefail
export LC_ALL=C
cc=$1 include=(-I"$2" -I"$3")
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for library in libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1; do
    nm -D --defined-only "$("$cc" -print-file-name=$library)" | awk '{ sub(/@.*/, "", $NF); print $NF }'
done | sort -u > "$scratch/system"
[ "$(wc -l < "$scratch/system")" -gt 3000 ] || { echo "the system's libraries were not read"; exit 1; }

# What the linker adds to each library by itself.
printf '%s\n' __bss_start _edata _end _fini _init > "$scratch/linker"
status=0
for library in "$@"; do
    case $library in *.a) flags=(-g) ;; *) flags=(-D) ;; esac
    nm "${flags[@]}" --defined-only "$library" 2>/dev/null |
        awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u > "$scratch/ours"
    [ -s "$scratch/ours" ] || { echo "$library defines nothing"; exit 1; }
    comm -12 "$scratch/ours" "$scratch/system" | comm -23 - "$scratch/linker" > "$scratch/both"
    [ -s "$scratch/both" ] && { echo "$library shadows:"; cat "$scratch/both"; status=1; }
done

cat > "$scratch/plain.c" <<'TEXT'
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <wchar.h>
int use(wchar_t *w, char *s, fd_set *f);
int use(wchar_t *w, char *s, fd_set *f)
{
    return printf("%s", s) + swprintf(w, 4, L"%ls", w) + sscanf(s, "%d", &(int){ 0 }) + select(1, f, NULL, NULL, NULL);
}
TEXT
"$cc" -std=gnu11 -O0 -fno-builtin "${include[@]}" -c "$scratch/plain.c" -o "$scratch/plain.o"
nm -u "$scratch/plain.o" | grep -E 'wincrt|wincompat' && { echo "^ without a Windows-named header"; status=1; }
{ echo '#include <winsock2.h>'; cat "$scratch/plain.c"; } > "$scratch/ported.c"
"$cc" -std=gnu11 -O0 -fno-builtin "${include[@]}" -c "$scratch/ported.c" -o "$scratch/ported.o"
for function in wincrt_printf wincrt_swprintf wincrt_sscanf wincompat_select; do
    nm -u "$scratch/ported.o" | grep "$function" > /dev/null \
        || { echo "with one, $function is not what is called"; status=1; }
done

# Socket functions go by other symbols, in each language, also where glibc has inline functions, and after a use.
cat > "$scratch/calls.c" <<'TEXT'
#ifdef USED_BEFORE
#include <sys/socket.h>
static inline long before(int s, char *text) { return recv(s, text, 4, 0) + send(s, text, 4, 0); }
#endif
#include <winsock2.h>
long use(int s, int n, struct sockaddr *a);
long use(int s, int n, struct sockaddr *a)
{
    char text[4];
    long (*binds)(int) = n ? (long (*)(int))(void *)bind : 0;
#ifdef USED_BEFORE
    n += (int)before(s, text);
#endif
    return recv(s, text, 4, 0) + recv(s, text, (size_t)n, 0) + connect(s, a, 16) + accept(s, 0, 0) +
        getsockopt(s, 0, 0, 0, 0) + binds(s);
}
TEXT
for compiler in "$cc" clang; do
    command -v "$compiler" > /dev/null || continue
    for flags in "-O0" "-O2 -D_FORTIFY_SOURCE=2" "-O2 -DUSED_BEFORE"; do
        for language in "c -std=gnu11" "c++ -std=gnu++11" "c++ -std=gnu++20"; do
            # shellcheck disable=SC2086
            "$compiler" -x $language $flags -Wall -Wno-cast-function-type -Wno-macro-redefined -Werror "${include[@]}" \
                -c "$scratch/calls.c" -o "$scratch/calls.o"
            for function in recv connect accept bind getsockopt; do
                called=$(nm -u "$scratch/calls.o" | grep -oE "\b(wincompat_|__)?$function(_chk)?$")
                [ "$called" = "wincompat_$function" ] ||
                    { echo "$compiler $flags, $language: $function is Linux' own"; status=1; }
            done
        done
    done
done
exit $status
