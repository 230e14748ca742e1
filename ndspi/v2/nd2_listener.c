/* SPDX-License-Identifier: MIT */
/*
 * nd2_listener.c - IND2Listener over core/listener.h. The last Release closes the core object; the allocation goes with
 * the core object's last pin.
 *
 * Source: NetworkDirect SPI version 2, IND2Listener.
 */
#include "ndspi/com/unknown.h"
#include "ndspi/core/listener.h"
#include "ndspi/v2/nd2.h"
#include "ndspi/v2/nd2_connector.h"

#include <stdlib.h>

struct nd2_listener {
    IND2Listener IND2Listener_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_listener core;
};

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2Listener, NULL };

static struct nd2_listener *impl_from_IND2Listener(IND2Listener *iface)
{
    return (struct nd2_listener *)iface;
}

static void nd2_listener_destroy(struct nd_object *object)
{
    struct nd_listener *core = (struct nd_listener *)object;

    nd_listener_fini(core);
    free(container_of(core, struct nd2_listener, core));
}

/* ---- IUnknown ---- */

static HRESULT STDMETHODCALLTYPE nd2_listener_QueryInterface(
    IND2Listener *iface, REFIID iid, void **out)
{
    return nd_com_query_interface(iface, &impl_from_IND2Listener(iface)->refs, iids, iid, out);
}

static ULONG STDMETHODCALLTYPE nd2_listener_AddRef(IND2Listener *iface)
{
    return nd_com_addref(&impl_from_IND2Listener(iface)->refs);
}

static ULONG STDMETHODCALLTYPE nd2_listener_Release(IND2Listener *iface)
{
    struct nd2_listener *listener = impl_from_IND2Listener(iface);
    ULONG refs = nd_com_release(&listener->refs);

    if (refs == 0)
        nd_listener_close(&listener->core);
    return refs;
}

/* ---- IND2Overlapped ---- */

static HRESULT STDMETHODCALLTYPE nd2_listener_CancelOverlappedRequests(IND2Listener *iface)
{
    return nd_listener_cancel(&impl_from_IND2Listener(iface)->core);
}

static HRESULT STDMETHODCALLTYPE nd2_listener_GetOverlappedResult(
    IND2Listener *iface, OVERLAPPED *overlapped, BOOL wait)
{
    return nd_pending_result(&impl_from_IND2Listener(iface)->core.pending, overlapped, wait);
}

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
    struct nd2_connector *connector = nd_com_reach(object, &nd2_iid_connector);
    HRESULT hr = ND_INVALID_PARAMETER_1;

    if (!connector)
        return ND_INVALID_PARAMETER_1;
    if (connector->core.adapter == core->adapter)
        hr = nd_listener_get_request(core, &connector->core, overlapped);
    object->lpVtbl->Release(object);
    return hr;
}

static const IND2ListenerVtbl nd2_listener_vtbl = {
    /* IUnknown */
    .QueryInterface = nd2_listener_QueryInterface,
    .AddRef = nd2_listener_AddRef,
    .Release = nd2_listener_Release,
    /* IND2Overlapped */
    .CancelOverlappedRequests = nd2_listener_CancelOverlappedRequests,
    .GetOverlappedResult = nd2_listener_GetOverlappedResult,
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

    hr = nd2_begin_create(adapter, iids, iid, out);
    if (FAILED(hr))
        return hr;
    file = nd_adapter_file(&adapter->core, overlapped_file);
    if (!file)
        return ND_INVALID_HANDLE;
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
