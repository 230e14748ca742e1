/* SPDX-License-Identifier: MIT */
/*
 * test_helper.c - the Nd* functions: from an IP address to an open adapter.
 */
#include "fixture.h"

/* The whole list; its entries point into itself. */
static SOCKET_ADDRESS_LIST *address_list(DWORD flags)
{
    SIZE_T size = 0;
    HRESULT hr = NdQueryAddressList(flags, NULL, &size);
    if (hr == ND_SUCCESS) {
        expect_equal(0, size);
        return NULL;
    }
    expect_status(ND_BUFFER_OVERFLOW, hr);
    expect_true(size > 0);
    SIZE_T room = size;
    SOCKET_ADDRESS_LIST *list = keep_memory(room);
    expect_status(ND_SUCCESS, NdQueryAddressList(flags, list, &size));
    SIZE_T needed = offsetof(SOCKET_ADDRESS_LIST, Address);
    for (int i = 0; i < list->iAddressCount; i++) {
        const BYTE *at = (const BYTE *)list->Address[i].lpSockaddr;
        int family = list->Address[i].lpSockaddr->sa_family;
        int length = family == AF_INET ? 16 : 28;
        expect_true(family == AF_INET || family == AF_INET6);
        expect_equal(length, list->Address[i].iSockaddrLength);
        expect_true(at >= (const BYTE *)&list->Address[list->iAddressCount]);
        expect_true(at + length <= (const BYTE *)list + room);
        needed += sizeof(SOCKET_ADDRESS) + (SIZE_T)length;
    }
    expect_equal(needed, room);
    return list;
}

static void nothing_works_before_startup(void)
{
    struct address address = make_address("127.0.0.1", 0), local;
    SIZE_T size = 0, local_size = sizeof(local.v6);
    IND2Adapter *adapter = NULL;
    INDAdapter *v1 = NULL;
    expect_status(ND_SUCCESS, NdCleanup()); /* the row's own */
    HRESULT got[6];
    got[0] = NdQueryAddressList(0, NULL, &size);
    got[1] = NdResolveAddress(&address.any, address.length, &local.any, &local_size);
    got[2] = NdCheckAddress(&address.any, address.length);
    got[3] = NdOpenAdapter(&IID_IND2Adapter, &address.any, address.length, (void **)&adapter);
    got[4] = NdOpenV1Adapter(&address.any, address.length, &v1);
    got[5] = NdCleanup();
    NdFlushProviders();
    expect_status(ND_SUCCESS, NdStartup());
    for (int i = 0; i < 6; i++) {
        note("function %d", i);
        expect_status(ND_DEVICE_NOT_READY, got[i]);
    }
}

static void startup_is_counted(void)
{
    SIZE_T size = 0;
    expect_status(ND_SUCCESS, NdStartup());
    expect_status(ND_SUCCESS, NdStartup());
    expect_status(ND_SUCCESS, NdCleanup());
    expect_status(ND_SUCCESS, NdCleanup());
    expect_status(ND_BUFFER_OVERFLOW, NdQueryAddressList(0, NULL, &size)); /* the row's own holds */
}

/* Microsoft's helper starts Winsock, and its samples do not: they print and read addresses after NdStartup alone. */
static void startup_starts_winsock(void)
{
    WSADATA data;
    struct address address = make_address("127.0.0.1", 4711);
    char text[64] = "";
    DWORD length = sizeof(text);
    INT room = sizeof(address.v4);
    expect_equal(0, WSACleanup()); /* the row's own: NdStartup's is left */
    int printed = WSAAddressToStringA(&address.any, (DWORD)address.length, NULL, text, &length);
    int read = WSAStringToAddressA(text, AF_INET, NULL, &address.any, &room);
    SOCKET socket = WSASocketA(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED);
    int closed = socket == INVALID_SOCKET ? SOCKET_ERROR : closesocket(socket);
    expect_equal(0, WSAStartup(MAKEWORD(2, 2), &data));
    expect_equal(0, printed);
    expect_equal(0, strcmp(text, "127.0.0.1:4711"));
    expect_equal(0, read);
    expect_equal(0, closed);
}

static void every_address_of_the_list_is_good(void)
{
    SOCKET_ADDRESS_LIST *list = address_list(0);
    expect_true(list != NULL && list->iAddressCount > 0);
    for (int i = 0; i < list->iAddressCount; i++) {
        const SOCKET_ADDRESS *entry = &list->Address[i];
        IND2Adapter *adapter = NULL;
        note("address %d", i);
        expect_status(
            ND_SUCCESS, NdCheckAddress(entry->lpSockaddr, (SIZE_T)entry->iSockaddrLength));
        expect_status(ND_SUCCESS, NdOpenAdapter(&IID_IND2Adapter, entry->lpSockaddr,
                                      (SIZE_T)entry->iSockaddrLength, (void **)&adapter));
        keep_object(adapter);
    }
}

static void list_into_too_small_a_buffer(void)
{
    SIZE_T size = 0, needed;
    expect_status(ND_BUFFER_OVERFLOW, NdQueryAddressList(0, NULL, &size));
    needed = size;
    BYTE *buffer = keep_memory(needed + 64);
    memset(buffer, 0xAA, needed + 64);
    size = needed - 1;
    expect_status(ND_BUFFER_OVERFLOW, NdQueryAddressList(0, (SOCKET_ADDRESS_LIST *)buffer, &size));
    expect_equal(needed, size);
    for (SIZE_T i = 0; i < needed; i++)
        expect_equal(0xAA, buffer[i]);
    /* More than enough; the size is not reduced. */
    size = needed + 64;
    expect_status(ND_SUCCESS, NdQueryAddressList(0, (SOCKET_ADDRESS_LIST *)buffer, &size));
    expect_equal(needed + 64, size);
}

static void list_without_some(void)
{
    SIZE_T size = 77;
    SOCKET_ADDRESS_LIST *all = address_list(0), *v2 = address_list(2), *plain = address_list(1);
    expect_true(v2 && v2->iAddressCount > 0 && v2->iAddressCount <= all->iAddressCount);
    expect_equal(all->iAddressCount, plain->iAddressCount);
    SOCKET_ADDRESS_LIST *v1 = address_list(4);
    expect_equal(all->iAddressCount, v2->iAddressCount + (v1 ? v1->iAddressCount : 0));
    /* Nothing is left: no list is written, and that is no error. */
    expect_status(ND_SUCCESS, NdQueryAddressList(2 | 4, NULL, &size));
    expect_equal(0, size);
}

static void check_address(void)
{
    struct address address = test_address();
    expect_status(ND_SUCCESS, NdCheckAddress(&address.any, address.length));
    struct address port = with_port(address, 4711);
    expect_status(ND_SUCCESS, NdCheckAddress(&port.any, port.length));
    expect_status(ND_INVALID_PARAMETER_2, NdCheckAddress(&address.any, address.length - 1));
    struct address foreign = make_address("203.0.113.9", 0);
    expect_status(ND_INVALID_ADDRESS, NdCheckAddress(&foreign.any, foreign.length));
    foreign.any.sa_family = 77;
    expect_status(ND_INVALID_ADDRESS, NdCheckAddress(&foreign.any, foreign.length));
}

static void resolve_address(void)
{
    struct address remote = with_port(test_address(), 4711), local;
    SIZE_T size = sizeof(local.v6);
    memset(&local, 0xFF, sizeof(local));
    expect_status(ND_SUCCESS, NdResolveAddress(&remote.any, remote.length, &local.any, &size));
    expect_equal(remote.length, size);
    local.length = (ULONG)size;
    expect_equal(0, port_of(&local));
    /* It opens an adapter, and a connector binds to it. */
    struct node *node = new_node_on(&local);
    struct connector *connector = new_connector(node);
    expect_status(ND_SUCCESS, CALL(connector->v2, Bind, &local.any, local.length));
}

static void resolve_into_too_small_a_buffer(void)
{
    struct address remote = test_address(), local;
    SIZE_T size = 0;
    expect_status(
        ND_BUFFER_OVERFLOW, NdResolveAddress(&remote.any, remote.length, &local.any, &size));
    expect_equal(remote.length, size);
    size = remote.length - 1;
    expect_status(
        ND_BUFFER_OVERFLOW, NdResolveAddress(&remote.any, remote.length, &local.any, &size));
    expect_equal(remote.length, size);
}

static void resolve_malformed_addresses(void)
{
    struct address remote = test_address(), local;
    SIZE_T size = sizeof(local.v6);
    expect_status(
        ND_INVALID_ADDRESS, NdResolveAddress(&remote.any, remote.length - 1, &local.any, &size));
    remote.any.sa_family = 77;
    expect_status(
        ND_INVALID_ADDRESS, NdResolveAddress(&remote.any, remote.length, &local.any, &size));
}

static void open_adapter_by_address(void)
{
    struct address address = with_port(test_address(), 99),
                   foreign = make_address("203.0.113.9", 0);
    static const IID strange = { 1, 2, 3, { 4, 5, 6, 7, 8, 9, 10, 11 } };
    void *out = &out;
    expect_status(ND_SUCCESS, NdOpenAdapter(&IID_IND2Adapter, &address.any, address.length, &out));
    keep_object(out);
    out = &out;
    expect_status(
        ND_INVALID_ADDRESS, NdOpenAdapter(&IID_IND2Adapter, &foreign.any, foreign.length, &out));
    expect_pointer(NULL, out);
    expect_status(ND_INVALID_PARAMETER_2,
        NdOpenAdapter(&IID_IND2Adapter, &address.any, address.length - 1, &out));
    foreign.any.sa_family = 77;
    expect_status(
        ND_INVALID_ADDRESS, NdOpenAdapter(&IID_IND2Adapter, &foreign.any, foreign.length, &out));
    expect_status(E_NOINTERFACE, NdOpenAdapter(&strange, &address.any, address.length, &out));
    expect_pointer(NULL, out);
}

/* Adapters outlive what opened them. */
static void cleanup_with_an_open_adapter(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, NdStartup());
    expect_status(ND_SUCCESS, NdCleanup());
    NdFlushProviders();
    connect_ends(pair);
    exchange(&pair->active, &pair->passive);
}

static DWORD WINAPI start_query_stop(void *arg)
{
    HRESULT *worst = arg;
    struct address address = make_address("203.0.113.9", 0);
    for (int i = 0; i < 50; i++) {
        SIZE_T size = 0;
        HRESULT hr = NdStartup();
        if (hr == ND_SUCCESS && NdQueryAddressList(0, NULL, &size) != ND_BUFFER_OVERFLOW)
            hr = ND_UNSUCCESSFUL;
        if (NdCheckAddress(&address.any, address.length) != ND_INVALID_ADDRESS)
            hr = ND_UNSUCCESSFUL;
        if (NdCleanup() != ND_SUCCESS || hr != ND_SUCCESS)
            *worst = ND_UNSUCCESSFUL;
    }
    return 0;
}

static void threads_start_and_stop(void)
{
    HRESULT *worst = keep_memory(4 * sizeof(*worst));
    HANDLE threads[4];
    for (int i = 0; i < 4; i++) {
        worst[i] = ND_SUCCESS;
        threads[i] = CreateThread(NULL, 0, start_query_stop, &worst[i], 0, NULL);
        expect_true(threads[i] != NULL);
        keep_handle(threads[i]);
    }
    expect_equal(WAIT_OBJECT_0, WaitForMultipleObjects(4, threads, TRUE, 3 * DEADLINE_MS));
    for (int i = 0; i < 4; i++)
        expect_status(ND_SUCCESS, worst[i]);
}

SUITE(helper);
