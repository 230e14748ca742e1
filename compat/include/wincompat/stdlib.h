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
errno_t __cdecl _set_errno(int value) __asm__("wincrt__set_errno");
errno_t __cdecl _get_errno(int *value) __asm__("wincrt__get_errno");
errno_t __cdecl rand_s(unsigned *value) __asm__("wincrt_rand_s");
char *__cdecl _strerror(const char *message) __asm__("wincrt__strerror");
WINOBJ_API char *__cdecl _fullpath(char *path, const char *name, size_t room);
WINOBJ_API WCHAR *__cdecl _wfullpath(WCHAR *path, const WCHAR *name, size_t room)
    WINCOMPAT_WIDE("_wfullpath");

/* A mark before the memory of _malloca says whether it is the heap's. */
static inline void *wincompat_marked(void *memory, unsigned mark)
{
    if (memory)
        *(unsigned *)memory = mark;
    return memory ? (char *)memory + 16 : NULL;
}
void __cdecl _freea(void *memory) __asm__("wincrt__freea");

WINCOMPAT_END

/* Memory of the function that calls it, or of the heap where it is much; _freea frees it. */
#define _alloca(size) __builtin_alloca(size)
#define _malloca(size)                                                                             \
    ((size_t)(size) + 16 <= 1024 ? wincompat_marked(__builtin_alloca((size_t)(size) + 16), 0xCCCC) \
                                 : wincompat_marked((malloc)((size_t)(size) + 16), 0xDDDD))

#endif
