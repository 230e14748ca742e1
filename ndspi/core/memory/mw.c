/* SPDX-License-Identifier: MIT */
#include "ndspi/core/memory/mw.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- a window's own registration ---- */

/* A window of the device grants remote rights itself, but can grant no write that its registration does not allow. */
static int access_of(enum nd_windows kind, uint32_t flags)
{
    bool reads = flags & ND_OP_FLAG_ALLOW_READ, writes = flags & ND_OP_FLAG_ALLOW_WRITE;
    int access = writes ? IBV_ACCESS_LOCAL_WRITE : 0;

    if (kind == ND_WINDOWS_EXACT)
        return access | IBV_ACCESS_MW_BIND;
    return access | (reads ? IBV_ACCESS_REMOTE_READ : 0) | (writes ? IBV_ACCESS_REMOTE_WRITE : 0);
}

void nd_mw_mr_deregister(struct nd_mw_mr *own_mr)
{
    int rc;

    if (own_mr->window && (rc = ibv_dealloc_mw(own_mr->window)))
        log_write(LOG_ERROR, LOG_MR, "cannot destroy a memory window: %s", strerror(rc));
    own_mr->window = NULL;
    if (own_mr->ibv && (rc = own_mr->mr->adapter->verbs->dereg_mr(own_mr->ibv)))
        log_write(LOG_ERROR, LOG_MR, "cannot deregister a window's memory: %s", strerror(rc));
    own_mr->ibv = NULL;
}

static void destroy(struct nd_object *object)
{
    struct nd_mw_mr *own_mr = (struct nd_mw_mr *)object;

    nd_mw_mr_deregister(own_mr);
    nd_object_unpin(&own_mr->mr->object);
    free(own_mr);
}

HRESULT nd_mw_mr_create(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, struct nd_mw_mr **out)
{
    const struct nd_port *port = &mr->adapter->port;
    enum nd_windows kind = port->caps.windows;
    struct nd_mw_mr *own_mr = calloc(1, sizeof(*own_mr));
    int error;

    if (!own_mr)
        return ND_NO_MEMORY;
    nd_object_init(&own_mr->object, destroy);
    own_mr->mr = mr;
    nd_object_pin(&mr->object);
    own_mr->ibv =
        port->verbs->reg_mr(mr->pd, (void *)(uintptr_t)buffer, length, access_of(kind, flags));
    if (own_mr->ibv && kind == ND_WINDOWS_EXACT)
        own_mr->window = ibv_alloc_mw(mr->pd, IBV_MW_TYPE_2);
    if (!own_mr->ibv || (kind == ND_WINDOWS_EXACT && !own_mr->window)) {
        error = errno ? errno : ENOMEM;
        nd_object_unpin(&own_mr->object);
        return nd_mr_refused(buffer, length, error);
    }
    *out = own_mr;
    return ND_SUCCESS;
}

uint32_t nd_mw_mr_rkey(const struct nd_mw_mr *own_mr)
{
    return own_mr->window ? ibv_inc_rkey(own_mr->window->rkey) : own_mr->ibv->rkey;
}

/* ---- windows ---- */

static bool has_device_window(const struct nd_adapter *adapter)
{
    return adapter->port.caps.windows == ND_WINDOWS_REAL;
}

static void destroy_device_window(struct ibv_mw *mw)
{
    int rc = mw ? ibv_dealloc_mw(mw) : 0;

    if (rc)
        log_write(LOG_ERROR, LOG_MR, "cannot destroy a memory window: %s", strerror(rc));
}

HRESULT nd_mw_init(
    struct nd_mw *mw, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object))
{
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if (!mw->pd)
        mw->pd = adapter->port.pd;
    if (has_device_window(adapter) && !(mw->ibv = ibv_alloc_mw(mw->pd, IBV_MW_TYPE_2)))
        return nd_status_from_errno(errno ? errno : ENOMEM);
    if (getrandom(&mw->key_secret, sizeof(mw->key_secret), 0) != sizeof(mw->key_secret)) {
        destroy_device_window(mw->ibv);
        return ND_INSUFFICIENT_RESOURCES;
    }
    nd_object_init(&mw->object, destroy);
    mw->adapter = adapter;
    list_node_init(&mw->bound_link);
    list_node_init(&mw->invalidating_link);
    nd_adapter_pin(adapter);
    return ND_SUCCESS;
}

void nd_mw_report_to(struct nd_mw *mw, void *result)
{
    mw->invalidate_result = result;
    if (result && nd_has_quirk(&mw->adapter->port.caps, INVALIDATED_UNTOLD))
        log_write(LOG_WARN, LOG_MR,
            "%s does not report that a peer invalidated a window: its result will not come",
            mw->adapter->port.caps.family);
}

/* The object that the binding pins. */
static struct nd_object *hold_of(struct nd_mr *mr, struct nd_mw_mr *own_mr)
{
    return own_mr ? &own_mr->object : &mr->object;
}

static void free_locked(struct nd_mw *mw)
{
    lock_assert_held(&mw->adapter->memory_lock);
    if (mw->mr)
        list_del(&mw->bound_link);
    mw->mr = NULL;
    mw->own_mr = NULL;
    mw->qp = NULL;
}

static void invalidate_is_over_locked(struct nd_mw *mw)
{
    if (mw->invalidating)
        list_del(&mw->invalidating_link);
    mw->invalidating = NULL;
    mw->peer_was_first = mw->invalidate_failed = false;
}

void nd_mw_invalidating_locked(struct nd_mw *mw)
{
    invalidate_is_over_locked(mw);
    mw->invalidating = mw->qp;
    mw->invalidating_rkey = mw->rkey;
    list_add_tail(&mw->adapter->invalidating_windows, &mw->invalidating_link);
    free_locked(mw);
}

/* Destroying the device's window ends the binding; the region is unpinned only after that. */
void nd_mw_release(struct nd_mw *mw)
{
    struct nd_adapter *adapter = mw->adapter;
    struct nd_mw_mr *own_mr;
    struct nd_mr *mr;

    lock_acquire(&adapter->memory_lock);
    mw->closed = true;
    mr = mw->mr;
    own_mr = mw->own_mr;
    free_locked(mw);
    invalidate_is_over_locked(mw);
    lock_release(&adapter->memory_lock);
    destroy_device_window(mw->ibv);
    if (own_mr)
        nd_mw_mr_deregister(own_mr);
    if (mr) {
        lock_acquire(&adapter->memory_lock);
        nd_mr_unbound_locked(mr);
        lock_release(&adapter->memory_lock);
        nd_object_unpin(hold_of(mr, own_mr));
    }
    nd_object_unpin(&mw->object);
}

void nd_mw_fini(struct nd_mw *mw)
{
    nd_adapter_unpin(mw->adapter);
}

HRESULT nd_mw_refresh(struct nd_mw *mw, const struct nd_qp *qp, bool *moves)
{
    struct nd_adapter *adapter = mw->adapter;
    struct ibv_mw *fresh;
    bool missing;

    lock_acquire(&adapter->memory_lock);
    missing = !mw->ibv;
    *moves = mw->invalidating && mw->invalidating != qp;
    lock_release(&adapter->memory_lock);
    if (!missing || !has_device_window(adapter))
        return ND_SUCCESS;
    if (!(fresh = ibv_alloc_mw(mw->pd, IBV_MW_TYPE_2)))
        return ND_INSUFFICIENT_RESOURCES;
    lock_acquire(&adapter->memory_lock);
    if (!mw->ibv) {
        mw->ibv = fresh;
        fresh = NULL;
    } /* else another thread did it */
    lock_release(&adapter->memory_lock);
    destroy_device_window(fresh);
    return ND_SUCCESS;
}

/* Four rounds over the halves of an octet: a permutation of the octets that the secret chooses. */
static uint8_t scramble(uint64_t secret, uint8_t octet)
{
    uint8_t left = octet >> 4, right = octet & 15;

    for (uint64_t round = 1; round <= 4; round++) {
        uint64_t mixed = secret ^ (round << 4 | right) * UINT64_C(0x9E3779B97F4A7C15);
        uint8_t next;

        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
        next = left ^ (uint8_t)(mixed >> 60);
        left = right;
        right = next;
    }
    return (uint8_t)(left << 4 | right);
}

uint32_t nd_mw_next_key_locked(struct nd_mw *mw)
{
    uint32_t before = mw->ibv->rkey;
    uint8_t octet;

    lock_assert_held(&mw->adapter->memory_lock);
    do
        octet = scramble(mw->key_secret, mw->keys++);
    while (octet == (uint8_t)before);
    return (before & ~UINT32_C(0xFF)) | octet;
}

void nd_mw_bound_locked(
    struct nd_mw *mw, struct nd_mr *mr, struct nd_mw_mr *own_mr, struct nd_qp *qp, uint32_t rkey)
{
    lock_assert_held(&mw->adapter->memory_lock);
    if (mw->ibv)
        mw->ibv->rkey = rkey; /* not every device does it itself */
    mw->rkey = rkey;
    mw->mr = mr;
    mw->own_mr = own_mr;
    mw->qp = qp;
    mr->bound++;
    nd_object_pin(hold_of(mr, own_mr));
    list_add_tail(&mw->adapter->bound_windows, &mw->bound_link);
    atomic_store_explicit(&mw->token, htobe32(rkey), memory_order_relaxed);
}

/* The window that is bound on this queue pair with this key, or NULL. */
static struct nd_mw *find_bound_locked(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey)
{
    list_for_each (&adapter->bound_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, bound_link);

        if (mw->qp == qp && mw->rkey == rkey)
            return mw;
    }
    return NULL;
}

static struct nd_mw *find_invalidating_locked(
    struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey)
{
    list_for_each (&adapter->invalidating_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, invalidating_link);

        if (mw->invalidating == qp && mw->invalidating_rkey == rkey)
            return mw;
    }
    return NULL;
}

static void unbind_locked(struct nd_mw *mw, struct nd_dead *dead)
{
    struct nd_object *hold = hold_of(mw->mr, mw->own_mr);

    nd_mr_unbound_locked(mw->mr);
    free_locked(mw);
    nd_object_unpin_later(hold, dead);
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
    else if ((mw = find_invalidating_locked(adapter, qp, rkey))) {
        if (has_device_window(adapter) || mw->invalidate_failed)
            invalidate_is_over_locked(mw); /* the device fails our Invalidate, or has failed it */
        else
            mw->peer_was_first = true;
    }
    if (mw && mw->invalidate_result)
        nd_object_pin(&mw->object);
    else
        mw = NULL;
    lock_release(&adapter->memory_lock);
    return mw;
}

bool nd_mw_invalidated(struct nd_adapter *adapter, struct nd_qp *qp, uint32_t rkey, bool well,
    struct nd_mr *mr, struct nd_mw_mr *own_mr, struct nd_dead *dead)
{
    struct nd_mw *mw;
    bool lost = false;

    lock_acquire(&adapter->memory_lock);
    if ((mw = find_invalidating_locked(adapter, qp, rkey))) {
        lost = mw->peer_was_first;
        if (well || lost)
            invalidate_is_over_locked(mw);
        else
            mw->invalidate_failed = true;
    }
    nd_mr_unbound_locked(mr);
    lock_release(&adapter->memory_lock);
    nd_object_unpin_later(hold_of(mr, own_mr), dead);
    return lost;
}

/*
 * Unbinds one of the queue pair's windows; false: none was bound. Destroys the device's window or registration first.
 */
static bool release_one(struct nd_adapter *adapter, const struct nd_qp *qp)
{
    struct nd_dead dead = { 0 };
    struct ibv_mw *ibv = NULL;
    struct nd_mw *found = NULL;

    lock_acquire(&adapter->memory_lock);
    list_for_each (&adapter->bound_windows, node)
        if (!found && list_entry(node, struct nd_mw, bound_link)->qp == qp)
            found = list_entry(node, struct nd_mw, bound_link);
    if (found) {
        ibv = found->ibv;
        found->ibv = NULL;
        unbind_locked(found, &dead);
    }
    lock_release(&adapter->memory_lock);
    destroy_device_window(ibv);
    nd_object_destroy_dead(dead.first);
    return found;
}

void nd_mw_qp_gone(struct nd_adapter *adapter, struct nd_qp *qp)
{
    while (release_one(adapter, qp))
        ;
    lock_acquire(&adapter->memory_lock);
    list_for_each_safe (&adapter->invalidating_windows, node) {
        struct nd_mw *mw = list_entry(node, struct nd_mw, invalidating_link);

        if (mw->invalidating == qp)
            invalidate_is_over_locked(mw);
    }
    lock_release(&adapter->memory_lock);
}
