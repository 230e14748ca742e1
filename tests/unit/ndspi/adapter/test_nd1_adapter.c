/* SPDX-License-Identifier: MIT */
/*
 * Provider and adapter of version 1 over the embedded device: addresses, the file, sizes, what is created and refused.
 */
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include "tests/support/settle.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unknwn.h>

static INDProvider *provider_of(REFCLSID clsid)
{
    INDProvider *provider = NULL;

    assert_int_equal(DllGetClassObject(clsid, &IID_INDProvider, (void **)&provider), OK);
    return provider;
}

static int set_up(void **state)
{
    *state = nd1_open_adapter();
    return 0;
}

static void wait_unloadable(void)
{
    assert_true(SETTLES(DllCanUnloadNow() == S_OK));
}

static int tear_down(void **state)
{
    INDAdapter *adapter = *state;

    assert_int_equal(CALL(adapter, Release), 0);
    wait_unloadable();
    return 0;
}

/* ---- provider ---- */

static void test_provider_comes_by_every_route(void **state)
{
    IClassFactory *factory = NULL;
    INDProvider *provider, *again = NULL;
    void *none = &none;

    (void)state;
    provider = provider_of(&CLSID_NDSPI_PROVIDER_V1);
    assert_int_equal(DllCanUnloadNow(), S_FALSE);
    assert_int_equal(CALL(provider, QueryInterface, &IID_INDProvider, (void **)&again), OK);
    assert_ptr_equal(again, provider);
    assert_int_equal(CALL(again, Release), 1);
    assert_int_equal(CALL(provider, QueryInterface, &IID_IND2Provider, &none), NO_INTERFACE);
    assert_null(none);
    assert_int_equal(CALL(provider, Release), 0);
    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V1, &IID_IClassFactory, (void **)&factory), OK);
    assert_int_equal(CALL(factory, CreateInstance, NULL, &IID_INDProvider, (void **)&provider), OK);
    assert_int_equal(
        CALL(factory, CreateInstance, (IUnknown *)provider, &IID_INDProvider, (void **)&again),
        (HRESULT)SPEC_CLASS_E_NOAGGREGATION);
    assert_null(again);
    assert_int_equal(CALL(factory, CreateInstance, NULL, &IID_INDAdapter, &none), NO_INTERFACE);
    assert_int_equal(CALL(factory, CreateInstance, NULL, &IID_IND2Provider, &none), NO_INTERFACE);
    assert_int_equal(CALL(factory, CreateInstance, NULL, &IID_IUnknown, (void **)&again), OK);
    assert_int_equal(CALL(again, QueryInterface, &IID_INDProvider, &none), OK);
    assert_int_equal(CALL(again, Release), 1);
    assert_int_equal(CALL(again, Release), 0);
    assert_int_equal(CALL(factory, Release), 0);
    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V2, &IID_INDProvider, &none), NO_INTERFACE);
    assert_null(none);
    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V1, &IID_IND2Provider, &none), NO_INTERFACE);
    assert_int_equal(CALL(provider, Release), 0);
    wait_unloadable();
}

static void test_provider_list_follows_the_size_rule(void **state)
{
    INDProvider *provider = provider_of(&CLSID_NDSPI_PROVIDER_V1);
    SIZE_T needed = 0, size;
    SOCKET_ADDRESS_LIST *list;

    (void)state;
    assert_int_equal(CALL(provider, QueryAddressList, NULL, NULL), BAD_PARAM);
    assert_int_equal(CALL(provider, QueryAddressList, NULL, &needed), OVERFLOWS);
    assert_true(needed >= 8 + 16 + 16);
    list = malloc(needed);
    assert_non_null(list);
    memset(list, 0xAA, needed);
    size = needed - 1;
    assert_int_equal(CALL(provider, QueryAddressList, list, &size), OVERFLOWS);
    assert_int_equal(size, needed);
    assert_int_equal(list->iAddressCount, (INT)0xAAAAAAAA);
    assert_int_equal(CALL(provider, QueryAddressList, list, &size), OK);
    assert_int_equal(size, needed);
    for (int i = 0; i < list->iAddressCount; i++) {
        INDAdapter *adapter = NULL;

        assert_int_equal(CALL(provider, OpenAdapter, list->Address[i].lpSockaddr,
                             (SIZE_T)list->Address[i].iSockaddrLength, &adapter),
            OK);
        assert_int_equal(CALL(adapter, Release), 0);
    }
    free(list);
    assert_int_equal(CALL(provider, Release), 0);
}

static void test_provider_opens_its_own_addresses_alone(void **state)
{
    INDProvider *provider = provider_of(&CLSID_NDSPI_PROVIDER_V1);
    struct sockaddr_in address = loopback(htons(9));
    INDAdapter *adapter = (INDAdapter *)provider;

    (void)state;
    assert_int_equal(
        CALL(provider, OpenAdapter, (struct sockaddr *)&address, sizeof(address), NULL),
        NO_POINTER);
    assert_int_equal(CALL(provider, OpenAdapter, NULL, sizeof(address), &adapter), BAD_ADDR);
    assert_null(adapter);
    assert_int_equal(
        CALL(provider, OpenAdapter, (struct sockaddr *)&address, sizeof(address) - 1, &adapter),
        BAD_ADDR);
    address.sin_addr.s_addr = inet_addr("203.0.113.77"); /* no interface has it (RFC 5737) */
    assert_int_equal(
        CALL(provider, OpenAdapter, (struct sockaddr *)&address, sizeof(address), &adapter),
        BAD_ADDR);
    address.sin_addr.s_addr = INADDR_ANY;
    assert_int_equal(
        CALL(provider, OpenAdapter, (struct sockaddr *)&address, sizeof(address), &adapter),
        BAD_ADDR);
    address = loopback(0);
    address.sin_family = AF_UNIX;
    assert_int_equal(
        CALL(provider, OpenAdapter, (struct sockaddr *)&address, sizeof(address), &adapter),
        BAD_ADDR);
    assert_null(adapter);
    assert_int_equal(CALL(provider, Release), 0);
}

/* ---- adapter ---- */

static void test_adapter_answers_its_own_interfaces_alone(void **state)
{
    static const IID *const own[] = { &IID_IUnknown, &IID_INDOverlapped, &IID_INDAdapter };
    static const IID *const others[] = { &IID_IND2Adapter, &IID_IND2Overlapped, &IID_INDProvider,
        &IID_INDConnector };
    INDAdapter *adapter = *state;
    IND2Adapter *v2 = NULL;
    IND2Provider *provider = NULL;
    struct sockaddr_in address = loopback(0);
    UINT64 id;
    void *found;

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(CALL(adapter, QueryInterface, own[i], &found), OK);
        assert_ptr_equal(found, adapter);
        assert_int_equal(CALL(adapter, Release), 1);
    }
    for (unsigned i = 0; i < 4; i++) {
        found = adapter;
        assert_int_equal(CALL(adapter, QueryInterface, others[i], &found), NO_INTERFACE);
        assert_null(found);
    }
    assert_int_equal(CALL(adapter, QueryInterface, &IID_INDAdapter, NULL), NO_POINTER);

    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider), OK);
    assert_int_equal(
        CALL(provider, ResolveAddress, (struct sockaddr *)&address, sizeof(address), &id), OK);
    assert_int_equal(CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&v2), OK);
    assert_int_equal(CALL(v2, QueryInterface, &IID_INDAdapter, &found), NO_INTERFACE);
    assert_int_equal(CALL(v2, QueryInterface, &IID_INDOverlapped, &found), NO_INTERFACE);
    assert_int_equal(CALL(v2, Release), 0);
    assert_int_equal(CALL(provider, Release), 0);
}

static void test_adapter_query_has_a_version_and_a_size(void **state)
{
    INDAdapter *adapter = *state;
    unsigned char buffer[256];
    ND_ADAPTER_INFO *info = (ND_ADAPTER_INFO *)buffer;
    SIZE_T size = sizeof(buffer);

    memset(buffer, 0xAA, sizeof(buffer));
    assert_int_equal(CALL(adapter, Query, 0, info, &size), NOT_SUPPORTED);
    assert_int_equal(CALL(adapter, Query, 2, info, &size), NOT_SUPPORTED);
    assert_int_equal(CALL(adapter, Query, 0x20000, info, &size), NOT_SUPPORTED);
    assert_int_equal(size, sizeof(buffer));
    assert_int_equal(CALL(adapter, Query, 1, info, NULL), BAD_PARAM);
    size = 127;
    assert_int_equal(CALL(adapter, Query, 1, info, &size), OVERFLOWS);
    assert_int_equal(size, 128);
    assert_int_equal(buffer[0], 0xAA);
    size = 0;
    assert_int_equal(CALL(adapter, Query, 1, NULL, &size), OVERFLOWS);
    assert_int_equal(size, 128);
    size = sizeof(buffer);
    assert_int_equal(CALL(adapter, Query, 1, info, &size), OK);
    assert_int_equal(size, 128);
    assert_int_equal(buffer[128], 0xAA);
    assert_true(info->MaxInboundSge && info->MaxInboundRequests && info->MaxInboundLength);
    assert_true(info->MaxOutboundSge && info->MaxOutboundRequests && info->MaxOutboundLength);
    assert_true(info->MaxInboundReadLimit && info->MaxOutboundReadLimit);
    assert_true(info->MaxRegistrationSize && info->MaxWindowSize);
    /* What the known program needs of a queue: 64 Receives, 16 Sends, three times its Reads. */
    assert_true(info->MaxCqEntries >= 64 + 16 + 3 * info->MaxOutboundReadLimit);
    assert_int_equal(info->LargeRequestThreshold, 16384);
    assert_int_equal(info->MaxCallerData, 56);
    assert_int_equal(info->MaxCalleeData, 148);
}

static void test_adapter_has_no_vendor_controls(void **state)
{
    INDAdapter *adapter = *state;
    struct request request = { 0 };
    OVERLAPPED *overlapped = fresh_request(&request);
    SIZE_T octets = 7;
    int data = 0;

    assert_int_equal(
        CALL(adapter, Control, 1, &data, sizeof(data), &data, sizeof(data), &octets, overlapped),
        NOT_SUPPORTED);
    assert_int_equal(CALL(adapter, Control, 0, NULL, 0, NULL, 0, NULL, NULL), NOT_SUPPORTED);
    assert_int_equal(WaitForSingleObject(overlapped->hEvent, 0), WAIT_TIMEOUT);
    CloseHandle(overlapped->hEvent);
}

static void test_adapter_create_calls_want_somewhere_to_put_it(void **state)
{
    INDAdapter *adapter = *state;
    USHORT port_be = 0;

    assert_int_equal(CALL(adapter, CreateCompletionQueue, 1, NULL), NO_POINTER);
    assert_int_equal(CALL(adapter, CreateMemoryWindow, NULL, NULL), NO_POINTER);
    assert_int_equal(CALL(adapter, CreateConnector, NULL), NO_POINTER);
    assert_int_equal(CALL(adapter, Listen, 0, 0, 0, &port_be, NULL), NO_POINTER);
}

static void test_adapter_overlapped_result_wants_both_pointers(void **state)
{
    INDAdapter *adapter = *state;
    OVERLAPPED overlapped = { 0 };
    SIZE_T octets = ~(SIZE_T)0;

    assert_int_equal(CALL(adapter, GetOverlappedResult, NULL, &octets, FALSE), BAD_PARAM);
    assert_int_equal(CALL(adapter, GetOverlappedResult, &overlapped, NULL, FALSE), BAD_PARAM);
    assert_int_equal(CALL(adapter, CancelOverlappedRequests), OK);
}

/* ---- its file ---- */

static HRESULT listen_canceled(INDAdapter *adapter, HANDLE port, void *key, OVERLAPPED *overlapped)
{
    INDListen *listen = NULL;
    INDConnector *connector = NULL;
    OVERLAPPED *packet = NULL;
    ULONG_PTR packet_key = 0;
    SIZE_T octets = 1;
    USHORT port_be = 0;
    DWORD length = 1;
    HRESULT hr;

    assert_int_equal(CALL(adapter, Listen, 0, 0, 0, &port_be, &listen), OK);
    assert_int_equal(CALL(adapter, CreateConnector, &connector), OK);
    assert_int_equal(CALL(listen, GetConnectionRequest, connector, overlapped), PENDING);
    assert_int_equal(CALL(listen, CancelOverlappedRequests), OK);
    assert_false(GetQueuedCompletionStatus(port, &length, &packet_key, &packet, 0));
    assert_ptr_equal(packet, overlapped);
    assert_ptr_equal((void *)packet_key, key);
    hr = CALL(listen, GetOverlappedResult, overlapped, &octets, TRUE);
    assert_int_equal(octets, 0);
    assert_int_equal(CALL(connector, Release), 0);
    assert_int_equal(CALL(listen, Release), 0);
    return hr;
}

static void test_adapter_file_serves_all_its_objects_until_a_client_closes_it(void **state)
{
    INDAdapter *adapter = *state;
    HANDLE file = CALL(adapter, GetFileHandle), port;
    OVERLAPPED overlapped = { 0 };
    INDConnector *connector = NULL;
    INDListen *listen = NULL;
    USHORT port_be = 0;
    int key;

    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    assert_ptr_equal(CALL(adapter, GetFileHandle), file);
    port = CreateIoCompletionPort(file, NULL, (ULONG_PTR)&key, 0);
    assert_non_null(port);
    assert_int_equal(listen_canceled(adapter, port, &key, &overlapped), CANCELED);

    assert_true(CloseHandle(file));
    assert_ptr_equal(CALL(adapter, GetFileHandle), file);
    assert_null(CreateIoCompletionPort(file, port, 0, 0));
    assert_int_equal(CALL(adapter, Listen, 0, 0, 0, &port_be, &listen), OK);
    assert_int_equal(CALL(adapter, CreateConnector, &connector), OK);
    assert_int_equal(CALL(listen, GetConnectionRequest, connector, &overlapped),
        (HRESULT)SPEC_ND_INVALID_HANDLE);
    assert_int_equal(CALL(connector, Release), 0);
    assert_int_equal(CALL(listen, Release), 0);
    assert_true(CloseHandle(port));
}

/* The library does not close a handle again that the program closed: another object may have its number by then. */
static void test_adapter_end_closes_no_handle_of_another(void **state)
{
    INDAdapter *adapter = nd1_open_adapter();
    HANDLE events[3000];

    (void)state;
    assert_true(CloseHandle(CALL(adapter, GetFileHandle)));
    for (unsigned i = 0; i < 3000; i++)
        assert_non_null(events[i] = CreateEventA(NULL, TRUE, FALSE, NULL));
    assert_int_equal(CALL(adapter, Release), 0);
    for (unsigned i = 0; i < 3000; i++)
        assert_true(CloseHandle(events[i]));
}

static void test_adapter_file_goes_with_its_last_object(void **state)
{
    INDAdapter *adapter = nd1_open_adapter();
    INDConnector *connector = NULL;
    HANDLE file = CALL(adapter, GetFileHandle), port;

    (void)state;
    assert_int_equal(CALL(adapter, CreateConnector, &connector), OK);
    assert_int_equal(CALL(adapter, Release), 0);
    port = CreateIoCompletionPort(file, NULL, 0, 0);
    assert_non_null(port);
    assert_int_equal(CALL(connector, Release), 0);
    assert_false(CloseHandle(file));
    assert_true(CloseHandle(port));
}

/* ---- listen ---- */

static void test_listen_tells_its_port_and_keeps_it(void **state)
{
    INDAdapter *adapter = *state;
    INDListen *listen = NULL, *second = (INDListen *)adapter;
    USHORT port_be = 0, again_be = 1;

    assert_int_equal(CALL(adapter, Listen, 0, 123, 0, NULL, &listen), PARAM_MIX);
    assert_null(listen);
    assert_int_equal(CALL(adapter, Listen, 0, 123, 0, &port_be, &listen), OK);
    assert_int_not_equal(port_be, 0);
    assert_int_equal(CALL(adapter, Listen, 4, -1, port_be, &again_be, &second), TAKEN);
    assert_null(second);
    assert_int_equal(CALL(listen, Release), 0);
    assert_int_equal(CALL(adapter, Listen, ~(SIZE_T)0, 0, port_be, NULL, &listen), OK);
    assert_int_equal(CALL(listen, Release), 0);
    assert_int_equal(CALL(adapter, Listen, 1, 0, port_be, &again_be, &listen), OK);
    assert_int_equal(again_be, port_be);
    assert_int_equal(CALL(listen, Release), 0);
}

static void test_listen_takes_fresh_connectors_of_its_adapter_alone(void **state)
{
    INDAdapter *adapter = *state, *other = nd1_open_adapter();
    INDConnector *connector = NULL, *foreign = NULL;
    INDListen *listen = NULL;
    struct request request = { 0 };
    OVERLAPPED *overlapped = fresh_request(&request);
    USHORT port_be = 0;

    assert_int_equal(CALL(adapter, CreateConnector, &connector), OK);
    assert_int_equal(CALL(other, CreateConnector, &foreign), OK);
    assert_int_equal(CALL(adapter, Listen, 0, 0, 0, &port_be, &listen), OK);
    assert_int_equal(CALL(listen, GetConnectionRequest, NULL, overlapped), BAD_PARAM1);
    assert_int_equal(CALL(listen, GetConnectionRequest, foreign, overlapped), BAD_PARAM1);
    assert_int_equal(
        CALL(listen, GetConnectionRequest, (INDConnector *)listen, overlapped), BAD_PARAM1);
    assert_int_equal(CALL(listen, GetConnectionRequest, connector, NULL), BAD_PARAM);
    assert_int_equal(CALL(listen, GetConnectionRequest, connector, overlapped), PENDING);
    assert_int_equal(CALL(listen, GetConnectionRequest, connector, overlapped), ACTIVE);
    assert_int_equal(CALL(foreign, Release), 0);
    assert_int_equal(CALL(other, Release), 0);
    /* The listen closed: the request ends, its connector is fresh again. */
    assert_int_equal(CALL(listen, Release), 0);
    assert_int_equal(nd1_ended(connector, PENDING, overlapped), CANCELED);
    assert_int_equal(CALL(adapter, Listen, 0, 0, 0, &port_be, &listen), OK);
    overlapped = fresh_request(&request);
    assert_int_equal(CALL(listen, GetConnectionRequest, connector, overlapped), PENDING);
    assert_int_equal(CALL(connector, Release), 0);
    assert_int_equal(nd1_ended(listen, PENDING, overlapped), CANCELED);
    assert_int_equal(CALL(listen, Release), 0);
    CloseHandle(overlapped->hEvent);
}

/* ---- CreateEndpoint ---- */

static void test_create_endpoint_names_the_first_wrong_argument_by_its_place(void **state)
{
    enum { INBOUND_CQ, OUTBOUND_CQ, NUMBERS = 2, ARGUMENTS = 8 };
    INDAdapter *adapter = *state, *other = nd1_open_adapter();
    INDCompletionQueue *cq = NULL, *foreign = NULL, *queues[2];
    INDConnector *connector = NULL;
    INDEndpoint *endpoint;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    assert_int_equal(CALL(adapter, Query, 1, &info, &size), OK);
    assert_int_equal(CALL(adapter, CreateCompletionQueue, 16, &cq), OK);
    assert_int_equal(CALL(other, CreateCompletionQueue, 16, &foreign), OK);
    assert_int_equal(CALL(adapter, CreateConnector, &connector), OK);
    /* All from the n-th argument on are wrong. */
    for (unsigned n = 0; n < ARGUMENTS; n++) {
        const SIZE_T good[] = { 8, 8, 1, 1, 1, 1 };
        const SIZE_T above[] = { info.MaxInboundRequests + 1, info.MaxOutboundRequests + 1,
            info.MaxInboundSge + 1, info.MaxOutboundSge + 1, info.MaxInboundReadLimit + 1,
            info.MaxOutboundReadLimit + 1 };
        SIZE_T number[6], inline_data = 77;

        queues[INBOUND_CQ] = n > INBOUND_CQ ? cq : foreign;
        queues[OUTBOUND_CQ] = n > OUTBOUND_CQ ? cq : NULL;
        for (unsigned i = 0; i < 6; i++)
            number[i] = i + NUMBERS < n ? good[i] : above[i];
        endpoint = (INDEndpoint *)adapter;
        assert_int_equal(CALL(connector, CreateEndpoint, queues[0], queues[1], number[0], number[1],
                             number[2], number[3], number[4], number[5], &inline_data, &endpoint),
            (HRESULT)(0xC00000EFu + n));
        assert_null(endpoint);
        assert_int_equal(inline_data, 77);
    }
    /* Beyond 32 bits is above the limit, too. */
    assert_int_equal(
        CALL(connector, CreateEndpoint, cq, cq, (SIZE_T)1 << 32, 8, 1, 1, 1, 1, NULL, &endpoint),
        (HRESULT)SPEC_ND_INVALID_PARAMETER_3);
    assert_int_equal(CALL(connector, CreateEndpoint, cq, cq, 8, 0, 1, 1, 1, 1, NULL, &endpoint),
        (HRESULT)SPEC_ND_INVALID_PARAMETER_4);
    assert_int_equal(
        CALL(connector, CreateEndpoint, cq, cq, 8, 8, 1, 1, 1, 1, NULL, NULL), NO_POINTER);
    assert_int_equal(CALL(connector, Release), 0);
    assert_int_equal(CALL(foreign, Release), 0);
    assert_int_equal(CALL(cq, Release), 0);
    assert_int_equal(CALL(other, Release), 0);
}

static void test_create_endpoint_gives_what_the_adapter_promises(void **state)
{
    INDAdapter *adapter = *state;
    INDCompletionQueue *cq = NULL;
    INDConnector *connector = NULL;
    INDEndpoint *endpoint = NULL;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info), inline_data = ~(SIZE_T)0;

    assert_int_equal(CALL(adapter, Query, 1, &info, &size), OK);
    assert_int_equal(CALL(adapter, CreateCompletionQueue, 16, &cq), OK);
    assert_int_equal(CALL(adapter, CreateConnector, &connector), OK);
    assert_int_equal(
        CALL(connector, CreateEndpoint, cq, cq, info.MaxInboundRequests, info.MaxOutboundRequests,
            info.MaxInboundSge, info.MaxOutboundSge, info.MaxInboundReadLimit,
            info.MaxOutboundReadLimit, &inline_data, &endpoint),
        OK);
    assert_int_equal(inline_data, info.MaxInlineData);
    assert_int_equal(CALL(connector, Release), 0); /* its count does not show the endpoint */
    assert_int_equal(CALL(cq, Release), 0);
    assert_int_equal(CALL(endpoint, Release), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_provider_comes_by_every_route),
        cmocka_unit_test(test_provider_list_follows_the_size_rule),
        cmocka_unit_test(test_provider_opens_its_own_addresses_alone),
        TEST(test_adapter_answers_its_own_interfaces_alone),
        TEST(test_adapter_query_has_a_version_and_a_size),
        TEST(test_adapter_has_no_vendor_controls),
        TEST(test_adapter_create_calls_want_somewhere_to_put_it),
        TEST(test_adapter_overlapped_result_wants_both_pointers),
        TEST(test_adapter_file_serves_all_its_objects_until_a_client_closes_it),
        cmocka_unit_test(test_adapter_end_closes_no_handle_of_another),
        cmocka_unit_test(test_adapter_file_goes_with_its_last_object),
        TEST(test_listen_tells_its_port_and_keeps_it),
        TEST(test_listen_takes_fresh_connectors_of_its_adapter_alone),
        TEST(test_create_endpoint_names_the_first_wrong_argument_by_its_place),
        TEST(test_create_endpoint_gives_what_the_adapter_promises),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
