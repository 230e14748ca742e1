/* SPDX-License-Identifier: MIT */
/*
 * connector.c - IND2Connector over core/connection/connector.h. The last Release closes the core object; the
 * allocation goes with the core object's last pin.
 *
 * Source: NetworkDirect SPI version 2, IND2Connector.
 */
#include "ndspi/core/connection/connector.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_connector {
    IND2Connector IND2Connector_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_connector core;
};

const IID nd2_iid_connector = { 0x6e1f2a56, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Overlapped, &IID_IND2Connector,
    &nd2_iid_connector, NULL };

ND_COM_CORE(nd2_connector, nd_connector);
ND_COM_UNKNOWN(nd2_connector, IND2Connector);
ND2_OVERLAPPED(nd2_connector, IND2Connector, nd_connector);
ND2_REACH(connector, IND2Connector);

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
    struct nd_connect_params params = { .qp = nd2_reach_qp(queue_pair, core->adapter),
        .inbound = inbound,
        .outbound = outbound,
        .data = data,
        .data_octets = data_octets };
    HRESULT hr;

    if (!params.qp)
        return ND_INVALID_PARAMETER_1;
    hr = nd_connector_connect(core, &params, destination, length, overlapped);
    nd2_drop_qp(params.qp);
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
    struct nd_connect_params params = { .qp = nd2_reach_qp(queue_pair, core->adapter),
        .inbound = inbound,
        .outbound = outbound,
        .data = data,
        .data_octets = data_octets };
    HRESULT hr;

    if (!params.qp)
        return ND_INVALID_PARAMETER_1;
    hr = nd_connector_accept(core, &params, overlapped);
    nd2_drop_qp(params.qp);
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
    return nd_connector_get_data(
        &impl_from_IND2Connector(iface)->core, inbound, outbound, NULL, NULL);
}

static HRESULT STDMETHODCALLTYPE nd2_connector_GetPrivateData(
    IND2Connector *iface, void *data, ULONG *data_octets)
{
    size_t octets;
    HRESULT hr;

    if (!data_octets)
        return ND_INVALID_PARAMETER;
    octets = *data_octets;
    hr = nd_connector_get_data(&impl_from_IND2Connector(iface)->core, NULL, NULL, data, &octets);
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
    ND_COM_UNKNOWN_SLOTS(nd2_connector),
    /* IND2Overlapped */
    ND_COM_OVERLAPPED_SLOTS(nd2_connector),
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

    hr = nd2_begin_create_overlapped(adapter, iids, iid, overlapped_file, &file, out);
    if (FAILED(hr))
        return hr;
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
