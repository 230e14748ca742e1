/* SPDX-License-Identifier: MIT */
/*
 * listener.c - NDK_LISTENER over core/connection/listener.h.
 *
 * Source: NDK_LISTENER_DISPATCH of the NDKPI documentation.
 */
#include "ndk/connection/listener.h"

#include "ndk/connection/address.h"
#include "ndk/connection/connector.h"

#include "ndspi/core/address.h"

static struct ndk_listener *from(NDK_LISTENER *listener)
{
    return (struct ndk_listener *)listener;
}

/* ---- requests ---- */

static struct ndk_connector *around(struct nd_connector *core)
{
    return container_of(core, struct ndk_connector, core);
}

/*
 * The connector belongs to the consumer once its function is called. The listener is pinned until the function has
 * returned.
 */
static void tell_request(struct ndk_call *call)
{
    struct ndk_connector *connector = container_of(call, struct ndk_connector, tell_request);
    struct ndk_listener *listener = connector->listener;

    if (atomic_load_explicit(&listener->closing, memory_order_acquire))
        ndk_connector_discard(connector);
    else
        listener->event(listener->event_context, (NDK_CONNECTOR *)connector);
    nd_object_unpin(&listener->core.object);
}

static struct nd_connector *make_connector(struct nd_listener *core)
{
    struct ndk_listener *listener = container_of(core, struct ndk_listener, core);
    struct ndk_connector *connector = ndk_connector_make(listener->adapter, listener);

    if (!connector)
        return NULL;
    connector->tell_request.run = tell_request;
    return &connector->core;
}

/* The listener's lock is held. */
static void deliver(struct nd_listener *core, struct nd_connector *connector)
{
    struct ndk_listener *listener = container_of(core, struct ndk_listener, core);

    nd_object_pin(&core->object);
    ndk_worker_give(&listener->adapter->root.control, &around(connector)->tell_request);
}

static void discard(struct nd_listener *core, struct nd_connector *connector)
{
    (void)core;
    ndk_connector_discard(around(connector));
}

static const struct nd_listener_ops ops = {
    .make = make_connector,
    .deliver = deliver,
    .discard = discard,
};

/* ---- calls ---- */

/*
 * The wildcard stands for the adapter's address if it has one of that family. Returns STATUS_SUCCESS or
 * STATUS_INVALID_ADDRESS.
 */
static NTSTATUS choose_address(const struct ndk_adapter *adapter, struct sockaddr_storage *address)
{
    struct sockaddr_storage *all, found = { 0 };
    unsigned count, matches = 0;
    HRESULT status = nd_provider_addresses(adapter->core->device, &all, &count);

    if (FAILED(status))
        return ndk_status(status);
    for (unsigned i = 0; i < count; i++)
        if (all[i].ss_family == address->ss_family && matches++ == 0)
            found = all[i];
    free(all);
    if (matches != 1)
        return STATUS_INVALID_ADDRESS;
    nd_address_set_port_be(&found, nd_address_port_be(address));
    *address = found;
    return STATUS_SUCCESS;
}

static NTSTATUS start(struct ndk_listener *listener, CONST PSOCKADDR given, ULONG length)
{
    struct sockaddr_storage address;
    NTSTATUS status = STATUS_SUCCESS;
    HRESULT bound;

    if (FAILED(nd_address_import(given, length, &address)))
        return STATUS_INVALID_ADDRESS;
    if (nd_address_is_wildcard(&address))
        status = choose_address(listener->adapter, &address);
    if (status != STATUS_SUCCESS)
        return status;
    bound = nd_listener_bind(&listener->core, (struct sockaddr *)&address, sizeof(address));
    if (bound == ND_STATUS_ADDRESS_ALREADY_ASSOCIATED)
        return STATUS_INVALID_DEVICE_STATE;
    if (SUCCEEDED(bound))
        bound = nd_listener_listen(&listener->core, 0);
    return ndk_status(bound);
}

static NTSTATUS listen_at(NDK_LISTENER *given, CONST PSOCKADDR address, ULONG length,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_listener *listener = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status;

    if (!address)
        return STATUS_INVALID_PARAMETER;
    status = ndk_request_begin(&requesting, &listener->object, false, completion, context);
    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_end(&requesting, start(listener, address, length));
}

static NTSTATUS get_local_address(NDK_LISTENER *given, SOCKADDR *address, ULONG *length)
{
    size_t size;

    if (!length)
        return STATUS_INVALID_PARAMETER;
    size = *length;
    return ndk_address_got(
        nd_listener_get_local_address(&from(given)->core, address, &size), &size, length);
}

static VOID control_connect_events(NDK_LISTENER *listener, BOOLEAN pause)
{
    nd_listener_pause(&from(listener)->core, pause);
}

/* ---- life ---- */

static void close_core(struct ndk_object *object)
{
    struct ndk_listener *listener = (struct ndk_listener *)object;

    atomic_store_explicit(&listener->closing, true, memory_order_release);
    nd_listener_close(&listener->core);
}

static NTSTATUS close_listener(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_LISTENER_DISPATCH dispatch = {
    .NdkCloseListener = close_listener,
    .NdkQueryExtension = ndk_query_extension,
    .NdkListen = listen_at,
    .NdkGetLocalAddress = get_local_address,
    .NdkControlConnectEvents = control_connect_events,
};

static void free_listener(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_listener *listener =
        container_of((struct nd_listener *)object, struct ndk_listener, core);

    nd_listener_fini(&listener->core);
    ndk_object_gone(&listener->object);
}

static struct ndk_listener *make(struct ndk_adapter *adapter)
{
    struct ndk_listener *listener = nd_object_alloc(sizeof(*listener));

    if (!listener)
        return NULL;
    nd_listener_init(&listener->core, adapter->core, nd_sink_calls_file(), destroy);
    nd_listener_deliver_to(&listener->core, &ops);
    listener->adapter = adapter;
    atomic_init(&listener->closing, false);
    ndk_object_init(&listener->object, NdkObjectTypeListener, &dispatch, &adapter->root,
        &listener->core.object, free_listener);
    ndk_object_follow(&listener->object, &adapter->pins);
    return listener;
}

NTSTATUS ndk_create_listener(NDK_ADAPTER *given, NDK_FN_CONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_LISTENER **out)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    struct ndk_listener *listener;
    struct ndk_creation creation;
    NTSTATUS status;

    if (!event)
        return STATUS_INVALID_PARAMETER;
    status = ndk_creation_begin(&creation, &adapter->root, completion, context, (void **)out);
    if (status != STATUS_SUCCESS)
        return status;
    if ((listener = make(adapter))) {
        listener->event = event;
        listener->event_context = event_context;
    }
    return ndk_creation_end(&creation, listener ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES,
        listener ? &listener->object : NULL);
}
