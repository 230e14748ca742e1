#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: aarch64.sh SOURCE-DIR SCRATCH-DIR
#
# Compiles CRC-32C for aarch64 by clang, which compiles for every processor, with the headers of this machine and an
# empty one in place of the list of stubs that glibc has for each processor. Skipped (status 77) without clang.
set -eu
source=$1 scratch=$2/$$

command -v clang >/dev/null || { echo "no clang"; exit 77; }
clang -print-targets | grep aarch64 > /dev/null || { echo "this clang has no aarch64"; exit 77; }
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/gnu"
: > "$scratch/gnu/stubs-32.h"
for file in crc32c crc32c_aarch64; do
    clang --target=aarch64-linux-gnu -std=gnu11 -O2 -Wall -Wextra -Werror -I "$source" -I "$scratch" \
        -isystem "/usr/include/$(gcc -print-multiarch)" -S "$source/softrdma/wire/$file.c" -o "$scratch/$file.s"
done
for instruction in crc32cx crc32cb; do
    grep -q "$instruction" "$scratch/crc32c_aarch64.s" || { echo "no $instruction"; exit 1; }
done
