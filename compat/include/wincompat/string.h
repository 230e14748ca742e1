/* SPDX-License-Identifier: MIT */
/*
 * string.h - Windows' additions to the string functions: the _s forms (compat/crt/string.c says what they return),
 * other spellings of libc's, numbers, bytes, memory.
 */
#ifndef WINCOMPAT_STRING_H
#define WINCOMPAT_STRING_H

#include <wincompat/crt.h>

#include <strings.h>

#define STRUNCATE 80

WINCOMPAT_BEGIN

errno_t __cdecl strcpy_s(char *to, rsize_t room, const char *from) __asm__("wincrt_strcpy_s");
errno_t __cdecl strcat_s(char *to, rsize_t room, const char *from) __asm__("wincrt_strcat_s");
errno_t __cdecl strncpy_s(char *to, rsize_t room, const char *from, rsize_t count) __asm__(
    "wincrt_strncpy_s");
errno_t __cdecl strncat_s(char *to, rsize_t room, const char *from, rsize_t count) __asm__(
    "wincrt_strncat_s");
char *__cdecl strtok_s(char *text, const char *delimiters, char **rest) __asm__("wincrt_strtok_s");
char *__cdecl _strdup(const char *text) __asm__("wincrt__strdup");
errno_t __cdecl wcscpy_s(WCHAR *to, rsize_t room, const WCHAR *from) WINCRT("wcscpy_s");
errno_t __cdecl wcscat_s(WCHAR *to, rsize_t room, const WCHAR *from) WINCRT("wcscat_s");
errno_t __cdecl wcsncpy_s(WCHAR *to, rsize_t room, const WCHAR *from, rsize_t count)
    WINCRT("wcsncpy_s");
errno_t __cdecl wcsncat_s(WCHAR *to, rsize_t room, const WCHAR *from, rsize_t count)
    WINCRT("wcsncat_s");
WCHAR *__cdecl wcstok_s(WCHAR *text, const WCHAR *delimiters, WCHAR **rest) WINCRT("wcstok_s");
WCHAR *__cdecl _wcsdup(const WCHAR *text) WINCRT("_wcsdup");
errno_t __cdecl memcpy_s(void *to, rsize_t room, const void *from, rsize_t count) __asm__(
    "wincrt_memcpy_s");
errno_t __cdecl memmove_s(void *to, rsize_t room, const void *from, rsize_t count) __asm__(
    "wincrt_memmove_s");

/*
 * alignment: a power of 2. NULL: another alignment (errno EINVAL), no memory. As on Windows only _aligned_free frees
 * the block.
 */
void *__cdecl _aligned_malloc(size_t size, size_t alignment) __asm__("wincrt__aligned_malloc");
void *__cdecl _aligned_realloc(void *memory, size_t size, size_t alignment) __asm__(
    "wincrt__aligned_realloc");
void __cdecl _aligned_free(void *memory) __asm__("wincrt__aligned_free");

WINCOMPAT_END

#define _stricmp  strcasecmp
#define _strnicmp strncasecmp
#define _strcmpi  strcasecmp

#define _atoi64(s)               strtoll((s), NULL, 10)
#define _strtoi64(s, end, base)  strtoll((s), (end), (base))
#define _strtoui64(s, end, base) strtoull((s), (end), (base))

/* The C library knows wchar_t with 32 bits only: programs built with -fshort-wchar do not have these. */
#if __SIZEOF_WCHAR_T__ == 4
#define _wcsicmp                 wcscasecmp
#define _wcsnicmp                wcsncasecmp
#define _wtoi(s)                 ((int)wcstol((s), NULL, 10))
#define _wtol(s)                 ((LONG)wcstol((s), NULL, 10))
#define _wtoi64(s)               wcstoll((s), NULL, 10)
#define _wcstoi64(s, end, base)  wcstoll((s), (end), (base))
#define _wcstoui64(s, end, base) wcstoull((s), (end), (base))
#endif

#define _byteswap_ushort(v) __builtin_bswap16(v)
#define _byteswap_ulong(v)  __builtin_bswap32(v)
#define _byteswap_uint64(v) ((unsigned long long)__builtin_bswap64(v))

#ifdef __cplusplus
extern "C++" {
/* The destination's size may be left out where the compiler knows it. */
template <size_t N> errno_t strcpy_s(char (&to)[N], const char *from)
{
    return strcpy_s(to, N, from);
}
template <size_t N> errno_t strcat_s(char (&to)[N], const char *from)
{
    return strcat_s(to, N, from);
}
template <size_t N> errno_t strncpy_s(char (&to)[N], const char *from, size_t count)
{
    return strncpy_s(to, N, from, count);
}
template <size_t N> errno_t strncat_s(char (&to)[N], const char *from, size_t count)
{
    return strncat_s(to, N, from, count);
}
template <size_t N> errno_t wcscpy_s(WCHAR (&to)[N], const WCHAR *from)
{
    return wcscpy_s(to, N, from);
}
template <size_t N> errno_t wcscat_s(WCHAR (&to)[N], const WCHAR *from)
{
    return wcscat_s(to, N, from);
}
template <size_t N> errno_t wcsncpy_s(WCHAR (&to)[N], const WCHAR *from, size_t count)
{
    return wcsncpy_s(to, N, from, count);
}
template <size_t N> errno_t wcsncat_s(WCHAR (&to)[N], const WCHAR *from, size_t count)
{
    return wcsncat_s(to, N, from, count);
}
}
#endif

#endif
