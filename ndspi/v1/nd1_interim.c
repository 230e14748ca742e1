/* SPDX-License-Identifier: MIT */
/*
 * nd1_interim.c - completion queue and endpoint as far as connections need them, until nd1_cq.c, nd1_endpoint.c, nd1_mw.c
 * and nd1_memory.c are there. Whatever posts or registers says ND_NOT_SUPPORTED.
 */
#include "ndspi/core/cq.h"
#include "ndspi/core/mw.h"
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

struct nd1_cq {
    INDCompletionQueue INDCompletionQueue_iface;
    atomic_uint refs;
    struct nd_cq core;
};

struct nd1_endpoint {
    INDEndpoint INDEndpoint_iface;
    atomic_uint refs;
    struct nd1_connector *connector;
    struct nd_qp core;
};

const IID nd1_iid_cq = { 0x6e1f2a61, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };
const IID nd1_iid_endpoint = { 0x6e1f2a65, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

#define iids cq_iids
static const IID *const iids[] = { &IID_IUnknown, &IID_INDOverlapped, &IID_INDCompletionQueue,
    &nd1_iid_cq, NULL };
ND_COM_CORE(nd1_cq, nd_cq);
ND_COM_UNKNOWN(nd1_cq, INDCompletionQueue);
ND1_OVERLAPPED(nd1_cq, INDCompletionQueue, nd_cq);
ND1_REACH(cq, INDCompletionQueue, nd_cq);
#undef iids

static HRESULT STDMETHODCALLTYPE nd1_cq_Resize(INDCompletionQueue *iface, SIZE_T entries)
{
    (void)iface;
    (void)entries;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_cq_Notify(
    INDCompletionQueue *iface, DWORD type, OVERLAPPED *overlapped)
{
    return nd_cq_notify(&impl_from_INDCompletionQueue(iface)->core, type, overlapped);
}

/* Nothing can be posted. */
static SIZE_T STDMETHODCALLTYPE nd1_cq_GetResults(
    INDCompletionQueue *iface, ND_RESULT *results[], SIZE_T room)
{
    (void)iface;
    (void)results;
    (void)room;
    return 0;
}

static const INDCompletionQueueVtbl nd1_cq_vtbl = {
    ND_COM_UNKNOWN_SLOTS(nd1_cq),
    ND_COM_OVERLAPPED_SLOTS(nd1_cq),
    .Resize = nd1_cq_Resize,
    .Notify = nd1_cq_Notify,
    .GetResults = nd1_cq_GetResults,
};

HRESULT nd1_cq_create(struct nd1_adapter *adapter, SIZE_T entries, INDCompletionQueue **out)
{
    HRESULT status = nd1_begin_create(adapter, (void **)out);
    struct nd1_cq *cq;

    if (FAILED(status))
        return status;
    if (!entries || entries > adapter->core.limits.max_cq_depth)
        return ND_INVALID_PARAMETER;
    if (!(cq = nd_object_alloc(sizeof(*cq))))
        return ND_NO_MEMORY;
    status =
        nd_cq_init(&cq->core, &adapter->core, adapter->file, (uint32_t)entries, 0, nd1_cq_destroy);
    if (FAILED(status)) {
        free(cq);
        return status;
    }
    cq->INDCompletionQueue_iface.lpVtbl = &nd1_cq_vtbl;
    atomic_init(&cq->refs, 1);
    *out = &cq->INDCompletionQueue_iface;
    return ND_SUCCESS;
}

#define iids endpoint_iids
static const IID *const iids[] = { &IID_IUnknown, &IID_INDEndpoint, &nd1_iid_endpoint, NULL };

static void nd1_endpoint_close(struct nd1_endpoint *endpoint)
{
    struct nd1_connector *connector = endpoint->connector;

    nd_qp_close(&endpoint->core);
    nd1_connector_let_go(connector);
}

static void nd1_endpoint_destroy(struct nd_object *object)
{
    struct nd_qp *core = (struct nd_qp *)object;

    nd_qp_fini(core);
    free(container_of(core, struct nd1_endpoint, core));
}

ND_COM_UNKNOWN(nd1_endpoint, INDEndpoint);
ND1_REACH(endpoint, INDEndpoint, nd_qp);

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Flush(INDEndpoint *iface)
{
    return nd_qp_flush(&impl_from_INDEndpoint(iface)->core);
}

static void STDMETHODCALLTYPE nd1_endpoint_Batch(INDEndpoint *iface)
{
    (void)iface;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Send(
    INDEndpoint *iface, ND_RESULT *result, const ND_SGE *sge, SIZE_T n, DWORD flags)
{
    (void)iface, (void)result, (void)sge, (void)n, (void)flags;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_SendAndInvalidate(INDEndpoint *iface,
    ND_RESULT *result, const ND_SGE *sge, SIZE_T n, const ND_MW_DESCRIPTOR *remote, DWORD flags)
{
    (void)iface, (void)result, (void)sge, (void)n, (void)remote, (void)flags;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Receive(
    INDEndpoint *iface, ND_RESULT *result, const ND_SGE *sge, SIZE_T n)
{
    (void)iface, (void)result, (void)sge, (void)n;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Bind(INDEndpoint *iface, ND_RESULT *result,
    ND_MR_HANDLE mr, INDMemoryWindow *mw, const VOID *buffer, SIZE_T octets, DWORD flags,
    ND_MW_DESCRIPTOR *descriptor)
{
    (void)iface, (void)result, (void)mr, (void)mw, (void)buffer, (void)octets, (void)flags;
    (void)descriptor;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Invalidate(
    INDEndpoint *iface, ND_RESULT *result, INDMemoryWindow *mw, DWORD flags)
{
    (void)iface, (void)result, (void)mw, (void)flags;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_ReadWrite(INDEndpoint *iface, ND_RESULT *result,
    const ND_SGE *sge, SIZE_T n, const ND_MW_DESCRIPTOR *remote, ULONGLONG offset, DWORD flags)
{
    (void)iface, (void)result, (void)sge, (void)n, (void)remote, (void)offset, (void)flags;
    return ND_NOT_SUPPORTED;
}

static const INDEndpointVtbl nd1_endpoint_vtbl = {
    ND_COM_UNKNOWN_SLOTS(nd1_endpoint),
    .Flush = nd1_endpoint_Flush,
    .StartRequestBatch = nd1_endpoint_Batch,
    .SubmitRequestBatch = nd1_endpoint_Batch,
    .Send = nd1_endpoint_Send,
    .SendAndInvalidate = nd1_endpoint_SendAndInvalidate,
    .Receive = nd1_endpoint_Receive,
    .Bind = nd1_endpoint_Bind,
    .Invalidate = nd1_endpoint_Invalidate,
    .Read = nd1_endpoint_ReadWrite,
    .Write = nd1_endpoint_ReadWrite,
};

HRESULT nd1_endpoint_create(
    struct nd1_connector *connector, const struct nd_qp_params *params, INDEndpoint **out)
{
    struct nd1_endpoint *endpoint = nd_object_alloc(sizeof(*endpoint));
    HRESULT status;

    if (!endpoint)
        return ND_NO_MEMORY;
    status = nd_qp_init(&endpoint->core, &connector->adapter->core, params, nd1_endpoint_destroy);
    if (FAILED(status)) {
        free(endpoint);
        return status;
    }
    endpoint->core.inbound_reads = params->inbound_reads;
    endpoint->core.outbound_reads = params->outbound_reads;
    endpoint->connector = connector;
    nd1_connector_hold(connector);
    endpoint->INDEndpoint_iface.lpVtbl = &nd1_endpoint_vtbl;
    atomic_init(&endpoint->refs, 1);
    *out = &endpoint->INDEndpoint_iface;
    return ND_SUCCESS;
}

HRESULT nd1_mw_create(
    struct nd1_adapter *adapter, ND_RESULT *invalidate_result, INDMemoryWindow **out)
{
    HRESULT status = nd1_begin_create(adapter, (void **)out);

    (void)invalidate_result;
    return FAILED(status) ? status : ND_NOT_SUPPORTED;
}

HRESULT nd1_register_memory(struct nd1_adapter *adapter, const void *buffer, SIZE_T octets,
    OVERLAPPED *overlapped, ND_MR_HANDLE *handle)
{
    (void)adapter, (void)buffer, (void)octets, (void)overlapped, (void)handle;
    return ND_NOT_SUPPORTED;
}

HRESULT nd1_deregister_memory(
    struct nd1_adapter *adapter, ND_MR_HANDLE handle, OVERLAPPED *overlapped)
{
    (void)adapter, (void)handle, (void)overlapped;
    return ND_NOT_SUPPORTED;
}
