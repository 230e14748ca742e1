/* SPDX-License-Identifier: MIT */
/*
 * crt.h - the base of the C runtime's headers here: types, symbol names, and the switch between libc's functions and
 * Windows' functions of the same name.
 *
 * Where a name of libc behaves otherwise on Windows (printf: sizes of arguments, wide text), code that includes a
 * Windows-named header gets Windows' function by a function-like macro; libc's own is (printf)(...), and all of them
 * are with NDSPI_NO_CRT. Nothing else in the program is affected. Names that only Windows has are functions always.
 */
#ifndef WINCOMPAT_CRT_H
#define WINCOMPAT_CRT_H

#include <wincompat/types.h>

#ifdef __cplusplus
/* Now, because these take the macros away. */
extern "C++" {
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
}
#else
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#endif
#include <errno.h>

/* Functions that know wide text exist for both widths of wchar_t. */
#if __SIZEOF_WCHAR_T__ == 2
#define WINCRT(name) __asm__("wincrt_" name "16")
#else
#define WINCRT(name) __asm__("wincrt_" name)
#endif

typedef int errno_t;
typedef size_t rsize_t;

#define _TRUNCATE ((size_t)-1)

#endif
