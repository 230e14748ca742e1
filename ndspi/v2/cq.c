/* SPDX-License-Identifier: MIT */
/*
 * cq.c - IND2CompletionQueue over core/queue/cq.h.
 *
 * Source: NetworkDirect SPI version 2, IND2CompletionQueue.
 */
#include "ndspi/core/queue/cq.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_cq {
    IND2CompletionQueue IND2CompletionQueue_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_cq core;
};

const IID nd2_iid_cq = { 0x6e1f2a51, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2CompletionQueue,
    &nd2_iid_cq, NULL };

ND_COM_CORE(nd2_cq, nd_cq);
ND_COM_UNKNOWN(nd2_cq, IND2CompletionQueue);
ND2_OVERLAPPED(nd2_cq, IND2CompletionQueue, nd_cq);
ND2_REACH(cq, IND2CompletionQueue);

/* ---- IND2CompletionQueue ---- */

static HRESULT STDMETHODCALLTYPE nd2_cq_GetNotifyAffinity(
    IND2CompletionQueue *iface, USHORT *group, KAFFINITY *affinity)
{
    if (!group || !affinity)
        return ND_INVALID_PARAMETER;
    *group = 0;
    *affinity = (KAFFINITY)impl_from_IND2CompletionQueue(iface)->core.affinity;
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_cq_Resize(IND2CompletionQueue *iface, ULONG depth)
{
    return nd_cq_resize(&impl_from_IND2CompletionQueue(iface)->core, depth);
}

static HRESULT STDMETHODCALLTYPE nd2_cq_Notify(
    IND2CompletionQueue *iface, ULONG type, OVERLAPPED *overlapped)
{
    return nd_cq_notify(&impl_from_IND2CompletionQueue(iface)->core, type, overlapped);
}

static ULONG STDMETHODCALLTYPE nd2_cq_GetResults(
    IND2CompletionQueue *iface, ND2_RESULT results[], ULONG room)
{
    return nd_cq_results_v2(&impl_from_IND2CompletionQueue(iface)->core.poll, results, room);
}

static const IND2CompletionQueueVtbl nd2_cq_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd2_cq),
    /* IND2Overlapped */
    ND_COM_OVERLAPPED_SLOTS(nd2_cq),
    /* IND2CompletionQueue */
    .GetNotifyAffinity = nd2_cq_GetNotifyAffinity,
    .Resize = nd2_cq_Resize,
    .Notify = nd2_cq_Notify,
    .GetResults = nd2_cq_GetResults,
};

bool nd2_cq_passed(void *own)
{
    IUnknown *given = own;
    void *found;

    if (FAILED(given->lpVtbl->QueryInterface(given, &nd2_iid_cq, &found)))
        return false;
    nd2_cq_Release(found);
    return nd_cq_passed(&((struct nd2_cq *)found)->core);
}

HRESULT nd2_cq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, ULONG depth,
    KAFFINITY affinity, void **out)
{
    struct nd_sink_file *file;
    HRESULT status = nd2_begin_create_overlapped(adapter, iids, iid, overlapped_file, &file, out);
    struct nd2_cq *cq;

    if (FAILED(status))
        return status;
    if (!depth || depth > adapter->core.limits.max_cq_depth) {
        status = ND_INVALID_PARAMETER_3;
    } else if (!(cq = nd_object_alloc(sizeof(*cq)))) {
        status = ND_NO_MEMORY;
    } else if (FAILED(status = nd_cq_init(&cq->core, &adapter->core, file, depth,
                          (uintptr_t)affinity, nd2_cq_destroy))) {
        free(cq);
    } else {
        cq->IND2CompletionQueue_iface.lpVtbl = &nd2_cq_vtbl;
        atomic_init(&cq->refs, 1);
        *out = cq;
    }
    adapter->core.sink->file_unref(file);
    return status;
}
