/* SPDX-License-Identifier: MIT */
/* disconnect.c - the end of a connection: NotifyDisconnect, Disconnect. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

HRESULT nd_connector_notify_disconnect(struct nd_connector *connector, OVERLAPPED *overlapped)
{
    HRESULT hr;

    if (!overlapped)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&connector->lock);
    hr = nd_connector_answer(connector->state, ND_CALL_NOTIFY_DISCONNECT)->result;
    if (hr == ND_STATUS_CONNECTION_DISCONNECTED)
        hr = connector->adapter->dialect->notify_of_ended;
    if (hr == ND_PENDING)
        hr = nd_pending_add(&connector->pending, overlapped, ND_CONNECTOR_NOTIFY, NULL);
    lock_release(&connector->lock);
    if (hr == ND_SUCCESS) /* the peer has disconnected already */
        hr = nd_pending_complete_now(&connector->pending, overlapped, ND_SUCCESS);
    return hr;
}

/* This side disconnects: sends the peer a disconnect and waits for its answer, or for the deadline. */
static void start_disconnect(struct nd_connector *connector, struct nd_connector_actions *actions)
{
    struct nd_cm_id *id = actions->id;
    bool gone = false;

    if (nd_has_quirk(&connector->adapter->port.caps, NO_MOVE))
        nd_qp_to_error(actions->qp);
    if (connector->adapter->verbs->disconnect(id->id)) {
        log_write(LOG_DEBUG, LOG_CM, "disconnect: %s; taken as answered", strerror(errno));
        gone = true;
    }
    nd_object_unpin(&actions->qp->object);
    if (gone)
        nd_connector_event(connector, id, ND_EVENT_DISCONNECTED, NULL, ND_SUCCESS);
    nd_cm_id_unpin(id);
}

/* The peer disconnected first and has its answer; another thread may still be flushing. */
static void finish_disconnect(struct nd_connector *connector, struct nd_connector_actions *actions)
{
    nd_connector_execute(connector, actions);
    nd_pending_complete_first(&connector->pending, ND_CONNECTOR_DISCONNECT, ND_SUCCESS, NULL);
}

HRESULT nd_connector_disconnect(struct nd_connector *connector, OVERLAPPED *overlapped)
{
    const struct nd_connector_answer *answer;
    struct nd_connector_actions actions;
    HRESULT hr;

    if (!overlapped)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&connector->lock);
    answer = nd_connector_answer(connector->state, ND_CALL_DISCONNECT);
    hr = answer->result;
    if (SUCCEEDED(hr))
        hr = nd_pending_add(&connector->pending, overlapped, ND_CONNECTOR_DISCONNECT, NULL);
    if (FAILED(hr)) {
        lock_release(&connector->lock);
        return hr;
    }
    nd_object_pin(&connector->object); /* the program may learn of its end and close it */
    nd_connector_move_locked(connector, answer->next, ND_EVENTS);
    if (answer->result == ND_PENDING) {
        nd_pending_decide(&connector->pending, 1u << ND_CONNECTOR_NOTIFY,
            connector->adapter->dialect->own_disconnect);
        nd_connector_prepare_locked(
            connector, ND_DO_DISCONNECT | ND_DO_FLUSH | ND_DO_START_DEADLINE, &actions);
    } else {
        nd_connector_prepare_locked(
            connector, ND_DO_FLUSH | ND_DO_UNCLAIM | ND_DO_DROP_ID, &actions);
    }
    lock_release(&connector->lock);
    nd_pending_deliver(&connector->pending);
    if (answer->result == ND_PENDING)
        start_disconnect(connector, &actions);
    else
        finish_disconnect(connector, &actions);
    nd_object_unpin(&connector->object);
    return ND_PENDING;
}
