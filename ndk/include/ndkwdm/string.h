/* SPDX-License-Identifier: MIT */
/* string.h - counted text, a part of ndkwdm.h. Lengths are in bytes; a text need not end with a zero. */
#ifndef NDKWDM_STRING_H
#define NDKWDM_STRING_H

#include <ndkwdm/memory.h>
#include <ndkwdm/pool.h>
#include <wincompat/native.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef CHAR *PSZ;

#define UNICODE_NULL ((WCHAR)0)
#define ANSI_NULL    ((CHAR)0)

/* clang-format off */
/* Initializers: of a literal; of an array of so many characters; a constant. */
#define RTL_CONSTANT_STRING(s)                                                                     \
    { sizeof(s) - sizeof((s)[0]), sizeof(s), (s) }
#define DECLARE_UNICODE_STRING_SIZE(name, characters)                                              \
    WCHAR name##_buffer[characters];                                                               \
    UNICODE_STRING name = { 0, (characters) * sizeof(WCHAR), name##_buffer }
#define DECLARE_CONST_UNICODE_STRING(name, literal)                                                \
    const WCHAR name##_buffer[] = literal;                                                         \
    const UNICODE_STRING name = { sizeof(literal) - sizeof(WCHAR), sizeof(literal), (PWSTR)name##_buffer }
/* clang-format on */

/* Bytes of a text that ends with a zero, without that; the C library's functions have one width of wchar_t. */
static inline SIZE_T NdkwdmTextBytes(PCWSTR text)
{
    SIZE_T count = 0;

    while (text[count])
        count++;
    return count * sizeof(WCHAR);
}

/*
 * string out: the text, which is not copied; NULL: none. Of one that is longer than MaximumLength can say, the
 * beginning.
 */
static inline VOID RtlInitUnicodeString(PUNICODE_STRING string, PCWSTR text)
{
    SIZE_T bytes = text ? NdkwdmTextBytes(text) : 0;

    if (bytes > 0xFFFF / sizeof(WCHAR) * sizeof(WCHAR) - sizeof(WCHAR))
        bytes = 0xFFFF / sizeof(WCHAR) * sizeof(WCHAR) - sizeof(WCHAR);
    string->Length = (USHORT)bytes;
    string->MaximumLength = text ? (USHORT)(bytes + sizeof(WCHAR)) : 0;
    string->Buffer = (PWSTR)text;
}

static inline VOID RtlInitAnsiString(PANSI_STRING string, PCSZ text)
{
    SIZE_T bytes = text ? strlen(text) : 0;

    if (bytes > 0xFFFE)
        bytes = 0xFFFE;
    string->Length = (USHORT)bytes;
    string->MaximumLength = text ? (USHORT)(bytes + 1) : 0;
    string->Buffer = (PCHAR)text;
}
#define RtlInitString RtlInitAnsiString

/* string out: no text, in size bytes at buffer. */
static inline VOID RtlInitEmptyUnicodeString(PUNICODE_STRING string, PWCHAR buffer, USHORT size)
{
    string->Length = 0;
    string->MaximumLength = size;
    string->Buffer = buffer;
}

static inline VOID RtlInitEmptyAnsiString(PANSI_STRING string, PCHAR buffer, USHORT size)
{
    string->Length = 0;
    string->MaximumLength = size;
    string->Buffer = buffer;
}

/* string in, out: its Buffer is pool memory, which is freed; then it is empty. */
static inline VOID RtlFreeUnicodeString(PUNICODE_STRING string)
{
    ExFreePool(string->Buffer);
    RtlInitEmptyUnicodeString(string, NULL, 0);
}

static inline VOID RtlFreeAnsiString(PANSI_STRING string)
{
    ExFreePool(string->Buffer);
    RtlInitEmptyAnsiString(string, NULL, 0);
}

/* The character in upper or lower case, as Unicode has them one by one. Use the two macros. */
ULONG NdkwdmUpcase(ULONG character);
ULONG NdkwdmDowncase(ULONG character);
#define RtlUpcaseUnicodeChar(character)   ((WCHAR)NdkwdmUpcase((ULONG)(character)))
#define RtlDowncaseUnicodeChar(character) ((WCHAR)NdkwdmDowncase((ULONG)(character)))

/* Compares by the numbers of characters. Returns below 0, 0, above 0: a comes before b, is equal, comes after. */
static inline LONG RtlCompareUnicodeString(
    PCUNICODE_STRING a, PCUNICODE_STRING b, BOOLEAN ignore_case)
{
    SIZE_T common = (a->Length < b->Length ? a->Length : b->Length) / sizeof(WCHAR), i;

    for (i = 0; i < common; i++) {
        ULONG one = (ULONG)a->Buffer[i], other = (ULONG)b->Buffer[i];

        if (ignore_case) {
            one = NdkwdmUpcase(one);
            other = NdkwdmUpcase(other);
        }
        if (one != other)
            return one < other ? -1 : 1;
    }
    return (LONG)a->Length - (LONG)b->Length;
}

static inline BOOLEAN RtlEqualUnicodeString(
    PCUNICODE_STRING a, PCUNICODE_STRING b, BOOLEAN ignore_case)
{
    return a->Length == b->Length && RtlCompareUnicodeString(a, b, ignore_case) == 0;
}

/* Whether text begins with prefix. */
static inline BOOLEAN RtlPrefixUnicodeString(
    PCUNICODE_STRING prefix, PCUNICODE_STRING text, BOOLEAN ignore_case)
{
    UNICODE_STRING begin = *text;

    if (text->Length < prefix->Length)
        return FALSE;
    begin.Length = prefix->Length;
    return RtlEqualUnicodeString(prefix, &begin, ignore_case);
}

/* What does not fit into the memory of `to` is cut off. from: NULL: an empty text. A zero follows where it fits. */
static inline VOID RtlCopyUnicodeString(PUNICODE_STRING to, PCUNICODE_STRING from)
{
    USHORT bytes = from ? from->Length : 0;

    if (bytes > to->MaximumLength)
        bytes = to->MaximumLength;
    if (bytes)
        memcpy(to->Buffer, from->Buffer, bytes);
    to->Length = bytes;
    if ((SIZE_T)bytes + sizeof(WCHAR) <= to->MaximumLength)
        to->Buffer[bytes / sizeof(WCHAR)] = UNICODE_NULL;
}

/*
 * Puts a text behind another. A zero follows where it fits.
 * Returns STATUS_SUCCESS; STATUS_BUFFER_TOO_SMALL: it does not fit, and nothing changed.
 */
static inline NTSTATUS RtlAppendUnicodeStringToString(PUNICODE_STRING to, PCUNICODE_STRING from)
{
    SIZE_T end = (SIZE_T)to->Length + from->Length;

    if (end > to->MaximumLength)
        return STATUS_BUFFER_TOO_SMALL;
    if (from->Length)
        memmove((char *)to->Buffer + to->Length, from->Buffer, from->Length);
    to->Length = (USHORT)end;
    if (end + sizeof(WCHAR) <= to->MaximumLength)
        to->Buffer[end / sizeof(WCHAR)] = UNICODE_NULL;
    return STATUS_SUCCESS;
}

/* RtlAppendUnicodeStringToString for a text that ends with a zero. text NULL: nothing is put behind. */
static inline NTSTATUS RtlAppendUnicodeToString(PUNICODE_STRING to, PCWSTR text)
{
    SIZE_T bytes = text ? NdkwdmTextBytes(text) : 0;
    UNICODE_STRING from;

    if (bytes > to->MaximumLength)
        return STATUS_BUFFER_TOO_SMALL;
    from.Length = from.MaximumLength = (USHORT)bytes;
    from.Buffer = (PWSTR)text;
    return RtlAppendUnicodeStringToString(to, &from);
}

/*
 * A number in digits.
 * base    in: 2, 8, 10, 16; 0: 10
 * string  in, out: its memory
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: another base; STATUS_BUFFER_OVERFLOW: it does not fit.
 */
static inline NTSTATUS RtlIntegerToUnicodeString(ULONG value, ULONG base, PUNICODE_STRING string)
{
    WCHAR digits[32];
    SIZE_T first = 32;
    UNICODE_STRING text;

    if (!base)
        base = 10;
    if (base != 2 && base != 8 && base != 10 && base != 16)
        return STATUS_INVALID_PARAMETER;
    do
        digits[--first] = (WCHAR) "0123456789ABCDEF"[value % base];
    while (value /= base);
    text.Length = text.MaximumLength = (USHORT)((32 - first) * sizeof(WCHAR));
    text.Buffer = digits + first;
    if (text.Length > string->MaximumLength)
        return STATUS_BUFFER_OVERFLOW;
    RtlCopyUnicodeString(string, &text);
    return STATUS_SUCCESS;
}

/*
 * The number that a text begins with, behind white space, a sign, and for base 0 a prefix 0b, 0o or 0x.
 * base   in: 2, 8, 10, 16; 0: that of the prefix, or 10
 * value  out
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: another base, or an empty text.
 */
static inline NTSTATUS RtlUnicodeStringToInteger(PCUNICODE_STRING string, ULONG base, PULONG value)
{
    const WCHAR *at = string->Buffer, *end = at + string->Length / sizeof(WCHAR);
    BOOLEAN negative = FALSE;

    *value = 0;
    if ((base && base != 2 && base != 8 && base != 10 && base != 16) || at == end)
        return STATUS_INVALID_PARAMETER;
    while (at < end && *at <= ' ')
        at++;
    if (at < end && (*at == '-' || *at == '+'))
        negative = *at++ == '-';
    if (!base) {
        base = 10;
        if (end - at > 1 && *at == '0' && (at[1] == 'b' || at[1] == 'o' || at[1] == 'x')) {
            base = at[1] == 'b' ? 2 : at[1] == 'o' ? 8 : 16;
            at += 2;
        }
    }
    for (; at < end; at++) {
        ULONG digit = *at >= '0' && *at <= '9'   ? (ULONG)*at - '0'
                      : *at >= 'A' && *at <= 'F' ? (ULONG)*at - 'A' + 10
                      : *at >= 'a' && *at <= 'f' ? (ULONG)*at - 'a' + 10
                                                 : 16;

        if (digit >= base)
            break;
        *value = *value * base + digit;
    }
    if (negative)
        *value = 0 - *value;
    return STATUS_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
