/* SPDX-License-Identifier: MIT */
/*
 * mw.c - IND2MemoryWindow over core/memory/mw.h.
 *
 * Source: NetworkDirect SPI version 2, IND2MemoryWindow.
 */
#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_mw {
    IND2MemoryWindow IND2MemoryWindow_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_mw core;
};

const IID nd2_iid_mw = { 0x6e1f2a54, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2MemoryWindow, &nd2_iid_mw, NULL };

ND_COM_CORE(nd2_mw, nd_mw);
ND_COM_UNKNOWN(nd2_mw, IND2MemoryWindow);
ND2_REACH(mw, IND2MemoryWindow);

/* ---- IND2MemoryWindow ---- */

static UINT32 STDMETHODCALLTYPE nd2_mw_GetRemoteToken(IND2MemoryWindow *iface)
{
    return atomic_load_explicit(
        &impl_from_IND2MemoryWindow(iface)->core.token, memory_order_relaxed);
}

static const IND2MemoryWindowVtbl nd2_mw_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd2_mw),
    /* IND2MemoryWindow */
    .GetRemoteToken = nd2_mw_GetRemoteToken,
};

HRESULT nd2_mw_create(struct nd2_adapter *adapter, REFIID iid, void **out)
{
    HRESULT status = nd2_begin_create(adapter, iids, iid, out);
    struct nd2_mw *mw;

    if (FAILED(status))
        return status;
    if (!(mw = nd_object_alloc(sizeof(*mw))))
        return ND_NO_MEMORY;
    if (FAILED(status = nd_mw_init(&mw->core, &adapter->core, nd2_mw_destroy))) {
        free(mw);
        return status;
    }
    mw->IND2MemoryWindow_iface.lpVtbl = &nd2_mw_vtbl;
    atomic_init(&mw->refs, 1);
    *out = mw;
    return ND_SUCCESS;
}
