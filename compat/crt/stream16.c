/* SPDX-License-Identifier: MIT */
/* stream16.c - the streamf functions for programs built with -fshort-wchar; compiled with that option. */
#include "compat/crt/stream.c"
