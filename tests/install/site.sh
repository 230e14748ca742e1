#!/bin/bash
# SPDX-License-Identifier: MIT
# The site is made without a warning, and its links and its search are right (site_links).
# usage: site.sh ROOT WORK
set -euo pipefail
source=$1 work=$2
for program in sphinx-build mandoc perl; do
    command -v "$program" > /dev/null || { echo "no $program (./run deps docs)"; exit 77; }
done
python=$(sed -n '1s/^#! *//p' "$(command -v sphinx-build)")
$python -c 'import myst_parser' 2> /dev/null || { echo "Sphinx has no MyST (./run deps docs)"; exit 77; }
"$source/toolchain/docs" "$work"
"${0%/*}/site_links" "$work"
