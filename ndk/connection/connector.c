/* SPDX-License-Identifier: MIT */
/*
 * connector.c - NDK_CONNECTOR over core/connection/connector.h.
 *
 * Source: NDK_CONNECTOR_DISPATCH of the NDKPI documentation.
 */
#include "ndk/connection/connector.h"

#include "ndk/connection/address.h"
#include "ndk/connection/endpoint.h"
#include "ndk/connection/listener.h"
#include "ndk/queue/qp.h"

#include "ndspi/core/address.h"

static struct ndk_connector *from(NDK_CONNECTOR *connector)
{
    return (struct ndk_connector *)connector;
}

static struct ndk_qp *qp_of(const struct ndk_connector *connector, NDK_QP *qp)
{
    return (struct ndk_qp *)ndk_object_of(
        qp ? &qp->Header : NULL, NdkObjectTypeQp, connector->object.root);
}

/* ---- the peer's disconnect ---- */

static void tell_disconnected(struct ndk_call *call)
{
    struct ndk_connector *connector = container_of(call, struct ndk_connector, tell_disconnected);

    if (connector->event)
        connector->event(connector->event_context);
    else
        connector->event_ex(connector->event_context, nd_connector_end_reason(&connector->core));
    nd_object_unpin(&connector->core.object);
}

/* Locks of the core are held. Any other status means that this side ended the connection, which raises no event. */
static void disconnected(struct nd_call *call, HRESULT status)
{
    struct ndk_connector *connector = container_of(call, struct ndk_connector, disconnected);

    if (status != ND_SUCCESS && status != ND_DEVICE_REMOVED)
        return;
    nd_object_pin(&connector->core.object);
    ndk_worker_give(&connector->adapter->root.control, &connector->tell_disconnected);
}

struct event {
    NDK_FN_DISCONNECT_EVENT_CALLBACK plain;
    NDK_FN_DISCONNECT_EVENT_CALLBACK_EX ex;
    PVOID context;
};

/*
 * Stores the event of a call that the core may still refuse, unless another call has stored one. Returns whether it
 * did.
 */
static bool begin_answer(struct ndk_connector *connector, const struct event *event)
{
    if (atomic_exchange_explicit(&connector->answered, true, memory_order_relaxed))
        return false;
    connector->event = event->plain;
    connector->event_ex = event->ex;
    connector->event_context = event->context;
    return true;
}

/* Forgets the event unless the core answered that call with STATUS_PENDING; then the connector may be gone. */
static NTSTATUS end_answer(struct ndk_connector *connector, bool began, NTSTATUS status)
{
    if (began && status != STATUS_PENDING)
        atomic_store_explicit(&connector->answered, false, memory_order_relaxed);
    return status;
}

/* The request of the core that ends when the peer disconnects; NULL: the consumer gave no callback. */
static OVERLAPPED *end_request(struct ndk_connector *connector, const struct event *event)
{
    return event->plain || event->ex ? nd_call_request(&connector->disconnected) : NULL;
}

/* ---- the active side ---- */

/* Begins a call that gives a connector its queue pair, which becomes an antecedent. */
static NTSTATUS begin_use(struct ndk_connector *connector, struct ndk_qp *qp,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context, struct ndk_requesting *requesting)
{
    NTSTATUS status = ndk_request_begin(requesting, &connector->object, true, completion, context);

    if (status == STATUS_SUCCESS)
        ndk_object_follow(&connector->object, &qp->core.object);
    return status;
}

/* Ends that call with the core's answer. After ND_PENDING the connector may be gone. */
static NTSTATUS end_use(
    struct ndk_connector *connector, struct ndk_requesting *requesting, HRESULT started)
{
    if (started != ND_PENDING)
        ndk_object_unfollow(&connector->object);
    return ndk_request_started(requesting, started);
}

/*
 * No connection came of it: the connector may try again, and gives its queue pair and endpoint up. One that was
 * cancelled, since its queue pair was closed, or that lost its device, is at its end.
 */
static void attempt_failed(struct ndk_object *object, NTSTATUS status)
{
    struct ndk_connector *connector = (struct ndk_connector *)object;

    if (status == STATUS_CANCELLED || status == STATUS_DEVICE_REMOVED)
        return;
    ndk_object_unfollow(object); /* the queue pair */
    if (connector->core.endpoint.endpoint) {
        nd_endpoint_leave(&connector->core.endpoint);
        ndk_object_unfollow(object);
    }
    atomic_store_explicit(&connector->used, false, memory_order_release);
}

/* Starts to connect. local in: the local address; NULL: that of params->endpoint */
static NTSTATUS start_connect(struct ndk_connector *connector, NDK_QP *given_qp,
    const struct sockaddr_storage *local, struct nd_connect_params *params,
    CONST PSOCKADDR destination, ULONG length, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_qp *qp = qp_of(connector, given_qp);
    struct ndk_requesting requesting;
    NTSTATUS status;
    HRESULT started;

    if (!qp || !destination || (params->data_octets && !params->data))
        return STATUS_INVALID_PARAMETER;
    if (atomic_exchange_explicit(&connector->used, true, memory_order_acquire))
        return STATUS_INVALID_DEVICE_STATE;
    status = begin_use(connector, qp, completion, context, &requesting);
    if (status == STATUS_SUCCESS) {
        params->qp = &qp->core;
        requesting.request->failed = attempt_failed;
        started = nd_connector_bind_and_connect(&connector->core, local, params, destination,
            length, nd_call_request(&requesting.request->core));
        if (started == ND_PENDING)
            return end_use(connector, &requesting, started);
        status = end_use(connector, &requesting, started);
    }
    atomic_store_explicit(&connector->used, false, memory_order_relaxed);
    return status;
}

static NTSTATUS connect_from(NDK_CONNECTOR *given, NDK_QP *qp, CONST PSOCKADDR source,
    ULONG source_length, CONST PSOCKADDR destination, ULONG length, ULONG inbound, ULONG outbound,
    CONST PVOID data, ULONG data_length, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct nd_connect_params params = {
        .inbound = inbound,
        .outbound = outbound,
        .data = data,
        .data_octets = data_length,
    };
    struct sockaddr_storage local;

    if (!source)
        return STATUS_INVALID_PARAMETER;
    if (FAILED(nd_address_import(source, source_length, &local)) || nd_address_is_wildcard(&local))
        return STATUS_INVALID_ADDRESS;
    return start_connect(
        from(given), qp, &local, &params, destination, length, completion, context);
}

static NTSTATUS connect_with_shared_endpoint(NDK_CONNECTOR *given, NDK_QP *qp,
    NDK_SHARED_ENDPOINT *shared, CONST PSOCKADDR destination, ULONG length, ULONG inbound,
    ULONG outbound, CONST PVOID data, ULONG data_length, NDK_FN_REQUEST_COMPLETION completion,
    PVOID context)
{
    struct ndk_connector *connector = from(given);
    struct ndk_endpoint *endpoint = (struct ndk_endpoint *)ndk_object_of(
        shared ? &shared->Header : NULL, NdkObjectTypeSharedEndpoint, connector->object.root);
    struct nd_connect_params params = {
        .inbound = inbound,
        .outbound = outbound,
        .data = data,
        .data_octets = data_length,
    };
    NTSTATUS status;

    if (!endpoint)
        return STATUS_INVALID_PARAMETER;
    params.endpoint = &endpoint->core;
    ndk_object_follow(&connector->object, &endpoint->core.object);
    status = start_connect(connector, qp, NULL, &params, destination, length, completion, context);
    if (status != STATUS_PENDING)
        ndk_object_unfollow(&connector->object);
    return status;
}

static NTSTATUS complete(struct ndk_connector *connector, const struct event *event,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_requesting requesting;
    NTSTATUS status = ndk_request_begin(&requesting, &connector->object, true, completion, context);
    bool began;

    if (status != STATUS_SUCCESS)
        return status;
    began = begin_answer(connector, event);
    status = ndk_request_started(&requesting,
        nd_connector_complete_connect_telling(&connector->core, end_request(connector, event),
            nd_call_request(&requesting.request->core)));
    return end_answer(connector, began, status);
}

static NTSTATUS complete_connect(NDK_CONNECTOR *given, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct event events = { .plain = event, .context = event_context };

    return complete(from(given), &events, completion, context);
}

static NTSTATUS complete_connect_ex(NDK_CONNECTOR *given, NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct event events = { .ex = event, .context = event_context };

    return complete(from(given), &events, completion, context);
}

/* ---- the passive side ---- */

static NTSTATUS start_accept(struct ndk_connector *connector, NDK_QP *given_qp,
    struct nd_connect_params *params, const struct event *event,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_qp *qp = qp_of(connector, given_qp);
    struct ndk_requesting requesting;
    NTSTATUS status;
    bool began;

    if (!qp || (params->data_octets && !params->data))
        return STATUS_INVALID_PARAMETER;
    status = begin_use(connector, qp, completion, context, &requesting);
    if (status != STATUS_SUCCESS)
        return status;
    params->qp = &qp->core;
    params->told = end_request(connector, event);
    began = begin_answer(connector, event);
    status = end_use(connector, &requesting,
        nd_connector_accept(&connector->core, params, nd_call_request(&requesting.request->core)));
    return end_answer(connector, began, status);
}

static NTSTATUS accept_request(NDK_CONNECTOR *given, NDK_QP *qp, ULONG inbound, ULONG outbound,
    CONST PVOID data, ULONG data_length, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct event events = { .plain = event, .context = event_context };
    struct nd_connect_params params = {
        .inbound = inbound,
        .outbound = outbound,
        .data = data,
        .data_octets = data_length,
    };

    return start_accept(from(given), qp, &params, &events, completion, context);
}

static NTSTATUS accept_request_ex(NDK_CONNECTOR *given, NDK_QP *qp, ULONG inbound, ULONG outbound,
    CONST PVOID data, ULONG data_length, NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event,
    PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct event events = { .ex = event, .context = event_context };
    struct nd_connect_params params = {
        .inbound = inbound,
        .outbound = outbound,
        .data = data,
        .data_octets = data_length,
    };

    return start_accept(from(given), qp, &params, &events, completion, context);
}

static NTSTATUS reject(NDK_CONNECTOR *given, CONST PVOID data, ULONG length)
{
    if (length && !data)
        return STATUS_INVALID_PARAMETER;
    return ndk_status(nd_connector_reject(&from(given)->core, data, length));
}

/* ---- queries ---- */

static NTSTATUS get_connection_data(
    NDK_CONNECTOR *given, ULONG *inbound, ULONG *outbound, VOID *data, ULONG *length)
{
    size_t octets;
    HRESULT status;

    if (!length || (*length && !data))
        return STATUS_INVALID_PARAMETER;
    octets = *length;
    status = nd_connector_get_data(&from(given)->core, inbound, outbound, data, &octets);
    if (status != ND_SUCCESS && status != ND_BUFFER_OVERFLOW)
        return ndk_status(status);
    *length = (ULONG)octets;
    return status == ND_SUCCESS || !data ? STATUS_SUCCESS : STATUS_BUFFER_TOO_SMALL;
}

static NTSTATUS get_local_address(NDK_CONNECTOR *given, SOCKADDR *address, ULONG *length)
{
    size_t size;

    if (!length)
        return STATUS_INVALID_PARAMETER;
    size = *length;
    return ndk_address_got(
        nd_connector_get_local_address(&from(given)->core, address, &size), &size, length);
}

static NTSTATUS get_peer_address(NDK_CONNECTOR *given, SOCKADDR *address, ULONG *length)
{
    size_t size;

    if (!length)
        return STATUS_INVALID_PARAMETER;
    size = *length;
    return ndk_address_got(
        nd_connector_get_peer_address(&from(given)->core, address, &size), &size, length);
}

/* ---- the end ---- */

static NTSTATUS disconnect(
    NDK_CONNECTOR *given, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_connector *connector = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status = ndk_request_begin(&requesting, &connector->object, true, completion, context);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_started(&requesting,
        nd_connector_disconnect(&connector->core, nd_call_request(&requesting.request->core)));
}

static void close_core(struct ndk_object *object)
{
    nd_connector_close(&((struct ndk_connector *)object)->core);
}

static NTSTATUS close_connector(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

void ndk_connector_discard(struct ndk_connector *connector)
{
    (void)ndk_object_close(&connector->object, close_core, NULL, NULL);
}

/* ---- life ---- */

static const NDK_CONNECTOR_DISPATCH dispatch = {
    .NdkCloseConnector = close_connector,
    .NdkQueryExtension = ndk_query_extension,
    .NdkConnect = connect_from,
    .NdkConnectWithSharedEndpoint = connect_with_shared_endpoint,
    .NdkCompleteConnect = complete_connect,
    .NdkAccept = accept_request,
    .NdkReject = reject,
    .NdkGetConnectionData = get_connection_data,
    .NdkGetLocalAddress = get_local_address,
    .NdkGetPeerAddress = get_peer_address,
    .NdkDisconnect = disconnect,
    .NdkCompleteConnectEx = complete_connect_ex,
    .NdkAcceptEx = accept_request_ex,
};

static void free_connector(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_connector *connector =
        container_of((struct nd_connector *)object, struct ndk_connector, core);

    nd_connector_fini(&connector->core);
    ndk_object_gone(&connector->object);
}

struct ndk_connector *ndk_connector_make(struct ndk_adapter *adapter, struct ndk_listener *listener)
{
    struct ndk_connector *connector = nd_object_alloc(sizeof(*connector));

    if (!connector)
        return NULL;
    nd_connector_init(&connector->core, adapter->core, nd_sink_calls_file(), destroy);
    connector->adapter = adapter;
    connector->listener = listener;
    connector->disconnected.end = disconnected;
    connector->tell_disconnected.run = tell_disconnected;
    atomic_init(&connector->used, listener != NULL);
    atomic_init(&connector->answered, false);
    ndk_object_init(&connector->object, NdkObjectTypeConnector, &dispatch, &adapter->root,
        &connector->core.object, free_connector);
    ndk_object_follow(&connector->object, &adapter->pins);
    if (listener)
        ndk_object_follow(&connector->object, &listener->core.object);
    return connector;
}

NTSTATUS ndk_create_connector(
    NDK_ADAPTER *given, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_CONNECTOR **out)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    struct ndk_connector *connector;
    struct ndk_creation creation;
    NTSTATUS status =
        ndk_creation_begin(&creation, &adapter->root, completion, context, (void **)out);

    if (status != STATUS_SUCCESS)
        return status;
    connector = ndk_connector_make(adapter, NULL);
    return ndk_creation_end(&creation, connector ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES,
        connector ? &connector->object : NULL);
}
