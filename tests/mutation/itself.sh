#!/bin/bash
# SPDX-License-Identifier: MIT
# What mutate says of changes to a tiny program: noticed, not noticed, explained, standing still, not built, not
# applied; which changes are made by rule, and which of these survive.
# usage: itself.sh WORK-DIR
set -euo pipefail
# git rebase -x, or a hook, in a linked worktree exports GIT_DIR: "git init" would be about that repository.
# shellcheck disable=SC2046
! command -v git > /dev/null || unset $(git rev-parse --local-env-vars)
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
add_compile_options(-g)
add_subdirectory(part)
add_subdirectory(tests/unit/part)
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
mkdir -p tree/part tree/tests/unit/part
cat > tree/part/sample.c <<'TEXT'
#include <stdlib.h>
#define LEAST (1 + 1)
struct pair {
    int a, b;
};
static const int most[3] = { 1, 2, 3 };
struct pair pair(int a);
int inside(const int *n, int flags);
struct pair pair(int a)
{
    const struct pair made = { .a = a, .b = a };

    return made;
}
int inside(const int *n, int flags)
{
    int copy[2];

    if (n && *n > LEAST) {
        copy[0] = *n; /* if (n < 5) return 5; */
        rand();
        return copy[0] < most[2] || (flags & (2 | 4)) ? 10 : 0;
    }
    log_write("if (n < 5) return 5;");
    while (0)
        exit(1);
    return -1;
}
TEXT
echo 'add_library(part STATIC sample.c)' > tree/part/CMakeLists.txt
cat > tree/tests/unit/part/CMakeLists.txt <<'TEXT'
add_executable(test_sample test_sample.c)
add_executable(test_more test_more.c)
target_link_libraries(test_sample part)
target_link_libraries(test_more part)
add_test(NAME part.sample COMMAND test_sample)
add_test(NAME part.more COMMAND test_more)
TEXT
sed -i 's/^#define LEAST/static void log_write(const char *text) { (void)text; }\n&/' tree/part/sample.c
echo 'int inside(const int *, int); int main(void) { int n = 0; return inside(&n, 0) != -1; }' \
    > tree/tests/unit/part/test_sample.c
echo 'int inside(const int *, int); int main(void) { int n = 4; return inside(&n, 2) != 10 || inside(&n, 1); }' \
    > tree/tests/unit/part/test_more.c
echo 'part part\..*' > covers
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
    "$here/mutate" --root tree --work done -j 1 --covers covers "$@" > said 2>&1 || status=$?
    [ "$status" = "$wanted" ] || { echo "status $status, not $wanted, of mutate $*"; cat said; exit 1; }
}
says() { grep -qE -- "$1" said || { echo "not said: $1"; cat said; exit 1; }; }

sums() { (cd tree && find . -type f -exec sha1sum {} + | sort); }

before=$(sums)
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
[ "$(sums)" = "$before" ]
[ ! -e tree/build ]
mutate 0 --limit 1 --list changes 'stands still'
says 'stands still \.\.\. noticed \(stands still\)'

# Changes by rule: of code alone, and each kind of them.
mutate 0 --random 1000 --check
sed '/^seed/d; s/^part\/sample\.c://' said | sort > made
sort > wanted <<'TEXT'
14: returns 0 for: made
20: always: n && *n > LEAST
20: never: n && *n > LEAST
20: left out: n &&
20: left out: && *n > LEAST
20: ">=" for ">": *n > LEAST
21: left out: copy[0] = *n;
21: one more than: 0
22: left out: rand();
23: returns 0 for: copy[0] < most[2] || (flags & (2 | 4)) ? 10 : 0
23: the other choice: copy[0] < most[2] || (flags & (2 | 4))
23: left out: copy[0] < most[2] ||
23: left out: || (flags & (2 | 4))
23: "<=" for "<": copy[0] < most[2]
23: one more than: 0
23: one more than: 2
23: left out: 2 |
23: left out: | 4
23: one more than: 2 | 4
23: one more than: 2 | 4
23: one more than: 10
23: one more than: 0
27: left out: exit(1);
27: one more than: 1
28: returns 0 for: -1
TEXT
diff wanted made
mutate 0 --random 1000
says '^itself part/sample\.c:20: always: .* killed \(part\.sample\)'
says '^itself part/sample\.c:20: never: .* survives'
says '^folder part/sample\.c:20: never: .* killed \(part\.more\)'
says 'sample\.c:14: .* does not compile'
says 'sample\.c:27: left out: exit\(1\); \.\.\. compiles to the same'
[ "$(grep ^survives said)" = "survives: part/sample.c:20: left out: n &&
survives: part/sample.c:20: \">=\" for \">\": *n > LEAST
survives: part/sample.c:22: left out: rand();
survives: part/sample.c:23: left out: copy[0] < most[2] ||
survives: part/sample.c:23: \"<=\" for \"<\": copy[0] < most[2]
survives: part/sample.c:23: one more than: 2
survives: part/sample.c:23: left out: | 4" ] || { cat said; exit 1; }
says '^killed 15 of 22 \(68 %\), 1 did not compile, 2 compiled to the same'
[ "$(sums)" = "$before" ]
mutate 0 --random 3 --seed 7 --in part/sample.c --check
cp said drawn
mutate 0 --random 3 --seed 7 --check
cmp drawn said
[ "$(wc -l < said)" = 4 ]
mutate 0 --random 3 --in other
says '^0 changes by rule'

# Only what differs from a commit.
command -v git > /dev/null || exit 0
git() { command git -C tree -c user.name=itself -c user.email=itself@localhost "$@"; }
git init -q
git add .
git commit -qm before
sed -i 's/rand();/exit(1);/' tree/part/sample.c
mutate 0 --lines --since HEAD --check
[ "$(cat said)" = "part/sample.c:22: left out: exit(1);
part/sample.c:22: one more than: 1" ] || { cat said; exit 1; }
sed -i 's/exit(1);/rand(); \/* again *\//; s/return none/return 0 * none/' tree/part/sample.c tree/half.c
sed -i 's/^- if (n < 0).*/- if (n < 0) return 0 * none[0];/' changes
mutate 0 --changed --since HEAD --list changes --fresh 'below zero'
says '^1 changes: 1 explained'
says '^survives: part/sample\.c:22: left out: rand\(\);'
says '^killed 0 of 1 \(0 %\), 0 did not compile, 1 compiled to the same'
