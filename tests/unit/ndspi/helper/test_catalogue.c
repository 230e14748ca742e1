/* SPDX-License-Identifier: MIT */
/*
 * The helper functions over a Winsock catalogue, as a Windows program has them: helper.c and catalogue.c on a
 * catalogue, libraries and providers that are played here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/ndspi/helper/fakewin/played.h"
#include "tests/support/spec_codes.h"

static int setup(void **state)
{
    (void)state;
    played_reset();
    assert_int_equal(NdStartup(), S_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < LIBRARIES; ++i)
        libraries[i].objects = 0;
    assert_int_equal(NdCleanup(), S_OK);
    for (int i = 0; i < LIBRARIES; ++i)
        assert_false(loaded(i));
    assert_int_equal(played.winsock, 0);
    assert_int_equal(played.handles, 0);
    assert_int_equal(NdCleanup(), ND_DEVICE_NOT_READY);
    return 0;
}

static void assert_addresses(DWORD flags, const char *expected)
{
    char text[256] = "", ip[INET_ADDRSTRLEN];
    SIZE_T size = 0;
    HRESULT hr = NdQueryAddressList(flags, NULL, &size);
    if (hr == ND_SUCCESS) {
        assert_int_equal(size, 0);
        assert_string_equal(expected, "");
        return;
    }
    assert_int_equal(hr, ND_BUFFER_OVERFLOW);
    SOCKET_ADDRESS_LIST *list = malloc(size);
    assert_int_equal(NdQueryAddressList(flags, list, &size), ND_SUCCESS);
    for (int i = 0; i < list->iAddressCount; ++i) {
        const struct sockaddr_in *address = (const struct sockaddr_in *)list->Address[i].lpSockaddr;
        sprintf(text + strlen(text), "%s%s", i ? " " : "",
            inet_ntop(AF_INET, &address->sin_addr, ip, sizeof(ip)));
    }
    assert_string_equal(text, expected);
    free(list);
}

static struct sockaddr_in ip(const char *text)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(4711) };
    inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

static void test_entry_is_recognised_by_every_field(void **state)
{
    (void)state;
    enum helper_version version;
    const struct {
        const char *name;
        int offset;
        DWORD value;
        bool provider;
    } rows[] = {
        { "not reliable", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x8C, false },
        { "not ordered", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x8A, false },
        { "a stream", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x86, false },
        { "no connect data", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x0E, false },
        { "more services", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0xFF, true },
        { "not hidden", offsetof(FAKE_PROTOCOL_INFO, dwProviderFlags), 0x10, false },
        { "not NetworkDirect", offsetof(FAKE_PROTOCOL_INFO, dwProviderFlags), 0x04, false },
        { "layered", offsetof(FAKE_PROTOCOL_INFO, ProtocolChain.ChainLen), 2, false },
        { "version 2 as 2", offsetof(FAKE_PROTOCOL_INFO, iVersion), 2, true },
        { "version 3", offsetof(FAKE_PROTOCOL_INFO, iVersion), 0x30000, false },
        { "IPv4", offsetof(FAKE_PROTOCOL_INFO, iAddressFamily), AF_INET, true },
        { "another family", offsetof(FAKE_PROTOCOL_INFO, iAddressFamily), AF_UNIX, false },
        { "a socket type", offsetof(FAKE_PROTOCOL_INFO, iSocketType), SOCK_STREAM, false },
        { "a protocol", offsetof(FAKE_PROTOCOL_INFO, iProtocol), 6, false },
        { "protocols", offsetof(FAKE_PROTOCOL_INFO, iProtocolMaxOffset), 255, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        FAKE_PROTOCOL_INFO entry = entry_of(V2_A);
        memcpy((char *)&entry + rows[i].offset, &rows[i].value, sizeof(DWORD));
        if (catalogue_is_provider(&entry, &version) != rows[i].provider)
            fail_msg("%s: should be %s", rows[i].name, rows[i].provider ? "a provider" : "none");
    }
    FAKE_PROTOCOL_INFO entry = entry_of(V1);
    assert_true(catalogue_is_provider(&entry, &version));
    assert_int_equal(version, HELPER_V1);
    entry = entry_of(V2_A);
    assert_true(catalogue_is_provider(&entry, &version));
    assert_int_equal(version, HELPER_V2);
}

static void test_list_has_version_2_first(void **state)
{
    (void)state;
    FAKE_PROTOCOL_INFO v1 = played.catalogue[V1];
    memmove(&played.catalogue[1], &played.catalogue[0], 2 * sizeof(v1));
    played.catalogue[0] = v1;
    assert_addresses(0, "10.0.0.1 10.0.0.2 10.0.0.9");
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
    assert_addresses(
        ND_QUERY_EXCLUDE_NDv2_ADDRESSES | ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES, "10.0.0.9");
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES | ND_QUERY_EXCLUDE_NDv2_ADDRESSES, "");
}

static void test_list_needs_no_more_than_it_says(void **state)
{
    (void)state;
    SIZE_T size = 0;
    assert_int_equal(NdQueryAddressList(0, NULL, &size), ND_BUFFER_OVERFLOW);
    assert_int_equal(size, 8 + 3 * 16 + 3 * 16);
    SOCKET_ADDRESS_LIST *list = malloc(size);
    memset(list, 0xAA, size);
    --size;
    assert_int_equal(NdQueryAddressList(0, list, &size), ND_BUFFER_OVERFLOW);
    assert_int_equal(size, 8 + 3 * 16 + 3 * 16);
    assert_int_equal(list->iAddressCount, (INT)0xAAAAAAAA);
    assert_int_equal(NdQueryAddressList(0, list, &size), ND_SUCCESS);
    assert_int_equal(size, 8 + 3 * 16 + 3 * 16);
    free(list);
    assert_int_equal(NdQueryAddressList(0, NULL, NULL), ND_INVALID_PARAMETER_3);
    assert_int_equal(NdQueryAddressList(8, NULL, &size), ND_INVALID_PARAMETER_1);
}

static void test_idle_library_is_unloaded_after_each_call(void **state)
{
    (void)state;
    assert_addresses(0, "10.0.0.1 10.0.0.2 10.0.0.9");
    for (int i = 0; i < LIBRARIES; ++i) {
        assert_int_equal(libraries[i].loads, 2);
        assert_false(loaded(i));
        assert_int_equal(libraries[i].objects, 0);
    }
}

static void test_library_stays_while_an_object_lives(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.2");
    IUnknown *adapter;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    assert_ptr_equal(adapter, &libraries[V2_B].adapter);
    assert_true(loaded(V2_B));
    assert_false(loaded(V2_A));
    assert_int_equal(libraries[V1].loads, 0);
    NdFlushProviders();
    assert_true(loaded(V2_B));
    adapter->lpVtbl->Release(adapter);
    NdFlushProviders();
    assert_false(loaded(V2_B));
}

static void test_cleanup_keeps_a_library_in_use(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.1");
    IUnknown *adapter;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    assert_int_equal(NdCleanup(), S_OK);
    assert_int_equal(played.winsock, 0);
    assert_true(loaded(V2_A));
    adapter->lpVtbl->Release(adapter);
    assert_int_equal(NdStartup(), S_OK);
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
    assert_false(loaded(V2_A));
}

static void test_version_1_is_opened_by_its_iid_only(void **state)
{
    (void)state;
    struct sockaddr_in v1 = ip("10.0.0.9"), v2 = ip("10.0.0.1");
    INDAdapter *adapter;
    void *none = &none;
    assert_int_equal(NdOpenV1Adapter((struct sockaddr *)&v1, sizeof(v1), &adapter), ND_SUCCESS);
    assert_ptr_equal(adapter, &libraries[V1].adapter);
    libraries[V1].objects--;
    assert_int_equal(
        NdOpenV1Adapter((struct sockaddr *)&v2, sizeof(v2), &adapter), ND_INVALID_ADDRESS);
    assert_null(adapter);
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&v1, sizeof(v1), &none),
        ND_INVALID_ADDRESS);
    assert_null(none);
    assert_int_equal(
        NdOpenAdapter(&IID_IUnknown, (struct sockaddr *)&v2, sizeof(v2), &none), E_NOINTERFACE);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&v1, sizeof(v1)), ND_SUCCESS);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&v2, sizeof(v2)), ND_SUCCESS);
}

static void test_bad_addresses(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.9.9.9");
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address) - 1), ND_INVALID_PARAMETER_2);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&v6, sizeof(address)), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, 1), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdCheckAddress(NULL, sizeof(address)), ND_INVALID_PARAMETER_1);
    address.sin_family = AF_UNIX;
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), NULL),
        E_POINTER);
}

static void test_catalogue_is_read_when_it_changed(void **state)
{
    (void)state;
    played.catalogue_size = 1;
    assert_addresses(0, "10.0.0.1");
    assert_addresses(0, "10.0.0.1");
    assert_int_equal(played.reads, 1);
    played.catalogue_size = 2;
    change_catalogue();
    assert_addresses(0, "10.0.0.1 10.0.0.2");
    assert_int_equal(played.reads, 2);
    played.catalogue[0] = played.catalogue[1];
    played.catalogue_size = 1;
    change_catalogue();
    assert_addresses(0, "10.0.0.2");
    assert_int_equal(played.reads, 3);
}

static void test_catalogue_is_read_every_time_without_notice_of_changes(void **state)
{
    (void)state;
    played.change_works = false;
    played.catalogue_size = 1;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1");
    played.catalogue_size = 2;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
}

static void test_catalogue_may_grow_while_it_is_read(void **state)
{
    (void)state;
    played.catalogue_size = 1;
    played.grows = true;
    assert_addresses(0, "10.0.0.1 10.0.0.2");
}

static void test_system_library_is_a_provider_where_no_entry_tells_of_it(void **state)
{
    (void)state;
    played.change_works = false;
    played.catalogue_size = 1;
    played.ours = V2_B;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
    played.ours = -1;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1");
}

static void test_provider_that_left_the_catalogue_stays_until_idle(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.1");
    IUnknown *adapter;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    played.catalogue_size = 0;
    change_catalogue();
    assert_addresses(0, "");
    assert_true(loaded(V2_A));
    adapter->lpVtbl->Release(adapter);
    NdFlushProviders();
    assert_false(loaded(V2_A));
}

static void test_failing_provider_does_not_hide_the_others(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.2");
    libraries[V2_A].fails_to_load = true;
    libraries[V1].list_result = ND_DEVICE_NOT_READY;
    assert_addresses(0, "10.0.0.2");
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_SUCCESS);
    address = ip("10.0.0.1");
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), HRESULT_FROM_WIN32(126));

    libraries[V2_B].no_address = true;
    SIZE_T size = 0;
    assert_int_equal(
        NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &size), HRESULT_FROM_WIN32(126));
}

/* Nor does one whose library is there but cannot list; its error is returned where there is no other provider. */
static void test_provider_that_cannot_list_does_not_hide_the_others(void **state)
{
    SIZE_T size = 0;

    (void)state;
    libraries[V2_A].list_result = ND_DEVICE_NOT_READY;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.2");
    assert_addresses(0, "10.0.0.2 10.0.0.9");
    libraries[V2_B].no_address = true;
    assert_int_equal((uint32_t)NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &size),
        SPEC_ND_DEVICE_NOT_READY);
}

static void test_list_of_a_provider_may_grow_while_it_is_asked_for(void **state)
{
    (void)state;
    for (int i = 0; i < LIBRARIES; ++i)
        libraries[i].list_grows = true;
    assert_addresses(0, "10.0.0.1 10.0.0.2 10.0.0.9");
}

static void test_nothing_works_before_startup(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.1");
    SIZE_T size = 0;
    void *adapter;
    assert_int_equal(NdCleanup(), S_OK);
    NdFlushProviders();
    assert_int_equal(NdQueryAddressList(0, NULL, &size), ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), &adapter),
        ND_DEVICE_NOT_READY);
    assert_int_equal(NdResolveAddress((struct sockaddr *)&address, sizeof(address), NULL, &size),
        ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdOpenV1Adapter((struct sockaddr *)&address, sizeof(address), (INDAdapter **)&adapter),
        ND_DEVICE_NOT_READY);
    assert_int_equal(played.reads, 0);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(played.winsock, 1);
    assert_int_equal(NdCleanup(), S_OK);
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_entry_is_recognised_by_every_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_has_version_2_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_needs_no_more_than_it_says, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_idle_library_is_unloaded_after_each_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_library_stays_while_an_object_lives, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cleanup_keeps_a_library_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_1_is_opened_by_its_iid_only, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_catalogue_is_read_when_it_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_catalogue_is_read_every_time_without_notice_of_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_catalogue_may_grow_while_it_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_system_library_is_a_provider_where_no_entry_tells_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_provider_that_left_the_catalogue_stays_until_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_failing_provider_does_not_hide_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_provider_that_cannot_list_does_not_hide_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_list_of_a_provider_may_grow_while_it_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_works_before_startup, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
