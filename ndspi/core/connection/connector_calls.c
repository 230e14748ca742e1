/* SPDX-License-Identifier: MIT */
/* The passive side of a connector, what both sides may ask, and the end of a connection. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

/* ---- queued with a listener ---- */

HRESULT nd_connector_enqueue(struct nd_connector *connector, struct nd_listener *listener)
{
    const struct nd_connector_answer *answer;

    lock_acquire(&connector->lock);
    answer = nd_connector_answer(connector->state, ND_CALL_QUEUE);
    if (SUCCEEDED(answer->result)) {
        connector->state = answer->next;
        connector->listener = listener;
    }
    lock_release(&connector->lock);
    return answer->result;
}

void nd_connector_dequeue(struct nd_connector *connector)
{
    const struct nd_connector_row *row;

    lock_acquire(&connector->lock);
    row = nd_connector_row(connector->state, ND_EVENT_UNQUEUED);
    if (row) {
        connector->state = row->next;
        connector->listener = NULL;
    }
    lock_release(&connector->lock);
}

bool nd_connector_deliver(
    struct nd_connector *connector, struct nd_cm_id *id, const struct nd_cm_event *request)
{
    const struct nd_limits *limits = &connector->adapter->limits;
    const struct nd_connector_row *row;

    lock_acquire(&connector->lock);
    row = nd_connector_row(connector->state, ND_EVENT_REQUEST);
    if (row) {
        connector->state = row->next;
        connector->listener = NULL;
        connector->id = id;
        nd_cm_id_set_owner(id, &nd_connector_id_ops, connector);
        connector->local = id->id->route.addr.src_storage;
        connector->peer = id->id->route.addr.dst_storage;
        connector->inbound =
            nd_connector_cut_reads(request->responder_resources, limits->max_inbound_reads);
        connector->outbound =
            nd_connector_cut_reads(request->initiator_depth, limits->max_outbound_reads);
        connector->received.octets = request->private_data_octets;
        memcpy(connector->received.data, request->private_data, request->private_data_octets);
        connector->held = true;
    }
    lock_release(&connector->lock);
    return row != NULL;
}

/* ---- Accept, Reject ---- */

static HRESULT accept_begin_locked(
    struct nd_connector *connector, const struct nd_connect_params *params, OVERLAPPED *overlapped)
{
    const struct nd_connector_answer *answer =
        nd_connector_answer(connector->state, ND_CALL_ACCEPT);
    HRESULT hr;

    if (FAILED(answer->result))
        return answer->result;
    if (params->data_octets > connector->adapter->limits.max_callee_data)
        return ND_INVALID_BUFFER_SIZE;
    hr = nd_qp_claim(params->qp, &connector->object, &nd_connector_qp_ops);
    if (FAILED(hr))
        return hr;
    hr = nd_pending_add(&connector->pending, overlapped, ND_CONNECTOR_ACCEPT, NULL);
    if (FAILED(hr)) {
        nd_qp_unclaim(params->qp);
        return hr;
    }
    connector->state = answer->next;
    connector->qp = params->qp;
    connector->held = false;
    /* What was offered, cut to this adapter, is what inbound and outbound hold until now. */
    connector->inbound = nd_connector_cut_reads(params->inbound, connector->inbound);
    connector->outbound = nd_connector_cut_reads(params->outbound, connector->outbound);
    return answer->result;
}

/* Queue pair up before the reply, so that nothing the peer sends meets one that is not ready. */
static HRESULT reply(struct nd_connector *connector, struct nd_cm_id *id,
    const struct nd_connect_params *params, uint8_t inbound, uint8_t outbound)
{
    struct rdma_conn_param param = { 0 };
    HRESULT hr = nd_qp_to_rts(params->qp, id->id, inbound, outbound);
    int error;

    if (FAILED(hr))
        return hr;
    nd_qp_set_sendable(params->qp);
    nd_connector_describe_qp(params->qp, &param);
    param.private_data = params->data_octets ? params->data : NULL;
    param.private_data_len = (uint8_t)params->data_octets;
    param.responder_resources = inbound;
    param.initiator_depth = outbound;
    if (!connector->adapter->verbs->accept(id->id, &param))
        return ND_SUCCESS;
    error = errno;
    log_limited(LOG_INFO, LOG_CM, "adapter %s: accept: %s", connector->adapter->device->name,
        strerror(error));
    /* These are how the connection managers tell that the request has died. */
    if (error == EINVAL || error == ECONNRESET || error == ENOTCONN || error == EPIPE)
        return ND_CONNECTION_ABORTED;
    return nd_status_from_errno(error);
}

HRESULT nd_connector_accept(
    struct nd_connector *connector, const struct nd_connect_params *params, OVERLAPPED *overlapped)
{
    struct nd_cm_id *id = NULL;
    uint8_t inbound, outbound;
    HRESULT hr;

    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    if (!overlapped || (params->data_octets && !params->data))
        return ND_INVALID_PARAMETER;
    lock_acquire(&connector->lock);
    hr = accept_begin_locked(connector, params, overlapped);
    if (SUCCEEDED(hr)) {
        id = connector->id;
        nd_cm_id_pin(id);
    }
    inbound = connector->inbound;
    outbound = connector->outbound;
    lock_release(&connector->lock);
    if (FAILED(hr))
        return hr;

    hr = reply(connector, id, params, inbound, outbound);
    if (FAILED(hr))
        nd_connector_event(connector, id, ND_EVENT_FAILED, NULL, hr);
    nd_cm_id_unpin(id);
    return ND_PENDING;
}

HRESULT nd_connector_reject(struct nd_connector *connector, const void *data, size_t octets)
{
    const struct nd_verbs *verbs = connector->adapter->verbs;
    const struct nd_connector_answer *answer;
    struct nd_connector_deeds deeds;
    bool early;
    HRESULT hr;
    int failed;

    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    if (octets && !data)
        return ND_INVALID_PARAMETER;
    lock_acquire(&connector->lock);
    answer = nd_connector_answer(connector->state, ND_CALL_REJECT);
    hr = answer->result;
    if (SUCCEEDED(hr) && octets > connector->adapter->limits.max_callee_data)
        hr = ND_INVALID_BUFFER_SIZE;
    if (FAILED(hr)) {
        lock_release(&connector->lock);
        return hr;
    }
    connector->state = answer->next;
    connector->held = false;
    early = connector->established_early;
    nd_connector_plan_locked(connector, ND_DO_UNCLAIM | ND_DO_DROP_ID, &deeds);
    lock_release(&connector->lock);

    /* Where the reply was the establishment there is nothing left to reject: the peer sees a disconnect. */
    failed = early ? verbs->disconnect(deeds.id->id)
                   : verbs->reject(deeds.id->id, octets ? data : NULL, (uint8_t)octets);
    if (failed) {
        log_limited(LOG_INFO, LOG_CM, "adapter %s: reject: %s; the peer has given up",
            connector->adapter->device->name, strerror(errno));
        hr = connector->adapter->dialect->reject_of_dead;
    }
    nd_connector_carry_out(connector, &deeds);
    return hr;
}

/* ---- what can be asked ---- */

/* Whether what is asked for can be told. */
static HRESULT data_status_locked(const struct nd_connector *connector, bool limits, bool data)
{
    HRESULT hr = ND_SUCCESS;

    if (limits)
        hr = nd_connector_answer(connector->state, ND_CALL_GET_READ_LIMITS)->result;
    if (SUCCEEDED(hr) && data)
        hr = nd_connector_answer(connector->state, ND_CALL_GET_PRIVATE_DATA)->result;
    return SUCCEEDED(hr) && data && !connector->held ? ND_CONNECTION_INVALID : hr;
}

/* A request whose sender has gone, where nobody tells: the connection manager knows of it no more. */
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
    if (SUCCEEDED(hr) && which->ss_family == AF_UNSPEC) /* ended before it had one */
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

/* ---- the end ---- */

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

/* Ours: tell the peer and wait for its answer, or for the deadline. */
static void start_disconnect(struct nd_connector *connector, struct nd_connector_deeds *deeds)
{
    struct nd_cm_id *id = deeds->id;
    bool gone = false;

    if (nd_has_quirk(&connector->adapter->port.caps, NO_MOVE))
        nd_qp_to_error(deeds->qp);
    if (connector->adapter->verbs->disconnect(id->id)) {
        log_write(LOG_DEBUG, LOG_CM, "disconnect: %s; taken as answered", strerror(errno));
        gone = true;
    }
    nd_object_unpin(&deeds->qp->object);
    if (gone)
        nd_connector_event(connector, id, ND_EVENT_DISCONNECTED, NULL, ND_SUCCESS);
    nd_cm_id_unpin(id);
}

/* The peer was first. Its disconnect has been answered; the flush may still be on its way in another thread. */
static void finish_disconnect(struct nd_connector *connector, struct nd_connector_deeds *deeds)
{
    nd_connector_carry_out(connector, deeds);
    nd_pending_complete_first(&connector->pending, ND_CONNECTOR_DISCONNECT, ND_SUCCESS, NULL);
}

HRESULT nd_connector_disconnect(struct nd_connector *connector, OVERLAPPED *overlapped)
{
    const struct nd_connector_answer *answer;
    struct nd_connector_deeds deeds;
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
    connector->state = answer->next;
    if (answer->result == ND_PENDING) {
        nd_pending_decide(&connector->pending, 1u << ND_CONNECTOR_NOTIFY,
            connector->adapter->dialect->own_disconnect);
        nd_connector_plan_locked(
            connector, ND_DO_DISCONNECT | ND_DO_FLUSH | ND_DO_START_DEADLINE, &deeds);
    } else {
        nd_connector_plan_locked(connector, ND_DO_FLUSH | ND_DO_UNCLAIM | ND_DO_DROP_ID, &deeds);
    }
    lock_release(&connector->lock);
    nd_pending_deliver(&connector->pending);
    if (answer->result == ND_PENDING)
        start_disconnect(connector, &deeds);
    else
        finish_disconnect(connector, &deeds);
    return ND_PENDING;
}
