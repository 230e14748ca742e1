/* SPDX-License-Identifier: MIT */
#include "ndspi/core/connection/listener.h"

#include "ndspi/core/adapter/adapter.h"

#include "util/log.h"

#include <stdlib.h>
#include <string.h>

enum { GET_REQUEST }; /* the one kind of pending request */

struct request {
    struct list_node link;
    struct nd_cm_id *id; /* the pin that came with it */
    struct nd_cm_event event;
};

struct waiter {
    struct list_node link;
    struct nd_connector *connector; /* pinned */
};

/* ---- requests and waiters ---- */

static void drop_request(struct request *request)
{
    nd_cm_id_unpin(request->id); /* its end tells the peer no */
    free(request);
}

static void drop_waiter(struct waiter *waiter)
{
    nd_object_unpin(&waiter->connector->object);
    free(waiter);
}

/*
 * Brings waiters and requests together for as long as there are both. Those that are done with are moved to the lists
 * given, to be dropped without the lock.
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

static void request_arrived(struct nd_listener *listener, struct nd_cm_event *event)
{
    struct request *request = malloc(sizeof(*request));
    struct list_head requests, waiters;
    bool kept = false;

    list_init(&requests);
    list_init(&waiters);
    if (!request) {
        log_limited(LOG_ERROR, LOG_CM, "no memory for a connection request: turned away");
        nd_cm_id_unpin(event->request);
        return;
    }
    request->id = event->request;
    memcpy(&request->event, event, sizeof(*event));
    list_node_init(&request->link);

    lock_acquire(&listener->lock);
    /* Where a connector waits none is kept, so the backlog turns nothing away. */
    if (listener->state == ND_LISTENER_LISTENING &&
        (!listener->backlog || listener->requests_kept < listener->backlog)) {
        kept = true;
        nd_cm_id_set_owner(request->id, &nd_listener_id_ops, listener);
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

/* A kept request died. False: it is not kept any more, a connector has it. */
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

const struct nd_cm_owner_ops nd_listener_id_ops = {
    .pin = id_pin,
    .unpin = id_unpin,
    .event = id_event,
};

void nd_listener_close_ids(struct nd_cm_id **ids, unsigned count)
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
    hr = listener->state == ND_LISTENER_LISTENING
             ? nd_connector_enqueue(connector, &listener->queue)
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

/* Takes all waiters off; their connectors are idle again before their requests end. */
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

/* A connector that waits here is being released. */
static void withdraw(struct nd_connector_queue *queue, struct nd_connector *connector)
{
    struct nd_listener *listener = container_of(queue, struct nd_listener, queue);
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
    listener->queue = (struct nd_connector_queue){ &listener->object, withdraw };
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
    unsigned id_count;

    list_init(&requests);
    list_init(&waiters);
    lock_acquire(&listener->lock);
    listener->state = ND_LISTENER_CLOSED;
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
        nd_listener_close_ids(ids, id_count);
    free(ids);
    drop_all(&requests, &waiters);
    nd_object_unpin(&listener->object);
}
