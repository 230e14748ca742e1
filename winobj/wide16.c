/* SPDX-License-Identifier: MIT */
/* wide16.c - wide.c for programs built with -fshort-wchar; compiled with that option. */
#include "winobj/wide.c"

C_ASSERT(sizeof(WCHAR) == 2);
