/* SPDX-License-Identifier: MIT */
/*
 * stdlib.h - Windows' additions to the C runtime's environment, clocks and processes. The environment is the C
 * library's, the same that GetEnvironmentVariable sees.
 */
#ifndef WINCOMPAT_STDLIB_H
#define WINCOMPAT_STDLIB_H

#include <wincompat/crt.h>

#include <time.h>

/* Sizes of a path and its parts, in characters, with the terminating 0. */
#define _MAX_PATH  260
#define _MAX_DRIVE 3
#define _MAX_DIR   256
#define _MAX_FNAME 256
#define _MAX_EXT   256

WINCOMPAT_BEGIN

errno_t __cdecl _dupenv_s(char **value, size_t *size, const char *name) __asm__("wincrt__dupenv_s");
errno_t __cdecl getenv_s(size_t *size, char *value, size_t room, const char *name) __asm__(
    "wincrt_getenv_s");
errno_t __cdecl _putenv_s(const char *name, const char *value) __asm__("wincrt__putenv_s");
errno_t __cdecl localtime_s(struct tm *result, const time_t *seconds) __asm__("wincrt_localtime_s");
errno_t __cdecl gmtime_s(struct tm *result, const time_t *seconds) __asm__("wincrt_gmtime_s");
int __cdecl _getpid(void) __asm__("getpid");
WINOBJ_API char *__cdecl _fullpath(char *path, const char *name, size_t room);
WINOBJ_API WCHAR *__cdecl _wfullpath(WCHAR *path, const WCHAR *name, size_t room)
    WINCOMPAT_WIDE("_wfullpath");

WINCOMPAT_END

#endif
