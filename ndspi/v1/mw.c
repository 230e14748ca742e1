/* SPDX-License-Identifier: MIT */
/*
 * mw.c - INDMemoryWindow over core/memory/mw.h: an identity, and the result that reports a peer's invalidation.
 *
 * Source: NetworkDirect SPI version 1, INDMemoryWindow, INDAdapter::CreateMemoryWindow.
 */
#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

struct nd1_mw {
    INDMemoryWindow INDMemoryWindow_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_mw core;
};

const IID nd1_iid_mw = { 0x6e1f2a62, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_INDMemoryWindow, &nd1_iid_mw, NULL };

ND_COM_CORE(nd1_mw, nd_mw);
ND_COM_UNKNOWN(nd1_mw, INDMemoryWindow);
ND1_REACH(mw, INDMemoryWindow, nd_mw);

static const INDMemoryWindowVtbl nd1_mw_vtbl = { ND_COM_UNKNOWN_SLOTS(nd1_mw) };

HRESULT nd1_mw_create(
    struct nd1_adapter *adapter, ND_RESULT *invalidate_result, INDMemoryWindow **out)
{
    HRESULT status = nd1_begin_create(adapter, (void **)out);
    struct nd1_mw *mw;

    if (FAILED(status))
        return status;
    if (!(mw = nd_object_alloc(sizeof(*mw))))
        return ND_NO_MEMORY;
    if (FAILED(status = nd_mw_init(&mw->core, &adapter->core, nd1_mw_destroy))) {
        free(mw);
        return status;
    }
    nd_mw_report_to(&mw->core, invalidate_result);
    mw->INDMemoryWindow_iface.lpVtbl = &nd1_mw_vtbl;
    atomic_init(&mw->refs, 1);
    *out = &mw->INDMemoryWindow_iface;
    return ND_SUCCESS;
}
