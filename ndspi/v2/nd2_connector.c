/* SPDX-License-Identifier: MIT */
/*
 * nd2_connector.c - IND2Connector over core/connector.h. The last Release closes the core object; the allocation goes
 * with the core object's last pin.
 *
 * Source: NetworkDirect SPI version 2, IND2Connector.
 */
#include "ndspi/com/unknown.h"
#include "ndspi/v2/nd2.h"
#include "ndspi/v2/nd2_connector.h"

#include <stdlib.h>

const IID nd2_iid_connector = { 0x6e1f2a56, 0x9d0b, 0x4c1e, { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2Connector,
    &nd2_iid_connector, NULL };

static struct nd2_connector *impl_from_IND2Connector(IND2Connector *iface)
{
    return (struct nd2_connector *)iface;
}

static void nd2_connector_destroy(struct nd_object *object)
{
    struct nd_connector *core = (struct nd_connector *)object;

    nd_connector_fini(core);
    free(container_of(core, struct nd2_connector, core));
}

/* ---- IUnknown ---- */

static HRESULT STDMETHODCALLTYPE nd2_connector_QueryInterface(
    IND2Connector *iface, REFIID iid, void **out)
{
    return nd_com_query_interface(iface, &impl_from_IND2Connector(iface)->refs, iids, iid, out);
}

static ULONG STDMETHODCALLTYPE nd2_connector_AddRef(IND2Connector *iface)
{
    return nd_com_addref(&impl_from_IND2Connector(iface)->refs);
}

static ULONG STDMETHODCALLTYPE nd2_connector_Release(IND2Connector *iface)
{
    struct nd2_connector *connector = impl_from_IND2Connector(iface);
    ULONG refs = nd_com_release(&connector->refs);

    if (refs == 0)
        nd_connector_close(&connector->core);
    return refs;
}

/* ---- IND2Overlapped ---- */

static HRESULT STDMETHODCALLTYPE nd2_connector_CancelOverlappedRequests(IND2Connector *iface)
{
    return nd_connector_cancel(&impl_from_IND2Connector(iface)->core);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_GetOverlappedResult(
    IND2Connector *iface, OVERLAPPED *overlapped, BOOL wait)
{
    return nd_pending_result(&impl_from_IND2Connector(iface)->core.pending, overlapped, wait);
}

/* ---- IND2Connector ---- */

static HRESULT STDMETHODCALLTYPE nd2_connector_Bind(
    IND2Connector *iface, const struct sockaddr *address, ULONG length)
{
    return nd_connector_bind(&impl_from_IND2Connector(iface)->core, address, length);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_Connect(IND2Connector *iface, IUnknown *queue_pair,
    const struct sockaddr *destination, ULONG length, ULONG inbound, ULONG outbound,
    const void *data, ULONG data_octets, OVERLAPPED *overlapped)
{
    struct nd_connector *core = &impl_from_IND2Connector(iface)->core;
    struct nd_connect_params params = { nd2_reach_qp(queue_pair, core->adapter), inbound, outbound,
        data, data_octets };
    HRESULT hr;

    if (!params.qp)
        return ND_INVALID_PARAMETER_1;
    hr = nd_connector_connect(core, &params, destination, length, overlapped);
    nd2_drop(queue_pair, params.qp);
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd2_connector_CompleteConnect(
    IND2Connector *iface, OVERLAPPED *overlapped)
{
    return nd_connector_complete_connect(&impl_from_IND2Connector(iface)->core, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_Accept(IND2Connector *iface, IUnknown *queue_pair,
    ULONG inbound, ULONG outbound, const void *data, ULONG data_octets, OVERLAPPED *overlapped)
{
    struct nd_connector *core = &impl_from_IND2Connector(iface)->core;
    struct nd_connect_params params = { nd2_reach_qp(queue_pair, core->adapter), inbound, outbound,
        data, data_octets };
    HRESULT hr;

    if (!params.qp)
        return ND_INVALID_PARAMETER_1;
    hr = nd_connector_accept(core, &params, overlapped);
    nd2_drop(queue_pair, params.qp);
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd2_connector_Reject(
    IND2Connector *iface, const void *data, ULONG data_octets)
{
    return nd_connector_reject(&impl_from_IND2Connector(iface)->core, data, data_octets);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_GetReadLimits(
    IND2Connector *iface, ULONG *inbound, ULONG *outbound)
{
    return nd_connector_get_read_limits(&impl_from_IND2Connector(iface)->core, inbound, outbound);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_GetPrivateData(
    IND2Connector *iface, void *data, ULONG *data_octets)
{
    size_t octets;
    HRESULT hr;

    if (!data_octets)
        return ND_INVALID_PARAMETER;
    octets = *data_octets;
    hr = nd_connector_get_private_data(&impl_from_IND2Connector(iface)->core, data, &octets);
    *data_octets = (ULONG)octets;
    return hr;
}

typedef HRESULT get_address(
    struct nd_connector *connector, struct sockaddr *address, size_t *length);

static HRESULT query_address(
    IND2Connector *iface, get_address *get, struct sockaddr *address, ULONG *length)
{
    size_t octets;
    HRESULT hr;

    if (!length)
        return ND_INVALID_PARAMETER;
    octets = *length;
    hr = get(&impl_from_IND2Connector(iface)->core, address, &octets);
    *length = (ULONG)octets;
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd2_connector_GetLocalAddress(
    IND2Connector *iface, struct sockaddr *address, ULONG *length)
{
    return query_address(iface, nd_connector_get_local_address, address, length);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_GetPeerAddress(
    IND2Connector *iface, struct sockaddr *address, ULONG *length)
{
    return query_address(iface, nd_connector_get_peer_address, address, length);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_NotifyDisconnect(
    IND2Connector *iface, OVERLAPPED *overlapped)
{
    return nd_connector_notify_disconnect(&impl_from_IND2Connector(iface)->core, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_Disconnect(
    IND2Connector *iface, OVERLAPPED *overlapped)
{
    return nd_connector_disconnect(&impl_from_IND2Connector(iface)->core, overlapped);
}

static const IND2ConnectorVtbl nd2_connector_vtbl = {
    /* IUnknown */
    .QueryInterface = nd2_connector_QueryInterface,
    .AddRef = nd2_connector_AddRef,
    .Release = nd2_connector_Release,
    /* IND2Overlapped */
    .CancelOverlappedRequests = nd2_connector_CancelOverlappedRequests,
    .GetOverlappedResult = nd2_connector_GetOverlappedResult,
    /* IND2Connector */
    .Bind = nd2_connector_Bind,
    .Connect = nd2_connector_Connect,
    .CompleteConnect = nd2_connector_CompleteConnect,
    .Accept = nd2_connector_Accept,
    .Reject = nd2_connector_Reject,
    .GetReadLimits = nd2_connector_GetReadLimits,
    .GetPrivateData = nd2_connector_GetPrivateData,
    .GetLocalAddress = nd2_connector_GetLocalAddress,
    .GetPeerAddress = nd2_connector_GetPeerAddress,
    .NotifyDisconnect = nd2_connector_NotifyDisconnect,
    .Disconnect = nd2_connector_Disconnect,
};

HRESULT nd2_connector_create(
    struct nd2_adapter *adapter, HANDLE overlapped_file, REFIID iid, void **out)
{
    struct nd2_connector *connector;
    struct nd_sink_file *file;
    HRESULT hr;

    hr = nd2_begin_create(adapter, iids, iid, out);
    if (FAILED(hr))
        return hr;
    file = nd_adapter_file(&adapter->core, overlapped_file);
    if (!file)
        return ND_INVALID_HANDLE;
    connector = calloc(1, sizeof(*connector));
    if (connector) {
        connector->IND2Connector_iface.lpVtbl = &nd2_connector_vtbl;
        atomic_init(&connector->refs, 1);
        nd_connector_init(&connector->core, &adapter->core, file, nd2_connector_destroy);
        *out = connector;
    }
    adapter->core.sink->file_unref(file);
    return connector ? ND_SUCCESS : ND_NO_MEMORY;
}
