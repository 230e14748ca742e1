/* SPDX-License-Identifier: MIT */
/*
 * listener.h - takes connection requests and matches them with the connectors that wait for one.
 *
 * Requests wait in order for a connector, connectors wait in order for a request; so one of the two lists is always
 * empty. The backlog bounds the list of requests.
 *
 * The wildcard means every address that this adapter has when it is bound, and no other adapter's: one id for each, all
 * on one port.
 *
 * In the kernel flavour there is no GetConnectionRequest: each request gets a connector that the facade makes
 * (nd_listener_ops).
 *
 * Lock: LOCK_LISTENER, taken before a connector's. GetConnectionRequests are completed with it held, so that either a
 * cancel or an arriving request ends each one, never both.
 */
#ifndef NDSPI_CORE_CONNECTION_LISTENER_H
#define NDSPI_CORE_CONNECTION_LISTENER_H

#include "ndspi/core/connection/connector.h"

enum nd_listener_state {
    ND_LISTENER_IDLE,
    ND_LISTENER_BOUND,
    ND_LISTENER_LISTENING,
    ND_LISTENER_CLOSED,
};

struct nd_listener;

/* What a facade provides so that requests can be delivered to it. */
struct nd_listener_ops {
    /* Makes an Idle connector for one request; NULL: there is no memory. Called without locks, the listener pinned. */
    struct nd_connector *(*make)(struct nd_listener *listener);
    /*
     * The connector has the request. The listener's lock is held: it calls nothing of the core. Not called after
     * nd_listener_close has returned.
     */
    void (*deliver)(struct nd_listener *listener, struct nd_connector *connector);
    /* The connector was made in vain: the request was turned away meanwhile. Called without locks. */
    void (*discard)(struct nd_listener *listener, struct nd_connector *connector);
};

struct nd_listener {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct nd_pending pending;  /* GetConnectionRequests; context: the connector */

    struct lock lock; /* guards everything below */
    enum nd_listener_state state;
    struct sockaddr_storage local;
    unsigned id_count;
    struct nd_cm_id **ids;  /* one for each address listened on */
    unsigned listening;     /* how many of ids listen; only the one thread in Listen writes it */
    unsigned backlog;       /* requests kept at most; 0 = no bound */
    bool paused;            /* nd_listener_pause */
    struct nd_claim *claim; /* a dialect of exact ports: Bind makes it */
    const struct nd_listener_ops *ops; /* NULL: requests wait for connectors */
    unsigned requests_kept;
    struct list_head requests; /* struct request */
    struct list_head waiting;  /* struct waiter, in the order of pending */
};

/* These do what those of the connector do (connector.h). Close rejects the requests that the listener has kept. */
void nd_listener_init(struct nd_listener *listener, struct nd_adapter *adapter,
    struct nd_sink_file *file, void (*destroy)(struct nd_object *object));
void nd_listener_fini(struct nd_listener *listener);
void nd_listener_close(struct nd_listener *listener);

/*
 * nd_listener_bind - IND2Listener::Bind.
 * address  in: one of this adapter, or the wildcard; port 0 = any
 * Returns ND_SUCCESS; 0xC0000238: bound already; ND_SHARING_VIOLATION: the port is taken; ND_INVALID_ADDRESS: not of
 * this adapter; ND_TOO_MANY_ADDRESSES: no port is free; ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED.
 */
HRESULT nd_listener_bind(
    struct nd_listener *listener, const struct sockaddr *address, size_t length);
/* backlog: requests kept at most, 0 = no bound. ND_INVALID_DEVICE_STATE unless bound and not listening. */
HRESULT nd_listener_listen(struct nd_listener *listener, ULONG backlog);
/* Has requests delivered to a facade. Called before Listen. */
void nd_listener_deliver_to(struct nd_listener *listener, const struct nd_listener_ops *ops);
/* While it is paused, requests are rejected as if no program listened. */
void nd_listener_pause(struct nd_listener *listener, bool pause);
/* Returns ND_SUCCESS; ND_INVALID_DEVICE_STATE: not bound; or what nd_address_export returns. */
HRESULT nd_listener_get_local_address(
    struct nd_listener *listener, struct sockaddr *address, size_t *length);
/*
 * nd_listener_get_request - IND2Listener::GetConnectionRequest.
 * connector  in: one of the same adapter; pinned until it gets a request or its wait ends
 * Returns ND_PENDING; ND_INVALID_DEVICE_STATE: not listening; ND_CONNECTION_ACTIVE: the connector is not idle;
 * ND_INVALID_PARAMETER: no OVERLAPPED; ND_NO_MEMORY; ND_DEVICE_REMOVED.
 */
HRESULT nd_listener_get_request(
    struct nd_listener *listener, struct nd_connector *connector, OVERLAPPED *overlapped);
/* Ends all GetConnectionRequests with ND_CANCELED; their connectors are idle again. */
void nd_listener_cancel(struct nd_listener *listener);

/* A connector that waits there is being released: its GetConnectionRequest ends with ND_CANCELED. No locks held. */
void nd_listener_withdraw(struct nd_listener *listener, struct nd_connector *connector);

#endif
