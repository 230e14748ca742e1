/* SPDX-License-Identifier: MIT */
/* id.c - the id of a connector: its binding, its resolution of the peer's address, its events. */
#include "ndspi/core/connection/connector.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/connection/port.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void id_pin(void *owner)
{
    nd_object_pin(&((struct nd_connector *)owner)->object);
}

static void id_unpin(void *owner)
{
    nd_object_unpin(&((struct nd_connector *)owner)->object);
}

/* Logs a failed attempt: between which addresses, and what to look at. */
static void tell(
    struct nd_connector *connector, enum log_level level, const char *what, const char *advice)
{
    char local_text[ND_ADDRESS_TEXT_OCTETS], peer_text[ND_ADDRESS_TEXT_OCTETS];
    struct sockaddr_storage local, peer;

    if (!log_on(level, LOG_CM))
        return;
    lock_acquire(&connector->lock);
    local = connector->local;
    peer = connector->peer;
    lock_release(&connector->lock);
    log_limited(level, LOG_CM, "adapter %s: connection between %s and %s: %s; %s",
        connector->adapter->device->name, nd_address_text(&local, local_text),
        nd_address_text(&peer, peer_text), what, advice);
}

/* A step towards the peer failed with an errno. */
static void connect_failed(struct nd_connector *connector, const struct nd_cm_id *id,
    HRESULT status, const char *step, int error)
{
    char what[128];

    snprintf(what, sizeof(what), "%s: %s", step, strerror(error));
    tell(
        connector, LOG_WARN, what, "check that the peer's address is reached through this adapter");
    nd_connector_event(connector, id, ND_EVENT_FAILED, NULL, status);
}

HRESULT nd_connector_bind_id(
    struct nd_connector *connector, const struct sockaddr_storage *local, struct nd_cm_id **out)
{
    struct nd_adapter *adapter = connector->adapter;
    const struct nd_verbs *verbs = adapter->verbs;
    struct sockaddr_storage address = *local;
    char text[ND_ADDRESS_TEXT_OCTETS];
    struct nd_cm_id *id;
    bool exact = adapter->dialect->exact_port && !connector->endpoint.endpoint;
    int reuse = 1, error;

    error = nd_cm_id_create(&adapter->cm, &nd_connector_id_ops, connector, &id);
    if (error)
        return nd_status_from_errno(error);
    /* Connectors may share a port among themselves; devices that cannot do that answer EADDRINUSE below. */
    if (!exact)
        verbs->set_option(id->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse));
    error = nd_port_bind(adapter, id->id, &address);
    if (error == EADDRINUSE && nd_address_port_be(&address) && !adapter->dialect->exact_port) {
        nd_address_set_port_be(&address, 0);
        error = verbs->bind_addr(id->id, (struct sockaddr *)&address) ? errno : 0;
    }
    if (!error && !nd_cm_id_on_device(id))
        error = EADDRNOTAVAIL;
    if (error) {
        log_limited(LOG_INFO, LOG_CM, "adapter %s: bind to %s: %s", adapter->device->name,
            nd_address_text(local, text), strerror(error));
        nd_cm_id_set_owner(id, NULL, NULL); /* a removal may be reporting to it now */
        nd_cm_id_unpin(id);
        return nd_cm_bind_status(adapter->dialect,
            error == EADDRINUSE && !nd_address_port_be(&address) ? EAGAIN : error);
    }
    *out = id;
    return ND_SUCCESS;
}

/*
 * The id of this attempt, pinned, or a fresh one bound to the wanted port or any; NULL with *hr if none can be made or
 * the attempt is over.
 */
static struct nd_cm_id *attempt_id(
    struct nd_connector *connector, unsigned attempt, bool other_port, HRESULT *hr)
{
    struct sockaddr_storage local;
    struct nd_cm_id *id, *fresh = NULL;

    lock_acquire(&connector->lock);
    id = connector->id;
    local = connector->local;
    if (id)
        nd_cm_id_pin(id);
    lock_release(&connector->lock);
    if (id)
        return id;

    if (other_port)
        nd_address_set_port_be(&local, 0);
    *hr = nd_connector_bind_id(connector, &local, &fresh);
    if (FAILED(*hr))
        return NULL;
    lock_acquire(&connector->lock);
    if (connector->state == ND_CONNECTOR_RESOLVING && connector->attempt == attempt &&
        !connector->id) {
        connector->id = id = fresh;
        nd_cm_id_pin(id);
        if (other_port && connector->any_port && connector->adapter->dialect->exact_port)
            nd_address_set_port_be(
                &connector->local, connector->adapter->verbs->get_src_port(id->id));
    }
    lock_release(&connector->lock);
    if (!id) {
        nd_cm_id_set_owner(fresh, NULL, NULL);
        nd_cm_id_unpin(fresh);
    }
    return id;
}

void nd_connector_seek(struct nd_connector *connector, unsigned attempt, bool other_port)
{
    HRESULT hr = ND_SUCCESS;
    struct nd_cm_id *id = attempt_id(connector, attempt, other_port, &hr);
    struct sockaddr_storage to;
    int error;

    if (!id) {
        if (FAILED(hr))
            nd_connector_event(connector, NULL, ND_EVENT_FAILED, NULL, hr);
        return;
    }
    lock_acquire(&connector->lock);
    to = connector->peer;
    lock_release(&connector->lock);
    if (connector->adapter->verbs->resolve_addr(
            id->id, NULL, (struct sockaddr *)&to, ND_RESOLVE_FIRST_MS)) {
        error = errno;
        connect_failed(connector, id,
            nd_cm_connect_status(error, connector->adapter->dialect->unresolved), "address", error);
    }
    nd_cm_id_unpin(id);
}

static void resolve_route(struct nd_connector *connector, struct nd_cm_id *id)
{
    if (connector->adapter->cm.verbs->resolve_route(id->id, ND_RESOLVE_TIMEOUT_MS))
        connect_failed(connector, id, ND_HOST_UNREACHABLE, "route", errno);
}

void nd_connector_describe_qp(const struct nd_qp *qp, struct rdma_conn_param *param)
{
    param->qp_num = nd_qp_number(qp);
    param->srq = nd_qp_has_srq(qp);
    param->rnr_retry_count = nd_qp_rnr_retries(qp);
    param->retry_count = 6; /* 7 means "for ever" to some devices */
}

/*
 * The id's port may be bound and still not lead to this peer: TCP still remembers an earlier connection between the
 * same two ports. Try another port; if none is left, the device fails again.
 */
static void request_failed(struct nd_connector *connector, const struct nd_cm_id *id, int error)
{
    bool taken = error == EADDRNOTAVAIL || error == EADDRINUSE;
    bool exact = connector->adapter->dialect->exact_port;
    unsigned attempt;
    bool again;

    lock_acquire(&connector->lock);
    attempt = connector->attempt;
    again = taken && connector->id == id && (!exact || connector->any_port) &&
            connector->ports_tried++ < ND_CONNECT_PORTS;
    lock_release(&connector->lock);
    if (again && nd_connector_event(connector, id, ND_EVENT_PORT_TAKEN, NULL, ND_SUCCESS))
        nd_connector_seek(connector, attempt, true);
    else
        connect_failed(connector, id,
            taken ? connector->adapter->dialect->port_busy
                  : nd_cm_connect_status(error, ND_UNSUCCESSFUL),
            taken ? "no local port is left for this peer" : "request", error);
}

static void send_request(struct nd_connector *connector, struct nd_cm_id *id)
{
    struct rdma_conn_param param = { 0 };
    struct nd_private_data data;

    lock_acquire(&connector->lock);
    if (connector->id != id || !nd_connector_row(connector->state, ND_EVENT_ROUTED)) {
        lock_release(&connector->lock);
        return;
    }
    nd_connector_describe_qp(connector->qp, &param);
    data = connector->to_send;
    param.private_data = data.octets ? data.data : NULL;
    param.private_data_len = data.octets;
    param.responder_resources = connector->inbound;
    param.initiator_depth = connector->outbound;
    connector->state = nd_connector_row(connector->state, ND_EVENT_ROUTED)->next;
    lock_release(&connector->lock);
    if (connector->adapter->cm.verbs->connect(id->id, &param))
        request_failed(connector, id, errno);
}

static HRESULT address_status(const struct nd_connector *connector, int error)
{
    return error == ETIMEDOUT
               ? ND_HOST_UNREACHABLE
               : nd_cm_connect_status(error, connector->adapter->dialect->unresolved);
}

/*
 * The kernel misses a neighbour's answer that arrives within its own request, as that of a veth pair's other end does,
 * and waits until its time is up. Asked again, the kernel knows the address. Returns 0, or the errno that ends the
 * attempt.
 */
static int ask_again(struct nd_connector *connector, struct nd_cm_id *id, int error)
{
    struct sockaddr_storage to;
    bool again;

    lock_acquire(&connector->lock);
    again = error == ETIMEDOUT && connector->id == id &&
            connector->state == ND_CONNECTOR_RESOLVING && !connector->asked_again;
    connector->asked_again |= again;
    to = connector->peer;
    lock_release(&connector->lock);
    if (!again)
        return error;
    return connector->adapter->cm.verbs->resolve_addr(
               id->id, NULL, (struct sockaddr *)&to, ND_RESOLVE_TIMEOUT_MS - ND_RESOLVE_FIRST_MS)
               ? errno
               : 0;
}

/* Why the peer was not reached, where the network says more than "no answer". */
static HRESULT unreached_status(int error)
{
    HRESULT hr = nd_cm_connect_status(error, ND_SUCCESS);

    return hr == ND_NETWORK_UNREACHABLE || hr == ND_HOST_UNREACHABLE ? hr : ND_SUCCESS;
}

/* iWARP: a reset is a refusal by the peer. */
static void answer_failed(struct nd_connector *connector, struct nd_cm_id *id, int error)
{
    bool refused = error == ECONNREFUSED || error == ECONNRESET;

    if (!refused)
        tell(connector, LOG_WARN, strerror(error),
            nd_has_quirk(&connector->adapter->port.caps, ACTIVE_FIRST)
                ? "did the accepting side send before this side did?"
                : "the peer's answer cannot be used");
    nd_connector_event(
        connector, id, refused ? ND_EVENT_REJECTED : ND_EVENT_UNREACHABLE, NULL, ND_SUCCESS);
}

/*
 * A failed request, whose result the program has not fetched, may be why the connection ends. In a dialect that reports
 * failures (tells_failure) the core looks for it before it reports the end.
 */
static void look_for_failure(struct nd_connector *connector, const struct nd_cm_id *id)
{
    struct nd_qp *qp = NULL;

    lock_acquire(&connector->lock);
    if (connector->id == id && connector->adapter->dialect->tells_failure && (qp = connector->qp))
        nd_object_pin(&qp->object);
    lock_release(&connector->lock);
    if (!qp)
        return;
    nd_cq_look(qp->initiator_cq);
    if (qp->receive_cq != qp->initiator_cq)
        nd_cq_look(qp->receive_cq);
    nd_object_unpin(&qp->object);
}

/* Devices report a disconnect without the peer's answer as timed out. */
static void disconnected(struct nd_connector *connector, struct nd_cm_id *id, int error)
{
    look_for_failure(connector, id);
    lock_acquire(&connector->lock);
    if (connector->id == id && !connector->reason)
        connector->reason = (uint32_t)error;
    lock_release(&connector->lock);
    if (error == ETIMEDOUT &&
        nd_connector_event(connector, id, ND_EVENT_DEADLINE, NULL, ND_SUCCESS))
        return;
    nd_connector_event(
        connector, id, ND_EVENT_DISCONNECTED, NULL, error ? ND_CONNECTION_ABORTED : ND_SUCCESS);
}

static bool id_event(void *owner, struct nd_cm_id *id, struct nd_cm_event *event)
{
    struct nd_connector *connector = owner;
    int error = event->status < 0 ? -event->status : event->status;

    switch (event->type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: resolve_route(connector, id); break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED: send_request(connector, id); break;
    case RDMA_CM_EVENT_ADDR_ERROR:
        if ((error = ask_again(connector, id, error)))
            connect_failed(connector, id, address_status(connector, error), "address", error);
        break;
    case RDMA_CM_EVENT_ROUTE_ERROR:
        connect_failed(connector, id, error == ETIMEDOUT ? ND_IO_TIMEOUT : ND_HOST_UNREACHABLE,
            "route", error);
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        nd_connector_event(connector, id, ND_EVENT_RESPONSE, event, ND_SUCCESS);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        nd_connector_event(connector, id, ND_EVENT_ESTABLISHED, event, ND_SUCCESS);
        break;
    case RDMA_CM_EVENT_REJECTED:
        tell(connector, LOG_INFO, "refused by the peer", "does its program listen on this port?");
        nd_connector_event(connector, id, ND_EVENT_REJECTED, event, ND_SUCCESS);
        break;
    case RDMA_CM_EVENT_CONNECT_ERROR: answer_failed(connector, id, error); break;
    case RDMA_CM_EVENT_UNREACHABLE:
        tell(connector, LOG_WARN, error ? strerror(error) : "no answer",
            "is the peer up, and is it reached through this adapter?");
        nd_connector_event(connector, id, ND_EVENT_UNREACHABLE, NULL, unreached_status(error));
        break;
    case RDMA_CM_EVENT_DISCONNECTED: disconnected(connector, id, error); break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        nd_adapter_remove(connector->adapter);
        nd_connector_event(connector, id, ND_EVENT_REMOVED, NULL, ND_SUCCESS);
        break;
    default: /* TIMEWAIT_EXIT, ADDR_CHANGE: ignored */ break;
    }
    return true;
}

const struct nd_cm_owner_ops nd_connector_id_ops = {
    .pin = id_pin,
    .unpin = id_unpin,
    .event = id_event,
};
