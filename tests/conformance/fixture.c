/* SPDX-License-Identifier: MIT */
/*
 * fixture.c - adapters, queues, memory and overlapped requests for the rows. Pairs are in fixture_pair.c.
 */
#include "fixture.h"

/* Addresses */

struct address make_address(const char *text, unsigned port)
{
    struct address address;
    INT length = sizeof(address.v6);
    memset(&address, 0, sizeof(address));
    bool v6 = strchr(text, ':') && strchr(strchr(text, ':') + 1, ':');
    if (WSAStringToAddressA(
            (LPSTR)(uintptr_t)text, v6 ? AF_INET6 : AF_INET, NULL, &address.any, &length) != 0)
        fail_row("%s is no address", text);
    address.length = (ULONG)length;
    return with_port(address, port);
}

struct address with_port(struct address address, unsigned port)
{
    if (address.any.sa_family == AF_INET)
        address.v4.sin_port = htons((USHORT)port);
    else
        address.v6.sin6_port = htons((USHORT)port);
    return address;
}

unsigned port_of(const struct address *address)
{
    return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
}

bool same_ip(const struct address *a, const struct address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return memcmp(&a->v4.sin_addr, &b->v4.sin_addr, 4) == 0;
    return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
}

/* The argument; else NDSPI_ADDRESS; else a loopback address of the list; else its first. */
struct address test_address(void)
{
    const char *text = harness_address() ? harness_address() : getenv("NDSPI_ADDRESS");
    if (text)
        return make_address(text, 0);

    SIZE_T size = 0;
    expect_status(
        ND_BUFFER_OVERFLOW, NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &size));
    SOCKET_ADDRESS_LIST *list = keep_memory(size);
    expect_status(ND_SUCCESS, NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &size));
    expect_true(list->iAddressCount > 0);
    int chosen = 0;
    for (int i = list->iAddressCount; i-- > 0;) {
        const struct sockaddr_in *v4 = (const void *)list->Address[i].lpSockaddr;
        if (v4->sin_family == AF_INET && (ntohl(v4->sin_addr.s_addr) >> 24) == 127)
            chosen = i;
    }
    struct address address;
    memset(&address, 0, sizeof(address));
    address.length = (ULONG)list->Address[chosen].iSockaddrLength;
    expect_true(address.length <= sizeof(address.v6));
    memcpy(&address.any, list->Address[chosen].lpSockaddr, address.length);
    return with_port(address, 0);
}

/* Overlapped requests */

static struct op *make_op(HANDLE event, ULONG_PTR tag)
{
    struct op *op = keep_memory(sizeof(*op));
    /* Clients leave everything but hEvent uninitialised. */
    memset(&op->overlapped, 0xA5, sizeof(op->overlapped));
    op->event = event;
    op->overlapped.hEvent = event ? (HANDLE)((ULONG_PTR)event | tag) : NULL;
    return op;
}

static HANDLE make_event(BOOL manual)
{
    HANDLE event = CreateEventA(NULL, manual, FALSE, NULL);
    expect_true(event != NULL);
    keep_handle(event);
    return event;
}

struct op *new_op(void)
{
    return make_op(make_event(TRUE), 0);
}

struct op *new_op_auto(void)
{
    return make_op(make_event(FALSE), 0);
}

struct op *new_op_without_event(void)
{
    return make_op(NULL, 0);
}

struct op *new_op_tagged(void)
{
    return make_op(make_event(TRUE), 1);
}

HRESULT result_of(void *object, struct op *op)
{
    return CALL((IND2Overlapped *)object, GetOverlappedResult, &op->overlapped, FALSE);
}

HRESULT wait_op(void *object, struct op *op)
{
    if (WaitForSingleObject(op->event, DEADLINE_MS) != WAIT_OBJECT_0)
        fail_row(
            "an overlapped request did not complete (now %s)", status_name(result_of(object, op)));
    return result_of(object, op);
}

HRESULT finish(void *object, HRESULT started, struct op *op)
{
    if (started == ND_SUCCESS)
        fail_row("an overlapped method returned ND_SUCCESS");
    return started == ND_PENDING ? wait_op(object, op) : started;
}

bool event_is_set(struct op *op)
{
    return WaitForSingleObject(op->event, 0) == WAIT_OBJECT_0;
}

/* Completion ports */

HANDLE new_port(void)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    expect_true(port != NULL);
    keep_handle(port);
    return port;
}

void attach(HANDLE port, HANDLE file, ULONG_PTR key)
{
    expect_pointer(port, CreateIoCompletionPort(file, port, key, 0));
}

struct packet take_packet(HANDLE port, DWORD timeout_ms)
{
    struct packet packet = { 0 };
    packet.ok =
        GetQueuedCompletionStatus(port, &packet.bytes, &packet.key, &packet.overlapped, timeout_ms);
    packet.error = packet.ok ? 0 : GetLastError();
    return packet;
}

void expect_packet(HANDLE port, ULONG_PTR key, struct op *op, DWORD error)
{
    struct packet packet = take_packet(port, DEADLINE_MS);
    expect_pointer(&op->overlapped, packet.overlapped);
    expect_equal(error, packet.error);
    expect_equal(error == 0, packet.ok != FALSE);
    expect_equal(key, packet.key);
    expect_equal(0, packet.bytes);
}

void expect_no_packet(HANDLE port)
{
    struct packet packet = take_packet(port, 0);
    expect_true(!packet.ok);
    expect_pointer(NULL, packet.overlapped);
    expect_equal(WAIT_TIMEOUT, packet.error);
}

/* Adapters */

static IND2Adapter *open_adapter_on(const struct address *address)
{
    IND2Adapter *adapter = NULL;
    expect_status(ND_SUCCESS,
        NdOpenAdapter(&IID_IND2Adapter, &address->any, address->length, (void **)&adapter));
    expect_true(adapter != NULL);
    keep_object(adapter);
    return adapter;
}

IND2Adapter *open_adapter(void)
{
    struct address address = test_address();
    return open_adapter_on(&address);
}

struct node *new_node_on(const struct address *address)
{
    struct node *node = keep_memory(sizeof(*node));
    ULONG size = sizeof(node->info);
    node->adapter = open_adapter_on(address);
    node->info.InfoVersion = ND_VERSION_2;
    expect_status(ND_SUCCESS, CALL(node->adapter, Query, &node->info, &size));
    expect_status(ND_SUCCESS, CALL(node->adapter, CreateOverlappedFile, &node->file));
    keep_handle(node->file);
    return node;
}

struct node *new_node(void)
{
    struct address address = test_address();
    return new_node_on(&address);
}

IND2CompletionQueue *new_cq(struct node *node, ULONG depth)
{
    IND2CompletionQueue *cq = NULL;
    expect_status(ND_SUCCESS, CALL(node->adapter, CreateCompletionQueue, &IID_IND2CompletionQueue,
                                  node->file, depth, 0, 0, (void **)&cq));
    keep_object(cq);
    return cq;
}

IND2SharedReceiveQueue *new_srq(struct node *node, ULONG depth, ULONG sge, ULONG threshold)
{
    IND2SharedReceiveQueue *srq = NULL;
    expect_status(
        ND_SUCCESS, CALL(node->adapter, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue,
                        node->file, depth, sge, threshold, 0, 0, (void **)&srq));
    keep_object(srq);
    return srq;
}

IND2MemoryRegion *new_mr(struct node *node)
{
    IND2MemoryRegion *mr = NULL;
    expect_status(ND_SUCCESS,
        CALL(node->adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, node->file, (void **)&mr));
    keep_object(mr);
    return mr;
}

IND2MemoryWindow *new_mw(struct node *node)
{
    IND2MemoryWindow *mw = NULL;
    expect_status(
        ND_SUCCESS, CALL(node->adapter, CreateMemoryWindow, &IID_IND2MemoryWindow, (void **)&mw));
    keep_object(mw);
    return mw;
}

IND2Connector *new_connector(struct node *node)
{
    IND2Connector *connector = NULL;
    expect_status(ND_SUCCESS,
        CALL(node->adapter, CreateConnector, &IID_IND2Connector, node->file, (void **)&connector));
    keep_object(connector);
    return connector;
}

IND2Connector *new_bound_connector(struct node *node)
{
    struct address address = test_address();
    IND2Connector *connector = new_connector(node);
    expect_status(ND_SUCCESS, CALL(connector, Bind, &address.any, address.length));
    return connector;
}

IND2Listener *new_listener(struct node *node)
{
    IND2Listener *listener = NULL;
    expect_status(ND_SUCCESS,
        CALL(node->adapter, CreateListener, &IID_IND2Listener, node->file, (void **)&listener));
    keep_object(listener);
    return listener;
}

IND2Listener *new_listening(struct node *node, ULONG backlog, struct address *at)
{
    struct address address = test_address();
    IND2Listener *listener = new_listener(node);
    expect_status(ND_SUCCESS, CALL(listener, Bind, &address.any, address.length));
    expect_status(ND_SUCCESS, CALL(listener, Listen, backlog));
    memset(at, 0, sizeof(*at));
    at->length = sizeof(at->v6);
    expect_status(ND_SUCCESS, CALL(listener, GetLocalAddress, &at->any, &at->length));
    expect_true(port_of(at) != 0);
    return listener;
}

IND2QueuePair *new_qp(struct node *node, IND2CompletionQueue *cq, void *context, ULONG depth)
{
    IND2QueuePair *qp = NULL;
    expect_status(
        ND_SUCCESS, CALL(node->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)cq,
                        (IUnknown *)cq, context, depth, depth, 1, 1, 0, (void **)&qp));
    keep_object(qp);
    return qp;
}

/* Memory */

void register_memory(IND2MemoryRegion *mr, void *bytes, SIZE_T length, ULONG flags)
{
    struct op *op = new_op();
    HRESULT started = CALL(mr, Register, bytes, length, flags, &op->overlapped);
    expect_status(ND_SUCCESS, finish(mr, started, op));
}

struct memory new_memory(struct node *node, SIZE_T length, ULONG flags)
{
    struct memory memory = { new_mr(node), keep_memory(length), length, 0, 0 };
    register_memory(memory.mr, memory.bytes, length, flags);
    memory.local = CALL(memory.mr, GetLocalToken);
    memory.remote = CALL(memory.mr, GetRemoteToken);
    return memory;
}

static BYTE pattern(SIZE_T i, unsigned seed)
{
    return (BYTE)((i * 2654435761u + seed * 40503u) >> 11);
}

void fill(BYTE *bytes, SIZE_T length, unsigned seed)
{
    for (SIZE_T i = 0; i < length; i++)
        bytes[i] = pattern(i, seed);
}

void expect_filled(const BYTE *bytes, SIZE_T length, unsigned seed)
{
    for (SIZE_T i = 0; i < length; i++)
        if (bytes[i] != pattern(i, seed))
            fail_row("octet %llu of %llu is 0x%02x, expected 0x%02x", (unsigned long long)i,
                (unsigned long long)length, bytes[i], pattern(i, seed));
}
