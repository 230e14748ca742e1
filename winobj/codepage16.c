/* SPDX-License-Identifier: MIT */
/* codepage16.c - codepage.c for programs built with -fshort-wchar; compiled with that option. */
#include "winobj/codepage.c"

C_ASSERT(sizeof(WCHAR) == 2);
