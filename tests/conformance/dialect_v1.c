/* SPDX-License-Identifier: MIT */
/*
 * dialect_v1.c - the test verbs over version 1.
 *
 * Every request has a record of its own, as clients of version 1 have: an ND_RESULT with what the client knows of the
 * request behind it. Results are recognised by their address alone. What each result must be is checked here, for all
 * rows: posted once, delivered once, its length the message's, no length after a failure, nothing beyond the count.
 */
#include "fixture.h"

#define BORN(node)                                                                                 \
    {                                                                                              \
        .lpVtbl = &dialect_v1, .node = (node)                                                      \
    }
#define PROTOCOL     123 /* not looked at */
#define POOL_RECORDS 40000
#define POISON       0xA5

enum { UNUSED, POSTED, DELIVERED, REFUSED };

struct request {
    ND_RESULT result;
    void *context, *qp_context;
    ND2_REQUEST_TYPE type;
    SIZE_T length; /* of all entries */
    volatile LONG state;
};

static struct request *pool;
static volatile LONG pool_used;
/* This thread's last request that was refused: rows may try a full queue for long. Rows end on the main thread, and the
 * others with them. */
static __thread struct request *spare;

void dialect_v1_row_end(void)
{
    free(pool);
    spare = NULL;
    pool = NULL;
    pool_used = 0;
}

static struct request *new_request(struct qp *qp, ND2_REQUEST_TYPE type, void *context)
{
    struct request *request = spare;
    spare = NULL;
    if (!request) {
        LONG index = InterlockedIncrement(&pool_used) - 1;
        if (index >= POOL_RECORDS) {
            fprintf(stderr, "%s posts more than %d requests\n", harness_row_name(), POOL_RECORDS);
            abort();
        }
        request = &pool[index];
    }
    memset(&request->result, POISON, sizeof(request->result));
    request->context = context;
    request->qp_context = qp->context;
    request->type = type;
    request->length = 0;
    InterlockedExchange(&request->state, POSTED);
    return request;
}

/* Returns hr, noting that a request which was refused must not get a result. */
static HRESULT posted(struct request *request, HRESULT hr)
{
    if (FAILED(hr) && InterlockedExchange(&request->state, REFUSED) != POSTED)
        breach("a request that was refused with %s has got a result", status_name(hr));
    if (FAILED(hr))
        spare = request;
    return hr;
}

/* Adapters */

static ULONG small(SIZE_T value)
{
    return value > 0xFFFFFFFFu ? 0xFFFFFFFFu : (ULONG)value;
}

static void limits_of(const ND_ADAPTER_INFO1 *from, ND2_ADAPTER_INFO *to)
{
    SIZE_T in = from->MaxInboundLength, out = from->MaxOutboundLength;
    memset(to, 0, sizeof(*to));
    to->MaxRegistrationSize = from->MaxRegistrationSize;
    to->MaxWindowSize = from->MaxWindowSize;
    to->MaxInitiatorSge = small(from->MaxOutboundSge);
    to->MaxReceiveSge = small(from->MaxInboundSge);
    to->MaxReadSge = small(from->MaxOutboundSge);
    to->MaxTransferLength = small(in < out ? in : out);
    to->MaxInlineDataSize = small(from->MaxInlineData);
    to->MaxInboundReadLimit = small(from->MaxInboundReadLimit);
    to->MaxOutboundReadLimit = small(from->MaxOutboundReadLimit);
    to->MaxReceiveQueueDepth = small(from->MaxInboundRequests);
    to->MaxInitiatorQueueDepth = small(from->MaxOutboundRequests);
    to->MaxCompletionQueueDepth = small(from->MaxCqEntries);
    to->LargeRequestThreshold = small(from->LargeRequestThreshold);
    to->MaxCallerData = small(from->MaxCallerData);
    to->MaxCalleeData = small(from->MaxCalleeData);
    to->AdapterFlags = ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED; /* there are no flags to ask */
}

static HRESULT v1_OpenAdapter(const struct address *address, struct node *node)
{
    ND_ADAPTER_INFO1 info;
    SIZE_T size = sizeof(info);
    *node = (struct node)BORN(node);
    if (!pool && !(pool = calloc(POOL_RECORDS, sizeof(*pool))))
        return ND_NO_MEMORY;
    HRESULT hr = NdOpenV1Adapter(&address->any, address->length, &node->v1);
    if (FAILED(hr))
        return hr;
    hr = CALL(node->v1, Query, 1, &info, &size);
    if (FAILED(hr)) {
        CALL(node->v1, Release);
        node->v1 = NULL;
        return hr;
    }
    limits_of(&info, &node->info);
    node->file = CALL(node->v1, GetFileHandle);
    return hr;
}

static HRESULT v1_CreateCompletionQueue(struct node *node, ULONG depth, struct cq *cq)
{
    *cq = (struct cq)BORN(node);
    return CALL(node->v1, CreateCompletionQueue, depth, &cq->v1);
}

static HRESULT v1_CreateQueuePair(struct node *node, const struct qp_options *o, struct qp *qp)
{
    INDConnector *maker = o->connector ? o->connector->v1 : NULL;
    SIZE_T inline_bytes = 0;
    HRESULT hr = ND_SUCCESS;
    *qp = (struct qp)BORN(node);
    qp->context = o->context;
    if (!maker)
        hr = CALL(node->v1, CreateConnector, &maker);
    if (SUCCEEDED(hr))
        hr = CALL(maker, CreateEndpoint, o->receive_cq->v1, o->initiator_cq->v1, o->receive_depth,
            o->initiator_depth, o->receive_sge, o->initiator_sge, o->inbound_reads,
            o->outbound_reads, &inline_bytes, &qp->v1);
    if (maker && !o->connector)
        CALL(maker, Release);
    qp->inline_bytes = small(inline_bytes);
    return hr;
}

static HRESULT v1_CreateMemoryRegion(struct node *node, struct mr *mr)
{
    *mr = (struct mr)BORN(node);
    mr->v1 = node->v1;
    return ND_SUCCESS;
}

static HRESULT v1_CreateMemoryWindow(struct node *node, struct mw *mw)
{
    *mw = (struct mw)BORN(node);
    return CALL(node->v1, CreateMemoryWindow, NULL, &mw->v1);
}

static HRESULT v1_CreateConnector(struct node *node, struct connector *connector)
{
    *connector = (struct connector)BORN(node);
    return CALL(node->v1, CreateConnector, &connector->v1);
}

static HRESULT v1_Listen(struct node *node, const struct address *address, ULONG backlog,
    struct address *at, struct listener *listener)
{
    USHORT port = 0;
    *listener = (struct listener)BORN(node);
    HRESULT hr = CALL(
        node->v1, Listen, backlog, PROTOCOL, htons((USHORT)port_of(address)), &port, &listener->v1);
    *at = with_port(*address, ntohs(port));
    return hr;
}

/* Overlapped requests */

static HRESULT v1_CancelOverlappedRequests(any_object any)
{
    return CALL(any.object->v1, CancelOverlappedRequests);
}

static HRESULT v1_GetOverlappedResult(any_object any, OVERLAPPED *overlapped, BOOL wait)
{
    SIZE_T bytes = (SIZE_T)-1;
    HRESULT hr = CALL(any.object->v1, GetOverlappedResult, overlapped, &bytes, wait);
    if (hr != ND_PENDING && bytes != 0)
        breach("GetOverlappedResult told a length of %llu", (unsigned long long)bytes);
    return hr;
}

/* Completion queues */

static HRESULT v1_Resize(struct cq *cq, ULONG depth)
{
    return CALL(cq->v1, Resize, depth);
}

static HRESULT v1_Notify(struct cq *cq, ULONG type, OVERLAPPED *overlapped)
{
    return CALL(cq->v1, Notify, type, overlapped);
}

static void deliver(ND_RESULT *from, ND2_RESULT *to)
{
    struct request *request = (struct request *)from;
    memset(to, 0, sizeof(*to));
    if (!pool || request < pool || request >= pool + POOL_RECORDS ||
        ((uintptr_t)request - (uintptr_t)pool) % sizeof(*pool) != 0) {
        breach("GetResults told %p, which nobody posted", (void *)from);
        return;
    }
    if (InterlockedExchange(&request->state, DELIVERED) != POSTED)
        breach("a %s was delivered twice, or after it was refused", type_name(request->type));
    SIZE_T bytes = from->BytesTransferred;
    if (from->Status != ND_SUCCESS && bytes != 0)
        breach("a %s that failed with %s told %llu octets", type_name(request->type),
            status_name(from->Status), (unsigned long long)bytes);
    if (from->Status == ND_SUCCESS &&
        (request->type == Nd2RequestTypeReceive ? bytes > request->length
                                                : bytes != request->length))
        breach("a %s of %llu octets told %llu", type_name(request->type),
            (unsigned long long)request->length, (unsigned long long)bytes);
    to->Status = from->Status;
    to->BytesTransferred = (ULONG)bytes;
    to->QueuePairContext = request->qp_context;
    to->RequestContext = request->context;
    to->RequestType = request->type;
}

static ULONG v1_GetResults(struct cq *cq, ND2_RESULT *results, ULONG room)
{
    ND_RESULT *taken[VERB_ENTRIES + 1], untouched;
    if (room > VERB_ENTRIES)
        room = VERB_ENTRIES;
    for (ULONG i = 0; i <= room; i++)
        taken[i] = &untouched;
    SIZE_T n = CALL(cq->v1, GetResults, taken, room);
    for (SIZE_T i = n; i <= room; i++)
        if (taken[i] != &untouched)
            breach("GetResults stored more than it told");
    if (n > room) {
        breach("GetResults told more than there was room for");
        n = room;
    }
    for (SIZE_T i = 0; i < n; i++)
        deliver(taken[i], &results[i]);
    return (ULONG)n;
}

/* Memory */

static HRESULT v1_Register(
    struct mr *mr, const void *bytes, SIZE_T length, ULONG flags, OVERLAPPED *overlapped)
{
    (void)flags; /* local access always, remote access by windows */
    return CALL(mr->v1, RegisterMemory, bytes, length, overlapped, &mr->handle);
}

static HRESULT v1_Deregister(struct mr *mr, OVERLAPPED *overlapped)
{
    return CALL(mr->v1, DeregisterMemory, mr->handle, overlapped);
}

static uintptr_t v1_GetLocalToken(struct mr *mr)
{
    return (uintptr_t)mr->handle;
}

static UINT32 v1_GetRemoteToken(struct mw *mw)
{
    return mw->descriptor.Token;
}

/* Requests */

/* The entries as the interface takes them; worthless after the call. */
static SIZE_T convert(const struct sge *sge, ULONG count, ULONG flags, ND_SGE *entries)
{
    SIZE_T length = 0;
    for (ULONG i = 0; i < count; i++) {
        bool by_value = flags & ND_OP_FLAG_INLINE;
        entries[i] = (ND_SGE){ sge[i].Buffer, sge[i].BufferLength,
            by_value ? NULL : (ND_MR_HANDLE)sge[i].MemoryRegionToken };
        length += sge[i].BufferLength;
    }
    return length;
}

#define WITH_ENTRIES(qp, kind, context, sge, count, flags, call)                                   \
    do {                                                                                           \
        ND_SGE entries[VERB_ENTRIES];                                                              \
        if ((count) > VERB_ENTRIES)                                                                \
            return E_NOTIMPL;                                                                      \
        struct request *request = new_request(qp, kind, context);                                  \
        request->length = convert(sge, count, flags, entries);                                     \
        const ND_SGE *list = (sge) ? entries : NULL;                                               \
        ND_RESULT *result = &request->result;                                                      \
        HRESULT hr_ = (call);                                                                      \
        memset(entries, 0xEE, (count) * sizeof(entries[0]));                                       \
        return posted(request, hr_);                                                               \
    } while (0)

static HRESULT v1_Flush(struct qp *qp)
{
    return CALL(qp->v1, Flush);
}

static HRESULT v1_Send(
    struct qp *qp, void *context, const struct sge *sge, ULONG count, ULONG flags)
{
    WITH_ENTRIES(qp, Nd2RequestTypeSend, context, sge, count, flags,
        CALL(qp->v1, Send, result, list, count, flags & ~(DWORD)ND_OP_FLAG_INLINE));
}

static HRESULT v1_Receive(struct qp *qp, void *context, const struct sge *sge, ULONG count)
{
    WITH_ENTRIES(qp, Nd2RequestTypeReceive, context, sge, count, 0,
        CALL(qp->v1, Receive, result, list, count));
}

static HRESULT v1_Bind(struct qp *qp, void *context, struct mr *mr, struct mw *mw,
    const void *bytes, SIZE_T length, ULONG flags)
{
    struct request *request = new_request(qp, Nd2RequestTypeBind, context);
    ND_MW_DESCRIPTOR descriptor;
    HRESULT hr =
        CALL(qp->v1, Bind, &request->result, mr->handle, mw->v1, bytes, length, flags, &descriptor);
    if (hr == ND_SUCCESS)
        mw->descriptor = descriptor;
    return posted(request, hr);
}

static HRESULT v1_Invalidate(struct qp *qp, void *context, struct mw *mw, ULONG flags)
{
    struct request *request = new_request(qp, Nd2RequestTypeInvalidate, context);
    return posted(request, CALL(qp->v1, Invalidate, &request->result, mw->v1, flags));
}

static UINT64 network_order(UINT64 value)
{
    UINT64 out;
    BYTE octets[8];
    for (int i = 0; i < 8; i++)
        octets[i] = (BYTE)(value >> (56 - 8 * i));
    memcpy(&out, octets, 8);
    return out;
}

/* A descriptor is data: builds one that begins a little before the intended place, and ends with it. */
#define BEFORE(remote) ((remote) < 64 ? (remote) : 64)
static ND_MW_DESCRIPTOR describe(UINT64 remote, UINT32 token, const struct sge *sge, ULONG count)
{
    UINT64 before = BEFORE(remote), length = before;
    for (ULONG i = 0; i < count; i++)
        length += sge[i].BufferLength;
    return (ND_MW_DESCRIPTOR){ network_order(remote - before), network_order(length), token };
}

static HRESULT v1_Read(struct qp *qp, void *context, const struct sge *sge, ULONG count,
    UINT64 remote, UINT32 token, ULONG flags)
{
    ND_MW_DESCRIPTOR there = describe(remote, token, sge, count);
    WITH_ENTRIES(qp, Nd2RequestTypeRead, context, sge, count, flags,
        CALL(qp->v1, Read, result, list, count, &there, BEFORE(remote), flags));
}

static HRESULT v1_Write(struct qp *qp, void *context, const struct sge *sge, ULONG count,
    UINT64 remote, UINT32 token, ULONG flags)
{
    ND_MW_DESCRIPTOR there = describe(remote, token, sge, count);
    WITH_ENTRIES(qp, Nd2RequestTypeWrite, context, sge, count, flags,
        CALL(qp->v1, Write, result, list, count, &there, BEFORE(remote),
            flags & ~(DWORD)ND_OP_FLAG_INLINE));
}

/* Connectors */

static HRESULT v1_Connect(struct connector *connector, struct qp *qp,
    const struct sockaddr *address, ULONG length, ULONG inbound_reads, ULONG outbound_reads,
    const void *data, ULONG data_length, OVERLAPPED *overlapped)
{
    (void)inbound_reads, (void)outbound_reads; /* of CreateEndpoint */
    return CALL(connector->v1, Connect, qp->v1, address, length, PROTOCOL, connector->local_port,
        data, data_length, overlapped);
}

static HRESULT v1_CompleteConnect(struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(connector->v1, CompleteConnect, overlapped);
}

static HRESULT v1_Accept(struct connector *connector, struct qp *qp, ULONG inbound_reads,
    ULONG outbound_reads, const void *data, ULONG data_length, OVERLAPPED *overlapped)
{
    (void)inbound_reads, (void)outbound_reads;
    return CALL(connector->v1, Accept, qp->v1, data, data_length, overlapped);
}

static HRESULT v1_Reject(struct connector *connector, const void *data, ULONG length)
{
    return CALL(connector->v1, Reject, data, length);
}

static HRESULT v1_GetReadLimits(struct connector *connector, ULONG *inbound, ULONG *outbound)
{
    SIZE_T in = 0, out = 0;
    HRESULT hr = CALL(
        connector->v1, GetConnectionData, inbound ? &in : NULL, outbound ? &out : NULL, NULL, NULL);
    if (inbound)
        *inbound = small(in);
    if (outbound)
        *outbound = small(out);
    return hr;
}

static HRESULT v1_GetPrivateData(struct connector *connector, void *data, ULONG *length)
{
    SIZE_T size = *length;
    HRESULT hr = CALL(connector->v1, GetConnectionData, NULL, NULL, data, &size);
    *length = small(size);
    return hr;
}

static HRESULT v1_GetLocalAddress(
    struct connector *connector, struct sockaddr *address, ULONG *length)
{
    SIZE_T size = *length;
    HRESULT hr = CALL(connector->v1, GetLocalAddress, address, &size);
    *length = small(size);
    return hr;
}

static HRESULT v1_GetPeerAddress(
    struct connector *connector, struct sockaddr *address, ULONG *length)
{
    SIZE_T size = *length;
    HRESULT hr = CALL(connector->v1, GetPeerAddress, address, &size);
    *length = small(size);
    return hr;
}

static HRESULT v1_NotifyDisconnect(struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(connector->v1, NotifyDisconnect, overlapped);
}

static HRESULT v1_Disconnect(struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(connector->v1, Disconnect, overlapped);
}

static HRESULT v1_GetConnectionRequest(
    struct listener *listener, struct connector *connector, OVERLAPPED *overlapped)
{
    return CALL(listener->v1, GetConnectionRequest, connector->v1, overlapped);
}

const struct dialect dialect_v1 = {
    .name = "v1",
    .OpenAdapter = v1_OpenAdapter,
    .CreateCompletionQueue = v1_CreateCompletionQueue,
    .CreateQueuePair = v1_CreateQueuePair,
    .CreateMemoryRegion = v1_CreateMemoryRegion,
    .CreateMemoryWindow = v1_CreateMemoryWindow,
    .CreateConnector = v1_CreateConnector,
    .Listen = v1_Listen,
    .CancelOverlappedRequests = v1_CancelOverlappedRequests,
    .GetOverlappedResult = v1_GetOverlappedResult,
    .Resize = v1_Resize,
    .Notify = v1_Notify,
    .GetResults = v1_GetResults,
    .Register = v1_Register,
    .Deregister = v1_Deregister,
    .GetLocalToken = v1_GetLocalToken,
    .GetRemoteToken = v1_GetRemoteToken,
    .Flush = v1_Flush,
    .Send = v1_Send,
    .Receive = v1_Receive,
    .Bind = v1_Bind,
    .Invalidate = v1_Invalidate,
    .Read = v1_Read,
    .Write = v1_Write,
    .Connect = v1_Connect,
    .CompleteConnect = v1_CompleteConnect,
    .Accept = v1_Accept,
    .Reject = v1_Reject,
    .GetReadLimits = v1_GetReadLimits,
    .GetPrivateData = v1_GetPrivateData,
    .GetLocalAddress = v1_GetLocalAddress,
    .GetPeerAddress = v1_GetPeerAddress,
    .NotifyDisconnect = v1_NotifyDisconnect,
    .Disconnect = v1_Disconnect,
    .GetConnectionRequest = v1_GetConnectionRequest,
};
