#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: release.sh SOURCE-DIR SCRATCH-DIR
#
# toolchain/abi, of a small library with each kind of change: what may be added is not held against it, what programs
# notice is.
set -euo pipefail
abi=$1/toolchain/abi
command -v abidiff > /dev/null || { echo "no abidiff (Debian: abigail-tools)"; exit 77; }
rm -rf "$2"
mkdir -p "$2/packaging/abi" "$2/include" "$2/build/lib"
cd "$2"
export ROOT=$PWD
cp "$1/packaging/abi/suppressions" packaging/abi/
echo 'libsmall include' > packaging/abi/libraries

header='typedef struct _ND_LINUX_THING { int size; const char *name; } ND_LINUX_THING;
typedef struct _PAIR { int first; int second; } PAIR;
int first(int value);
int second(const PAIR *pair);
const ND_LINUX_THING *third(void);
int of_us_alone(long value);'
source='int first(int value) { return value; }
int second(const PAIR *pair) { return pair->second; }
static ND_LINUX_THING thing;
const ND_LINUX_THING *third(void) { return &thing; }
int of_us_alone(long value) { return value != 0; }'

# build VERSION [SED SCRIPT]: the library, with a change.
build() {
    echo "project(small VERSION $1 LANGUAGES C)" > CMakeLists.txt
    sed -e "${2:-}" <<< "$header" > include/small.h
    { echo '#include "include/small.h"'; sed -e "${2:-}" <<< "$source"; } > small.c
    sed -e "${2:-}" > small.map <<< 'SMALL_1 { global: first; second; third; local: *; };
SMALL_PRIVATE { global: of_us_alone; };'
    "${CC:-cc}" -g -fPIC -shared -Wl,--version-script=small.map -Wl,-soname,libsmall.so.0 small.c \
        -o build/lib/libsmall.so
}

# expect STATUS PATTERN: of `toolchain/abi check`.
expect() {
    local said status=0
    said=$("$abi" check build) || status=$?
    printf '%s\n' "$said"
    [ "$status" = "$1" ] || { echo "status $status, not $1"; exit 1; }
    grep -Eq -- "$2" <<< "$said" || { echo "says nothing like: $2"; exit 1; }
}

same='^libsmall: what version 0\.3\.0 exports is there, unchanged$'
breaks='^libsmall: something that version 0\.3\.0 exports is gone or different'
build 0.3.0
expect 77 'there was no release'
"$abi" update build
[ "$(cat packaging/abi/version)" = 0.3.0 ]
expect 0 "$same"
build 0.3.1 's/ third;/ third; more;/; s/^int first(int value) {.*/&\nint more(void); int more(void) { return 4; }/'
expect 0 "$same"
build 0.3.1 's/of_us_alone(long/of_us_alone(char/'
expect 0 "$same"
build 0.3.1 's/ third;//'
expect 1 "^  \[D\] 'function const ND_LINUX_THING\* third\((void)?\)'"
expect 1 "$breaks"
build 0.3.1 's/first(int value)/first(long value)/'
expect 1 "$breaks"
build 0.3.1 's/int first; int second;/int second; int first;/'
expect 1 "$breaks"
build 0.3.1 's/int first; int second;/& int third;/'
expect 1 "$breaks"
build 0.3.1 's/const char \*name;/& long more;/'
expect 1 "$breaks"
printf '%s\n' '[suppress_type]' 'name = _ND_LINUX_THING' 'has_data_member_inserted_at = end' \
    'has_size_change = yes' >> packaging/abi/suppressions
expect 0 "$same"
build 0.4.0 's/first(int value)/first(long value)/'
expect 0 '^libsmall: differs from version 0\.3\.0, as version 0\.4\.0 may$'

build 1.2.0
"$abi" update build
build 1.3.0 's/ third;//'
expect 1 '^libsmall: something that version 1\.2\.0 exports is gone'
build 2.0.0 's/ third;//'
expect 0 '^libsmall: differs from version 1\.2\.0, as version 2\.0\.0 may$'
