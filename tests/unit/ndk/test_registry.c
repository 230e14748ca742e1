/* SPDX-License-Identifier: MIT */
/*
 * test_registry.c - keys and values of the registry. Compiled for each width of wchar_t. Sources: Microsoft's pages of
 * ZwQueryValueKey (codes, ResultLength), ZwEnumerateValueKey, ZwSetValueKey, KEY_VALUE_FULL_INFORMATION; that each key
 * leads to the same values is our choice, the order of values our reading.
 */
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkl.h>
#include <ndkwdm.h>

#include <stdlib.h>

#define OK        ((NTSTATUS)SPEC_STATUS_SUCCESS)
#define NOT_FOUND ((NTSTATUS)SPEC_STATUS_OBJECT_NAME_NOT_FOUND)

static HANDLE opened(PCWSTR path)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;
    HANDLE key = NULL;

    RtlInitUnicodeString(&name, path);
    InitializeObjectAttributes(
        &attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(ZwOpenKey(&key, KEY_READ, &attributes), OK);
    return key;
}

static NTSTATUS set(HANDLE key, PCWSTR name, ULONG type, const void *data, ULONG length)
{
    UNICODE_STRING string;

    RtlInitUnicodeString(&string, name);
    return ZwSetValueKey(key, &string, 0, type, (PVOID)data, length);
}

static NTSTATUS take_out(HANDLE key, PCWSTR name)
{
    UNICODE_STRING string;

    RtlInitUnicodeString(&string, name);
    return ZwDeleteValueKey(key, &string);
}

static NTSTATUS look(HANDLE key, PCWSTR name, KEY_VALUE_INFORMATION_CLASS information_class,
    PVOID information, ULONG length, ULONG *result)
{
    UNICODE_STRING string;

    RtlInitUnicodeString(&string, name);
    return ZwQueryValueKey(key, &string, information_class, information, length, result);
}

/* The REG_DWORD of that name. */
static ULONG number_of(HANDLE key, PCWSTR name)
{
    KEY_VALUE_PARTIAL_INFORMATION partial;
    ULONG result = 0, number;

    assert_int_equal(
        look(key, name, KeyValuePartialInformation, &partial, sizeof(partial), &result), OK);
    assert_int_equal(result, 0x10);
    assert_int_equal(partial.Type, REG_DWORD);
    assert_int_equal(partial.DataLength, 4);
    memcpy(&number, partial.Data, sizeof(number));
    return number;
}

static void keys_lead_to_the_programs_values(void **state)
{
    HANDLE key = opened(L"\\Registry\\Machine\\Software\\Any"), below = NULL;
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;
    ULONG disposition = 0;

    (void)state;
    assert_int_equal(NdklSetParameter("Port", "0x10"), OK);
    assert_int_equal(number_of(key, L"port"), 16);
    assert_int_equal(NdklSetParameter("Port", "17"), OK);
    assert_int_equal(number_of(key, L"Port"), 17);
    RtlInitUnicodeString(&name, L"Parameters");
    InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE, key, NULL);
    assert_int_equal(
        ZwCreateKey(&below, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, &disposition), OK);
    assert_int_equal(disposition, REG_OPENED_EXISTING_KEY);
    assert_int_equal(number_of(below, L"Port"), 17);
    assert_int_equal(ZwClose(below), OK);
    attributes.RootDirectory = below;
    assert_int_equal(
        ZwOpenKey(&below, KEY_READ, &attributes), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
    attributes.RootDirectory = NULL;
    assert_int_equal(
        ZwOpenKey(&below, KEY_READ, &attributes), (NTSTATUS)SPEC_STATUS_OBJECT_PATH_SYNTAX_BAD);
    assert_int_equal(ZwClose(key), OK);
    assert_int_equal(ZwClose(key), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
}

static void values_are_set_and_taken_out(void **state)
{
    HANDLE key = opened(L"\\Registry\\Machine\\Software\\Any");
    ULONG number = 7, result = 0;
    UCHAR buffer[64];

    (void)state;
    assert_int_equal(set(key, L"Number", REG_DWORD, &number, sizeof(number)), OK);
    assert_int_equal(number_of(key, L"NUMBER"), 7);
    number = 8;
    assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"any", L"Number", REG_DWORD,
                         &number, sizeof(number)),
        OK);
    assert_int_equal(number_of(key, L"Number"), 8);
    assert_int_equal(take_out(key, L"Number"), OK);
    assert_int_equal(take_out(key, L"Number"), NOT_FOUND);
    assert_int_equal(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"any", L"Number"), NOT_FOUND);
    assert_int_equal(
        look(key, L"Number", KeyValuePartialInformation, buffer, 64, &result), NOT_FOUND);
    assert_int_equal(
        set(key, L"\u00e9", REG_NONE, NULL, 0), (NTSTATUS)SPEC_STATUS_OBJECT_NAME_INVALID);
    assert_int_equal(ZwClose(key), OK);
    assert_int_equal(
        set(key, L"Number", REG_DWORD, &number, 4), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
}

static void text_is_of_the_drivers_width(void **state)
{
    HANDLE key = opened(L"\\Registry\\Machine\\Software\\Any");
    union {
        KEY_VALUE_PARTIAL_INFORMATION head;
        UCHAR bytes[64];
    } partial;
    WCHAR text[4];
    ULONG result = 0;

    (void)state;
    assert_int_equal(NdklSetParameter("Text", "abc"), OK);
    assert_int_equal(
        look(key, L"Text", KeyValuePartialInformation, &partial, sizeof(partial), &result), OK);
    assert_int_equal(partial.head.Type, REG_SZ);
    assert_int_equal(partial.head.DataLength, sizeof(text));
    assert_int_equal(result, 12 + sizeof(text));
    memcpy(text, partial.head.Data, sizeof(text));
    assert_int_equal(text[2], 'c');
    assert_int_equal(text[3], 0);
    assert_int_equal(take_out(key, L"Text"), OK);
    assert_int_equal(ZwClose(key), OK);
}

static void short_room_gets_a_part_or_nothing(void **state)
{
    static const UCHAR data[] = { 1, 2, 3, 4, 5, 6 };
    HANDLE key = opened(L"\\Registry\\Machine\\Software\\Any");
    union {
        KEY_VALUE_PARTIAL_INFORMATION head;
        UCHAR bytes[32];
    } partial;
    ULONG result = 0;

    (void)state;
    assert_int_equal(set(key, L"Bytes", REG_BINARY, data, sizeof(data)), OK);
    memset(&partial, 0xEE, sizeof(partial));
    assert_int_equal(look(key, L"Bytes", KeyValuePartialInformation, &partial, 11, &result),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(result, 12 + sizeof(data));
    assert_int_equal(partial.bytes[0], 0xEE);
    assert_int_equal(look(key, L"Bytes", KeyValuePartialInformation, NULL, 0, &result),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(look(key, L"Bytes", KeyValuePartialInformation, &partial, 14, &result),
        (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
    assert_int_equal(partial.head.DataLength, sizeof(data));
    assert_memory_equal(partial.head.Data, data, 2);
    assert_int_equal(partial.bytes[14], 0xEE);
    assert_int_equal(
        look(key, L"Bytes", (KEY_VALUE_INFORMATION_CLASS)99, &partial, sizeof(partial), &result),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(take_out(key, L"Bytes"), OK);
    assert_int_equal(ZwClose(key), OK);
}

/* All that is left are the values of this test. */
static void values_are_enumerated(void **state)
{
    HANDLE key = opened(L"\\Registry\\Machine\\Software\\Any");
    union {
        KEY_VALUE_BASIC_INFORMATION basic;
        KEY_VALUE_FULL_INFORMATION full;
        UCHAR bytes[64];
    } room;
    ULONG result = 0, number = 0x01020304;

    (void)state;
    assert_int_equal(take_out(key, L"Port"), OK);
    assert_int_equal(set(key, L"One", REG_DWORD, &number, sizeof(number)), OK);
    assert_int_equal(set(key, L"", REG_NONE, NULL, 0), OK);
    assert_int_equal(
        ZwEnumerateValueKey(key, 0, KeyValueFullInformation, &room, sizeof(room), &result), OK);
    assert_int_equal(room.full.Type, REG_DWORD);
    assert_int_equal(room.full.NameLength, 3 * sizeof(WCHAR));
    assert_memory_equal(room.full.Name, L"One", 3 * sizeof(WCHAR));
    assert_int_equal(room.full.DataLength, sizeof(number));
    assert_memory_equal(room.bytes + room.full.DataOffset, &number, sizeof(number));
    assert_int_equal(result, room.full.DataOffset + sizeof(number));
    assert_int_equal(
        ZwEnumerateValueKey(key, 1, KeyValueBasicInformation, &room, sizeof(room), &result), OK);
    assert_int_equal(room.basic.NameLength, 0);
    assert_int_equal(room.basic.Type, REG_NONE);
    assert_int_equal(
        ZwEnumerateValueKey(key, 2, KeyValueBasicInformation, &room, sizeof(room), &result),
        (NTSTATUS)SPEC_STATUS_NO_MORE_ENTRIES);
    assert_int_equal(take_out(key, L"One"), OK);
    assert_int_equal(take_out(key, L""), OK);
    assert_int_equal(ZwClose(key), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_lead_to_the_programs_values),
        cmocka_unit_test(values_are_set_and_taken_out),
        cmocka_unit_test(text_is_of_the_drivers_width),
        cmocka_unit_test(short_room_gets_a_part_or_nothing),
        cmocka_unit_test(values_are_enumerated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
