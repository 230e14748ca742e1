/* SPDX-License-Identifier: MIT */
/*
 * endpoint.c - INDEndpoint over core/queue/qp.h.
 *
 * The address of the client's ND_RESULT, which must be given, identifies a request. A handle names memory; an entry
 * without one is inline data (core/queue/sgl.h). A descriptor names a window of the peer.
 *
 * Source: NetworkDirect SPI version 1, INDEndpoint.
 */
#include "ndspi/core/memory/mw.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/v1/nd1.h"

#include <endian.h>
#include <stdlib.h>

struct nd1_endpoint {
    INDEndpoint INDEndpoint_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    /* Held until the last Release: its maker, or the last connector that it was connected through. */
    _Atomic(struct nd1_connector *) connector;
    struct nd_qp core;
};

const IID nd1_iid_endpoint = { 0x6e1f2a63, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_INDEndpoint, &nd1_iid_endpoint, NULL };

static void nd1_endpoint_close(struct nd1_endpoint *endpoint)
{
    struct nd1_connector *connector =
        atomic_load_explicit(&endpoint->connector, memory_order_acquire);

    nd_qp_close(&endpoint->core); /* may free it */
    nd1_connector_let_go(connector);
}

void nd1_endpoint_keep(struct nd_qp *core, struct nd1_connector *connector)
{
    struct nd1_endpoint *endpoint = container_of(core, struct nd1_endpoint, core);

    nd1_connector_let_go(
        atomic_exchange_explicit(&endpoint->connector, connector, memory_order_acq_rel));
}

static void nd1_endpoint_destroy(struct nd_object *object)
{
    struct nd_qp *core = (struct nd_qp *)object;

    nd_qp_fini(core);
    free(container_of(core, struct nd1_endpoint, core));
}

ND_COM_UNKNOWN(nd1_endpoint, INDEndpoint);
ND1_REACH(endpoint, INDEndpoint, nd_qp);

struct nd_qp *nd1_endpoint_core(void *own)
{
    IUnknown *given = own;
    void *found;

    if (FAILED(given->lpVtbl->QueryInterface(given, &nd1_iid_endpoint, &found)))
        return NULL;
    nd1_endpoint_Release(found);
    return &((struct nd1_endpoint *)found)->core;
}

/*
 * The remote address of a descriptor and an offset. The descriptor may lie at any address. Refuses what reaches beyond
 * the window: ND_REMOTE_ERROR.
 */
static HRESULT find_remote(
    const ND_MW_DESCRIPTOR *descriptor, ULONGLONG offset, struct nd_remote *remote)
{
    uint64_t base, length;

    if (!descriptor)
        return ND_INVALID_PARAMETER_4;
    base = be64toh(descriptor->Base);
    length = be64toh(descriptor->Length);
    if (offset > length || base + offset < base)
        return ND_REMOTE_ERROR;
    *remote = (struct nd_remote){ .address = base + offset,
        .token = descriptor->Token,
        .bounded = true,
        .room = length - offset };
    return ND_SUCCESS;
}

/* ---- INDEndpoint ---- */

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Flush(INDEndpoint *iface)
{
    return nd_qp_flush(&impl_from_INDEndpoint(iface)->core);
}

static VOID STDMETHODCALLTYPE nd1_endpoint_StartRequestBatch(INDEndpoint *iface)
{
    nd_queue_start_batch(&impl_from_INDEndpoint(iface)->core.receive);
    nd_queue_start_batch(&impl_from_INDEndpoint(iface)->core.initiator);
}

static VOID STDMETHODCALLTYPE nd1_endpoint_SubmitRequestBatch(INDEndpoint *iface)
{
    nd_queue_end_batch(&impl_from_INDEndpoint(iface)->core.receive);
    nd_queue_end_batch(&impl_from_INDEndpoint(iface)->core.initiator);
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Send(
    INDEndpoint *iface, ND_RESULT *result, const ND_SGE *sges, SIZE_T n, DWORD flags)
{
    return nd_queue_send_v1(&impl_from_INDEndpoint(iface)->core.initiator, result, sges, n, flags);
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_SendAndInvalidate(INDEndpoint *iface,
    ND_RESULT *result, const ND_SGE *sges, SIZE_T n, const ND_MW_DESCRIPTOR *descriptor,
    DWORD flags)
{
    if (!descriptor)
        return ND_INVALID_PARAMETER_4;
    return nd_qp_send_invalidate(
        &impl_from_INDEndpoint(iface)->core, result, sges, nd_at_most(n), descriptor->Token, flags);
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Receive(
    INDEndpoint *iface, ND_RESULT *result, const ND_SGE *sges, SIZE_T n)
{
    return nd_queue_receive_v1(&impl_from_INDEndpoint(iface)->core.receive, result, sges, n);
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Bind(INDEndpoint *iface, ND_RESULT *result,
    ND_MR_HANDLE handle, INDMemoryWindow *window, const VOID *buffer, SIZE_T size, DWORD flags,
    ND_MW_DESCRIPTOR *descriptor)
{
    struct nd_qp *core = &impl_from_INDEndpoint(iface)->core;
    struct nd_mr *mr;
    struct nd_mw *mw;
    HRESULT status;

    if (!result)
        return ND_INVALID_PARAMETER_1;
    if (!descriptor)
        return ND_INVALID_PARAMETER_7;
    if (!(mw = nd1_reach_mw(window, core->adapter)))
        return ND_INVALID_PARAMETER_3;
    if ((mr = nd_region_pin(core->adapter, handle))) {
        status = nd_qp_bind(core, result, mr, mw, buffer, size, flags);
        nd_object_unpin((struct nd_object *)mr);
    }
    if (!mr || status == ND_INVALID_PARAMETER_2) /* the region was deregistered meanwhile */
        status = ND_INVALID_HANDLE;
    if (SUCCEEDED(status))
        *descriptor = (ND_MW_DESCRIPTOR){ .Base = htobe64((uintptr_t)buffer),
            .Length = htobe64(size),
            .Token = atomic_load_explicit(&mw->token, memory_order_relaxed) };
    nd1_drop_mw(mw);
    return status;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Invalidate(
    INDEndpoint *iface, ND_RESULT *result, INDMemoryWindow *window, DWORD flags)
{
    struct nd_qp *core = &impl_from_INDEndpoint(iface)->core;
    struct nd_mw *mw;
    HRESULT status;

    if (!result)
        return ND_INVALID_PARAMETER_1;
    if (!(mw = nd1_reach_mw(window, core->adapter)))
        return ND_INVALID_PARAMETER_2;
    status = nd_qp_invalidate(core, result, mw, flags);
    nd1_drop_mw(mw);
    return status;
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Read(INDEndpoint *iface, ND_RESULT *result,
    const ND_SGE *sges, SIZE_T n, const ND_MW_DESCRIPTOR *descriptor, ULONGLONG offset, DWORD flags)
{
    struct nd_remote remote;
    HRESULT status = find_remote(descriptor, offset, &remote);

    if (FAILED(status))
        return status;
    return nd_qp_read(
        &impl_from_INDEndpoint(iface)->core, result, sges, nd_at_most(n), &remote, flags);
}

static HRESULT STDMETHODCALLTYPE nd1_endpoint_Write(INDEndpoint *iface, ND_RESULT *result,
    const ND_SGE *sges, SIZE_T n, const ND_MW_DESCRIPTOR *descriptor, ULONGLONG offset, DWORD flags)
{
    struct nd_remote remote;
    HRESULT status = find_remote(descriptor, offset, &remote);

    if (FAILED(status))
        return status;
    return nd_qp_write(
        &impl_from_INDEndpoint(iface)->core, result, sges, nd_at_most(n), &remote, flags);
}

static const INDEndpointVtbl nd1_endpoint_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd1_endpoint),
    /* INDEndpoint */
    .Flush = nd1_endpoint_Flush,
    .StartRequestBatch = nd1_endpoint_StartRequestBatch,
    .SubmitRequestBatch = nd1_endpoint_SubmitRequestBatch,
    .Send = nd1_endpoint_Send,
    .SendAndInvalidate = nd1_endpoint_SendAndInvalidate,
    .Receive = nd1_endpoint_Receive,
    .Bind = nd1_endpoint_Bind,
    .Invalidate = nd1_endpoint_Invalidate,
    .Read = nd1_endpoint_Read,
    .Write = nd1_endpoint_Write,
};

HRESULT nd1_endpoint_create(
    struct nd1_connector *connector, const struct nd_qp_params *params, INDEndpoint **out)
{
    struct nd1_endpoint *endpoint = nd_object_alloc(sizeof(*endpoint));
    HRESULT status;

    if (!endpoint)
        return ND_NO_MEMORY;
    status = nd_qp_init(&endpoint->core, connector->core.adapter, params, nd1_endpoint_destroy);
    if (FAILED(status)) {
        free(endpoint);
        return status;
    }
    endpoint->INDEndpoint_iface.lpVtbl = &nd1_endpoint_vtbl;
    atomic_init(&endpoint->refs, 1);
    atomic_init(&endpoint->connector, connector);
    nd1_connector_hold(connector);
    *out = &endpoint->INDEndpoint_iface;
    return ND_SUCCESS;
}
