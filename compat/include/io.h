/* SPDX-License-Identifier: MIT */
/* io.h - files by name and by descriptor. These are the C library's own. */
#ifndef WINCOMPAT_IO_H
#define WINCOMPAT_IO_H

#include <wincompat/types.h>

WINCOMPAT_BEGIN

int __cdecl _access(const char *path, int mode) __asm__("access");
int __cdecl _isatty(int descriptor) __asm__("isatty");
int __cdecl _unlink(const char *path) __asm__("unlink");

WINCOMPAT_END

#endif
