#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: hosts.sh NDMPIRUN
# A host file that names this host twice, the second time with a remote command, here a shell. The job's key, with which
# anybody could play a rank, is in nobody's command line.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/remote" <<'TEXT'
#!/bin/sh
echo "login $2 with $1" >&2
printf '%s\n' "$@" >> "$lines"
exec env -i NDSPI_DEVICE="$NDSPI_DEVICE" PATH="$PATH" sh -c "$3"
TEXT
chmod +x "$scratch/remote"
export lines=$scratch/lines keys=$scratch/keys
cat > "$scratch/rank" <<TEXT
#!/bin/sh
echo "\$NDMPI_KEY" >> "$keys"
exec "\$@"
TEXT
chmod +x "$scratch/rank"
printf '# the hosts\nlocalhost 1\n\n127.0.0.1  2  "me"@there # two ranks\n' > "$scratch/hosts"
said=$(timeout 60 "$1" -n 4 -f "$scratch/hosts" -r "$scratch/remote -q" \
    "$scratch/rank" "$(dirname "$1")/ndring" -n 2 -m 100 2>&1)
status=$?
printf '%s\n' "$said"
[ "$status" = 0 ] || { echo "status $status"; exit 1; }
[ "$(grep -c 'login "me"@there with -q' <<< "$said")" = 2 ] || { echo "two ranks should have logged in"; exit 1; }
grep -q "all bytes are right" <<< "$said" || exit 1
[ "$(sort -u "$keys" | grep -c '^[0-9a-f]\{16\}$')" = 1 ] || { echo "the ranks should have one key"; exit 1; }
grep -qF -e "$(head -n 1 "$keys")" "$lines" && { echo "the key is in the line of the remote command"; exit 1; }

# A remote command without standard input, as ssh -n: what is missing is said.
printf '#!/bin/sh\nexec sh -c "$2" < /dev/null\n' > "$scratch/deaf"
chmod +x "$scratch/deaf"
said=$(timeout 60 "$1" -n 2 -f "$scratch/hosts" -r "$scratch/deaf" "$(dirname "$1")/ndring" 2>&1) && exit 1
printf '%s\n' "$said"
grep -q "ndmpirun: no key has come by standard input" <<< "$said" || { echo "that should be said"; exit 1; }

printf '127.0.0.1 1\n127.0.0.1.2 2\n' > "$scratch/hosts"
said=$(timeout 60 "$1" -n 4 -f "$scratch/hosts" ndring 2>&1) && { echo "a bad host file is taken"; exit 1; }
grep -q "line 2 of .*127.0.0.1.2 2" <<< "$said" || { printf '%s\n' "$said"; exit 1; }
