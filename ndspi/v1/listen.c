/* SPDX-License-Identifier: MIT */
/*
 * listen.c - INDListen over core/connection/listener.h: bound to the adapter's address and listening from its
 * creation on.
 *
 * Source: NetworkDirect SPI version 1, INDAdapter::Listen, INDListen.
 */
#include "ndspi/core/address.h"
#include "ndspi/core/connection/listener.h"
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

struct nd1_listen {
    INDListen INDListen_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_listener core;
};

static const IID *const iids[] = { &IID_IUnknown, &IID_INDOverlapped, &IID_INDListen, NULL };

ND_COM_CORE(nd1_listen, nd_listener);
ND_COM_UNKNOWN(nd1_listen, INDListen);
ND1_OVERLAPPED(nd1_listen, INDListen, nd_listener);

/* ---- INDListen ---- */

static HRESULT STDMETHODCALLTYPE nd1_listen_GetConnectionRequest(
    INDListen *iface, INDConnector *object, OVERLAPPED *overlapped)
{
    struct nd_listener *core = &impl_from_INDListen(iface)->core;
    struct nd_connector *connector = nd1_reach_connector(object, core->adapter);
    HRESULT hr;

    if (!connector)
        return ND_INVALID_PARAMETER_1;
    hr = nd_listener_get_request(core, connector, overlapped);
    nd1_drop_connector(connector);
    return hr;
}

static const INDListenVtbl nd1_listen_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd1_listen),
    /* INDOverlapped */
    ND_COM_OVERLAPPED_SLOTS(nd1_listen),
    /* INDListen */
    .GetConnectionRequest = nd1_listen_GetConnectionRequest,
};

/* port_be inout: the wanted port, 0 = any; the port bound. */
static HRESULT start(struct nd_listener *core, const struct sockaddr_storage *address,
    SIZE_T backlog, USHORT *port_be)
{
    struct sockaddr_storage local = *address;
    size_t length = sizeof(local);
    HRESULT hr;

    nd_address_set_port_be(&local, *port_be);
    hr = nd_listener_bind(core, (struct sockaddr *)&local, sizeof(local));
    if (SUCCEEDED(hr))
        hr = nd_listener_get_local_address(core, (struct sockaddr *)&local, &length);
    if (SUCCEEDED(hr))
        hr = nd_listener_listen(core, backlog < MAXULONG ? (ULONG)backlog : 0);
    *port_be = nd_address_port_be(&local);
    return hr;
}

HRESULT nd1_listen_create(struct nd1_adapter *adapter, SIZE_T backlog, USHORT port_be,
    USHORT *assigned_be, INDListen **out)
{
    HRESULT hr = nd1_begin_create(adapter, (void **)out);
    struct nd1_listen *listen;

    if (FAILED(hr))
        return hr;
    if (!port_be && !assigned_be)
        return ND_INVALID_PARAMETER_MIX;
    if (!(listen = nd_object_alloc(sizeof(*listen))))
        return ND_NO_MEMORY;
    listen->INDListen_iface.lpVtbl = &nd1_listen_vtbl;
    atomic_init(&listen->refs, 1);
    nd_listener_init(&listen->core, &adapter->core, adapter->file, nd1_listen_destroy);
    if (FAILED(hr = start(&listen->core, &adapter->address, backlog, &port_be))) {
        nd_listener_close(&listen->core);
        return hr;
    }
    if (assigned_be)
        *assigned_be = port_be;
    *out = &listen->INDListen_iface;
    return ND_SUCCESS;
}
