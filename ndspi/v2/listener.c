/* SPDX-License-Identifier: MIT */
/*
 * listener.c - IND2Listener over core/connection/listener.h. The last Release closes the core object; the
 * allocation goes with the core object's last pin.
 *
 * Source: NetworkDirect SPI version 2, IND2Listener.
 */
#include "ndspi/core/connection/listener.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_listener {
    IND2Listener IND2Listener_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_listener core;
};

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2Listener, NULL };

ND_COM_CORE(nd2_listener, nd_listener);
ND_COM_UNKNOWN(nd2_listener, IND2Listener);
ND2_OVERLAPPED(nd2_listener, IND2Listener, nd_listener);

/* ---- IND2Listener ---- */

static HRESULT STDMETHODCALLTYPE nd2_listener_Bind(
    IND2Listener *iface, const struct sockaddr *address, ULONG length)
{
    return nd_listener_bind(&impl_from_IND2Listener(iface)->core, address, length);
}

static HRESULT STDMETHODCALLTYPE nd2_listener_Listen(IND2Listener *iface, ULONG backlog)
{
    return nd_listener_listen(&impl_from_IND2Listener(iface)->core, backlog);
}

static HRESULT STDMETHODCALLTYPE nd2_listener_GetLocalAddress(
    IND2Listener *iface, struct sockaddr *address, ULONG *length)
{
    size_t octets;
    HRESULT hr;

    if (!length)
        return ND_INVALID_PARAMETER;
    octets = *length;
    hr = nd_listener_get_local_address(&impl_from_IND2Listener(iface)->core, address, &octets);
    *length = (ULONG)octets;
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd2_listener_GetConnectionRequest(
    IND2Listener *iface, IUnknown *object, OVERLAPPED *overlapped)
{
    struct nd_listener *core = &impl_from_IND2Listener(iface)->core;
    struct nd_connector *connector = nd2_reach_connector(object, core->adapter);
    HRESULT hr;

    if (!connector)
        return ND_INVALID_PARAMETER_1;
    hr = nd_listener_get_request(core, connector, overlapped);
    nd2_drop_connector(connector);
    return hr;
}

static const IND2ListenerVtbl nd2_listener_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd2_listener),
    /* IND2Overlapped */
    ND_COM_OVERLAPPED_SLOTS(nd2_listener),
    /* IND2Listener */
    .Bind = nd2_listener_Bind,
    .Listen = nd2_listener_Listen,
    .GetLocalAddress = nd2_listener_GetLocalAddress,
    .GetConnectionRequest = nd2_listener_GetConnectionRequest,
};

HRESULT nd2_listener_create(
    struct nd2_adapter *adapter, HANDLE overlapped_file, REFIID iid, void **out)
{
    struct nd2_listener *listener;
    struct nd_sink_file *file;
    HRESULT hr;

    hr = nd2_begin_create_overlapped(adapter, iids, iid, overlapped_file, &file, out);
    if (FAILED(hr))
        return hr;
    listener = calloc(1, sizeof(*listener));
    if (listener) {
        listener->IND2Listener_iface.lpVtbl = &nd2_listener_vtbl;
        atomic_init(&listener->refs, 1);
        nd_listener_init(&listener->core, &adapter->core, file, nd2_listener_destroy);
        *out = listener;
    }
    adapter->core.sink->file_unref(file);
    return listener ? ND_SUCCESS : ND_NO_MEMORY;
}
