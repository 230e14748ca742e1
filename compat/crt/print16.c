/* SPDX-License-Identifier: MIT */
/* print16.c - the printf functions for programs built with -fshort-wchar; compiled with that option. */
#include "compat/crt/print.c"
