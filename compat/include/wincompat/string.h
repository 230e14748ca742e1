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

/* Numbers and text, and what compares text (compat/crt/number.c). */
int __cdecl _wcsicmp(const WCHAR *a, const WCHAR *b) WINCRT("_wcsicmp");
int __cdecl _wcsnicmp(const WCHAR *a, const WCHAR *b, size_t count) WINCRT("_wcsnicmp");
int __cdecl _wtoi(const WCHAR *text) WINCRT("_wtoi");
LONG __cdecl _wtol(const WCHAR *text) WINCRT("_wtol");
LONGLONG __cdecl _wtoi64(const WCHAR *text) WINCRT("_wtoi64");
LONGLONG __cdecl _wcstoi64(const WCHAR *text, WCHAR **end, int base) WINCRT("_wcstoi64");
ULONGLONG __cdecl _wcstoui64(const WCHAR *text, WCHAR **end, int base) WINCRT("_wcstoui64");
errno_t __cdecl _itoa_s(int value, char *text, size_t room, int base) __asm__("wincrt__itoa_s");
errno_t __cdecl _itow_s(int value, WCHAR *text, size_t room, int base) WINCRT("_itow_s");
errno_t __cdecl _ultoa_s(ULONG value, char *text, size_t room, int base) __asm__("wincrt__ultoa_s");
errno_t __cdecl _ultow_s(ULONG value, WCHAR *text, size_t room, int base) WINCRT("_ultow_s");
errno_t __cdecl _i64toa_s(LONGLONG value, char *text, size_t room, int base) __asm__(
    "wincrt__i64toa_s");
errno_t __cdecl _i64tow_s(LONGLONG value, WCHAR *text, size_t room, int base) WINCRT("_i64tow_s");
errno_t __cdecl _ui64toa_s(ULONGLONG value, char *text, size_t room, int base) __asm__(
    "wincrt__ui64toa_s");
errno_t __cdecl _ui64tow_s(ULONGLONG value, WCHAR *text, size_t room, int base)
    WINCRT("_ui64tow_s");

WINCOMPAT_END

#define _stricmp  strcasecmp
#define _strnicmp strncasecmp
#define _strcmpi  strcasecmp

static inline LONGLONG _atoi64(const char *text)
{
    return strtoll(text, NULL, 10);
}
static inline LONGLONG _strtoi64(const char *text, char **end, int base)
{
    return strtoll(text, end, base);
}
static inline ULONGLONG _strtoui64(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}

static inline USHORT _byteswap_ushort(USHORT value)
{
    return __builtin_bswap16(value);
}
static inline ULONG _byteswap_ulong(ULONG value)
{
    return __builtin_bswap32(value);
}
static inline ULONGLONG _byteswap_uint64(ULONGLONG value)
{
    return __builtin_bswap64(value);
}

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
