#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: on_device.sh COMMAND [ARGUMENT...]
# Runs a command on the device NDSPI_DEVICE: the argument OWN becomes the address of this end, ADDRESS that of the other
# one, which servers are to use.
set -euo pipefail
own=${NDSPI_ADDRESS:?names the address of the device}
words=()
for word; do
    case $word in
    OWN) word=$own ;;
    ADDRESS) word=${NDSPI_PEER:-$own} ;;
    esac
    words+=("$word")
done
exec "${words[@]}"
