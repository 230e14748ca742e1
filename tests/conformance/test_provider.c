/* SPDX-License-Identifier: MIT */
/*
 * test_provider.c - the exports of the provider library, its class object, IND2Provider.
 */
#include "fixture.h"

static IND2Provider *get_provider(void)
{
    IND2Provider *provider = NULL;
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider));
    keep_object(provider);
    return provider;
}

static UINT64 adapter_id(IND2Provider *provider)
{
    struct address address = test_address();
    UINT64 id = 0;
    expect_status(ND_SUCCESS, CALL(provider, ResolveAddress, &address.any, address.length, &id));
    return id;
}

static const IID strange = { 1, 2, 3, { 4, 5, 6, 7, 8, 9, 10, 11 } };

static void provider_asked_for_directly(void)
{
    ULONG size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(get_provider(), QueryAddressList, NULL, &size));
}

static void provider_from_the_class_factory(void)
{
    IClassFactory *factory = NULL;
    IND2Provider *provider = NULL;
    ULONG size = 0;
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IClassFactory, (void **)&factory));
    keep_object(factory);
    expect_status(
        ND_SUCCESS, CALL(factory, CreateInstance, NULL, &IID_IND2Provider, (void **)&provider));
    keep_object(provider);
    expect_status(ND_BUFFER_OVERFLOW, CALL(provider, QueryAddressList, NULL, &size));
}

static void class_factory_rules(void)
{
    IClassFactory *factory = NULL;
    void *out = &out;
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IClassFactory, (void **)&factory));
    keep_object(factory);
    expect_status(CLASS_E_NOAGGREGATION,
        CALL(factory, CreateInstance, (IUnknown *)factory, &IID_IND2Provider, &out));
    expect_pointer(NULL, out);
    out = &out;
    expect_status(E_NOINTERFACE, CALL(factory, CreateInstance, NULL, &strange, &out));
    expect_pointer(NULL, out);
    expect_status(E_POINTER, CALL(factory, CreateInstance, NULL, &IID_IND2Provider, NULL));
    IUnknown *first = NULL, *second = NULL;
    expect_status(ND_SUCCESS, CALL(factory, QueryInterface, &IID_IUnknown, (void **)&first));
    expect_status(ND_SUCCESS, CALL(factory, QueryInterface, &IID_IClassFactory, (void **)&second));
    CALL(second, Release);
    expect_status(E_NOINTERFACE, CALL(first, QueryInterface, &IID_IND2Provider, &out));
    CALL(first, Release);
}

static void unknown_class_and_interface(void)
{
    void *out = &out;
    expect_status(
        CLASS_E_CLASSNOTAVAILABLE, provider_class_object(&strange, &IID_IND2Provider, &out));
    expect_pointer(NULL, out);
    out = &out;
    expect_status(E_NOINTERFACE, provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &strange, &out));
    expect_pointer(NULL, out);
    expect_status(
        E_POINTER, provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, NULL));
}

/* Exact: programs call DllCanUnloadNow after every query and every open. */
static void can_unload_now(void)
{
    struct address address = test_address();
    IND2Provider *provider = NULL;
    IND2Adapter *adapter = NULL;
    IND2CompletionQueue *cq = NULL;
    HANDLE file = NULL;
    expect_status(S_OK, provider_can_unload());
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider));
    expect_status(S_FALSE, provider_can_unload());
    UINT64 id = 0;
    expect_status(ND_SUCCESS, CALL(provider, ResolveAddress, &address.any, address.length, &id));
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&adapter));
    expect_equal(1, CALL(provider, Release)); /* the adapter's */
    expect_status(S_FALSE, provider_can_unload());
    expect_status(ND_SUCCESS, CALL(adapter, CreateOverlappedFile, &file));
    expect_status(ND_SUCCESS, CALL(adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, file,
                                  4, 0, 0, (void **)&cq));
    expect_equal(0, CALL(adapter, Release));
    expect_status(S_FALSE, provider_can_unload()); /* the queue keeps the adapter */
    expect_equal(0, CALL(cq, Release));
    expect_status(S_OK, provider_can_unload());
    expect_true(CloseHandle(file)); /* which may be closed after all of that */
}

static void lock_server(void)
{
    IClassFactory *factory = NULL;
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IClassFactory, (void **)&factory));
    expect_status(S_OK, CALL(factory, LockServer, TRUE));
    CALL(factory, Release);
    expect_status(S_FALSE, provider_can_unload());
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IClassFactory, (void **)&factory));
    expect_status(S_OK, CALL(factory, LockServer, FALSE));
    CALL(factory, Release);
    expect_status(S_OK, provider_can_unload());
}

static void query_address_list(void)
{
    IND2Provider *provider = get_provider();
    ULONG size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(provider, QueryAddressList, NULL, &size));
    expect_true(size >= sizeof(SOCKET_ADDRESS_LIST) + 16);
    ULONG needed = size;
    BYTE *buffer = keep_memory(needed);
    memset(buffer, 0xBB, needed);
    size = needed - 1;
    expect_status(
        ND_BUFFER_OVERFLOW, CALL(provider, QueryAddressList, (SOCKET_ADDRESS_LIST *)buffer, &size));
    expect_equal(needed, size);
    for (ULONG i = 0; i < needed; i++)
        expect_equal(0xBB, buffer[i]);
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)buffer;
    expect_status(ND_SUCCESS, CALL(provider, QueryAddressList, list, &size));
    expect_equal(needed, size);
    bool found = false;
    struct address wanted = test_address();
    for (int i = 0; i < list->iAddressCount; i++) {
        struct address address;
        UINT64 id = 0;
        memset(&address, 0, sizeof(address));
        expect_true((BYTE *)list->Address[i].lpSockaddr > buffer &&
                    (BYTE *)list->Address[i].lpSockaddr < buffer + needed);
        memcpy(&address.any, list->Address[i].lpSockaddr, (size_t)list->Address[i].iSockaddrLength);
        found = found || same_ip(&wanted, &address);
        expect_status(ND_SUCCESS, CALL(provider, ResolveAddress, list->Address[i].lpSockaddr,
                                      (ULONG)list->Address[i].iSockaddrLength, &id));
    }
    expect_true(found);
}

static void resolve_address(void)
{
    IND2Provider *provider = get_provider();
    struct address address = test_address(), other = with_port(address, 1234);
    struct address foreign = make_address("203.0.113.9", 0);
    UINT64 id = adapter_id(provider), again = ~id;
    expect_status(ND_SUCCESS, CALL(provider, ResolveAddress, &other.any, other.length, &again));
    expect_equal(id, again);
    expect_status(
        ND_INVALID_ADDRESS, CALL(provider, ResolveAddress, &foreign.any, foreign.length, &id));
    foreign.any.sa_family = 77;
    expect_status(
        ND_INVALID_ADDRESS, CALL(provider, ResolveAddress, &foreign.any, foreign.length, &id));
    expect_true(FAILED(CALL(provider, ResolveAddress, &address.any, address.length - 1, &id)));
    expect_true(FAILED(CALL(provider, ResolveAddress, NULL, 0, &id)));
}

/* All addresses of one adapter have one id, which the adapter reports as well. */
static void addresses_of_one_adapter(void)
{
    IND2Provider *provider = get_provider();
    struct node *node = new_node();
    UINT64 id = adapter_id(provider);
    ULONG size = 0;
    expect_equal(id, node->info.AdapterId);
    expect_status(ND_BUFFER_OVERFLOW, CALL(node->v2, QueryAddressList, NULL, &size));
    SOCKET_ADDRESS_LIST *list = keep_memory(size);
    expect_status(ND_SUCCESS, CALL(node->v2, QueryAddressList, list, &size));
    expect_true(list->iAddressCount > 0);
    for (int i = 0; i < list->iAddressCount; i++) {
        UINT64 other = 0;
        expect_status(ND_SUCCESS, CALL(provider, ResolveAddress, list->Address[i].lpSockaddr,
                                      (ULONG)list->Address[i].iSockaddrLength, &other));
        expect_equal(id, other);
    }
}

static void open_adapter_by_id(void)
{
    IND2Provider *provider = get_provider();
    UINT64 id = adapter_id(provider);
    void *out = &out;
    expect_status(ND_INVALID_PARAMETER, CALL(provider, OpenAdapter, &IID_IND2Adapter, ~id, &out));
    expect_pointer(NULL, out);
    out = &out;
    expect_status(E_NOINTERFACE, CALL(provider, OpenAdapter, &strange, id, &out));
    expect_pointer(NULL, out);
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &IID_IUnknown, id, &out));
    keep_object(out);
}

/* Twice gives two, each with its own protection domain. */
static void adapters_are_independent(void)
{
    IND2Provider *provider = get_provider();
    UINT64 id = adapter_id(provider);
    IND2Adapter *first = NULL, *second = NULL;
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&first));
    keep_object(first);
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&second));
    keep_object(second);
    expect_true(first != second);
    expect_equal(2, release_kept(provider)); /* both adapters refer to it */
    expect_equal(0, release_kept(first));
    ULONG size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(second, Query, NULL, &size));
}

/* An adapter counts as a user of its provider from its opening to its last Release; what it made does not. */
static void adapter_refers_to_its_provider(void)
{
    IND2Provider *provider = get_provider();
    IND2Adapter *adapter = NULL, *same = NULL, *other = NULL;
    IND2MemoryWindow *window = NULL;
    UINT64 id = adapter_id(provider);
    void *none = &none;
    expect_equal(2, CALL(provider, AddRef));
    expect_status(E_NOINTERFACE, CALL(provider, OpenAdapter, &strange, id, &none));
    expect_equal(1, CALL(provider, Release));
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&adapter));
    expect_equal(3, CALL(provider, AddRef));
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&other));
    expect_equal(3, CALL(provider, Release));
    expect_status(ND_SUCCESS, CALL(adapter, QueryInterface, &IID_IND2Adapter, (void **)&same));
    expect_status(
        ND_SUCCESS, CALL(adapter, CreateMemoryWindow, &IID_IND2MemoryWindow, (void **)&window));
    expect_equal(1, CALL(same, Release));
    expect_equal(0, CALL(adapter, Release));
    expect_equal(3, CALL(provider, AddRef));
    expect_equal(2, CALL(provider, Release));
    expect_equal(0, CALL(window, Release));
    expect_equal(0, CALL(other, Release));
    expect_equal(0, release_kept(provider));
}

static void providers_come_and_go(void)
{
    for (int i = 0; i < 500; i++) {
        IND2Provider *provider = NULL;
        expect_status(ND_SUCCESS,
            provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider));
        expect_equal(0, CALL(provider, Release));
    }
    expect_status(S_OK, provider_can_unload());
}

SUITE(provider);
