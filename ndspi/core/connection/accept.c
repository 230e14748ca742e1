/* SPDX-License-Identifier: MIT */
/* accept.c - the passive side of a connector: it waits with a listener, has a request, and accepts or rejects it. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
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
    connector->told = params->told;
    nd_connector_drop_data_locked(connector);
    /* inbound and outbound still hold the peer's offer, cut to what this adapter can do. */
    connector->inbound = nd_connector_cut_reads(params->inbound, connector->inbound);
    connector->outbound = nd_connector_cut_reads(params->outbound, connector->outbound);
    return answer->result;
}

/* Moves the queue pair to RTS before the reply, so that it is ready for whatever the peer sends. */
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
    /* The connection managers return these when the request has died. */
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
        nd_object_pin(&connector->object); /* the program may learn of its end and close it */
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
    nd_object_unpin(&connector->object);
    return ND_PENDING;
}

HRESULT nd_connector_reject(struct nd_connector *connector, const void *data, size_t octets)
{
    const struct nd_verbs *verbs = connector->adapter->verbs;
    const struct nd_connector_answer *answer;
    struct nd_connector_actions actions;
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
    nd_connector_drop_data_locked(connector);
    early = connector->established_early;
    nd_connector_prepare_locked(connector, ND_DO_UNCLAIM | ND_DO_DROP_ID, &actions);
    lock_release(&connector->lock);

    /* If the reply has established the connection it is too late to reject: the peer sees a disconnect. */
    failed = early ? verbs->disconnect(actions.id->id)
                   : verbs->reject(actions.id->id, octets ? data : NULL, (uint8_t)octets);
    if (failed) {
        log_limited(LOG_INFO, LOG_CM, "adapter %s: reject: %s; the peer has given up",
            connector->adapter->device->name, strerror(errno));
        hr = connector->adapter->dialect->reject_of_dead;
    }
    nd_connector_execute(connector, &actions);
    return hr;
}
