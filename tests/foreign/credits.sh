#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: credits.sh COMMAND...
# Runs the command with CREDITS_RUN (softrdma-run) and the library CREDITS_LIBRARY (credits.c) in front of softrdma's.
exec "$CREDITS_RUN" sh -c 'LD_PRELOAD=$CREDITS_LIBRARY:$LD_PRELOAD exec "$@"' sh "$@"
