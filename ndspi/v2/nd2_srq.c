/* SPDX-License-Identifier: MIT */
/*
 * nd2_srq.c - IND2SharedReceiveQueue over core/srq.h.
 *
 * Source: NetworkDirect SPI version 2, IND2SharedReceiveQueue.
 */
#include "ndspi/com/unknown.h"
#include "ndspi/core/srq.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_srq {
    IND2SharedReceiveQueue
        IND2SharedReceiveQueue_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_srq core;
};

const IID nd2_iid_srq = { 0x6e1f2a52, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2SharedReceiveQueue,
    &nd2_iid_srq, NULL };

static struct nd2_srq *impl_from_IND2SharedReceiveQueue(IND2SharedReceiveQueue *iface)
{
    return (struct nd2_srq *)iface;
}

struct nd_srq *nd2_reach_srq(IUnknown *unknown, const struct nd_adapter *adapter)
{
    struct nd2_srq *srq = nd_com_reach(unknown, &nd2_iid_srq);

    if (srq && srq->core.adapter != adapter) {
        unknown->lpVtbl->Release(unknown);
        return NULL;
    }
    return srq ? &srq->core : NULL;
}

static void nd2_srq_destroy(struct nd_object *object)
{
    struct nd_srq *core = (struct nd_srq *)object;

    nd_srq_fini(core);
    free(container_of(core, struct nd2_srq, core));
}

/* ---- IUnknown ---- */

static HRESULT STDMETHODCALLTYPE nd2_srq_QueryInterface(
    IND2SharedReceiveQueue *iface, REFIID iid, void **out)
{
    return nd_com_query_interface(
        iface, &impl_from_IND2SharedReceiveQueue(iface)->refs, iids, iid, out);
}

static ULONG STDMETHODCALLTYPE nd2_srq_AddRef(IND2SharedReceiveQueue *iface)
{
    return nd_com_addref(&impl_from_IND2SharedReceiveQueue(iface)->refs);
}

static ULONG STDMETHODCALLTYPE nd2_srq_Release(IND2SharedReceiveQueue *iface)
{
    struct nd2_srq *srq = impl_from_IND2SharedReceiveQueue(iface);
    ULONG refs = nd_com_release(&srq->refs);

    if (refs == 0)
        nd_srq_close(&srq->core);
    return refs;
}

/* ---- IND2Overlapped ---- */

static HRESULT STDMETHODCALLTYPE nd2_srq_CancelOverlappedRequests(IND2SharedReceiveQueue *iface)
{
    nd_pending_cancel(&impl_from_IND2SharedReceiveQueue(iface)->core.pending);
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_srq_GetOverlappedResult(
    IND2SharedReceiveQueue *iface, OVERLAPPED *overlapped, BOOL wait)
{
    return nd_pending_result(
        &impl_from_IND2SharedReceiveQueue(iface)->core.pending, overlapped, wait);
}

/* ---- IND2SharedReceiveQueue ---- */

static HRESULT STDMETHODCALLTYPE nd2_srq_GetNotifyAffinity(
    IND2SharedReceiveQueue *iface, USHORT *group, KAFFINITY *affinity)
{
    if (!group || !affinity)
        return ND_INVALID_PARAMETER;
    *group = 0;
    *affinity = (KAFFINITY)impl_from_IND2SharedReceiveQueue(iface)->core.affinity;
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_srq_Modify(
    IND2SharedReceiveQueue *iface, ULONG depth, ULONG threshold)
{
    return nd_srq_modify(&impl_from_IND2SharedReceiveQueue(iface)->core, depth, threshold);
}

static HRESULT STDMETHODCALLTYPE nd2_srq_Notify(
    IND2SharedReceiveQueue *iface, OVERLAPPED *overlapped)
{
    return nd_srq_notify(&impl_from_IND2SharedReceiveQueue(iface)->core, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd2_srq_Receive(
    IND2SharedReceiveQueue *iface, VOID *context, const ND2_SGE sge[], ULONG n)
{
    return nd_srq_receive(&impl_from_IND2SharedReceiveQueue(iface)->core, context, sge, n);
}

static const IND2SharedReceiveQueueVtbl nd2_srq_vtbl = {
    /* IUnknown */
    .QueryInterface = nd2_srq_QueryInterface,
    .AddRef = nd2_srq_AddRef,
    .Release = nd2_srq_Release,
    /* IND2Overlapped */
    .CancelOverlappedRequests = nd2_srq_CancelOverlappedRequests,
    .GetOverlappedResult = nd2_srq_GetOverlappedResult,
    /* IND2SharedReceiveQueue */
    .GetNotifyAffinity = nd2_srq_GetNotifyAffinity,
    .Modify = nd2_srq_Modify,
    .Notify = nd2_srq_Notify,
    .Receive = nd2_srq_Receive,
};

HRESULT nd2_srq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, ULONG depth,
    ULONG sge, ULONG threshold, KAFFINITY affinity, void **out)
{
    const struct nd_limits *limits = &adapter->core.limits;
    HRESULT status = nd2_begin_create(adapter, iids, iid, out);
    struct nd_sink_file *file;
    struct nd2_srq *srq;

    if (FAILED(status))
        return status;
    if (!limits->max_srq_depth)
        return ND_NOT_SUPPORTED;
    if (!(file = nd_adapter_file(&adapter->core, overlapped_file)))
        return ND_INVALID_HANDLE;
    if (!depth || depth > limits->max_srq_depth) {
        status = ND_INVALID_PARAMETER_3;
    } else if (sge > limits->max_srq_sge) {
        status = ND_INVALID_PARAMETER_4;
    } else if (threshold > depth) {
        status = ND_INVALID_PARAMETER_5;
    } else if (!(srq = nd_object_alloc(sizeof(*srq)))) {
        status = ND_NO_MEMORY;
    } else if (FAILED(status = nd_srq_init(&srq->core, &adapter->core, file, depth, sge, threshold,
                          (uintptr_t)affinity, nd2_srq_destroy))) {
        free(srq);
    } else {
        srq->IND2SharedReceiveQueue_iface.lpVtbl = &nd2_srq_vtbl;
        atomic_init(&srq->refs, 1);
        *out = srq;
    }
    adapter->core.sink->file_unref(file);
    return status;
}
