#!/bin/bash
# SPDX-License-Identifier: MIT
# The environment variables that the libraries read: the sources, the table of util/settings.c, the page
# docs/environment.md and the manual pages ndspi(7) and softrdma(7) have the same names. What scripts read or export is
# known to the table and the page: the programs that they start would warn of it. They do not of NDSPI_TEST_*, which the
# page has alone.
# usage: settings.sh ROOT
set -euo pipefail
export LC_ALL=C
cd "$1"

read_by_sources()
{
    grep -rhoE '(getenv|setting_(text|number|on|off|word))\("(NDSPI|NDK)_[A-Z_0-9]*"' \
        --include='*.c' \
        util reactor softrdma winobj win32 ndspi/check ndspi/core ndspi/dll ndspi/helper ndspi/verbs ndk |
        sed 's/.*("//; s/"//' | sort -u
}
in_the_table()
{
    sed -n '/^static const char \*const names\[\]/,/^};/s/^ *"\(N[A-Z]*_[A-Z_0-9]*\)",$/\1/p' util/settings.c | sort
}
others()
{
    sed -n '/^static const char \*const others\[\]/,/^};/s/^ *"\(N[A-Z]*_[A-Z_0-9]*\)",$/\1/p' util/settings.c | sort
}
known()
{
    sed -n '/^static const char/,/^};/s/^ *"\(N[A-Z]*_[A-Z_0-9]*\)",$/\1/p' util/settings.c | sort
}
of_scripts()
{
    {
        grep -hE '^ *export ' run .ci/run | grep -oE 'NDSPI_[A-Z_0-9]*' || true
        grep -rhoE '\$\{?NDSPI_[A-Z_0-9]*' run .ci/run toolchain/guest tests samples --include=run --include='*.sh' \
            --include=suite | tr -d '${'
        grep -rhoE 'ENV\{NDSPI_[A-Z_0-9]*' CMakeLists.txt toolchain tests | sed 's/ENV{//'
    } | grep -v '^NDSPI_TEST_' | sort -u
}
# in_the_manual HEADING: the names in the table of a section
in_the_manual()
{
    sed -n "/^## $1/,/^## /s/^| \`\(N[A-Z]*_[A-Z_0-9]*\)\` |.*/\1/p" docs/environment.md | sort
}
in_the_pages()
{
    sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh EXAMPLES/s/^\.It Ev //p' docs/man/ndspi.7 docs/man/softrdma.7 |
        sed 's/ , /\n/g' | sort
}

bad=0
[ -n "$(in_the_table)" ] || { echo "util/settings.c: no names found"; bad=1; }
diff <(in_the_table) <(read_by_sources) || { echo "left: util/settings.c, right: what sources read"; bad=1; }
manual=docs/environment.md
names="left: util/settings.c, right: $manual"
diff <(in_the_table) <(in_the_manual "Read by the libraries") || { echo "$names"; bad=1; }
diff <(in_the_table) <(in_the_pages) || { echo "left: util/settings.c, right: docs/man"; bad=1; }
diff <(others) <(in_the_manual "Read by scripts" | grep -v '^NDSPI_TEST_') || { echo "$names"; bad=1; }
unknown=$(comm -13 <(known) <(of_scripts))
[ -z "$unknown" ] || { echo "util/settings.c does not know what scripts have:" $unknown; bad=1; }
exit $bad
