#!/bin/bash
# SPDX-License-Identifier: MIT
# toolchain/check finds what is planted in a tree of one file, names its place, and passes the tree without it.
# usage: check.sh WORK-DIR
set -euo pipefail
check=$(dirname "$(readlink -f "$0")")/../../toolchain/check
rm -rf "$1"
mkdir -p "$1"/tree/toolchain
cd "$1"
cp "$(dirname "$check")/../.clang-format" tree
echo '# COUNT FILE' > tree/toolchain/long-lines

# finds PART STATUS REGEX: the regex is of what it says.
finds()
{
    local status=0
    ROOT=$PWD/tree "$check" "$PWD/build" "$1" > said 2>&1 || status=$?
    if [ "$status" != "$2" ] || ! grep -qE -- "$3" said; then
        echo "$1: status $status, not $2 with \"$3\":"
        cat said
        failed=1
    fi
}
with() { printf '%s\n' "$@" > tree/file.c; }

failed=0
long=$(printf '%0100d' 0)
with "/* $long 4567890123456 */"
finds lines 0 '^lines: nothing found'
with 'int a;' "/* $long 45678901234567 */"
finds lines 1 '^file\.c:2: 121 characters$'
echo '1 file.c' >> tree/toolchain/long-lines
finds lines 0 '^lines: nothing found'
with "/* $long 45678901234567 */" "/* $long 45678901234567 */"
finds lines 1 '^file\.c:2: 121 characters$'
finds nothing 2 'no part "nothing"'
if command -v codespell > /dev/null; then
    with '/* they receive it */'
    finds spell 0 '^spell: nothing found'
    with "/* they rec""ieve it */"
    finds spell 1 "^(\./)?file\.c:1: rec""ieve"
fi
if [[ $(clang-format --version 2> /dev/null) == *' version 14.'* ]]; then
    with 'int a;'
    finds format 0 '^format: nothing found'
    with 'int  a;'
    finds format 1 '^file\.c:1:4: error: code should be clang-formatted'
fi
if command -v clang-tidy > /dev/null; then
    cp "$(dirname "$check")/../.clang-tidy" tree
    mkdir -p build tree/util
    printf '[\n{\n  "directory": "%s",\n  "command": "cc -c util/file.c",\n  "file": "%s"\n}\n]\n' \
        "$PWD/tree" "$(readlink -f tree)/util/file.c" > build/compile_commands.json
    printf '#include <string.h>\nvoid f(char *p, int n);\nvoid f(char *p, int n)\n{\n    memset(p, n, 0);\n}\n' \
        > tree/util/file.c
    finds tidy 1 'file\.c:5:.*bugprone-suspicious-memset-usage'
    sed -i 's/n, 0/0, n/' tree/util/file.c
    finds tidy 0 '^tidy: nothing found'
fi
exit $failed
