/* SPDX-License-Identifier: MIT */
/*
 * cq.c - INDCompletionQueue over core/queue/cq.h.
 *
 * Source: NetworkDirect SPI version 1, INDCompletionQueue.
 */
#include "ndspi/core/queue/cq.h"
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

struct nd1_cq {
    INDCompletionQueue INDCompletionQueue_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_cq core;
};

const IID nd1_iid_cq = { 0x6e1f2a61, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_INDOverlapped, &IID_INDCompletionQueue,
    &nd1_iid_cq, NULL };

ND_COM_CORE(nd1_cq, nd_cq);
ND_COM_UNKNOWN(nd1_cq, INDCompletionQueue);
ND1_OVERLAPPED(nd1_cq, INDCompletionQueue, nd_cq);
ND1_REACH(cq, INDCompletionQueue, nd_cq);

/* ---- INDCompletionQueue ---- */

static HRESULT STDMETHODCALLTYPE nd1_cq_Resize(INDCompletionQueue *iface, SIZE_T entries)
{
    return nd_cq_resize(&impl_from_INDCompletionQueue(iface)->core,
        entries > MAXULONG ? MAXULONG : (uint32_t)entries);
}

static HRESULT STDMETHODCALLTYPE nd1_cq_Notify(
    INDCompletionQueue *iface, DWORD type, OVERLAPPED *overlapped)
{
    return nd_cq_notify(&impl_from_INDCompletionQueue(iface)->core, type, overlapped);
}

static SIZE_T STDMETHODCALLTYPE nd1_cq_GetResults(
    INDCompletionQueue *iface, ND_RESULT *results[], SIZE_T room)
{
    return nd_cq_results_v1(&impl_from_INDCompletionQueue(iface)->core.poll, results, room);
}

static const INDCompletionQueueVtbl nd1_cq_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd1_cq),
    /* INDOverlapped */
    ND_COM_OVERLAPPED_SLOTS(nd1_cq),
    /* INDCompletionQueue */
    .Resize = nd1_cq_Resize,
    .Notify = nd1_cq_Notify,
    .GetResults = nd1_cq_GetResults,
};

bool nd1_cq_passed(void *own)
{
    IUnknown *given = own;
    void *found;

    if (FAILED(given->lpVtbl->QueryInterface(given, &nd1_iid_cq, &found)))
        return false;
    nd1_cq_Release(found);
    return nd_cq_passed(&((struct nd1_cq *)found)->core);
}

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
