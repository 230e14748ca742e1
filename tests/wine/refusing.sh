#!/bin/sh
# SPDX-License-Identifier: MIT
# In Wine's place: refuses, as it does, by a line and its status.
echo "wine: no such luck" >&2
exit 1
