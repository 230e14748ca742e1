/* SPDX-License-Identifier: MIT */
/*
 * strsafe.h - StringCch and StringCb: strings in buffers of a given size, in characters or in bytes. What each does
 * and returns: compat/crt/strsafe.c. The Ex forms are not provided.
 */
#ifndef WINCOMPAT_STRSAFE_H
#define WINCOMPAT_STRSAFE_H

#include <wincompat/crt.h>
#include <wincompat/error.h>

#define STRSAFE_MAX_CCH               2147483647
#define STRSAFE_E_END_OF_FILE         ((HRESULT)0x80070026u)
#define STRSAFE_E_INVALID_PARAMETER   ((HRESULT)0x80070057u)
#define STRSAFE_E_INSUFFICIENT_BUFFER ((HRESULT)0x8007007Au)

typedef LPSTR STRSAFE_LPSTR;
typedef LPCSTR STRSAFE_LPCSTR;
typedef LPWSTR STRSAFE_LPWSTR;
typedef LPCWSTR STRSAFE_LPCWSTR;

WINCOMPAT_BEGIN

/* room, count and limit in characters */
HRESULT WINAPI StringCchCopyA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from) __asm__(
    "wincrt_StringCchCopyA");
HRESULT WINAPI StringCchCopyW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from)
    WINCRT("StringCchCopyW");
#define StringCchCopy WINCOMPAT_AW(StringCchCopy)
HRESULT WINAPI StringCchCopyNA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    size_t count) __asm__("wincrt_StringCchCopyNA");
HRESULT WINAPI StringCchCopyNW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count)
    WINCRT("StringCchCopyNW");
#define StringCchCopyN WINCOMPAT_AW(StringCchCopyN)
HRESULT WINAPI StringCchCatA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from) __asm__(
    "wincrt_StringCchCatA");
HRESULT WINAPI StringCchCatW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from)
    WINCRT("StringCchCatW");
#define StringCchCat WINCOMPAT_AW(StringCchCat)
HRESULT WINAPI StringCchCatNA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    size_t count) __asm__("wincrt_StringCchCatNA");
HRESULT WINAPI StringCchCatNW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count)
    WINCRT("StringCchCatNW");
#define StringCchCatN WINCOMPAT_AW(StringCchCatN)
HRESULT WINAPI StringCchVPrintfA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR format,
    va_list arguments) __asm__("wincrt_StringCchVPrintfA");
HRESULT WINAPI StringCchVPrintfW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR format,
    va_list arguments) WINCRT("StringCchVPrintfW");
#define StringCchVPrintf WINCOMPAT_AW(StringCchVPrintf)
HRESULT WINAPIV StringCchPrintfA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR format, ...) __asm__(
    "wincrt_StringCchPrintfA");
HRESULT WINAPIV StringCchPrintfW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR format, ...)
    WINCRT("StringCchPrintfW");
#define StringCchPrintf WINCOMPAT_AW(StringCchPrintf)
HRESULT WINAPI StringCchLengthA(STRSAFE_LPCSTR text, size_t limit, size_t *length) __asm__(
    "wincrt_StringCchLengthA");
HRESULT WINAPI StringCchLengthW(STRSAFE_LPCWSTR text, size_t limit, size_t *length)
    WINCRT("StringCchLengthW");
#define StringCchLength WINCOMPAT_AW(StringCchLength)

/* room, count, limit and the length in bytes */
HRESULT WINAPI StringCbCopyA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from) __asm__(
    "wincrt_StringCbCopyA");
HRESULT WINAPI StringCbCopyW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from)
    WINCRT("StringCbCopyW");
#define StringCbCopy WINCOMPAT_AW(StringCbCopy)
HRESULT WINAPI StringCbCopyNA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    size_t count) __asm__("wincrt_StringCbCopyNA");
HRESULT WINAPI StringCbCopyNW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count)
    WINCRT("StringCbCopyNW");
#define StringCbCopyN WINCOMPAT_AW(StringCbCopyN)
HRESULT WINAPI StringCbCatA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from) __asm__(
    "wincrt_StringCbCatA");
HRESULT WINAPI StringCbCatW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from)
    WINCRT("StringCbCatW");
#define StringCbCat WINCOMPAT_AW(StringCbCat)
HRESULT WINAPI StringCbCatNA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    size_t count) __asm__("wincrt_StringCbCatNA");
HRESULT WINAPI StringCbCatNW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count)
    WINCRT("StringCbCatNW");
#define StringCbCatN WINCOMPAT_AW(StringCbCatN)
HRESULT WINAPI StringCbVPrintfA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR format,
    va_list arguments) __asm__("wincrt_StringCbVPrintfA");
HRESULT WINAPI StringCbVPrintfW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR format,
    va_list arguments) WINCRT("StringCbVPrintfW");
#define StringCbVPrintf WINCOMPAT_AW(StringCbVPrintf)
HRESULT WINAPIV StringCbPrintfA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR format, ...) __asm__(
    "wincrt_StringCbPrintfA");
HRESULT WINAPIV StringCbPrintfW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR format, ...)
    WINCRT("StringCbPrintfW");
#define StringCbPrintf WINCOMPAT_AW(StringCbPrintf)
HRESULT WINAPI StringCbLengthA(STRSAFE_LPCSTR text, size_t limit, size_t *length) __asm__(
    "wincrt_StringCbLengthA");
HRESULT WINAPI StringCbLengthW(STRSAFE_LPCWSTR text, size_t limit, size_t *length)
    WINCRT("StringCbLengthW");
#define StringCbLength WINCOMPAT_AW(StringCbLength)

WINCOMPAT_END

#endif
