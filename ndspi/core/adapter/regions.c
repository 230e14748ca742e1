/* SPDX-License-Identifier: MIT */
#include "ndspi/core/adapter/regions.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/memory/mr.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The target of a Read is a plain registration, too; some transports have to know. */
enum { FLAGS = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK };

enum { ENTRIES = 1 << ND_REGION_INDEX_BITS, TABLE_SIZE = ENTRIES * sizeof(struct nd_region) };

/* Of the process's registrations. */
static atomic_uintptr_t last_number;

int nd_regions_init(struct nd_regions *regions)
{
    void *table = mmap(NULL, TABLE_SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (table == MAP_FAILED)
        return -errno;
    *regions = (struct nd_regions){ .table = table, .used = 1 };
    atomic_init(&regions->table[0].handle, UINTPTR_MAX); /* NULL leads here, this value does not */
    return 0;
}

void nd_regions_fini(struct nd_regions *regions)
{
    if (!regions->table)
        return;
    for (uint32_t i = 1; i < regions->used; i++)
        if (regions->table[i].mr)
            nd_object_unpin(&regions->table[i].mr->object);
    munmap(regions->table, TABLE_SIZE);
}

static void destroy(struct nd_object *object)
{
    nd_mr_fini((struct nd_mr *)object);
    free(object);
}

/* A free entry, or NULL. */
static struct nd_region *take_entry_locked(struct nd_regions *regions)
{
    struct nd_region *region = NULL;

    if (regions->next_free) {
        region = &regions->table[regions->next_free];
        regions->next_free = region->next_free;
    } else if (regions->used < ENTRIES) {
        region = &regions->table[regions->used++];
    }
    return region;
}

static HRESULT publish(struct nd_adapter *adapter, struct nd_mr *mr, void **handle)
{
    struct nd_regions *regions = &adapter->regions;
    uintptr_t number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    struct nd_region *region;
    uintptr_t value;

    lock_acquire(&adapter->memory_lock);
    region = take_entry_locked(regions);
    if (region) {
        value = number * TABLE_SIZE + (uintptr_t)((char *)region - (char *)regions->table);
        region->mr = mr;
        atomic_store_explicit(&region->token,
            atomic_load_explicit(&mr->local_token, memory_order_relaxed), memory_order_relaxed);
        /* Release: pairs with nd_region_token. */
        atomic_store_explicit(&region->handle, value, memory_order_release);
        *handle = (void *)value;
    }
    lock_release(&adapter->memory_lock);
    return region ? ND_SUCCESS : ND_INSUFFICIENT_RESOURCES;
}

HRESULT nd_region_register(
    struct nd_adapter *adapter, const void *buffer, size_t length, void **handle)
{
    struct nd_mr *mr = nd_object_alloc(sizeof(*mr));
    HRESULT status;

    if (!mr)
        return ND_NO_MEMORY;
    nd_mr_init(mr, adapter, NULL, destroy);
    status = nd_mr_enter(mr, buffer, length, FLAGS);
    if (SUCCEEDED(status))
        status = publish(adapter, mr, handle);
    if (FAILED(status))
        nd_object_unpin(&mr->object);
    return status;
}

/* The entry of a good handle, or NULL. */
static struct nd_region *find_locked(struct nd_adapter *adapter, const void *handle)
{
    struct nd_region *region = (struct nd_region *)((char *)adapter->regions.table +
                                                    ((uintptr_t)handle & ND_REGION_OFFSET_MASK));

    lock_assert_held(&adapter->memory_lock);
    return atomic_load_explicit(&region->handle, memory_order_relaxed) == (uintptr_t)handle ? region
                                                                                            : NULL;
}

struct nd_mr *nd_region_pin(struct nd_adapter *adapter, const void *handle)
{
    struct nd_region *region;
    struct nd_mr *mr = NULL;

    lock_acquire(&adapter->memory_lock);
    if ((region = find_locked(adapter, handle))) {
        mr = region->mr;
        nd_object_pin(&mr->object);
    }
    lock_release(&adapter->memory_lock);
    return mr;
}

/* Two threads may give the same handle back: the one that changes the region's state goes on. */
HRESULT nd_region_deregister(struct nd_adapter *adapter, void *handle)
{
    struct nd_mr *mr = nd_region_pin(adapter, handle);
    struct nd_region *region;
    HRESULT status;

    if (!mr)
        return ND_INVALID_HANDLE;
    status = nd_mr_leave(mr);
    if (SUCCEEDED(status)) {
        lock_acquire(&adapter->memory_lock);
        region = find_locked(adapter, handle);
        atomic_store_explicit(&region->handle, 0, memory_order_relaxed);
        region->mr = NULL;
        region->next_free = adapter->regions.next_free;
        adapter->regions.next_free = (uint32_t)(region - adapter->regions.table);
        lock_release(&adapter->memory_lock);
        nd_object_unpin(&mr->object); /* the table's */
    } else if (status == ND_INVALID_DEVICE_STATE) {
        status = ND_INVALID_HANDLE;
    }
    nd_object_unpin(&mr->object);
    return status;
}
