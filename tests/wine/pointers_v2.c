/* SPDX-License-Identifier: MIT */
/* pointers_v2.c - the methods of version 2; see pointers.h. */
#include "tests/wine/pointers.h"

#define VIRTUAL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

/* Two connected ends, and objects of the active one's adapter in their first state. */
static struct nd2_end active, passive;
static struct {
    IND2Connector *connector, *bound;
    IND2Listener *listener, *listening;
    IND2MemoryRegion *region;
    IND2MemoryWindow *window;
    IND2SharedReceiveQueue *srq;
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;
} fresh;

static DWORD WINAPI accept_one(VOID *unused)
{
    (void)unused;
    require(nd2_end_request(&passive) == ND_SUCCESS, "the request");
    require(nd2_end_accept(&passive) == ND_SUCCESS, "Accept");
    return 0;
}

static void connect_both(void)
{
    const struct nd2_end_options options = {
        .depth = 8, .memory_octets = 4096, .inline_octets = 64
    };
    USHORT port_be;
    HANDLE thread;

    step("a connection");
    require(nd2_end_open(&active, &options) == ND_SUCCESS, "open");
    require(nd2_end_open(&passive, &options) == ND_SUCCESS, "open");
    require(nd2_end_listen(&passive, &port_be) == ND_SUCCESS, "Listen");
    thread = CreateThread(NULL, 0, accept_one, NULL, 0, NULL);
    require(nd2_end_connect(&active, port_be) == ND_SUCCESS, "Connect");
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

static void made(HRESULT hr)
{
    require(hr == ND_SUCCESS, "an object");
}

static void bind_both(void)
{
    struct sockaddr_in address = nd_end_address(0, 0);

    made(VIRTUAL(fresh.bound, Bind, (struct sockaddr *)&address, sizeof(address)));
    made(VIRTUAL(fresh.listening, Bind, (struct sockaddr *)&address, sizeof(address)));
    made(VIRTUAL(fresh.listening, Listen, 0));
}

static void make_fresh(void)
{
    IND2Adapter *adapter = active.adapter;
    HANDLE file = active.file;

    made(VIRTUAL(adapter, CreateConnector, &IID_IND2Connector, file, (VOID **)&fresh.connector));
    made(VIRTUAL(adapter, CreateConnector, &IID_IND2Connector, file, (VOID **)&fresh.bound));
    made(VIRTUAL(adapter, CreateListener, &IID_IND2Listener, file, (VOID **)&fresh.listener));
    made(VIRTUAL(adapter, CreateListener, &IID_IND2Listener, file, (VOID **)&fresh.listening));
    made(VIRTUAL(adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, file, (VOID **)&fresh.region));
    made(VIRTUAL(adapter, CreateMemoryWindow, &IID_IND2MemoryWindow, (VOID **)&fresh.window));
    made(VIRTUAL(adapter, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue, file, 8, 1, 0, 0,
        0, (VOID **)&fresh.srq));
    made(VIRTUAL(adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, file, 8, 0, 0,
        (VOID **)&fresh.cq));
    made(VIRTUAL(adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)fresh.cq,
        (IUnknown *)fresh.cq, NULL, 4, 4, 1, 1, 0, (VOID **)&fresh.qp));
    bind_both();
}

static void call_adapter(IND2Adapter *adapter)
{
    ULONG size = 4096;
    VOID *out;

    WRONG(STORES, VIRTUAL(adapter, CreateOverlappedFile, P));
    WRONG(STORES, VIRTUAL(adapter, Query, P, &size));
    WRONG(STORES_SHORT, VIRTUAL(adapter, Query, NULL, P));
    WRONG(STORES, VIRTUAL(adapter, QueryAddressList, P, &size));
    WRONG(STORES_SHORT, VIRTUAL(adapter, QueryAddressList, NULL, P));
    WRONG(READS, VIRTUAL(adapter, QueryInterface, P, &out));
    WRONG(STORES, VIRTUAL(adapter, QueryInterface, &IID_IND2Adapter, P));
}

static void call_makers(IND2Adapter *adapter, HANDLE file)
{
    IUnknown *cq = (IUnknown *)fresh.cq, *srq = (IUnknown *)fresh.srq;
    const IID *qp = &IID_IND2QueuePair;
    VOID *out;

    WRONG(READS, VIRTUAL(adapter, CreateCompletionQueue, P, file, 8, 0, 0, &out));
    WRONG(STORES,
        VIRTUAL(adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, file, 8, 0, 0, P));
    WRONG(READS, VIRTUAL(adapter, CreateMemoryRegion, P, file, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, file, P));
    WRONG(READS, VIRTUAL(adapter, CreateMemoryWindow, P, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateMemoryWindow, &IID_IND2MemoryWindow, P));
    WRONG(READS, VIRTUAL(adapter, CreateSharedReceiveQueue, P, file, 8, 1, 0, 0, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue, file, 8,
                      1, 0, 0, 0, P));
    WRONG(READS, VIRTUAL(adapter, CreateConnector, P, file, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateConnector, &IID_IND2Connector, file, P));
    WRONG(READS, VIRTUAL(adapter, CreateListener, P, file, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateListener, &IID_IND2Listener, file, P));
    WRONG(READS, VIRTUAL(adapter, CreateQueuePair, P, cq, cq, NULL, 4, 4, 1, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePair, qp, P, cq, NULL, 4, 4, 1, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePair, qp, cq, P, NULL, 4, 4, 1, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePair, qp, cq, cq, NULL, 4, 4, 1, 1, 0, P));
    WRONG(READS, VIRTUAL(adapter, CreateQueuePairWithSrq, P, cq, cq, srq, NULL, 4, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePairWithSrq, qp, P, cq, srq, NULL, 4, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePairWithSrq, qp, cq, P, srq, NULL, 4, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePairWithSrq, qp, cq, cq, P, NULL, 4, 1, 0, &out));
    WRONG(STORES, VIRTUAL(adapter, CreateQueuePairWithSrq, qp, cq, cq, srq, NULL, 4, 1, 0, P));
}

static void call_memory(void)
{
    OVERLAPPED *overlapped = nd_end_fresh(&active.overlapped, active.event);
    IND2MemoryRegion *region = fresh.region;

    WRONG(STORES, VIRTUAL(region, Register, active.memory, 64, 0, P));
    WRONG(READS, VIRTUAL(region, Register, P, 64, 0, overlapped));
    WRONG(STORES, VIRTUAL(region, Deregister, P));
    WRONG(STORES, VIRTUAL(region, GetOverlappedResult, P, FALSE));
    WRONG(STORES, VIRTUAL(active.mr, Deregister, P));
    WRONG(STORES, VIRTUAL(active.mr, Register, active.memory, 64, 0, P));
}

static void call_queues(void)
{
    USHORT group;
    KAFFINITY affinity;

    WRONG(STORES_SHORT, VIRTUAL(fresh.cq, GetNotifyAffinity, P, &affinity));
    WRONG(STORES, VIRTUAL(fresh.cq, GetNotifyAffinity, &group, P));
    WRONG(STORES, VIRTUAL(fresh.cq, Notify, ND_CQ_NOTIFY_ANY, P));
    WRONG(STORES, VIRTUAL(active.cq, Notify, ND_CQ_NOTIFY_ANY, P));
    WRONG(STORES, VIRTUAL(active.cq, GetOverlappedResult, P, FALSE));
    WRONG(STORES_SHORT, VIRTUAL(fresh.srq, GetNotifyAffinity, P, &affinity));
    WRONG(STORES, VIRTUAL(fresh.srq, GetNotifyAffinity, &group, P));
    WRONG(STORES, VIRTUAL(fresh.srq, Notify, P));
    WRONG(STORES, VIRTUAL(fresh.srq, GetOverlappedResult, P, FALSE));
    WRONG(READS, VIRTUAL(fresh.srq, Receive, NULL, P, 1));
}

/* Lists, and what inline requests read. */
static void call_queue_pair(IND2QueuePair *qp)
{
    ND2_SGE entry = { P, 8, 0 }, pair[2] = { { active.memory, 4, active.lkey }, { P, 8, 0 } };
    UINT64 remote = (UINT64)(ULONG_PTR)passive.memory;

    WRONG(READS, VIRTUAL(qp, Send, NULL, P, 1, 0));
    WRONG(READS, VIRTUAL(qp, Send, NULL, P, 2, 0));
    WRONG(READS, VIRTUAL(qp, Receive, NULL, P, 1));
    WRONG(READS, VIRTUAL(qp, Receive, NULL, P, 2));
    WRONG(READS, VIRTUAL(qp, Read, NULL, P, 1, remote, passive.rkey, 0));
    WRONG(READS, VIRTUAL(qp, Write, NULL, P, 1, remote, passive.rkey, 0));
    if (now_wrong == READ_ONLY) /* that is right */
        return;
    WRONG(READS, VIRTUAL(qp, Send, NULL, &entry, 1, ND_OP_FLAG_INLINE));
    WRONG(READS, VIRTUAL(qp, Send, NULL, pair, 2, ND_OP_FLAG_INLINE));
    WRONG(READS, VIRTUAL(qp, Write, NULL, &entry, 1, remote, passive.rkey, ND_OP_FLAG_INLINE));
}

static void call_windows(IND2QueuePair *qp)
{
    IUnknown *region = (IUnknown *)active.mr, *window = (IUnknown *)fresh.window;

    WRONG(STORES, VIRTUAL(qp, Bind, NULL, P, window, active.memory, 64, 0));
    WRONG(STORES, VIRTUAL(qp, Bind, NULL, region, P, active.memory, 64, 0));
    WRONG(STORES, VIRTUAL(qp, Invalidate, NULL, P, 0));
}

static void call_connector(IND2Connector *connector, IND2QueuePair *qp)
{
    struct sockaddr_in address = nd_end_address(0, htons(9));
    struct sockaddr *to = (struct sockaddr *)&address;
    OVERLAPPED *overlapped = nd_end_fresh(&active.overlapped, active.event);
    ULONG size = sizeof(address), other;
    IUnknown *pair = (IUnknown *)qp;

    WRONG(READS, VIRTUAL(connector, Bind, P, sizeof(address)));
    WRONG(STORES, VIRTUAL(connector, Connect, P, to, size, 0, 0, NULL, 0, overlapped));
    WRONG(READS, VIRTUAL(connector, Connect, pair, P, size, 0, 0, NULL, 0, overlapped));
    if (now_wrong != READ_ONLY)
        WRONG(READS, VIRTUAL(connector, Connect, pair, to, size, 0, 0, P, 8, overlapped));
    WRONG(STORES, VIRTUAL(connector, Connect, pair, to, size, 0, 0, NULL, 0, P));
    WRONG(STORES, VIRTUAL(connector, CompleteConnect, P));
    WRONG(STORES, VIRTUAL(connector, Accept, P, 0, 0, NULL, 0, overlapped));
    WRONG(READS, VIRTUAL(connector, Accept, pair, 0, 0, P, 8, overlapped));
    WRONG(STORES, VIRTUAL(connector, Accept, pair, 0, 0, NULL, 0, P));
    if (connector != active.connector)
        WRONG(READS, VIRTUAL(connector, Reject, P, 8));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetReadLimits, P, &other));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetReadLimits, &other, P));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetPrivateData, P, &size));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetPrivateData, NULL, P));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetLocalAddress, P, &size));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetLocalAddress, NULL, P));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetPeerAddress, P, &size));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetPeerAddress, NULL, P));
    WRONG(STORES, VIRTUAL(connector, NotifyDisconnect, P));
    WRONG(STORES, VIRTUAL(connector, Disconnect, P));
    WRONG(STORES, VIRTUAL(connector, GetOverlappedResult, P, FALSE));
}

static void call_listener(IND2Listener *listener)
{
    OVERLAPPED *overlapped = nd_end_fresh(&active.overlapped, active.event);
    ULONG size = sizeof(struct sockaddr_in);

    WRONG(READS, VIRTUAL(listener, Bind, P, size));
    WRONG(STORES_SHORT, VIRTUAL(listener, GetLocalAddress, P, &size));
    WRONG(STORES_SHORT, VIRTUAL(listener, GetLocalAddress, NULL, P));
    WRONG(STORES, VIRTUAL(listener, GetConnectionRequest, P, overlapped));
    WRONG(STORES, VIRTUAL(listener, GetConnectionRequest, (IUnknown *)fresh.connector, P));
    WRONG(STORES, VIRTUAL(listener, GetOverlappedResult, P, FALSE));
}

/* A message of the connection, whose results go into wrong arrays first: they are lost, and nothing else. */
static void send_one(bool wrong)
{
    ND2_RESULT results[4];

    step("a message");
    require(nd2_end_receive(&passive, NULL, 2048, 64) == ND_SUCCESS, "Receive");
    require(nd2_end_send(&active, NULL, 0, 64, 0) == ND_SUCCESS, "Send");
    if (wrong) {
        step("GetResults into a wrong array");
        require(VIRTUAL(active.cq, GetResults, P, 4) == 0, "GetResults");
        while (now_wrong == READ_ONLY && VIRTUAL(passive.cq, GetResults, results, 4) == 0)
            ;
        VIRTUAL(active.cq, GetResults, results, 4);
        return;
    }
    require(nd2_end_results(&passive, results, 1, ND_END_WAIT_MS) == 1, "the message's result");
    require(results[0].Status == ND_SUCCESS, "the message");
    require(nd2_end_results(&active, results, 1, ND_END_WAIT_MS) >= 1, "the Send's result");
}

#define RELEASED(object)                                                                           \
    do {                                                                                           \
        step("Release of " #object);                                                               \
        VIRTUAL(object, Release);                                                                  \
        (object) = NULL;                                                                           \
    } while (0)

static void release_fresh(void)
{
    RELEASED(fresh.qp);
    RELEASED(fresh.cq);
    RELEASED(fresh.srq);
    RELEASED(fresh.window);
    RELEASED(fresh.region);
    RELEASED(fresh.listening);
    RELEASED(fresh.listener);
    RELEASED(fresh.bound);
    RELEASED(fresh.connector);
}

void call_version_2(void)
{
    connect_both();
    make_fresh();
    send_one(false);
    call_adapter(active.adapter);
    call_makers(active.adapter, active.file);
    call_queues();
    call_memory();
    call_connector(fresh.connector, fresh.qp);
    call_connector(fresh.bound, fresh.qp);
    call_connector(active.connector, active.qp);
    call_listener(fresh.listener);
    call_listener(fresh.listening);
    if (now_wrong != READ_ONLY) /* such a list is empty, and posted */
        call_queue_pair(active.qp);
    call_windows(active.qp);
    send_one(now_wrong == LOW || now_wrong == FREED);
    send_one(false);
    step("CancelOverlappedRequests");
    require(VIRTUAL(active.cq, CancelOverlappedRequests) == ND_SUCCESS, "a cancel");
    release_fresh();
    step("Disconnect");
    require(nd2_end_disconnect(&active) == ND_SUCCESS, "Disconnect");
    step("Release of the active end");
    nd2_end_close(&active);
    step("Release of the passive end");
    nd2_end_close(&passive);
}
