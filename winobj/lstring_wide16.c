/* SPDX-License-Identifier: MIT */
/*
 * lstring_wide16.c - lstring.c for the wide characters of programs built with -fshort-wchar; compiled with that option.
 */
#define LSTRING_WIDE
#include "winobj/lstring.c"
