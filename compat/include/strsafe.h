/* SPDX-License-Identifier: MIT */
/*
 * strsafe.h - StringCch and StringCb: strings in buffers of a given size, in characters or in bytes. What each does
 * and returns: compat/crt/strsafe.c.
 */
#ifndef WINCOMPAT_STRSAFE_H
#define WINCOMPAT_STRSAFE_H

#include <wincompat/crt.h>
#include <wincompat/error.h>

#define STRSAFE_MAX_CCH               2147483647
#define STRSAFE_IGNORE_NULLS          0x00000100
#define STRSAFE_FILL_BEHIND_NULL      0x00000200
#define STRSAFE_FILL_ON_FAILURE       0x00000400
#define STRSAFE_NULL_ON_FAILURE       0x00000800
#define STRSAFE_NO_TRUNCATION         0x00001000
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

/* Ex forms (compat/crt/strsafe_ex.c); left in characters */
HRESULT WINAPI StringCchCopyExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCchCopyExA");
HRESULT WINAPI StringCchCopyExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCchCopyExW");
#define StringCchCopyEx WINCOMPAT_AW(StringCchCopyEx)
HRESULT WINAPI StringCchCopyNExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from, size_t count,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCchCopyNExA");
HRESULT WINAPI StringCchCopyNExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCchCopyNExW");
#define StringCchCopyNEx WINCOMPAT_AW(StringCchCopyNEx)
HRESULT WINAPI StringCchCatExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCchCatExA");
HRESULT WINAPI StringCchCatExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCchCatExW");
#define StringCchCatEx WINCOMPAT_AW(StringCchCatEx)
HRESULT WINAPI StringCchCatNExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from, size_t count,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCchCatNExA");
HRESULT WINAPI StringCchCatNExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCchCatNExW");
#define StringCchCatNEx WINCOMPAT_AW(StringCchCatNEx)
HRESULT WINAPI StringCchVPrintfExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPSTR *end, size_t *left,
    DWORD flags, STRSAFE_LPCSTR format, va_list arguments) __asm__("wincrt_StringCchVPrintfExA");
HRESULT WINAPI StringCchVPrintfExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPWSTR *end,
    size_t *left, DWORD flags, STRSAFE_LPCWSTR format, va_list arguments)
    WINCRT("StringCchVPrintfExW");
#define StringCchVPrintfEx WINCOMPAT_AW(StringCchVPrintfEx)
HRESULT WINAPIV StringCchPrintfExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPSTR *end, size_t *left,
    DWORD flags, STRSAFE_LPCSTR format, ...) __asm__("wincrt_StringCchPrintfExA");
HRESULT WINAPIV StringCchPrintfExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPWSTR *end,
    size_t *left, DWORD flags, STRSAFE_LPCWSTR format, ...) WINCRT("StringCchPrintfExW");
#define StringCchPrintfEx WINCOMPAT_AW(StringCchPrintfEx)

/* Ex forms (compat/crt/strsafe_ex.c); left in bytes */
HRESULT WINAPI StringCbCopyExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCbCopyExA");
HRESULT WINAPI StringCbCopyExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCbCopyExW");
#define StringCbCopyEx WINCOMPAT_AW(StringCbCopyEx)
HRESULT WINAPI StringCbCopyNExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from, size_t count,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCbCopyNExA");
HRESULT WINAPI StringCbCopyNExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCbCopyNExW");
#define StringCbCopyNEx WINCOMPAT_AW(StringCbCopyNEx)
HRESULT WINAPI StringCbCatExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCbCatExA");
HRESULT WINAPI StringCbCatExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCbCatExW");
#define StringCbCatEx WINCOMPAT_AW(StringCbCatEx)
HRESULT WINAPI StringCbCatNExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPCSTR from, size_t count,
    STRSAFE_LPSTR *end, size_t *left, DWORD flags) __asm__("wincrt_StringCbCatNExA");
HRESULT WINAPI StringCbCatNExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPCWSTR from, size_t count,
    STRSAFE_LPWSTR *end, size_t *left, DWORD flags) WINCRT("StringCbCatNExW");
#define StringCbCatNEx WINCOMPAT_AW(StringCbCatNEx)
HRESULT WINAPI StringCbVPrintfExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPSTR *end, size_t *left,
    DWORD flags, STRSAFE_LPCSTR format, va_list arguments) __asm__("wincrt_StringCbVPrintfExA");
HRESULT WINAPI StringCbVPrintfExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPWSTR *end, size_t *left,
    DWORD flags, STRSAFE_LPCWSTR format, va_list arguments) WINCRT("StringCbVPrintfExW");
#define StringCbVPrintfEx WINCOMPAT_AW(StringCbVPrintfEx)
HRESULT WINAPIV StringCbPrintfExA(STRSAFE_LPSTR to, size_t room, STRSAFE_LPSTR *end, size_t *left,
    DWORD flags, STRSAFE_LPCSTR format, ...) __asm__("wincrt_StringCbPrintfExA");
HRESULT WINAPIV StringCbPrintfExW(STRSAFE_LPWSTR to, size_t room, STRSAFE_LPWSTR *end, size_t *left,
    DWORD flags, STRSAFE_LPCWSTR format, ...) WINCRT("StringCbPrintfExW");
#define StringCbPrintfEx WINCOMPAT_AW(StringCbPrintfEx)

WINCOMPAT_END

#endif
