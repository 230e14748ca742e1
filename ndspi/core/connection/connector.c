/* SPDX-License-Identifier: MIT */
/* connector.c - a connector: its life, its events, its queries, and the callbacks of its queue pair. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/connection/listener.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"
#include "util/probe.h"

#include <errno.h>
#include <string.h>

static void deadline_expired(struct nd_cm_timer *timer)
{
    struct nd_connector *connector = container_of(timer, struct nd_connector, deadline);

    log_limited(LOG_INFO, LOG_CM, "no answer to a Disconnect in %d ms: ended without",
        ND_DISCONNECT_TIMEOUT_MS);
    nd_connector_event(connector, NULL, ND_EVENT_DEADLINE, NULL, ND_SUCCESS);
    nd_object_unpin(&connector->object);
}

void nd_connector_cancel(struct nd_connector *connector)
{
    nd_connector_event(connector, NULL, ND_EVENT_CANCEL, NULL, ND_SUCCESS);
    /* Cancels also requests that an event in another thread is about to decide: that event then finds none. */
    nd_pending_cancel(&connector->pending);
}

static void cancel(struct nd_object *object)
{
    nd_connector_cancel((struct nd_connector *)object);
}

void nd_connector_init(struct nd_connector *connector, struct nd_adapter *adapter,
    struct nd_sink_file *file, void (*destroy)(struct nd_object *object))
{
    nd_object_init(&connector->object, destroy);
    nd_adapter_pin(adapter);
    connector->adapter = adapter;
    nd_cm_timer_init(&connector->deadline, deadline_expired);
    lock_init(&connector->lock, LOCK_CONNECTOR, "connector");
    connector->state = ND_CONNECTOR_IDLE;
    nd_pending_init(&connector->pending, adapter->sink, file, &connector->object, cancel);
}

void nd_connector_fini(struct nd_connector *connector)
{
    nd_endpoint_leave(&connector->endpoint);
    nd_claim_drop(connector->claim);
    nd_pending_fini(&connector->pending);
    nd_adapter_unpin(connector->adapter);
}

/* Ends the program's use: none of its requests is left when this returns. */
static void end_use(struct nd_connector *connector, enum nd_connector_event event)
{
    struct nd_listener *listener;

    lock_acquire(&connector->lock);
    listener = connector->listener;
    connector->listener = NULL;
    if (listener)
        nd_object_pin(&listener->object);
    lock_release(&connector->lock);
    nd_connector_event(connector, NULL, event, NULL, ND_SUCCESS);
    if (listener) {
        nd_listener_withdraw(listener, connector);
        nd_object_unpin(&listener->object);
    }
    nd_pending_cancel(&connector->pending);
}

void nd_connector_leave(struct nd_connector *connector)
{
    end_use(connector, ND_EVENT_LEAVE);
}

void nd_connector_close(struct nd_connector *connector)
{
    end_use(connector, ND_EVENT_RELEASE);
    nd_object_unpin(&connector->object);
}

/* ---- actions ---- */

/* These actions are on the device, and done without the lock. */
#define OUTSIDE (ND_DO_REJECT | ND_DO_DISCONNECT | ND_DO_FLUSH | ND_DO_UNCLAIM | ND_DO_DROP_ID)

void nd_connector_prepare_locked(
    struct nd_connector *connector, unsigned mask, struct nd_connector_actions *actions)
{
    lock_assert_held(&connector->lock);
    actions->mask = mask;
    actions->id = NULL;
    actions->qp = NULL;
    if (mask & ND_DO_DROP_ID) {
        actions->id = connector->id;
        connector->id = NULL;
        if (actions->id)
            nd_cm_id_set_owner(actions->id, NULL, NULL);
    } else if (mask & (ND_DO_REJECT | ND_DO_DISCONNECT) && connector->id) {
        actions->id = connector->id;
        nd_cm_id_pin(actions->id);
    }
    if (mask & (ND_DO_FLUSH | ND_DO_UNCLAIM) && connector->qp) {
        actions->qp = connector->qp;
        nd_object_pin(&actions->qp->object);
        if (mask & ND_DO_UNCLAIM)
            connector->qp = NULL;
    }
    if (mask & ND_DO_START_DEADLINE) {
        nd_object_pin(&connector->object);
        nd_cm_timer_start(&connector->adapter->cm, &connector->deadline, ND_DISCONNECT_TIMEOUT_MS);
    }
    /* The caller holds a pin of its own, so this is not the last one. */
    if (mask & ND_DO_STOP_DEADLINE &&
        nd_cm_timer_stop(&connector->adapter->cm, &connector->deadline))
        nd_object_unpin(&connector->object);
}

void nd_connector_execute(struct nd_connector *connector, struct nd_connector_actions *actions)
{
    const struct nd_verbs *verbs = connector->adapter->cm.verbs;
    struct rdma_cm_id *id = actions->id ? actions->id->id : NULL;
    bool flush_first = nd_has_quirk(&connector->adapter->port.caps, NO_MOVE);

    if (actions->qp && actions->mask & ND_DO_FLUSH && flush_first)
        nd_qp_to_error(actions->qp);
    /* These calls fail only if the peer was faster; then it needs no message. */
    if (id && actions->mask & ND_DO_REJECT && verbs->reject(id, NULL, 0))
        log_write(LOG_DEBUG, LOG_CM, "reject: %s", strerror(errno));
    if (id && actions->mask & ND_DO_DISCONNECT && verbs->disconnect(id))
        log_write(LOG_DEBUG, LOG_CM, "disconnect: %s", strerror(errno));
    if (actions->qp && actions->mask & ND_DO_FLUSH && !flush_first)
        nd_qp_to_error(actions->qp);
    if (actions->qp) {
        if (actions->mask & ND_DO_UNCLAIM) {
            nd_qp_attempt_failed(actions->qp);
            nd_qp_unclaim(actions->qp);
        }
        nd_object_unpin(&actions->qp->object);
    }
    nd_cm_id_unpin(actions->id);
}

/* ---- what the adapter counts ---- */

/* Events that say that an attempt has failed, or that a connection is broken; the program's own end says neither. */
static bool is_failure(enum nd_connector_event event)
{
    return event == ND_EVENT_FAILED || event == ND_EVENT_REJECTED ||
           event == ND_EVENT_UNREACHABLE || event == ND_EVENT_BROKEN || event == ND_EVENT_REMOVED;
}

/* An attempt begins with the request of either side, and ends when the connection is established or has failed. */
static bool is_attempt(enum nd_connector_state state)
{
    return state == ND_CONNECTOR_RESOLVING || state == ND_CONNECTOR_REQUEST_SENT ||
           state == ND_CONNECTOR_REQUEST_RECEIVED || state == ND_CONNECTOR_REPLY_RECEIVED ||
           state == ND_CONNECTOR_REPLY_SENT;
}

static void count_one(_Atomic uint64_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

void nd_connector_move_locked(
    struct nd_connector *connector, enum nd_connector_state next, enum nd_connector_event event)
{
    struct nd_adapter_counts *counts = &connector->adapter->counts;
    enum nd_connector_state before = connector->state;
    bool was = before == ND_CONNECTOR_CONNECTED, is = next == ND_CONNECTOR_CONNECTED;
    bool passes = before == ND_CONNECTOR_REPLY_SENT && next == ND_CONNECTOR_PASSIVE_DISCONNECT;

    lock_assert_held(&connector->lock);
    connector->state = next;
    if ((is && !was) || passes) {
        count_one(before == ND_CONNECTOR_REPLY_SENT ? &counts->accepted : &counts->initiated);
        PROBE2(established, connector, before == ND_CONNECTOR_REPLY_SENT);
    }
    if (is && !was)
        count_one(&counts->active);
    if (was && !is) {
        atomic_fetch_sub_explicit(&counts->active, 1, memory_order_relaxed);
        PROBE2(disconnect, connector, event);
    }
    if (was && is_failure(event) && connector->qp)
        nd_qp_count_error(connector->qp);
    if (is_attempt(before) && !is_attempt(next) && !is && !passes &&
        (is_failure(event) || event == ND_EVENT_DISCONNECTED))
        count_one(&counts->failed_attempts);
}

/* ---- events ---- */

static void keep_data_locked(struct nd_connector *connector, const struct nd_cm_event *copy)
{
    connector->held = copy && (copy->private_data_octets || copy->type != RDMA_CM_EVENT_REJECTED);
    if (!connector->held)
        return;
    connector->received.octets = copy->private_data_octets;
    memcpy(connector->received.data, copy->private_data, connector->received.octets);
    if (copy->type == RDMA_CM_EVENT_REJECTED)
        return;
    /* iWARP's first revision carries no depths: what was asked for stands. */
    if (copy->type == RDMA_CM_EVENT_ESTABLISHED && !copy->responder_resources &&
        !copy->initiator_depth)
        return;
    /* A peer's reply may name more than was asked for. */
    connector->inbound = nd_connector_cut_reads(connector->inbound, copy->responder_resources);
    connector->outbound = nd_connector_cut_reads(connector->outbound, copy->initiator_depth);
}

void nd_connector_drop_data_locked(struct nd_connector *connector)
{
    lock_assert_held(&connector->lock);
    if (!connector->adapter->dialect->keeps_data)
        connector->held = false;
}

void nd_connector_begin_telling_locked(struct nd_connector *connector)
{
    OVERLAPPED *told = connector->told;
    HRESULT status = connector->state == ND_CONNECTOR_PASSIVE_DISCONNECT ? ND_SUCCESS : ND_CANCELED;

    lock_assert_held(&connector->lock);
    connector->told = NULL;
    if (!told)
        return;
    if (connector->state != ND_CONNECTOR_CONNECTED ||
        FAILED(nd_pending_add(&connector->pending, told, ND_CONNECTOR_NOTIFY, NULL)))
        (void)nd_pending_complete_now(&connector->pending, told, status);
}

static void end_accept_locked(struct nd_connector *connector, HRESULT status)
{
    if (nd_pending_decide(&connector->pending, 1u << ND_CONNECTOR_ACCEPT, status) &&
        SUCCEEDED(status) && connector->told) {
        nd_pending_deliver(&connector->pending); /* the Accept ends before `told` can */
        nd_connector_begin_telling_locked(connector);
    }
}

static void decide_requests_locked(
    struct nd_connector *connector, const struct nd_connector_row *row, HRESULT given)
{
    const struct nd_dialect *dialect = connector->adapter->dialect;
    struct nd_pending *pending = &connector->pending;
    HRESULT status = nd_connector_status(dialect, row->status, given);

    if (row->actions & ND_DO_END_CONNECT)
        nd_pending_decide(pending, 1u << ND_CONNECTOR_CONNECT, status);
    if (row->actions & ND_DO_END_ACCEPT)
        end_accept_locked(connector, status);
    if (row->actions & ND_DO_END_NOTIFY)
        nd_pending_decide(
            pending, 1u << ND_CONNECTOR_NOTIFY, nd_connector_status(dialect, row->notify, given));
    if (row->actions & ND_DO_END_DISCONNECT)
        nd_pending_decide(pending, 1u << ND_CONNECTOR_DISCONNECT, status);
}

/*
 * Returns whether the peer's end leaves the queue pair as it is: always in a dialect that tells every program of it;
 * else when it is orderly and a NotifyDisconnect is pending, whose page says that nothing outstanding is cancelled.
 */
static bool leaves_qp_locked(struct nd_connector *connector, const struct nd_connector_row *row,
    enum nd_connector_event event, HRESULT given)
{
    bool peer = event == ND_EVENT_DISCONNECTED || event == ND_EVENT_REJECTED ||
                event == ND_EVENT_UNREACHABLE;

    if (!peer || row->next != ND_CONNECTOR_PASSIVE_DISCONNECT)
        return false;
    if (connector->adapter->dialect->peer_leaves_qp)
        return true;
    return event == ND_EVENT_DISCONNECTED && SUCCEEDED(given) &&
           nd_pending_count(&connector->pending, 1u << ND_CONNECTOR_NOTIFY);
}

/* Changes state, queue pair and id as the row says. Returns whether the requests end before the device is asked. */
static bool change_locked(struct nd_connector *connector, const struct nd_connector_row *row,
    enum nd_connector_event event, const struct nd_cm_event *copy, HRESULT given,
    struct nd_connector_actions *actions)
{
    enum nd_connector_state before = connector->state;
    bool leaves = leaves_qp_locked(connector, row, event, given);

    lock_assert_held(&connector->lock);
    nd_connector_move_locked(connector, row->next, event);
    if (before == ND_CONNECTOR_CONNECTED && event == ND_EVENT_DISCONNECTED && copy &&
        copy->status && connector->qp)
        nd_qp_count_error(connector->qp);
    if (event == ND_EVENT_ESTABLISHED && before == ND_CONNECTOR_REQUEST_SENT)
        connector->established_early = true;
    if (row->actions & ND_DO_KEEP_DATA)
        keep_data_locked(connector, copy);
    else if (row->next != before)
        nd_connector_drop_data_locked(connector);
    if (row->actions & ND_DO_END_NOTIFY && connector->qp && !connector->reason)
        connector->reason = nd_qp_failure(connector->qp);
    nd_connector_prepare_locked(
        connector, leaves ? row->actions & ~(unsigned)ND_DO_FLUSH : row->actions, actions);
    return leaves;
}

/* An event of an id or a queue pair (else NULL) counts only while the connector has that id or queue pair. */
static bool handle_event(struct nd_connector *connector, const struct nd_cm_id *id,
    const struct nd_qp *qp, enum nd_connector_event event, const struct nd_cm_event *copy,
    HRESULT given)
{
    const struct nd_connector_row *row = NULL;
    enum nd_connector_state before;
    struct nd_connector_actions actions;
    unsigned attempt;
    bool told_first;

    lock_acquire(&connector->lock);
    before = connector->state;
    if ((!id || id == connector->id) && (!qp || qp == connector->qp))
        row = nd_connector_row(before, event);
    if (!row) {
        lock_release(&connector->lock);
        return false;
    }
    attempt = connector->attempt;
    told_first = change_locked(connector, row, event, copy, given, &actions);
    if (told_first)
        decide_requests_locked(connector, row, given);
    if (row->actions & OUTSIDE) {
        lock_release(&connector->lock);
        if (told_first)
            nd_pending_deliver(&connector->pending);
        nd_connector_execute(connector, &actions);
        lock_acquire(&connector->lock);
    }
    if (!told_first && connector->attempt == attempt)
        decide_requests_locked(connector, row, given);
    lock_release(&connector->lock);
    nd_pending_deliver(&connector->pending);
    log_write(LOG_DEBUG, LOG_CM, "connector %p: %s -> %s by %s", (void *)connector,
        nd_connector_state_name(before), nd_connector_state_name(row->next),
        nd_connector_event_name(event));
    return true;
}

bool nd_connector_event(struct nd_connector *connector, const struct nd_cm_id *id,
    enum nd_connector_event event, const struct nd_cm_event *copy, HRESULT given)
{
    return handle_event(connector, id, NULL, event, copy, given);
}

/* ---- queries ---- */

uint32_t nd_connector_end_reason(struct nd_connector *connector)
{
    uint32_t reason;

    lock_acquire(&connector->lock);
    reason = connector->reason;
    if (!reason && connector->qp)
        reason = nd_qp_failure(connector->qp);
    lock_release(&connector->lock);
    return reason;
}

/* Checks that the connector has the data asked for. */
static HRESULT data_status_locked(const struct nd_connector *connector, bool limits, bool data)
{
    HRESULT hr = ND_SUCCESS;

    if (connector->adapter->dialect->keeps_data)
        return connector->held ? ND_SUCCESS : ND_CONNECTION_INVALID;
    if (limits)
        hr = nd_connector_answer(connector->state, ND_CALL_GET_READ_LIMITS)->result;
    if (SUCCEEDED(hr) && data)
        hr = nd_connector_answer(connector->state, ND_CALL_GET_PRIVATE_DATA)->result;
    return SUCCEEDED(hr) && data && !connector->held ? ND_CONNECTION_INVALID : hr;
}

/*
 * Detects that the sender of a request has gone, on devices that report no event: the connection manager no longer
 * knows the request.
 */
static void look_for_death(struct nd_connector *connector)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
    struct nd_cm_id *id = NULL;
    int mask;

    if (!nd_has_quirk(&connector->adapter->port.caps, DEAD_UNTOLD))
        return;
    lock_acquire(&connector->lock);
    if (connector->state == ND_CONNECTOR_REQUEST_RECEIVED && (id = connector->id))
        nd_cm_id_pin(id);
    lock_release(&connector->lock);
    if (id && connector->adapter->verbs->init_qp_attr(id->id, &attr, &mask))
        nd_connector_event(connector, id, ND_EVENT_DISCONNECTED, NULL, ND_SUCCESS);
    nd_cm_id_unpin(id);
}

HRESULT nd_connector_get_data(
    struct nd_connector *connector, ULONG *inbound, ULONG *outbound, void *data, size_t *octets)
{
    size_t room = data && octets ? *octets : 0;
    HRESULT hr;

    look_for_death(connector);
    lock_acquire(&connector->lock);
    hr = data_status_locked(connector, inbound || outbound || !octets, octets != NULL);
    if (SUCCEEDED(hr) && inbound)
        *inbound = connector->inbound;
    if (SUCCEEDED(hr) && outbound)
        *outbound = connector->outbound;
    if (SUCCEEDED(hr) && octets) {
        *octets = connector->received.octets;
        if (room < *octets)
            hr = ND_BUFFER_OVERFLOW;
        else
            room = *octets;
        if (room)
            memcpy(data, connector->received.data, room);
    }
    lock_release(&connector->lock);
    return hr;
}

static HRESULT get_address(struct nd_connector *connector, enum nd_connector_call call,
    const struct sockaddr_storage *which, struct sockaddr *address, size_t *length)
{
    HRESULT hr;

    lock_acquire(&connector->lock);
    hr = nd_connector_answer(connector->state, call)->result;
    if (SUCCEEDED(hr) && which->ss_family == AF_UNSPEC) /* the connection ended before it had one */
        hr = ND_CONNECTION_INVALID;
    if (SUCCEEDED(hr))
        hr = nd_address_export(which, address, length);
    lock_release(&connector->lock);
    return hr;
}

HRESULT nd_connector_get_local_address(
    struct nd_connector *connector, struct sockaddr *address, size_t *length)
{
    return get_address(connector, ND_CALL_GET_LOCAL_ADDRESS, &connector->local, address, length);
}

HRESULT nd_connector_get_peer_address(
    struct nd_connector *connector, struct sockaddr *address, size_t *length)
{
    return get_address(connector, ND_CALL_GET_PEER_ADDRESS, &connector->peer, address, length);
}

/* ---- callbacks of its queue pair ---- */

static void qp_closed(struct nd_object *user, struct nd_qp *qp)
{
    handle_event((struct nd_connector *)user, NULL, qp, ND_EVENT_QP_CLOSED, NULL, ND_SUCCESS);
}

static void qp_flushed(struct nd_object *user, struct nd_qp *qp)
{
    handle_event((struct nd_connector *)user, NULL, qp, ND_EVENT_QP_FLUSHED, NULL, ND_SUCCESS);
}

/* Ends the connection at both sides, as a disconnect by the peer does. */
static void qp_failed(struct nd_object *user, struct nd_qp *qp)
{
    struct nd_connector *connector = (struct nd_connector *)user;
    struct nd_cm_id *id = NULL;

    if (nd_qp_failure(qp) && connector->adapter->dialect->tells_failure) {
        /* Ends it now, whether the peer answers or not. */
        handle_event(connector, NULL, qp, ND_EVENT_BROKEN, NULL, ND_SUCCESS);
        return;
    }
    lock_acquire(&connector->lock);
    if (connector->qp == qp && connector->state == ND_CONNECTOR_CONNECTED && (id = connector->id))
        nd_cm_id_pin(id);
    lock_release(&connector->lock);
    if (id && connector->adapter->cm.verbs->disconnect(id->id))
        log_write(LOG_DEBUG, LOG_CM, "disconnect: %s", strerror(errno));
    nd_cm_id_unpin(id);
}

const struct nd_qp_user_ops nd_connector_qp_ops = {
    .closed = qp_closed,
    .flushed = qp_flushed,
    .failed = qp_failed,
};
