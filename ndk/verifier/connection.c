/* SPDX-License-Identifier: MIT */
/* connection.c - the checked tables of connectors, listeners and shared endpoints. */
#include "ndk/verifier/tables.h"
#include "ndk/verifier/watch.h"

/* ---- connectors ---- */

static NTSTATUS connect_from(NDK_CONNECTOR *connector, NDK_QP *qp, CONST PSOCKADDR source,
    ULONG source_length, CONST PSOCKADDR destination, ULONG length, ULONG inbound, ULONG outbound,
    CONST PVOID data, ULONG data_length, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkConnect"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, qp)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkConnect(connector, qp, source, source_length, destination, length, inbound,
                     outbound, data, data_length, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS connect_shared(NDK_CONNECTOR *connector, NDK_QP *qp, NDK_SHARED_ENDPOINT *endpoint,
    CONST PSOCKADDR destination, ULONG length, ULONG inbound, ULONG outbound, CONST PVOID data,
    ULONG data_length, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(
            &use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkConnectWithSharedEndpoint"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, qp) || !ndk_use_argument(&use, endpoint)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkConnectWithSharedEndpoint(connector, qp, endpoint, destination, length,
                     inbound, outbound, data, data_length, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS complete_connect(NDK_CONNECTOR *connector, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(
            &use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkCompleteConnect"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status =
        NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
            ->NdkCompleteConnect(connector, event, event_context, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS complete_connect_ex(NDK_CONNECTOR *connector,
    NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event, PVOID event_context,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(
            &use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkCompleteConnectEx"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkCompleteConnectEx(
                     connector, event, event_context, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS accept_request(NDK_CONNECTOR *connector, NDK_QP *qp, ULONG inbound, ULONG outbound,
    CONST PVOID data, ULONG data_length, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkAccept"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, qp)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkAccept(connector, qp, inbound, outbound, data, data_length, event,
                     event_context, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS accept_request_ex(NDK_CONNECTOR *connector, NDK_QP *qp, ULONG inbound,
    ULONG outbound, CONST PVOID data, ULONG data_length, NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkAcceptEx"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, qp)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkAcceptEx(connector, qp, inbound, outbound, data, data_length, event,
                     event_context, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS reject(NDK_CONNECTOR *connector, CONST PVOID data, ULONG data_length)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkReject"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)->NdkReject(connector, data, data_length);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS get_data(
    NDK_CONNECTOR *connector, ULONG *inbound, ULONG *outbound, VOID *data, ULONG *length)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(
            &use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkGetConnectionData"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkGetConnectionData(connector, inbound, outbound, data, length);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS get_local_address(NDK_CONNECTOR *connector, SOCKADDR *address, ULONG *length)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(
            &use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkGetLocalAddress"))
        return STATUS_INVALID_DEVICE_STATE;
    result =
        NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)->NdkGetLocalAddress(connector, address, length);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS get_peer_address(NDK_CONNECTOR *connector, SOCKADDR *address, ULONG *length)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkGetPeerAddress"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)->NdkGetPeerAddress(connector, address, length);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS disconnect(
    NDK_CONNECTOR *connector, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, connector, NdkObjectTypeConnector, NDK_LANE_NONE, "NdkDisconnect"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_CONNECTOR_DISPATCH)
                 ->NdkDisconnect(connector, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

const NDK_CONNECTOR_DISPATCH ndk_checked_connector = {
    .NdkCloseConnector = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkConnect = connect_from,
    .NdkConnectWithSharedEndpoint = connect_shared,
    .NdkCompleteConnect = complete_connect,
    .NdkAccept = accept_request,
    .NdkReject = reject,
    .NdkGetConnectionData = get_data,
    .NdkGetLocalAddress = get_local_address,
    .NdkGetPeerAddress = get_peer_address,
    .NdkDisconnect = disconnect,
    .NdkCompleteConnectEx = complete_connect_ex,
    .NdkAcceptEx = accept_request_ex,
};

/* ---- listeners, shared endpoints ---- */

static NTSTATUS listen_at(NDK_LISTENER *listener, CONST PSOCKADDR address, ULONG length,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, listener, NdkObjectTypeListener, NDK_LANE_NONE, "NdkListen"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_LISTENER_DISPATCH)
                 ->NdkListen(listener, address, length, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS get_listener_address(NDK_LISTENER *listener, SOCKADDR *address, ULONG *length)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, listener, NdkObjectTypeListener, NDK_LANE_NONE, "NdkGetLocalAddress"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_LISTENER_DISPATCH)->NdkGetLocalAddress(listener, address, length);
    ndk_use_end(&use);
    return result;
}

static VOID control_events(NDK_LISTENER *listener, BOOLEAN pause)
{
    struct ndk_use use;

    if (!ndk_use_begin(
            &use, listener, NdkObjectTypeListener, NDK_LANE_NONE, "NdkControlConnectEvents"))
        return;
    NDK_PLAIN(&use, NDK_LISTENER_DISPATCH)->NdkControlConnectEvents(listener, pause);
    ndk_use_end(&use);
}

const NDK_LISTENER_DISPATCH ndk_checked_listener = {
    .NdkCloseListener = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkListen = listen_at,
    .NdkGetLocalAddress = get_listener_address,
    .NdkControlConnectEvents = control_events,
};

static NTSTATUS get_endpoint_address(
    NDK_SHARED_ENDPOINT *endpoint, SOCKADDR *address, ULONG *length)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(
            &use, endpoint, NdkObjectTypeSharedEndpoint, NDK_LANE_NONE, "NdkGetLocalAddress"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_SHARED_ENDPOINT_DISPATCH)
                 ->NdkGetLocalAddress(endpoint, address, length);
    ndk_use_end(&use);
    return result;
}

const NDK_SHARED_ENDPOINT_DISPATCH ndk_checked_endpoint = {
    .NdkCloseSharedEndpoint = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkGetLocalAddress = get_endpoint_address,
};
