/* SPDX-License-Identifier: MIT */
/*
 * mw.h - memory window (type 2): a right of peers to a part of a region, bound to one queue pair.
 *
 * A window is bound from the moment its Bind is posted and free from the moment its Invalidate is posted, because a
 * client may go on posting without waiting; the region stays pinned until the Invalidate has completed. A peer's
 * invalidation frees it silently. When its queue pair is destroyed the window is free too, but the device's window is
 * not usable any more and is replaced at the next Bind.
 *
 * All of it belongs to the adapter's memory lock; the token is read without it.
 */
#ifndef NDSPI_CORE_MW_H
#define NDSPI_CORE_MW_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include "util/list.h"

#include <infiniband/verbs.h>

struct nd_adapter;
struct nd_mr;
struct nd_qp;

struct nd_mw {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct ibv_mw *ibv;
    bool stale;                  /* the device's window died with its queue pair */
    struct nd_mr *mr;            /* bound to, pinned; NULL: free */
    struct nd_qp *qp;            /* bound on */
    struct list_node bound_link; /* nd_adapter.bound_windows */
    atomic_uint token;           /* network order */
};

/* Returns ND_SUCCESS; ND_NOT_SUPPORTED: the device has none; ND_INSUFFICIENT_RESOURCES; ND_DEVICE_REMOVED. */
HRESULT nd_mw_init(
    struct nd_mw *mw, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object));
/* The last Release: unbinds, drops the application's pin. */
void nd_mw_close(struct nd_mw *mw);
void nd_mw_fini(struct nd_mw *mw);

/* Before a Bind, no lock held: replaces a stale window of the device. Returns ND_SUCCESS or ND_INSUFFICIENT_RESOURCES. */
HRESULT nd_mw_refresh(struct nd_mw *mw);
/* A Bind was posted. Memory lock held. Pins mr. */
void nd_mw_bound_locked(struct nd_mw *mw, struct nd_mr *mr, struct nd_qp *qp, uint32_t rkey);
/* The window is free. Returns its region, still counted and pinned (nd_mr_unbound_locked). Memory lock held. */
struct nd_mr *nd_mw_free_locked(struct nd_mw *mw);
/* One window less. The caller unpins the region after it. Memory lock held. */
void nd_mr_unbound_locked(struct nd_mr *mr);

/*
 * What completions say about windows. Called under LOCK_CQ; regions that lose their last pin go to dead.
 * lost         a Bind failed, or a peer invalidated: the window of this queue pair with this key is free
 * invalidated  an Invalidate ended, well or not: its region is let go
 */
void nd_mw_lost(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, struct nd_dead *dead);
void nd_mw_invalidated(struct nd_adapter *adapter, struct nd_mr *mr, struct nd_dead *dead);

/* A queue pair is destroyed: its windows are free. No lock held. */
void nd_mw_qp_gone(struct nd_adapter *adapter, struct nd_qp *qp);

#endif
