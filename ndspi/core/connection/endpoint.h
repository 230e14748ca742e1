/* SPDX-License-Identifier: MIT */
/*
 * endpoint.h - a local address and port that several connectors share, each with a destination of its own (kernel
 * flavour: shared endpoint).
 *
 * A bound id holds the port; the connectors' ids are bound to the same one. A connector pins its endpoint and keeps its
 * destination there until it is destroyed.
 *
 * Lock: LOCK_LISTENER, over the destinations.
 */
#ifndef NDSPI_CORE_CONNECTION_ENDPOINT_H
#define NDSPI_CORE_CONNECTION_ENDPOINT_H

#include "ndspi/core/adapter/cm.h"
#include "ndspi/core/base.h"
#include "ndspi/core/connection/claim.h"
#include "ndspi/core/object.h"

#include "util/list.h"
#include "util/lock.h"

#include <sys/socket.h>

struct nd_adapter;

struct nd_endpoint {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct nd_cm_id *id;
    struct nd_claim *claim;
    struct sockaddr_storage local;
    struct lock lock;
    struct list_head destinations; /* nd_endpoint_user.link */
};

/* Embedded in a connector. */
struct nd_endpoint_user {
    struct nd_endpoint *endpoint; /* pinned; NULL: none */
    struct list_node link;
    struct sockaddr_storage destination;
};

/*
 * nd_endpoint_init - address in: one of this adapter's; port 0 = any.
 * Returns ND_SUCCESS (one pin, the application's); ND_SHARING_VIOLATION: the port is taken; ND_INVALID_ADDRESS: not of
 * this adapter; ND_TOO_MANY_ADDRESSES: no port is free; ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED.
 */
HRESULT nd_endpoint_init(struct nd_endpoint *endpoint, struct nd_adapter *adapter,
    const struct sockaddr *address, size_t length, void (*destroy)(struct nd_object *object));
void nd_endpoint_fini(struct nd_endpoint *endpoint);
HRESULT nd_endpoint_get_local_address(
    struct nd_endpoint *endpoint, struct sockaddr *address, size_t *length);

/*
 * nd_endpoint_enter - a connector is to connect from here. Pins the endpoint.
 * Returns ND_SUCCESS; ND_ADDRESS_ALREADY_EXISTS: another one has this destination.
 */
HRESULT nd_endpoint_enter(struct nd_endpoint *endpoint, struct nd_endpoint_user *user,
    const struct sockaddr_storage *destination);
/* Undoes it, if it was done. No lock held. */
void nd_endpoint_leave(struct nd_endpoint_user *user);

#endif
