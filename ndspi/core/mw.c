/* SPDX-License-Identifier: MIT */
#include "ndspi/core/mw.h"

#include "ndspi/core/adapter.h"
#include "ndspi/core/batch.h"
#include "ndspi/core/mr.h"
#include "ndspi/core/qp.h"
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
    list_node_init(&mw->leaving_link);
    nd_adapter_pin(adapter);
    return ND_SUCCESS;
}

static void destroy_device_window(struct ibv_mw *mw)
{
    int rc = ibv_dealloc_mw(mw);

    if (rc)
        log_write(LOG_ERROR, LOG_MR, "a memory window does not go: %s", strerror(rc));
}

static struct nd_mr *free_locked(struct nd_mw *mw)
{
    struct nd_mr *mr = mw->mr;

    lock_assert_held(&mw->adapter->memory_lock);
    if (mr)
        list_del(&mw->bound_link);
    mw->mr = NULL;
    mw->qp = NULL;
    return mr;
}

static void leaves_no_more_locked(struct nd_mw *mw)
{
    if (mw->leaving_qp)
        list_del(&mw->leaving_link);
    mw->leaving_qp = NULL;
}

void nd_mw_leave_locked(struct nd_mw *mw)
{
    leaves_no_more_locked(mw);
    mw->leaving_qp = mw->qp;
    mw->leaving_rkey = mw->ibv->rkey;
    list_add_tail(&mw->adapter->leaving_windows, &mw->leaving_link);
    free_locked(mw);
}

/* A batch may hold requests that name the device's window. */
static void submit_requests(struct nd_mw *mw)
{
    struct nd_qp *users[2];

    lock_acquire(&mw->adapter->memory_lock);
    users[0] = mw->qp;
    users[1] = mw->leaving_qp;
    for (int i = 0; i < 2; i++)
        if (users[i] && !nd_object_try_pin(&users[i]->object))
            users[i] = NULL;
    lock_release(&mw->adapter->memory_lock);
    for (int i = 0; i < 2; i++) {
        if (!users[i])
            continue;
        nd_queue_submit(&users[i]->initiator);
        nd_object_unpin(&users[i]->object);
    }
}

/* The device forgets the binding with its window; only then the region is let go. */
void nd_mw_close(struct nd_mw *mw)
{
    struct nd_adapter *adapter = mw->adapter;
    struct nd_mr *mr;

    submit_requests(mw);
    lock_acquire(&adapter->memory_lock);
    mw->closed = true;
    mr = free_locked(mw);
    leaves_no_more_locked(mw);
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

HRESULT nd_mw_refresh(struct nd_mw *mw, const struct nd_qp *qp)
{
    struct nd_adapter *adapter = mw->adapter;
    struct ibv_mw *fresh, *old = NULL;
    bool stale, moves;

    lock_acquire(&adapter->memory_lock);
    stale = mw->stale;
    moves = mw->leaving_qp && mw->leaving_qp != qp;
    lock_release(&adapter->memory_lock);
    if (moves)
        submit_requests(mw);
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

/* The window that is bound on this queue pair with this key, or NULL. */
static struct nd_mw *find_bound_locked(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey)
{
    list_for_each (&adapter->bound_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, bound_link);

        if (mw->qp == qp && mw->ibv->rkey == rkey)
            return mw;
    }
    return NULL;
}

static struct nd_mw *find_leaving_locked(
    struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey)
{
    list_for_each (&adapter->leaving_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, leaving_link);

        if (mw->leaving_qp == qp && mw->leaving_rkey == rkey)
            return mw;
    }
    return NULL;
}

static void unbind_locked(struct nd_mw *mw, struct nd_dead *dead)
{
    struct nd_mr *mr = free_locked(mw);

    nd_mr_unbound_locked(mr);
    nd_object_unpin_later(&mr->object, dead);
}

void nd_mw_lost(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, struct nd_dead *dead)
{
    struct nd_mw *mw;

    lock_acquire(&adapter->memory_lock);
    if ((mw = find_bound_locked(adapter, qp, rkey)))
        unbind_locked(mw, dead);
    lock_release(&adapter->memory_lock);
}

struct nd_mw *nd_mw_taken_back(
    struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, struct nd_dead *dead)
{
    struct nd_mw *mw;

    lock_acquire(&adapter->memory_lock);
    if ((mw = find_bound_locked(adapter, qp, rkey)))
        unbind_locked(mw, dead);
    else if ((mw = find_leaving_locked(adapter, qp, rkey)))
        leaves_no_more_locked(mw);
    if (mw && mw->invalidate_result)
        nd_object_pin(&mw->object);
    else
        mw = NULL;
    lock_release(&adapter->memory_lock);
    return mw;
}

void nd_mw_invalidated(struct nd_adapter *adapter, struct nd_qp *qp, struct nd_mr *mr,
    uint32_t rkey, struct nd_dead *dead)
{
    struct nd_mw *mw;

    lock_acquire(&adapter->memory_lock);
    if ((mw = find_leaving_locked(adapter, qp, rkey)))
        leaves_no_more_locked(mw);
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

        if (mw->qp != qp)
            continue;
        mw->stale = true;
        unbind_locked(mw, &dead);
    }
    list_for_each_safe (&adapter->leaving_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, leaving_link);

        if (mw->leaving_qp == qp)
            leaves_no_more_locked(mw);
    }
    lock_release(&adapter->memory_lock);
    nd_object_destroy_dead(dead.first);
}
