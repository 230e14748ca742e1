#!/bin/bash
# SPDX-License-Identifier: MIT
# The libraries tell the C library of forks in util/fork.c alone; docs/internals/fork.md names each file with a row of
# that table, and no other.
# usage: fork.sh ROOT
set -euo pipefail
cd "$1"
page=docs/internals/fork.md bad=0
sources() { grep -rlE "$1" --include='*.[ch]' --exclude-dir={build,tests,samples} -- * | LC_ALL=C sort; }
calls=$(sources '\bpthread_atfork *\(')
[ "$calls" = util/fork.c ] || { echo "pthread_atfork is called in:"; echo "$calls"; bad=1; }
rows=$(sources '^(FORK_(ROW|HOLDS|CHILD)|WIN_HELD_OVER_FORK)\(')
[ "$(wc -l <<< "$rows")" -gt 15 ] || { echo "only few rows are found, their form is another"; bad=1; }
diff --label rows --label "$page" <(echo "$rows") <(grep '^|' "$page" | grep -oE '`[a-z0-9_]+/[a-z0-9_/]+\.c`' |
    tr -d '`' | LC_ALL=C sort -u) || bad=1
exit $bad
