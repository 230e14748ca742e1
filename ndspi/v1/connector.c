/* SPDX-License-Identifier: MIT */
/*
 * connector.c - INDConnector over core/connection/connector.h. It makes endpoints, which hold it: the program's last
 * Release ends its requests and an attempt to connect; an established connection ends with the last endpoint.
 *
 * Source: NetworkDirect SPI version 1, INDConnector.
 */
#include "ndspi/core/address.h"
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

const IID nd1_iid_connector = { 0x6e1f2a66, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_INDOverlapped, &IID_INDConnector,
    &nd1_iid_connector, NULL };

static void nd1_connector_close(struct nd1_connector *connector)
{
    nd_connector_leave(&connector->core);
    nd1_connector_let_go(connector);
}

static void nd1_connector_destroy(struct nd_object *object)
{
    struct nd_connector *core = (struct nd_connector *)object;

    nd_connector_fini(core);
    free(container_of(core, struct nd1_connector, core));
}

ND_COM_UNKNOWN(nd1_connector, INDConnector);
ND1_OVERLAPPED(nd1_connector, INDConnector, nd_connector);
ND1_REACH(connector, INDConnector, nd_connector);

/* ---- INDConnector ---- */

/* The parameters of CreateEndpoint, in its order. */
struct wanted {
    SIZE_T inbound_entries, outbound_entries, inbound_sge, outbound_sge, inbound_reads,
        outbound_reads;
};

/* Returns the code for the position of the first number that is wrong. */
static HRESULT check_wanted(const struct nd_limits *limits, const struct wanted *wanted)
{
    if (wanted->inbound_entries > limits->max_receive_depth)
        return ND_INVALID_PARAMETER_3;
    if (!wanted->outbound_entries || wanted->outbound_entries > nd_limits_initiator_most(limits))
        return ND_INVALID_PARAMETER_4;
    if (wanted->inbound_sge > limits->max_receive_sge)
        return ND_INVALID_PARAMETER_5;
    if (wanted->outbound_sge > limits->max_initiator_sge)
        return ND_INVALID_PARAMETER_6;
    if (wanted->inbound_reads > limits->max_inbound_reads)
        return ND_INVALID_PARAMETER_7;
    return wanted->outbound_reads > limits->max_outbound_reads ? ND_INVALID_PARAMETER_8
                                                               : ND_SUCCESS;
}

static HRESULT create_endpoint(struct nd1_connector *connector, struct nd_cq *inbound_cq,
    struct nd_cq *outbound_cq, const struct wanted *wanted, INDEndpoint **out)
{
    const struct nd_limits *limits = &connector->adapter->core.limits;
    const struct nd_qp_params params = {
        .receive_cq = inbound_cq,
        .initiator_cq = outbound_cq,
        .receive_depth = (uint32_t)wanted->inbound_entries,
        .initiator_depth = (uint32_t)wanted->outbound_entries,
        .receive_sge = (uint32_t)wanted->inbound_sge,
        .initiator_sge = (uint32_t)wanted->outbound_sge,
        .inline_data = limits->max_inline,
        .inbound_reads = (uint32_t)wanted->inbound_reads,
        .outbound_reads = (uint32_t)wanted->outbound_reads,
    };
    HRESULT hr;

    if (!inbound_cq)
        return ND_INVALID_PARAMETER_1;
    if (!outbound_cq)
        return ND_INVALID_PARAMETER_2;
    if (FAILED(hr = check_wanted(limits, wanted)))
        return hr;
    hr = nd1_endpoint_create(connector, &params, out);
    /* Beyond the adapter's own limit the device decides. */
    if (hr == ND_INSUFFICIENT_RESOURCES && params.initiator_depth > limits->max_initiator_depth)
        return ND_INVALID_PARAMETER_4;
    return hr;
}

/* max_inline: the call has no such parameter, so an endpoint gets the most there is. */
static HRESULT STDMETHODCALLTYPE nd1_connector_CreateEndpoint(INDConnector *iface,
    INDCompletionQueue *inbound_cq, INDCompletionQueue *outbound_cq, SIZE_T inbound_entries,
    SIZE_T outbound_entries, SIZE_T inbound_sge, SIZE_T outbound_sge, SIZE_T inbound_reads,
    SIZE_T outbound_reads, SIZE_T *max_inline, INDEndpoint **out)
{
    struct nd1_connector *connector = impl_from_INDConnector(iface);
    struct nd1_adapter *adapter = connector->adapter;
    const struct wanted wanted = { inbound_entries, outbound_entries, inbound_sge, outbound_sge,
        inbound_reads, outbound_reads };
    HRESULT hr = nd1_begin_create(adapter, (void **)out);
    struct nd_cq *inbound, *outbound;

    if (FAILED(hr))
        return hr;
    inbound = nd1_reach_cq(inbound_cq, &adapter->core);
    outbound = nd1_reach_cq(outbound_cq, &adapter->core);
    hr = create_endpoint(connector, inbound, outbound, &wanted, out);
    if (SUCCEEDED(hr) && max_inline)
        *max_inline = adapter->core.limits.max_inline;
    nd1_drop_cq(outbound);
    nd1_drop_cq(inbound);
    return hr;
}

/*
 * Ends Connect and Accept, which have held the connector. The endpoint keeps the connector that it is connected
 * through, its maker or another one (programs use a new one after a timeout): the connection outlives the program's
 * reference to that connector.
 */
static HRESULT end_keeping(struct nd1_connector *connector, struct nd_qp *qp, HRESULT hr)
{
    if (FAILED(hr))
        nd1_connector_let_go(connector);
    else
        nd1_endpoint_keep(qp, connector);
    nd1_drop_endpoint(qp);
    return hr;
}

/* protocol: known programs pass any number. */
static HRESULT STDMETHODCALLTYPE nd1_connector_Connect(INDConnector *iface, INDEndpoint *endpoint,
    const struct sockaddr *destination, SIZE_T length, INT protocol, USHORT local_port_be,
    const VOID *data, SIZE_T data_octets, OVERLAPPED *overlapped)
{
    struct nd1_connector *connector = impl_from_INDConnector(iface);
    struct sockaddr_storage local = connector->adapter->address;
    struct nd_connect_params params = { .qp = nd1_reach_endpoint(endpoint, connector->core.adapter),
        .data = data,
        .data_octets = data_octets };

    (void)protocol;
    if (!params.qp)
        return ND_INVALID_PARAMETER_1;
    params.inbound = params.qp->inbound_reads;
    params.outbound = params.qp->outbound_reads;
    nd_address_set_port_be(&local, local_port_be);
    nd1_connector_hold(connector);
    return end_keeping(connector, params.qp,
        nd_connector_bind_and_connect(
            &connector->core, &local, &params, destination, length, overlapped));
}

static HRESULT STDMETHODCALLTYPE nd1_connector_CompleteConnect(
    INDConnector *iface, OVERLAPPED *overlapped)
{
    return nd_connector_complete_connect(&impl_from_INDConnector(iface)->core, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd1_connector_Accept(INDConnector *iface, INDEndpoint *endpoint,
    const VOID *data, SIZE_T data_octets, OVERLAPPED *overlapped)
{
    struct nd1_connector *connector = impl_from_INDConnector(iface);
    struct nd_connect_params params = { .qp = nd1_reach_endpoint(endpoint, connector->core.adapter),
        .data = data,
        .data_octets = data_octets };

    if (!params.qp)
        return ND_INVALID_PARAMETER_1;
    params.inbound = params.qp->inbound_reads;
    params.outbound = params.qp->outbound_reads;
    nd1_connector_hold(connector);
    return end_keeping(
        connector, params.qp, nd_connector_accept(&connector->core, &params, overlapped));
}

static HRESULT STDMETHODCALLTYPE nd1_connector_Reject(
    INDConnector *iface, const VOID *data, SIZE_T data_octets)
{
    return nd_connector_reject(&impl_from_INDConnector(iface)->core, data, data_octets);
}

static HRESULT STDMETHODCALLTYPE nd1_connector_GetConnectionData(INDConnector *iface,
    SIZE_T *inbound_reads, SIZE_T *outbound_reads, VOID *data, SIZE_T *data_octets)
{
    ULONG inbound = 0, outbound = 0;
    HRESULT hr;

    if (data && !data_octets)
        return ND_INVALID_PARAMETER;
    hr = nd_connector_get_data(&impl_from_INDConnector(iface)->core,
        inbound_reads ? &inbound : NULL, outbound_reads ? &outbound : NULL, data, data_octets);
    if (FAILED(hr) && hr != ND_BUFFER_OVERFLOW)
        return hr;
    if (inbound_reads)
        *inbound_reads = inbound;
    if (outbound_reads)
        *outbound_reads = outbound;
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd1_connector_GetLocalAddress(
    INDConnector *iface, struct sockaddr *address, SIZE_T *length)
{
    return nd_connector_get_local_address(&impl_from_INDConnector(iface)->core, address, length);
}

static HRESULT STDMETHODCALLTYPE nd1_connector_GetPeerAddress(
    INDConnector *iface, struct sockaddr *address, SIZE_T *length)
{
    return nd_connector_get_peer_address(&impl_from_INDConnector(iface)->core, address, length);
}

static HRESULT STDMETHODCALLTYPE nd1_connector_NotifyDisconnect(
    INDConnector *iface, OVERLAPPED *overlapped)
{
    return nd_connector_notify_disconnect(&impl_from_INDConnector(iface)->core, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd1_connector_Disconnect(
    INDConnector *iface, OVERLAPPED *overlapped)
{
    return nd_connector_disconnect(&impl_from_INDConnector(iface)->core, overlapped);
}

static const INDConnectorVtbl nd1_connector_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd1_connector),
    /* INDOverlapped */
    ND_COM_OVERLAPPED_SLOTS(nd1_connector),
    /* INDConnector */
    .CreateEndpoint = nd1_connector_CreateEndpoint,
    .Connect = nd1_connector_Connect,
    .CompleteConnect = nd1_connector_CompleteConnect,
    .Accept = nd1_connector_Accept,
    .Reject = nd1_connector_Reject,
    .GetConnectionData = nd1_connector_GetConnectionData,
    .GetLocalAddress = nd1_connector_GetLocalAddress,
    .GetPeerAddress = nd1_connector_GetPeerAddress,
    .NotifyDisconnect = nd1_connector_NotifyDisconnect,
    .Disconnect = nd1_connector_Disconnect,
};

HRESULT nd1_connector_create(struct nd1_adapter *adapter, INDConnector **out)
{
    HRESULT hr = nd1_begin_create(adapter, (void **)out);
    struct nd1_connector *connector;

    if (FAILED(hr))
        return hr;
    if (!(connector = nd_object_alloc(sizeof(*connector))))
        return ND_NO_MEMORY;
    connector->INDConnector_iface.lpVtbl = &nd1_connector_vtbl;
    atomic_init(&connector->refs, 1);
    atomic_init(&connector->holders, 1);
    connector->adapter = adapter;
    nd_connector_init(&connector->core, &adapter->core, adapter->file, nd1_connector_destroy);
    *out = &connector->INDConnector_iface;
    return ND_SUCCESS;
}
