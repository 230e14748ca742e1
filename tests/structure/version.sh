#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: version.sh ROOT
# The version stands in the top CMakeLists.txt; what has to repeat it says the same. CHANGELOG.md has its form: one
# section for each version, the newest first, dated but for the first, which may be unreleased.
set -euo pipefail
cd "$1"
bad=0
complain() { echo "$*"; bad=1; }
version=$(sed -n 's/^project([a-z]* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] ||
    complain "CMakeLists.txt: \"$version\" is no MAJOR.MINOR.PATCH"
grep -qx "Version: *$version" packaging/ndspi.spec || complain "packaging/ndspi.spec is not of version $version"
[[ $(head -n 1 debian/changelog) == "ndspi ($version-"* ]] || complain "debian/changelog is not of version $version"
entry=$(awk '/^%changelog/ { on = 1 } on && /^\* / && !last { last = $NF; sub("-.*", "", last) } END { print last }' \
    packaging/ndspi.spec)
[ "$entry" = "$version" ] || complain "the last entry of packaging/ndspi.spec is of version $entry"

mapfile -t sections < <(grep '^## ' CHANGELOG.md)
[ ${#sections[@]} -gt 0 ] || complain "CHANGELOG.md has no section"
last=''
for i in "${!sections[@]}"; do
    if [[ $i = 0 && ${sections[i]} =~ ^'## Unreleased ('([0-9.]+)')'$ ]]; then
        of=${BASH_REMATCH[1]}
    elif [[ ${sections[i]} =~ ^'## '([0-9.]+)' ('20[0-9][0-9]-[01][0-9]-[0-3][0-9]')'$ ]]; then
        of=${BASH_REMATCH[1]}
    else
        complain "CHANGELOG.md: \"${sections[i]}\" is neither \"## VERSION (YYYY-MM-DD)\" nor first and" \
            "\"## Unreleased (VERSION)\""
        continue
    fi
    [ "$i" != 0 ] || [ "$of" = "$version" ] || complain "CHANGELOG.md begins with $of, CMakeLists.txt has $version"
    [ -z "$last" ] || [ "$(printf '%s\n' "$of" "$last" | sort -V | sed -n 1p)" = "$of" ] && [ "$of" != "$last" ] ||
        complain "CHANGELOG.md: $of stands below $last"
    last=$of
done

# Names are exported since a version that is there.
while read -r file since; do
    [ "$(printf '%s\n' "$since" "$version" | sort -V | tail -n 1)" = "$version" ] ||
        complain "$file: $since is newer than $version"
done < <(awk '$1 ~ /^\(symver\)|@/ { print FILENAME, $2 }' debian/*.symbols)
exit $bad
