#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: hosts.sh NDMPIRUN
# A host file that names this host twice, the second time with a remote command, here a shell.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/remote" <<'TEXT'
#!/bin/sh
echo "login $2 with $1" >&2
exec env -i NDSPI_DEVICE="$NDSPI_DEVICE" PATH="$PATH" sh -c "$3"
TEXT
chmod +x "$scratch/remote"
printf '# the hosts\nlocalhost 1\n\n127.0.0.1  2  "me"@there # two ranks\n' > "$scratch/hosts"
said=$(timeout 60 "$1" -n 4 -f "$scratch/hosts" -r "$scratch/remote -q" "$(dirname "$1")/ndring" -n 2 -m 100 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 0 ] || { echo "status $status"; exit 1; }
[ "$(grep -c 'login "me"@there with -q' <<< "$said")" = 2 ] || { echo "two ranks should have logged in"; exit 1; }
grep -q "all bytes are right" <<< "$said" || exit 1

printf '127.0.0.1 1\n127.0.0.1.2 2\n' > "$scratch/hosts"
said=$(timeout 60 "$1" -n 4 -f "$scratch/hosts" ndring 2>&1) && { echo "a bad host file is taken"; exit 1; }
grep -q "line 2 of .*127.0.0.1.2 2" <<< "$said" || { printf '%s\n' "$said"; exit 1; }
