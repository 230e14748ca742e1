/* SPDX-License-Identifier: MIT */
/*
 * strsafe.h - ntstrsafe.h's texts in buffers of a given size, a part of ndkwdm.h: RtlStringCch functions count in
 * characters, RtlStringCb functions in bytes. A last byte that makes no whole character is ignored.
 *
 * to         out: the text, ended by a zero; of Cat in, out
 * room       in: of `to`; 1 to NTSTRSAFE_MAX_CCH characters
 * from       in
 * count      in: how much of `from` at most
 * format     in: as Windows' printf has it
 * limit      in: how far the end of `text` is looked for
 * length     out, may be NULL: without the end
 * end, left  out, may be NULL: where the text ends; the room from there
 * flags      in: STRSAFE_IGNORE_NULLS: a NULL text is an empty one, a NULL destination without room takes nothing;
 *            STRSAFE_FILL_BEHIND_NULL: the room behind the text is filled with the flags' low octet;
 *            STRSAFE_FILL_ON_FAILURE, STRSAFE_NULL_ON_FAILURE: after a failure the destination is filled, or empty;
 *            STRSAFE_NO_TRUNCATION: a text that does not fit is not cut: it is empty; of Cat as it was
 * Each returns STATUS_SUCCESS; STATUS_BUFFER_OVERFLOW: the text was cut, or did not fit; STATUS_INVALID_PARAMETER: no
 * room, or too much, a NULL pointer, a text without an end, a format that Windows does not have, another flag; of
 * Printf STATUS_NO_MEMORY.
 */
#ifndef NDKWDM_STRSAFE_H
#define NDKWDM_STRSAFE_H

#include <ndktypes.h>

#define NTSTRSAFE_MAX_CCH 2147483647
#ifndef STRSAFE_IGNORE_NULLS
#define STRSAFE_IGNORE_NULLS     0x00000100
#define STRSAFE_FILL_BEHIND_NULL 0x00000200
#define STRSAFE_FILL_ON_FAILURE  0x00000400
#define STRSAFE_NULL_ON_FAILURE  0x00000800
#define STRSAFE_NO_TRUNCATION    0x00001000
#endif

#ifdef UNICODE
#define NDKWDM_TEXT(name) name##W
#else
#define NDKWDM_TEXT(name) name##A
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef char *NTSTRSAFE_PSTR;
typedef const char *NTSTRSAFE_PCSTR;
typedef wchar_t *NTSTRSAFE_PWSTR;
typedef const wchar_t *NTSTRSAFE_PCWSTR;

NTSTATUS RtlStringCchCopyA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from);
NTSTATUS RtlStringCchCopyW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from)
    WINCOMPAT_WIDE("RtlStringCchCopyW");
NTSTATUS RtlStringCchCopyNA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count);
NTSTATUS RtlStringCchCopyNW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count)
    WINCOMPAT_WIDE("RtlStringCchCopyNW");
NTSTATUS RtlStringCchCatA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from);
NTSTATUS RtlStringCchCatW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from)
    WINCOMPAT_WIDE("RtlStringCchCatW");
NTSTATUS RtlStringCchCatNA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count);
NTSTATUS RtlStringCchCatNW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count)
    WINCOMPAT_WIDE("RtlStringCchCatNW");
NTSTATUS RtlStringCchVPrintfA(
    NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR format, va_list arguments);
NTSTATUS RtlStringCchVPrintfW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR format,
    va_list arguments) WINCOMPAT_WIDE("RtlStringCchVPrintfW");
NTSTATUS RtlStringCchPrintfA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR format, ...);
NTSTATUS RtlStringCchPrintfW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR format, ...)
    WINCOMPAT_WIDE("RtlStringCchPrintfW");
NTSTATUS RtlStringCchLengthA(NTSTRSAFE_PCSTR text, size_t limit, size_t *length);
NTSTATUS RtlStringCchLengthW(NTSTRSAFE_PCWSTR text, size_t limit, size_t *length)
    WINCOMPAT_WIDE("RtlStringCchLengthW");
NTSTATUS RtlStringCchCopyExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCchCopyExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCchCopyExW");
NTSTATUS RtlStringCchCopyNExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCchCopyNExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCchCopyNExW");
NTSTATUS RtlStringCchCatExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCchCatExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCchCatExW");
NTSTATUS RtlStringCchCatNExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCchCatNExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCchCatNExW");
NTSTATUS RtlStringCchVPrintfExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCSTR format, va_list arguments);
NTSTATUS RtlStringCchVPrintfExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PWSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCWSTR format, va_list arguments)
    WINCOMPAT_WIDE("RtlStringCchVPrintfExW");
NTSTATUS RtlStringCchPrintfExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCSTR format, ...);
NTSTATUS RtlStringCchPrintfExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PWSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCWSTR format, ...) WINCOMPAT_WIDE("RtlStringCchPrintfExW");
NTSTATUS RtlStringCbCopyA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from);
NTSTATUS RtlStringCbCopyW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from)
    WINCOMPAT_WIDE("RtlStringCbCopyW");
NTSTATUS RtlStringCbCopyNA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count);
NTSTATUS RtlStringCbCopyNW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count)
    WINCOMPAT_WIDE("RtlStringCbCopyNW");
NTSTATUS RtlStringCbCatA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from);
NTSTATUS RtlStringCbCatW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from)
    WINCOMPAT_WIDE("RtlStringCbCatW");
NTSTATUS RtlStringCbCatNA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count);
NTSTATUS RtlStringCbCatNW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count)
    WINCOMPAT_WIDE("RtlStringCbCatNW");
NTSTATUS RtlStringCbVPrintfA(
    NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR format, va_list arguments);
NTSTATUS RtlStringCbVPrintfW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR format,
    va_list arguments) WINCOMPAT_WIDE("RtlStringCbVPrintfW");
NTSTATUS RtlStringCbPrintfA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR format, ...);
NTSTATUS RtlStringCbPrintfW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR format, ...)
    WINCOMPAT_WIDE("RtlStringCbPrintfW");
NTSTATUS RtlStringCbLengthA(NTSTRSAFE_PCSTR text, size_t limit, size_t *length);
NTSTATUS RtlStringCbLengthW(NTSTRSAFE_PCWSTR text, size_t limit, size_t *length)
    WINCOMPAT_WIDE("RtlStringCbLengthW");
NTSTATUS RtlStringCbCopyExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCbCopyExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCbCopyExW");
NTSTATUS RtlStringCbCopyNExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCbCopyNExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCbCopyNExW");
NTSTATUS RtlStringCbCatExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCbCatExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCbCatExW");
NTSTATUS RtlStringCbCatNExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PCSTR from, size_t count,
    NTSTRSAFE_PSTR *end, size_t *left, ULONG flags);
NTSTATUS RtlStringCbCatNExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PCWSTR from, size_t count,
    NTSTRSAFE_PWSTR *end, size_t *left, ULONG flags) WINCOMPAT_WIDE("RtlStringCbCatNExW");
NTSTATUS RtlStringCbVPrintfExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCSTR format, va_list arguments);
NTSTATUS RtlStringCbVPrintfExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PWSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCWSTR format, va_list arguments)
    WINCOMPAT_WIDE("RtlStringCbVPrintfExW");
NTSTATUS RtlStringCbPrintfExA(NTSTRSAFE_PSTR to, size_t room, NTSTRSAFE_PSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCSTR format, ...);
NTSTATUS RtlStringCbPrintfExW(NTSTRSAFE_PWSTR to, size_t room, NTSTRSAFE_PWSTR *end, size_t *left,
    ULONG flags, NTSTRSAFE_PCWSTR format, ...) WINCOMPAT_WIDE("RtlStringCbPrintfExW");

/* Which of the two, as with Windows' UNICODE. */
#define RtlStringCchCopy      NDKWDM_TEXT(RtlStringCchCopy)
#define RtlStringCchCopyN     NDKWDM_TEXT(RtlStringCchCopyN)
#define RtlStringCchCat       NDKWDM_TEXT(RtlStringCchCat)
#define RtlStringCchCatN      NDKWDM_TEXT(RtlStringCchCatN)
#define RtlStringCchVPrintf   NDKWDM_TEXT(RtlStringCchVPrintf)
#define RtlStringCchPrintf    NDKWDM_TEXT(RtlStringCchPrintf)
#define RtlStringCchLength    NDKWDM_TEXT(RtlStringCchLength)
#define RtlStringCchCopyEx    NDKWDM_TEXT(RtlStringCchCopyEx)
#define RtlStringCchCopyNEx   NDKWDM_TEXT(RtlStringCchCopyNEx)
#define RtlStringCchCatEx     NDKWDM_TEXT(RtlStringCchCatEx)
#define RtlStringCchCatNEx    NDKWDM_TEXT(RtlStringCchCatNEx)
#define RtlStringCchVPrintfEx NDKWDM_TEXT(RtlStringCchVPrintfEx)
#define RtlStringCchPrintfEx  NDKWDM_TEXT(RtlStringCchPrintfEx)
#define RtlStringCbCopy       NDKWDM_TEXT(RtlStringCbCopy)
#define RtlStringCbCopyN      NDKWDM_TEXT(RtlStringCbCopyN)
#define RtlStringCbCat        NDKWDM_TEXT(RtlStringCbCat)
#define RtlStringCbCatN       NDKWDM_TEXT(RtlStringCbCatN)
#define RtlStringCbVPrintf    NDKWDM_TEXT(RtlStringCbVPrintf)
#define RtlStringCbPrintf     NDKWDM_TEXT(RtlStringCbPrintf)
#define RtlStringCbLength     NDKWDM_TEXT(RtlStringCbLength)
#define RtlStringCbCopyEx     NDKWDM_TEXT(RtlStringCbCopyEx)
#define RtlStringCbCopyNEx    NDKWDM_TEXT(RtlStringCbCopyNEx)
#define RtlStringCbCatEx      NDKWDM_TEXT(RtlStringCbCatEx)
#define RtlStringCbCatNEx     NDKWDM_TEXT(RtlStringCbCatNEx)
#define RtlStringCbVPrintfEx  NDKWDM_TEXT(RtlStringCbVPrintfEx)
#define RtlStringCbPrintfEx   NDKWDM_TEXT(RtlStringCbPrintfEx)

#ifdef __cplusplus
}
#endif

#endif
