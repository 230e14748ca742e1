/* SPDX-License-Identifier: MIT */
#include "ndspi/core/memory/frmr.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- backings ---- */

struct nd_backing {
    struct nd_object object; /* first */
    const struct nd_verbs *verbs;
    struct ibv_mr *ibv;
    uint64_t number;         /* the number of the Invalidate that released it */
    struct nd_backing *next; /* nd_frmr.released */
};

static void destroy_backing(struct nd_object *object)
{
    struct nd_backing *backing = (struct nd_backing *)object;
    int rc = backing->ibv ? backing->verbs->dereg_mr(backing->ibv) : 0;

    if (rc)
        log_write(LOG_ERROR, LOG_MR, "cannot deregister a fast region's memory: %s", strerror(rc));
    free(backing);
}

struct ibv_mr *nd_backing_mr(struct nd_backing *backing)
{
    return backing->ibv;
}

void nd_backing_unpin(struct nd_backing *backing)
{
    nd_object_unpin(&backing->object);
}

static bool follow_each_other(const struct nd_pages *pages)
{
    for (uint32_t i = 1; i < pages->count; i++)
        if (pages->addresses[i] != pages->addresses[i - 1] + ND_PAGE_OCTETS)
            return false;
    return true;
}

static struct ibv_pd *pd_of(const struct nd_frmr *frmr)
{
    return frmr->pd ? frmr->pd : frmr->adapter->port.pd;
}

HRESULT nd_frmr_back(
    const struct nd_frmr *frmr, const struct nd_pages *pages, int access, struct nd_backing **out)
{
    const struct nd_verbs *verbs = frmr->adapter->verbs;
    void *start = (void *)(uintptr_t)(pages->addresses[0] + pages->offset);
    struct nd_backing *backing;
    int error;

    if (!follow_each_other(pages))
        return ND_NOT_SUPPORTED;
    if (!(backing = calloc(1, sizeof(*backing))))
        return ND_NO_MEMORY;
    nd_object_init(&backing->object, destroy_backing);
    backing->verbs = verbs;
    errno = 0;
    backing->ibv = verbs->reg_mr_iova(pd_of(frmr), start, (size_t)pages->length, pages->base,
        (access & IBV_ACCESS_LOCAL_WRITE) | IBV_ACCESS_MW_BIND);
    if (!backing->ibv) {
        error = errno ? errno : ENOMEM;
        nd_backing_unpin(backing);
        return nd_mr_refused(start, (size_t)pages->length, error);
    }
    *out = backing;
    return ND_SUCCESS;
}

/* ---- the table ---- */

static struct nd_frmr **bucket(struct nd_adapter *adapter, uint32_t key)
{
    return &adapter->frmrs[(key >> 8) %
                           ND_FRMR_BUCKETS]; /* the low octet of a window's key says nothing */
}

static struct nd_frmr *find_locked(struct nd_adapter *adapter, uint32_t key)
{
    struct nd_frmr *frmr = *bucket(adapter, key);

    lock_assert_held(&adapter->memory_lock);
    while (frmr && nd_frmr_key(frmr) != key)
        frmr = frmr->next;
    return frmr;
}

static void add_locked(struct nd_frmr *frmr)
{
    struct nd_frmr **first = bucket(frmr->adapter, nd_frmr_key(frmr));

    frmr->next = *first;
    *first = frmr;
    atomic_fetch_add_explicit(&frmr->adapter->frmr_count, 1, memory_order_relaxed);
}

static void remove_locked(struct nd_frmr *frmr)
{
    struct nd_frmr **link = bucket(frmr->adapter, nd_frmr_key(frmr));

    while (*link != frmr)
        link = &(*link)->next;
    *link = frmr->next;
    atomic_fetch_sub_explicit(&frmr->adapter->frmr_count, 1, memory_order_relaxed);
}

/* ---- life ---- */

void nd_frmr_init(
    struct nd_frmr *frmr, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object))
{
    nd_object_init(&frmr->object, destroy);
    frmr->adapter = adapter;
    nd_adapter_pin(adapter);
}

void nd_frmr_fini(struct nd_frmr *frmr)
{
    nd_adapter_unpin(frmr->adapter);
}

/* Gets the device's object. Returns 0 or an errno. */
static int get_device_object(struct nd_frmr *frmr, uint32_t pages)
{
    const struct nd_port *port = &frmr->adapter->port;
    uint32_t key;

    errno = 0;
    if (port->caps.fast_register == ND_FAST_DEVICE) {
        if (!(frmr->ibv = frmr->adapter->verbs->alloc_fast_mr(pd_of(frmr), pages)))
            return errno ? errno : ENOMEM;
        key = frmr->ibv->rkey;
    } else {
        if (!(frmr->window = ibv_alloc_mw(pd_of(frmr), IBV_MW_TYPE_2)))
            return errno ? errno : ENOMEM;
        /* Each bind uses this octet, which some devices also keep after an invalidation. */
        key = frmr->window->rkey & ~UINT32_C(0xFF);
    }
    atomic_store_explicit(&frmr->key, key, memory_order_relaxed);
    return 0;
}

HRESULT nd_frmr_allocate(struct nd_frmr *frmr, uint32_t pages, bool remote)
{
    struct nd_adapter *adapter = frmr->adapter;
    HRESULT status = ND_SUCCESS;
    int error = 0;

    if (adapter->port.caps.fast_register == ND_FAST_NONE)
        return ND_NOT_SUPPORTED;
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if (!pages)
        return ND_INVALID_PARAMETER;
    if (pages > adapter->port.caps.max_fast_pages)
        return ND_STATUS_IMPLEMENTATION_LIMIT;
    lock_acquire(&adapter->memory_lock);
    if (frmr->state != ND_FRMR_EMPTY) {
        status = ND_INVALID_DEVICE_STATE;
    } else if ((error = get_device_object(frmr, pages))) {
        status = nd_status_from_errno(error);
    } else {
        frmr->max_pages = pages;
        frmr->remote = remote;
        frmr->state = ND_FRMR_FREE;
        add_locked(frmr);
    }
    lock_release(&adapter->memory_lock);
    return status;
}

static void set_state_locked(struct nd_frmr *frmr, enum nd_frmr_state state)
{
    uint32_t lkey = 0;

    lock_assert_held(&frmr->adapter->memory_lock);
    if (state == ND_FRMR_REGISTERED)
        lkey = frmr->backing ? frmr->backing->ibv->lkey : nd_frmr_key(frmr);
    frmr->state = state;
    atomic_store_explicit(&frmr->lkey, lkey, memory_order_relaxed);
}

/* Unpins all backings; their bindings are over. */
static void drop_backings_locked(struct nd_frmr *frmr, struct nd_dead *dead)
{
    struct nd_backing *next;

    if (frmr->backing)
        nd_object_unpin_later(&frmr->backing->object, dead);
    frmr->backing = NULL;
    for (struct nd_backing *backing = frmr->released; backing; backing = next) {
        next = backing->next;
        nd_object_unpin_later(&backing->object, dead);
    }
    frmr->released = NULL;
}

static void destroy_window(struct ibv_mw *window)
{
    int rc = window ? ibv_dealloc_mw(window) : 0;

    if (rc)
        log_write(LOG_ERROR, LOG_MR, "cannot destroy a memory window: %s", strerror(rc));
}

/*
 * Removes it from the table; destroys the device's objects with no lock held, the window before the registration that
 * it is bound on.
 */
void nd_frmr_close(struct nd_frmr *frmr)
{
    struct nd_adapter *adapter = frmr->adapter;
    struct nd_dead dead = { 0 };
    struct ibv_mw *window;
    int rc;

    lock_acquire(&adapter->memory_lock);
    if (nd_frmr_key(frmr))
        remove_locked(frmr);
    set_state_locked(frmr, ND_FRMR_DEAD);
    drop_backings_locked(frmr, &dead);
    window = frmr->window;
    frmr->window = NULL;
    lock_release(&adapter->memory_lock);
    destroy_window(window);
    nd_object_destroy_dead(dead.first);
    if (frmr->ibv && (rc = adapter->verbs->dereg_mr(frmr->ibv)))
        log_write(LOG_ERROR, LOG_MR, "cannot free a fast region: %s", strerror(rc));
    nd_object_unpin(&frmr->object);
}

bool nd_frmr_registered(struct nd_frmr *frmr)
{
    bool registered;

    lock_acquire(&frmr->adapter->memory_lock);
    registered = frmr->state == ND_FRMR_REGISTERED;
    lock_release(&frmr->adapter->memory_lock);
    return registered;
}

/* ---- requests ---- */

HRESULT nd_frmr_check_locked(const struct nd_frmr *frmr, const struct ibv_pd *pd, int access)
{
    lock_assert_held(&frmr->adapter->memory_lock);
    if (pd && pd != pd_of(frmr))
        return ND_INVALID_PARAMETER;
    if (!frmr->remote && access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE))
        return ND_ACCESS_VIOLATION;
    return frmr->state == ND_FRMR_FREE ? ND_SUCCESS : ND_INVALID_DEVICE_STATE;
}

HRESULT nd_frmr_check_invalidate_locked(const struct nd_frmr *frmr, const struct nd_qp *qp)
{
    lock_assert_held(&frmr->adapter->memory_lock);
    if (frmr->state != ND_FRMR_REGISTERED || (frmr->window && frmr->qp != qp))
        return ND_INVALID_DEVICE_STATE;
    return ND_SUCCESS;
}

void nd_frmr_registered_locked(struct nd_frmr *frmr, struct nd_qp *qp, struct nd_backing *backing)
{
    frmr->posted++;
    frmr->qp = qp;
    frmr->backing = backing;
    if (backing)
        nd_object_pin(&backing->object);
    if (frmr->window)
        frmr->window->rkey = nd_frmr_key(frmr); /* not every device does it itself */
    set_state_locked(frmr, ND_FRMR_REGISTERED);
}

void nd_frmr_invalidating_locked(struct nd_frmr *frmr)
{
    frmr->posted++;
    if (frmr->backing) {
        frmr->backing->number = frmr->posted;
        frmr->backing->next = frmr->released;
        frmr->released = frmr->backing;
        frmr->backing = NULL;
    }
    set_state_locked(frmr, ND_FRMR_FREE);
}

/* ---- completions ---- */

/* Removes the backing that this Invalidate released from the list; NULL: there is none. */
static struct nd_backing *take_released_locked(struct nd_frmr *frmr, uint64_t number)
{
    struct nd_backing **link = &frmr->released, *backing;

    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if ((backing = *link))
        *link = backing->next;
    return backing;
}

/* Handles the first failure. All later requests are flushed, so the device's state does not change any more. */
static void fail_locked(struct nd_frmr *frmr, uint64_t number, bool registers,
    enum ibv_wc_status status, struct nd_dead *dead)
{
    bool has = !registers && status == IBV_WC_WR_FLUSH_ERR && frmr->taken_back < number;
    struct nd_backing *kept = has ? take_released_locked(frmr, number) : NULL;

    frmr->failed = frmr->posted;
    drop_backings_locked(frmr, dead);
    frmr->backing = kept;
    set_state_locked(frmr, has ? ND_FRMR_REGISTERED : ND_FRMR_FREE);
}

void nd_frmr_ended(struct nd_adapter *adapter, uint32_t key, uint64_t number, bool registers,
    enum ibv_wc_status status, struct nd_dead *dead)
{
    struct nd_backing *over = NULL;
    struct nd_frmr *frmr;

    lock_acquire(&adapter->memory_lock);
    frmr = find_locked(adapter, key);
    if (frmr && frmr->state != ND_FRMR_DEAD) {
        if (status == IBV_WC_SUCCESS)
            over = registers ? NULL : take_released_locked(frmr, number);
        else if (number > frmr->failed)
            fail_locked(frmr, number, registers, status, dead);
    }
    lock_release(&adapter->memory_lock);
    if (over)
        nd_object_unpin_later(&over->object, dead);
}

bool nd_frmr_taken_back(struct nd_adapter *adapter, uint32_t key, struct nd_dead *dead)
{
    struct nd_frmr *frmr;

    if (!atomic_load_explicit(&adapter->frmr_count, memory_order_relaxed))
        return false;
    lock_acquire(&adapter->memory_lock);
    frmr = find_locked(adapter, key);
    if (frmr && frmr->state == ND_FRMR_REGISTERED) {
        if (frmr->backing)
            nd_object_unpin_later(&frmr->backing->object, dead);
        frmr->backing = NULL;
        set_state_locked(frmr, ND_FRMR_FREE);
    } else if (frmr) {
        frmr->taken_back = frmr->posted; /* the device fails our Invalidate */
    }
    lock_release(&adapter->memory_lock);
    return frmr;
}

void nd_frmr_forget(struct nd_adapter *adapter, uint32_t key)
{
    struct nd_frmr *frmr;

    lock_acquire(&adapter->memory_lock);
    if ((frmr = find_locked(adapter, key)))
        set_state_locked(frmr, ND_FRMR_DEAD);
    lock_release(&adapter->memory_lock);
}

void nd_frmr_qp_gone(struct nd_adapter *adapter, const struct nd_qp *qp)
{
    struct nd_dead dead = { 0 };

    if (!atomic_load_explicit(&adapter->frmr_count, memory_order_relaxed))
        return;
    lock_acquire(&adapter->memory_lock);
    for (unsigned i = 0; i < ND_FRMR_BUCKETS; i++)
        for (struct nd_frmr *frmr = adapter->frmrs[i]; frmr; frmr = frmr->next) {
            if (frmr->qp != qp)
                continue;
            frmr->qp = NULL;
            if (!frmr->backing && !frmr->released)
                continue;
            destroy_window(frmr->window); /* the lock is held, so no request binds it */
            frmr->window = NULL;
            drop_backings_locked(frmr, &dead);
            set_state_locked(frmr, ND_FRMR_DEAD);
        }
    lock_release(&adapter->memory_lock);
    nd_object_destroy_dead(dead.first);
}
