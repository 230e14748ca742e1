/* SPDX-License-Identifier: MIT */
/* test_compat.c - layout, COM objects across C and C++, GUIDs, widths of characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/unit/compat/layout.h"

#include "tests/unit/compat/com.h"
#include "tests/support/spec_codes.h"

#include <cmocka.h>
#include <stdlib.h>

struct object {
    ITest iface;
    LONG refs;
};

static HRESULT STDMETHODCALLTYPE object_QueryInterface(ITest *iface, REFIID riid, void **object)
{
    if (!object)
        return E_POINTER;
    *object = NULL;
    if (!IsEqualIID(riid, &IID_ITest) && !IsEqualGUID(riid, &IID_IUnknown))
        return E_NOINTERFACE;
    iface->lpVtbl->AddRef(iface);
    *object = iface;
    return S_OK;
}

static ULONG STDMETHODCALLTYPE object_AddRef(ITest *iface)
{
    return (ULONG)InterlockedIncrement(&((struct object *)iface)->refs);
}

static ULONG STDMETHODCALLTYPE object_Release(ITest *iface)
{
    return (ULONG)InterlockedDecrement(&((struct object *)iface)->refs);
}

static ULONG STDMETHODCALLTYPE object_Add(ITest *iface, ULONG a, ULONG b)
{
    (void)iface;
    return a + b;
}

static void STDMETHODCALLTYPE object_Forget(ITest *iface)
{
    (void)iface;
}

static const ITestVtbl object_vtbl = { object_QueryInterface, object_AddRef, object_Release,
    object_Add, object_Forget };

static void test_com_object_in_c_used_from_cxx(void **state)
{
    struct object object = { { &object_vtbl }, 1 };

    (void)state;
    assert_int_equal(cxx_uses(&object.iface), 0);
    assert_int_equal(object.refs, 1);
}

static void test_com_object_in_cxx_used_from_c(void **state)
{
    ITest *object = cxx_object();
    void *unknown;

    (void)state;
    assert_int_equal(object->lpVtbl->QueryInterface(object, &IID_IUnknown, &unknown), 0);
    assert_ptr_equal(unknown, object);
    assert_int_equal(object->lpVtbl->Add(object, 1, 2), 3);
    assert_int_equal((ULONG)object->lpVtbl->QueryInterface(object, &IID_IClassFactory, &unknown),
        SPEC_E_NOINTERFACE);
    assert_null(unknown);
    assert_int_equal(object->lpVtbl->Release(object), 1);
    assert_int_equal(object->lpVtbl->Release(object), 0);
}

static void test_guids_have_the_published_bytes(void **state)
{
    static const unsigned char unknown[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0,
        0x46 };
    static const unsigned char factory[16] = { 1, 0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0,
        0x46 };
    static const unsigned char test[16] = { 0x78, 0x56, 0x34, 0x12, 0xbc, 0x9a, 0xf0, 0xde, 1, 2, 3,
        4, 5, 6, 7, 8 };
    static const unsigned char null[16];

    (void)state;
    assert_memory_equal(&IID_IUnknown, unknown, 16);
    assert_memory_equal(&IID_IClassFactory, factory, 16);
    assert_memory_equal(&IID_ITest, test, 16);
    assert_memory_equal(&GUID_NULL, null, 16);
    assert_true(InlineIsEqualGUID(&IID_NULL, &CLSID_NULL));
}

static void test_cxx_min_max_and_overlapped(void **state)
{
    (void)state;
    assert_int_equal(cxx_min_max(), 0);
}

static void test_run_time_field_offset(void **state)
{
    volatile int count = 5;

    (void)state;
    assert_int_equal(FIELD_OFFSET(SOCKET_ADDRESS_LIST, Address[count]), 88);
    assert_int_equal(SIZEOF_SOCKET_ADDRESS_LIST(count), 88);
}

/* A program built with a wchar_t of 16 bits gets the wide functions of that width. */
static void test_short_wide_functions(void **state)
{
    static const uint16_t text[] = { '1', '.', '2', '.', '3', '.', '4', ':', '5', 0 };
    uint16_t copy[16];
    struct sockaddr_in address;
    INT length = sizeof(address);
    WSADATA data;

    (void)state;
    memcpy(copy, text, sizeof(text));
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
    assert_int_equal(address_of_short_text((WCHAR *)copy, &address, &length), 0);
    assert_int_equal(ntohl(address.sin_addr.s_addr), 0x01020304);
    assert_int_equal(ntohs(address.sin_port), 5);
    assert_int_equal(WSACleanup(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_com_object_in_c_used_from_cxx),
        cmocka_unit_test(test_com_object_in_cxx_used_from_c),
        cmocka_unit_test(test_guids_have_the_published_bytes),
        cmocka_unit_test(test_cxx_min_max_and_overlapped),
        cmocka_unit_test(test_run_time_field_offset),
        cmocka_unit_test(test_short_wide_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
