/* SPDX-License-Identifier: MIT */
/* string_wide.c - string.c for wide characters. */
#define CRT_WIDE
#include "compat/crt/string.c"
