#!/bin/bash
# SPDX-License-Identifier: MIT
# The program that README shows is samples/hello/hello.cpp, below its license, and has at most 60 lines.
# usage: readme.sh ROOT
set -euo pipefail
cd "$1"
shown=$(sed -n '/^```cpp$/,/^```$/p' README.md | sed '1d;$d')
[ -n "$shown" ] || { echo "README.md shows no program"; exit 1; }
diff <(printf '%s\n' "$shown") <(tail -n +2 samples/hello/hello.cpp)
count=$(wc -l <<< "$shown")
[ "$count" -le 60 ] || { echo "README's program has $count lines"; exit 1; }
