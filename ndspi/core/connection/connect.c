/* SPDX-License-Identifier: MIT */
/* connect.c - the active side of a connector: Bind, Connect, CompleteConnect. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"
#include "util/probe.h"

#include <errno.h>
#include <string.h>

/*
 * An id on the address, whose port is filled in. In a dialect of exact ports the port is the connector's own: where
 * another owner has claimed it (claim.h) and any port will do, the next one is tried. A connector over an endpoint uses
 * the endpoint's port.
 */
static HRESULT bind_id(struct nd_connector *connector, struct sockaddr_storage *local,
    struct nd_cm_id **id, struct nd_claim **claim)
{
    bool claims = connector->adapter->dialect->exact_port && !connector->endpoint.endpoint;
    bool any_port = !nd_address_port_be(local);
    HRESULT hr;

    for (unsigned tries = 0;; tries++) {
        if (FAILED(hr = nd_connector_bind_id(connector, local, id)))
            return hr;
        if (any_port)
            nd_address_set_port_be(local, connector->adapter->verbs->get_src_port((*id)->id));
        if (!claims || SUCCEEDED(hr = nd_claim_take(local, claim)))
            return ND_SUCCESS;
        nd_cm_id_set_owner(*id, NULL, NULL);
        nd_cm_id_unpin(*id);
        if (hr != ND_SHARING_VIOLATION || !any_port || tries == ND_CONNECT_PORTS)
            return hr;
        nd_address_set_port_be(local, 0);
    }
}

/* Binds for Bind, or for a Connect, which replaces an older binding. */
static HRESULT bind_for(struct nd_connector *connector, enum nd_connector_call call,
    const struct sockaddr *address, size_t length)
{
    const struct nd_connector_answer *answer;
    struct sockaddr_storage local;
    struct nd_claim *claim = NULL, *older_claim;
    struct nd_cm_id *id = NULL, *older;
    bool any_port;
    HRESULT hr;

    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&connector->lock);
    hr = nd_connector_answer(connector->state, call)->result;
    lock_release(&connector->lock);
    if (FAILED(hr) || FAILED(hr = nd_address_import(address, length, &local)))
        return hr;
    any_port = !nd_address_port_be(&local);
    if (FAILED(hr = bind_id(connector, &local, &id, &claim)))
        return hr;

    lock_acquire(&connector->lock);
    answer = nd_connector_answer(connector->state, call);
    older = id; /* another thread was faster */
    older_claim = claim;
    if (SUCCEEDED(answer->result)) {
        connector->state = answer->next;
        connector->local = local;
        connector->any_port = any_port;
        older = connector->id;
        connector->id = id;
        older_claim = connector->claim;
        connector->claim = claim;
    }
    if (older)
        nd_cm_id_set_owner(older, NULL, NULL);
    lock_release(&connector->lock);
    nd_cm_id_unpin(older);
    nd_claim_drop(older_claim);
    return answer->result;
}

HRESULT nd_connector_bind(
    struct nd_connector *connector, const struct sockaddr *address, size_t length)
{
    return bind_for(connector, ND_CALL_BIND, address, length);
}

/* ---- Connect ---- */

/* Decides a Connect and begins its request. Returns ND_PENDING or what Connect returns. */
static HRESULT begin_locked(struct nd_connector *connector, const struct nd_connect_params *params,
    const struct sockaddr_storage *destination, OVERLAPPED *overlapped)
{
    const struct nd_connector_answer *answer =
        nd_connector_answer(connector->state, ND_CALL_CONNECT);
    const struct nd_limits *limits = &connector->adapter->limits;
    HRESULT hr;

    if (FAILED(answer->result))
        return answer->result;
    if (params->data_octets > limits->max_caller_data)
        return ND_INVALID_BUFFER_SIZE;
    /* The connection manager would take the wildcard for the loopback address. */
    if (destination->ss_family != connector->local.ss_family || nd_address_is_wildcard(destination))
        return connector->adapter->dialect->unresolved;
    hr = nd_qp_claim(params->qp, &connector->object, &nd_connector_qp_ops);
    if (FAILED(hr))
        return hr;
    hr = nd_pending_add(&connector->pending, overlapped, ND_CONNECTOR_CONNECT, NULL);
    if (FAILED(hr)) {
        nd_qp_unclaim(params->qp);
        return hr;
    }
    connector->state = answer->next;
    connector->attempt++;
    connector->qp = params->qp;
    connector->peer = *destination;
    connector->held = false;
    connector->asked_again = false;
    connector->ports_tried = 0;
    connector->established_early = false;
    connector->inbound = nd_connector_cut_reads(params->inbound, limits->max_inbound_reads);
    connector->outbound = nd_connector_cut_reads(params->outbound, limits->max_outbound_reads);
    connector->to_send.octets = (uint8_t)params->data_octets;
    if (params->data_octets)
        memcpy(connector->to_send.data, params->data, params->data_octets);
    PROBE2(connect, connector, params->qp->ibv->qp_num);
    return answer->result;
}

static HRESULT check_connect(const struct nd_connector *connector,
    const struct nd_connect_params *params, const OVERLAPPED *overlapped)
{
    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    return !overlapped || (params->data_octets && !params->data) ? ND_INVALID_PARAMETER
                                                                 : ND_SUCCESS;
}

static HRESULT enter_endpoint(struct nd_connector *connector, struct nd_endpoint *endpoint,
    const struct sockaddr *destination, size_t length)
{
    struct sockaddr_storage to;

    if (FAILED(nd_address_import(destination, length, &to)))
        return connector->adapter->dialect->unresolved;
    if (connector->endpoint.endpoint)
        return ND_INVALID_DEVICE_STATE;
    return nd_endpoint_enter(endpoint, &connector->endpoint, &to);
}

HRESULT nd_connector_bind_and_connect(struct nd_connector *connector,
    const struct sockaddr_storage *local, const struct nd_connect_params *params,
    const struct sockaddr *destination, size_t length, OVERLAPPED *overlapped)
{
    HRESULT hr = check_connect(connector, params, overlapped);
    bool entered = false;

    if (SUCCEEDED(hr) && params->endpoint) {
        local = &params->endpoint->local;
        hr = enter_endpoint(connector, params->endpoint, destination, length);
        entered = SUCCEEDED(hr);
    }
    if (SUCCEEDED(hr))
        hr = bind_for(
            connector, ND_CALL_BIND_AND_CONNECT, (const struct sockaddr *)local, sizeof(*local));
    if (SUCCEEDED(hr))
        hr = nd_connector_connect(connector, params, destination, length, overlapped);
    if (FAILED(hr) && entered)
        nd_endpoint_leave(&connector->endpoint);
    return hr;
}

HRESULT nd_connector_connect(struct nd_connector *connector, const struct nd_connect_params *params,
    const struct sockaddr *destination, size_t length, OVERLAPPED *overlapped)
{
    struct sockaddr_storage to = { .ss_family = AF_UNSPEC };
    unsigned attempt;
    HRESULT hr = check_connect(connector, params, overlapped);

    if (FAILED(hr))
        return hr;
    (void)nd_address_import(destination, length, &to); /* a bad one has no family: refused below */
    lock_acquire(&connector->lock);
    hr = begin_locked(connector, params, &to, overlapped);
    attempt = connector->attempt;
    if (SUCCEEDED(hr))
        nd_object_pin(&connector->object); /* the program may learn of its end and close it */
    lock_release(&connector->lock);
    if (FAILED(hr))
        return hr;

    nd_connector_seek(connector, attempt, false);
    nd_object_unpin(&connector->object);
    return ND_PENDING;
}

/* ---- CompleteConnect ---- */

/* Moves the queue pair to RTS, then sends the message that completes the peer's Accept. */
static HRESULT establish(struct nd_connector *connector, struct nd_cm_id *id, struct nd_qp *qp,
    uint8_t inbound, uint8_t outbound, bool early)
{
    HRESULT hr = nd_qp_to_rts(qp, id->id, inbound, outbound);

    if (FAILED(hr))
        return hr;
    nd_qp_set_sendable(qp);
    if (!early && connector->adapter->verbs->establish(id->id)) {
        log_limited(LOG_INFO, LOG_CM, "adapter %s: the peer gave up before CompleteConnect: %s",
            connector->adapter->device->name, strerror(errno));
        return ND_CONNECTION_ABORTED;
    }
    return ND_SUCCESS;
}

HRESULT nd_connector_complete_connect(struct nd_connector *connector, OVERLAPPED *overlapped)
{
    return nd_connector_complete_connect_telling(connector, NULL, overlapped);
}

/* CompleteConnect has succeeded. */
static void begin_telling(struct nd_connector *connector, OVERLAPPED *told)
{
    lock_acquire(&connector->lock);
    connector->told = told;
    nd_connector_begin_telling_locked(connector);
    lock_release(&connector->lock);
}

HRESULT nd_connector_complete_connect_telling(
    struct nd_connector *connector, OVERLAPPED *told, OVERLAPPED *overlapped)
{
    const struct nd_connector_answer *answer;
    struct nd_cm_id *id;
    struct nd_qp *qp;
    uint8_t inbound, outbound;
    bool early;
    HRESULT hr;

    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    if (!overlapped)
        return ND_INVALID_PARAMETER;
    lock_acquire(&connector->lock);
    answer = nd_connector_answer(connector->state, ND_CALL_COMPLETE_CONNECT);
    hr = answer->result;
    if (SUCCEEDED(hr))
        hr = nd_pending_add(&connector->pending, overlapped, ND_CONNECTOR_COMPLETE, NULL);
    if (FAILED(hr)) {
        lock_release(&connector->lock);
        return hr;
    }
    nd_object_pin(&connector->object); /* the program may learn of its end and close it */
    /* The connection is up from now on: another thread can call NotifyDisconnect before this call returns. */
    nd_connector_move_locked(connector, answer->next, ND_EVENTS);
    nd_connector_drop_data_locked(connector);
    id = connector->id;
    nd_cm_id_pin(id);
    qp = connector->qp;
    nd_object_pin(&qp->object);
    inbound = connector->inbound;
    outbound = connector->outbound;
    early = connector->established_early;
    lock_release(&connector->lock);

    hr = establish(connector, id, qp, inbound, outbound, early);
    if (FAILED(hr))
        nd_connector_event(connector, id, ND_EVENT_FAILED, NULL, hr);
    nd_object_unpin(&qp->object);
    nd_cm_id_unpin(id);
    /* This request's record is free then, so `told` needs no memory to begin. */
    if (nd_pending_complete_first(&connector->pending, ND_CONNECTOR_COMPLETE,
            nd_connector_status(connector->adapter->dialect, ND_ENDS_WITH_GIVEN, hr), NULL) &&
        SUCCEEDED(hr) && told)
        begin_telling(connector, told);
    nd_object_unpin(&connector->object);
    return ND_PENDING;
}
