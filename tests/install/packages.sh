#!/bin/bash
# SPDX-License-Identifier: MIT
# Each file that is installed is in one of Debian's packages, unless debian/not-installed names it, and in the one of
# packaging/ndspi.spec that stands for it; no line of either list is about nothing. Only those of ndspi-wine and of
# MinGW are not in the spec, which builds without MinGW. The unit is no file of `cmake --install`.
# usage: packages.sh ROOT BUILD WORK LIBDIR
set -euo pipefail
shopt -s nullglob
source=$1 build=$2 work=$3 libdir=$4 bad=0
wrong() { echo "$*"; bad=1; }
rm -rf "$work"
cmake --install "$build" --prefix "$work" > /dev/null
cd "$work"

# PACKAGE PATTERN, relative to the prefix; the spec's names of packages for both.
# shellcheck disable=SC2317 # called by name
debian() {
    local list package
    for list in "$source"/debian/*.install; do
        package=${list##*/}
        [ "$(uname -m)" != x86_64 ] || [ ! -e "$list.amd64" ] || list=$list.amd64
        case ${package%.install} in
        lib*0) package=libs ;;
        libndspi-dev) package=devel ;;
        ndspi-tools) package=tools ;;
        ndspi-doc) package=doc ;;
        *) package=${package%.install} ;;
        esac
        sed -E "s, .*,,; s,^usr/lib/\*/,$libdir/,; s,^usr/,,; s,^,$package ," "$list"
    done
}
# shellcheck disable=SC2317
spec() {
    sed -nE "s,^%files ?(-n )?,,; t name; b line; :name; h; b; :line; /^%\{_unitdir/d
        /^%\{_/ { G; s,(.*)\n(.*),\2 \1,; p }" \
        "$source/packaging/ndspi.spec" |
        sed "s,%{_libdir},$libdir,; s,%{_bindir},bin,; s,%{_includedir},include,; s,%{_mandir},share/man,
            s,%{_docdir},share/doc,; s,%{_datadir},share,"
}

# files LIST: "FILE PACKAGE" for each file, of the list's lines
files() {
    local package pattern found file
    while read -r package pattern; do
        # shellcheck disable=SC2206 # it is a pattern
        found=($pattern)
        [ ${#found[@]} -gt 0 ] || echo "$pattern nothing"
        for file in "${found[@]}"; do
            [ -e "$file" ] || { echo "$pattern nothing"; continue; } # it was no pattern
            find "$file" ! -type d -printf "%p $package\n"
        done
    done < <("$1") | LC_ALL=C sort
}
files debian > debian.files
files spec > spec.files
[ "$(wc -l < spec.files)" -gt 100 ] || wrong "only $(wc -l < spec.files) files of the spec, its form is another"

# What this build has not, for want of MinGW or Wine, no line can find.
if [ ! -e bin/ndspi-wine ]; then
    sed -i '/\/wine nothing$/d; /\/windows nothing$/d; /ndspi-wine[^ ]* nothing$/d' debian.files
fi
# The package's build makes the site (toolchain/docs), not cmake.
sed -i '/doc\/ndspi\/html nothing$/d' debian.files
[ -e "$libdir/ndspi/x86_64-w64-mingw32" ] || sed -i '/x86_64-w64-mingw32 nothing$/d' debian.files
for list in debian spec; do
    while read -r file package; do
        [ "$package" != nothing ] || wrong "$list: no file is installed as $file"
    done < "$list.files"
    while read -r file; do
        wrong "$list: $file is in two packages"
    done < <(cut -d ' ' -f 1 "$list.files" | uniq -d)
done
find bin include share "$libdir" ! -type d | LC_ALL=C sort > all.files
left_out=$(sed -n 's,^usr/,,p' "$source/debian/not-installed")
while read -r file; do
    [[ $'\n'$left_out$'\n' == *$'\n'$file$'\n'* ]] || wrong "debian: $file is in no package"
done < <(cut -d ' ' -f 1 debian.files | LC_ALL=C comm -13 - all.files)
while read -r line; do
    wrong "not the same in both: $line"
done < <(grep -v -e ' ndspi-wine$' -e /x86_64-w64-mingw32/ debian.files | LC_ALL=C comm -3 - spec.files)

mapfile -t packages < <(sed -n 's/^%package *\(-n \)\{0,1\}//p' "$source/packaging/ndspi.spec" | sort)
mapfile -t lists < <(sed -n 's/^%files *\(-n \)\{0,1\}//p' "$source/packaging/ndspi.spec" | sort)
[ "${packages[*]}" = "${lists[*]}" ] || wrong "ndspi.spec: packages ${packages[*]}, lists of files ${lists[*]}"
[ "${lists[*]}" = "devel doc libs softrdma-preload tools" ] || wrong "ndspi.spec has the packages ${lists[*]}"
exit $bad
