/* SPDX-License-Identifier: MIT */
#include "ndspi/core/memory/region.h"

#include "ndspi/core/adapter/adapter.h"

#include <stdlib.h>

/* The target of a Read is a plain registration, too; some transports have to know. */
enum { FLAGS = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK };

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
    status = nd_mr_enter(mr, buffer, length, FLAGS);
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

/* Two threads may give the same handle back: the one that changes the region's state goes on. */
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
        nd_object_unpin(&mr->object); /* the table's */
    } else if (status == ND_INVALID_DEVICE_STATE) {
        status = ND_INVALID_HANDLE;
    }
    nd_object_unpin(&mr->object);
    return status;
}
