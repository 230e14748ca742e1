/* SPDX-License-Identifier: MIT */
/*
 * nd2_cq.c - IND2CompletionQueue over core/cq.h.
 *
 * Source: NetworkDirect SPI version 2, IND2CompletionQueue.
 */
#include "ndspi/com/unknown.h"
#include "ndspi/core/datapath.h"
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

static struct nd2_cq *impl_from_IND2CompletionQueue(IND2CompletionQueue *iface)
{
    return (struct nd2_cq *)iface;
}

struct nd_cq *nd2_reach_cq(IUnknown *unknown, const struct nd_adapter *adapter)
{
    struct nd2_cq *cq = nd_com_reach(unknown, &nd2_iid_cq);

    if (cq && cq->core.adapter != adapter) {
        unknown->lpVtbl->Release(unknown);
        return NULL;
    }
    return cq ? &cq->core : NULL;
}

static void nd2_cq_destroy(struct nd_object *object)
{
    struct nd_cq *core = (struct nd_cq *)object;

    nd_cq_fini(core);
    free(container_of(core, struct nd2_cq, core));
}

/* ---- IUnknown ---- */

static HRESULT STDMETHODCALLTYPE nd2_cq_QueryInterface(
    IND2CompletionQueue *iface, REFIID iid, void **out)
{
    return nd_com_query_interface(
        iface, &impl_from_IND2CompletionQueue(iface)->refs, iids, iid, out);
}

static ULONG STDMETHODCALLTYPE nd2_cq_AddRef(IND2CompletionQueue *iface)
{
    return nd_com_addref(&impl_from_IND2CompletionQueue(iface)->refs);
}

static ULONG STDMETHODCALLTYPE nd2_cq_Release(IND2CompletionQueue *iface)
{
    struct nd2_cq *cq = impl_from_IND2CompletionQueue(iface);
    ULONG refs = nd_com_release(&cq->refs);

    if (refs == 0)
        nd_cq_close(&cq->core);
    return refs;
}

/* ---- IND2Overlapped ---- */

static HRESULT STDMETHODCALLTYPE nd2_cq_CancelOverlappedRequests(IND2CompletionQueue *iface)
{
    nd_cq_cancel(&impl_from_IND2CompletionQueue(iface)->core);
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_cq_GetOverlappedResult(
    IND2CompletionQueue *iface, OVERLAPPED *overlapped, BOOL wait)
{
    return nd_pending_result(&impl_from_IND2CompletionQueue(iface)->core.pending, overlapped, wait);
}

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
    return nd_cq_results(&impl_from_IND2CompletionQueue(iface)->core.poll, results, room);
}

static const IND2CompletionQueueVtbl nd2_cq_vtbl = {
    /* IUnknown */
    .QueryInterface = nd2_cq_QueryInterface,
    .AddRef = nd2_cq_AddRef,
    .Release = nd2_cq_Release,
    /* IND2Overlapped */
    .CancelOverlappedRequests = nd2_cq_CancelOverlappedRequests,
    .GetOverlappedResult = nd2_cq_GetOverlappedResult,
    /* IND2CompletionQueue */
    .GetNotifyAffinity = nd2_cq_GetNotifyAffinity,
    .Resize = nd2_cq_Resize,
    .Notify = nd2_cq_Notify,
    .GetResults = nd2_cq_GetResults,
};

HRESULT nd2_cq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, ULONG depth,
    KAFFINITY affinity, void **out)
{
    HRESULT status = nd2_begin_create(adapter, iids, iid, out);
    struct nd_sink_file *file;
    struct nd2_cq *cq;

    if (FAILED(status))
        return status;
    if (!(file = nd_adapter_file(&adapter->core, overlapped_file)))
        return ND_INVALID_HANDLE;
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
