/* SPDX-License-Identifier: MIT */
#include "ndspi/core/memory/mr.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Remote write as a bit of its own: ND_MR_FLAG_ALLOW_REMOTE_WRITE includes local write. */
enum { REMOTE_WRITE = 4 };

static const uint32_t known_flags = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
                                    ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK |
                                    ND_MR_FLAG_DO_NOT_SECURE_VM;

static void cancel(struct nd_object *object)
{
    nd_mr_cancel((struct nd_mr *)object);
}

void nd_mr_init(struct nd_mr *mr, struct nd_adapter *adapter, struct nd_sink_file *file,
    void (*destroy)(struct nd_object *object))
{
    nd_object_init(&mr->object, destroy);
    mr->adapter = adapter;
    mr->pd = adapter->port.pd;
    if (!file)
        return;
    nd_adapter_pin(adapter);
    nd_pending_init(&mr->pending, adapter->sink, file, &mr->object, cancel);
}

void nd_mr_close(struct nd_mr *mr)
{
    nd_pending_cancel(&mr->pending);
    nd_object_unpin(&mr->object);
}

static void count_deregistered(const struct nd_mr *mr)
{
    struct nd_adapter_counts *counts = &mr->adapter->counts;

    atomic_fetch_sub_explicit(&counts->regions, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&counts->region_octets, mr->octets, memory_order_relaxed);
}

void nd_mr_fini(struct nd_mr *mr)
{
    int rc;

    if (mr->ibv)
        count_deregistered(mr);
    if (mr->ibv && (rc = mr->adapter->verbs->dereg_mr(mr->ibv)))
        log_write(LOG_ERROR, LOG_MR, "cannot deregister a released region: %s", strerror(rc));
    if (!mr->pending.file)
        return;
    nd_pending_fini(&mr->pending);
    nd_adapter_unpin(mr->adapter);
}

static int access_of(const struct nd_caps *caps, uint32_t flags)
{
    int access = 0;

    if (flags & (ND_MR_FLAG_ALLOW_LOCAL_WRITE | REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK))
        access |= IBV_ACCESS_LOCAL_WRITE;
    if (flags & ND_MR_FLAG_ALLOW_REMOTE_READ)
        access |= IBV_ACCESS_REMOTE_READ;
    if (flags & REMOTE_WRITE ||
        (flags & ND_MR_FLAG_RDMA_READ_SINK && nd_has_quirk(caps, READ_SINK)))
        access |= IBV_ACCESS_REMOTE_WRITE;
    if (caps->windows == ND_WINDOWS_REAL)
        access |= IBV_ACCESS_MW_BIND;
    return access;
}

/* Moves EMPTY or REGISTERED to CHANGING: the thread that succeeds owns the registration. */
static HRESULT begin_change(struct nd_mr *mr, enum nd_mr_state from)
{
    struct nd_adapter *adapter = mr->adapter;
    HRESULT status = ND_SUCCESS;

    lock_acquire(&adapter->memory_lock);
    if (mr->state != from)
        status = ND_INVALID_DEVICE_STATE;
    else if (mr->bound)
        status = ND_DEVICE_BUSY;
    else
        mr->state = ND_MR_CHANGING;
    lock_release(&adapter->memory_lock);
    return status;
}

static void end_change(struct nd_mr *mr, enum nd_mr_state to)
{
    lock_acquire(&mr->adapter->memory_lock);
    mr->state = to;
    lock_release(&mr->adapter->memory_lock);
}

/* Counts for the adapter; the state is CHANGING, or no other thread knows the region. */
static void count_registered(struct nd_mr *mr, uint64_t octets)
{
    struct nd_adapter_counts *counts = &mr->adapter->counts;

    mr->octets = octets;
    atomic_fetch_add_explicit(&counts->regions, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->region_octets, octets, memory_order_relaxed);
}

static void publish_tokens(struct nd_mr *mr)
{
    atomic_store_explicit(&mr->local_token, mr->ibv ? mr->ibv->lkey : 0, memory_order_relaxed);
    atomic_store_explicit(
        &mr->remote_token, mr->ibv ? htobe32(mr->ibv->rkey) : 0, memory_order_relaxed);
}

static HRESULT status_of_refusal(int error)
{
    return error == EINVAL || error == EFAULT ? ND_ACCESS_VIOLATION : nd_status_from_errno(error);
}

HRESULT nd_mr_refused(const void *buffer, size_t length, int error)
{
    log_write(LOG_WARN, LOG_MR, "%zu bytes at %p cannot be registered: %s%s", length, buffer,
        strerror(error), error == ENOMEM ? "; look at the limit on locked memory (ulimit -l)" : "");
    return status_of_refusal(error);
}

/* Does what nd_mr_enter does. error out: the device's error if it refused, not logged yet; else unchanged. */
static HRESULT try_enter(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, int *error)
{
    struct nd_adapter *adapter = mr->adapter;
    HRESULT status;

    if (!buffer || flags & ~known_flags)
        return ND_INVALID_PARAMETER;
    if (!length)
        return ND_INVALID_BUFFER_SIZE;
    if (length > adapter->limits.max_registration)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if ((uintptr_t)buffer + length < (uintptr_t)buffer)
        return ND_ACCESS_VIOLATION;
    if (FAILED(status = begin_change(mr, ND_MR_EMPTY)))
        return status;
    mr->ibv = adapter->verbs->reg_mr(
        mr->pd, (void *)(uintptr_t)buffer, length, access_of(&adapter->port.caps, flags));
    if (!mr->ibv) {
        *error = errno ? errno : ENOMEM;
        end_change(mr, ND_MR_EMPTY);
        return status_of_refusal(*error);
    }
    mr->flags = flags;
    count_registered(mr, length);
    publish_tokens(mr);
    end_change(mr, ND_MR_REGISTERED);
    return ND_SUCCESS;
}

HRESULT nd_mr_enter(struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags)
{
    int error = 0;
    HRESULT status = try_enter(mr, buffer, length, flags, &error);

    return error ? nd_mr_refused(buffer, length, error) : status;
}

HRESULT nd_mr_enter_local(struct nd_mr *mr, const void *buffer, size_t length)
{
    int error = 0;
    HRESULT status = try_enter(mr, buffer, length, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &error);

    if (status == ND_ACCESS_VIOLATION)
        return nd_mr_enter(mr, buffer, length, 0);
    return error ? nd_mr_refused(buffer, length, error) : status;
}

HRESULT nd_mr_leave(struct nd_mr *mr)
{
    HRESULT status = begin_change(mr, ND_MR_REGISTERED);
    int rc;

    if (FAILED(status))
        return status;
    if ((rc = mr->adapter->verbs->dereg_mr(mr->ibv))) {
        end_change(mr, ND_MR_REGISTERED);
        return nd_status_from_errno(rc);
    }
    mr->ibv = NULL;
    publish_tokens(mr);
    count_deregistered(mr);
    end_change(mr, ND_MR_EMPTY);
    return ND_SUCCESS;
}

HRESULT nd_mr_register(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, OVERLAPPED *overlapped)
{
    HRESULT status = nd_pending_reserve(&mr->pending, overlapped);

    if (FAILED(status))
        return status;
    if (SUCCEEDED(status = nd_mr_enter(mr, buffer, length, flags)))
        return nd_pending_complete_reserved(&mr->pending, overlapped, ND_SUCCESS);
    nd_pending_unreserve(&mr->pending);
    return status;
}

HRESULT nd_mr_deregister(struct nd_mr *mr, OVERLAPPED *overlapped)
{
    HRESULT status = nd_pending_reserve(&mr->pending, overlapped);

    if (FAILED(status))
        return status;
    if (SUCCEEDED(status = nd_mr_leave(mr)))
        return nd_pending_complete_reserved(&mr->pending, overlapped, ND_SUCCESS);
    nd_pending_unreserve(&mr->pending);
    return status;
}

void nd_mr_cancel(struct nd_mr *mr)
{
    nd_pending_cancel(&mr->pending);
}

void nd_mr_unbound_locked(struct nd_mr *mr)
{
    lock_assert_held(&mr->adapter->memory_lock);
    mr->bound--;
}

/* ---- by handle ---- */

/* Programs use any such region as the target of a Read; some transports need a flag for that. */
enum { HANDLE_FLAGS = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK };

static void destroy(struct nd_object *object)
{
    nd_mr_fini((struct nd_mr *)object);
    free(object);
}

HRESULT nd_region_register(
    struct nd_adapter *adapter, const void *buffer, size_t length, void **handle)
{
    struct nd_mr *mr = nd_object_alloc(sizeof(*mr));
    HRESULT status;
    void *made;

    if (!mr)
        return ND_NO_MEMORY;
    nd_mr_init(mr, adapter, NULL, destroy);
    status = nd_mr_enter(mr, buffer, length, HANDLE_FLAGS);
    if (SUCCEEDED(status)) {
        lock_acquire(&adapter->memory_lock);
        made = nd_regions_add_locked(&adapter->regions, &mr->object,
            atomic_load_explicit(&mr->local_token, memory_order_relaxed));
        lock_release(&adapter->memory_lock);
        if (made)
            *handle = made;
        else
            status = ND_INSUFFICIENT_RESOURCES;
    }
    if (FAILED(status))
        nd_object_unpin(&mr->object);
    return status;
}

struct nd_mr *nd_region_pin(struct nd_adapter *adapter, const void *handle)
{
    struct nd_object *object;

    lock_acquire(&adapter->memory_lock);
    if ((object = nd_regions_find_locked(&adapter->regions, handle)))
        nd_object_pin(object);
    lock_release(&adapter->memory_lock);
    return (struct nd_mr *)object;
}

/* Two threads may give the same handle back: the thread that changes the region's state proceeds. */
HRESULT nd_region_deregister(struct nd_adapter *adapter, void *handle)
{
    struct nd_mr *mr = nd_region_pin(adapter, handle);
    HRESULT status;

    if (!mr)
        return ND_INVALID_HANDLE;
    status = nd_mr_leave(mr);
    if (SUCCEEDED(status)) {
        lock_acquire(&adapter->memory_lock);
        nd_regions_drop_locked(&adapter->regions, handle);
        lock_release(&adapter->memory_lock);
        nd_object_unpin(&mr->object); /* gives up the table's pin */
    } else if (status == ND_INVALID_DEVICE_STATE) {
        status = ND_INVALID_HANDLE;
    }
    nd_object_unpin(&mr->object);
    return status;
}
