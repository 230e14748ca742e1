/* SPDX-License-Identifier: MIT */
#include "ndspi/core/connection/listener.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/connection/port.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GET_REQUEST }; /* the one kind of pending request */
enum { BACKLOG_OF_DEVICE = 1024, WILDCARD_TRIES = 16 };

struct request {
    struct list_node link;
    struct nd_cm_id *id; /* pinned */
    struct nd_cm_event event;
};

struct waiter {
    struct list_node link;
    struct nd_connector *connector; /* pinned */
};

/* ---- requests and waiters ---- */

static void drop_request(struct request *request)
{
    nd_cm_id_unpin(request->id); /* destroying the id rejects the request */
    free(request);
}

static void drop_waiter(struct waiter *waiter)
{
    nd_object_unpin(&waiter->connector->object);
    free(waiter);
}

/*
 * Matches waiters with requests as long as there are both. Moves those done with to the given lists, which the caller
 * drops without the lock.
 */
static void match_locked(
    struct nd_listener *listener, struct list_head *requests, struct list_head *waiters)
{
    lock_assert_held(&listener->lock);
    while (!list_empty(&listener->waiting) && !list_empty(&listener->requests)) {
        struct waiter *waiter = list_entry(list_pop(&listener->waiting), struct waiter, link);
        struct request *request = list_entry(listener->requests.n.next, struct request, link);
        bool delivered = nd_connector_deliver(waiter->connector, request->id, &request->event);

        nd_pending_complete_match(&listener->pending, GET_REQUEST, waiter->connector,
            delivered ? ND_SUCCESS : ND_CANCELED);
        list_add_tail(waiters, &waiter->link);
        if (delivered) {
            request->id = NULL;
            list_del(&request->link);
            listener->requests_kept--;
            list_add_tail(requests, &request->link);
        }
    }
}

static void drop_all(struct list_head *requests, struct list_head *waiters)
{
    struct list_node *node;

    while ((node = list_pop(requests)))
        drop_request(list_entry(node, struct request, link));
    while ((node = list_pop(waiters)))
        drop_waiter(list_entry(node, struct waiter, link));
}

/* ---- events of its ids, and of requests that are kept ---- */

static const struct nd_cm_owner_ops id_ops;

static void turn_away(const struct nd_listener *listener, struct nd_cm_id *request, const char *why)
{
    log_limited(LOG_INFO, LOG_CM, "adapter %s: a connection request is turned away: %s",
        listener->adapter->device->name, why);
    nd_cm_id_unpin(request); /* destroying the id rejects it */
}

static bool takes_requests_locked(const struct nd_listener *listener)
{
    return listener->state == ND_LISTENER_LISTENING && !listener->paused;
}

/* The request gets a connector of its own. */
static void deliver_request(struct nd_listener *listener, struct nd_cm_event *event)
{
    const struct nd_listener_ops *ops = listener->ops;
    struct nd_connector *connector = NULL;
    bool takes, delivered = false;

    lock_acquire(&listener->lock);
    takes = takes_requests_locked(listener);
    lock_release(&listener->lock);
    if (takes && !(connector = ops->make(listener))) {
        turn_away(listener, event->request, "no memory");
        return;
    }
    lock_acquire(&listener->lock);
    if (connector && takes_requests_locked(listener)) {
        (void)nd_connector_enqueue(connector, listener); /* a new connector is Idle */
        connector->claim = nd_claim_ref(listener->claim);
        delivered = nd_connector_deliver(connector, event->request, event);
        if (delivered)
            ops->deliver(listener, connector);
    }
    lock_release(&listener->lock);
    if (delivered)
        return;
    turn_away(listener, event->request, "the listener is paused or closed");
    if (connector)
        ops->discard(listener, connector);
}

static void keep_request(struct nd_listener *listener, struct nd_cm_event *event)
{
    struct request *request = malloc(sizeof(*request));
    struct list_head requests, waiters;
    bool kept = false;

    list_init(&requests);
    list_init(&waiters);
    if (!request) {
        turn_away(listener, event->request, "no memory");
        return;
    }
    request->id = event->request;
    memcpy(&request->event, event, sizeof(*event));
    list_node_init(&request->link);

    lock_acquire(&listener->lock);
    /* While a connector waits no request is kept, so the backlog rejects none. */
    if (takes_requests_locked(listener) &&
        (!listener->backlog || listener->requests_kept < listener->backlog)) {
        kept = true;
        nd_cm_id_set_owner(request->id, &id_ops, listener);
        list_add_tail(&listener->requests, &request->link);
        listener->requests_kept++;
        match_locked(listener, &requests, &waiters);
    }
    lock_release(&listener->lock);
    if (!kept) {
        log_limited(LOG_INFO, LOG_CM,
            "adapter %s: a connection request above the backlog is turned away",
            listener->adapter->device->name);
        drop_request(request);
    }
    drop_all(&requests, &waiters);
}

static void request_arrived(struct nd_listener *listener, struct nd_cm_event *event)
{
    if (listener->ops)
        deliver_request(listener, event);
    else
        keep_request(listener, event);
}

/* A kept request died. Returns false if a connector has it by now. */
static bool request_ended(struct nd_listener *listener, struct nd_cm_id *id)
{
    struct request *found = NULL;

    lock_acquire(&listener->lock);
    list_for_each (&listener->requests, node)
        if (list_entry(node, struct request, link)->id == id)
            found = list_entry(node, struct request, link);
    if (found) {
        list_del(&found->link);
        listener->requests_kept--;
        nd_cm_id_set_owner(id, NULL, NULL);
    }
    lock_release(&listener->lock);
    if (!found)
        return false;
    log_limited(LOG_INFO, LOG_CM, "a connection request was withdrawn by its peer");
    drop_request(found);
    return true;
}

static bool is_own_locked(const struct nd_listener *listener, const struct nd_cm_id *id)
{
    for (unsigned i = 0; i < listener->id_count; i++)
        if (listener->ids[i] == id)
            return true;
    return false;
}

static bool id_event(void *owner, struct nd_cm_id *id, struct nd_cm_event *event)
{
    struct nd_listener *listener = owner;
    bool own;

    switch (event->type) {
    case RDMA_CM_EVENT_CONNECT_REQUEST: request_arrived(listener, event); return true;
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_DISCONNECTED: return request_ended(listener, id);
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        lock_acquire(&listener->lock);
        own = is_own_locked(listener, id);
        lock_release(&listener->lock);
        if (!own)
            return request_ended(listener, id);
        nd_adapter_remove(listener->adapter);
        nd_pending_complete_all(&listener->pending, 1u << GET_REQUEST, ND_DEVICE_REMOVED);
        return true;
    default: return true;
    }
}

static void id_pin(void *owner)
{
    nd_object_pin(&((struct nd_listener *)owner)->object);
}

static void id_unpin(void *owner)
{
    nd_object_unpin(&((struct nd_listener *)owner)->object);
}

static const struct nd_cm_owner_ops id_ops = {
    .pin = id_pin,
    .unpin = id_unpin,
    .event = id_event,
};

static void close_ids(struct nd_cm_id **ids, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        nd_cm_id_set_owner(ids[i], NULL, NULL);
        nd_cm_id_close(ids[i]);
    }
}

/* ---- GetConnectionRequest ---- */

HRESULT nd_listener_get_request(
    struct nd_listener *listener, struct nd_connector *connector, OVERLAPPED *overlapped)
{
    struct list_head requests, waiters;
    struct waiter *waiter;
    HRESULT hr;

    if (nd_adapter_removed(listener->adapter))
        return ND_DEVICE_REMOVED;
    if (!overlapped)
        return ND_INVALID_PARAMETER;
    waiter = malloc(sizeof(*waiter));
    if (!waiter)
        return ND_NO_MEMORY;
    list_node_init(&waiter->link);
    waiter->connector = connector;
    list_init(&requests);
    list_init(&waiters);

    lock_acquire(&listener->lock);
    hr = listener->state == ND_LISTENER_LISTENING ? nd_connector_enqueue(connector, listener)
                                                  : ND_INVALID_DEVICE_STATE;
    if (SUCCEEDED(hr)) {
        hr = nd_pending_add(&listener->pending, overlapped, GET_REQUEST, connector);
        if (FAILED(hr))
            nd_connector_dequeue(connector);
    }
    if (SUCCEEDED(hr)) {
        nd_object_pin(&connector->object);
        list_add_tail(&listener->waiting, &waiter->link);
        match_locked(listener, &requests, &waiters);
    }
    lock_release(&listener->lock);
    if (FAILED(hr))
        free(waiter);
    drop_all(&requests, &waiters);
    return hr;
}

/* Removes all waiters; their connectors are idle again before their requests end. */
static void cancel_locked(struct nd_listener *listener, struct list_head *waiters)
{
    lock_assert_held(&listener->lock);
    list_splice_tail(waiters, &listener->waiting);
    list_for_each (waiters, node)
        nd_connector_dequeue(list_entry(node, struct waiter, link)->connector);
    nd_pending_cancel(&listener->pending);
}

void nd_listener_cancel(struct nd_listener *listener)
{
    struct list_head requests, waiters;

    list_init(&requests);
    list_init(&waiters);
    lock_acquire(&listener->lock);
    cancel_locked(listener, &waiters);
    lock_release(&listener->lock);
    drop_all(&requests, &waiters);
}

void nd_listener_withdraw(struct nd_listener *listener, struct nd_connector *connector)
{
    struct waiter *found = NULL;

    lock_acquire(&listener->lock);
    list_for_each (&listener->waiting, node)
        if (list_entry(node, struct waiter, link)->connector == connector)
            found = list_entry(node, struct waiter, link);
    if (found) {
        list_del(&found->link);
        nd_pending_complete_match(&listener->pending, GET_REQUEST, connector, ND_CANCELED);
    }
    lock_release(&listener->lock);
    if (found)
        drop_waiter(found);
}

/* ---- life ---- */

static void cancel(struct nd_object *object)
{
    nd_listener_cancel((struct nd_listener *)object);
}

void nd_listener_init(struct nd_listener *listener, struct nd_adapter *adapter,
    struct nd_sink_file *file, void (*destroy)(struct nd_object *object))
{
    nd_object_init(&listener->object, destroy);
    nd_adapter_pin(adapter);
    listener->adapter = adapter;
    lock_init(&listener->lock, LOCK_LISTENER, "listener");
    listener->state = ND_LISTENER_IDLE;
    list_init(&listener->requests);
    list_init(&listener->waiting);
    nd_pending_init(&listener->pending, adapter->sink, file, &listener->object, cancel);
}

void nd_listener_fini(struct nd_listener *listener)
{
    nd_pending_fini(&listener->pending);
    free(listener->ids);
    nd_adapter_unpin(listener->adapter);
}

void nd_listener_close(struct nd_listener *listener)
{
    struct list_head requests, waiters;
    struct nd_cm_id **ids;
    struct nd_claim *claim;
    unsigned id_count;

    list_init(&requests);
    list_init(&waiters);
    lock_acquire(&listener->lock);
    listener->state = ND_LISTENER_CLOSED;
    claim = listener->claim;
    listener->claim = NULL;
    ids = listener->ids;
    id_count = listener->id_count;
    listener->ids = NULL;
    listener->id_count = 0;
    list_splice_tail(&requests, &listener->requests);
    list_for_each (&requests, node)
        nd_cm_id_set_owner(list_entry(node, struct request, link)->id, NULL, NULL);
    cancel_locked(listener, &waiters);
    lock_release(&listener->lock);

    if (ids)
        close_ids(ids, id_count);
    free(ids);
    nd_claim_drop(claim);
    drop_all(&requests, &waiters);
    nd_object_unpin(&listener->object);
}

/* ---- Bind, Listen, GetLocalAddress ---- */

/* One id bound to one address. Returns 0 or a negative errno. */
static int bind_one(
    struct nd_listener *listener, struct sockaddr_storage *address, struct nd_cm_id **out)
{
    const struct nd_verbs *verbs = listener->adapter->verbs;
    struct nd_cm_id *id;
    int error = nd_cm_id_create(&listener->adapter->cm, &id_ops, listener, &id);

    if (error)
        return error;
    error = -nd_port_bind(listener->adapter, id->id, address);
    if (!error && !nd_cm_id_on_device(id))
        error = -EADDRNOTAVAIL;
    if (error) {
        close_ids(&id, 1);
        return error;
    }
    nd_address_set_port_be(address, verbs->get_src_port(id->id));
    *out = id;
    return 0;
}

/* Binds all addresses to one port; port_be 0 = the port that the first bind chose. Returns 0 or a negative errno. */
static int bind_all(struct nd_listener *listener, const struct sockaddr_storage *addresses,
    unsigned count, uint16_t *port_be, struct nd_cm_id **ids)
{
    unsigned bound = 0;
    int error = 0;

    for (; bound < count && !error; bound++) {
        struct sockaddr_storage address = addresses[bound];

        nd_address_set_port_be(&address, *port_be);
        error = bind_one(listener, &address, &ids[bound]);
        if (error)
            break;
        *port_be = nd_address_port_be(&address);
    }
    if (error)
        close_ids(ids, bound);
    return error;
}

/* Claims the port where the dialect has exact ports, and else does nothing. Returns 0 or a negative errno. */
static int claim_port(const struct nd_listener *listener, const struct sockaddr_storage *local,
    uint16_t port_be, struct nd_claim **claim)
{
    struct sockaddr_storage address = *local;
    HRESULT hr;

    if (!listener->adapter->dialect->exact_port)
        return 0;
    nd_address_set_port_be(&address, port_be);
    hr = nd_claim_take(&address, claim);
    return SUCCEEDED(hr) ? 0 : hr == ND_NO_MEMORY ? -ENOMEM : -EADDRINUSE;
}

/* The addresses that a client's address stands for: itself, or (wildcard) all of its family on this adapter. */
static HRESULT expand(struct nd_listener *listener, const struct sockaddr_storage *local,
    struct sockaddr_storage **addresses, unsigned *count)
{
    unsigned all, kept = 0;
    HRESULT hr;

    if (!nd_address_is_wildcard(local)) {
        *addresses = malloc(sizeof(**addresses));
        if (!*addresses)
            return ND_NO_MEMORY;
        **addresses = *local;
        *count = 1;
        return ND_SUCCESS;
    }
    hr = nd_provider_addresses(listener->adapter->device, addresses, &all);
    if (FAILED(hr))
        return hr;
    for (unsigned i = 0; i < all; i++)
        if ((*addresses)[i].ss_family == local->ss_family)
            (*addresses)[kept++] = (*addresses)[i];
    *count = kept;
    return kept ? ND_SUCCESS : ND_INVALID_ADDRESS;
}

static HRESULT bind_listener(struct nd_listener *listener, struct sockaddr_storage *local)
{
    struct sockaddr_storage *addresses = NULL;
    char text[ND_ADDRESS_TEXT_OCTETS];
    struct nd_claim *claim = NULL;
    unsigned count = 0;
    uint16_t wanted_be = nd_address_port_be(local), port_be;
    struct nd_cm_id **ids;
    HRESULT hr = expand(listener, local, &addresses, &count);
    int error = 0;

    ids = SUCCEEDED(hr) ? calloc(count, sizeof(struct nd_cm_id *)) : NULL;
    if (FAILED(hr) || !ids) {
        free(addresses);
        return FAILED(hr) ? hr : ND_NO_MEMORY;
    }
    /* A port chosen on one address may be taken on another: choose again. */
    for (int tries = 0; tries < WILDCARD_TRIES; tries++) {
        port_be = wanted_be;
        error = bind_all(listener, addresses, count, &port_be, ids);
        if (!error && (error = claim_port(listener, local, port_be, &claim)))
            close_ids(ids, count);
        if (error != -EADDRINUSE || wanted_be)
            break;
    }
    free(addresses);
    if (error) {
        log_write(LOG_INFO, LOG_CM, "adapter %s: listener on %s: %s",
            listener->adapter->device->name, nd_address_text(local, text), strerror(-error));
        free(ids);
        return nd_cm_bind_status(
            listener->adapter->dialect, error == -EADDRINUSE && !wanted_be ? EAGAIN : -error);
    }
    nd_address_set_port_be(local, port_be);

    lock_acquire(&listener->lock);
    hr = listener->state == ND_LISTENER_IDLE ? ND_SUCCESS : ND_STATUS_ADDRESS_ALREADY_ASSOCIATED;
    if (SUCCEEDED(hr)) {
        listener->state = ND_LISTENER_BOUND;
        listener->local = *local;
        listener->ids = ids;
        listener->id_count = count;
        listener->claim = claim;
    }
    lock_release(&listener->lock);
    if (FAILED(hr)) { /* another thread's Bind was faster */
        nd_claim_drop(claim);
        close_ids(ids, count);
        free(ids);
    }
    return hr;
}

HRESULT nd_listener_bind(
    struct nd_listener *listener, const struct sockaddr *address, size_t length)
{
    struct sockaddr_storage local;
    enum nd_listener_state state;
    HRESULT hr;

    if (nd_adapter_removed(listener->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&listener->lock);
    state = listener->state;
    lock_release(&listener->lock);
    if (state != ND_LISTENER_IDLE)
        return ND_STATUS_ADDRESS_ALREADY_ASSOCIATED;
    hr = nd_address_import(address, length, &local);
    return FAILED(hr) ? hr : bind_listener(listener, &local);
}

HRESULT nd_listener_listen(struct nd_listener *listener, ULONG backlog)
{
    const struct nd_verbs *verbs = listener->adapter->verbs;
    int device_backlog = backlog && backlog < BACKLOG_OF_DEVICE ? (int)backlog : BACKLOG_OF_DEVICE;
    char text[ND_ADDRESS_TEXT_OCTETS];
    int error = 0;

    if (nd_adapter_removed(listener->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&listener->lock);
    if (listener->state != ND_LISTENER_BOUND) {
        lock_release(&listener->lock);
        return ND_INVALID_DEVICE_STATE;
    }
    /* The state changes before the device listens: requests may arrive at once. ids stays as it is until close. */
    listener->state = ND_LISTENER_LISTENING;
    listener->backlog = backlog;
    lock_release(&listener->lock);

    for (; listener->listening < listener->id_count; listener->listening++)
        if (verbs->listen(listener->ids[listener->listening]->id, device_backlog)) {
            error = errno;
            break;
        }
    if (!error)
        return ND_SUCCESS;
    log_write(LOG_WARN, LOG_CM, "adapter %s: listen on %s: %s", listener->adapter->device->name,
        nd_address_text(&listener->local, text), strerror(error));
    /* Ids that listen already reject requests; another Listen continues from there. */
    lock_acquire(&listener->lock);
    listener->state = ND_LISTENER_BOUND;
    lock_release(&listener->lock);
    return nd_cm_bind_status(listener->adapter->dialect, error);
}

void nd_listener_deliver_to(struct nd_listener *listener, const struct nd_listener_ops *ops)
{
    listener->ops = ops;
}

void nd_listener_pause(struct nd_listener *listener, bool pause)
{
    lock_acquire(&listener->lock);
    listener->paused = pause;
    lock_release(&listener->lock);
}

HRESULT nd_listener_get_local_address(
    struct nd_listener *listener, struct sockaddr *address, size_t *length)
{
    HRESULT hr = ND_INVALID_DEVICE_STATE;

    lock_acquire(&listener->lock);
    if (listener->state == ND_LISTENER_BOUND || listener->state == ND_LISTENER_LISTENING)
        hr = nd_address_export(&listener->local, address, length);
    lock_release(&listener->lock);
    return hr;
}
