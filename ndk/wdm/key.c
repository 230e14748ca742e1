/* SPDX-License-Identifier: MIT */
/* key.c - keys of the registry of ndkwdm.h, compiled for each width of wchar_t. */
#include "ndk/wdm/handle.h"
#include "ndk/wdm/value.h"

#include "ndk/verifier/passive.h"

#include <stdlib.h>

static void release_key(struct ndk_handle *key)
{
    free(key);
}

static bool is_key(HANDLE handle)
{
    struct ndk_handle *key = ndk_handle_take(handle, NDK_HANDLE_KEY);

    if (key)
        ndk_handle_put(key);
    return key != NULL;
}

NTSTATUS ZwOpenKey(PHANDLE key, ULONG access, POBJECT_ATTRIBUTES attributes)
{
    const UNICODE_STRING *name = attributes ? attributes->ObjectName : NULL;
    struct ndk_handle *made;

    (void)access;
    ndk_passive_expected("ZwOpenKey", "attributes", attributes);
    if (!name)
        return STATUS_INVALID_PARAMETER;
    if (attributes->RootDirectory && !is_key(attributes->RootDirectory))
        return STATUS_INVALID_HANDLE;
    if (!attributes->RootDirectory && (name->Length < sizeof(WCHAR) || name->Buffer[0] != '\\'))
        return STATUS_OBJECT_PATH_SYNTAX_BAD;
    if (!(made = malloc(sizeof(*made))))
        return STATUS_INSUFFICIENT_RESOURCES;
    *key = ndk_handle_open(made, NDK_HANDLE_KEY, release_key);
    return STATUS_SUCCESS;
}

NTSTATUS ZwCreateKey(PHANDLE key, ULONG access, POBJECT_ATTRIBUTES attributes, ULONG title,
    PUNICODE_STRING class_name, ULONG options, PULONG disposition)
{
    NTSTATUS status = ZwOpenKey(key, access, attributes);

    (void)title;
    (void)class_name;
    (void)options;
    if (NT_SUCCESS(status) && disposition)
        *disposition = REG_OPENED_EXISTING_KEY;
    return status;
}

/* Where information goes: what has no room is left out. */
struct room {
    UCHAR *to;
    ULONG length;
    ULONG used; /* also by what was left out */
};

static void put_bytes(struct room *room, const void *bytes, ULONG count)
{
    if (room->used < room->length)
        memcpy(room->to + room->used, bytes,
            count < room->length - room->used ? count : room->length - room->used);
    room->used += count;
}

static void put_name(struct room *room, const char *name)
{
    for (; *name; name++) {
        const WCHAR character = (WCHAR)(unsigned char)*name;

        put_bytes(room, &character, sizeof(character));
    }
}

static void put_basic(struct room *room, const char *name, const struct ndk_value *value)
{
    const KEY_VALUE_BASIC_INFORMATION head = { .Type = value->type,
        .NameLength = (ULONG)(strlen(name) * sizeof(WCHAR)) };

    put_bytes(room, &head, offsetof(KEY_VALUE_BASIC_INFORMATION, Name));
    put_name(room, name);
}

static void put_full(struct room *room, const char *name, const struct ndk_value *value)
{
    static const UCHAR zeros[8];
    const ULONG bytes = (ULONG)(strlen(name) * sizeof(WCHAR));
    const ULONG end = (ULONG)offsetof(KEY_VALUE_FULL_INFORMATION, Name) + bytes;
    const KEY_VALUE_FULL_INFORMATION head = { .Type = value->type,
        .DataOffset = (end + 7) / 8 * 8,
        .DataLength = value->bytes,
        .NameLength = bytes };

    put_bytes(room, &head, offsetof(KEY_VALUE_FULL_INFORMATION, Name));
    put_name(room, name);
    put_bytes(room, zeros, head.DataOffset - end);
    put_bytes(room, value->data, value->bytes);
}

static void put_partial(struct room *room, const struct ndk_value *value)
{
    const KEY_VALUE_PARTIAL_INFORMATION head = { .Type = value->type, .DataLength = value->bytes };

    put_bytes(room, &head, offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data));
    put_bytes(room, value->data, value->bytes);
}

/* Stores nothing if not even the structure fits. Frees the parameter. */
static NTSTATUS store(struct ndk_parameter *parameter, KEY_VALUE_INFORMATION_CLASS wanted,
    PVOID information, ULONG length, PULONG result)
{
    static const ULONG heads[] = { offsetof(KEY_VALUE_BASIC_INFORMATION, Name),
        offsetof(KEY_VALUE_FULL_INFORMATION, Name), offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data) };
    struct room room = { .to = information };
    NTSTATUS status = STATUS_SUCCESS;
    struct ndk_value value = { 0 };

    if ((ULONG)wanted > KeyValuePartialInformation)
        status = STATUS_INVALID_PARAMETER;
    else if (!ndk_value_of(parameter, &value))
        status = STATUS_NO_MEMORY;
    if (status == STATUS_SUCCESS) {
        if (length >= heads[wanted])
            room.length = length;
        if (wanted == KeyValueBasicInformation)
            put_basic(&room, parameter->name, &value);
        else if (wanted == KeyValueFullInformation)
            put_full(&room, parameter->name, &value);
        else
            put_partial(&room, &value);
        *result = room.used;
        if (room.used > length)
            status = room.length ? STATUS_BUFFER_OVERFLOW : STATUS_BUFFER_TOO_SMALL;
    }
    free(value.made);
    free(parameter);
    return status;
}

NTSTATUS ZwQueryValueKey(HANDLE key, PUNICODE_STRING name,
    KEY_VALUE_INFORMATION_CLASS information_class, PVOID information, ULONG length, PULONG result)
{
    char narrow[NDK_PARAMETER_NAME_MOST + 1];
    struct ndk_parameter *found;

    ndk_passive_expected("ZwQueryValueKey", "HANDLE", key);
    if (!is_key(key))
        return STATUS_INVALID_HANDLE;
    if (!ndk_value_name(name->Buffer, name->Length, narrow) ||
        !(found = ndk_parameter_copy(narrow)))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return store(found, information_class, information, length, result);
}

NTSTATUS ZwEnumerateValueKey(HANDLE key, ULONG index, KEY_VALUE_INFORMATION_CLASS information_class,
    PVOID information, ULONG length, PULONG result)
{
    struct ndk_parameter *found;

    ndk_passive_expected("ZwEnumerateValueKey", "HANDLE", key);
    if (!is_key(key))
        return STATUS_INVALID_HANDLE;
    if (!(found = ndk_parameter_at(index)))
        return STATUS_NO_MORE_ENTRIES;
    return store(found, information_class, information, length, result);
}

NTSTATUS ZwSetValueKey(
    HANDLE key, PUNICODE_STRING name, ULONG title, ULONG type, PVOID data, ULONG length)
{
    char narrow[NDK_PARAMETER_NAME_MOST + 1];

    (void)title;
    ndk_passive_expected("ZwSetValueKey", "HANDLE", key);
    if (!is_key(key))
        return STATUS_INVALID_HANDLE;
    if (!ndk_value_name(name->Buffer, name->Length, narrow))
        return STATUS_OBJECT_NAME_INVALID;
    return ndk_parameter_set(narrow, type, data, length) ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS ZwDeleteValueKey(HANDLE key, PUNICODE_STRING name)
{
    char narrow[NDK_PARAMETER_NAME_MOST + 1];

    ndk_passive_expected("ZwDeleteValueKey", "HANDLE", key);
    if (!is_key(key))
        return STATUS_INVALID_HANDLE;
    if (!ndk_value_name(name->Buffer, name->Length, narrow) || !ndk_parameter_remove(narrow))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return STATUS_SUCCESS;
}
