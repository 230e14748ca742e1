/* SPDX-License-Identifier: MIT */
/*
 * string_wide16.c - string.c for the wide characters of programs built with -fshort-wchar; compiled with that option.
 */
#define CRT_WIDE
#include "compat/crt/string.c"
