/* SPDX-License-Identifier: MIT */
/*
 * qp.c - IND2QueuePair over core/queue/qp.h.
 *
 * Source: NetworkDirect SPI version 2, IND2QueuePair.
 */
#include "ndspi/core/queue/qp.h"
#include "ndspi/v2/nd2.h"

#include <ndspi_linux.h>

#include <stdlib.h>

struct nd2_qp {
    IND2QueuePair IND2QueuePair_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_qp core;
};

const IID nd2_iid_qp = { 0x6e1f2a55, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2QueuePair, &nd2_iid_qp, NULL };

ND_COM_CORE(nd2_qp, nd_qp);
ND_COM_UNKNOWN(nd2_qp, IND2QueuePair);
ND2_REACH(qp, IND2QueuePair);

struct nd_qp *nd2_qp_core(void *own)
{
    IUnknown *given = own;
    void *found;

    if (FAILED(given->lpVtbl->QueryInterface(given, &nd2_iid_qp, &found)))
        return NULL;
    nd2_qp_Release(found);
    return &((struct nd2_qp *)found)->core;
}

/* ---- IND2QueuePair ---- */

static HRESULT STDMETHODCALLTYPE nd2_qp_Flush(IND2QueuePair *iface)
{
    return nd_qp_flush(&impl_from_IND2QueuePair(iface)->core);
}

static HRESULT STDMETHODCALLTYPE nd2_qp_Send(
    IND2QueuePair *iface, VOID *context, const ND2_SGE sge[], ULONG n, ULONG flags)
{
    return nd_queue_send_v2(
        &impl_from_IND2QueuePair(iface)->core.initiator, context, sge, n, flags);
}

static HRESULT STDMETHODCALLTYPE nd2_qp_Receive(
    IND2QueuePair *iface, VOID *context, const ND2_SGE sge[], ULONG n)
{
    return nd_queue_receive_v2(&impl_from_IND2QueuePair(iface)->core.receive, context, sge, n);
}

static HRESULT STDMETHODCALLTYPE nd2_qp_Bind(IND2QueuePair *iface, VOID *context, IUnknown *region,
    IUnknown *window, const VOID *buffer, SIZE_T length, ULONG flags)
{
    struct nd_qp *core = &impl_from_IND2QueuePair(iface)->core;
    struct nd_mr *mr = nd2_reach_mr(region, core->adapter);
    struct nd_mw *mw = nd2_reach_mw(window, core->adapter);
    HRESULT status;

    if (!mr)
        status = ND_INVALID_PARAMETER_2;
    else if (!mw)
        status = ND_INVALID_PARAMETER_3;
    else
        status = nd_qp_bind(core, context, mr, mw, buffer, length, flags);
    nd2_drop_mw(mw);
    nd2_drop_mr(mr);
    return status;
}

static HRESULT STDMETHODCALLTYPE nd2_qp_Invalidate(
    IND2QueuePair *iface, VOID *context, IUnknown *window, ULONG flags)
{
    struct nd_qp *core = &impl_from_IND2QueuePair(iface)->core;
    struct nd_mw *mw = nd2_reach_mw(window, core->adapter);
    HRESULT status;

    if (!mw)
        return ND_INVALID_PARAMETER_2;
    status = nd_qp_invalidate(core, context, mw, flags);
    nd2_drop_mw(mw);
    return status;
}

static HRESULT STDMETHODCALLTYPE nd2_qp_Read(IND2QueuePair *iface, VOID *context,
    const ND2_SGE sge[], ULONG n, UINT64 remote_address, UINT32 remote_token, ULONG flags)
{
    const struct nd_remote remote = { .address = remote_address, .token = remote_token };

    return nd_qp_read(&impl_from_IND2QueuePair(iface)->core, context, sge, n, &remote, flags);
}

static HRESULT STDMETHODCALLTYPE nd2_qp_Write(IND2QueuePair *iface, VOID *context,
    const ND2_SGE sge[], ULONG n, UINT64 remote_address, UINT32 remote_token, ULONG flags)
{
    const struct nd_remote remote = { .address = remote_address, .token = remote_token };

    return nd_qp_write(&impl_from_IND2QueuePair(iface)->core, context, sge, n, &remote, flags);
}

static const IND2QueuePairVtbl nd2_qp_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd2_qp),
    /* IND2QueuePair */
    .Flush = nd2_qp_Flush,
    .Send = nd2_qp_Send,
    .Receive = nd2_qp_Receive,
    .Bind = nd2_qp_Bind,
    .Invalidate = nd2_qp_Invalidate,
    .Read = nd2_qp_Read,
    .Write = nd2_qp_Write,
};

HRESULT nd2_qp_create(
    struct nd2_adapter *adapter, REFIID iid, const struct nd_qp_params *params, void **out)
{
    HRESULT status = nd2_begin_create(adapter, iids, iid, out);
    struct nd2_qp *qp;

    if (FAILED(status))
        return status;
    if (!(qp = nd_object_alloc(sizeof(*qp))))
        return ND_NO_MEMORY;
    if (FAILED(status = nd_qp_init(&qp->core, &adapter->core, params, nd2_qp_destroy))) {
        free(qp);
        return status;
    }
    qp->IND2QueuePair_iface.lpVtbl = &nd2_qp_vtbl;
    atomic_init(&qp->refs, 1);
    *out = qp;
    return ND_SUCCESS;
}

DECLSPEC_EXPORT const char *NdLinuxConnectionPath(IND2QueuePair *queuePair)
{
    const char *path;
    void *found;

    if (!queuePair || FAILED(queuePair->lpVtbl->QueryInterface(queuePair, &nd2_iid_qp, &found)))
        return NULL;
    path = nd_qp_path(&((struct nd2_qp *)found)->core);
    nd2_qp_Release(found);
    return path;
}
