/* SPDX-License-Identifier: MIT */
/* scan16.c - the scanf functions for programs built with -fshort-wchar; compiled with that option. */
#include "compat/crt/scan.c"
