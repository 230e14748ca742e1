/* SPDX-License-Identifier: MIT */
/* registry.c - RtlQueryRegistryValues of ndkwdm.h and its kind, compiled for each width of wchar_t. */
#include "ndk/wdm/value.h"

#include "ndk/verifier/passive.h"

#include <stdlib.h>

static ULONG default_type(const RTL_QUERY_REGISTRY_TABLE *row)
{
    if (row->Flags & RTL_QUERY_REGISTRY_TYPECHECK)
        return row->DefaultType & ((1u << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT) - 1);
    return row->DefaultType;
}

static void take_default(const RTL_QUERY_REGISTRY_TABLE *row, struct ndk_value *value)
{
    value->type = default_type(row);
    value->data = row->DefaultData;
    value->bytes = row->DefaultLength;
    if (!value->bytes && value->type == REG_DWORD)
        value->bytes = sizeof(ULONG);
    else if (!value->bytes && value->type == REG_SZ)
        value->bytes = (ULONG)(NdkwdmTextBytes(value->data) + sizeof(WCHAR));
}

static NTSTATUS store_text(PUNICODE_STRING string, const struct ndk_value *value)
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

static NTSTATUS give(
    const RTL_QUERY_REGISTRY_TABLE *row, const struct ndk_value *value, PVOID context)
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

static NTSTATUS query(const RTL_QUERY_REGISTRY_TABLE *row, PVOID context)
{
    char narrow[NDK_PARAMETER_NAME_MOST + 1];
    struct ndk_parameter *found = NULL;
    struct ndk_value value = { 0 };
    NTSTATUS status;

    if (ndk_value_name(row->Name, NdkwdmTextBytes(row->Name), narrow))
        found = ndk_parameter_copy(narrow);
    if (!found && row->Flags & RTL_QUERY_REGISTRY_REQUIRED)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (!found && default_type(row) == REG_NONE)
        return STATUS_SUCCESS;
    if (!found)
        take_default(row, &value);
    else if (!ndk_value_of(found, &value)) {
        free(found);
        return STATUS_NO_MEMORY;
    }
    status = give(row, &value, context);
    free(value.made);
    free(found);
    return status;
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
        if (!table->Name || table->Flags & ~known ||
            !(table->QueryRoutine || table->Flags & RTL_QUERY_REGISTRY_DIRECT))
            return STATUS_INVALID_PARAMETER;
        status = query(table, context);
    }
    return status;
}

NTSTATUS RtlWriteRegistryValue(
    ULONG relative, PCWSTR path, PCWSTR name, ULONG type, PVOID data, ULONG length)
{
    char narrow[NDK_PARAMETER_NAME_MOST + 1];

    (void)relative;
    (void)path;
    ndk_passive_expected("RtlWriteRegistryValue", "name", name);
    if (!ndk_value_name(name, NdkwdmTextBytes(name), narrow))
        return STATUS_OBJECT_NAME_INVALID;
    return ndk_parameter_set(narrow, type, data, length) ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS RtlDeleteRegistryValue(ULONG relative, PCWSTR path, PCWSTR name)
{
    char narrow[NDK_PARAMETER_NAME_MOST + 1];

    (void)relative;
    (void)path;
    ndk_passive_expected("RtlDeleteRegistryValue", "name", name);
    if (!ndk_value_name(name, NdkwdmTextBytes(name), narrow))
        return STATUS_OBJECT_NAME_INVALID;
    return ndk_parameter_remove(narrow) ? STATUS_SUCCESS : STATUS_OBJECT_NAME_NOT_FOUND;
}
