#!/bin/bash
# SPDX-License-Identifier: MIT
# The manual pages and completions of an installed prefix: each program has a page, which has, as completions have,
# every option that the program's -h names. Of all pages: manual_pages.
# usage: manual.sh BUILD WORK
set -euo pipefail
export LC_ALL=C
build=$1 work=$2 bad=0
command -v mandoc > /dev/null || { echo "no mandoc"; exit 77; }
command -v zsh > /dev/null || { echo "no zsh"; exit 77; }
rm -rf "$work"
cmake --install "$build" --prefix "$work" > /dev/null
man=$work/share/man completions=$work/share/bash-completion/completions
wrong() { echo "$*"; bad=1; }
"${0%/*}/manual_pages" "${0%/*}/../.." "$work" || bad=1

# said PROGRAM: the options in its -h. What stands behind another program's name is not its own.
said()
{
    NDSPI_LOG=none "$work/bin/$1" -h 2>&1 | sed 's/softrdma-run [a-z].*//' |
        grep -oE '(^|[][ |,("])--?[a-zA-Z][a-zA-Z_-]*' | grep -oE -- '--?[a-zA-Z][a-zA-Z_-]*$' | sort -u
}
declare -A options # of each program
for program in "$work"/bin/*; do
    options[${program##*/}]=$(said "${program##*/}" || true)
done
# has TEXT OPTION: as a word of its own
has() { [[ $1 =~ (^|[^-a-z])$2([^-a-z]|$) ]]; }

# offered PROGRAM: what bash offers behind "-"
offered()
{
    # shellcheck disable=SC2016
    bash -c 'source "$1"; COMP_CWORD=1; function=$(complete -p "$2" | sed "s/.*-F \([^ ]*\).*/\1/")
        COMPREPLY=(); "$function" "$2" - "$2"; printf "%s\n" "${COMPREPLY[@]}"' - "$completions/$1" "$1"
}

zsh_functions=$work/share/zsh/site-functions
[ "$(zsh -f -c 'fpath=("$1" $fpath); autoload -U compinit; compinit -u -D
    print $_comps[ndinfo] $_comps[smbdcopy] $_comps[softrdma-run]' - "$zsh_functions")" = \
    "_ndspi _ndspi _softrdma-run" ] || wrong "zsh does not find its completions"
for file in "$zsh_functions"/_*; do
    zsh -n "$file" || wrong "zsh cannot read ${file##*/}"
done
for program in "$work"/bin/*; do
    name=${program##*/}
    page=$man/man1/$name.1
    [ -e "$page" ] || { wrong "$name has no page"; continue; }
    case $(head -1 "$page") in .so*) page=$man/$(sed 's/^\.so //' "$page") ;; esac
    text=$(mandoc -Tascii "$page" | sed 's/.\x08//g')
    case $name in
    ndring|ndhalo|ndalltoall|ndlatency) continue ;; # usage: ndmpirun ...
    esac
    [ -n "${options[$name]}" ] || [ "$name" = ndadapterinfo ] || wrong "$name -h names no option"
    zsh_offers=$(cat "$zsh_functions/_$name" 2> /dev/null || cat "$zsh_functions/_ndspi")
    bash_offers=
    [ ! -e "$completions/$name" ] || bash_offers=$(offered "$name")
    for option in ${options[$name]}; do
        has "$text" "$option" || wrong "$name(1) lacks $option"
        [ -e "$completions/$name" ] || continue
        has "$zsh_offers" "$option" || wrong "zsh does not offer $option to $name"
        [[ $'\n'$bash_offers$'\n' == *$'\n'"$option"$'\n'* ]] || wrong "bash does not offer $option to $name"
    done
done

# What the documents and the programs' own messages tell the user to type is there: the option behind a program's name.
root=$(dirname "$0")/../..
while read -r name option; do
    [ -e "$work/bin/$name" ] || continue
    [[ $'\n'${options[$name]}$'\n' == *$'\n'"$option"$'\n'* ]] ||
        wrong "the sources tell of \"$name $option\": no such option"
done < <(cd "$root" &&
    grep -rhoE '\b(nd[a-z0-9]+|ndspi-wine|smbd(copy|cat|serve)|softrdma-run) --?[a-zA-Z][a-zA-Z_-]*' \
    README.md docs samples tools wine ndspi ndk softrdma win32 winobj util \
    --include='*.md' --include='*.[ch1-9]' --include='*.cpp' | sort -u)
exit $bad
