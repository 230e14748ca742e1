/* SPDX-License-Identifier: MIT */
/*
 * strsafe_wide16.c - strsafe.c for the wide characters of programs built with -fshort-wchar; compiled with that option.
 */
#define CRT_WIDE
#include "compat/crt/strsafe.c"
