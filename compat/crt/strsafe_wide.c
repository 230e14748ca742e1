/* SPDX-License-Identifier: MIT */
/* strsafe_wide.c - strsafe.c for wide characters. */
#define CRT_WIDE
#include "compat/crt/strsafe.c"
