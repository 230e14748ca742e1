#!/bin/bash
# SPDX-License-Identifier: MIT
# The source annotations of MinGW's headers, of both generations, are ours, too, with arguments where those take some.
# usage: sal.sh INCLUDE-DIR GENERATED-INCLUDE-DIR
set -euo pipefail
export LC_ALL=C
headers=(sal.h specstrings.h concurrencysal.h driverspecs.h rpcsal.h)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#include <%s>\n' "${headers[@]}" > "$scratch/headers.c"

# What is no annotation: guards, versions, and what the headers themselves are made of.
cat > "$scratch/inner" << 'TEXT'
CONCURRENCYSAL_HXX
DECLSPEC_ADDRSAFE
DRIVERSPECS_H
RPCSAL_H
SAL_HXX
_Csalcat1_(
_Csalcat2_(
_Internal_lock_level_order_(
_SAL1_2_Source_(
__RPCSAL_H_VERSION__
__inner_checkReturn
TEXT

# forms COMPILER FLAG...: "NAME" or "NAME(" of each macro
forms() { "$@" -E -dM "$scratch/headers.c" | sed -nE 's/^#define ([A-Za-z_0-9]+\(?).*/\1/p' | sort -u; }

for header in sal.h concurrencysal.h driverspecs.h rpcsal.h; do
    echo "#include <$header>" | x86_64-w64-mingw32-gcc -E -dD -xc - | awk -v header="/$header\"" '
        /^# [0-9]+ "/ { here = index($3, header) }
        here && /^#define / { name = $2; sub(/\(.*/, "(", name); print name }'
done | sort -u > "$scratch/theirs"
grep -vxFf "$scratch/inner" "$scratch/theirs" > "$scratch/wanted"
[ "$(wc -l < "$scratch/wanted")" -gt 550 ] || { echo "MinGW's headers were not read"; exit 1; }
forms "${CC:-gcc}" -I"$1" -I"$2" > "$scratch/ours"
comm -23 "$scratch/wanted" "$scratch/ours" > "$scratch/missing"
sed 's/^/an annotation of MinGW, none here: /; s/($/, with arguments/' "$scratch/missing"
echo "$(wc -l < "$scratch/wanted") annotations"
[ ! -s "$scratch/missing" ]
