#!/bin/bash
# SPDX-License-Identifier: MIT
# The sources of samples/ndmpi are accepted, without a warning, as sources for Microsoft's compiler.
# usage: microsoft.sh CLANG++ SOURCE-DIR BUILD-DIR FLAG...
set -euo pipefail
compiler=$1 source=$2 build=$3
shift 3
status=0
for file in "$source"/samples/ndmpi/*.cpp; do
    case $file in
    */platform_windows.cpp | */launcher_pmix.cpp) continue ;; # Windows' own; needs PMIx
    esac
    "$compiler" "$@" -std=gnu++14 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$source/compat/include" \
        -I"$build/compat/include" -I"$source/ndspi/include" -I"$source/samples" -fsyntax-only "$file" || status=1
done
exit $status
