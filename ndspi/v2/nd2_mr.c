/* SPDX-License-Identifier: MIT */
/*
 * nd2_mr.c - IND2MemoryRegion over core/mr.h.
 *
 * Source: NetworkDirect SPI version 2, IND2MemoryRegion.
 */
#include "ndspi/com/unknown.h"
#include "ndspi/core/mr.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_mr {
    IND2MemoryRegion IND2MemoryRegion_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_mr core;
};

const IID nd2_iid_mr = { 0x6e1f2a53, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2MemoryRegion,
    &nd2_iid_mr, NULL };

static struct nd2_mr *impl_from_IND2MemoryRegion(IND2MemoryRegion *iface)
{
    return (struct nd2_mr *)iface;
}

struct nd_mr *nd2_reach_mr(IUnknown *unknown, const struct nd_adapter *adapter)
{
    struct nd2_mr *mr = nd_com_reach(unknown, &nd2_iid_mr);

    if (mr && mr->core.adapter != adapter) {
        unknown->lpVtbl->Release(unknown);
        return NULL;
    }
    return mr ? &mr->core : NULL;
}

static void nd2_mr_destroy(struct nd_object *object)
{
    struct nd_mr *core = (struct nd_mr *)object;

    nd_mr_fini(core);
    free(container_of(core, struct nd2_mr, core));
}

/* ---- IUnknown ---- */

static HRESULT STDMETHODCALLTYPE nd2_mr_QueryInterface(
    IND2MemoryRegion *iface, REFIID iid, void **out)
{
    return nd_com_query_interface(iface, &impl_from_IND2MemoryRegion(iface)->refs, iids, iid, out);
}

static ULONG STDMETHODCALLTYPE nd2_mr_AddRef(IND2MemoryRegion *iface)
{
    return nd_com_addref(&impl_from_IND2MemoryRegion(iface)->refs);
}

static ULONG STDMETHODCALLTYPE nd2_mr_Release(IND2MemoryRegion *iface)
{
    struct nd2_mr *mr = impl_from_IND2MemoryRegion(iface);
    ULONG refs = nd_com_release(&mr->refs);

    if (refs == 0)
        nd_mr_close(&mr->core);
    return refs;
}

/* ---- IND2Overlapped ---- */

static HRESULT STDMETHODCALLTYPE nd2_mr_CancelOverlappedRequests(IND2MemoryRegion *iface)
{
    nd_pending_cancel(&impl_from_IND2MemoryRegion(iface)->core.pending);
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_mr_GetOverlappedResult(
    IND2MemoryRegion *iface, OVERLAPPED *overlapped, BOOL wait)
{
    return nd_pending_result(&impl_from_IND2MemoryRegion(iface)->core.pending, overlapped, wait);
}

/* ---- IND2MemoryRegion ---- */

static HRESULT STDMETHODCALLTYPE nd2_mr_Register(
    IND2MemoryRegion *iface, const VOID *buffer, SIZE_T length, ULONG flags, OVERLAPPED *overlapped)
{
    return nd_mr_register(
        &impl_from_IND2MemoryRegion(iface)->core, buffer, length, flags, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd2_mr_Deregister(IND2MemoryRegion *iface, OVERLAPPED *overlapped)
{
    return nd_mr_deregister(&impl_from_IND2MemoryRegion(iface)->core, overlapped);
}

static UINT32 STDMETHODCALLTYPE nd2_mr_GetLocalToken(IND2MemoryRegion *iface)
{
    return atomic_load_explicit(
        &impl_from_IND2MemoryRegion(iface)->core.local_token, memory_order_relaxed);
}

static UINT32 STDMETHODCALLTYPE nd2_mr_GetRemoteToken(IND2MemoryRegion *iface)
{
    return atomic_load_explicit(
        &impl_from_IND2MemoryRegion(iface)->core.remote_token, memory_order_relaxed);
}

static const IND2MemoryRegionVtbl nd2_mr_vtbl = {
    /* IUnknown */
    .QueryInterface = nd2_mr_QueryInterface,
    .AddRef = nd2_mr_AddRef,
    .Release = nd2_mr_Release,
    /* IND2Overlapped */
    .CancelOverlappedRequests = nd2_mr_CancelOverlappedRequests,
    .GetOverlappedResult = nd2_mr_GetOverlappedResult,
    /* IND2MemoryRegion */
    .Register = nd2_mr_Register,
    .Deregister = nd2_mr_Deregister,
    .GetLocalToken = nd2_mr_GetLocalToken,
    .GetRemoteToken = nd2_mr_GetRemoteToken,
};

HRESULT nd2_mr_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, void **out)
{
    HRESULT status = nd2_begin_create(adapter, iids, iid, out);
    struct nd_sink_file *file;
    struct nd2_mr *mr;

    if (FAILED(status))
        return status;
    if (!(file = nd_adapter_file(&adapter->core, overlapped_file)))
        return ND_INVALID_HANDLE;
    if ((mr = nd_object_alloc(sizeof(*mr)))) {
        mr->IND2MemoryRegion_iface.lpVtbl = &nd2_mr_vtbl;
        atomic_init(&mr->refs, 1);
        nd_mr_init(&mr->core, &adapter->core, file, nd2_mr_destroy);
        *out = mr;
    }
    adapter->core.sink->file_unref(file);
    return mr ? ND_SUCCESS : ND_NO_MEMORY;
}
