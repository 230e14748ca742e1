/* SPDX-License-Identifier: MIT */
#include "ndspi/core/mw.h"

#include "ndspi/core/adapter.h"
#include "ndspi/core/mr.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

HRESULT nd_mw_init(
    struct nd_mw *mw, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object))
{
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if (!adapter->port.caps.windows) {
        log_write(LOG_WARN, LOG_MR,
            "this device (%s) has no usable memory windows; grant access with the "
            "region's own flags instead",
            adapter->port.caps.family);
        return ND_NOT_SUPPORTED;
    }
    if (!(mw->ibv = ibv_alloc_mw(adapter->port.pd, IBV_MW_TYPE_2)))
        return nd_status_from_errno(errno ? errno : ENOMEM);
    nd_object_init(&mw->object, destroy);
    mw->adapter = adapter;
    list_node_init(&mw->bound_link);
    nd_adapter_pin(adapter);
    return ND_SUCCESS;
}

static void destroy_device_window(struct ibv_mw *mw)
{
    int rc = ibv_dealloc_mw(mw);

    if (rc)
        log_write(LOG_ERROR, LOG_MR, "a memory window does not go: %s", strerror(rc));
}

/* The device forgets the binding with its window; only then the region is let go. */
void nd_mw_close(struct nd_mw *mw)
{
    struct nd_adapter *adapter = mw->adapter;
    struct nd_mr *mr;

    lock_acquire(&adapter->memory_lock);
    mr = nd_mw_free_locked(mw);
    lock_release(&adapter->memory_lock);
    destroy_device_window(mw->ibv);
    if (mr) {
        lock_acquire(&adapter->memory_lock);
        nd_mr_unbound_locked(mr);
        lock_release(&adapter->memory_lock);
        nd_object_unpin(&mr->object);
    }
    nd_object_unpin(&mw->object);
}

void nd_mw_fini(struct nd_mw *mw)
{
    nd_adapter_unpin(mw->adapter);
}

HRESULT nd_mw_refresh(struct nd_mw *mw)
{
    struct nd_adapter *adapter = mw->adapter;
    struct ibv_mw *fresh, *old = NULL;
    bool stale;

    lock_acquire(&adapter->memory_lock);
    stale = mw->stale;
    lock_release(&adapter->memory_lock);
    if (!stale)
        return ND_SUCCESS;
    if (!(fresh = ibv_alloc_mw(adapter->port.pd, IBV_MW_TYPE_2)))
        return ND_INSUFFICIENT_RESOURCES;
    lock_acquire(&adapter->memory_lock);
    if (mw->stale) {
        old = mw->ibv;
        mw->ibv = fresh;
        mw->stale = false;
    } else {
        old = fresh; /* another thread did it */
    }
    lock_release(&adapter->memory_lock);
    destroy_device_window(old);
    return ND_SUCCESS;
}

void nd_mw_bound_locked(struct nd_mw *mw, struct nd_mr *mr, struct nd_qp *qp, uint32_t rkey)
{
    lock_assert_held(&mw->adapter->memory_lock);
    mw->ibv->rkey = rkey;
    mw->mr = mr;
    mw->qp = qp;
    mr->bound++;
    nd_object_pin(&mr->object);
    list_add_tail(&mw->adapter->bound_windows, &mw->bound_link);
    atomic_store_explicit(&mw->token, htobe32(rkey), memory_order_relaxed);
}

struct nd_mr *nd_mw_free_locked(struct nd_mw *mw)
{
    struct nd_mr *mr = mw->mr;

    lock_assert_held(&mw->adapter->memory_lock);
    if (mr)
        list_del(&mw->bound_link);
    mw->mr = NULL;
    mw->qp = NULL;
    return mr;
}

void nd_mw_lost(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, struct nd_dead *dead)
{
    struct nd_mr *mr = NULL;

    lock_acquire(&adapter->memory_lock);
    list_for_each (&adapter->bound_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, bound_link);

        if (mw->qp != qp || mw->ibv->rkey != rkey)
            continue;
        mr = nd_mw_free_locked(mw);
        nd_mr_unbound_locked(mr);
        break;
    }
    lock_release(&adapter->memory_lock);
    if (mr)
        nd_object_unpin_later(&mr->object, dead);
}

void nd_mw_invalidated(struct nd_adapter *adapter, struct nd_mr *mr, struct nd_dead *dead)
{
    lock_acquire(&adapter->memory_lock);
    nd_mr_unbound_locked(mr);
    lock_release(&adapter->memory_lock);
    nd_object_unpin_later(&mr->object, dead);
}

void nd_mw_qp_gone(struct nd_adapter *adapter, struct nd_qp *qp)
{
    struct nd_dead dead = { 0 };

    lock_acquire(&adapter->memory_lock);
    list_for_each_safe (&adapter->bound_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, bound_link);
        struct nd_mr *mr;

        if (mw->qp != qp)
            continue;
        mr = nd_mw_free_locked(mw);
        mw->stale = true;
        nd_mr_unbound_locked(mr);
        nd_object_unpin_later(&mr->object, &dead);
    }
    lock_release(&adapter->memory_lock);
    nd_object_destroy_dead(dead.first);
}
