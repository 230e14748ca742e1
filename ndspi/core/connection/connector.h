/* SPDX-License-Identifier: MIT */
/*
 * connector.h - one end of a connection, from its first address to its end.
 *
 * The state machine is state.h. A call or an event is decided under the lock (LOCK_CONNECTOR): it looks the row up,
 * changes the state, and takes the queue pair or id over. After the lock is dropped it carries out the row's actions on
 * the device, and completes requests last, so that a client that hears of a refusal finds its queue pair free. The
 * status of a request is decided under the lock and delivered after it (nd_pending_decide, _deliver): a cancel that
 * races with an event is exact.
 *
 * An id serves one attempt: after a failure the next Connect makes a new id, bound to the same port.
 *
 * connector.c: life, events, queries; state.c: the state machine; id.c: its ids and their events; connect.c: Bind,
 * Connect, CompleteConnect; accept.c: the passive side; disconnect.c: the end.
 */
#ifndef NDSPI_CORE_CONNECTION_CONNECTOR_H
#define NDSPI_CORE_CONNECTION_CONNECTOR_H

#include "ndspi/core/adapter/cm.h"
#include "ndspi/core/connection/claim.h"
#include "ndspi/core/connection/endpoint.h"
#include "ndspi/core/connection/state.h"
#include "ndspi/core/object.h"
#include "ndspi/core/pending.h"

#include <sys/socket.h>

struct nd_adapter;
struct nd_listener;
struct nd_qp;
struct nd_qp_user_ops;

/* Kinds of its pending requests. */
enum nd_connector_request {
    ND_CONNECTOR_CONNECT,
    ND_CONNECTOR_COMPLETE,
    ND_CONNECTOR_ACCEPT,
    ND_CONNECTOR_NOTIFY,
    ND_CONNECTOR_DISCONNECT,
    ND_CONNECTOR_ALL_REQUESTS = 0x1f, /* mask */
};

enum {
    ND_RESOLVE_TIMEOUT_MS = 5000, /* limit for the address in all, and for the route */
    ND_RESOLVE_FIRST_MS = 250,    /* limit for the first of two attempts to resolve the address */
    ND_CONNECT_PORTS = 8,         /* local ports tried after the wanted one */
    ND_DISCONNECT_TIMEOUT_MS = 2000, /* a Disconnect ends then without the peer's answer */
};

struct nd_private_data {
    uint8_t octets;
    uint8_t data[ND_CM_PRIVATE_DATA_OCTETS];
};

struct nd_connector {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct nd_pending pending;
    struct nd_cm_timer deadline;      /* Disconnect's; holds a pin while it runs */
    struct nd_endpoint_user endpoint; /* the one Connect that uses an endpoint sets it */
    struct nd_claim *claim;           /* a dialect of exact ports: its own, or its listener's */

    struct lock lock; /* guards everything below */
    enum nd_connector_state state;
    unsigned attempt;    /* counts Connects, so that a late failure of one never ends the next */
    struct nd_cm_id *id; /* NULL: it has none now */
    struct nd_qp *qp;    /* the queue pair that Connect or Accept has claimed */
    struct nd_listener *listener; /* state Queued: the listener whose queue it is in */
    struct sockaddr_storage local, peer;
    uint8_t inbound, outbound; /* Reads in flight: asked for, then offered, then agreed */
    bool any_port;             /* a dialect of exact ports: the library chooses the local port */
    /* nd_connector_complete_connect_telling's; NULL: there is none, or it has begun */
    OVERLAPPED *told;
    uint32_t reason;        /* why the connection ended; nd_connector_end_reason */
    bool asked_again;       /* this attempt resolves the peer's address for the second time */
    unsigned ports_tried;   /* how many other local ports this attempt has tried */
    bool established_early; /* the transport's reply established the connection */
    bool held;              /* `received` has the peer's data */
    struct nd_private_data received;
    struct nd_private_data to_send; /* Connect's, until the route is known */
};

/*
 * nd_connector_init - a connector of an adapter, Idle.
 * file     in: where its requests complete; pinned by the connector
 * destroy  in: frees the allocation around it, after nd_connector_fini
 * The adapter is pinned. The caller holds the one pin; nd_connector_close gives it back.
 */
void nd_connector_init(struct nd_connector *connector, struct nd_adapter *adapter,
    struct nd_sink_file *file, void (*destroy)(struct nd_object *object));
void nd_connector_fini(struct nd_connector *connector);

/*
 * nd_connector_close - the last Release: rejects or disconnects what is under way, cancels all requests, and drops the
 * application's pin. After it returns the library touches none of its OVERLAPPEDs.
 */
void nd_connector_close(struct nd_connector *connector);

/*
 * nd_connector_leave - the program's last Release of a connector that an endpoint may keep (version 1): as close, but
 * an established connection lives on and no pin is dropped. nd_connector_close follows when the endpoints are gone.
 */
void nd_connector_leave(struct nd_connector *connector);

/*
 * Methods. Codes are those of the interface pages (and of the state table); besides them each returns
 * ND_DEVICE_REMOVED, and the overlapped ones ND_NO_MEMORY, ND_INVALID_PARAMETER (no OVERLAPPED) and ND_INVALID_HANDLE
 * (the file is closed). Any thread.
 */

/* address: an address of this adapter with a port (0 = any); a busy port is replaced by another when connecting. */
HRESULT nd_connector_bind(
    struct nd_connector *connector, const struct sockaddr *address, size_t length);

/* What Connect and Accept have in common; data in octets, limits in Reads. */
struct nd_connect_params {
    struct nd_qp *qp; /* one of the adapter's; the caller keeps it alive during the call */
    unsigned inbound, outbound;
    const void *data; /* may be NULL */
    size_t data_octets;
    struct nd_endpoint *endpoint; /* Connect: uses its port; NULL: a port of its own */
    OVERLAPPED *told;             /* Accept: see nd_connector_complete_connect_telling */
};

HRESULT nd_connector_connect(struct nd_connector *connector, const struct nd_connect_params *params,
    const struct sockaddr *destination, size_t length, OVERLAPPED *overlapped);
/*
 * Version 1: binds the connector to local before it connects, again in each attempt; a connector with an endpoint is
 * bound to the endpoint's address.
 */
HRESULT nd_connector_bind_and_connect(struct nd_connector *connector,
    const struct sockaddr_storage *local, const struct nd_connect_params *params,
    const struct sockaddr *destination, size_t length, OVERLAPPED *overlapped);
HRESULT nd_connector_complete_connect(struct nd_connector *connector, OVERLAPPED *overlapped);
/*
 * nd_connector_complete_connect_telling - nd_connector_complete_connect, for a dialect that arms.
 * told  in: a request that begins when CompleteConnect (or Accept) has ended with ND_SUCCESS, and only then. It ends
 *       once, after that: with ND_SUCCESS when the peer disconnects or the connection breaks; with ND_DEVICE_REMOVED;
 *       with another status when this side ends the connection first. NULL: none
 */
HRESULT nd_connector_complete_connect_telling(
    struct nd_connector *connector, OVERLAPPED *told, OVERLAPPED *overlapped);
/* Why the connection has ended: the device's code of the request that failed, or an errno; 0: none is known. */
uint32_t nd_connector_end_reason(struct nd_connector *connector);
HRESULT nd_connector_accept(
    struct nd_connector *connector, const struct nd_connect_params *params, OVERLAPPED *overlapped);
HRESULT nd_connector_reject(struct nd_connector *connector, const void *data, size_t octets);

/*
 * nd_connector_get_data - the data of the peer's request or reply, as one consistent copy.
 * inbound, outbound  out: may be NULL
 * data               out: as much as fits, also with ND_BUFFER_OVERFLOW; may be NULL
 * octets             inout: room at data, length of the data; NULL: do not copy data
 */
HRESULT nd_connector_get_data(
    struct nd_connector *connector, ULONG *inbound, ULONG *outbound, void *data, size_t *octets);
HRESULT nd_connector_get_local_address(
    struct nd_connector *connector, struct sockaddr *address, size_t *length);
HRESULT nd_connector_get_peer_address(
    struct nd_connector *connector, struct sockaddr *address, size_t *length);

HRESULT nd_connector_notify_disconnect(struct nd_connector *connector, OVERLAPPED *overlapped);
HRESULT nd_connector_disconnect(struct nd_connector *connector, OVERLAPPED *overlapped);
void nd_connector_cancel(struct nd_connector *connector);

/* ---- for the listener ---- */

/* Idle -> Queued. Returns ND_CONNECTION_ACTIVE unless idle. The listener's lock may be held. */
HRESULT nd_connector_enqueue(struct nd_connector *connector, struct nd_listener *listener);
/* Queued -> Idle; nothing in other states. */
void nd_connector_dequeue(struct nd_connector *connector);
/*
 * Queued -> RequestReceived with the request's id, whose pin it takes. Returns false if the connector is no longer
 * queued (it is being released): the id stays the caller's.
 */
bool nd_connector_deliver(
    struct nd_connector *connector, struct nd_cm_id *id, const struct nd_cm_event *request);

/* ---- between the files of the connector ---- */

extern const struct nd_cm_owner_ops nd_connector_id_ops;
extern const struct nd_qp_user_ops nd_connector_qp_ops;

static inline uint8_t nd_connector_cut_reads(unsigned wanted, unsigned limit)
{
    return (uint8_t)(wanted < limit ? wanted : limit);
}

/* Called after a change of state: drops the private data unless the dialect keeps it. */
void nd_connector_drop_data_locked(struct nd_connector *connector);
/* The call that connected has succeeded: starts the request `told`, and ends it if the connection is over already. */
void nd_connector_begin_telling_locked(struct nd_connector *connector);

/*
 * Changes the state because of an event (ND_EVENTS: a call). The adapter counts connections that begin, end or break,
 * and attempts that fail.
 */
void nd_connector_move_locked(
    struct nd_connector *connector, enum nd_connector_state next, enum nd_connector_event event);

/* Fills in what Connect and Accept send the peer about the queue pair. */
void nd_connector_describe_qp(const struct nd_qp *qp, struct rdma_conn_param *param);

/*
 * nd_connector_event - handles an event: decide, act, complete.
 * id     in: the id it happened to; the connector ignores an event of an id that it no longer has. NULL: none
 * copy   in: the event's data for rows that keep it, else NULL
 * given  in: the status for rows that end with it; a failure with ND_EVENT_DISCONNECTED: the end was not orderly
 * No lock held. Returns whether the state has a row for the event.
 */
bool nd_connector_event(struct nd_connector *connector, const struct nd_cm_id *id,
    enum nd_connector_event event, const struct nd_cm_event *copy, HRESULT given);

/*
 * nd_connector_bind_id - a fresh id bound to an address of this adapter. A busy port is no error for a connector, which
 * may want the port of its own program's listener: it gets another one, and GetLocalAddress still returns the wanted
 * one; a dialect of exact ports refuses it. Returns ND_SUCCESS with *out, or what Bind returns. No lock held.
 */
HRESULT nd_connector_bind_id(
    struct nd_connector *connector, const struct sockaddr_storage *local, struct nd_cm_id **out);
/*
 * nd_connector_seek - resolves the peer's address for an attempt, in state Resolving, with the connector's id or a
 * fresh one. A failure ends the attempt. No lock held.
 * attempt     in: ignored once another attempt has begun
 * other_port  in: whether a fresh id is bound to any port in place of the wanted one
 */
void nd_connector_seek(struct nd_connector *connector, unsigned attempt, bool other_port);

/* Actions on the device: prepared under the lock, executed after it is dropped. */
struct nd_connector_actions {
    unsigned mask;       /* enum nd_connector_action */
    struct nd_cm_id *id; /* pinned */
    struct nd_qp *qp;    /* pinned, claimed by the connector when actions say unclaim */
};
void nd_connector_prepare_locked(
    struct nd_connector *connector, unsigned mask, struct nd_connector_actions *actions);
void nd_connector_execute(struct nd_connector *connector, struct nd_connector_actions *actions);

#endif
