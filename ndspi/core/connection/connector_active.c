/* SPDX-License-Identifier: MIT */
/* The active side of a connector: Bind, Connect, CompleteConnect. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

/*
 * A fresh id bound to an address of this adapter. A busy port is no error for a connector, which may want the port of
 * its own program's listener: it gets another one, and GetLocalAddress goes on telling the wanted one.
 * Returns ND_SUCCESS with *out, or what Bind returns.
 */
static HRESULT bind_id(
    struct nd_connector *connector, const struct sockaddr_storage *local, struct nd_cm_id **out)
{
    struct nd_adapter *adapter = connector->adapter;
    const struct nd_verbs *verbs = adapter->verbs;
    struct sockaddr_storage address = *local;
    char text[ND_ADDRESS_TEXT_OCTETS];
    struct nd_cm_id *id;
    int reuse = 1, error;

    error = nd_cm_id_create(&adapter->cm, &nd_connector_id_ops, connector, &id);
    if (error)
        return nd_status_from_errno(error);
    /* Connectors may share a port among themselves; devices that cannot do that answer EADDRINUSE below. */
    verbs->set_option(id->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse));
    error = verbs->bind_addr(id->id, (struct sockaddr *)&address) ? errno : 0;
    if (error == EADDRINUSE && nd_address_port_be(&address)) {
        nd_address_set_port_be(&address, 0);
        error = verbs->bind_addr(id->id, (struct sockaddr *)&address) ? errno : 0;
    }
    if (!error && !nd_cm_id_on_device(id))
        error = EADDRNOTAVAIL;
    if (error) {
        log_limited(LOG_INFO, LOG_CM, "adapter %s: bind to %s: %s", adapter->device->name,
            nd_address_text(local, text), strerror(error));
        nd_cm_id_set_owner(id, NULL, NULL); /* a removal may be telling it just now */
        nd_cm_id_unpin(id);
        return nd_cm_bind_status(adapter->dialect, error == EADDRINUSE ? EAGAIN : error);
    }
    *out = id;
    return ND_SUCCESS;
}

/* Bind, or the binding of a Connect, which takes the place of an older one. */
static HRESULT bind_for(struct nd_connector *connector, enum nd_connector_call call,
    const struct sockaddr *address, size_t length)
{
    const struct nd_connector_answer *answer;
    struct sockaddr_storage local;
    struct nd_cm_id *id = NULL, *older;
    HRESULT hr;

    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&connector->lock);
    hr = nd_connector_answer(connector->state, call)->result;
    lock_release(&connector->lock);
    if (FAILED(hr) || FAILED(hr = nd_address_import(address, length, &local)) ||
        FAILED(hr = bind_id(connector, &local, &id)))
        return hr;
    if (!nd_address_port_be(&local))
        nd_address_set_port_be(&local, connector->adapter->verbs->get_src_port(id->id));

    lock_acquire(&connector->lock);
    answer = nd_connector_answer(connector->state, call);
    older = id; /* another thread was faster */
    if (SUCCEEDED(answer->result)) {
        connector->state = answer->next;
        connector->local = local;
        older = connector->id;
        connector->id = id;
    }
    if (older)
        nd_cm_id_set_owner(older, NULL, NULL);
    lock_release(&connector->lock);
    nd_cm_id_unpin(older);
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
        return ND_STATUS_BAD_NETWORK_NAME;
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
    connector->established_early = false;
    connector->inbound = nd_connector_cut_reads(params->inbound, limits->max_inbound_reads);
    connector->outbound = nd_connector_cut_reads(params->outbound, limits->max_outbound_reads);
    connector->to_send.octets = (uint8_t)params->data_octets;
    if (params->data_octets)
        memcpy(connector->to_send.data, params->data, params->data_octets);
    return answer->result;
}

/* The id of this attempt, pinned; NULL with *hr when none can be had, or when the attempt is over already. */
static struct nd_cm_id *attempt_id(struct nd_connector *connector, unsigned attempt, HRESULT *hr)
{
    struct sockaddr_storage local;
    struct nd_cm_id *id, *fresh = NULL;

    lock_acquire(&connector->lock);
    id = connector->id;
    local = connector->local;
    if (connector->other_port)
        nd_address_set_port_be(&local, 0);
    if (id)
        nd_cm_id_pin(id);
    lock_release(&connector->lock);
    if (id)
        return id;

    *hr = bind_id(connector, &local, &fresh);
    if (FAILED(*hr))
        return NULL;
    lock_acquire(&connector->lock);
    if (connector->state == ND_CONNECTOR_RESOLVING && connector->attempt == attempt &&
        !connector->id) {
        connector->id = id = fresh;
        nd_cm_id_pin(id);
    }
    lock_release(&connector->lock);
    if (!id) {
        nd_cm_id_set_owner(fresh, NULL, NULL);
        nd_cm_id_unpin(fresh);
    }
    return id;
}

static HRESULT check_connect(const struct nd_connector *connector,
    const struct nd_connect_params *params, const OVERLAPPED *overlapped)
{
    if (nd_adapter_removed(connector->adapter))
        return ND_DEVICE_REMOVED;
    return !overlapped || (params->data_octets && !params->data) ? ND_INVALID_PARAMETER
                                                                 : ND_SUCCESS;
}

HRESULT nd_connector_bind_and_connect(struct nd_connector *connector,
    const struct sockaddr_storage *local, const struct nd_connect_params *params,
    const struct sockaddr *destination, size_t length, OVERLAPPED *overlapped)
{
    HRESULT hr = check_connect(connector, params, overlapped);

    if (SUCCEEDED(hr))
        hr = bind_for(
            connector, ND_CALL_BIND_AND_CONNECT, (const struct sockaddr *)local, sizeof(*local));
    if (FAILED(hr))
        return hr;
    return nd_connector_connect(connector, params, destination, length, overlapped);
}

HRESULT nd_connector_connect(struct nd_connector *connector, const struct nd_connect_params *params,
    const struct sockaddr *destination, size_t length, OVERLAPPED *overlapped)
{
    struct sockaddr_storage to = { .ss_family = AF_UNSPEC };
    struct nd_cm_id *id;
    unsigned attempt;
    HRESULT hr = check_connect(connector, params, overlapped);

    if (FAILED(hr))
        return hr;
    (void)nd_address_import(destination, length, &to); /* no address: no family, refused below */
    lock_acquire(&connector->lock);
    hr = begin_locked(connector, params, &to, overlapped);
    attempt = connector->attempt;
    lock_release(&connector->lock);
    if (FAILED(hr))
        return hr;

    hr = ND_SUCCESS;
    id = attempt_id(connector, attempt, &hr);
    if (!id) {
        if (FAILED(hr))
            nd_connector_event(connector, NULL, ND_EVENT_FAILED, NULL, hr);
        return ND_PENDING;
    }
    if (connector->adapter->verbs->resolve_addr(
            id->id, NULL, (struct sockaddr *)&to, ND_RESOLVE_FIRST_MS)) {
        int error = errno;

        nd_connector_failed(connector, id, nd_cm_connect_status(error, ND_STATUS_BAD_NETWORK_NAME),
            "address", error);
    }
    nd_cm_id_unpin(id);
    return ND_PENDING;
}

/* ---- CompleteConnect ---- */

/* Queue pair up, then the message that completes the peer's Accept. */
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
    /* Connected from here on: a NotifyDisconnect of another thread is as good as one after our return. */
    connector->state = answer->next;
    connector->held = false;
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
    nd_pending_complete_first(&connector->pending, ND_CONNECTOR_COMPLETE,
        nd_connector_status(connector->adapter->dialect, ND_ENDS_WITH_GIVEN, hr), NULL);
    return ND_PENDING;
}
