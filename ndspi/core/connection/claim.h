/* SPDX-License-Identifier: MIT */
/*
 * claim.h - the owner of a local address and port, in a dialect of exact ports: a listener with the connectors of its
 * requests, a connector with a port of its own, or a shared endpoint. While one owner has it no other gets it, whatever
 * the device would allow: sockets can share a port that another connection uses or has used.
 *
 * Claims cover this process and this dialect alone; between processes the device decides.
 *
 * Threads: any. Lock: one for the process, of LOCK_LISTENER; no function here is called with a lock of that level.
 */
#ifndef NDSPI_CORE_CONNECTION_CLAIM_H
#define NDSPI_CORE_CONNECTION_CLAIM_H

#include "ndspi/core/base.h"

#include <stdatomic.h>
#include <sys/socket.h>

struct nd_claim;

/*
 * nd_claim_take - local in: with its port; the wildcard address stands for all of its family.
 * claim  out: with one reference, the caller's
 * Returns ND_SUCCESS, ND_SHARING_VIOLATION, ND_NO_MEMORY.
 */
HRESULT nd_claim_take(const struct sockaddr_storage *local, struct nd_claim **claim);

/* Adds a user. Any lock may be held. NULL is allowed. Returns the claim. */
struct nd_claim *nd_claim_ref(struct nd_claim *claim);
/* Removes a user; the last one frees the port. NULL is allowed. */
void nd_claim_drop(struct nd_claim *claim);

#endif
