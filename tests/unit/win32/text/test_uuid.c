/* SPDX-License-Identifier: MIT */
/* test_uuid.c - UUIDs and identifiers of classes as text; threads that use COM, and its memory. */
#include "tests/support/win32_test.h"

#include <objbase.h>
#include <rpc.h>

static GUID sample = { 0x01234567, 0x89AB, 0xCDEF,
    { 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF } };
#define SAMPLE_TEXT  "01234567-89ab-cdef-0123-456789abcdef"
#define SAMPLE_CLASS L"{01234567-89AB-CDEF-0123-456789ABCDEF}"

static int same_wide(const WCHAR *a, const WCHAR *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static void test_new_uuids(void **state)
{
    UUID a, b, nil;
    RPC_STATUS status = -1;

    (void)state;
    assert_int_equal(UuidCreate(&a), RPC_S_OK);
    assert_int_equal(CoCreateGuid(&b), SPEC_S_OK);
    assert_int_equal(a.Data3 >> 12, 4);
    assert_int_equal(a.Data4[0] >> 6, 2);
    assert_false(UuidEqual(&a, &b, &status));
    assert_int_equal(status, RPC_S_OK);
    b = a;
    assert_true(UuidEqual(&a, &b, &status));
    assert_int_equal(UuidCreateNil(&nil), RPC_S_OK);
    assert_true(UuidIsNil(&nil, &status));
    assert_false(UuidIsNil(&a, &status));
    assert_true(IsEqualGUID(&nil, &GUID_NULL));
}

static void test_narrow_text_of_uuids(void **state)
{
    UUID uuid = sample;
    RPC_CSTR text = NULL;

    (void)state;
    assert_int_equal(UuidToStringA(&sample, &text), RPC_S_OK);
    assert_string_equal((char *)text, SAMPLE_TEXT);
    memset(&uuid, 0, sizeof(uuid));
    assert_int_equal(UuidFromStringA(text, &uuid), RPC_S_OK);
    assert_true(IsEqualGUID(&uuid, &sample));
    assert_int_equal(RpcStringFreeA(&text), RPC_S_OK);
    assert_int_equal(
        UuidFromStringA((RPC_CSTR) "01234567-89AB-cdef-0123-456789ABCDEF", &uuid), RPC_S_OK);
    assert_true(IsEqualGUID(&uuid, &sample));
    assert_int_equal(UuidFromStringA((RPC_CSTR) "{" SAMPLE_TEXT "}", &uuid), 1705);
    assert_int_equal(UuidFromStringA((RPC_CSTR)SAMPLE_TEXT "0", &uuid), 1705);
    assert_int_equal(UuidFromStringA((RPC_CSTR) "01234567-89ab-cdef-0123-456789abcdeg", &uuid),
        RPC_S_INVALID_STRING_UUID);
    assert_int_equal(UuidFromStringA(NULL, &uuid), RPC_S_OK);
    assert_true(IsEqualGUID(&uuid, &GUID_NULL));
}

static void test_text_of_either_width(void **state)
{
    UUID uuid = { 0 };
#ifdef UNICODE
    RPC_WSTR text = NULL;
#else
    RPC_CSTR text = NULL;
#endif

    (void)state;
    assert_int_equal(UuidToString(&sample, &text), RPC_S_OK);
    assert_int_equal(UuidFromString(text, &uuid), RPC_S_OK);
    assert_true(IsEqualGUID(&uuid, &sample));
    assert_int_equal(RpcStringFree(&text), RPC_S_OK);
}

static void test_wide_text_of_uuids(void **state)
{
    UUID uuid = { 0 };
    RPC_WSTR text = NULL;

    (void)state;
    assert_int_equal(UuidToStringW(&sample, &text), RPC_S_OK);
    assert_true(same_wide((WCHAR *)text, L"01234567-89ab-cdef-0123-456789abcdef"));
    assert_int_equal(UuidFromStringW(text, &uuid), RPC_S_OK);
    assert_true(IsEqualGUID(&uuid, &sample));
    text[3] = 'x';
    assert_int_equal(UuidFromStringW(text, &uuid), 1705);
    assert_int_equal(RpcStringFreeW(&text), RPC_S_OK);
}

static void test_text_of_classes(void **state)
{
    WCHAR text[40];
    LPOLESTR made = NULL;

    (void)state;
    assert_int_equal(StringFromGUID2(&sample, text, 39), 39);
    assert_true(same_wide(text, SAMPLE_CLASS));
    assert_int_equal(StringFromGUID2(&sample, text, 38), 0);
    assert_int_equal(StringFromCLSID(&sample, &made), SPEC_S_OK);
    assert_true(same_wide(made, SAMPLE_CLASS));
    CoTaskMemFree(made);
    assert_int_equal(StringFromIID(&IID_IUnknown, &made), SPEC_S_OK);
    assert_true(same_wide(made, OLESTR("{00000000-0000-0000-C000-000000000046}")));
    CoTaskMemFree(made);
}

static void test_classes_of_text(void **state)
{
    CLSID id = { 0 };

    (void)state;
    assert_int_equal((ULONG)CLSIDFromString(SAMPLE_CLASS, &id), SPEC_S_OK);
    assert_true(IsEqualGUID(&id, &sample));
    assert_int_equal((ULONG)CLSIDFromString(NULL, &id), SPEC_S_OK);
    assert_true(IsEqualGUID(&id, &GUID_NULL));
    assert_int_equal((ULONG)CLSIDFromString(L"no such class", &id), SPEC_CO_E_CLASSSTRING);
    assert_int_equal((ULONG)CLSIDFromString(L"01234567-89AB-CDEF-0123-456789ABCDEF", &id),
        SPEC_CO_E_CLASSSTRING);
    assert_int_equal((ULONG)IIDFromString(SAMPLE_CLASS, &id), SPEC_S_OK);
    assert_true(IsEqualGUID(&id, &sample));
    assert_int_equal((ULONG)IIDFromString(L"{0123}", &id), SPEC_E_INVALIDARG);
    assert_int_equal(
        (ULONG)IIDFromString(L"{g1234567-89AB-CDEF-0123-456789ABCDEF}", &id), SPEC_CO_E_IIDSTRING);
    assert_int_equal((ULONG)IIDFromString(NULL, &id), SPEC_S_OK);
    assert_true(IsEqualGUID(&id, &GUID_NULL));
}

static void test_threads_that_use_com(void **state)
{
    (void)state;
    assert_int_equal((ULONG)CoInitialize(NULL), SPEC_S_OK);
    assert_int_equal((ULONG)CoInitializeEx(NULL, COINIT_APARTMENTTHREADED), SPEC_S_FALSE);
    assert_int_equal((ULONG)CoInitializeEx(NULL, COINIT_MULTITHREADED), SPEC_RPC_E_CHANGED_MODE);
    CoUninitialize();
    CoUninitialize();
    assert_int_equal(
        (ULONG)CoInitializeEx(NULL, COINIT_MULTITHREADED | COINIT_DISABLE_OLE1DDE), SPEC_S_OK);
    CoUninitialize();
}

static void test_memory_of_com(void **state)
{
    char *memory = CoTaskMemAlloc(4);

    (void)state;
    assert_non_null(memory);
    memcpy(memory, "abc", 4);
    memory = CoTaskMemRealloc(memory, 400);
    assert_string_equal(memory, "abc");
    assert_null(CoTaskMemRealloc(memory, 0));
    memory = CoTaskMemAlloc(0);
    assert_non_null(memory);
    CoTaskMemFree(memory);
    CoTaskMemFree(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_uuids),
        cmocka_unit_test(test_narrow_text_of_uuids),
        cmocka_unit_test(test_wide_text_of_uuids),
        cmocka_unit_test(test_text_of_either_width),
        cmocka_unit_test(test_text_of_classes),
        cmocka_unit_test(test_classes_of_text),
        cmocka_unit_test(test_threads_that_use_com),
        cmocka_unit_test(test_memory_of_com),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
