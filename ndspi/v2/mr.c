/* SPDX-License-Identifier: MIT */
/*
 * mr.c - IND2MemoryRegion over core/memory/mr.h.
 *
 * Source: NetworkDirect SPI version 2, IND2MemoryRegion.
 */
#include "ndspi/core/memory/mr.h"
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

ND_COM_CORE(nd2_mr, nd_mr);
ND_COM_UNKNOWN(nd2_mr, IND2MemoryRegion);
ND2_OVERLAPPED(nd2_mr, IND2MemoryRegion, nd_mr);
ND2_REACH(mr, IND2MemoryRegion);

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
    ND_COM_UNKNOWN_SLOTS(nd2_mr),
    /* IND2Overlapped */
    ND_COM_OVERLAPPED_SLOTS(nd2_mr),
    /* IND2MemoryRegion */
    .Register = nd2_mr_Register,
    .Deregister = nd2_mr_Deregister,
    .GetLocalToken = nd2_mr_GetLocalToken,
    .GetRemoteToken = nd2_mr_GetRemoteToken,
};

HRESULT nd2_mr_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, void **out)
{
    struct nd_sink_file *file;
    HRESULT status = nd2_begin_create_overlapped(adapter, iids, iid, overlapped_file, &file, out);
    struct nd2_mr *mr;

    if (FAILED(status))
        return status;
    if ((mr = nd_object_alloc(sizeof(*mr)))) {
        mr->IND2MemoryRegion_iface.lpVtbl = &nd2_mr_vtbl;
        atomic_init(&mr->refs, 1);
        nd_mr_init(&mr->core, &adapter->core, file, nd2_mr_destroy);
        *out = mr;
    }
    adapter->core.sink->file_unref(file);
    return mr ? ND_SUCCESS : ND_NO_MEMORY;
}
