#!/bin/bash
# SPDX-License-Identifier: MIT
# toolchain/check finds what is planted in a tree of one file, names its place, and passes the tree without it.
# usage: check.sh WORK-DIR
set -euo pipefail
# git rebase -x, or a hook, in a linked worktree exports GIT_DIR: "git init" would be about that repository.
# shellcheck disable=SC2046
! command -v git > /dev/null || unset $(git rev-parse --local-env-vars)
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

# The messages of commits, and which files clang-tidy reads where only the changed ones are asked for.
if command -v git > /dev/null; then
    git() { command git -C tree -c user.name=a -c user.email=a@b -c commit.gpgsign=false "$@"; }
    # commit LINES MESSAGE: with so many lines of the product.
    commit() {
        mkdir -p tree/util
        seq "$1" > tree/util/text
        git add util
        git commit -q --allow-empty -m "$2"
        git reset -q --soft HEAD
    }
    finds commits 0 'no clone that has the commit'
    git init -q
    commit 1 landed
    git rev-parse HEAD > tree/toolchain/landed
    finds commits 0 '^commits: nothing found'
    commit 12 "$(printf '%072d' 0)"
    commit 40 "$(printf 'a subject\n\nbecause')"
    finds commits 0 '^commits: nothing found'
    # message STATUS REGEX LINES MESSAGE: of a commit that is taken back.
    message() {
        commit "$3" "$4"
        finds commits "$1" "$2"
        git reset -q --hard HEAD~
    }
    message 1 '^[0-9a-f]{10}: a subject of 73 characters, 72 are the most: 0' 1 "$(printf '%073d' 0)"
    message 1 'a subject with ";" has two topics' 1 'one; two'
    message 1 'ends with a full stop: one\.$' 1 'one.'
    message 1 'no empty line behind the subject' 1 "$(printf 'one\ntwo')"
    message 1 'no body that says why, for 160 lines' 200 'one'
    message 1 'no body that says why' 200 "$(printf 'one\n\nSigned-off-by: a <a@b>')"
    message 0 'nothing found' 45 'one'
    git reset -q --hard HEAD~2
    # finds_changed STATUS REGEX: in the files that differ from the landed commit.
    finds_changed()
    {
        local status=0
        ROOT=$PWD/tree "$check" -c "$PWD/build" tidy > said 2>&1 || status=$?
        if [ "$status" != "$1" ] || ! grep -qE -- "$2" said; then
            echo "tidy of what changed: status $status, not $1 with \"$2\":"
            cat said
            failed=1
        fi
    }
    if command -v clang-tidy > /dev/null; then
        printf '#include "util/file.h"\n#include <string.h>\nvoid f(char *p, int n);\n%s\n' \
            'void f(char *p, int n) { memset(p, n, 0); }' > tree/util/file.c
        echo 'struct s;' > tree/util/file.h
        git add util
        git commit -q -m "files"
        git rev-parse HEAD > tree/toolchain/landed
        finds_changed 0 '^tidy: nothing found'
        echo 'struct t;' >> tree/util/file.h # which the other includes
        finds_changed 1 'file\.c:4:.*bugprone-suspicious-memset-usage'
        git checkout -q util/file.h
        echo '/* text */' >> tree/util/file.c
        finds_changed 1 'file\.c:4:.*bugprone-suspicious-memset-usage'
    fi
fi
exit $failed
