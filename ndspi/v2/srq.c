/* SPDX-License-Identifier: MIT */
/*
 * srq.c - IND2SharedReceiveQueue over core/queue/srq.h.
 *
 * Source: NetworkDirect SPI version 2, IND2SharedReceiveQueue.
 */
#include "ndspi/core/queue/srq.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_srq {
    /* first: interface pointer is object pointer */
    IND2SharedReceiveQueue IND2SharedReceiveQueue_iface;
    atomic_uint refs;
    struct nd_srq core;
};

const IID nd2_iid_srq = { 0x6e1f2a52, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2SharedReceiveQueue,
    &nd2_iid_srq, NULL };

ND_COM_CORE(nd2_srq, nd_srq);
ND_COM_UNKNOWN(nd2_srq, IND2SharedReceiveQueue);
ND2_OVERLAPPED(nd2_srq, IND2SharedReceiveQueue, nd_srq);
ND2_REACH(srq, IND2SharedReceiveQueue);

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
    ND_COM_UNKNOWN_SLOTS(nd2_srq),
    /* IND2Overlapped */
    ND_COM_OVERLAPPED_SLOTS(nd2_srq),
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
    struct nd_sink_file *file;
    HRESULT status = nd2_begin_create_overlapped(adapter, iids, iid, overlapped_file, &file, out);
    struct nd2_srq *srq;

    if (FAILED(status))
        return status;
    if (!limits->max_srq_depth) {
        status = ND_NOT_SUPPORTED;
    } else if (!depth || depth > limits->max_srq_depth) {
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
