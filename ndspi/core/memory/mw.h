/* SPDX-License-Identifier: MIT */
/*
 * mw.h - memory window (type 2): a right of peers to a part of a region, bound to one queue pair.
 *
 * A window is bound from the moment its Bind is posted and free from the moment its Invalidate is posted, because a
 * client may go on posting without waiting; the region stays pinned until the Invalidate has completed. A peer's
 * invalidation frees it, too: silently in version 2, with a result of the window's own in version 1. The peer's
 * invalidation may overtake an Invalidate that is posted but not complete; so the window counts as invalidating until
 * its Invalidate has succeeded. An Invalidate that failed may have been overtaken, and the Receive that reports the
 * peer's invalidation may complete later. So the window stays recorded until that Receive has completed or the queue
 * pair is gone (the last one, if the window is bound and invalidated again meanwhile). Destroying its queue pair frees
 * the window too, but makes the device's window unusable: the next Bind replaces it. Devices without usable windows get
 * a registration of the window's own for each Bind (nd_mw_mr).
 *
 * All of it belongs to the adapter's memory lock; the token is read without it.
 */
#ifndef NDSPI_CORE_MEMORY_MW_H
#define NDSPI_CORE_MEMORY_MW_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include "util/list.h"

#include <infiniband/verbs.h>

struct nd_adapter;
struct nd_mr;
struct nd_qp; /* belongs to a layer above; only compared here */

/*
 * nd_mw_mr - a window's own registration of its range, for devices without usable windows: they have none
 * (ND_WINDOWS_REGISTERED: the registration's key is the window's) or do not check their bounds (ND_WINDOWS_EXACT: a
 * window of the device lies over it).
 *
 * Made by Bind, before it takes any lock; pinned by the window while that is bound, then by the Invalidate until that
 * has ended. Pins its region.
 */
struct nd_mw_mr {
    struct nd_object object; /* first */
    struct nd_mr *mr;        /* pinned */
    struct ibv_mr *ibv;      /* NULL: deregistered */
    struct ibv_mw *window;   /* the device's window over it, or NULL */
};

struct nd_mw {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct ibv_pd *pd;          /* set before nd_mw_init; NULL: it takes the adapter's */
    struct ibv_mw *ibv;      /* NULL: destroyed with its queue pair, or each binding has its own */
    struct nd_mr *mr;        /* the region it is bound to; NULL: the window is free */
    struct nd_mw_mr *own_mr; /* the binding's, pinned; NULL: it has none, and mr is pinned */
    uint32_t rkey;           /* valid while it is bound */
    uint64_t key_secret;     /* seeds the order of the key octets */
    uint8_t keys;            /* how many keys were made */
    struct nd_qp *qp;        /* the queue pair it is bound on */
    struct list_node bound_link; /* nd_adapter.bound_windows */
    struct nd_qp *invalidating;  /* where an Invalidate of this key is under way; NULL: none */
    uint32_t invalidating_rkey;
    bool peer_was_first;    /* own_mr only: the peer invalidated before the Invalidate ended */
    bool invalidate_failed; /* the Invalidate failed: perhaps the peer invalidated first */
    struct list_node invalidating_link; /* nd_adapter.invalidating_windows */
    atomic_uint token;                  /* network order */
    void *invalidate_result; /* the result that reports a peer's invalidation; NULL: none does */
    bool closed;             /* the application has released it: nothing is reported any more */
};

/* Returns ND_SUCCESS, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED. */
HRESULT nd_mw_init(
    struct nd_mw *mw, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object));
/*
 * Sets the result to report when the peer invalidates it; called before other threads can reach the window. NULL: none.
 */
void nd_mw_report_to(struct nd_mw *mw, void *result);
/* The last Release, called by nd_mw_close of the layer above: unbinds, drops the application's pin. */
void nd_mw_release(struct nd_mw *mw);
void nd_mw_fini(struct nd_mw *mw);

/*
 * nd_mw_refresh - precedes a Bind: gets a new window of the device if the old one was destroyed with its queue pair. No
 * lock held.
 * qp     in: the Bind's
 * moves  out: an Invalidate of the window is under way on another queue pair
 * Returns ND_SUCCESS or ND_INSUFFICIENT_RESOURCES.
 */
HRESULT nd_mw_refresh(struct nd_mw *mw, const struct nd_qp *qp, bool *moves);
/*
 * nd_mw_next_key_locked - a key for the next Bind of the device's window: another octet, in an order that cannot be
 * guessed from earlier octets, and none twice in 255 (RFC 5042, section 6.1.1). Memory lock held.
 */
uint32_t nd_mw_next_key_locked(struct nd_mw *mw);
/* A Bind was posted. Pins own_mr, or mr if that is NULL. Memory lock held. */
void nd_mw_bound_locked(
    struct nd_mw *mw, struct nd_mr *mr, struct nd_mw_mr *own_mr, struct nd_qp *qp, uint32_t rkey);
/*
 * An Invalidate was posted: the window is free, its region still counts it; the request takes over the pin. Memory lock
 * held.
 */
void nd_mw_invalidating_locked(struct nd_mw *mw);

/*
 * What completions say about windows. Called under LOCK_CQ; regions that lose their last pin go to dead.
 * lost         a Bind failed: the window of this queue pair with this key is free
 * taken_back   a peer invalidated that window, so it is free; returns it, pinned, if the client gets a result for it,
 *              else NULL
 * invalidated  an Invalidate of this key ended, well or not: unpins the region, or the registration, that it held.
 *              Returns whether it failed because a peer had invalidated the window first; a device without the window
 *              does not notice that. well in: the device reported success
 */
void nd_mw_lost(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, struct nd_dead *dead);
struct nd_mw *nd_mw_taken_back(
    struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, struct nd_dead *dead);
bool nd_mw_invalidated(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, bool well,
    struct nd_mr *mr, struct nd_mw_mr *own_mr, struct nd_dead *dead);

/* A queue pair is about to be destroyed: frees its windows, and destroys those of the device. No lock held. */
void nd_mw_qp_gone(struct nd_adapter *adapter, struct nd_qp *qp);

/*
 * nd_mw_mr_create - registers; no lock held.
 * buffer, length  in: inside the region, bytes
 * flags           in: ND_OP_FLAG_ALLOW_*
 * own_mr          out: with one pin, the caller's
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_ACCESS_VIOLATION, or what the device says.
 */
HRESULT nd_mw_mr_create(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, struct nd_mw_mr **own_mr);

/* The key of a window over this registration. */
uint32_t nd_mw_mr_rkey(const struct nd_mw_mr *own_mr);

/* Deregisters at once; called with no lock held when the binding ends. The last unpin does it, too. */
void nd_mw_mr_deregister(struct nd_mw_mr *own_mr);

#endif
