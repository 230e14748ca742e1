/* SPDX-License-Identifier: MIT */
/* The helper functions on Linux, over the provider in the same library and the embedded device. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ndsupport.h>

#include <ndspi_linux.h>

static struct sockaddr_in v4(const char *text)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(4711) };
    assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

static struct sockaddr_in6 v6(const char *text)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(4711) };
    assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    return address;
}

static int setup(void **state)
{
    (void)state;
    return NdStartup() == S_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return NdCleanup() == S_OK ? 0 : -1;
}

static void test_nothing_works_before_startup(void **state)
{
    (void)state;
    struct sockaddr_in address = v4("127.0.0.1");
    SIZE_T size = 0;
    void *adapter = &adapter;
    assert_int_equal(NdCleanup(), ND_DEVICE_NOT_READY);
    NdFlushProviders();
    assert_int_equal(NdQueryAddressList(0, NULL, &size), ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_DEVICE_NOT_READY);
    assert_int_equal(NdResolveAddress((struct sockaddr *)&address, sizeof(address), NULL, &size),
        ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), &adapter),
        ND_DEVICE_NOT_READY);
    assert_null(adapter);
    assert_int_equal(
        NdOpenV1Adapter((struct sockaddr *)&address, sizeof(address), (INDAdapter **)&adapter),
        ND_DEVICE_NOT_READY);
}

static void test_startup_is_counted(void **state)
{
    (void)state;
    struct sockaddr_in address = v4("127.0.0.1");
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdCleanup(), S_OK);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_SUCCESS);
    assert_int_equal(NdCleanup(), S_OK);
    assert_int_equal(NdCleanup(), ND_DEVICE_NOT_READY);
}

/* Source: Microsoft's helper calls WSAStartup in NdStartup and WSACleanup in NdCleanup; its samples call neither. */
static void test_winsock_runs_between_startup_and_cleanup(void **state)
{
    (void)state;
    struct sockaddr_in address = v4("127.0.0.1");
    char text[64];
    DWORD length = sizeof(text);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdCleanup(), S_OK);
    assert_int_equal(
        WSAAddressToStringA((struct sockaddr *)&address, sizeof(address), NULL, text, &length), 0);
    assert_string_equal(text, "127.0.0.1:4711");
    assert_int_equal(NdCleanup(), S_OK);
    length = sizeof(text);
    assert_int_equal(
        WSAAddressToStringA((struct sockaddr *)&address, sizeof(address), NULL, text, &length),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), 10093); /* WSANOTINITIALISED */
    assert_int_equal(NdCleanup(), ND_DEVICE_NOT_READY);
    assert_int_equal(WSACleanup(), SOCKET_ERROR); /* nothing of it is left */
}

/* A program's own use of Winsock goes on. */
static void test_cleanup_leaves_the_programs_winsock(void **state)
{
    (void)state;
    WSADATA data;
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdCleanup(), S_OK);
    assert_int_equal(NdCleanup(), ND_DEVICE_NOT_READY);
    SOCKET socket = WSASocketA(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED);
    assert_true(socket != INVALID_SOCKET);
    assert_int_equal(closesocket(socket), 0);
    assert_int_equal(WSACleanup(), 0);
}

static void test_list_has_loopback(void **state)
{
    (void)state;
    struct sockaddr_in loopback = v4("127.0.0.1");
    SIZE_T size = 0, short_size;
    bool found = false;

    assert_int_equal(NdQueryAddressList(0, NULL, &size), ND_BUFFER_OVERFLOW);
    SOCKET_ADDRESS_LIST *list = malloc(size);
    short_size = size - 1;
    memset(list, 0xAA, size);
    assert_int_equal(NdQueryAddressList(0, list, &short_size), ND_BUFFER_OVERFLOW);
    assert_int_equal(short_size, size);
    assert_int_equal(list->iAddressCount, (INT)0xAAAAAAAA);
    assert_int_equal(NdQueryAddressList(0, list, &size), ND_SUCCESS);
    assert_int_equal(size, short_size);
    size_t expected = 8;
    for (int i = 0; i < list->iAddressCount; ++i) {
        const struct sockaddr *address = list->Address[i].lpSockaddr;
        size_t length = address->sa_family == AF_INET ? 16 : 28;
        assert_int_equal(list->Address[i].iSockaddrLength, length);
        assert_true(
            (char *)address >= (char *)list && (char *)address + length <= (char *)list + size);
        assert_int_equal(((const struct sockaddr_in *)address)->sin_port, 0);
        expected += 16 + length;
        found = found || (address->sa_family == AF_INET &&
                             ((const struct sockaddr_in *)address)->sin_addr.s_addr ==
                                 loopback.sin_addr.s_addr);
    }
    assert_int_equal(size, expected);
    assert_true(found);
    free(list);
}

/* The list for some flags; the caller frees it. */
static SOCKET_ADDRESS_LIST *query_list(DWORD flags)
{
    SIZE_T size = 0;
    assert_int_equal(NdQueryAddressList(flags, NULL, &size), ND_BUFFER_OVERFLOW);
    SOCKET_ADDRESS_LIST *list = malloc(size);
    assert_non_null(list);
    assert_int_equal(NdQueryAddressList(flags, list, &size), ND_SUCCESS);
    return list;
}

/* Every address serves both versions; version 2's entries come first. */
static void test_list_is_that_of_version_2_then_that_of_version_1(void **state)
{
    (void)state;
    SOCKET_ADDRESS_LIST *both = query_list(0);
    SOCKET_ADDRESS_LIST *v2 = query_list(ND_QUERY_EXCLUDE_NDv1_ADDRESSES);
    SOCKET_ADDRESS_LIST *v1 = query_list(ND_QUERY_EXCLUDE_NDv2_ADDRESSES);
    assert_int_equal(v1->iAddressCount, v2->iAddressCount);
    assert_int_equal(both->iAddressCount, v2->iAddressCount + v1->iAddressCount);
    for (int i = 0; i < both->iAddressCount; ++i) {
        const SOCKET_ADDRESS *of =
            i < v2->iAddressCount ? &v2->Address[i] : &v1->Address[i - v2->iAddressCount];
        assert_int_equal(both->Address[i].iSockaddrLength, of->iSockaddrLength);
        assert_memory_equal(
            both->Address[i].lpSockaddr, of->lpSockaddr, (size_t)of->iSockaddrLength);
    }
    free(v1);
    free(v2);
    free(both);
}

static void test_list_without_either_version_is_empty(void **state)
{
    (void)state;
    char buffer[64];
    SIZE_T size = sizeof(buffer);
    assert_int_equal(
        NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES | ND_QUERY_EXCLUDE_NDv2_ADDRESSES,
            (SOCKET_ADDRESS_LIST *)buffer, &size),
        ND_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(NdQueryAddressList(0, NULL, NULL), ND_INVALID_PARAMETER_3);
    assert_int_equal(NdQueryAddressList(8, NULL, &size), ND_INVALID_PARAMETER_1);
}

static void test_check_address(void **state)
{
    (void)state;
    struct sockaddr_in address = v4("127.0.0.1");
    struct sockaddr_in6 loopback6 = v6("::1");
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_SUCCESS);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address) + 100), ND_SUCCESS);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address) - 1), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, 0), ND_INVALID_PARAMETER_2);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&loopback6, sizeof(address)), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdCheckAddress(NULL, sizeof(address)), ND_INVALID_PARAMETER_1);
    address = v4("203.0.113.77"); /* for documentation: no interface has it */
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
    address.sin_family = AF_UNIX;
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
    address.sin_family = 23; /* AF_INET6 of Windows */
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
}

static void test_resolve_address(void **state)
{
    (void)state;
    struct sockaddr_in remote = v4("127.0.0.1"), local;
    struct sockaddr_in6 local6;
    SIZE_T size = sizeof(local);
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote),
                         (struct sockaddr *)&local, &size),
        ND_SUCCESS);
    assert_int_equal(size, 16);
    assert_int_equal(local.sin_family, AF_INET);
    assert_int_equal(local.sin_port, 0);
    assert_int_equal(local.sin_addr.s_addr, htonl(0x7f000001));

    size = 15;
    memset(&local, 0xAA, sizeof(local));
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote),
                         (struct sockaddr *)&local, &size),
        ND_BUFFER_OVERFLOW);
    assert_int_equal(size, 16);
    assert_int_equal(local.sin_family, 0xAAAA);
    size = 0;
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote), NULL, &size),
        ND_BUFFER_OVERFLOW);
    assert_int_equal(size, 16);
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote),
                         (struct sockaddr *)&local, NULL),
        ND_INVALID_PARAMETER_4);

    size = sizeof(local6);
    remote = v4("0.0.0.0");
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote),
                         (struct sockaddr *)&local6, &size),
        ND_INVALID_ADDRESS);
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote) - 1,
                         (struct sockaddr *)&local6, &size),
        ND_INVALID_ADDRESS);
    assert_int_equal(
        NdResolveAddress(NULL, 0, (struct sockaddr *)&local6, &size), ND_INVALID_ADDRESS);
    remote.sin_family = AF_UNIX;
    assert_int_equal(NdResolveAddress((struct sockaddr *)&remote, sizeof(remote),
                         (struct sockaddr *)&local6, &size),
        ND_INVALID_ADDRESS);
}

static void test_open_adapter(void **state)
{
    (void)state;
    struct sockaddr_in address = v4("127.0.0.1"), foreign = v4("203.0.113.77");
    IND2Adapter *adapter;
    void *none = &none;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    assert_int_equal(adapter->lpVtbl->Release(adapter), 0);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&foreign, sizeof(foreign), &none),
        ND_INVALID_ADDRESS);
    assert_null(none);
    none = &none;
    assert_int_equal(
        NdOpenAdapter(&IID_IND2QueuePair, (struct sockaddr *)&address, sizeof(address), &none),
        E_NOINTERFACE);
    assert_null(none);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), NULL),
        E_POINTER);
    assert_int_equal(NdOpenAdapter(NULL, (struct sockaddr *)&address, sizeof(address), &none),
        ND_INVALID_PARAMETER_1);
}

static VOID count_devices(VOID *context, const ND_LINUX_DEVICE *device)
{
    assert_non_null(device->Name);
    assert_true(device->Reason[0] != 0);
    assert_int_equal(device->Used, strcmp(device->Provider, "softrdma") == 0);
    if (device->Used)
        assert_true(device->AddressCount > 0 && device->AdapterId != 0);
    *(int *)context += device->Used ? 1 : 0;
}

static void test_devices_are_described(void **state)
{
    (void)state;
    int used = 0;
    assert_int_equal(NdLinuxDescribeDevices(2, count_devices, &used), ND_INVALID_PARAMETER_1);
    assert_int_equal(NdLinuxDescribeDevices(0, NULL, NULL), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdLinuxDescribeDevices(0, count_devices, &used), ND_SUCCESS);
    assert_int_equal(used, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_works_before_startup),
        cmocka_unit_test(test_startup_is_counted),
        cmocka_unit_test(test_winsock_runs_between_startup_and_cleanup),
        cmocka_unit_test(test_cleanup_leaves_the_programs_winsock),
        cmocka_unit_test_setup_teardown(test_list_has_loopback, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_list_is_that_of_version_2_then_that_of_version_1, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_without_either_version_is_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(test_check_address, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resolve_address, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_adapter, setup, teardown),
        cmocka_unit_test(test_devices_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
