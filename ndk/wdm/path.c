/* SPDX-License-Identifier: MIT */
/* path.c - names of files of ndkwdm.h, compiled for each width of wchar_t. */
#include "ndk/verifier/passive.h"
#include "ndk/wdm/file.h"

#include <limits.h>
#include <stdbool.h>

/* The characters of prefix that text begins with, without case; 0: it begins otherwise. */
static size_t begins_with(const UNICODE_STRING *text, const char *prefix)
{
    size_t count = strlen(prefix), i;

    if (text->Length / sizeof(WCHAR) <= count)
        return 0;
    for (i = 0; i < count; i++)
        if (RtlUpcaseUnicodeChar(text->Buffer[i]) != RtlUpcaseUnicodeChar(prefix[i]))
            return 0;
    return count;
}

/* The next character; a pair of 16 bits is one. */
static ULONG next_character(const WCHAR *text, size_t count, size_t *at)
{
    ULONG first = (ULONG)text[(*at)++], second;

    if (sizeof(WCHAR) == 2 && (first & 0xFC00) == 0xD800 && *at < count &&
        ((second = (ULONG)text[*at]) & 0xFC00) == 0xDC00) {
        ++*at;
        return 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
    }
    return first;
}

/* Puts a character as UTF-8. Returns how many bytes that are. */
static size_t put_utf8(char *to, ULONG character)
{
    size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4, i;

    for (i = count - 1; i; i--, character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3F));
    to[0] = (char)(count == 1 ? character : (0xF00u >> count & 0xFFu) | character);
    return count;
}

static NTSTATUS path_of(const UNICODE_STRING *name, char path[PATH_MAX])
{
    size_t count = name->Length / sizeof(WCHAR), at = begins_with(name, "\\??\\"), bytes = 0;

    if (!at && !(at = begins_with(name, "\\DosDevices\\")))
        return STATUS_OBJECT_PATH_SYNTAX_BAD;
    while (at < count) {
        ULONG character = next_character(name->Buffer, count, &at);

        if (!character || character > 0x10FFFF || bytes + 4 >= PATH_MAX)
            return STATUS_OBJECT_NAME_INVALID;
        bytes += put_utf8(path + bytes, character == '\\' ? '/' : character);
    }
    path[bytes] = '\0';
    return STATUS_SUCCESS;
}

NTSTATUS ZwCreateFile(PHANDLE file, ULONG access, POBJECT_ATTRIBUTES attributes,
    PIO_STATUS_BLOCK result, PLARGE_INTEGER size, ULONG file_attributes, ULONG share,
    ULONG disposition, ULONG options, PVOID ea, ULONG ea_length)
{
    ULONG_PTR information = 0;
    char path[PATH_MAX];
    NTSTATUS status;

    (void)size;
    (void)file_attributes;
    (void)share;
    (void)ea;
    (void)ea_length;
    ndk_passive_expected("ZwCreateFile", "attributes", attributes);
    if (!attributes || !attributes->ObjectName)
        status = STATUS_INVALID_PARAMETER;
    else if (attributes->RootDirectory)
        status = STATUS_INVALID_HANDLE;
    else
        status = path_of(attributes->ObjectName, path);
    if (NT_SUCCESS(status))
        status = ndk_file_open(file, path, access, disposition, options, &information);
    result->Status = status;
    result->Information = information;
    return status;
}

NTSTATUS ZwOpenFile(PHANDLE file, ULONG access, POBJECT_ATTRIBUTES attributes,
    PIO_STATUS_BLOCK result, ULONG share, ULONG options)
{
    return ZwCreateFile(
        file, access, attributes, result, NULL, 0, share, FILE_OPEN, options, NULL, 0);
}
