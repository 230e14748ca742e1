#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: on_device.sh COMMAND [ARGUMENT...]
# Runs a command on the device NDSPI_DEVICE: the argument ADDRESS becomes the address that servers are to use there.
set -euo pipefail
address=${NDSPI_PEER:-${NDSPI_ADDRESS:?names the address of the device}}
words=()
for word; do
    [ "$word" != ADDRESS ] || word=$address
    words+=("$word")
done
exec "${words[@]}"
