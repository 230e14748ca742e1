#!/bin/bash
# SPDX-License-Identifier: MIT
# What mutate says of changes to a tiny program: noticed, not noticed, explained, standing still, not built, not
# applied.
# usage: itself.sh WORK-DIR
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$1
rm -rf "$work"
mkdir -p "$work/tree"
cd "$work"

cat > tree/CMakePresets.json <<'TEXT'
{ "version": 6, "configurePresets": [
    { "name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release" } ] }
TEXT
cat > tree/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(example LANGUAGES C)
enable_testing()
foreach(name small large)
    add_executable(test_${name} half.c test_${name}.c)
    add_test(NAME example.${name} COMMAND test_${name})
endforeach()
add_executable(never never.c)
TEXT
cat > tree/half.c <<'TEXT'
#define PARTS(n) \
    ((n) / \
        2)
static const int none[] = {
    0,
};
int half(int n);
int twice(int n);
int twice(int n)
{
    return 2 * n; /* not n / 2 */
}
int half(int n)
{
    if (n < 0)
        return none[0];
    return twice(n /
        2) /* parts */ / 2;
}
TEXT
echo 'int half(int n); int main(void) { return half(2) != 1; }' > tree/test_small.c
echo 'int half(int n); int main(void) { return half(2000) != 1000; }' > tree/test_large.c
echo '#error nobody needs this' > tree/never.c
cat > changes <<'TEXT'
# what is broken into lines, indented and commented otherwise is the same
== only the other test notices
in half.c half
- return   twice(n / 2) /
- 2;
+ return n & 1023 ? n / 2
+ : 0;
noticed by example\.small

== half of a half
in half.c half
- n / 2
+ n / 4
noticed by example\..*

== below zero not asked, of two lines
in half.c half
- if (n < 0) return none[0];
noticed by example\.large
explained nobody calls it so

== stands still
in half.c half
- return twice(n / 2) / 2;
+ for (volatile int i = n; i; i = n) ; return 1;
noticed by example\.small

== a part of a macro that nobody uses, and of a table
in half.c PARTS
- (n) / 2
+ (n)
noticed by example\.small
explained nobody uses it

== none is one
in half.c none
- 0
+ 1
noticed by example\.small
explained nobody calls it so
TEXT
cat > wrong <<'TEXT'
== no such text
in half.c half
- n / 3
+ n / 4
noticed by example\.small

== text of another function
in half.c twice
- n / 2
+ n / 4
noticed by example\.small

== text that is there twice
in half.c half
- return
+ break
noticed by example\.small

== part of a word
in half.c half
- urn none
+ urn 0 & none
noticed by example\.small

== no such function
in half.c third
- n / 2
+ n / 4
noticed by example\.small

== no such test
in half.c half
- n / 2
+ n / 4
noticed by example\.s
TEXT
printf '== no C\nin half.c half\n- n / 2\n+ n /\nnoticed by example.small\n' > unbuilt

# mutate STATUS ARGUMENT...: with its output in `said`
mutate()
{
    local wanted=$1 status=0
    shift
    "$here/mutate" --root tree --work done -j 1 "$@" > said 2>&1 || status=$?
    [ "$status" = "$wanted" ] || { echo "status $status, not $wanted, of mutate $*"; cat said; exit 1; }
}
says() { grep -qE -- "$1" said || { echo "not said: $1"; cat said; exit 1; }; }

before=$(cd tree && sha1sum -- *)
mutate 0 --list changes --check
says '^6 changes looked at'
mutate 1 --list wrong --check
says '^wrong:1: "no such text" does not apply: half\.c: "n / 3" is not there in "half"'
says '"text of another function" does not apply: half\.c: "n / 2" is not there in "twice"'
says '"text that is there twice" does not apply: half\.c: "return" is there 2 times in "half"'
says '"part of a word" does not apply'
says '"no such function" does not apply: half\.c: there is no "third"'
mutate 1 --list changes only
says '^1/1 half\.c: only the other test notices \.\.\. NOT NOTICED'
says '^1 changes: 1 NOT NOTICED'
mutate 0 --list changes 'half of' below
says 'half of a half \.\.\. noticed \(example\.(small|large)\)'
says 'of two lines \.\.\. explained \(nobody calls it so\)'
says '^2 changes: 1 explained, 1 noticed'
mutate 0 --list changes macro 'none is'
says '^2 changes: 2 explained, 0 noticed'
mutate 0 --list changes 'half of' below
says '^1 changes were noticed before, 1 are tried'
mutate 0 --list changes --fresh 'half of'
says '^0 changes were noticed before, 1 are tried'
mutate 1 --list wrong
says 'no such test \.\.\. does not apply'
says '^6 changes: 6 does not apply'
mutate 1 --list unbuilt
says 'no C \.\.\. does not build'
mutate 2 --list changes 'nobody has this name'
cp tree/test_small.c kept
sed -i "s/!= 1/!= 2/" tree/test_small.c
mutate 2 --list changes --fresh 'half of'
says 'tests fail without a change'
cp kept tree/test_small.c
[ "$(cd tree && sha1sum -- *)" = "$before" ]
[ ! -e tree/build ]
mutate 0 --limit 1 --list changes 'stands still'
says 'stands still \.\.\. noticed \(stands still\)'
