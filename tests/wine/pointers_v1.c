/* SPDX-License-Identifier: MIT */
/* pointers_v1.c - the methods of version 1; see pointers.h. */
#include "tests/wine/pointers.h"

#define VIRTUAL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

/* Two connected ends, and objects of the active one's adapter in their first state. */
static struct nd1_end active, passive;
static INDConnector *fresh;
static INDListen *listening;
static INDMemoryWindow *window;

static DWORD WINAPI accept_one(VOID *unused)
{
    (void)unused;
    require(nd1_end_request(&passive) == ND_SUCCESS, "the request");
    require(nd1_end_accept(&passive) == ND_SUCCESS, "Accept");
    return 0;
}

static void connect_both(void)
{
    const struct nd1_end_options options = { .depth = 8, .memory_octets = 4096 };
    USHORT port_be;
    HANDLE thread;

    step("a connection of version 1");
    require(nd1_end_open(&active, &options) == ND_SUCCESS, "open");
    require(nd1_end_open(&passive, &options) == ND_SUCCESS, "open");
    require(nd1_end_listen(&passive, &port_be) == ND_SUCCESS, "Listen");
    thread = CreateThread(NULL, 0, accept_one, NULL, 0, NULL);
    require(nd1_end_connect(&active, port_be) == ND_SUCCESS, "Connect");
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

static void make_fresh(void)
{
    USHORT port_be;

    require(VIRTUAL(active.adapter, CreateConnector, &fresh) == ND_SUCCESS, "a connector");
    require(VIRTUAL(active.adapter, CreateMemoryWindow, NULL, &window) == ND_SUCCESS, "a window");
    require(VIRTUAL(active.adapter, Listen, 0, 6, 0, &port_be, &listening) == ND_SUCCESS, "Listen");
}

static void call_adapter(INDAdapter *adapter)
{
    OVERLAPPED *overlapped = nd_end_fresh(&active.overlapped, active.event);
    SIZE_T size = 4096;
    ND_MR_HANDLE region;
    INDMemoryWindow *made;
    USHORT port_be;
    VOID *out;

    WRONG(STORES, VIRTUAL(adapter, Query, ND_VERSION_1, P, &size));
    WRONG(STORES, VIRTUAL(adapter, Query, ND_VERSION_1, NULL, P));
    WRONG(STORES, VIRTUAL(adapter, CreateCompletionQueue, 8, P));
    WRONG(STORES, VIRTUAL(adapter, RegisterMemory, active.memory, 64, P, &region));
    WRONG(STORES, VIRTUAL(adapter, RegisterMemory, active.memory, 64, overlapped, P));
    if (now_wrong != READ_ONLY) /* that is registered for local reads */
        WRONG(READS, VIRTUAL(adapter, RegisterMemory, P, 64, overlapped, &region));
    WRONG(STORES, VIRTUAL(adapter, DeregisterMemory, active.mr, P));
    WRONG(STORES, VIRTUAL(adapter, GetOverlappedResult, P, &size, FALSE));
    WRONG(STORES, VIRTUAL(adapter, GetOverlappedResult, overlapped, P, FALSE));
    WRONG(STORES, VIRTUAL(adapter, CreateMemoryWindow, P, &made));
    WRONG(STORES, VIRTUAL(adapter, CreateMemoryWindow, NULL, P));
    WRONG(STORES, VIRTUAL(adapter, CreateConnector, P));
    WRONG(STORES_SHORT, VIRTUAL(adapter, Listen, 0, 6, 0, P, (INDListen **)&out));
    if (now_wrong == ENDS_EARLY) /* which had room for a port: a listener */
        ((IUnknown *)out)->lpVtbl->Release(out);
    WRONG(STORES, VIRTUAL(adapter, Listen, 0, 6, 0, &port_be, P));
    WRONG(READS, VIRTUAL(adapter, QueryInterface, P, &out));
    WRONG(STORES, VIRTUAL(adapter, QueryInterface, &IID_INDAdapter, P));
}

static void call_connector(INDConnector *connector, INDEndpoint *endpoint)
{
    struct sockaddr_in address = nd_end_address(0, htons(9));
    struct sockaddr *to = (struct sockaddr *)&address;
    OVERLAPPED *overlapped = nd_end_fresh(&active.overlapped, active.event);
    INDCompletionQueue *cq = active.cq;
    SIZE_T size = sizeof(address), other;
    INDEndpoint *made;

    WRONG(STORES, VIRTUAL(connector, CreateEndpoint, P, cq, 4, 4, 1, 1, 0, 0, NULL, &made));
    WRONG(STORES, VIRTUAL(connector, CreateEndpoint, cq, P, 4, 4, 1, 1, 0, 0, NULL, &made));
    WRONG(STORES, VIRTUAL(connector, CreateEndpoint, cq, cq, 4, 4, 1, 1, 0, 0, P, &made));
    WRONG(STORES, VIRTUAL(connector, CreateEndpoint, cq, cq, 4, 4, 1, 1, 0, 0, NULL, P));
    WRONG(STORES, VIRTUAL(connector, Connect, P, to, size, 6, 0, NULL, 0, overlapped));
    WRONG(READS, VIRTUAL(connector, Connect, endpoint, P, size, 6, 0, NULL, 0, overlapped));
    WRONG(READS, VIRTUAL(connector, Connect, endpoint, to, size, 6, 0, P, 8, overlapped));
    WRONG(STORES, VIRTUAL(connector, Connect, endpoint, to, size, 6, 0, NULL, 0, P));
    WRONG(STORES, VIRTUAL(connector, CompleteConnect, P));
    WRONG(STORES, VIRTUAL(connector, Accept, P, NULL, 0, overlapped));
    WRONG(READS, VIRTUAL(connector, Accept, endpoint, P, 8, overlapped));
    WRONG(STORES, VIRTUAL(connector, Accept, endpoint, NULL, 0, P));
    if (connector == fresh)
        WRONG(READS, VIRTUAL(connector, Reject, P, 8));
    WRONG(STORES, VIRTUAL(connector, GetConnectionData, P, &other, NULL, &other));
    WRONG(STORES, VIRTUAL(connector, GetConnectionData, &other, P, NULL, &other));
    size = 64;
    WRONG(STORES_SHORT, VIRTUAL(connector, GetConnectionData, &other, &other, P, &size));
    WRONG(STORES, VIRTUAL(connector, GetConnectionData, &other, &other, NULL, P));
    size = sizeof(address);
    WRONG(STORES_SHORT, VIRTUAL(connector, GetLocalAddress, P, &size));
    WRONG(STORES, VIRTUAL(connector, GetLocalAddress, NULL, P));
    WRONG(STORES_SHORT, VIRTUAL(connector, GetPeerAddress, P, &size));
    WRONG(STORES, VIRTUAL(connector, GetPeerAddress, NULL, P));
    WRONG(STORES, VIRTUAL(connector, NotifyDisconnect, P));
    WRONG(STORES, VIRTUAL(connector, Disconnect, P));
    WRONG(STORES, VIRTUAL(connector, GetOverlappedResult, P, &size, FALSE));
    WRONG(STORES, VIRTUAL(connector, GetOverlappedResult, overlapped, P, FALSE));
}

static void call_others(void)
{
    OVERLAPPED *overlapped = nd_end_fresh(&active.overlapped, active.event);
    SIZE_T size;

    WRONG(STORES, VIRTUAL(active.cq, Notify, ND_CQ_NOTIFY_ANY, P));
    WRONG(STORES, VIRTUAL(active.cq, GetOverlappedResult, P, &size, FALSE));
    WRONG(STORES, VIRTUAL(active.cq, GetOverlappedResult, overlapped, P, FALSE));
    WRONG(STORES, VIRTUAL(listening, GetConnectionRequest, P, overlapped));
    WRONG(STORES, VIRTUAL(listening, GetConnectionRequest, fresh, P));
    WRONG(STORES, VIRTUAL(listening, GetOverlappedResult, P, &size, FALSE));
}

/* The result of a request is written when it is fetched; the list, the descriptor and inline data are read. */
static void call_endpoint(INDEndpoint *endpoint)
{
    static ND_RESULT result;
    ND_SGE good = { active.memory, 8, active.mr }, entry = { P, 8, NULL };
    ND_SGE pair[2] = { { active.memory, 4, active.mr }, { P, 8, NULL } };
    ND_MW_DESCRIPTOR peer = { 0 };

    WRONG(STORES, VIRTUAL(endpoint, Send, P, &good, 1, 0));
    WRONG(STORES, VIRTUAL(endpoint, SendAndInvalidate, P, &good, 1, &peer, 0));
    WRONG(STORES, VIRTUAL(endpoint, Receive, P, &good, 1));
    WRONG(STORES, VIRTUAL(endpoint, Read, P, &good, 1, &peer, 0, 0));
    WRONG(STORES, VIRTUAL(endpoint, Write, P, &good, 1, &peer, 0, 0));
    WRONG(STORES, VIRTUAL(endpoint, Bind, P, active.mr, window, active.memory, 64, 0, &peer));
    WRONG(STORES, VIRTUAL(endpoint, Bind, &result, active.mr, P, active.memory, 64, 0, &peer));
    WRONG(STORES, VIRTUAL(endpoint, Bind, &result, active.mr, window, active.memory, 64, 0, P));
    WRONG(STORES, VIRTUAL(endpoint, Invalidate, P, window, 0));
    WRONG(STORES, VIRTUAL(endpoint, Invalidate, &result, P, 0));
    if (now_wrong == READ_ONLY) /* reads are right, and posted */
        return;
    WRONG(READS, VIRTUAL(endpoint, Send, &result, P, 1, 0));
    WRONG(READS, VIRTUAL(endpoint, Send, &result, P, 2, 0));
    WRONG(READS, VIRTUAL(endpoint, SendAndInvalidate, &result, P, 1, &peer, 0));
    WRONG(READS, VIRTUAL(endpoint, SendAndInvalidate, &result, &good, 1, P, 0));
    WRONG(READS, VIRTUAL(endpoint, Receive, &result, P, 1));
    WRONG(READS, VIRTUAL(endpoint, Read, &result, P, 1, &peer, 0, 0));
    WRONG(READS, VIRTUAL(endpoint, Read, &result, &good, 1, P, 0, 0));
    WRONG(READS, VIRTUAL(endpoint, Write, &result, P, 1, &peer, 0, 0));
    WRONG(READS, VIRTUAL(endpoint, Write, &result, &good, 1, P, 0, 0));
    WRONG(READS, VIRTUAL(endpoint, Send, &result, &entry, 1, 0));
    WRONG(READS, VIRTUAL(endpoint, Send, &result, pair, 2, 0));
}

static void fetch(struct nd1_end *end, const ND_RESULT *expected)
{
    ULONGLONG deadline = GetTickCount64() + ND_END_WAIT_MS;
    ND_RESULT *got = NULL;

    while (VIRTUAL(end->cq, GetResults, &got, 1) == 0)
        require(GetTickCount64() < deadline, "a result");
    require(got == expected, "whose result it is");
    require(got->Status == ND_SUCCESS, "its status");
}

/* wrong: its results go into a wrong array first: they are lost, and nothing else. */
static void send_one(bool wrong)
{
    static ND_RESULT received, sent;
    ND_RESULT *got;

    step("a message of version 1");
    require(nd1_end_receive(&passive, &received, 2048, 64) == ND_SUCCESS, "Receive");
    require(nd1_end_send(&active, &sent, 0, 64, 0) == ND_SUCCESS, "Send");
    fetch(&passive, &received);
    if (!wrong) {
        fetch(&active, &sent);
        return;
    }
    step("GetResults into a wrong array");
    require(VIRTUAL(active.cq, GetResults, P, 4) == 0, "GetResults");
    VIRTUAL(active.cq, GetResults, &got, 1);
}

static void release(IUnknown *object, const char *what)
{
    step(what);
    VIRTUAL(object, Release);
}

void call_version_1(void)
{
    connect_both();
    make_fresh();
    send_one(false);
    call_adapter(active.adapter);
    call_connector(fresh, active.endpoint);
    call_connector(active.connector, active.endpoint);
    call_others();
    call_endpoint(active.endpoint);
    send_one(now_wrong != READ_ONLY);
    send_one(false);
    step("CancelOverlappedRequests");
    require(VIRTUAL(active.cq, CancelOverlappedRequests) == ND_SUCCESS, "a cancel");
    release((IUnknown *)window, "Release of the window");
    release((IUnknown *)listening, "Release of the listener");
    release((IUnknown *)fresh, "Release of the connector");
    step("Disconnect");
    require(nd1_end_disconnect(&active) == ND_SUCCESS, "Disconnect");
    step("Release of the active end");
    nd1_end_close(&active);
    step("Release of the passive end");
    nd1_end_close(&passive);
}
