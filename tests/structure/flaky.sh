#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests that fail by chance, in a tree of a few: toolchain/tests repeats and names them, toolchain/flaky counts them,
# and toolchain/phases shows them at the very end.
# usage: flaky.sh WORK-DIR
set -euo pipefail
unset NDSPI_TEST_FLAKY # of the run that this test is part of
toolchain=$(readlink -f "$(dirname "$(readlink -f "$0")")/../../toolchain")
rm -rf "$1"
mkdir -p "$1/toolchain" "$1/build"
cd "$1"
cp "$toolchain"/{tests,common,flaky,flaky-found,phases} toolchain
# The n-th run of "sometimes" is n; each run of "one_in_four" looks at a number of its own.
cat > CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(example NONE)
enable_testing()
add_test(NAME group.sometimes COMMAND sh -c "echo . >> runs; echo run $(wc -l < runs); test $(wc -l < runs) -ge 3")
add_test(NAME group.always COMMAND true)
add_test(NAME group.neighbour COMMAND sh -c "echo . >> neighbour")
add_test(NAME group.never COMMAND false)
add_test(NAME group.one_in_four COMMAND sh -c
    "until mkdir turn; do :; done; echo . >> turns; n=$(wc -l < turns); rmdir turn; test $((n % 4)) -ne 0")
add_test(NAME group.slow COMMAND sleep 100)
add_test(NAME group.fails_rightly COMMAND false)
add_test(NAME group.skipped COMMAND sh -c "echo no device; exit 77")
add_test(NAME group.environment COMMAND sh -c "test \"$GIVEN\" = a=b")
set_tests_properties(group.slow PROPERTIES TIMEOUT 1)
set_tests_properties(group.fails_rightly PROPERTIES WILL_FAIL TRUE)
set_tests_properties(group.skipped PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(group.environment PROPERTIES ENVIRONMENT "GIVEN=a=b")
TEXT
cmake -G Ninja -S . -B build/example > configured
failed=0

# gives STATUS REGEX COMMAND...: the regex is of what it says.
gives()
{
    local status=0
    "${@:3}" > said 2>&1 || status=$?
    if [ "$status" != "$1" ] || ! grep -qE -- "$2" said; then
        echo "${*:3}: status $status, not $1 with \"$2\":"
        cat said
        failed=1
    fi
}

# Two failures before it passes: named, with what it printed; a failure where that is asked for.
gives 0 '^FLAKY group\.sometimes: failed 2 of 3 \(build/flaky/example/group\.sometimes\.1\)$' \
    toolchain/tests example -R 'sometimes|always'
grep -qx 'run 2' build/flaky/example/group.sometimes.2 || { echo "the second failure is not kept"; failed=1; }
rm build/example/runs
gives 1 '^FLAKY group\.sometimes: failed 2 of 3' env NDSPI_TEST_FLAKY=fail toolchain/tests example -R 'sometimes'
# Three failures are a failure, and nothing else; so is what always passes.
gives 8 'group\.never \(Failed\)' toolchain/tests example -R never
! grep -q FLAKY said || { echo "a test that always fails is called flaky"; failed=1; }
gives 0 '100% tests passed' toolchain/tests example -R always
[ ! -e build/flaky/example ] || { echo "what an earlier run found is still there"; failed=1; }
gives 1 'ctest has no option "--devise"' toolchain/tests example --devise

# Counted, with what failed runs printed; neighbours run meanwhile.
gives 1 '^group\.one_in_four: failed 10 of 40 \(4 at a time, [0-9]+ neighbours beside' \
    toolchain/flaky group.one_in_four -n 40 -j 4 -p example
[ "$(find build/flaky/group.one_in_four -name 'run.*' | wc -l)" = 10 ] || { echo "not ten outputs"; failed=1; }
[ -s build/example/neighbour ] || { echo "no neighbour ran"; failed=1; }
rm build/example/neighbour
gives 0 '^group\.always: failed 0 of 7 \(2 at a time; median' toolchain/flaky group.always -n 7 -j 2 -a -p example
[ ! -e build/example/neighbour ] || { echo "a neighbour ran beside a test that is alone"; failed=1; }
gives 1 '^group\.slow: failed 2 of 2' toolchain/flaky group.slow -n 2 -j 2 -a -p example
gives 0 '^group\.fails_rightly: failed 0 of 3' toolchain/flaky group.fails_rightly -n 3 -a -p example
gives 0 '^group\.environment: failed 0 of 3' toolchain/flaky group.environment -n 3 -a -p example
gives 2 'group\.skipped is skipped: no device' toolchain/flaky group.skipped -n 3 -a -p example
gives 2 'has no test "group\.some"; it has group\.sometimes' toolchain/flaky group.some -p example
gives 2 '^flaky: usage' toolchain/flaky -n 0 group.always

# Phases: a table at the end, the flaky tests behind it, the failure in words.
cat > phased <<'TEXT'
#!/bin/bash
. toolchain/phases
mkdir -p build/flaky/a && echo "FLAKY a test" > build/flaky/a/found
phase "first" echo one
phase "second" "$@"
phase "third" true
TEXT
chmod +x phased
gives 0 '^FLAKY a test' ./phased echo two
[ "$(tail -n 1 said)" = "FLAKY a test" ] || { echo "not at the very end"; cat said; failed=1; }
gives 0 '^third +0\.0 min$' ./phased true
gives 3 '^FAILED: the phase "second"$' ./phased sh -c 'exit 3'
grep -q '^second .* FAILED (status 3)$' said || { echo "the table does not say what failed"; cat said; failed=1; }
! grep -q third said || { echo "a phase ran behind one that failed"; failed=1; }
goes_on=1 gives 1 '^FAILED: the phase "second"$' ./phased sh -c 'exit 3'
grep -qE '^third +0\.0 min$' said || { echo "none ran behind it"; failed=1; }
exit $failed
