/* SPDX-License-Identifier: MIT */
/*
 * dialect_v2.c - the test verbs over version 2: each is the method of its name.
 */
#include "fixture.h"

#define BORN(node)                                                                                 \
    {                                                                                              \
        .lpVtbl = &dialect_v2, .node = (node)                                                      \
    }

static HRESULT v2_OpenAdapter(const struct address *address, struct node *node)
{
    ULONG size = sizeof(node->info);
    *node = (struct node)BORN(node);
    HRESULT hr =
        NdOpenAdapter(&IID_IND2Adapter, &address->any, address->length, (void **)&node->v2);
    if (FAILED(hr))
        return hr;
    node->info.InfoVersion = ND_VERSION_2;
    hr = CALL(node->v2, Query, &node->info, &size);
    if (SUCCEEDED(hr))
        hr = CALL(node->v2, CreateOverlappedFile, &node->file);
    if (FAILED(hr)) {
        CALL(node->v2, Release);
        node->v2 = NULL;
    }
    return hr;
}

static HRESULT v2_CreateCompletionQueue(struct node *node, ULONG depth, struct cq *cq)
{
    *cq = (struct cq)BORN(node);
    return CALL(node->v2, CreateCompletionQueue, &IID_IND2CompletionQueue, node->file, depth, 0, 0,
        (void **)&cq->v2);
}

static HRESULT v2_CreateQueuePair(struct node *node, const struct qp_options *o, struct qp *qp)
{
    IUnknown *receive = o->receive_cq->unknown, *initiator = o->initiator_cq->unknown;
    *qp = (struct qp)BORN(node);
    qp->context = o->context;
    qp->inline_bytes = o->inline_bytes;
    if (o->srq)
        return CALL(node->v2, CreateQueuePairWithSrq, &IID_IND2QueuePair, receive, initiator,
            o->srq->unknown, o->context, o->initiator_depth, o->initiator_sge, o->inline_bytes,
            (void **)&qp->v2);
    return CALL(node->v2, CreateQueuePair, &IID_IND2QueuePair, receive, initiator, o->context,
        o->receive_depth, o->initiator_depth, o->receive_sge, o->initiator_sge, o->inline_bytes,
        (void **)&qp->v2);
}

static HRESULT v2_CreateMemoryRegion(struct node *node, struct mr *mr)
{
    *mr = (struct mr)BORN(node);
    return CALL(node->v2, CreateMemoryRegion, &IID_IND2MemoryRegion, node->file, (void **)&mr->v2);
}

static HRESULT v2_CreateMemoryWindow(struct node *node, struct mw *mw)
{
    *mw = (struct mw)BORN(node);
    return CALL(node->v2, CreateMemoryWindow, &IID_IND2MemoryWindow, (void **)&mw->v2);
}

static HRESULT v2_CreateConnector(struct node *node, struct connector *connector)
{
    *connector = (struct connector)BORN(node);
    return CALL(node->v2, CreateConnector, &IID_IND2Connector, node->file, (void **)&connector->v2);
}

static HRESULT v2_Listen(struct node *node, const struct address *address, ULONG backlog,
    struct address *at, struct listener *listener)
{
    *listener = (struct listener)BORN(node);
    HRESULT hr =
        CALL(node->v2, CreateListener, &IID_IND2Listener, node->file, (void **)&listener->v2);
    if (FAILED(hr))
        return hr;
    hr = CALL(listener->v2, Bind, &address->any, address->length);
    if (SUCCEEDED(hr))
        hr = CALL(listener->v2, Listen, backlog);
    memset(at, 0, sizeof(*at));
    at->length = sizeof(at->v6);
    if (SUCCEEDED(hr))
        hr = CALL(listener->v2, GetLocalAddress, &at->any, &at->length);
    if (FAILED(hr)) {
        CALL(listener->v2, Release);
        listener->v2 = NULL;
    }
    return hr;
}

/* Overlapped requests */

static HRESULT v2_CancelOverlappedRequests(any_object any)
{
    return CALL(any.object->v2, CancelOverlappedRequests);
}

static HRESULT v2_GetOverlappedResult(any_object any, OVERLAPPED *overlapped, BOOL wait)
{
    return CALL(any.object->v2, GetOverlappedResult, overlapped, wait);
}

/* Completion queues */

static HRESULT v2_Resize(struct cq *cq, ULONG depth)
{
    return CALL(cq->v2, Resize, depth);
}

static HRESULT v2_Notify(struct cq *cq, ULONG type, OVERLAPPED *overlapped)
{
    return CALL(cq->v2, Notify, type, overlapped);
}

static ULONG v2_GetResults(struct cq *cq, ND2_RESULT *results, ULONG room)
{
    return CALL(cq->v2, GetResults, results, room);
}

/* Memory */

static HRESULT v2_Register(
    struct mr *mr, const void *bytes, SIZE_T length, ULONG flags, OVERLAPPED *overlapped)
{
    return CALL(mr->v2, Register, bytes, length, flags, overlapped);
}

static HRESULT v2_Deregister(struct mr *mr, OVERLAPPED *overlapped)
{
    return CALL(mr->v2, Deregister, overlapped);
}

static uintptr_t v2_GetLocalToken(struct mr *mr)
{
    return CALL(mr->v2, GetLocalToken);
}

static UINT32 v2_GetRemoteToken(struct mw *mw)
{
    return CALL(mw->v2, GetRemoteToken);
}

/* Requests */

/* The entries as the interface takes them, in a copy that is worthless after the call. */
#define WITH_ENTRIES(sge, count, call)                                                             \
    do {                                                                                           \
        ND2_SGE entries[VERB_ENTRIES];                                                             \
        if ((count) > VERB_ENTRIES)                                                                \
            return E_NOTIMPL;                                                                      \
        for (ULONG i_ = 0; i_ < (count); i_++)                                                     \
            entries[i_] = (ND2_SGE){ (sge)[i_].Buffer, (sge)[i_].BufferLength,                     \
                (UINT32)(sge)[i_].MemoryRegionToken };                                             \
        const ND2_SGE *list = (sge) ? entries : NULL;                                              \
        HRESULT hr_ = (call);                                                                      \
        memset(entries, 0xEE, (count) * sizeof(entries[0]));                                       \
        return hr_;                                                                                \
    } while (0)

static HRESULT v2_Flush(struct qp *qp)
{
    return CALL(qp->v2, Flush);
}

static HRESULT v2_Send(
    struct qp *qp, void *context, const struct sge *sge, ULONG count, ULONG flags)
{
    WITH_ENTRIES(sge, count, CALL(qp->v2, Send, context, list, count, flags));
}

static HRESULT v2_Receive(struct qp *qp, void *context, const struct sge *sge, ULONG count)
{
    WITH_ENTRIES(sge, count, CALL(qp->v2, Receive, context, list, count));
}

static HRESULT v2_Bind(struct qp *qp, void *context, struct mr *mr, struct mw *mw,
    const void *bytes, SIZE_T length, ULONG flags)
{
    return CALL(qp->v2, Bind, context, mr->unknown, mw->unknown, bytes, length, flags);
}

static HRESULT v2_Invalidate(struct qp *qp, void *context, struct mw *mw, ULONG flags)
{
    return CALL(qp->v2, Invalidate, context, mw->unknown, flags);
}

static HRESULT v2_Read(struct qp *qp, void *context, const struct sge *sge, ULONG count,
    UINT64 remote, UINT32 token, ULONG flags)
{
    WITH_ENTRIES(sge, count, CALL(qp->v2, Read, context, list, count, remote, token, flags));
}

static HRESULT v2_Write(struct qp *qp, void *context, const struct sge *sge, ULONG count,
    UINT64 remote, UINT32 token, ULONG flags)
{
    WITH_ENTRIES(sge, count, CALL(qp->v2, Write, context, list, count, remote, token, flags));
}

/* Connectors */

static HRESULT v2_Connect(struct connector *connector, struct qp *qp,
    const struct sockaddr *address, ULONG length, ULONG inbound_reads, ULONG outbound_reads,
    const void *data, ULONG data_length, OVERLAPPED *overlapped)
{
    return CALL(connector->v2, Connect, qp->unknown, address, length, inbound_reads, outbound_reads,
        data, data_length, overlapped);
}

static HRESULT v2_CompleteConnect(struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(connector->v2, CompleteConnect, overlapped);
}

static HRESULT v2_Accept(struct connector *connector, struct qp *qp, ULONG inbound_reads,
    ULONG outbound_reads, const void *data, ULONG data_length, OVERLAPPED *overlapped)
{
    return CALL(connector->v2, Accept, qp->unknown, inbound_reads, outbound_reads, data,
        data_length, overlapped);
}

static HRESULT v2_Reject(struct connector *connector, const void *data, ULONG length)
{
    return CALL(connector->v2, Reject, data, length);
}

static HRESULT v2_GetReadLimits(struct connector *connector, ULONG *inbound, ULONG *outbound)
{
    return CALL(connector->v2, GetReadLimits, inbound, outbound);
}

static HRESULT v2_GetPrivateData(struct connector *connector, void *data, ULONG *length)
{
    return CALL(connector->v2, GetPrivateData, data, length);
}

static HRESULT v2_GetLocalAddress(
    struct connector *connector, struct sockaddr *address, ULONG *length)
{
    return CALL(connector->v2, GetLocalAddress, address, length);
}

static HRESULT v2_GetPeerAddress(
    struct connector *connector, struct sockaddr *address, ULONG *length)
{
    return CALL(connector->v2, GetPeerAddress, address, length);
}

static HRESULT v2_NotifyDisconnect(struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(connector->v2, NotifyDisconnect, overlapped);
}

static HRESULT v2_Disconnect(struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(connector->v2, Disconnect, overlapped);
}

static HRESULT v2_GetConnectionRequest(
    struct listener *listener, struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(listener->v2, GetConnectionRequest, connector->unknown, overlapped);
}

const struct dialect dialect_v2 = {
    .name = "v2",
    .OpenAdapter = v2_OpenAdapter,
    .CreateCompletionQueue = v2_CreateCompletionQueue,
    .CreateQueuePair = v2_CreateQueuePair,
    .CreateMemoryRegion = v2_CreateMemoryRegion,
    .CreateMemoryWindow = v2_CreateMemoryWindow,
    .CreateConnector = v2_CreateConnector,
    .Listen = v2_Listen,
    .CancelOverlappedRequests = v2_CancelOverlappedRequests,
    .GetOverlappedResult = v2_GetOverlappedResult,
    .Resize = v2_Resize,
    .Notify = v2_Notify,
    .GetResults = v2_GetResults,
    .Register = v2_Register,
    .Deregister = v2_Deregister,
    .GetLocalToken = v2_GetLocalToken,
    .GetRemoteToken = v2_GetRemoteToken,
    .Flush = v2_Flush,
    .Send = v2_Send,
    .Receive = v2_Receive,
    .Bind = v2_Bind,
    .Invalidate = v2_Invalidate,
    .Read = v2_Read,
    .Write = v2_Write,
    .Connect = v2_Connect,
    .CompleteConnect = v2_CompleteConnect,
    .Accept = v2_Accept,
    .Reject = v2_Reject,
    .GetReadLimits = v2_GetReadLimits,
    .GetPrivateData = v2_GetPrivateData,
    .GetLocalAddress = v2_GetLocalAddress,
    .GetPeerAddress = v2_GetPeerAddress,
    .NotifyDisconnect = v2_NotifyDisconnect,
    .Disconnect = v2_Disconnect,
    .GetConnectionRequest = v2_GetConnectionRequest,
};
