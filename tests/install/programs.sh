#!/bin/bash
# SPDX-License-Identifier: MIT
# What users expect of any program, held against each that is installed: -V and --version print its name and the
# version, -h and --help begin with "usage: ", each with status 0 and nothing on standard error; where standard output
# is full, status 0 is none of theirs, and they say why; a wrong option has status 2 (softrdma-run: 125, as env has,
# since 2 may be the command's) and is named; each has a completion of its own.
# usage: programs.sh BUILD WORK VERSION
set -uo pipefail
export LC_ALL=C NDSPI_LOG=none
build=$1 work=$2 version=$3 bad=0
rm -rf "$work"
cmake --install "$build" --prefix "$work" > /dev/null || exit 1
wrong() { echo "$*"; bad=1; }
# runs PROGRAM ARGUMENT...: status, its output in $output, its complaints in $complaints
runs() {
    output=$(env -u HOME -u WINEPREFIX "$work/bin/$1" "${@:2}" 2> "$work/complaints" < /dev/null)
    status=$?
    complaints=$(< "$work/complaints")
}
count=0 programs=()
for path in "$work"/bin/*; do
    program=${path##*/}
    count=$((count + 1))
    for option in -V --version; do
        runs "$program" $option
        [ "$status:$output:$complaints" = "0:$program $version:" ] ||
            wrong "$program $option: status $status, \"$output\", \"$complaints\""
    done
    for option in -h --help; do
        runs "$program" $option
        [[ $status:$output == "0:usage: "* && -z $complaints ]] ||
            wrong "$program $option: status $status, \"${output:0:80}\", \"$complaints\""
    done
    for option in -V -h; do
        complaints=$("$path" $option 2>&1 > /dev/full < /dev/null)
        status=$?
        [[ $status != 0 && $complaints =~ "No space left on device"|"cannot write to standard output" ]] ||
            wrong "$program $option > /dev/full: status $status, \"$complaints\""
    done
    expected=2
    [ "$program" != softrdma-run ] || expected=125
    runs "$program" --no-such-option
    [[ $status = "$expected" && $complaints == *"no-such-option"* && -z $output ]] ||
        wrong "$program --no-such-option: status $status, not $expected: \"$output\", \"${complaints:0:200}\""
    [ -e "$work/share/bash-completion/completions/$program" ] || wrong "$program has no completion"
    programs+=("$program")
done
if command -v zsh > /dev/null; then
    # shellcheck disable=SC2016
    while read -r program; do
        wrong "zsh has no completion of $program"
    done < <(zsh -f -c 'fpath=("$1" $fpath); autoload -U compinit; compinit -u -D
        for program in "${@:2}"; do
            [[ -n $_comps[$program]${_postpatcomps[(K)$program]} ]] || print $program
        done' - "$work/share/zsh/site-functions" "${programs[@]}")
fi
[ "$count" -gt 10 ] || wrong "only $count programs are installed"
exit $bad
