/* SPDX-License-Identifier: MIT */
/* address_wide16.c - address_wide.c for programs built with -fshort-wchar; compiled with that option. */
#include "winobj/address_wide.c"

C_ASSERT(sizeof(WCHAR) == 2);
