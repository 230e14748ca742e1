/* SPDX-License-Identifier: MIT */
/* lstring_wide.c - lstring.c for wide characters. */
#define LSTRING_WIDE
#include "winobj/lstring.c"
