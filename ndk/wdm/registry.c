/* SPDX-License-Identifier: MIT */
/* registry.c - RtlQueryRegistryValues of ndkwdm.h, compiled for each width of wchar_t. */
#include "ndk/wdm/parameters.h"

#include "ndk/verifier/passive.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NAME_MOST = 255, TEXT_MOST = 1023 };

/* A value in the form that drivers know. */
struct value {
    ULONG type, bytes;
    const void *data;
    ULONG number;
    WCHAR text[TEXT_MOST + 1];
};

static bool is_number(const char *text, ULONG *number)
{
    unsigned long long parsed;
    char *end;

    errno = 0;
    parsed = strtoull(text, &end, 0);
    *number = (ULONG)parsed;
    return *text >= '0' && *text <= '9' && !*end && !errno && parsed <= MAXULONG;
}

/* False: there is no such value. */
static bool look_up(PCWSTR name, struct value *value)
{
    char narrow[NAME_MOST + 1];
    const char *found;
    ULONG i = 0;

    for (; name[i] && i < NAME_MOST && (ULONG)name[i] < 0x80; i++)
        narrow[i] = (char)name[i];
    narrow[i] = '\0';
    if (name[i] || !(found = ndk_parameter(narrow)))
        return false;
    if (is_number(found, &value->number)) {
        value->type = REG_DWORD;
        value->data = &value->number;
        value->bytes = sizeof(value->number);
        return true;
    }
    for (i = 0; found[i] && i < TEXT_MOST; i++)
        value->text[i] = (WCHAR)(unsigned char)found[i];
    value->text[i] = UNICODE_NULL;
    value->type = REG_SZ;
    value->data = value->text;
    value->bytes = (ULONG)((i + 1) * sizeof(WCHAR));
    return true;
}

static ULONG default_type(const RTL_QUERY_REGISTRY_TABLE *row)
{
    if (row->Flags & RTL_QUERY_REGISTRY_TYPECHECK)
        return row->DefaultType & ((1u << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT) - 1);
    return row->DefaultType;
}

static void take_default(const RTL_QUERY_REGISTRY_TABLE *row, struct value *value)
{
    value->type = default_type(row);
    value->data = row->DefaultData;
    value->bytes = row->DefaultLength;
    if (!value->bytes && value->type == REG_DWORD)
        value->bytes = sizeof(ULONG);
    else if (!value->bytes && value->type == REG_SZ)
        value->bytes = (ULONG)(NdkwdmTextBytes(value->data) + sizeof(WCHAR));
}

static NTSTATUS store_text(PUNICODE_STRING string, const struct value *value)
{
    if (!string->Buffer) {
        if (!(string->Buffer = ExAllocatePoolWithTag(NonPagedPoolNx, value->bytes, 0x6752)))
            return STATUS_NO_MEMORY;
        string->MaximumLength = (USHORT)value->bytes;
    }
    if (value->bytes > string->MaximumLength)
        return STATUS_BUFFER_TOO_SMALL;
    memcpy(string->Buffer, value->data, value->bytes);
    string->Length = (USHORT)(value->bytes - sizeof(WCHAR));
    return STATUS_SUCCESS;
}

static NTSTATUS give(const RTL_QUERY_REGISTRY_TABLE *row, const struct value *value, PVOID context)
{
    if (!(row->Flags & RTL_QUERY_REGISTRY_DIRECT))
        return row->QueryRoutine((PWSTR)row->Name, value->type, (PVOID)value->data, value->bytes,
            context, row->EntryContext);
    if (row->Flags & RTL_QUERY_REGISTRY_TYPECHECK &&
        row->DefaultType >> RTL_QUERY_REGISTRY_TYPECHECK_SHIFT != value->type)
        return STATUS_OBJECT_TYPE_MISMATCH;
    if (value->type == REG_SZ)
        return store_text(row->EntryContext, value);
    memcpy(row->EntryContext, value->data, value->bytes);
    return STATUS_SUCCESS;
}

NTSTATUS RtlQueryRegistryValues(
    ULONG relative, PCWSTR path, PRTL_QUERY_REGISTRY_TABLE table, PVOID context, PVOID environment)
{
    const ULONG known =
        RTL_QUERY_REGISTRY_REQUIRED | RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK;
    NTSTATUS status = STATUS_SUCCESS;

    (void)relative;
    (void)path;
    (void)environment;
    ndk_passive_expected("RtlQueryRegistryValues", "table", table);
    for (; NT_SUCCESS(status) && (table->QueryRoutine || table->Name); table++) {
        struct value value;

        if (!table->Name || table->Flags & ~known ||
            !(table->QueryRoutine || table->Flags & RTL_QUERY_REGISTRY_DIRECT))
            return STATUS_INVALID_PARAMETER;
        if (!look_up(table->Name, &value)) {
            if (table->Flags & RTL_QUERY_REGISTRY_REQUIRED)
                return STATUS_OBJECT_NAME_NOT_FOUND;
            if (default_type(table) == REG_NONE)
                continue;
            take_default(table, &value);
        }
        status = give(table, &value, context);
    }
    return status;
}
