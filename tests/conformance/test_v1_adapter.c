/* SPDX-License-Identifier: MIT */
/*
 * test_v1_adapter.c - INDProvider and INDAdapter: opening, limits, the one file, registrations.
 */
#include "fixture_v1.h"

/* Providers */

static INDProvider *get_provider(void)
{
    INDProvider *provider = NULL;
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V1, &IID_INDProvider, (void **)&provider));
    keep_object(provider);
    return provider;
}

static void provider_from_the_class_factory(void)
{
    IClassFactory *factory = NULL;
    INDProvider *provider = NULL;
    void *out = &out;
    expect_status(ND_SUCCESS,
        provider_class_object(&CLSID_NDSPI_PROVIDER_V1, &IID_IClassFactory, (void **)&factory));
    keep_object(factory);
    expect_status(
        ND_SUCCESS, CALL(factory, CreateInstance, NULL, &IID_INDProvider, (void **)&provider));
    keep_object(provider);
    expect_status(CLASS_E_NOAGGREGATION,
        CALL(factory, CreateInstance, (IUnknown *)factory, &IID_INDProvider, &out));
    expect_pointer(NULL, out);
    expect_status(S_FALSE, provider_can_unload());
}

/* Asked directly, through the class object, or for IUnknown: each class makes an object of its own version. */
static void class_makes_its_own_version(void)
{
    static const CLSID *const classes[] = { &CLSID_NDSPI_PROVIDER_V1, &CLSID_NDSPI_PROVIDER_V2 };
    static const IID *const own[] = { &IID_INDProvider, &IID_IND2Provider };
    for (int c = 0; c < 2; c++) {
        IClassFactory *factory = NULL;
        IUnknown *any = NULL, *provider = NULL;
        void *out = &out;
        note("class of version %d", c + 1);
        expect_status(E_NOINTERFACE, provider_class_object(classes[c], own[!c], &out));
        expect_pointer(NULL, out);
        expect_status(
            ND_SUCCESS, provider_class_object(classes[c], &IID_IClassFactory, (void **)&factory));
        keep_object(factory);
        out = &out;
        expect_status(E_NOINTERFACE, CALL(factory, CreateInstance, NULL, own[!c], &out));
        expect_pointer(NULL, out);
        expect_status(
            ND_SUCCESS, CALL(factory, CreateInstance, NULL, &IID_IUnknown, (void **)&any));
        keep_object(any);
        expect_status(ND_SUCCESS, CALL(any, QueryInterface, own[c], (void **)&provider));
        expect_equal(1, CALL(provider, Release));
    }
}

static void query_address_list(void)
{
    INDProvider *provider = get_provider();
    SIZE_T size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(provider, QueryAddressList, NULL, &size));
    SIZE_T needed = size;
    BYTE *buffer = keep_memory(needed);
    memset(buffer, 0xBB, needed);
    size = needed - 1;
    expect_status(
        ND_BUFFER_OVERFLOW, CALL(provider, QueryAddressList, (SOCKET_ADDRESS_LIST *)buffer, &size));
    expect_equal(needed, size);
    for (SIZE_T i = 0; i < needed; i++)
        expect_equal(0xBB, buffer[i]);
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)buffer;
    expect_status(ND_SUCCESS, CALL(provider, QueryAddressList, list, &size));
    expect_equal(needed, size);
    expect_true(list->iAddressCount > 0);
    for (int i = 0; i < list->iAddressCount; i++) {
        INDAdapter *adapter = NULL;
        expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, list->Address[i].lpSockaddr,
                                      (SIZE_T)list->Address[i].iSockaddrLength, &adapter));
        expect_equal(0, CALL(adapter, Release));
    }
}

static void open_adapter_by_address(void)
{
    INDProvider *provider = get_provider();
    struct address good = with_port(test_address(), 4711), bad = make_address("203.0.113.9", 0);
    INDAdapter *first = NULL, *second = NULL, *out = (INDAdapter *)provider;
    expect_status(ND_INVALID_ADDRESS, CALL(provider, OpenAdapter, &bad.any, bad.length, &out));
    expect_pointer(NULL, out);
    bad.any.sa_family = 77;
    expect_status(ND_INVALID_ADDRESS, CALL(provider, OpenAdapter, &bad.any, bad.length, &out));
    expect_true(FAILED(CALL(provider, OpenAdapter, &good.any, good.length - 1, &out)));
    expect_true(FAILED(CALL(provider, OpenAdapter, NULL, 0, &out)));
    /* The port is not looked at; each opening is an adapter of its own. */
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &good.any, good.length, &first));
    keep_object(first);
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &good.any, good.length, &second));
    keep_object(second);
    expect_true(first != second);
    expect_equal(2, release_kept(provider)); /* both adapters refer to it */
    expect_true(CALL(first, GetFileHandle) != CALL(second, GetFileHandle));
}

/* An adapter counts as a user of its provider from its opening to its last Release; what it made does not. */
static void adapter_refers_to_its_provider(void)
{
    INDProvider *provider = get_provider();
    struct address good = test_address(), bad = make_address("203.0.113.9", 0);
    INDAdapter *adapter = NULL, *none = NULL;
    INDConnector *connector = NULL;
    expect_status(ND_INVALID_ADDRESS, CALL(provider, OpenAdapter, &bad.any, bad.length, &none));
    expect_status(ND_SUCCESS, CALL(provider, OpenAdapter, &good.any, good.length, &adapter));
    expect_equal(3, CALL(provider, AddRef));
    expect_equal(2, CALL(provider, Release));
    expect_status(ND_SUCCESS, CALL(adapter, CreateConnector, &connector));
    expect_equal(0, CALL(adapter, Release));
    expect_equal(2, CALL(provider, AddRef));
    expect_equal(1, CALL(provider, Release));
    expect_equal(0, CALL(connector, Release));
    expect_equal(0, release_kept(provider));
}

static void helper_opens_version_1(void)
{
    struct address address = test_address(), foreign = make_address("203.0.113.9", 0);
    INDAdapter *adapter = NULL;
    IUnknown *same = NULL;
    expect_status(ND_SUCCESS,
        NdOpenAdapter(&IID_INDAdapter, &address.any, address.length, (void **)&adapter));
    keep_object(adapter);
    expect_status(ND_SUCCESS, CALL(adapter, QueryInterface, &IID_INDAdapter, (void **)&same));
    expect_pointer(adapter, same);
    expect_equal(1, CALL(same, Release));
    expect_status(ND_INVALID_ADDRESS, NdOpenV1Adapter(&foreign.any, foreign.length, &adapter));
    expect_pointer(NULL, adapter);
}

/* Query */

/* 17 members; the places of 64-bit Windows, or of 32-bit. */
static void query_tells_every_limit(void)
{
    INDAdapter *adapter = new_node()->v1;
    BYTE info[136];
    SIZE_T size = sizeof(info);
    const bool wide = sizeof(void *) == 8;
    memset(info, 0xEE, sizeof(info));
    expect_status(ND_SUCCESS, CALL(adapter, Query, 1, (ND_ADAPTER_INFO *)(void *)info, &size));
    expect_equal(wide ? 128 : 68, size);
    expect_equal(0xEE, info[size]);
    for (int field = 3; field <= 17; field++) {
        SIZE_T value;
        memcpy(&value, info + (wide ? 8 + 8 * (field - 3) : 8 + 4 * (field - 3)), sizeof(value));
        note("member %d", field);
        expect_true(value != 0);
    }
    const ND_ADAPTER_INFO *named = (const void *)info;
    expect_equal(wide ? 104 : 56, offsetof(ND_ADAPTER_INFO, LargeRequestThreshold));
    expect_equal(16384, named->LargeRequestThreshold);
    expect_true(named->MaxCallerData >= 56 && named->MaxCalleeData >= 148);
    /* What the known program asks for before it uses an adapter. */
    expect_true(named->MaxCqEntries >= 64 + 16 + 3 * named->MaxInboundReadLimit);
}

/*
 * Version 2 reports the same about the same device, but for entries: version 1 has one limit for all initiator
 * requests.
 */
static void query_agrees_with_version_2(void)
{
    struct address address = test_address();
    const ND2_ADAPTER_INFO *v1 = &new_node()->info, *v2 = &new_node_of(&dialect_v2, &address)->info;
    expect_equal(v2->MaxReceiveSge, v1->MaxReceiveSge);
    expect_equal(v2->MaxReceiveQueueDepth, v1->MaxReceiveQueueDepth);
    expect_equal(v2->MaxTransferLength, v1->MaxTransferLength);
    expect_equal(v2->MaxInlineDataSize, v1->MaxInlineDataSize);
    expect_equal(v2->MaxInboundReadLimit, v1->MaxInboundReadLimit);
    expect_equal(v2->MaxOutboundReadLimit, v1->MaxOutboundReadLimit);
    expect_equal(v2->MaxRegistrationSize, v1->MaxRegistrationSize);
    expect_equal(v2->MaxCallerData, v1->MaxCallerData);
    expect_equal(v2->MaxCalleeData, v1->MaxCalleeData);
    expect_equal(v2->MaxInitiatorQueueDepth, v1->MaxInitiatorQueueDepth);
    expect_equal(v2->MaxCompletionQueueDepth, v1->MaxCompletionQueueDepth);
    expect_equal(v2->MaxReadSge, v1->MaxInitiatorSge);
}

static void query_versions_and_sizes(void)
{
    INDAdapter *adapter = new_node()->v1;
    const SIZE_T exact = sizeof(void *) == 8 ? 128 : 68;
    static const DWORD bad[] = { 0, 2, 3, 0x20000, 0xFFFFFFFF };
    ND_ADAPTER_INFO info;
    SIZE_T size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(adapter, Query, 1, NULL, &size));
    expect_equal(exact, size);
    memset(&info, 0xEE, sizeof(info));
    size = exact - 1;
    expect_status(ND_BUFFER_OVERFLOW, CALL(adapter, Query, 1, &info, &size));
    expect_equal(exact, size);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size = sizeof(info);
        expect_status(ND_NOT_SUPPORTED, CALL(adapter, Query, bad[i], &info, &size));
    }
    for (size_t i = 0; i < sizeof(info); i++)
        expect_equal(0xEE, ((BYTE *)&info)[i]);
}

static void control_is_not_supported(void)
{
    struct node *node = new_node();
    HANDLE port = new_port();
    struct op *op = new_op();
    OVERLAPPED before = op->overlapped;
    SIZE_T bytes = 77;
    attach(port, node->file, 1);
    expect_status(ND_NOT_SUPPORTED,
        CALL(node->v1, Control, 0x12345, NULL, 0, NULL, 0, &bytes, &op->overlapped));
    expect_equal(0, memcmp(&before, &op->overlapped, sizeof(before)));
    expect_true(!event_is_set(op));
    expect_no_packet(port);
}

/* The file */

static void one_file_handle(void)
{
    struct node *node = new_node();
    HANDLE first = CALL(node->v1, GetFileHandle);
    expect_true(first != NULL && first != INVALID_HANDLE_VALUE);
    for (int i = 0; i < 5; i++)
        expect_pointer(first, CALL(node->v1, GetFileHandle));
}

/* Packets of every object come through it: adapter, queues, connectors and listeners. */
static void one_file_for_every_object(void)
{
    struct pair *pair = new_pair(NULL);
    struct node *node = pair->active.node;
    HANDLE port = new_port();
    struct op *ops[3] = { new_op_without_event(), new_op_without_event(), new_op_without_event() };
    struct mr *mr = new_mr(node);
    struct address at;
    struct listener *listener = new_listening(node, 0, &at);
    BYTE *bytes = keep_memory(64);
    attach(port, node->file, 31);
    expect_status(ND_PENDING, CALL(mr, Register, bytes, 64, 0, &ops[0]->overlapped));
    expect_packet(port, 31, ops[0], 0);
    expect_true(mr->handle != NULL);
    expect_status(ND_PENDING, CALL(pair->active.cq, Notify, ND_CQ_NOTIFY_ANY, &ops[1]->overlapped));
    expect_status(ND_SUCCESS, CALL(pair->active.cq, CancelOverlappedRequests));
    expect_packet(port, 31, ops[1], 995);
    expect_status(
        ND_PENDING, CALL(listener, GetConnectionRequest, new_connector(node), &ops[2]->overlapped));
    expect_equal(0, release_now(listener));
    expect_packet(port, 31, ops[2], 995);
    expect_status(ND_PENDING, CALL(mr, Deregister, &ops[0]->overlapped));
    expect_packet(port, 31, ops[0], 0);
}

/* The adapter owns the file handle; a program that closes it all the same breaks nothing. */
static void client_closes_the_file(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *ends[2] = { &pair->active, &pair->passive };
    for (int e = 0; e < 2; e++)
        if (e == 0 || ends[1]->node != ends[0]->node)
            close_file(ends[e]->node);
    exchange(ends[0], ends[1]);
    exchange(ends[1], ends[0]);
}

/* Objects */

static void completion_queue_depths(void)
{
    struct node *node = new_node();
    INDCompletionQueue *cq = NULL;
    SIZE_T max = node->info.MaxCompletionQueueDepth;
    expect_status(ND_INVALID_PARAMETER, CALL(node->v1, CreateCompletionQueue, 0, &cq));
    expect_status(ND_INVALID_PARAMETER, CALL(node->v1, CreateCompletionQueue, max + 1, &cq));
    expect_status(ND_INVALID_PARAMETER, CALL(node->v1, CreateCompletionQueue, (SIZE_T)-1, &cq));
    if (sizeof(SIZE_T) == 8) /* 8 when it is cut to 32 bits */
        expect_status(ND_INVALID_PARAMETER,
            CALL(node->v1, CreateCompletionQueue, ((SIZE_T)1 << (sizeof(SIZE_T) * 4)) + 8, &cq));
    expect_pointer(NULL, cq);
    expect_status(ND_SUCCESS, CALL(node->v1, CreateCompletionQueue, max, &cq));
    keep_object(cq);
}

static void no_place_for_the_object(void)
{
    struct node *node = new_node();
    USHORT port = 0;
    expect_status(E_POINTER, CALL(node->v1, CreateCompletionQueue, 4, NULL));
    expect_status(E_POINTER, CALL(node->v1, CreateMemoryWindow, NULL, NULL));
    expect_status(E_POINTER, CALL(node->v1, CreateConnector, NULL));
    expect_status(E_POINTER, CALL(node->v1, Listen, 0, 123, 0, &port, NULL));
}

/* Registrations */

/* Handles differ, and none is NULL, which means inline data. */
static void registrations_have_handles(void)
{
    enum { COUNT = 50 };
    struct node *node = new_node();
    BYTE *bytes = keep_memory(4096);
    ND_MR_HANDLE handles[COUNT];
    struct op *op = new_op();
    for (int i = 0; i < COUNT; i++) {
        handles[i] = NULL;
        HRESULT hr = CALL(node->v1, RegisterMemory, bytes, 4096, &op->overlapped, &handles[i]);
        expect_status(ND_SUCCESS, finish(node, hr, op));
        expect_true(handles[i] != NULL);
        for (int k = 0; k < i; k++)
            expect_true(handles[k] != handles[i]);
    }
    for (int i = 0; i < COUNT; i++)
        expect_status(ND_SUCCESS,
            finish(node, CALL(node->v1, DeregisterMemory, handles[i], &op->overlapped), op));
    expect_status(ND_INVALID_HANDLE, CALL(node->v1, DeregisterMemory, handles[0], &op->overlapped));
    expect_status(ND_INVALID_HANDLE, CALL(node->v1, DeregisterMemory, NULL, &op->overlapped));
}

/* The handle is stored on success only. */
static void failed_registration_stores_nothing(void)
{
    struct node *node = new_node();
    BYTE *bytes = keep_memory(64);
    struct op *op = new_op();
    const ND_MR_HANDLE before = (ND_MR_HANDLE)bytes;
    ND_MR_HANDLE handle = before;
    expect_status(ND_INVALID_PARAMETER,
        finish(node, CALL(node->v1, RegisterMemory, NULL, 64, &op->overlapped, &handle), op));
    expect_status(ND_INVALID_BUFFER_SIZE,
        finish(node, CALL(node->v1, RegisterMemory, bytes, 0, &op->overlapped, &handle), op));
    expect_status(ND_ACCESS_VIOLATION,
        finish(node,
            CALL(node->v1, RegisterMemory, (void *)(uintptr_t)16, 64, &op->overlapped, &handle),
            op));
    expect_pointer(before, handle);
    expect_true(FAILED(CALL(node->v1, RegisterMemory, bytes, 64, &op->overlapped, NULL)));
    expect_true(FAILED(CALL(node->v1, RegisterMemory, bytes, 64, NULL, &handle)));
}

/* A program that tries a smaller piece when a large one reaches beyond its memory. */
static void registration_shrinks_until_it_fits(void)
{
    struct node *node = new_node();
    struct op *op = new_op_tagged();
    SIZE_T size = 4 * 65536;
    BYTE *memory = VirtualAlloc(NULL, 2 * size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    expect_true(memory != NULL);
    expect_true(VirtualFree(memory, 0, MEM_RELEASE));
    memory = VirtualAlloc(memory, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    expect_true(memory != NULL);
    ND_MR_HANDLE handle = NULL;
    HRESULT hr;
    SIZE_T length = 2 * size;
    do {
        hr = CALL(node->v1, RegisterMemory, memory, length, &op->overlapped, &handle);
        if (hr == ND_PENDING)
            hr = CALL(node, GetOverlappedResult, &op->overlapped, TRUE);
        length -= 65536;
    } while (hr == ND_ACCESS_VIOLATION && length > 0);
    expect_status(ND_SUCCESS, hr);
    expect_true(handle != NULL);
    expect_status(ND_PENDING, CALL(node->v1, DeregisterMemory, handle, &op->overlapped));
    expect_status(ND_SUCCESS, CALL(node, GetOverlappedResult, &op->overlapped, TRUE));
    expect_true(VirtualFree(memory, 0, MEM_RELEASE));
}

/* Releasing the adapter deregisters what the program left registered, windows over it as well. */
static void adapter_takes_its_registrations_along(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    for (int i = 0; i < 20; i++)
        new_memory(p->node, 4096, 0);
    remote_token(p);
    expect_equal(0, release_now(p->window));
}

SUITE(v1_adapter);
