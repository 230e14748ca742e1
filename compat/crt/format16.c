/* SPDX-License-Identifier: MIT */
/* format16.c - format.c for programs built with -fshort-wchar; compiled with that option. */
#include "compat/crt/format.c"
